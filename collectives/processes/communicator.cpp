// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/communicator.hpp"

#if VRANKS_HAVE_MPI

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>

#include "collectives/call.hpp"
#include "collectives/operand.hpp"
#include "collectives/overlap.hpp"
#include "collectives/processes/nccl_processes.hpp"
#include "collectives/processes/process_call.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// All that has to be the same on every process.
std::string description(Collective collective, const TensorView& in,
                        const CollectiveOptions& options, Engine engine) {
  const Shape slice(in.shape.begin() + std::min<std::ptrdiff_t>(1, std::ssize(in.shape)),
                    in.shape.end());
  std::string text = fmt::format("{} of slices {} of {} by {}, engine {}", name(collective),
                                 to_string(slice), name(in.dtype), options.algorithm, name(engine));
  const auto add = [&](std::string_view what, const auto& value) {
    text += fmt::format(", {} {}", what, value);
  };
  if (reduces(collective)) add("op", name(options.op));
  if (has_root(collective)) add("root", options.root);
  if (options.accumulate) add("accumulate", name(*options.accumulate));
  if (options.mean) add("mean", name(*options.mean));
  if (options.nan) add("nan", name(*options.nan));
  if (options.fp8) add("fp8", name(*options.fp8));
  if (options.factor != 1) add("factor", options.factor);
  const auto add_list = [&](std::string_view what, const auto& values) {
    if (!values.empty()) text += fmt::format(", {} {}", what, values);
  };
  add_list("weights", options.weights);
  add_list("groups", options.groups);
  add_list("permutation", options.permutation);
  add_list("counts", options.counts);
  add_list("receive counts", options.receive_counts);
  add_list("send displacements", options.send_displacements);
  add_list("receive displacements", options.receive_displacements);
  const Parameters& p = options.parameters;
  const Parameters none;
  const auto add_if = [&](std::string_view what, const auto& value, const auto& standard) {
    if (value != standard) add(what, value);
  };
  if (p.protocol != none.protocol) add("protocol", name(p.protocol));
  add_if("channels", p.channels, none.channels);
  add_list("rings", p.rings);
  add_list("trees", p.trees);
  add_if("NCCL version", p.nccl_version, none.nccl_version);
  add_if("ranks per node", p.ranks_per_node, none.ranks_per_node);
  add_if("segment bytes", p.segment_bytes, none.segment_bytes);
  add_if("chunks", p.chunks, none.chunks);
  add_if("fan-out", p.fanout, none.fanout);
  add_if("inner", p.inner, none.inner);
  add_if("outer", p.outer, none.outer);
  add_if("reduce algorithm", p.reduce_algorithm, none.reduce_algorithm);
  add_list("layout counts", p.counts);
  return text;
}

}  // namespace

