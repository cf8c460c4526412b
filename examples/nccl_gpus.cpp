// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One process a GPU, each with four virtual ranks: mpirun -np 2 nccl_gpus [libnccl.so.2]
// They are reduced on their GPU, and NCCL does the rest.
#include <collectives/processes/communicator.hpp>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    vranks::CommunicatorOptions options;
    if (argc > 1) options.nccl_library = argv[1];
    vranks::Communicator ranks(MPI_COMM_WORLD, 4, options);
    const int gpus = vranks::backend_for({vranks::DeviceKind::cuda, 0}).device_count();
    const vranks::Device gpu{vranks::DeviceKind::cuda, ranks.process() % gpus};

    const vranks::Shape shape = {4, 1000};
    std::vector<float> x(4000, static_cast<float>(ranks.process() + 1));  // gradients, say
    const vranks::DeviceBuffer in(4000 * sizeof(float), gpu), out(4000 * sizeof(float), gpu);
    in.copy_from_host(x.data(), 4000 * sizeof(float));
    const auto tensor = [&](const vranks::DeviceBuffer& buffer) {
      return vranks::TensorView{buffer.data(), vranks::DType::f32, shape, {}, gpu};
    };
    ranks.run(vranks::Collective::all_reduce, tensor(in), tensor(out), {}, vranks::Engine::nccl);
    out.copy_to_host(x.data(), 4000 * sizeof(float));
    if (ranks.process() == 0)
      std::printf("the mean of %d ranks on %d GPUs: %g\n", static_cast<int>(ranks.ranks()),
                  ranks.processes(), x[0]);
  } catch (const vranks::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (error.kind() != vranks::ErrorKind::not_available) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 77;  // there is no GPU, or no NCCL
  }
  MPI_Finalize();
}

// Prints:
// the mean of 8 ranks on 2 GPUs: 1.5
