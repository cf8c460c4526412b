// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/peer_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cli/device_copy.hpp"
#include "cli/rank_share.hpp"
#include "collectives/peers/bit_agreement.hpp"
#include "collectives/peers/mpi_barrier.hpp"
#include "collectives/peers/mpi_collective.hpp"

namespace vranks::cli {

namespace {

// Our result in CPU memory, of the shape that the call has.
Tensor our_result(const PeerCase& check, const Tensor& whole, Provenance& provenance) {
  CollectiveOptions options = check.options;
  options.algorithm = check.algorithm;
  const Collective collective = check.problem.collective;
  Tensor result(whole.dtype(), output_shape(collective, whole.shape(), options));
  const DeviceCopy in(whole.view(), check.device);
  const DeviceCopy out(result.view(), check.device);
  in.send();
  provenance = vranks::run(collective, in.view(), out.view(), options);
  out.fetch();
  return result;
}

// How many ranks hold other bits than rank 0.
std::int64_t ranks_unlike_the_first(const Tensor& result, std::int64_t row_bytes) {
  std::int64_t unlike = 0;
  for (std::int64_t r = 1; row_bytes > 0 && r < result.shape()[0]; ++r)
    unlike += std::memcmp(result.data() + r * row_bytes, result.data(),
                          static_cast<std::size_t>(row_bytes)) != 0;
  return unlike;
}

bool all_get_the_same(Collective collective) {
  const Collective form = even_form(collective);
  return form == Collective::all_reduce || form == Collective::broadcast ||
         form == Collective::all_gather;
}

// A deviation, and whose it is.
struct Found {
  Deviation deviation;
  std::int64_t elements = 0;
  std::int64_t worst_rank = -1;
  std::byte ours[16] = {}, theirs[16] = {};  // the worst element
};

void add(Found& all, const Found& more) {
  const bool is_worse = more.deviation.max_bound_used > all.deviation.max_bound_used;
  const Deviation both = merged(all.deviation, more.deviation);
  const std::int64_t elements = all.elements + more.elements;
  if (is_worse) all = more;
  all.deviation = both;
  all.elements = elements;
}

// "3fc00000": the bits of an element as one number.
std::string hexadecimal(const std::byte* element, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;)
    text += fmt::format("{:02x}", static_cast<unsigned>(element[i]));
  return text;
}

// One comparison on its way.
class Comparing {
 public:
  Comparing(const Job& job, const PeerCase& check, const PeerData& data)
      : job_(job), check_(check), problem_(check.problem), whole_(data.whole) {
    for (int p = 0; p < job.processes(); ++p)
      blocks_.push_back(share_of(problem_.ranks, job.processes(), p));
    job.together([&] {
      theirs_.emplace(problem_, blocks_, job.process(), rows_of(data.block.view(), "input"));
      if (!job.is_first()) return;
      ours_ = our_result(check, whole_, finding_.provenance);
      if (all_get_the_same(problem_.collective))
        finding_.unlike_ranks = ranks_unlike_the_first(ours_, ours_.bytes() / problem_.ranks);
      if (!reduces(problem_.collective))
        bound_.rule = "equal bits";
      else if (!is_prefix(problem_.collective))
        bound_ = bound_over(problem_.ranks, data.is_exact);
    });
    is_exact_ = data.is_exact;
    likeness_ = !reduces(problem_.collective) ? Likeness::bits
                : check.forced                ? likeness_of_order(problem_)
                                              : Likeness::bound;
  }

  PeerFinding finding(const OpenMpiForced* forced) {
    if (forced) finding_.forced_name = forced->library_name();
    job_.watched([&] { theirs_->run(forced); });
    finding_.calls = mpi_calls(problem_, job_.processes(),
                               check_.forced ? check_.forced->call->call : std::string_view());
    if (ends_at_root(problem_.collective))
      compare(problem_.root);
    else if (all_get_the_same(problem_.collective))
      compare(0);
    else
      for (std::int64_t r = 0; r < problem_.ranks; ++r) compare(r);
    conclude();
    return std::move(finding_);
  }

 private:
  // Of a reduction over the first ranks.
  AgreementBound bound_over(std::int64_t ranks, bool is_exact) const {
    Problem problem = problem_;
    problem.ranks = ranks;
    Rows rows = rows_of(whole_.view(), "input");
    rows.ranks = ranks;
    return check_.forced ? order_bound(problem, rows) : agreement_bound(problem, rows, is_exact);
  }

  // On process 0: how far what rank r gets may be off, if that depends on r.
  void find_bound(std::int64_t rank) {
    if (!is_prefix(problem_.collective)) return;
    const std::int64_t ranks = problem_.collective == Collective::scan ? rank + 1 : rank;
    if (ranks > 0) {
      bound_ = bound_over(ranks, is_exact_);
      return;
    }
    constexpr double not_compared = -1;
    bound_.most.assign(static_cast<std::size_t>(problem_.elements), not_compared);
    undefined_ = "rank 0 of an exscan holds them, which MPI leaves undefined";
  }

