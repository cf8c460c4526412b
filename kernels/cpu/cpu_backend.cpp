// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_backend.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "kernels/arithmetic.hpp"
#include "kernels/cpu/fold_program.hpp"
#include "kernels/cpu/targets.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace cpu {

std::int64_t carried_bytes(const TreeFold& fold) {
  return visit(fold.dtype, [&]<class T>() -> std::int64_t {
    using namespace arithmetic;
    if constexpr (!is_float<T> && !std::is_integral_v<T>)
      return sizeof(T);  // no tree fold
    else if constexpr (is_float<T>)
      return fold.op == ReduceOp::min || fold.op == ReduceOp::max ? sizeof(T) : sizeof(Wide<T>);
    else
      return fold.op == ReduceOp::mean ? sizeof(typename IntegerMean<T>::Carried) : sizeof(T);
  });
}

void run(const TileTask& task) {
  is_floating(task.fold.dtype) ? run_float_task(task) : run_integer_task(task);
}

namespace {

// Below this many bytes, starting threads costs more than they gain.
constexpr std::int64_t parallel_bytes = 1 << 17;
// Above this many bytes of output, stores go around the cache: the last levels of common
// processors hold a few MiB a core, and the lines would be read before they are overwritten.
constexpr std::int64_t stream_bytes = 4 << 20;

// The cut of a fold into tasks: column tiles x subtrees of ranks.
struct Cut {
  std::int64_t tile_columns;
  std::int64_t tiles;
  std::int64_t subtree_ranks;  // a power of two, unless there is one subtree
  std::int64_t subtrees;
  int threads;

  explicit Cut(const TreeFold& fold) {
    const std::int64_t in_bytes =
        fold.ranks * fold.elements * static_cast<std::int64_t>(size_bytes(fold.dtype));
    threads = in_bytes < parallel_bytes ? 1 : omp_get_max_threads();
    // Few ranks go through registers, where a task's start costs more than the cache is worth.
    const std::int64_t tile = tile_bytes / carried_bytes(fold);
    const std::int64_t tiles_a_thread = fold.elements / tile / threads;
    const std::int64_t tiles_a_task =
        fold.ranks <= 8 ? std::clamp<std::int64_t>(tiles_a_thread, 1, 16) : 1;
    tile_columns = std::min(fold.elements, tiles_a_task * tile);
    tiles = (fold.elements + tile_columns - 1) / tile_columns;
    subtree_ranks = fold.ranks;
    subtrees = 1;
    // Few columns and many ranks: cut the ranks until every thread has some four tasks.
    const std::int64_t wanted = threads == 1 ? 1 : 4 * threads;
    while (tiles * subtrees < wanted && subtree_ranks > 64) {
      subtree_ranks = std::int64_t{1} << (tree_levels(subtree_ranks) - 1);
      subtrees = (fold.ranks + subtree_ranks - 1) / subtree_ranks;
    }
  }

  std::int64_t scratch_bytes() const { return scratch_tiles(subtree_ranks) * tile_bytes; }
  std::int64_t part_bytes() const { return subtrees == 1 ? 0 : tiles * subtrees * tile_bytes; }
  std::int64_t workspace_bytes() const { return threads * scratch_bytes() + part_bytes(); }
};

// `bytes` bytes, a few of them with one instruction.
void copy_element(std::byte* to, const std::byte* from, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

void copy_strided(const StridedCopy& whole) {
  if (whole.elements() == 0) return;
  StridedCopy copy = collapsed(whole);
  if (copy.extents.empty()) {
    // One piece is cut for the threads.
    constexpr std::int64_t piece = 1 << 20;
    copy.extents = {copy.element_bytes / piece};
    copy.from_strides = copy.to_strides = {piece};
    const std::int64_t rest = copy.element_bytes % piece, done = copy.element_bytes - rest;
    if (rest > 0) copy_element(copy.to + done, copy.from + done, rest);
    copy.element_bytes = piece;
  }
  const std::size_t inner = copy.extents.size() - 1;
  const std::int64_t outer = copy.elements() / std::max<std::int64_t>(copy.extents[inner], 1);
  const bool parallel = copy.elements() * copy.element_bytes >= parallel_bytes;
  // The last dimension is one task, unless it is the only one.
  const std::int64_t a_task =
      outer == 1 ? std::max<std::int64_t>(copy.extents[inner] / 64, 1) : copy.extents[inner];
  const std::int64_t tasks_a_row = a_task == 0 ? 0 : (copy.extents[inner] + a_task - 1) / a_task;
#pragma omp parallel for schedule(static) if (parallel)
  for (std::int64_t task = 0; task < outer * tasks_a_row; ++task) {
    const std::byte* from = copy.from;
    std::byte* to = copy.to;
    for (std::int64_t d = static_cast<std::int64_t>(inner) - 1, rest = task / tasks_a_row; d >= 0;
         --d) {
      const auto dimension = static_cast<std::size_t>(d);
      const std::int64_t at = rest % copy.extents[dimension];
      rest /= copy.extents[dimension];
      from += at * copy.from_strides[dimension];
      to += at * copy.to_strides[dimension];
    }
    const std::int64_t first = task % tasks_a_row * a_task;
    const std::int64_t last = std::min(first + a_task, copy.extents[inner]);
    for (std::int64_t i = first; i < last; ++i)
      copy_element(to + i * copy.to_strides[inner], from + i * copy.from_strides[inner],
                   copy.element_bytes);
  }
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "CPU";
}

}  // namespace
}  // namespace cpu

