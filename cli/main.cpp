// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The `vranks` program: finds the command, runs it as one process of a job, and says what went
// wrong. Results go to standard output, everything else to standard error.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "cli/command.hpp"
#include "cli/job.hpp"
#include "collectives/peers/openmpi_forced.hpp"
#include "ranks/error.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

// A file that is opened while a standard stream is closed would get its number, and our messages.
// Reading from or writing to these stand-ins fails, as it would have.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void print_help(std::FILE* stream) {
  fmt::print(
      stream,
      "Usage: vranks COMMAND [options]\n\n"
      "Collectives over virtual ranks: slice r of a tensor's dimension 0 is what rank r of a\n"
      "distributed job would hold.\n\n"
      "Commands:\n");
  for (const auto& command : commands())
    fmt::print(stream, "  {:<6}  {}\n", command->name(), command->summary());
  fmt::print(
      stream,
      "\n"
      "  vranks COMMAND --help   the options of a command\n"
      "  vranks --version        the version of this program\n\n"
      "Exit status: 0 fine; 1 a check failed; 2 bad use, bad input, or something is missing.\n");
}

int run_command(Job& job, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    if (job.is_first()) print_help(stderr);
    return exit_bad_use;
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h" || first == "--version") {
    if (arguments.size() > 1)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} stands alone; '{}' is too much", first, arguments[1]));
    first == "--version" ? fmt::print("vranks {}\n", build::version) : print_help(stdout);
    return exit_ok;
  }
  std::string names;
  for (const auto& command : commands()) {
    (names += names.empty() ? "" : " ") += command->name();
    if (command->name() != first) continue;
    return command->setup({arguments.begin() + 1, arguments.end()}) ? command->run(job) : exit_ok;
  }
  throw Error(ErrorKind::bad_argument,
              fmt::format("there is no command '{}'; there are: {}", first, names));
}

// What has been printed may still wait in a buffer; on a full disk only now it fails.
void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error(ErrorKind::io, fmt::format("standard output: {}", std::strerror(errno)));
}

// "vranks run": who speaks in messages.
std::string speaker_of(const std::vector<std::string>& arguments) {
  for (const auto& command : commands())
    if (!arguments.empty() && command->name() == arguments[0]) return "vranks " + arguments[0];
  return "vranks";
}

// Not by {fmt}, which throws where standard error can't be written.
int complain(const std::string& message) {
  std::fputs((message + "\n").c_str(), stderr);
  return exit_bad_use;
}

int run_as_process(Job& job, const std::vector<std::string>& arguments) {
  const std::string speaker = speaker_of(arguments);
  const auto complain_once = [&](const std::string& what) {
    return job.is_first() ? complain(speaker + ": " + what) : exit_bad_use;
  };
  // The first process speaks for all, whichever code prints.
  if (!job.is_first() && !std::freopen("/dev/null", "w", stdout)) std::fclose(stdout);
  int exit_code = exit_bad_use;
  try {
    job.together([&] {
      job.agree("arguments", arguments);
      exit_code = run_command(job, arguments);
      finish_output();
    });
    return exit_code;
  } catch (const JobError& error) {
    return complain(speaker + ": " + job.label() + error.what());
  } catch (const std::bad_alloc&) {
    return complain_once("there is not enough memory");
  } catch (const std::system_error& error) {  // {fmt}, when it can't write
    return complain_once("standard output: " + error.code().message());
  } catch (const std::exception& error) {
    return complain_once(error.what());
  }
}

int main_with(int argc, char** argv) {
  occupy_closed_streams();
  // A file beyond a limit of the system is to be an error with a message, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    // Before MPI starts: --algorithm ompi_... has the real Open MPI use that algorithm.
    if (std::any_of(argv, argv + argc,
                    [](const char* word) { return std::strstr(word, "ompi_") != nullptr; }))
      let_openmpi_be_forced();
    Job job;
    return run_as_process(job, {argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& error) {
    return complain(std::string("vranks: ") + error.what());
  }
}

}  // namespace

}  // namespace vranks::cli

int main(int argc, char** argv) { return vranks::cli::main_with(argc, argv); }
