// SPDX-License-Identifier: Apache-2.0
// `strider bench`: the suites of bench/suites on one device.
#include <CLI/CLI.hpp>

#include "commands.h"
#include "suites/command.h"

namespace strider::tool {

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time operators, kernels and compilation, beside copies of as many bytes");
  auto request = bench::add_options(*command);
  command->add_option("--device", request->device, "cpu, cuda or cuda:1; strider info lists what there is")
      ->capture_default_str();
  command->callback([request] { bench::run(*request); });
}

}  // namespace strider::tool
