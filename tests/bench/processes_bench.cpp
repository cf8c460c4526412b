// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual ranks over processes beside a plain MPI_Allreduce of what each process is left with once
// its ranks are reduced, call for call in turns: f32 sums, medians of times of the slowest process.
//   mpirun -np 2 processes_bench [ranks a process [rounds]]     default: 1 21
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/processes/communicator.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"

namespace {

using namespace vranks;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

// Seconds that the slowest process takes.
template <class Call>
double seconds(Call&& call) {
  VR_MPI(MPI_Barrier(MPI_COMM_WORLD));
  const double begin = MPI_Wtime();
  call();
  double mine = MPI_Wtime() - begin, most = 0;
  VR_MPI(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return most;
}

void compare(Communicator& all, std::int64_t elements, int rounds) {
  const std::int64_t here = all.ranks_here();
  Tensor in(DType::f32, {here, elements}), out(DType::f32, {here, elements});
  Tensor local(DType::f32, {elements}), plain(DType::f32, {elements});
  fill_random(in.view(), 1, all.first_rank());
  const CollectiveOptions sum{.op = ReduceOp::sum};
  const CollectiveOptions ring{.op = ReduceOp::sum, .algorithm = "ring"};
  std::vector<double> mpi, folded, engine, schedule;
  for (int i = 0; i <= rounds; ++i) {
    const auto plain_call = [&] {
      VR_MPI(MPI_Allreduce(local.data(), plain.data(), static_cast<int>(elements), MPI_FLOAT,
                           MPI_SUM, MPI_COMM_WORLD));
    };
    const double a = seconds(plain_call);
    const double b = seconds([&] {
      reduce_ranks(in.view(), local.view(), sum);
      plain_call();
    });
    const double c = seconds([&] { all.run(Collective::all_reduce, in.view(), out.view(), sum); });
    const double d = seconds(
        [&] { all.run(Collective::all_reduce, in.view(), out.view(), ring, Engine::schedule); });
    if (i == 0) continue;
    mpi.push_back(a);
    folded.push_back(b);
    engine.push_back(c);
    schedule.push_back(d);
  }
  if (all.process() != 0) return;
  const double plain_time = median(mpi);
  fmt::print("{:>10} {:>11.1f} {:>11.1f} {:>11.1f} {:>7.2f} {:>7.2f} {:>11.1f}\n", elements * 4,
             plain_time * 1e6, median(folded) * 1e6, median(engine) * 1e6,
             median(engine) / plain_time, median(engine) / median(folded), median(schedule) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  VR_MPI(MPI_Init(&argc, &argv));
  {
    const std::int64_t ranks = argc > 1 ? std::atoll(argv[1]) : 1;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 21;
    Communicator all(MPI_COMM_WORLD, ranks);
    if (all.process() == 0)
      fmt::print(
          "{} processes of {} ranks; us: MPI_Allreduce, the same behind a local reduction, "
          "engine mpi, its ratios to both, ring by engine schedule\n"
          "{:>10} {:>11} {:>11} {:>11} {:>7} {:>7} {:>11}\n",
          all.processes(), ranks, "bytes", "plain", "reduced", "engine mpi", "/plain", "/red.",
          "schedule");
    for (const std::int64_t elements : {256, 16384, 262144, 4194304, 16777216})
      compare(all, elements, rounds);
  }
  VR_MPI(MPI_Finalize());
}
