// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// vranks beside real NCCL ranks on the same card, call for call in turns, and the same bits
// demanded; `nccl_bench --help` says how. Each setting of NCCL runs in a process of its own, since
// NCCL reads its environment once, and since ranks that wait for each other may wait for ever.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collectives/peers/nccl.hpp"
#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "ranks/output_file.hpp"
#include "tests/bench/nccl_bench_options.hpp"
#include "tests/bench/nccl_trial.hpp"

extern char** environ;

namespace {

using namespace vranks;
using namespace vranks::nccl_bench;
using cuda::check_cuda;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A process that runs this program and whose lines can be read. Ended by the destructor.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("making a pipe", errno);
    output_ = ends[0];
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error =
        posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) fail("starting a process", error);
  }
  ~Child() {
    close(output_);
    if (process_ > 0) kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Got : std::uint8_t { line, end, nothing };
  // The next line; nothing if none comes for `seconds`.
  Got read_line(std::string& line, int seconds) {
    const auto deadline = Clock::now() + std::chrono::seconds(seconds);
    while (true) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return Got::line;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd ready{output_, POLLIN, 0};
      const int events = left > 0 ? poll(&ready, 1, static_cast<int>(left)) : 0;
      if (events < 0 && errno == EINTR) continue;
      if (events <= 0) return Got::nothing;
      char buffer[4096];
      const ssize_t got = read(output_, buffer, sizeof buffer);
      if (got <= 0) return Got::end;
      text_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  // How it ended; empty: well. One that is stuck in the driver is left to itself after 20 s.
  std::string wait() {
    if (process_ <= 0) return {};
    int status = 0;
    for (int i = 0; i < 200; ++i) {
      if (waitpid(process_, &status, WNOHANG) == process_) {
        process_ = -1;
        if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
        return WEXITSTATUS(status) ? fmt::format("exit code {}", WEXITSTATUS(status)) : "";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return "doesn't end";
  }

 private:
  [[noreturn]] static void fail(const char* doing, int error) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", doing, std::strerror(error)));
  }

  pid_t process_ = -1;
  int output_ = -1;
  std::string text_;
};

void print_row(const json& row) {
  const auto us = [&](const char* key) { return row[key]["median"].get<double>(); };
  const json& bits = row["bits"];
  const std::string verdict =
      bits["equal"].get<bool>() ? "equal" : fmt::format("{} differ", bits["differing"].get<long>());
  fmt::print(
      "{:<12} {:>2} {:>5} {:>9} {:<5} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>7.2f} {:>9}  "
      "{}: {}\n",
      row["setting"].get<std::string>(), row["channels"].get<int>(), row["ranks"].get<int>(),
      row["bytes"].get<std::int64_t>(), row["dtype"].get<std::string>(), us("nccl_us"),
      us("nccl_ring_us"), us("nccl_tree_us"), us("direct_us"), row["ratio"].get<double>(),
      bits["direct_differing"].get<std::int64_t>(), verdict, bits["as"].get<std::string>());
  std::fflush(stdout);
}

// Adds its rows; returns what went wrong, or nothing.
std::string run_child(const std::vector<std::string>& arguments, int timeout, json& rows) {
  Child child(arguments);
  std::string line;
  while (true) {
    switch (child.read_line(line, timeout)) {
      case Child::Got::nothing:
        return fmt::format("silent for {} s, given up", timeout);
      case Child::Got::end:
        return child.wait();
      case Child::Got::line:
        if (!line.starts_with("{\"")) {
          fmt::print(stderr, "{}\n", line);  // NCCL's own words
          break;
        }
        rows.push_back(json::parse(line));
        print_row(rows.back());
    }
  }
}

int bench(const Options& options, std::span<char*> arguments) {
  if (!options.output.empty()) check_writable_target(options.output);
  const Nccl nccl(options.library, "--library");
  nccl.need_several_ranks();
  backend_for(parse_device("cuda:0"));
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the device's name");
  fmt::print("NCCL {} beside vranks on one {}: all-reduce avg in place, medians of {} turns\n",
             nccl.version_text(), properties.name, options.rounds);
  fmt::print("{:<12} {:>2} {:>5} {:>9} {:<5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}  {}\n", "setting",
             "ch", "ranks", "bytes", "dtype", "NCCL us", "ring us", "tree us", "direct us", "ratio",
             "direct", "bits");
  std::fflush(stdout);

  json rows = json::array(), failures = json::array();
  for (const Setting& setting : options.settings)
    for (const std::int64_t ranks : options.ranks)
      for (const std::int64_t channels : options.channels) {
        std::vector<std::string> words{"nccl_bench"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        for (const std::string& word :
             {std::string("--settings"), setting.text(), std::string("--ranks"),
              std::to_string(ranks), std::string("--channels"), std::to_string(channels),
              std::string("--child")})
          words.push_back(word);
        const std::string failure = run_child(words, options.timeout, rows);
        if (failure.empty()) continue;
        fmt::print("{:<12} {:>2} {:>5} {}\n", setting.text(), channels, ranks, failure);
        failures.push_back({{"setting", setting.text()},
                            {"channels", channels},
                            {"ranks", ranks},
                            {"failure", failure}});
      }

  const auto equal =
      std::ranges::count_if(rows, [](const json& row) { return row["bits"]["equal"].get<bool>(); });
  const auto all = static_cast<std::ptrdiff_t>(rows.size());
  fmt::print("{} of {} have NCCL's bits; {} processes failed\n", equal, all, failures.size());
  if (!options.output.empty()) {
    const json document = {{"nccl", nccl.version_text()},
                           {"library", nccl.path},
                           {"device", properties.name},
                           {"rows", rows},
                           {"failures", failures}};
    const std::string text = document.dump(1) + "\n";
    OutputFile file(options.output);
    file.write(std::as_bytes(std::span(text)));
    file.finish();
  }
  return equal == all && failures.empty() && all > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  const std::span<char*> arguments(values + 1, static_cast<std::size_t>(count - 1));
  const auto asks_for_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  if (std::ranges::any_of(arguments, asks_for_help)) {
    fmt::print("{}", help);
    return 0;
  }
  try {
    const Options options = parse(arguments);
    if (!options.is_child) return bench(options, arguments);
    measure(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl_bench: {}\n", error.what());
    std::fflush(nullptr);
    std::_Exit(1);  // ranks of NCCL that never finish must not meet the end of static objects
  }
}