class Communicator::Processes {
 public:
  Processes(MPI_Comm communicator, std::int64_t ranks_here, const CommunicatorOptions& options)
      : wait_(communicator, options.timeout),
        nccl_(options.nccl_library, options.nccl_communicator),
        options_(options) {
    VR_MPI(MPI_Comm_dup(communicator, &communicator_));
    VR_MPI(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN));
    VR_MPI(MPI_Comm_rank(communicator_, &process_));
    VR_MPI(MPI_Comm_size(communicator_, &count_));
    struct Own {
      std::int64_t ranks, piece_bytes;
    };
    const Own own{ranks_here, options.piece_bytes};
    std::vector<Own> all(static_cast<std::size_t>(count_));
    MPI_Request request = MPI_REQUEST_NULL;
    VR_MPI(MPI_Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE,
                          communicator_, &request));
    wait_.until_done(request);
    std::vector<std::int64_t> counts;
    for (const Own& each : all) {
      counts.push_back(each.ranks);
      // Pieces have to be the same everywhere.
      options_.piece_bytes = std::min(options_.piece_bytes, each.piece_bytes);
    }
    options_.piece_bytes = std::max<std::int64_t>(options_.piece_bytes, 1);
    firsts_.push_back(0);
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts[p] < 1)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("process {} owns {} ranks; each owns at least one", p, counts[p]));
      if (counts[p] > INT32_MAX - firsts_.back())
        throw Error(ErrorKind::not_supported,
                    fmt::format("the {} processes own more than 2^31 - 1 ranks", count_));
      firsts_.push_back(firsts_.back() + counts[p]);
    }
  }
  ~Processes() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (!is_over) MPI_Comm_free(&communicator_);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int process() const { return process_; }
  int count() const { return count_; }
  std::string nccl_version() const { return nccl_.version(); }
  const std::vector<std::int64_t>& firsts() const { return firsts_; }

  Provenance run(Collective collective, const TensorView& in, const TensorView& out,
                 const CollectiveOptions& options, Engine engine) {
    // What can fail on one process alone comes first; then all meet.
    std::optional<Prepared> prepared;
    meet(description(collective, in, options, engine),
         [&] { prepared.emplace(*this, collective, in, out, options, engine); });
    wait_.happened();
    try {
      prepared->run();
    } catch (const MpiError&) {
      throw;
    } catch (const std::exception& error) {
      wait_.tell_failure(error.what());
      throw;
    }
    return prepared->provenance;
  }

 private:
  // A call's memory and engine.
  struct Prepared {
    Prepared(Processes& all, Collective collective, const TensorView& in, const TensorView& out,
             const CollectiveOptions& options, Engine engine);
    void run();

    ProcessCall call;
    Operand in, out, ranks;
    std::vector<DeviceBuffer> copies;  // of slices that aren't contiguous
    Provenance provenance;
    std::unique_ptr<EngineRun> engine;  // null: there is nothing to do
    std::byte* packed_out = nullptr;
    std::byte* packed_ranks = nullptr;
  };

  // Throws the same on all processes if `prepare` throws on one, or if their words differ.
  void meet(const std::string& words, const std::function<void()>& prepare);
  std::vector<std::string> all_texts(const std::string& text);

  MpiWait wait_;
  KeptMemory memory_;
  NcclProcesses nccl_;
  CommunicatorOptions options_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int process_ = 0, count_ = 1;
  std::vector<std::int64_t> firsts_;
};

std::vector<std::string> Communicator::Processes::all_texts(const std::string& text) {
  const auto length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(count_)), offsets;
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_, &request));
  wait_.until_done(request);
  int total = 0;
  for (const int each : lengths) offsets.push_back(std::exchange(total, total + each));
  std::string all(static_cast<std::size_t>(total), '\0');
  VR_MPI(MPI_Iallgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                         MPI_CHAR, communicator_, &request));
  wait_.until_done(request);
  std::vector<std::string> texts;
  for (std::size_t p = 0; p < lengths.size(); ++p)
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[p]), static_cast<std::size_t>(lengths[p])));
  return texts;
}

void Communicator::Processes::meet(const std::string& words, const std::function<void()>& prepare) {
  std::string problem;
  ErrorKind kind = ErrorKind::bad_argument;
  try {
    prepare();
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    problem = error.what();
    kind = error.kind();
  } catch (const std::bad_alloc&) {
    problem = "there is not enough memory";
    kind = ErrorKind::not_available;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  struct Note {
    std::uint64_t words;
    std::int64_t kind;  // -1: no problem
    bool operator==(const Note&) const = default;
  };
  const Note own{std::hash<std::string>{}(words),
                 problem.empty() ? -1 : static_cast<std::int64_t>(kind)};
  std::vector<Note> notes(static_cast<std::size_t>(count_));
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgather(&own, sizeof own, MPI_BYTE, notes.data(), sizeof own, MPI_BYTE,
                        communicator_, &request));
  wait_.until_done(request);
  if (std::ranges::all_of(
          notes, [&](const Note& each) { return each.words == notes[0].words && each.kind < 0; }))
    return;
  const bool differ =
      std::ranges::any_of(notes, [&](const Note& each) { return each.words != notes[0].words; });
  const std::vector<std::string> texts = all_texts(differ ? words : problem);
  const auto is_odd = [&](std::size_t p) {
    return differ ? notes[p].words != notes[0].words : notes[p].kind >= 0;
  };
  std::size_t odd = 0;
  while (!is_odd(odd)) ++odd;
  if (differ)
    throw Error(ErrorKind::bad_argument,
                fmt::format("process {} calls {} where process 0 calls {}; all have to make the "
                            "same call",
                            odd, texts[odd], texts[0]));
  const bool all_say_it =
      std::ranges::all_of(texts, [&](const std::string& each) { return each == texts[0]; });
  throw Error(static_cast<ErrorKind>(notes[odd].kind),
              all_say_it ? texts[0] : fmt::format("process {} of {}: {}", odd, count_, texts[odd]));
}

