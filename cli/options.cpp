// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "kernels/backend.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

namespace po = boost::program_options;

constexpr unsigned columns = page_columns;

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, seed);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    throw Error(ErrorKind::bad_argument,
                fmt::format("seed '{}' is not a whole number from 0 to 2^64 - 1", text));
  return seed;
}

// A dtype, or "bytes16": elements of 16 bytes each.
void read_dtype(ProblemOptions& problem, const std::string& text) {
  constexpr std::string_view bytes = "bytes";
  if (text.starts_with(bytes) && text.size() > bytes.size()) {
    problem.opaque_bytes =
        parse_whole("--dtype bytesN", text.substr(bytes.size()), 1, std::int64_t{1} << 30);
    return;
  }
  try {
    problem.dtype = parse_dtype(text);
  } catch (const Error& error) {  // it ends with the list of names
    throw Error(error.kind(), std::string(error.what()) + " bytesN");
  }
}

struct FormatInfo {
  Format format;
  std::string_view name;
  std::string_view aliases;
};
constexpr FormatInfo formats[] = {
    {Format::table, "table", ""}, {Format::json, "json", ""}, {Format::csv, "csv", ""}};

Format parse_format(const std::string& text) {
  return find_by_name(std::span<const FormatInfo>(formats), text, "format").format;
}

// A file brings its own shape and values.
void refuse_with_input(const po::variables_map& values) {
  const auto is_given = [&](const char* name) {
    return values.count(name) != 0 && !values[name].defaulted();
  };
  for (const char* other : {"shape", "seed"})
    if (is_given("input") && is_given(other))
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("--{} is about random data, but --input brings data; give one of them",
                      other));
}

void print_help(const CommandText& text, const po::options_description& options) {
  fmt::print("Usage: vranks {}{}{} [options]\n\n", text.name, text.operands.empty() ? "" : " ",
             text.operands);
  std::stringstream description{std::string(text.description)};
  for (std::string line; std::getline(description, line);)
    fmt::print("{}\n", wrapped(line, page_columns));
  std::stringstream all;
  all << options;
  for (std::string line; std::getline(all, line);)  // Boost leaves spaces where it breaks lines
    fmt::print("{}\n", line.erase(line.find_last_not_of(' ') + 1));
}

}  // namespace

std::string element_name(DType dtype, std::int64_t opaque_bytes) {
  return opaque_bytes > 0 ? fmt::format("bytes{}", opaque_bytes) : std::string(name(dtype));
}

void add_collective_options(OptionsDescription& options, ProblemOptions& problem) {
  options.add_options()  //
      ("collective",
       parsed(problem.collective, parse_collective, "NAME")->default_value("all_reduce"),
       names(collectives()).c_str())  //
      ("op", parsed(problem.op, parse_reduce_op, "NAME"),
       (names(reduce_ops()) + "; mean unless said, of scan and exscan sum").c_str());
}

OptionsDescription problem_options(ProblemOptions& problem) {
  OptionsDescription options("What to run", columns);
  add_collective_options(options, problem);
  options.add_options()  //
      ("algorithm", parsed(problem.algorithm, parse_text, "NAME")->default_value(problem.algorithm),
       names(algorithms()).c_str())  //
      ("shape", parsed(problem.shape, parse_shape, "R,..."),
       "shape of random data; dimension 0 counts the ranks")  //
      ("input", parsed(problem.input, parse_path, "X.npy"),
       "data; dimension 0 of the array counts the ranks");
  add_data_options(options, problem,
                   "; a file says for itself what it holds, but for bf16 and fp8, whose bits it "
                   "holds as uint16 and uint8");
  return options;
}

void add_data_options(OptionsDescription& options, ProblemOptions& problem, std::string_view note,
                      bool has_bytes) {
  options.add_options()  //
      ("dtype",
       boost::program_options::value<std::string>()->value_name("NAME")->notifier(
           [&problem](const std::string& text) { read_dtype(problem, text); }),
       fmt::format("{}{}{}", names(dtypes()),
                   has_bytes ? " bytesN (elements of N bytes, which are only copied)" : "", note)
           .c_str())  //
      ("seed",
       parsed(
           problem.seed,
           [&problem](const std::string& text) {
             problem.says_seed = true;
             return parse_seed(text);
           },
           "NUMBER"),
       "of random data; 0 unless said")  //
      ("device", parsed(problem.device, parse_device, "NAME"),
       "cpu, cuda or cuda:N; unless said, cuda where there is one");
}

OptionsDescription report_options(Format& format) {
  OptionsDescription options("Report", columns);
  options.add_options()  //
      ("format", parsed(format, parse_format, "NAME")->default_value("table"),
       names(std::span<const FormatInfo>(formats)).c_str());
  return options;
}

Device usable_device(const std::optional<Device>& wanted) {
  if (wanted) {
    backend_for(*wanted);
    return *wanted;
  }
  for (const Backend* backend : backends())
    if (backend->kind() == DeviceKind::cuda && !backend->devices().empty())
      return {DeviceKind::cuda, 0};
  return {};
}

bool read_arguments(const CommandText& text, const OptionsDescription& options,
                    const std::vector<std::string>& arguments, std::vector<std::string>* operands) {
  OptionsDescription help("Help", columns);
  help.add_options()("help,h", "print this and exit");
  OptionsDescription all(columns);
  all.add(options).add(help);
  namespace style = po::command_line_style;
  po::variables_map values;
  try {
    const po::parsed_options parsed = po::command_line_parser(arguments)
                                          .options(all)
                                          .style(style::unix_style & ~style::allow_guessing)
                                          .run();
    for (const po::option& option : parsed.options) {
      // Boost would take the next option for the value that was forgotten.
      if (option.original_tokens.size() == 2 && option.original_tokens[1].starts_with("--"))
        throw Error(ErrorKind::bad_argument,
                    fmt::format("the value of {} is missing: {} is an option",
                                option.original_tokens[0], option.original_tokens[1]));
      if (option.position_key < 0) continue;
      if (!operands)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("'{}' belongs to no option", option.value.front()));
      operands->push_back(option.value.front());
    }
    po::store(parsed, values);
    if (values.count("help") != 0) {
      print_help(text, all);
      return false;
    }
    refuse_with_input(values);
    po::notify(values);
  } catch (const po::error& error) {
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}; see vranks {} --help", error.what(), text.name));
  }
  return true;
}

}  // namespace vranks::cli
