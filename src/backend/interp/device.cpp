// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "backend/interp/interp.h"
#include "backend/interp/lane.h"
#include "backend/interp/tile.h"
#include "backend/slots.h"
#include "base/error.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace strider {
namespace {

ir::Form form_of(const Target& target) { return target.tile_form ? ir::Form::Tile : ir::Form::Lanes; }

class InterpCompiler final : public Compiler {
 public:
  Binary compile(const ir::Function& f, const Target& target) override {
    if ((f.threads == 0) != (form_of(target) == ir::Form::Tile))
      user_error("{} is in {} form, which {} does not run", f.name, f.threads == 0 ? "tile" : "lane", target.name);
    const std::string text = ir::print(f);
    return describe(f, target, f.name, {text.begin(), text.end()});
  }
  std::string text(const ir::Function&, const Target& target, std::string_view stage) override {
    unsupported_error("there is no stage {} for {}: it runs the IR itself", stage, target.name);
  }
};

/// The allocations of a device, to say what a pointer may reach.
class Allocations {
 public:
  void* allocate(int64_t bytes) {
    constexpr size_t kAlign = 64;
    const size_t rounded = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kAlign - 1) / kAlign * kAlign;
    char* memory = static_cast<char*>(std::aligned_alloc(kAlign, rounded));
    if (!memory) driver_error("interp: {} bytes cannot be allocated", bytes);
    std::lock_guard lock(mutex_);
    sizes_[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept {
    std::lock_guard lock(mutex_);
    sizes_.erase(static_cast<char*>(memory));
    std::free(memory);
  }
  /// The allocation that holds `address` or ends there, called `name`.
  std::optional<interp::Memory> find(uint64_t address, const char* name) {
    std::lock_guard lock(mutex_);
    auto next = sizes_.upper_bound(reinterpret_cast<char*>(address));
    if (next == sizes_.begin()) return std::nullopt;
    auto [base, bytes] = *--next;
    if (address - reinterpret_cast<uint64_t>(base) > static_cast<uint64_t>(bytes)) return std::nullopt;
    return interp::Memory{name, base, bytes};
  }

 private:
  std::mutex mutex_;
  std::map<char*, int64_t> sizes_;
};

class InterpExecutable final : public Executable {
 public:
  InterpExecutable(const Binary& binary, const Target& target, Allocations& allocations)
      : function_(ir::parse({binary.code.data(), binary.code.size()})), allocations_(allocations) {
    ir::verify(function_, form_of(target));
    options_.warp = target.warp;
  }

  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle) override {
    const auto run = function_.threads == 0 ? interp::interpret_tiles : interp::interpret_lanes;
    const std::vector<interp::Report> reports = run(function_, grid, args, options_for(args));
    if (!reports.empty()) user_error("{}", interp::to_string(reports));
  }

 private:
  interp::InterpOptions options_for(std::span<const uint64_t> args) {
    interp::InterpOptions options = options_;
    options.memories.push_back({nullptr, nullptr, 0});  // so that accesses are checked also if no pointer reaches anything
    for (size_t k = 0; k < std::min(args.size(), function_.params().size()); ++k) {
      if (!function_.type(function_.params()[k]).is_pointer()) continue;
      const char* name = function_.param_info(static_cast<int>(k)).name.c_str();
      if (auto memory = allocations_.find(args[k], name)) {
        memory->param = static_cast<int64_t>(k);
        options.memories.push_back(*memory);
      }
    }
    return options;
  }

  ir::Function function_;
  Allocations& allocations_;
  interp::InterpOptions options_;
};

class InterpDevice final : public Device {
 public:
  explicit InterpDevice(Target target) : target_(std::move(target)) {}

  std::string name() const override { return target_.name; }
  std::string description() const override {
    return fmt::format("interpreter of {} form, every access checked", form_of(target_) == ir::Form::Tile ? "tile" : "lane");
  }
  const Target& target() const override { return target_; }
  std::unique_ptr<Executable> load(const Binary& binary) override {
    check_runs(target_, binary);
    return std::make_unique<InterpExecutable>(binary, target_, allocations_);
  }

  void* allocate(int64_t bytes) override {
    if (bytes < 0) user_error("{}: allocation of {} bytes", target_.name, bytes);
    return allocations_.allocate(bytes);
  }
  void release(void* memory) noexcept override { allocations_.release(memory); }
  void copy_in(void* device, const void* host, int64_t bytes, StreamHandle) override {
    std::memmove(device, host, static_cast<size_t>(bytes));
  }
  void copy_out(void* host, const void* device, int64_t bytes, StreamHandle) override {
    std::memmove(host, device, static_cast<size_t>(bytes));
  }
  void fill_zero(void* device, int64_t bytes, StreamHandle) override { std::memset(device, 0, static_cast<size_t>(bytes)); }
  void synchronize() override {}

 private:
  Target target_;
  Allocations allocations_;
};

}  // namespace

std::vector<Target> interp_targets() {
  Target tile = usual_target(TargetKind::Interpreter);
  tile.name = "interp:tile";
  tile.tile_form = true;
  Target lanes = usual_target(TargetKind::Gpu);
  lanes.kind = tile.kind, lanes.output = tile.output, lanes.assembly = tile.assembly;
  lanes.name = "interp:lanes";
  lanes.masked_blocks = lanes.deinterleaves = true;  // so that they are tried out
  for (Target* t : {&tile, &lanes}) {
    t->back_end = kInterpBackEnd.name;
    t->processor = "interpreter";
    t->vector_bytes = 16;
    t->local_in_scratch = false;
  }
  return {tile, lanes};
}

Compiler& interp_compiler() {
  static InterpCompiler compiler;
  return compiler;
}

std::unique_ptr<Device> open_interp_device(int number) {
  std::vector<Target> targets = interp_targets();
  if (number < 0 || number >= static_cast<int>(targets.size()))
    user_error("there is no interpreter number {}; there are {} and {}", number, targets[0].name, targets[1].name);
  return std::make_unique<InterpDevice>(targets[static_cast<size_t>(number)]);
}

constinit const BackEnd kInterpBackEnd = {
    .name = "interp",
    .targets = interp_targets,
    .compiler = interp_compiler,
    .devices = [] { return std::vector<std::string>{"interp:tile", "interp:lanes"}; },
    .open = open_interp_device,
    .interpret = interpret_launch,
};

}  // namespace strider