Communicator::Processes::Prepared::Prepared(Processes& all, Collective collective,
                                            const TensorView& in_view, const TensorView& out_view,
                                            const CollectiveOptions& options, Engine which) {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorKind::bad_argument, problem);
  };
  const std::vector<std::int64_t>& firsts = all.firsts();
  const auto here = static_cast<std::size_t>(all.process());
  const std::int64_t first = firsts[here], count = firsts[here + 1] - first;
  if (options.workspace.data != nullptr || options.stream != nullptr)
    refuse("a call over processes takes no workspace and no stream: it has memory of its own");
  if (in_view.shape.empty() || in_view.shape[0] != count)
    refuse(
        fmt::format("input of shape {} must have {} slices: the ranks of this process are {} "
                    "to {}",
                    to_string(in_view.shape), count, first, first + count - 1));
  in = Operand(in_view, Operand::Use::read, "input");
  Shape shape = in_view.shape;
  shape[0] = firsts.back();
  const Problem problem = problem_of(collective, shape, in_view.dtype, options);
  call = {.key = make_key(problem, in_view.device, options),
          .firsts = firsts,
          .process = all.process(),
          .in = std::vector<std::byte*>(static_cast<std::size_t>(firsts.back())),
          .communicator = all.communicator_,
          .wait = &all.wait_,
          .memory = &all.memory_,
          .nccl = &all.nccl_,
          .piece_bytes = all.options_.piece_bytes};
  provenance = choose_all(call.key).provenance;

  // Output rows of this process, and where they stand among all.
  const bool at_root = ends_at_root(collective);
  std::vector<std::size_t> rows;
  if (at_root) {
    for (std::size_t g = 0; g < group_count(call.key); ++g) {
      const std::int64_t root = options.groups.empty()
                                    ? options.root
                                    : options.groups[g][static_cast<std::size_t>(options.root)];
      if (call.process_of(root) == call.process) rows.push_back(g);
    }
    call.out.resize(group_count(call.key));
  } else {
    rows.resize(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), static_cast<std::size_t>(first));
    call.out.resize(static_cast<std::size_t>(firsts.back()));
  }
  call.ranks.resize(call.out.size());
  Shape needed = output_shape(collective, shape, options);
  const bool has_dimension = !at_root || !options.groups.empty();
  if (has_dimension) needed[0] = static_cast<std::int64_t>(rows.size());
  const auto output = [&](const TensorView& view, const char* what) {
    if (view.shape != needed)
      refuse(fmt::format("{} has shape {} but must have {} here", what, to_string(view.shape),
                         to_string(needed)));
    TensorView with_rows = view;
    if (!has_dimension) {
      with_rows.shape.insert(with_rows.shape.begin(), 1);
      if (!view.strides.empty()) with_rows.strides.insert(with_rows.strides.begin(), 0);
    }
    return Operand(with_rows, Operand::Use::written, what);
  };
  if (!rows.empty()) {
    out = output(out_view, "output");
    if (out.dtype() != in.dtype() || out.device() != in.device())
      refuse(fmt::format("input is {} on {} but output is {} on {}", name(in.dtype()),
                         to_string(in.device()), name(out.dtype()), to_string(out.device())));
    if (options.ranks.data != nullptr) {
      if (!finds_rank(options.op) || !reduces(collective))
        refuse("ranks are told by min_loc and max_loc only");
      ranks = output(options.ranks, "ranks");
      if (ranks.dtype() != DType::i32 || ranks.device() != in.device())
        refuse(fmt::format("ranks must be i32 on {}, not {} on {}", to_string(in.device()),
                           name(ranks.dtype()), to_string(ranks.device())));
    }
  }
  // In place every row starts where its input does; other overlaps would be written before they are
  // read.
  bool is_in_place = !in.empty() && !out.empty();
  for (std::int64_t r = 0; is_in_place && r < out.ranks(); ++r)
    is_in_place = in.rows().row(r) == out.rows().row(r);
  if (!is_in_place) refuse_overlap(out, "output", in, "input");
  refuse_overlap(ranks, "ranks", in, "input");
  refuse_overlap(ranks, "ranks", out, "output");
  if (call.key.problem.elements == 0 && collective != Collective::barrier) return;

  const Backend& backend = backend_for(in.device());
  const auto addresses = [&](const Operand& operand, bool is_read, std::byte*& packed) {
    if (operand.is_contiguous() || operand.empty()) return operand.rows();
    copies.emplace_back(static_cast<std::size_t>(operand.bytes()), in.device());
    packed = static_cast<std::byte*>(copies.back().data());
    if (is_read) operand.pack(packed, backend, nullptr);
    return packed_rows(packed, operand.slice_bytes());
  };
  std::byte* packed_in = nullptr;
  const RowAddresses from = addresses(in, true, packed_in);
  for (std::int64_t r = 0; r < count; ++r)
    call.in[static_cast<std::size_t>(first + r)] = from.row(r);
  const auto set = [&](const Operand& operand, std::vector<std::byte*>& table, std::byte*& packed) {
    if (operand.empty()) return;
    const RowAddresses to = addresses(operand, takes_counts(collective), packed);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table[rows[i]] = to.row(static_cast<std::int64_t>(i));
  };
  set(out, call.out, packed_out);
  set(ranks, call.ranks, packed_ranks);
  engine =
      which == Engine::schedule ? make_schedule_engine(call) : make_collective_engine(call, which);
  provenance.executor = std::string(name(which));
}

