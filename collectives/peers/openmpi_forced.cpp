// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/openmpi_forced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "collectives/peers/mpi.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

constexpr const char* dynamic_rules = "coll_tuned_use_dynamic_rules";

// As in `ompi_info --param coll tuned --level 5` of 4.1.
constexpr std::string_view all_gather_names[] = {
    "ompi_linear", "ompi_bruck", "ompi_recursive_doubling", "ompi_ring", "ompi_neighbor_exchange"};

OpenMpiCall call_of(const openmpi::Rules& rules) {
  return {rules.collective, rules.call, rules.parameter, rules.counts_blocks, rules.names};
}

int int_of(std::string_view what, std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw Error(ErrorKind::bad_argument,
                fmt::format("Open MPI keeps {} in an int; {} is none", what, value));
  return static_cast<int>(value);
}

// The id of a name, or 0.
int id_of(const OpenMpiCall& call, std::string_view name) {
  const auto found = std::ranges::find(call.names, name);
  return found == call.names.end() ? 0 : static_cast<int>(found - call.names.begin()) + 1;
}

bool is_by_rules(const OpenMpiCall& call, Collective collective, std::string_view algorithm) {
  if (collective == Collective::all_gather) return false;  // its rules are not known here
  if (collective == Collective::reduce_scatter)
    return algorithm == (call.counts_blocks ? "ompi_auto" : "ompi_auto_v");
  return algorithm == "ompi_auto";
}

}  // namespace

void let_openmpi_be_forced() {
  constexpr int keep_what_is_said = 0;
  setenv(fmt::format("OMPI_MCA_{}", dynamic_rules).c_str(), "1", keep_what_is_said);
}

std::span<const OpenMpiCall> openmpi_calls() {
  static const std::array calls = {
      call_of(openmpi::all_reduce_rules()), call_of(openmpi::reduce_rules()),
      call_of(openmpi::reduce_scatter_block_rules()), call_of(openmpi::reduce_scatter_rules()),
      OpenMpiCall{Collective::all_gather, "MPI_Allgather", "allgather", false, all_gather_names}};
  return calls;
}

const OpenMpiCall& openmpi_call(const openmpi::Rules& rules) {
  return *std::ranges::find(openmpi_calls(), rules.call, &OpenMpiCall::call);
}

std::string ForcedAlgorithm::text() const {
  std::string text = fmt::format("{} algorithm {}", call->call, id);
  if (segment_bytes != 0) text += fmt::format(", segments of {} bytes", segment_bytes);
  if (reduce_id != 0) text += fmt::format(", MPI_Reduce algorithm {}", reduce_id);
  if (fanout != 4) text += fmt::format(", fan-out {}", fanout);
  return text;
}

ForcedAlgorithm forced_algorithm(const Problem& problem, std::string_view algorithm,
                                 const Parameters& parameters) {
  if (parameters.chunks != 0)
    throw Error(
        ErrorKind::not_supported,
        "Open MPI has no variable for --chunks; --segment-bytes says how long a segment is");
  std::string names;
  for (const OpenMpiCall& call : openmpi_calls()) {
    if (call.collective != even_form(problem.collective)) continue;
    // The _v form is MPI_Reduce_scatter, whose ids differ from those of equal blocks.
    if (takes_counts(problem.collective) &&
        (call.counts_blocks || problem.collective != Collective::reduce_scatter_v))
      continue;
    const int id = id_of(call, algorithm);
    if (id == 0 && !is_by_rules(call, even_form(problem.collective), algorithm)) {
      for (const std::string_view name : call.names) names += fmt::format(" {}", name);
      continue;
    }
    ForcedAlgorithm forced{.call = &call, .id = id};
    forced.segment_bytes = int_of("--segment-bytes", parameters.segment_bytes);
    if (parameters.fanout != 0) forced.fanout = int_of("--fanout", parameters.fanout);
    if (!parameters.reduce_algorithm.empty()) {
      forced.reduce_id = id_of(openmpi_call(openmpi::reduce_rules()), parameters.reduce_algorithm);
      if (forced.reduce_id == 0)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("MPI_Reduce has no algorithm {}", parameters.reduce_algorithm));
    }
    return forced;
  }
  throw Error(ErrorKind::not_supported,
              fmt::format("Open MPI has no algorithm {} of {} that can be forced; there are:{}",
                          algorithm, name(problem.collective), names.empty() ? " none" : names));
}