namespace {

// Cuts the pieces of a program into tasks.
class CpuProgram final : public PreparedFold {
 public:
  explicit CpuProgram(FoldProgram program) : program_(std::move(program)) {
    const auto width = static_cast<std::int64_t>(size_bytes(program_.arithmetic.dtype));
    for (const FoldPiece& piece : program_.pieces) {
      const std::int64_t columns = piece.end - piece.begin;
      in_bytes_ += columns * width * ((piece.length + 1) / 2);
      out_bytes_ += columns * width * piece.out_rows;
    }
    // Tasks of some tiles: the start of a task costs more than the cache is worth.
    constexpr std::int64_t task_columns = 32768;
    for (std::size_t p = 0; p < program_.pieces.size(); ++p) {
      const FoldPiece& piece = program_.pieces[p];
      for (std::int64_t c = piece.begin; c < piece.end; c += task_columns)
        tasks_.push_back({p, c, std::min(c + task_columns, piece.end)});
    }
  }

  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(threads() * cpu::program_scratch_bytes(program_));
  }

  void run(const FoldRows& rows, Workspace workspace, Stream) const override {
    cpu::ProgramTask task;
    task.program = &program_;
    task.rows = rows;
    task.stream_stores = out_bytes_ >= cpu::stream_bytes;
    const auto tasks = static_cast<std::int64_t>(tasks_.size());
    const auto room =
        static_cast<std::int64_t>(workspace.bytes) / cpu::program_scratch_bytes(program_);
    const auto team = static_cast<int>(std::min<std::int64_t>(threads(), room));
#pragma omp parallel for schedule(static) firstprivate(task) num_threads(team) if (team > 1)
    for (std::int64_t k = 0; k < tasks; ++k) {
      const Task& cut = tasks_[static_cast<std::size_t>(k)];
      task.piece = program_.pieces[cut.piece];
      task.piece.out_begin += cut.begin - task.piece.begin;
      task.piece.begin = cut.begin;
      task.piece.end = cut.end;
      task.scratch = static_cast<std::byte*>(workspace.data) +
                     omp_get_thread_num() * cpu::program_scratch_bytes(program_);
      cpu::run(task);
    }
  }

 private:
  // As many as the caller has at this moment.
  int threads() const { return in_bytes_ < cpu::parallel_bytes ? 1 : omp_get_max_threads(); }

  struct Task {
    std::size_t piece;
    std::int64_t begin, end;  // columns
  };
  FoldProgram program_;
  std::vector<Task> tasks_;
  std::int64_t in_bytes_ = 0, out_bytes_ = 0;
};

class CpuBackend final : public Backend {
 public:
  DeviceKind kind() const override { return DeviceKind::cpu; }
  std::string_view name() const override { return "cpu"; }
  int device_count() const override { return 1; }
  std::vector<std::string> devices() const override {
    return {cpu::processor_name() + ", " + std::to_string(omp_get_max_threads()) + " threads, " +
            cpu::instruction_set()};
  }
  std::string identity(int) const override { return "cpu"; }
  std::string missing() const override { return {}; }

