// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The sources are described in docs/data/measured/README.md.
#include "simulator/measured_rules.hpp"

#include <array>

namespace vranks::measured {

namespace {

constexpr std::string_view open_mpi = "mare_nostrum5 leonardo";
constexpr std::string_view nccl_default = "nccl_ring nccl_tree";
constexpr std::string_view nccl_default_nvls = "nccl_ring nccl_tree nvls";  // on one node

constexpr std::array machines{
    MachineRule{"Azure NDv4 (8x A100-SXM4-40GB*", "nvswitch_a100"},
    MachineRule{"Azure NDv5 H200 (8x H200-SXM*", "nvswitch_h200"},
    MachineRule{"Azure NDv5 (8x H100-SXM5*", "nvswitch_h100"},
    MachineRule{"8x H100-SXM5 NVSwitch*", "nvswitch_h100"},
    MachineRule{"AWS p4de.24xlarge*", "aws_p4de"},
    MachineRule{"AWS p5.48xlarge*", "aws_p5"},
    MachineRule{"Azure ND MI300X v5*", "mi300x"},
    MachineRule{"*RTX A6000*TCP Socket", "",
                "sockets carry everything; there is no topology of them"},
    MachineRule{"*RTX A6000 (NVLink pairs)*", "a6000"},
    MachineRule{"8x RTX 4090*no P2P*", "rtx4090_no_p2p"},
    MachineRule{"8x RTX 4090*P2P-patched*", "rtx4090_p2p"},
    MachineRule{"RTX 2080 Ti PCIe nodes (100G IB)", "rtx2080ti_ib"},
    MachineRule{"RTX 2080 Ti PCIe nodes (10GbE)", "rtx2080ti_ethernet"},
    MachineRule{"MareNostrum5*gpu-aware*", "mare_nostrum5_gpu"},
    MachineRule{"MareNostrum5*", "mare_nostrum5"},
    MachineRule{"Leonardo*gpu-aware*", "", "no topology of that machine"},
    MachineRule{"Leonardo*", "leonardo"},
    MachineRule{"Fugaku*", "fugaku"},
    MachineRule{"i7-14700K single node shared memory*", "shared_memory_i7"},
};

constexpr std::array algorithms{
    // NCCL. Its own choice may be any of its algorithms with any of its protocols.
    AlgorithmRule{"nvswitch_* aws_* rtx*", "all_reduce", "", nccl_default},
    AlgorithmRule{"nvswitch_h*", "all_reduce", "NVLS", "nvls"},
    AlgorithmRule{"rtx2080ti_*", "all_reduce", "auto", nccl_default},
    AlgorithmRule{"nvswitch_a100", "all_reduce", "NCCL default", nccl_default},
    AlgorithmRule{"nvswitch_a100", "all_reduce", "NVLS requested (A100 has no NVLS*", nccl_default},
    AlgorithmRule{"aws_p5", "all_reduce", "(NVLS at large sizes by default)", nccl_default_nvls},
    AlgorithmRule{"nvswitch_h100", "all_reduce", "Ring", "nccl_ring"},
    AlgorithmRule{"rtx2080ti_*", "all_reduce", "ring", "nccl_ring"},
    AlgorithmRule{"rtx2080ti_*", "all_reduce", "tree", "nccl_tree"},
    // It has no NVLS: that ran the ring. Which of NCCL's others did, if any, the table doesn't say.
    AlgorithmRule{"mare_nostrum5_gpu", "all_reduce", "allreduce_nccl_ring", "nccl_ring"},
    AlgorithmRule{"mare_nostrum5_gpu", "all_reduce", "allreduce_nccl_nvlstree", "nccl_ring"},
    AlgorithmRule{"mare_nostrum5_gpu", "all_reduce", "allreduce_nccl_tree", "nccl_tree"},
    // A kernel of its own, which goes around the same ring.
    AlgorithmRule{"a6000", "all_reduce", "ring", "ring", 0, "*nano-nccl own ring kernel*"},
    AlgorithmRule{"a6000", "all_reduce", "ring", "nccl_ring"},

    // MSCCL programs: in allpair everyone sends to everyone; an all-reduce sums blocks that way,
    // then gathers them.
    AlgorithmRule{"mi300x", "all_gather", "MSCCL allpair *", "one_shot"},
    AlgorithmRule{"mi300x", "all_reduce", "MSCCL allpair *", "two_shot"},
    AlgorithmRule{"mi300x", "all_gather all_reduce", "MSCCL ring *", "ring"},

    // Open MPI in shared memory, and a ring on top of its messages.
    AlgorithmRule{"shared_memory_i7", "all_reduce", "ring (own isend/irecv)", "ring"},
    AlgorithmRule{"shared_memory_i7", "all_reduce", "ompi tuned ring (forced id 4)", "ompi_ring"},
    AlgorithmRule{"shared_memory_i7", "all_reduce", "ompi tuned default", "ompi_auto"},

    // Open MPI 4.1 with an algorithm forced, without segments: coll_tuned_<call>_algorithm.
    AlgorithmRule{open_mpi, "all_reduce reduce", "default_ompi", "ompi_auto"},
    AlgorithmRule{open_mpi, "reduce_scatter", "default_ompi", "ompi_auto_v"},
    AlgorithmRule{open_mpi, "all_reduce reduce all_gather", "linear_ompi", "ompi_linear"},
    AlgorithmRule{open_mpi, "all_reduce reduce_scatter", "non_overlapping_ompi",
                  "ompi_nonoverlapping"},
    AlgorithmRule{open_mpi, "all_reduce all_gather", "recursive_doubling_ompi",
                  "ompi_recursive_doubling"},
    AlgorithmRule{open_mpi, "all_reduce reduce_scatter all_gather", "ring_ompi", "ompi_ring"},
    AlgorithmRule{open_mpi, "all_reduce", "ring_segmented_ompi", "ompi_segmented_ring"},
    AlgorithmRule{open_mpi, "all_reduce reduce", "rabenseifner_ompi", "ompi_rabenseifner"},
    AlgorithmRule{open_mpi, "reduce", "chain_ompi", "ompi_chain"},
    AlgorithmRule{open_mpi, "reduce", "pipeline_ompi", "ompi_pipeline"},
    AlgorithmRule{open_mpi, "reduce", "binary_ompi", "ompi_binary"},
    AlgorithmRule{open_mpi, "reduce", "binomial_ompi", "ompi_binomial"},
    AlgorithmRule{open_mpi, "reduce", "in_order_ompi", "ompi_in_order_binary"},
    AlgorithmRule{open_mpi, "reduce_scatter", "recursive_halving_ompi", "ompi_recursive_halving"},
    AlgorithmRule{open_mpi, "reduce_scatter", "butterfly_ompi", "ompi_butterfly"},
    AlgorithmRule{open_mpi, "all_gather", "bruck_ompi", "ompi_bruck"},
    AlgorithmRule{open_mpi, "all_gather", "neighbor_ompi", "ompi_neighbor_exchange"},
    AlgorithmRule{open_mpi, "broadcast gather scatter", "binomial_ompi", "binomial_tree"},
    // The same number of levels with two children each, whose ranks are numbered another way.
    AlgorithmRule{open_mpi, "broadcast", "binary_ompi", "binary_tree", 1},
    AlgorithmRule{open_mpi, "broadcast", "pipeline_ompi", "chain", 1},
    AlgorithmRule{open_mpi, "broadcast", "scatter_allgather_ring_ompi", "scatter_all_gather"},
    AlgorithmRule{open_mpi, "gather scatter", "linear_ompi", "linear"},
    AlgorithmRule{open_mpi, "scatter", "linear_nb_ompi", "direct"},
    AlgorithmRule{open_mpi, "all_to_all", "linear_ompi", "direct"},
    AlgorithmRule{open_mpi, "all_to_all", "pairwise_ompi", "pairwise"},
    AlgorithmRule{open_mpi, "all_to_all", "modified_bruck_ompi", "bruck"},

    // A patched library keeps its unpatched Rabenseifner under this name.
    AlgorithmRule{open_mpi, "all_reduce", "allgather_reduce_ompi", "ompi_rabenseifner", 0,
                  "*allg scatter is old raben*"},

    // PICO's own algorithms over MPI's messages.
    AlgorithmRule{open_mpi, "all_reduce all_gather", "recursive_doubling_over",
                  "recursive_doubling"},
    AlgorithmRule{open_mpi, "all_reduce reduce_scatter all_gather", "ring_over", "ring"},
    AlgorithmRule{open_mpi, "all_reduce", "rabenseifner_over", "halving_doubling"},
    AlgorithmRule{open_mpi, "reduce_scatter", "recursive_halving_over", "ompi_recursive_halving"},
    AlgorithmRule{open_mpi, "reduce_scatter", "recursive_distance_doubling_over", "ompi_butterfly"},
    AlgorithmRule{open_mpi, "all_gather", "k_bruck_over", "ompi_bruck"},  // with k = 2

    // Fujitsu MPI: Open MPI's algorithms, and its own for the torus, which have other names.
    AlgorithmRule{"fugaku", "all_reduce", "default-basic_linear", "ompi_linear"},
    AlgorithmRule{"fugaku", "reduce all_gather", "default-linear", "ompi_linear"},
    AlgorithmRule{"fugaku", "all_reduce", "default-nonoverlapping", "ompi_nonoverlapping"},
    AlgorithmRule{"fugaku", "reduce_scatter", "default-non-overlapping", "ompi_nonoverlapping"},
    AlgorithmRule{"fugaku", "all_reduce", "default-recursive_doubling", "ompi_recursive_doubling"},
    AlgorithmRule{"fugaku", "all_gather", "default-recursive-doubling", "ompi_recursive_doubling"},
    AlgorithmRule{"fugaku", "all_reduce reduce_scatter all_gather", "default-ring", "ompi_ring"},
    AlgorithmRule{"fugaku", "reduce_scatter", "default-recursive-halving",
                  "ompi_recursive_halving"},
    AlgorithmRule{"fugaku", "all_gather", "default-bruck", "ompi_bruck"},
    AlgorithmRule{"fugaku", "all_gather", "default-neighbor", "ompi_neighbor_exchange"},
    AlgorithmRule{"fugaku", "reduce", "default-binary", "ompi_binary"},
    AlgorithmRule{"fugaku", "reduce", "default-in-order-binary", "ompi_in_order_binary"},
    AlgorithmRule{"fugaku", "reduce", "default-binomial", "ompi_binomial"},
    AlgorithmRule{"fugaku", "broadcast gather scatter", "default-binomial", "binomial_tree"},
    AlgorithmRule{"fugaku", "broadcast", "default-binary-tree", "binary_tree", 1},
    AlgorithmRule{"fugaku", "broadcast", "default-basic-linear", "direct"},  // posts all at once
    AlgorithmRule{"fugaku", "gather scatter", "default-basic-linear", "linear"},
    AlgorithmRule{"fugaku", "all_to_all", "default-linear", "direct"},
    AlgorithmRule{"fugaku", "all_to_all", "default-pairwise", "pairwise"},
    AlgorithmRule{"fugaku", "all_to_all", "default-modified-bruck", "bruck"},
    AlgorithmRule{"fugaku", "all_to_all", "BRUCK-LOG-MPI-0-1", "bruck"},
    // PICO's own: <algorithm>-<variant>-<library>-<bytes of a segment>-<ports>. L exchanges whole
    // vectors, B halves and doubles them.
    AlgorithmRule{"fugaku", "all_reduce", "RECDOUB-L-UTOFU-0-1", "recursive_doubling"},
    AlgorithmRule{"fugaku", "all_reduce", "RECDOUB-B_CONT-UTOFU-0-1", "halving_doubling"},
    AlgorithmRule{"fugaku", "all_reduce", "RING-B_CONT-*-0-1", "ring"},
};

constexpr std::int64_t kib = std::int64_t{1} << 10, mib = kib << 10;

constexpr std::array excluded{
    // At every size all configurations agree within 2 % out of place.
    Exclusion{.topologies = "mi300x nvswitch_a100",
              .text = "MSCCL*",
              .source = "*placement=oop*",
              .reason = "out of place the library's default ran, not the program"},
    // 17 to 19 us, whatever the label: an all-reduce has 64 chunks an instance, an all-gather 8.
    Exclusion{.topologies = "mi300x",
              .collectives = "all_reduce",
              .text = "MSCCL*instances=1",
              .bytes_below = 256,
              .reason = "too few elements for the program"},
    Exclusion{.topologies = "mi300x",
              .collectives = "all_reduce",
              .text = "MSCCL*instances=2",
              .bytes_below = 512,
              .reason = "too few elements for the program"},
    Exclusion{.topologies = "mi300x",
              .collectives = "all_reduce",
              .text = "MSCCL*instances=8",
              .bytes_below = 2 * kib,
              .reason = "too few elements for the program"},
    Exclusion{.topologies = "mi300x",
              .collectives = "all_gather",
              .text = "MSCCL*instances=8",
              .bytes_below = 256,
              .reason = "too few elements for the program"},

    // 325 us at 128 KiB, 154 at 256 KiB; the first size holds what a first call costs.
    Exclusion{.topologies = "nvswitch_a100",
              .source = "*Echo*",
              .bytes_below = mib,
              .ranks_from = 64,
              .reason = "NCCL's choice for small sizes is a poor one here"},
    // 15 us before anything runs, and 43 us, where the host of the other table needs 31.
    Exclusion{.topologies = "nvswitch_a100",
              .text = "NCCL default",
              .bytes_below = 64 * kib,
              .reason = "another host, with its own launch time"},
    Exclusion{.topologies = "nvswitch_a100",
              .text = "NVLS requested*",
              .bytes_below = mib,
              .reason = "another host, with its own launch time"},
    // From here on they get more than a ring can.
    Exclusion{.topologies = "aws_p5",
              .bytes_from = 8 * mib,
              .nodes_from = 2,
              .reason = "NVLS in several nodes, for which there is no algorithm"},
    Exclusion{.topologies = "nvswitch_h100",
              .text = "NVLS",
              .source = "*nccl#1455*",
              .ranks_to = 3,
              .reason = "NCCL fell back to its ring"},

    // A step takes three times as long as in all other jobs.
    Exclusion{.topologies = "leonardo",
              .nodes_from = 128,
              .nodes_to = 128,
              .reason = "a placement three times slower than all others"},
    Exclusion{.topologies = "leonardo",
              .nodes_from = 254,
              .nodes_to = 254,
              .reason = "a placement three times slower than all others"},
    Exclusion{.topologies = "leonardo",
              .bytes_from = mib,
              .bytes_below = mib + 1,
              .nodes_from = 256,
              .reason = "repetitions differ by 84 %"},
    Exclusion{.topologies = "leonardo",
              .text = "rabenseifner_ompi",
              .source = "*raben is modified*",
              .reason = "a library with a changed Rabenseifner"},

    // 4.6 ms at 8 MiB, 479 ms at 64 MiB, where 4096 ranks need 130.
    Exclusion{.topologies = "mare_nostrum5",
              .collectives = "reduce_scatter",
              .text = "ring_ompi",
              .bytes_from = 8 * mib + 1,
              .ranks_from = 256,
              .ranks_to = 256,
              .reason = "100 times as long for 8 times the bytes"},

    // 9 to 21 times as long as an eighth of it: setting memory up, not the network.
    Exclusion{.topologies = "fugaku",
              .text =
                  "default-nonoverlapping|default-rdbc|default-bruck|default-recursive-doubling|"
                  "default-recursive_doubling|default-3dtorus-sm",
              .bytes_from = 512 * mib,
              .reason = "memory is set up at that size"},
    Exclusion{.topologies = "fugaku",
              .text = "*-UTOFU-*-2|*-UTOFU-*-3|*-UTOFU-*-4|*-UTOFU-*-6",
              .reason = "several ports at once"},

    Exclusion{.topologies = "shared_memory_i7",
              .source = "*stat=min of *",
              .reason = "the least of 1000 repetitions; the median is judged"},
    // 11.9 ms at 16 MiB, 4.6 ms at 32 MiB.
    Exclusion{.topologies = "nvswitch_a100",
              .text = "NCCL p2p alltoall",
              .bytes_from = 8 * mib,
              .bytes_below = 32 * mib,
              .ranks_from = 512,
              .reason = "less time for more bytes"},
};

constexpr std::array dtypes{
    DtypeRule{"*float32*", DType::f32}, DtypeRule{"*int32*", DType::i32},
    DtypeRule{"*BF16*", DType::bf16},   DtypeRule{"*FP16*", DType::f16},
    DtypeRule{"*float16*", DType::f16}, DtypeRule{"*float64*", DType::f64},
};

// As published 355 GB/s would leave a node by NICs of 100 GB/s; elements have four bytes.
constexpr std::array sizes{SizeRule{"mare_nostrum5_gpu", 4}};

}  // namespace

std::span<const MachineRule> machine_rules() { return machines; }
std::span<const AlgorithmRule> algorithm_rules() { return algorithms; }
std::span<const Exclusion> exclusions() { return excluded; }
std::span<const DtypeRule> dtype_rules() { return dtypes; }
std::span<const SizeRule> size_rules() { return sizes; }

bool fits(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  // What stands between two stars may as well be where it comes first.
  for (;;) {
    const auto next = pattern.find('*');
    if (next == std::string_view::npos) return text.ends_with(pattern);
    const auto at = text.find(pattern.substr(0, next));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + next);
    pattern.remove_prefix(next + 1);
  }
}

bool fits_any(std::string_view patterns, std::string_view text, char between) {
  while (!patterns.empty()) {
    const auto end = patterns.find(between);
    if (fits(patterns.substr(0, end), text)) return true;
    patterns = end == std::string_view::npos ? std::string_view{} : patterns.substr(end + 1);
  }
  return false;
}

}  // namespace vranks::measured
