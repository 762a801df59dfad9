// SPDX-License-Identifier: Apache-2.0
// The tool's commands. Each adds itself to the command line and runs when it is named; a failure is an exception, and a
// command that found something wrong throws Failed after saying what.
#pragma once

namespace CLI {
class App;
}

namespace strider::tool {

struct Failed {};

void add_info(CLI::App& app);
void add_show(CLI::App& app);
void add_demo(CLI::App& app);
void add_bench(CLI::App& app);
void add_check(CLI::App& app);
void add_cache(CLI::App& app);

}  // namespace strider::tool