  bool folds_trees_of(DType dtype) const override {
    return is_integer(dtype) || (is_floating(dtype) && size_bytes(dtype) > 1);
  }

  std::size_t workspace_bytes(const TreeFold& fold, int) const override {
    return static_cast<std::size_t>(cpu::Cut(fold).workspace_bytes());
  }

  void fold(const TreeFold& fold, int, Workspace workspace, Stream) const override {
    if (fold.ranks == 1) {  // keeps bits
      if (fold.in != fold.out)
        std::memcpy(fold.out, fold.in,
                    static_cast<std::size_t>(fold.elements) * size_bytes(fold.dtype));
      return;
    }
    const cpu::Cut cut(fold);
    std::byte* const scratch = static_cast<std::byte*>(workspace.data);
    std::byte* const parts = scratch + cut.threads * cut.scratch_bytes();
    const std::int64_t out_bytes =
        fold.out_rows * fold.elements * static_cast<std::int64_t>(size_bytes(fold.dtype));
    cpu::TileTask task;
    task.fold = fold;
    task.kind = cut.subtrees == 1 ? cpu::TileTask::whole : cpu::TileTask::part;
    task.stream_stores = out_bytes >= cpu::stream_bytes;

    // Columns vary slowest, so that a thread's neighbouring tasks read neighbouring memory.
#pragma omp parallel for schedule(static) firstprivate(task) \
    num_threads(cut.threads) if (cut.threads > 1)
    for (std::int64_t k = 0; k < cut.tiles * cut.subtrees; ++k) {
      const std::int64_t subtree = k % cut.subtrees;
      task.first_column = k / cut.subtrees * cut.tile_columns;
      task.columns = std::min(cut.tile_columns, fold.elements - task.first_column);
      task.first_rank = subtree * cut.subtree_ranks;
      task.ranks = std::min(cut.subtree_ranks, fold.ranks - task.first_rank);
      task.scratch = scratch + omp_get_thread_num() * cut.scratch_bytes();
      task.parts = parts + k * cpu::tile_bytes;
      cpu::run(task);
    }
    if (cut.subtrees == 1) return;
    task.kind = cpu::TileTask::join;
    task.ranks = cut.subtrees;
#pragma omp parallel for schedule(static) firstprivate(task) num_threads(cut.threads)
    for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
      task.first_column = tile * cut.tile_columns;
      task.columns = std::min(cut.tile_columns, fold.elements - task.first_column);
      task.parts = parts + tile * cut.subtrees * cpu::tile_bytes;
      cpu::run(task);
    }
  }

  std::unique_ptr<PreparedFold> prepare(FoldProgram program, int) const override {
    return std::make_unique<CpuProgram>(std::move(program));
  }

  void run_hops(std::span<const Hop> hops, const Arithmetic& rules, int) const override {
    constexpr std::int64_t most = 4096;  // elements of a task
    std::vector<std::pair<const Hop*, std::int64_t>> tasks;
    for (const Hop& hop : hops)
      for (std::int64_t i = 0; i < hop.elements; i += most) tasks.emplace_back(&hop, i);
    const int threads = tasks.size() < 8 ? 1 : omp_get_max_threads();
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (const auto& [hop, first] : tasks)
      cpu::run_hop(*hop, rules, first, std::min(most, hop->elements - first));
  }

  void copy(const StridedCopy& copy, int, Stream) const override { cpu::copy_strided(copy); }

  Workspace kept_workspace(std::size_t bytes, int, Stream) const override {
    thread_local std::unique_ptr<void, decltype(&std::free)> kept(nullptr, &std::free);
    thread_local std::size_t kept_bytes = 0;
    if (kept_bytes < bytes) {
      kept.reset(allocate(bytes, 0));
      kept_bytes = bytes;
    }
    return {kept.get(), kept_bytes};
  }

  void* allocate(std::size_t bytes, int) const override {
    void* memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (memory == nullptr)
      throw Error(ErrorKind::not_available,
                  "no memory for " + std::to_string(bytes) + " bytes on the CPU");
    return memory;
  }
  void release(void* memory, int) const override { std::free(memory); }
  void copy_from_host(void* to, const void* from, std::size_t bytes, int) const override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes, int) const override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  std::vector<double> time(int repeats, int, const std::function<void()>& call) const override {
    using Clock = std::chrono::steady_clock;
    call();
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      call();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace vranks