#if VRANKS_HAVE_MPI

namespace {

// Calls f(index, handle) for the variable; whether there is one with one value.
template <class F>
bool with_variable(const std::string& name, F&& f) {
  int index = 0, count = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return false;
  MPI_T_cvar_handle handle;
  VR_MPI(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
  if (count == 1) f(index, handle);
  VR_MPI(MPI_T_cvar_handle_free(&handle));
  return count == 1;
}

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::not_available,
              fmt::format("algorithms of Open MPI 4.1 can't be forced: {}", problem));
}

}  // namespace

OpenMpiVariables::OpenMpiVariables() {
  int provided = 0;
  VR_MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}
OpenMpiVariables::~OpenMpiVariables() { MPI_T_finalize(); }

bool OpenMpiVariables::has(const std::string& name) const {
  return with_variable(name, [](int, MPI_T_cvar_handle) {});
}

int OpenMpiVariables::read(const std::string& name) const {
  int value = 0;
  const bool is_there = with_variable(name, [&](int, MPI_T_cvar_handle handle) {
    bool is_true = false;  // Open MPI's truth values fill one byte
    if (name == dynamic_rules)
      VR_MPI(MPI_T_cvar_read(handle, &is_true)), value = is_true;
    else
      VR_MPI(MPI_T_cvar_read(handle, &value));
  });
  if (!is_there) refuse(fmt::format("{} has no variable {}", mpi_library(), name));
  return value;
}

void OpenMpiVariables::write(const std::string& name, int value) const {
  int code = MPI_SUCCESS;
  with_variable(name,
                [&](int, MPI_T_cvar_handle handle) { code = MPI_T_cvar_write(handle, &value); });
  if (code != MPI_SUCCESS || read(name) != value)
    refuse(fmt::format("{} doesn't take {} for its variable {}", mpi_library(), value, name));
}

std::string OpenMpiVariables::name_of_value(const std::string& name, int value) const {
  std::string found;
  with_variable(name, [&](int index, MPI_T_cvar_handle) {
    char text[256] = {};
    int length = sizeof(text), verbosity = 0, binding = 0, scope = 0, items = 0;
    MPI_Datatype type;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    VR_MPI(MPI_T_cvar_get_info(index, text, &length, &verbosity, &type, &values, nullptr, nullptr,
                               &binding, &scope));
    if (values == MPI_T_ENUM_NULL) return;
    length = sizeof(text);
    VR_MPI(MPI_T_enum_get_info(values, &items, text, &length));
    for (int i = 0; i < items; ++i) {
      int each = 0;
      length = sizeof(text);
      VR_MPI(MPI_T_enum_get_item(values, i, &each, text, &length));
      if (each == value) found = text;
    }
  });
  return found;
}

OpenMpiForced::OpenMpiForced(const ForcedAlgorithm& forced)
    : counts_blocks_(forced.call->counts_blocks) {
  const std::string library = mpi_library();
  if (!library.starts_with("Open MPI 4.1."))
    refuse(fmt::format("this is {}, whose ids and orders may be others", library));
  int processes = 1;
  VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes));
  if (processes == 1)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} of 1 process is a copy by coll/self, whatever algorithm is forced; "
                            "start 2 processes at least",
                            forced.call->call));
  const OpenMpiVariables variables;
  if (variables.read(dynamic_rules) == 0)
    refuse(fmt::format("{} heeds them only if it is started with OMPI_MCA_{}=1 in its environment",
                       library, dynamic_rules));
  for (const OpenMpiCall& call : openmpi_calls()) {
    const std::string name = fmt::format("coll_tuned_{}_algorithm", call.parameter);
    const bool is_asked = &call == forced.call;
    const int id = is_asked                                ? forced.id
                   : call.collective == Collective::reduce ? forced.reduce_id
                                                           : 0;
    variables.write(name, id);
    variables.write(name + "_segmentsize", is_asked ? forced.segment_bytes : 0);
    if (is_asked) library_name_ = variables.name_of_value(name, id);
  }
  variables.write("coll_tuned_reduce_algorithm_chain_fanout", forced.fanout);
  VR_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_));
}

OpenMpiForced::~OpenMpiForced() { MPI_Comm_free(&communicator_); }

#else

OpenMpiForced::OpenMpiForced(const ForcedAlgorithm&) {
  mpi_library();  // says what is missing
}
OpenMpiForced::~OpenMpiForced() = default;

#endif

}  // namespace vranks