void Communicator::Processes::Prepared::run() {
  if (!engine) return;
  engine->run();
  const Backend& backend = backend_for(in.device());
  if (packed_out != nullptr) out.unpack(packed_out, backend, nullptr);
  if (packed_ranks != nullptr) ranks.unpack(packed_ranks, backend, nullptr);
}

int ProcessCall::process_of(std::int64_t rank) const {
  return static_cast<int>(std::ranges::upper_bound(firsts, rank) - firsts.begin()) - 1;
}

Communicator::Communicator(MPI_Comm communicator, std::int64_t ranks_here,
                           const CommunicatorOptions& options)
    : processes_(std::make_unique<Processes>(communicator, ranks_here, options)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

int Communicator::process() const { return processes_->process(); }
int Communicator::processes() const { return processes_->count(); }
std::int64_t Communicator::ranks() const { return processes_->firsts().back(); }
std::int64_t Communicator::first_rank() const {
  return processes_->firsts()[static_cast<std::size_t>(process())];
}
std::int64_t Communicator::ranks_here() const {
  return processes_->firsts()[static_cast<std::size_t>(process()) + 1] - first_rank();
}
std::string Communicator::nccl_version() const { return processes_->nccl_version(); }
int Communicator::process_of(std::int64_t rank) const {
  const std::vector<std::int64_t>& firsts = processes_->firsts();
  return static_cast<int>(std::ranges::upper_bound(firsts, rank) - firsts.begin()) - 1;
}

Provenance Communicator::run(Collective collective, const TensorView& in, const TensorView& out,
                             const CollectiveOptions& options, Engine engine) {
  return processes_->run(collective, in, out, options, engine);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
