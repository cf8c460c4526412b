// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks check`: the same collectives by us and by a real library, element by element.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <string>
#include <vector>

#include "cli/algorithm_options.hpp"
#include "cli/check_report.hpp"
#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/nccl_check.hpp"
#include "cli/option_values.hpp"
#include "cli/options.hpp"
#include "cli/peer_cases.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/peers/mpi_collective.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

namespace po = boost::program_options;

struct Peer {
  std::string_view name;
  std::string_view aliases;
};
constexpr Peer peers[] = {{"mpi", ""}, {"nccl", ""}};

struct DataInfo {
  std::string_view name;
  std::string_view aliases;
  Data data;
};
// What can be made; a file is asked for by --input.
constexpr DataInfo made_data[] = {{"whole", "whole_numbers", Data::whole},
                                  {"random", "", Data::random},
                                  {"special", "", Data::special}};

std::string names_of_collectives() {
  std::string all;
  for (const CollectiveInfo& each : collectives())
    if (mpi_has(each.collective)) all += fmt::format("{} ", each.name);
  return all + "all";
}

std::string names_of_ops() {
  std::string all;
  for (const ReduceOpInfo& op : reduce_ops())
    if (std::ranges::any_of(
            dtypes(), [&](const DTypeInfo& dtype) { return mpi_reduces(op.op, dtype.dtype); }))
      all += fmt::format("{}{}", all.empty() ? "" : " ", op.name);
  return all;
}

OptionsDescription what_to_compare(CheckOptions& options) {
  ProblemOptions& problem = options.problem;
  OptionsDescription all("What to run", page_columns);
  all.add_options()  //
      ("collective",
       parsed(options.collective, parse_or("all", parse_collective), "NAME")
           ->default_value("all_reduce"),
       names_of_collectives().c_str())  //
      ("op", parsed(problem.op, parse_reduce_op, "NAME"),
       (names_of_ops() + "; all of them unless said").c_str())
      //
      ("algorithm", parsed(problem.algorithm, parse_text, "NAME")->default_value(problem.algorithm),
       "direct, within a bound; or ompi_...: the real Open MPI, one rank a process, is made to use "
       "it, and bits are equal; of collectives that only copy any")  //
      ("shape", parsed(problem.shape, parse_shape, "R,..."),
       "shape of made data; dimension 0 counts the ranks")  //
      ("input", parsed(problem.input, parse_path, "X.npy"),
       "data; dimension 0 of the array counts the ranks");
  add_root_option(all, options.details.root);
  add_counts_option(all, options.details.counts);
  add_data_options(all, problem, "; all that MPI has unless said, or what the file holds", false);
  return all;
}

class Check : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "collectives beside a real library's, bit by bit or within a bound (mpirun)";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
  std::vector<Comparison> compare(const Job& job);
  std::vector<Comparison> compare(const Job& job, const CollectiveCase& of, Device device);
  std::optional<DType> file_dtype() const {
    if (options_.problem.input.empty()) return {};
    return file_.block.dtype();
  }
  PeerData data_for(const Job& job, const CollectiveCase& of, const Variant& variant, Data kind);

  std::unique_ptr<Command> nccl_;  // that does it all, if NCCL is what to compare with
  CheckOptions options_;
  Format format_ = Format::table;
  double timeout_ = Job::default_timeout;
  PeerData file_;
  std::vector<LeftOut> left_out_;
};

bool Check::setup(const std::vector<std::string>& arguments) {
  if (is_nccl_check(arguments)) {
    nccl_ = make_nccl_check();
    return nccl_->setup(arguments);
  }
  std::string peer, data;
  OptionsDescription options = what_to_compare(options_);
  OptionsDescription check("What to compare with", 100);
  check.add_options()  //
      ("against", po::value(&peer)->value_name("LIBRARY")->default_value("mpi"),
       (vranks::names(std::span<const Peer>(peers)) +
        "; vranks check --against nccl --help shows the options of that one")
           .c_str())  //
      ("data", po::value(&data)->value_name("KIND"),
       "data to make: whole (numbers, on which any order is exact) or random, both unless said; of "
       "ompi_... random and special (with zeros, subnormals, infinities and NaN)");
  check.add_options()  //
      ("timeout", parsed(timeout_, parse_seconds, "SECONDS")->default_value("600"), timeout_help);
  options.add(parameter_options(options_.parameters)).add(nan_option(options_.policies));
  options.add(check).add(report_options(format_));
  if (!read_arguments(
          {name(), "",
           "The same collective here and by a real library, over the processes that mpirun "
           "started:\n\n"
           "  mpirun -np 4 vranks check --against mpi --collective all\n\n"
           "compares every collective, op and dtype that MPI has; --collective, --op, --dtype, "
           "--data, --shape and --input narrow it down. The shape is (2 P + 1, 1000) for P "
           "processes unless said, (P, 1000) where each has to hold one rank. Exit code 1 if "
           "something differs."},
          options, arguments))
    return false;
  find_by_name(std::span<const Peer>(peers), peer, "library to check against");
  if (!data.empty())
    options_.data = {find_by_name(std::span<const DataInfo>(made_data), data, "kind of data").data};
  check_options(options_);
  return true;
}