  // What rank r gets, or what all get.
  void compare(std::int64_t rank) {
    const std::int64_t elements = row_elements(problem_, Slot::output, rank);
    const auto n = static_cast<std::size_t>(elements);
    const auto size = static_cast<std::int64_t>(size_bytes(problem_.dtype));
    Tensor received;
    std::vector<double> most;
    job_.together([&] {
      most.assign(n, 0);
      received = Tensor(problem_.dtype, {elements});
      if (!job_.is_first()) return;
      const bool is_one_row = ends_at_root(problem_.collective);
      const std::int64_t row = is_one_row ? 0 : ours_.bytes() / problem_.ranks;
      std::copy_n(ours_.data() + rank * row, received.bytes(), received.data());
      if (!reduces(problem_.collective)) return;
      find_bound(rank);
      const bool has_parts = even_form(problem_.collective) == Collective::reduce_scatter;
      const std::int64_t begin =
          has_parts ? block_starts(problem_, Slot::input)[static_cast<std::size_t>(rank)] : 0;
      std::copy_n(bound_.most.begin() + begin, n, most.begin());
    });
    job_.broadcast(received.data(), received.bytes());
    if (reduces(problem_.collective))
      job_.broadcast(most.data(), elements * static_cast<std::int64_t>(sizeof(double)));

    const RankRange here = blocks_[static_cast<std::size_t>(job_.process())];
    const bool is_mine = all_get_the_same(problem_.collective) ||
                         (here.first <= rank && rank < here.first + here.count);
    if (!is_mine) return;
    const std::byte* const theirs = theirs_->row(rank);
    Found found{
        .deviation = deviation_between(problem_.dtype, received.data(), theirs, most, likeness_),
        .elements = elements};
    if (found.deviation.worst >= 0) {
      found.worst_rank = all_get_the_same(problem_.collective) ? here.first : rank;
      std::copy_n(received.data() + found.deviation.worst * size, size, found.ours);
      std::copy_n(theirs + found.deviation.worst * size, size, found.theirs);
    }
    add(mine_, found);
  }

  void conclude() {
    Found all;
    for (const Found& each : job_.gather(mine_)) add(all, each);
    for (const std::int64_t each : job_.gather(finding_.unlike_ranks))
      finding_.unlike_ranks = std::max(finding_.unlike_ranks, each);
    finding_.deviation = all.deviation;
    finding_.elements = all.elements;
    if (all.deviation.worst >= 0) {
      const std::size_t size = size_bytes(problem_.dtype);
      finding_.worst_rank = all.worst_rank;
      finding_.our_bits = hexadecimal(all.ours, size);
      finding_.their_bits = hexadecimal(all.theirs, size);
    }
    finding_.rule = bound_.rule;
    finding_.left_out = bound_.left_out;
    if (!undefined_.empty()) {
      const bool are_all = all.elements - all.deviation.compared == problem_.elements;
      finding_.left_out =
          are_all ? undefined_ : fmt::format("{}; or {}", bound_.left_out, undefined_);
    }
    finding_.is_agreement =
        finding_.unlike_ranks == 0 && is_agreement(finding_.deviation, finding_.elements);
  }

  const Job& job_;
  const PeerCase& check_;
  const Problem& problem_;
  const Tensor& whole_;
  std::vector<RankRange> blocks_;
  std::optional<MpiCollective> theirs_;
  Tensor ours_;           // on process 0
  AgreementBound bound_;  // there; of a scan that of the rank it is called for
  std::string undefined_;
  bool is_exact_ = false;
  Likeness likeness_ = Likeness::bound;
  Found mine_;
  PeerFinding finding_;
};

PeerFinding compare_barriers(const Job& job, const PeerCase& check) {
  PeerFinding finding;
  job.together([&] {
    if (job.is_first())
      our_result(check, Tensor(DType::f32, {check.problem.ranks, 0}), finding.provenance);
  });
  BarrierFinding mine;
  job.watched([&] { mine = watch_mpi_barrier(); });
  for (const BarrierFinding& each : job.gather(mine)) {
    finding.elements += each.returns;
    finding.deviation.compared += each.returns;
    finding.deviation.different += each.early;
    finding.deviation.over_bound += each.early;
  }
  finding.calls = mpi_calls(check.problem, job.processes());
  finding.rule = "none returns before all have entered";
  finding.is_agreement = is_agreement(finding.deviation, finding.elements);
  return finding;
}

}  // namespace

PeerFinding compare_with_mpi(const Job& job, const PeerCase& check, const PeerData& data,
                             const OpenMpiForced* forced) {
  return check.problem.collective == Collective::barrier
             ? compare_barriers(job, check)
             : Comparing(job, check, data).finding(forced);
}

}  // namespace vranks::cli
