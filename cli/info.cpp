// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks info`: what is built in, what this machine has, and how to get what is missing.
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <thread>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "collectives/peers/mpi.hpp"
#include "kernels/backend.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

constexpr std::string_view no_cuda =
    "no nvcc 12 or newer was found when this was built (or VRANKS_CUDA was OFF).\n"
    "Install the CUDA Toolkit from developer.nvidia.com/cuda-downloads,\n"
    "then run scripts/demo again";
constexpr std::string_view no_mpi =
    "no MPI was found when this was built (or VRANKS_MPI was OFF). Run\n"
    "apt-get install libopenmpi-dev openmpi-bin, then scripts/demo again";

// The version of the standard whose date the compiler knows.
std::string_view openmp_version() {
  struct Version {
    int date;
    std::string_view name;
  };
  constexpr Version versions[] = {
      {202111, "5.2"}, {202011, "5.1"}, {201811, "5.0"}, {201511, "4.5"}};
  for (const Version& version : versions)
    if (_OPENMP >= version.date) return version.name;
  return "4.0 or older";
}

std::int64_t memory_bytes() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGE_SIZE)};
}

const Backend* backend_of(DeviceKind kind) {
  for (const Backend* backend : backends())
    if (backend->kind() == kind) return backend;
  return nullptr;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

class Info : public Command {
 public:
  std::string_view name() const override { return "info"; }
  std::string_view summary() const override {
    return "what this build and this machine have, and how to get what is missing";
  }

  bool setup(const std::vector<std::string>& arguments) override {
    return read_arguments(
        {name(), "", "What is built in, what this machine has, and how to get what is missing."},
        report_options(format_), arguments);
  }

  int run(Job&) override {
    Report report(fmt::format("vranks {}", build::version));
    report.add("version", build::version);
    add_build(report);
    add_machine(report);
    report.print(format_);
    return exit_ok;
  }

 private:
  void add_build(Report& report) const {
    report.add("compiler", build::compiler);
    report.add("build_type", build::build_type);
    report.line("compiler", fmt::format("{}, {} build", build::compiler, build::build_type));

    const std::string_view cuda = build::cuda_version;
    report.add("cuda_version", text_or_null(cuda));
    report.add("cuda_architectures", text_or_null(build::cuda_architectures));
    report.line("CUDA", cuda.empty() ? "not in this build"
                                     : fmt::format("Toolkit {}, architectures: {}", cuda,
                                                   build::cuda_architectures));

    const bool has_mpi = *build::mpi_version != '\0';
    report.add("mpi_library", has_mpi ? Value(mpi_library()) : Value());
    report.line("MPI", has_mpi ? mpi_library() : "not in this build");

    report.add("openmp_version", openmp_version());
    report.line("OpenMP", fmt::format("{}, {} threads (set by OMP_NUM_THREADS)", openmp_version(),
                                      omp_get_max_threads()));
  }

  void add_machine(Report& report) const {
    const std::string cpu = backend_of(DeviceKind::cpu)->devices().at(0);
    const auto logical_cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    report.add("cpu", cpu);
    report.add("cpu_threads", omp_get_max_threads());
    report.add("logical_cores", logical_cores);
    report.add("memory_bytes", memory_bytes());
    report.line("", "");
    report.line("cpu", fmt::format("{}; {} logical cores", cpu, logical_cores));
    report.line("memory", bytes_text(static_cast<double>(memory_bytes())));

    List devices, missing;
    const Backend* const cuda = backend_of(DeviceKind::cuda);
    if (cuda)
      for (const std::string& device : cuda->devices()) {
        report.line(fmt::format("cuda:{}", devices.size()), device);
        devices.emplace_back(device);
      }
    const auto miss = [&](std::string_view what, std::string_view why) {
      if (missing.empty()) report.line("", "");
      report.line(std::string(missing.empty() ? "missing" : ""), fmt::format("{}: {}", what, why));
      missing.emplace_back(fmt::format("{}: {}", what, one_line(why)));
    };
    if (!cuda)
      miss("CUDA", no_cuda);
    else if (devices.empty())
      miss("CUDA device", cuda->missing());
    if (*build::mpi_version == '\0') miss("MPI", no_mpi);
    report.add("cuda_devices", devices);
    report.add("missing", missing);
    if (missing.empty()) report.line("missing", "nothing");
  }

  Format format_ = Format::table;
};

}  // namespace

std::unique_ptr<Command> make_info() { return std::make_unique<Info>(); }

}  // namespace vranks::cli
