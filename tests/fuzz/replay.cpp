// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// usage: <name>_fuzz FOLDER [MUTATIONS]
//
// A main() for the fuzz targets where there is no libFuzzer: runs each file of the folder, then
// MUTATIONS changed copies of each (default 20000), the same ones every time. A sanitizer or an
// abort reports what is wrong.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  // A copy of exactly the right size: the address sanitizer sees any read behind its end.
  const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[input.size()]);
  std::memcpy(copy.get(), input.data(), input.size());
  LLVMFuzzerTestOneInput(copy.get(), input.size());
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {}

  std::string operator()(std::string input) {
    for (std::size_t changes = 1 + below(5); changes-- > 0;) {
      const std::size_t at = below(input.size() + 1);
      switch (below(6)) {
        case 0:
          input.replace(at, 1, 1, byte());
          break;
        case 1:
          input.insert(at, 1, byte());
          break;
        case 2:
          input.erase(at, 1 + below(16));
          break;
        case 3:
          input.insert(at, input.substr(below(input.size() + 1), below(16)));
          break;
        case 4:
          input.insert(at, std::to_string(random_() >> below(64)));
          break;
        case 5: {
          const std::string& other = corpus_[below(corpus_.size())];
          input = input.substr(0, at) + other.substr(below(other.size() + 1));
          break;
        }
      }
    }
    return input;
  }

 private:
  std::size_t below(std::size_t range) { return static_cast<std::size_t>(random_() % range); }

  // Any byte, or one that the texts here are made of.
  char byte() {
    constexpr std::string_view likely = "{}()[]'\",: 0123456789<>|=-TFLuifOV";
    return below(2) == 0 ? static_cast<char>(below(256)) : likely[below(likely.size())];
  }

  std::vector<std::string> corpus_;
  std::mt19937_64 random_{1};  // the standard fixes its numbers, unlike those of distributions
};

}  // namespace

int main(int count, char** arguments) {
  int mutations = 20'000;
  const std::string_view number = count > 2 ? arguments[2] : "20000";
  const char* const end = number.data() + number.size();
  if (count < 2 || std::from_chars(number.data(), end, mutations).ptr != end) {
    std::fprintf(stderr, "usage: %s FOLDER [MUTATIONS]\n", arguments[0]);
    return 2;
  }

  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1]))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // folders have no order of their own
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there are no files in '%s'\n", arguments[1]);
    return 2;
  }

  run("");
  for (const std::string& input : corpus) run(input);
  Mutator mutate(corpus);
  for (const std::string& input : corpus)
    for (int i = 0; i < mutations; ++i) run(mutate(input));
  std::printf("%zu files, %d mutations of each\n", corpus.size(), mutations);
}
