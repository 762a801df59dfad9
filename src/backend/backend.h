// SPDX-License-Identifier: Apache-2.0
// What a back end is: a compiler that needs no device, a device that loads and owns memory, an executable that launches.
//
// Kernel arguments travel as 8-byte slots in the order of the parameters: a pointer, or the bits of a scalar (semantics.h).
// Only registry.cpp names back ends. docs/add-a-back-end.md says how one is added.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strider/dims.h>
#include <strider/interpret.h>

#include "base/kit.h"
#include "ir/function.h"
#include "ir/target.h"

namespace strider {

/// A compiled kernel: bytes that a device of the target can load, now or in another process.
struct Binary {
  std::string target;          // Target::name
  std::string entry;           // symbol of the kernel
  std::vector<char> code;      // object file, PTX text, or printed IR
  std::vector<uint8_t> slots;  // bytes of each argument (8 pointer, 1..8 scalar)
  int threads = 1;             // of a program
  int64_t scratch_bytes = 0;   // of a program
  bool is_quick = false;       // compiled for a quick target: what is left to compile should be done soon as well
};

/// A queue of a device, whose work is done in order: the driver's own handle. Null is the default stream, which is every device's
/// and lives as long as the process.
using StreamHandle = void*;
/// A moment in a stream's work. Null has passed.
using EventHandle = void*;

class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs grid[0] * grid[1] * grid[2] programs. Synchronous on devices without queues; in the order of `stream` on others.
  virtual void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle stream = nullptr) = 0;
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Compiles lane form (pass/pipeline.h) for `target`. Throws unsupported errors that name the op and the target.
  virtual Binary compile(const ir::Function& lanes, const Target& target) = 0;
  /// The text of a late stage: Target::assembly, or one that the compiler has besides ("llvm").
  virtual std::string text(const ir::Function& lanes, const Target& target, std::string_view stage) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // "cpu", "cuda:0"
  virtual std::string description() const = 0;
  virtual const Target& target() const = 0;
  virtual std::unique_ptr<Executable> load(const Binary& binary) = 0;
  /// The form of a binary that loads soonest here, for code that is kept; it serves this driver_version() alone.
  virtual Binary finished(Binary binary) { return binary; }
  /// What finished() depends on besides the target; "" where it changes nothing.
  virtual std::string driver_version() const { return ""; }

  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies between host and device after what is on the stream; both sides are done when it returns. On the CPU a plain copy.
  virtual void copy_in(void* device, const void* host, int64_t bytes, StreamHandle stream = nullptr) = 0;
  virtual void copy_out(void* host, const void* device, int64_t bytes, StreamHandle stream = nullptr) = 0;
  /// In the order of the stream.
  virtual void fill_zero(void* device, int64_t bytes, StreamHandle stream = nullptr) = 0;
  /// Returns when all that was put on any stream so far is done; throws the first error of any of it.
  virtual void synchronize() = 0;
  /// Seconds from the start of what `work` puts on the stream to its end, the device being idle before; by the device's own clock
  /// where it has one.
  virtual double time(const std::function<void()>& work, StreamHandle stream = nullptr);

  // Streams and events. A device without queues does everything at once: its only stream is the default one, and all events have
  // passed. What is written here is for such a device.

  virtual bool has_streams() const { return false; }
  /// A stream that waits for no other one.
  virtual StreamHandle make_stream() { return nullptr; }
  /// What is on it is still done.
  virtual void end_stream(StreamHandle) noexcept {}
  /// A user error unless this handle of the driver may be a stream of the device. One of the default stream's names becomes null.
  virtual StreamHandle adopt_stream(void* native);
  virtual void synchronize_stream(StreamHandle) { synchronize(); }
  virtual bool is_idle(StreamHandle) { return true; }

  /// A new event: the moment when what is on the stream now is done.
  virtual EventHandle record(StreamHandle) { return nullptr; }
  virtual void end_event(EventHandle) noexcept {}
  virtual bool has_passed(EventHandle) { return true; }
  /// What is put on the stream from now on is done after the event; the caller does not wait.
  virtual void wait(StreamHandle, EventHandle) {}
  /// The caller waits.
  virtual void synchronize_event(EventHandle) {}
};

/// The tensor behind a pointer argument of an interpreted launch.
struct TensorArgument {
  size_t param = 0;             // of the program
  const char* first = nullptr;  // its element at index 0
  const char* base = nullptr;   // its lowest byte
  int64_t bytes = 0;            // from there to the end of its highest element
  Dims shape, strides;
};

/// Runs tile form in the tile interpreter on the host's memory, and gives the faults. `what` is "kernel" or "operator".
std::vector<Fault> interpret(std::string_view what, const ir::Function& program, const Grid& grid, std::span<const uint64_t> args,
                             std::span<const TensorArgument> tensors, const Interpretation& how);

/// What the registry knows of a back end; each defines one, and registry.cpp lists it.
struct BackEnd {
  std::string_view name;  // how names of its devices and targets begin
  /// Its processors; no device is needed. Of levels of one triple the lowest comes first.
  std::vector<Target> (*targets)();
  Compiler& (*compiler)();
  /// The names of the devices that can be opened here, by number.
  std::vector<std::string> (*devices)();
  /// Throws a user error if there is no such device, or a driver error when the driver cannot be opened.
  std::unique_ptr<Device> (*open)(int number);
  /// Of interpreters: runs the program of a launch on the host's memory. Their devices are opened by name and not listed.
  decltype(strider::interpret)* interpret = nullptr;
  /// DLPack's numbers (DLDeviceType) of its devices' memory, and of the host's memory as its driver gives it; 0: there is none.
  int32_t dlpack = 0, dlpack_host = 0;
};

/// A device as DLPack numbers it.
struct DlpackDevice {
  int32_t type, id;
};
/// The device that reads such memory. Throws an unsupported error if no back end knows the type.
Device& device_of_dlpack(const DlpackDevice& numbers);
/// The numbers of a device's memory. Throws an unsupported error if DLPack has none.
DlpackDevice dlpack_of_device(const Device& device);

/// The target called `name`: "cpu", "cpu:<llvm processor>", "cuda:sm_80". Throws a user error that lists the known names.
Target target_named(std::string_view name);
std::vector<std::string> known_targets();
/// The target of this machine's processor.
Target host_target();
/// The target whose programs interpret() runs.
Target interpreter_target();
/// The names by which interpreters are asked for.
std::vector<std::string_view> interpreters();

/// The compiler that serves `target`.
Compiler& compiler_for(const Target& target);
/// The device called "cpu", "cuda", "cuda:1"; opened once, lives as long as the process. Throws a user error that lists what there is,
/// or a driver error when the driver cannot be opened.
STRIDER_KIT Device& device_named(std::string_view name);
/// Every device that can be opened here, the CPU first.
std::vector<std::string> available_devices();

}  // namespace strider
