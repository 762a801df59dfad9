// SPDX-License-Identifier: Apache-2.0
// The command line of benchmarks, alone or beside a peer: what is asked for, and all that is printed and written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testing/runner.h"

namespace CLI {
class App;
}

namespace strider::bench {

struct Request {
  std::vector<std::string> suites, dtypes;
  std::string device = "cpu", json, plot, markdown;
  int threads = 0;
  bool quick = false;
};

/// Suites and options, with a footer that explains suites and figures.
std::shared_ptr<Request> add_options(CLI::App& command);
/// Runs it. With a peer, its figures stand beside, and what should be reached is checked at the end.
void run(const Request& request, testing::Peer* peer = nullptr);

}  // namespace strider::bench
