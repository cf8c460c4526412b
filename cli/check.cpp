// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks check`: the same reductions by us and by a real library, element by element.
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
#include "cli/peer_check.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/peers/mpi.hpp"
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
                                  {"random", "", Data::random}};

// Random 8- and 16-bit integers overflow in a sum, where Open MPI's vector code saturates.
bool is_saturating(DType dtype, ReduceOp op, Data data) {
  return data == Data::random && op == ReduceOp::sum && is_integer(dtype) && size_bytes(dtype) < 4;
}

// The bound of a comparison is about the order `direct`, and about results that all ranks share.
void refuse_what_has_no_bound(const ProblemOptions& options) {
  const Collective collective = options.collective;
  if (collective != Collective::all_reduce && collective != Collective::reduce)
    throw Error(ErrorKind::not_supported,
                fmt::format("check compares all_reduce and reduce; not {}", name(collective)));
  if (options.opaque_bytes > 0)
    throw Error(ErrorKind::not_supported,
                fmt::format("check compares reductions; elements of {} are only copied",
                            element_name(DType::u8, options.opaque_bytes)));
  const std::string_view algorithm = find_algorithm(options.algorithm, collective).name;
  if (algorithm != "direct")
    throw Error(ErrorKind::not_supported,
                fmt::format("check compares algorithm direct, within a bound that holds for any "
                            "order of the library; {} and the other orders are compared with the "
                            "real library bit by bit in tests/mpi",
                            algorithm));
}

// Names what there is to compare, if MPI has none of it.
void refuse_what_mpi_lacks(std::span<const DType> dtypes, std::span<const ReduceOp> ops) {
  for (const DType dtype : dtypes)
    for (const ReduceOp op : ops)
      if (mpi_reduces(op, dtype)) return;
  if (dtypes.size() == 1 && ops.size() == 1) check_supported(ops[0], dtypes[0]);
  throw Error(ErrorKind::not_supported,
              fmt::format("check has nothing to compare: MPI has no operator for {}{}{}",
                          ops.size() == 1 ? fmt::format("op {}", name(ops[0])) : "",
                          ops.size() == 1 && dtypes.size() == 1 ? " on " : "",
                          dtypes.size() == 1 ? fmt::format("dtype {}", name(dtypes[0])) : ""));
}

OptionsDescription what_to_compare(ProblemOptions& problem) {
  std::string ops;
  for (const ReduceOpInfo& op : reduce_ops())
    if (std::ranges::any_of(
            dtypes(), [&](const DTypeInfo& dtype) { return mpi_reduces(op.op, dtype.dtype); }))
      (ops += ops.empty() ? "" : " ") += op.name;
  OptionsDescription options("What to run", page_columns);
  options.add_options()  //
      ("collective",
       parsed(problem.collective, parse_collective, "NAME")->default_value("all_reduce"),
       "all_reduce, or reduce (to rank 0)")  //
      ("op", parsed(problem.op, parse_reduce_op, "NAME"),
       (ops + "; all of them unless said").c_str())
      //
      ("algorithm",
       parsed(
           problem.algorithm, [](const std::string& text) { return text; }, "NAME")
           ->default_value(problem.algorithm),
       "direct alone")  //
      ("shape", parsed(problem.shape, parse_shape, "R,..."),
       "shape of made data; dimension 0 counts the ranks")  //
      ("input", parsed(problem.input, parse_path, "X.npy"),
       "data; dimension 0 of the array counts the ranks");
  add_data_options(options, problem, "; all that MPI has unless said, or what the file holds",
                   false);
  return options;
}

class Check : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "a reduction beside a real library's, bit by bit or within a bound (mpirun)";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
  std::vector<Comparison> compare(const Job& job);

  std::unique_ptr<Command> nccl_;  // that does it all, if NCCL is what to compare with
  ProblemOptions options_;
  Policies policies_;
  Format format_ = Format::table;
  std::vector<Data> data_ = {Data::whole, Data::random};
  Shape shape_;
};

