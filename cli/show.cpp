// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks show`: an algorithm's schedule, or one from a file, step by step, and what each chunk of
// the result is made of.
#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <limits>

#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/option_values.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/schedule_options.hpp"
#include "collectives/formats/json.hpp"
#include "collectives/formats/text.hpp"
#include "collectives/interpreters/linearize.hpp"
#include "collectives/interpreters/lower.hpp"
#include "ranks/names.hpp"
#include "ranks/output_file.hpp"

namespace vranks::cli {

namespace {

struct Named {
  std::string_view name;
  std::string_view aliases;
};
constexpr Named forms[] = {{"schedule", ""}, {"program", ""}};
constexpr Named formats[] = {{"text", "table"}, {"json", ""}};

std::string choice(std::span<const Named> names, const std::string& text, const char* what) {
  return std::string(find_by_name(names, text, what).name);
}

void write_text(const std::string& path, const std::string& text) {
  if (path.empty()) {
    fmt::print("{}", text);
    return;
  }
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

// linearize(), but what it found is said in one line.
Schedule schedule_of(const Program& program) {
  try {
    return linearize(program);
  } catch (const Error& error) {
    std::string text = error.what();
    for (std::size_t at; (at = text.find("\n  ")) != std::string::npos;)
      text.replace(at, 3, text[at - 1] == ':' ? " " : "; ");
    throw Error(error.kind(), text);
  }
}

class Show : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view summary() const override {
    return "a schedule step by step, and what each chunk of its result is made of";
  }

  bool setup(const std::vector<std::string>& arguments) override {
    OptionsDescription options = schedule_options(options_);
    options.add_options()(
        "ranks",
        parsed(
            ranks_,
            [](const std::string& text) { return parse_whole("--ranks", text, 1, most_ranks); },
            "R"),
        "how many ranks; 4 unless said");
    OptionsDescription form("How to show it", page_columns);
    form.add_options()  //
        ("as",
         parsed(
             as_, [](const std::string& text) { return choice(forms, text, "form"); }, "FORM"),
         "schedule, or program: the lanes of sends and receives that machines run, each in its own "
         "order; unless said a file's own, else schedule")  //
        ("format",
         parsed(
             format_, [](const std::string& text) { return choice(formats, text, "format"); },
             "NAME")
             ->default_value(format_),
         "text or json")                                                                 //
        ("all", boost::program_options::bool_switch(&all_), "every line, however many")  //
        ("output", parsed(output_, parse_path, "FILE"), "writes to a file");
    options.add(form);
    if (!read_arguments({name(), "",
                         "Shows who sends what to whom, step by step, and the expression that each "
                         "chunk of the result computes: x2 is rank 2's input, + the op."},
                        options, arguments))
      return false;
    check_schedule_options(options_, ranks_.has_value());
    return true;
  }

  int run(Job& job) override {
    if (job.processes() > 1)
      throw Error(ErrorKind::not_supported, "show is one process; start it without mpirun");
    limit_memory();
    if (!output_.empty()) check_writable_target(output_);
    write_text(output_, options_.input.empty() ? built_text() : file_text());
    return exit_ok;
  }

 private:
  TextOptions lines() const {
    return {.most_lines = all_ ? std::numeric_limits<std::size_t>::max() : 40};
  }

  template <class Any>
  std::string text_of(const Any& shown) const {
    return format_ == "json" ? to_json(shown) : to_text(shown, lines());
  }

  std::string file_text() const {
    const auto read = load_schedule(options_.input);
    return with_memory_for("the text of " + options_.input, [&] {
      if (const auto* schedule = std::get_if<Schedule>(&read))
        return as_ == "program" ? text_of(lower(*schedule)) : text_of(*schedule);
      const Program& program = std::get<Program>(read);
      return as_ == "schedule" ? text_of(schedule_of(program)) : text_of(program);
    });
  }

  std::string built_text() const {
    const Collective collective = options_.collective.value_or(Collective::all_reduce);
    const Algorithm& algorithm =
        find_algorithm(options_.algorithm.empty() ? "direct" : options_.algorithm, collective);
    if (collective == Collective::permute && !options_.permutation)
      throw Error(ErrorKind::bad_argument,
                  "permute needs --permutation: pairs of source and destination, such as "
                  "[[0,1],[1,0]]");
    const BuiltSchedule built =
        build_schedule_for(algorithm, collective, ranks_.value_or(4), options_);
    return with_memory_for("the text of " + std::string(algorithm.name), [&] {
      if (as_ == "program") return text_of(lower(built.schedule));
      if (format_ == "json") return text_of(built.schedule);
      std::string text = head_of(built, collective) + text_of(built.schedule);
      if (options_.elements) text += places_of(built);
      return text;
    });
  }

  static std::string head_of(const BuiltSchedule& built, Collective collective) {
    const Algorithm& algorithm = *built.selection.algorithm;
    std::string text =
        wrapped(fmt::format("{}: {}", algorithm.name, algorithm.source), page_columns, 2) + "\n";
    if (!built.selection.reason.empty())
      text += wrapped("  " + built.selection.reason, page_columns, 2) + "\n";
    const auto line = [&](std::string_view label, std::string_view what) {
      text += wrapped(fmt::format("  {:<8}{}", label, what), page_columns, 10) + "\n";
    };
    line("order", algorithm.order);
    line("layout", vranks::name(algorithm.layout));
    if (takes_counts(collective))
      line("for",
           fmt::format("{}, whose counts say how long chunks are; the schedule is that of {}",
                       vranks::name(collective), vranks::name(built.problem.collective)));
    if (built.problem.elements > 0)
      line("for", fmt::format("{} elements of {} a rank", built.problem.elements,
                              vranks::name(built.problem.dtype)));
    return text + "\n";
  }

  // Where the chunks lie for that size.
  std::string places_of(const BuiltSchedule& built) const {
    const Layout layout = make_layout(built.problem, built.schedule, built.selection);
    std::string text = fmt::format("\nchunks of {} elements\n", layout.elements());
    const std::int32_t most = all_ ? layout.chunks() : std::min(layout.chunks(), 40);
    for (std::int32_t c = 0; c < most; ++c) {
      std::string where;
      for (const Interval& interval : layout.chunk(c)) {
        if (!all_ && where.size() > 60) {
          where += " ...";
          break;
        }
        where += fmt::format(" [{}, {})", interval.begin, interval.end);
      }
      text += fmt::format("  {:<6}{}\n", c, where.empty() ? " empty" : where);
    }
    if (most < layout.chunks())
      text += fmt::format("  ... and {} more; --all shows them\n", layout.chunks() - most);
    return text;
  }

  ScheduleOptions options_;
  std::optional<std::int64_t> ranks_;
  std::string as_, format_ = "text", output_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show() { return std::make_unique<Show>(); }

}  // namespace vranks::cli
