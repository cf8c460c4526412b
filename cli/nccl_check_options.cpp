// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_check_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <limits>

#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/peers/nccl.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

struct DataInfo {
  std::string_view name;
  std::string_view aliases;
  NcclData data;
};
constexpr DataInfo data_kinds[] = {{"random", "", NcclData::random},
                                   {"special", "", NcclData::special}};

constexpr std::int32_t most_channels = 32;

auto numbers(std::string_view option, std::int64_t least, std::int64_t most) {
  return [=](const std::string& text) { return parse_ranges(option, text, least, most); };
}

template <class Number>
auto whole(std::string_view option, std::int64_t least, std::int64_t most) {
  return [=](const std::string& text) {
    return static_cast<Number>(parse_whole(option, text, least, most));
  };
}

template <class Infos, class Name, class Has>
std::string names_of(const Infos& infos, Name name, Has has) {
  std::string all;
  for (const auto& info : infos)
    if (has(info)) (all += all.empty() ? "" : " ") += std::string(name(info));
  return all;
}

OptionsDescription describe(NcclCheckOptions& o, std::string& peer) {
  const std::string ops = names_of(
      reduce_ops(), [](const auto& info) { return info.name; },
      [](const auto& info) { return nccl_op(info.op).has_value(); });
  const std::string types = names_of(
      dtypes(), [](const auto& info) { return info.name; },
      [](const auto& info) { return nccl_dtype(info.dtype).has_value(); });
  OptionsDescription what("What to run", page_columns);
  what.add_options()  //
      ("collective", parsed(o.collective, parse_collective, "NAME")->default_value("all_reduce"),
       "all_reduce, reduce, reduce_scatter, all_gather; without --algorithm also broadcast")  //
      ("op", parsed(o.ops, parse_list(parse_reduce_op), "LIST"),
       (ops + "; all of them unless said").c_str())  //
      ("dtype", parsed(o.dtypes, parse_list(parse_dtype), "LIST"),
       (types + "; all of them unless said").c_str())  //
      ("ranks", parsed(o.ranks, numbers("--ranks", 2, most_nccl_ranks), "LIST"),
       "how many ranks of NCCL: 2,4 or 2..8; 2,3,4 unless said. Under mpirun one a process")  //
      ("elements",
       parsed(o.elements, numbers("--elements", 0, std::int64_t{1} << 32), "LIST")
           ->default_value("1,1000,65553,1048579"),
       "of a rank; of a reduce_scatter of each block")  //
      ("root",
       parsed(
           o.root, [](const std::string& text) { return parse_rank("--root", text); }, "RANK"),
       "of reduce and broadcast; 0 unless said")  //
      ("data",
       parsed(
           o.data, parse_list([](const std::string& text) {
             return find_by_name(std::span<const DataInfo>(data_kinds), text, "kind of data").data;
           }),
           "LIST"),
       "random, or special (with NaN, infinities, zeros, subnormals; of floats, with --algorithm); "
       "both unless said")  //
      ("seed",
       parsed(o.seed, whole<std::uint64_t>("--seed", 0, std::numeric_limits<std::int64_t>::max()),
              "NUMBER"),
       "of the data; 0 unless said")  //
      ("device", parsed(o.device, parse_device, "NAME"),
       "cuda or cuda:N, for all ranks; of several devices they take turns unless said");
  OptionsDescription how("What to compare with", page_columns);
  how.add_options()                                                                     //
      ("against", boost::program_options::value(&peer)->value_name("LIBRARY"), "nccl")  //
      ("nccl-library", parsed(o.library, parse_path, "PATH")->default_value(o.library),
       "NCCL 2.30 or newer, which puts several ranks on one device")  //
      ("nccl-version", parsed(o.nccl_version, parse_text, "VERSION"),
       "whose rules for cutting vectors are compared; the library's unless said")  //
      ("algorithm", parsed(o.algorithm, parse_text, "NAME"),
       "nccl_ring or nccl_tree: NCCL is made to run it, and every bit must be equal; unless said, "
       "what NCCL chooses is compared with direct within a bound")  //
      ("protocol",
       parsed(
           o.protocol,
           [](const std::string& text) { return std::optional<Protocol>(parse_protocol(text)); },
           "NAME"),
       (names(protocols()) + "; as NCCL chooses unless said").c_str())  //
      ("channels",
       parsed(o.channels, whole<std::int32_t>("--channels", 1, most_channels), "NUMBER")
           ->default_value("2"),
       "of NCCL's communicators; all channels of all ranks run at once on the device")  //
      ("timeout",
       parsed(o.timeout, whole<int>("--timeout", 1, 86400), "SECONDS")->default_value("60"),
       "how long NCCL may take for a step");
  return what.add(how).add(report_options(o.format));
}

