// SPDX-License-Identifier: Apache-2.0
// Strider beside libtorch on the CPU: the suites of bench/suites, both in one process, on the same memory, with as many
// threads, timed alternately; then what should be reached, and whether it is.
//
//   build/bench/strider-peers [SUITE...] [--quick]
//
// Before a case is timed, both results are compared.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "suites/command.h"
#include "torch_side.h"

namespace {

/// OpenMP's threads, which libtorch uses, spin for a while after each loop and would take processors from Strider's. The
/// policy is read when the process starts.
void restart_with_passive_waiting(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_passive_waiting(argv);
  CLI::App app{"Strider beside libtorch on the CPU", "strider-peers"};
  auto request = strider::bench::add_options(app);
  CLI11_PARSE(app, argc, argv);
  try {
    auto torch = strider::peers::make_torch();
    strider::bench::run(*request, torch.get());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "strider-peers: {}\n", error.what());
    return 1;
  }
}
