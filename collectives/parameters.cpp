// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/parameters.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {

constexpr ProtocolInfo protocol_table[] = {
    {Protocol::simple, "simple", ""}, {Protocol::ll, "ll", ""}, {Protocol::ll128, "ll128", ""}};

template <auto member>
bool differs(const Parameters& parameters) {
  return parameters.*member != Parameters{}.*member;
}

constexpr ParameterInfo parameter_table[] = {
    {"protocol", "", "how NCCL passes data: simple, ll or ll128", differs<&Parameters::protocol>},
    {"channels", "", "channels of the communicator (NCCL_MAX_CTAS)",
     differs<&Parameters::channels>},
    {"rings", "", "a list of ranks a channel, in ring order, as JSON", differs<&Parameters::rings>},
    {"trees", "", "a list a channel, of each rank's children, as JSON",
     differs<&Parameters::trees>},
    {"nccl-version", "", "whose constants are used", differs<&Parameters::nccl_version>},
    {"ranks-per-node", "", "0: all ranks on one node", differs<&Parameters::ranks_per_node>},
    {"segment-bytes", "", "0: not segmented", differs<&Parameters::segment_bytes>},
    {"chunks", "", "pieces that a pipeline cuts the vector into", differs<&Parameters::chunks>},
    {"fanout", "", "columns of a chain", differs<&Parameters::fanout>},
    {"inner", "", "the algorithm inside a node", differs<&Parameters::inner>},
    {"outer", "", "the algorithm between nodes", differs<&Parameters::outer>},
    {"reduce-algorithm", "", "the MPI_Reduce that ompi_nonoverlapping starts with",
     differs<&Parameters::reduce_algorithm>},
    {"counts", "", "elements of each chunk", differs<&Parameters::counts>},
};

}  // namespace

std::span<const ProtocolInfo> protocols() { return protocol_table; }
std::string_view name(Protocol protocol) {
  return protocol_table[static_cast<std::size_t>(protocol)].name;
}
Protocol parse_protocol(std::string_view text) {
  return find_by_name(protocols(), text, "protocol").protocol;
}

std::span<const ParameterInfo> parameter_infos() { return parameter_table; }

}  // namespace vranks
