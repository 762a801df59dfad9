// SPDX-License-Identifier: Apache-2.0
// The command-line tool: finds the command and reports what went wrong.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "base/version.h"
#include "commands.h"

namespace {

constexpr const char* kAbout = "Strider compiles pointwise operators and tile kernels at run time, for CPUs and GPUs.";
constexpr const char* kExamples =
    "  strider demo                                        the main job, on every device\n"
    "  strider show                                        what is built in\n"
    "  strider show gelu --target cuda:sm_90 --stage ptx   what becomes of it\n"
    "  strider check gelu                                  whether it can be trusted\n"
    "  strider bench pointwise --device cuda               how fast it is\n"
    "  strider cache                                       the compiled code that is kept on disk";

int run(int argc, char** argv) {
  CLI::App app{kAbout, "strider"};
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(strider::kVersion));
  app.require_subcommand(1);
  strider::tool::add_info(app);
  strider::tool::add_show(app);
  strider::tool::add_demo(app);
  strider::tool::add_check(app);
  strider::tool::add_bench(app);
  strider::tool::add_cache(app);
  if (argc < 2) {
    fmt::print("{}", app.help());
    return 1;
  }
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
}

/// A standard stream that is closed fails when it is written to: no file that is opened may take its number.
void hold_closed_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

/// Where nobody can be told, the status has to do.
int failed(const char* what) noexcept {
  std::fprintf(stderr, "strider: %s\n", what);
  return 1;
}

int status_of(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const strider::tool::Failed&) {
    return 1;
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  hold_closed_streams();
  int status = status_of(argc, argv);
  bool is_told = std::fflush(stdout) == 0 && !std::ferror(stdout);
  return is_told || status != 0 ? status : failed("not all of the output could be written");
}
