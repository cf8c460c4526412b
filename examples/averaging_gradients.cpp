// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel training on virtual ranks: each rank computes the gradient of its own share of the
// data, all ranks average, and each takes the same step. The line y = 3x + 1 is found again, and
// every rank ends with the same bits, as on a real cluster.
#include <collectives/collectives.hpp>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <vector>

int main() {
  constexpr int ranks = 8, parameters = 2, samples = 16;
  std::vector<float> weights(ranks * parameters, 0.0f), gradients(ranks * parameters);
  const auto all_gradients = vranks::view(gradients.data(), {ranks, parameters});

  for (int step = 0; step < 200; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      float* w = &weights[rank * parameters];
      float slope = 0, offset = 0;
      for (int s = 0; s < samples; ++s) {
        const float x = static_cast<float>(s * ranks + rank) / (samples * ranks);
        const float error = w[0] * x + w[1] - (3 * x + 1);
        slope += 2 * error * x / samples;
        offset += 2 * error / samples;
      }
      gradients[rank * parameters] = slope;
      gradients[rank * parameters + 1] = offset;
    }
    vranks::all_reduce(all_gradients, all_gradients);  // mean is the default op
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= 0.5f * gradients[k];
  }

  bool same = true;
  for (int rank = 1; rank < ranks; ++rank)
    same &= !std::memcmp(&weights[0], &weights[rank * parameters], parameters * sizeof(float));
  std::cout << std::fixed << std::setprecision(3) << "y = " << weights[0] << " x + " << weights[1]
            << (same ? ", bit for bit the same on " : ", but different on ") << ranks << " ranks\n";
}

// Prints:
// y = 3.000 x + 1.000, bit for bit the same on 8 ranks