void refuse_what_nccl_lacks(const NcclCheckOptions& o) {
  for (const ReduceOp op : o.ops)
    if (!nccl_op(op))
      throw Error(ErrorKind::not_supported, fmt::format("NCCL has no op {}", vranks::name(op)));
  for (const DType dtype : o.dtypes)
    if (!nccl_dtype(dtype))
      throw Error(ErrorKind::not_supported,
                  fmt::format("NCCL has no dtype {}", vranks::name(dtype)));
  for (const ReduceOp op : o.ops)
    for (const DType dtype : o.dtypes) check_supported(op, dtype);
  if (!reduces(o.collective) && !o.ops.empty())
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("{} combines nothing, so that --op means nothing", vranks::name(o.collective)));
  const Collective known[] = {Collective::all_reduce, Collective::reduce,
                              Collective::reduce_scatter, Collective::all_gather,
                              Collective::broadcast};
  if (std::ranges::find(known, o.collective) == std::end(known))
    throw Error(ErrorKind::not_supported,
                fmt::format("check compares all_reduce, reduce, reduce_scatter, all_gather and "
                            "broadcast with NCCL; not {}",
                            vranks::name(o.collective)));
}

void refuse_what_cannot_be_pinned(const NcclCheckOptions& o) {
  if (!o.is_pinned()) {
    if (std::ranges::find(o.data, NcclData::special) != o.data.end())
      throw Error(ErrorKind::bad_argument,
                  "--data special needs --algorithm: what NaN and infinities give depends on the "
                  "order");
    if (!o.nccl_version.empty())
      throw Error(ErrorKind::bad_argument,
                  "--nccl-version is about the rules of nccl_ring and nccl_tree; --algorithm says "
                  "which of them");
    return;
  }
  if (o.algorithm != "nccl_ring" && o.algorithm != "nccl_tree")
    throw Error(ErrorKind::not_supported,
                fmt::format("NCCL can't be made to run '{}' with all ranks on one device; it can "
                            "run nccl_ring and nccl_tree",
                            o.algorithm));
  find_algorithm(o.algorithm, o.collective);
}

}  // namespace

std::string_view name(NcclData data) { return data == NcclData::random ? "random" : "special"; }

bool read_nccl_check_options(NcclCheckOptions& options, const std::vector<std::string>& arguments) {
  std::string peer;
  const OptionsDescription description = describe(options, peer);
  if (!read_arguments(
          {"check", "",
           "The same collective here and by real NCCL ranks, on one device or several, or of the "
           "processes of "
           "mpirun:\n\n"
           "  vranks check --against nccl --algorithm nccl_ring --protocol ll --ranks 2..8\n\n"
           "demands NCCL's bits; rings and trees are those that NCCL logs. Its environment is set "
           "here. Exit code 1 if something differs, fails or hangs."},
          description, arguments))
    return false;
  refuse_what_nccl_lacks(options);
  refuse_what_cannot_be_pinned(options);
  if (options.root != 0 && !has_root(options.collective))
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} has no root", vranks::name(options.collective)));
  if (options.device && options.device->kind != DeviceKind::cuda)
    throw Error(ErrorKind::bad_argument,
                "--device cpu: NCCL's ranks are on a CUDA device; give cuda or cuda:N");
  return true;
}

}  // namespace vranks::cli