int Check::run(Job& job) {
  if (nccl_) return nccl_->run(job);
  job.need_mpi();
  job.set_timeout(timeout_);
  const std::vector<Comparison> all = compare(job);
  if (job.is_first())
    print_check({.library = mpi_library(),
                 .processes = job.processes(),
                 .seed = options_.problem.seed,
                 .input = options_.problem.input,
                 .left_out = left_out_},
                all, format_);
  const bool is_agreement =
      std::ranges::all_of(all, [](const Comparison& each) { return each.found.is_agreement; });
  return is_agreement ? exit_ok : exit_check_failed;
}

std::vector<Comparison> Check::compare(const Job& job) {
  const ProblemOptions& problem = options_.problem;
  Device device;  // only process 0 needs one
  job.together([&] {
    mpi_library();  // says what is missing before anything is made
    if (job.is_first()) device = usable_device(problem.device);
  });
  std::optional<Shape> shape;
  if (!problem.input.empty()) {
    file_ = load_data(job, problem.input, problem.dtype);
    shape = file_.shape;
  }
  if (options_.collective)
    return compare(job, case_of(options_, *options_.collective, job.processes(), shape), device);

  std::vector<Comparison> all;
  for (const CollectiveInfo& each : collectives()) {
    if (!mpi_has(each.collective)) continue;
    if (problem.op && !reduces(each.collective)) continue;
    if (is_of_others(problem.algorithm, each.collective)) continue;
    std::optional<CollectiveCase> of;
    try {
      of = case_of(options_, each.collective, job.processes(), shape);
      (void)variants_of(options_, *of, file_dtype());
    } catch (const Error& error) {  // of what was asked for: the same on every process
      left_out_.push_back({each.collective, error.what()});
      continue;
    }
    for (Comparison& comparison : compare(job, *of, device)) all.push_back(std::move(comparison));
  }
  if (all.empty() && left_out_.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("check has nothing to compare: algorithm {} has no collective that "
                            "combines, as --op is about",
                            problem.algorithm));
  if (all.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}: {}", vranks::name(left_out_[0].collective), left_out_[0].reason));
  return all;
}

std::vector<Comparison> Check::compare(const Job& job, const CollectiveCase& of, Device device) {
  std::vector<Comparison> all;
  std::optional<OpenMpiForced> forced;
  if (of.forced) job.together([&] { forced.emplace(*of.forced); });
  for (const Variant& variant : variants_of(options_, of, file_dtype())) {
    PeerCase what{.problem = {},
                  .options = of.call,
                  .algorithm = options_.problem.algorithm,
                  .device = device,
                  .forced = of.forced};
    what.options.op = variant.op;
    what.problem = problem_of(of.collective, of.shape, variant.dtype, what.options);
    what.problem.nan = options_.policies.nan.value_or(NanPolicy::propagate);
    if (reduces(of.collective) && is_ordered(variant.op) && has_nan(variant.dtype))
      what.options.nan = what.problem.nan;
    for (const Data kind : variant.data) {
      PeerData made;
      if (kind != Data::file && of.collective != Collective::barrier)
        made = data_for(job, of, variant, kind);
      all.push_back({what, of.shape, kind,
                     compare_with_mpi(job, what, kind == Data::file ? file_ : made,
                                      forced ? &*forced : nullptr)});
    }
  }
  return all;
}

PeerData Check::data_for(const Job& job, const CollectiveCase& of, const Variant& variant,
                         Data kind) {
  const std::uint64_t seed = options_.problem.seed;
  if (kind == Data::whole) return whole_number_data(job, variant.dtype, of.shape, seed, variant.op);
  const bool has_order_data = !is_complex(variant.dtype) && variant.dtype != DType::boolean &&
                              (!is_integer(variant.dtype) || size_bytes(variant.dtype) >= 4);
  if (of.forced && has_order_data)
    return order_data(job, variant.dtype, of.shape, seed, variant.op, kind == Data::special);
  return random_data(job, variant.dtype, of.shape, seed);
}

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace vranks::cli