bool Check::setup(const std::vector<std::string>& arguments) {
  if (is_nccl_check(arguments)) {
    nccl_ = make_nccl_check();
    return nccl_->setup(arguments);
  }
  std::string peer, data;
  auto options = what_to_compare(options_);
  OptionsDescription check("What to compare with", 100);
  check.add_options()  //
      ("against", po::value(&peer)->value_name("LIBRARY")->default_value("mpi"),
       (vranks::names(std::span<const Peer>(peers)) +
        "; vranks check --against nccl --help shows the options of that one")
           .c_str())  //
      ("data", po::value(&data)->value_name("KIND"),
       "data to make: whole (numbers, on which any order is exact) or random; both unless said");
  options.add(nan_option(policies_)).add(check).add(report_options(format_));
  if (!read_arguments(
          {name(), "",
           "The same reduction here and by a real library, over the processes that "
           "mpirun started:\n\n"
           "  mpirun -np 4 vranks check --against mpi\n\n"
           "compares every op on every dtype that MPI has; --op, --dtype, --data, --shape and "
           "--input narrow it\ndown. The shape is (2 P + 1, 1000) for P processes "
           "unless said. Exit code 1 if something differs."},
          options, arguments))
    return false;
  find_by_name(std::span<const Peer>(peers), peer, "library to check against");
  refuse_what_has_no_bound(options_);
  if (policies_.nan && options_.op && !is_ordered(*options_.op))
    throw Error(ErrorKind::bad_argument,
                fmt::format("--nan is about min and max; op {} doesn't read it",
                            vranks::name(*options_.op)));
  if (policies_.nan && options_.dtype && !has_nan(*options_.dtype))
    throw Error(ErrorKind::bad_argument, fmt::format("--nan is about floats; dtype {} has no NaN",
                                                     vranks::name(*options_.dtype)));
  if (!data.empty())
    data_ = {find_by_name(std::span<const DataInfo>(made_data), data, "kind of data").data};
  if (options_.input.empty()) return true;
  if (!data.empty() || options_.shape)
    throw Error(ErrorKind::bad_argument,
                fmt::format("--input reads data and {} makes some; give one of them",
                            data.empty() ? "--shape" : "--data"));
  data_ = {Data::file};
  return true;
}

int Check::run(Job& job) {
  if (nccl_) return nccl_->run(job);
  job.need_mpi();
  const std::vector<Comparison> all = compare(job);
  if (job.is_first())
    print_check({.library = mpi_library(),
                 .processes = job.processes(),
                 .shape = shape_,
                 .seed = options_.seed,
                 .input = options_.input},
                all, format_);
  const bool is_agreement =
      std::ranges::all_of(all, [](const Comparison& each) { return each.found.is_agreement; });
  return is_agreement ? exit_ok : exit_check_failed;
}

std::vector<Comparison> Check::compare(const Job& job) {
  Device device;  // only process 0 needs one
  job.together([&] {
    mpi_library();  // says what is missing before anything is made
    if (job.is_first()) device = usable_device(options_.device);
  });

  PeerData data;
  if (!options_.input.empty()) data = load_data(job, options_.input, options_.dtype);
  // A number of ranks that only one process divides shows what blocks of different lengths do.
  shape_ = options_.shape.value_or(Shape{2 * job.processes() + 1, 1000});
  if (!options_.input.empty()) shape_ = data.shape;

  if (element_count(shape_) == 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("check has nothing to compare: shape {} has {}", to_string(shape_),
                            shape_[0] == 0 ? "no ranks (R = 0)" : "no elements"));

  std::vector<DType> dtypes;
  for (const DTypeInfo& each : vranks::dtypes())
    if (each.dtype ==
        (options_.input.empty() ? options_.dtype.value_or(each.dtype) : data.block.dtype()))
      dtypes.push_back(each.dtype);
  std::vector<ReduceOp> ops;
  for (const ReduceOpInfo& each : reduce_ops())
    if (each.op == options_.op.value_or(each.op)) ops.push_back(each.op);

  refuse_what_mpi_lacks(dtypes, ops);
  std::vector<Comparison> all;
  for (const DType dtype : dtypes)
    for (const ReduceOp op : ops)
      for (const Data kind : data_) {
        if (!mpi_reduces(op, dtype)) continue;
        if (data_.size() > 1 && is_saturating(dtype, op, kind)) continue;
        if (kind == Data::whole) data = whole_number_data(job, dtype, shape_, options_.seed, op);
        if (kind == Data::random) data = random_data(job, dtype, shape_, options_.seed);
        const Problem problem{.collective = options_.collective,
                              .ranks = shape_[0],
                              .elements = element_count(Shape(shape_.begin() + 1, shape_.end())),
                              .dtype = dtype,
                              .op = op,
                              .nan = policies_.nan.value_or(NanPolicy::propagate)};
        const PeerCase what{problem, options_.algorithm, device};
        all.push_back({what, kind, compare_with_mpi(job, what, data)});
      }
  return all;
}

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace vranks::cli
