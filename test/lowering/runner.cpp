// SPDX-License-Identifier: Apache-2.0
#include "lowering/runner.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backend/interp/lane.h"
#include "backend/interp/tile.h"
#include "base/error.h"
#include "ir/semantics.h"
#include "ir/verify.h"
#include "pass/pipeline.h"
#include "support/bits.h"

namespace strider::lowering {

namespace {

constexpr int64_t kGuard = 256;  // bytes; also the alignment of every allocation
constexpr char kGuardByte = '\xc3';
constexpr char kPoisonByte = '\xa7';
constexpr int kMostLines = 8;

// --- elements in memory

uint64_t read_element(DType dtype, const char* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(size_of(dtype)));
  return bits;
}

Real real_of_bits(DType dtype, uint64_t bits) {
  if (dtype == DType::U64) return static_cast<Real>(bits);
  if (is_float(dtype)) return static_cast<Real>(ir::double_of_bits(dtype, bits));
  return static_cast<Real>(ir::int_of_bits(dtype, bits));
}

uint64_t bits_of_real(DType dtype, Real value) {
  if (dtype == DType::U64) return static_cast<uint64_t>(value);
  if (is_float(dtype)) return ir::bits_of_double(dtype, static_cast<double>(value));
  return ir::bits_of_int(dtype, static_cast<int64_t>(value));
}

int64_t bytes_of(const Argument& a) { return a.count * size_of(a.dtype); }

const char* element(const Image& image, const Argument& a, int64_t i) { return image.bytes.data() + image.offset + i * size_of(a.dtype); }

// --- initial contents

uint64_t seed_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

uint64_t plain_bits(DType dtype, std::mt19937_64& random) {
  if (!is_float(dtype)) return support::random_bits(dtype, random);
  return ir::bits_of_double(dtype, std::ldexp(static_cast<double>(random() >> 11), -51) - 2);
}

uint64_t filled(const Argument& a, int64_t i, std::mt19937_64& random) {
  switch (a.fill) {
    case Fill::Mixed: return support::random_bits(a.dtype, random);
    case Fill::Plain: return plain_bits(a.dtype, random);
    case Fill::Formula: return bits_of_real(a.dtype, a.value(i));
    case Fill::Poison: break;
  }
  internal_error("poison is no element");
}

Image initial_image(const Argument& a, std::mt19937_64& random) {
  Image image;
  image.offset = kGuard + (a.align < 64 ? a.align : 0);
  image.bytes.assign(static_cast<size_t>(image.offset + bytes_of(a) + kGuard), kGuardByte);
  char* first = image.bytes.data() + image.offset;
  if (a.fill == Fill::Poison) std::memset(first, kPoisonByte, static_cast<size_t>(bytes_of(a)));
  else
    for (int64_t i = 0; i < a.count; ++i) {
      uint64_t bits = filled(a, i, random);
      std::memcpy(first + i * size_of(a.dtype), &bits, static_cast<size_t>(size_of(a.dtype)));
    }
  return image;
}

/// Calls `fn(argument, index of its image)` for each buffer.
template <class Fn>
void for_each_buffer(const Kernel& kernel, const Fn& fn) {
  size_t image = 0;
  for (const Argument& a : kernel.arguments)
    if (a.kind == Argument::Buffer) fn(a, image++);
}

// --- launching

/// The slots of the arguments, given where each image lies.
std::vector<uint64_t> slots_of(const Kernel& kernel, const std::vector<Image>& images, const std::vector<char*>& bases) {
  std::vector<uint64_t> buffers(kernel.arguments.size()), slots;
  size_t image = 0;
  for (size_t k = 0; k < kernel.arguments.size(); ++k) {
    const Argument& a = kernel.arguments[k];
    if (a.kind != Argument::Buffer) continue;
    buffers[k] = reinterpret_cast<uint64_t>(bases[image] + images[image].offset);
    ++image;
  }
  for (size_t k = 0; k < kernel.arguments.size(); ++k) {
    const Argument& a = kernel.arguments[k];
    if (a.kind == Argument::Number) slots.push_back(a.bits);
    else if (a.kind == Argument::Buffer) slots.push_back(buffers[k]);
    else slots.push_back(buffers[static_cast<size_t>(a.of)] + static_cast<uint64_t>(a.offset * size_of(a.dtype)));
  }
  return slots;
}

struct Free {
  void operator()(char* p) const { std::free(p); }
};
using HostMemory = std::unique_ptr<char, Free>;

HostMemory host_copy(const Image& image) {
  size_t bytes = (image.bytes.size() + kGuard - 1) / kGuard * kGuard;
  HostMemory memory(static_cast<char*>(std::aligned_alloc(kGuard, bytes)));
  std::memcpy(memory.get(), image.bytes.data(), image.bytes.size());
  return memory;
}

using Interpret = std::vector<interp::Report> (*)(const ir::Function&, const Grid&, std::span<const uint64_t>, const interp::InterpOptions&);

Outcome interpret(const Kernel& kernel, const ir::Function& program, Interpret run) {
  Outcome outcome{initial_images(kernel)};
  std::vector<HostMemory> memories;
  std::vector<char*> bases;
  for (const Image& image : outcome.images) bases.push_back(memories.emplace_back(host_copy(image)).get());

  interp::InterpOptions options;
  std::vector<std::string> names;
  for (size_t k = 0; k < kernel.arguments.size(); ++k)
    if (kernel.arguments[k].kind == Argument::Buffer) names.push_back("arg" + std::to_string(k));
  for_each_buffer(kernel, [&](const Argument& a, size_t k) {
    options.memories.push_back({names[k].c_str(), bases[k] + outcome.images[k].offset, bytes_of(a)});
  });
  outcome.reports = run(program, kernel.grid, slots_of(kernel, outcome.images, bases), options);
  for (size_t k = 0; k < bases.size(); ++k) std::memcpy(outcome.images[k].bytes.data(), bases[k], outcome.images[k].bytes.size());
  return outcome;
}

}  // namespace

std::vector<Image> initial_images(const Kernel& kernel) {
  std::mt19937_64 random(seed_of(kernel.name));
  std::vector<Image> images;
  for_each_buffer(kernel, [&](const Argument& a, size_t) { images.push_back(initial_image(a, random)); });
  return images;
}

Outcome run_tiles(const Kernel& kernel, const ir::Function& program) { return interpret(kernel, program, interp::interpret_tiles); }
Outcome run_lanes(const Kernel& kernel, const ir::Function& lanes) { return interpret(kernel, lanes, interp::interpret_lanes); }

namespace {

/// Device memory of each image, released in the end.
class DeviceImages {
 public:
  DeviceImages(Device& device, const std::vector<Image>& images) : device_(device) {
    for (const Image& image : images) {
      auto size = static_cast<int64_t>(image.bytes.size());
      bases.push_back(static_cast<char*>(device.allocate(size)));
      device.copy_in(bases.back(), image.bytes.data(), size);
    }
  }
  ~DeviceImages() {
    for (char* base : bases) device_.release(base);
  }
  DeviceImages(const DeviceImages&) = delete;

  void copy_out(std::vector<Image>& images) const {
    for (size_t k = 0; k < images.size(); ++k)
      device_.copy_out(images[k].bytes.data(), bases[k], static_cast<int64_t>(images[k].bytes.size()));
  }

  std::vector<char*> bases;

 private:
  Device& device_;
};

}  // namespace

Outcome run_device(const Kernel& kernel, const ir::Function& lanes, std::string_view name, const Target& target) {
  Device& device = device_named(name);
  std::unique_ptr<Executable> executable = device.load(compiler_for(target).compile(lanes, target));
  Outcome outcome{initial_images(kernel)};
  DeviceImages memory(device, outcome.images);
  std::vector<uint64_t> slots = slots_of(kernel, outcome.images, memory.bases);
  executable->launch(kernel.grid, slots);
  device.synchronize();
  memory.copy_out(outcome.images);
  return outcome;
}

Expected expect(const Kernel& kernel) {
  ir::Function prepared = pass::prepare(kernel.program, lane_target());
  ir::verify(prepared, ir::Form::Tile);
  Outcome outcome = run_tiles(kernel, prepared);
  return {std::move(prepared), std::move(outcome)};
}

std::string check_lanes(const Kernel& kernel, const Expected& expected, int threads, const Target* target) {
  ir::Function lanes = pass::lower(expected.prepared, target ? *target : lane_target(), threads);
  ir::verify(lanes, ir::Form::Lanes);
  if (lanes.threads != threads) return fmt::format("lowered for {} threads, asked for {}\n", lanes.threads, threads);
  Outcome outcome = run_lanes(kernel, lanes);
  return interp::to_string(outcome.reports) + differences(kernel, expected.outcome.images, outcome.images);
}

std::string check_device(const Kernel& kernel, const Expected& expected, std::string_view device, const Target* other) {
  const Target& target = other ? *other : device_named(device).target();
  Outcome outcome = run_device(kernel, pass::lower(expected.prepared, target), device, target);
  return differences(kernel, expected.outcome.images, outcome.images);
}

bool has_cuda() {
  static const bool found = [] {
    for (const std::string& name : available_devices())
      if (name.starts_with("cuda")) return true;
    return false;
  }();
  return found;
}

Target lane_target() {
  return target_named("interp:lanes");
}

// --- comparison

namespace {

/// Collects the first few lines and counts the rest.
class Lines {
 public:
  void add(const std::string& line) {
    if (++count_ <= kMostLines) text_ += line + "\n";
  }
  std::string text() const { return count_ <= kMostLines ? text_ : text_ + fmt::format("and {} more\n", count_ - kMostLines); }

 private:
  std::string text_;
  int count_ = 0;
};

int argument_of_image(const Kernel& kernel, size_t image) {
  for (size_t k = 0;; ++k)
    if (kernel.arguments.at(k).kind == Argument::Buffer && image-- == 0) return static_cast<int>(k);
}

void compare_guards(const Kernel& kernel, size_t image, const Argument& a, const Image& found, Lines& lines) {
  int64_t end = found.offset + bytes_of(a);
  for (int64_t k = 0; k < static_cast<int64_t>(found.bytes.size()); ++k)
    if ((k < found.offset || k >= end) && found.bytes[static_cast<size_t>(k)] != kGuardByte)
      lines.add(fmt::format("argument {}: byte {} {} the buffer was written", argument_of_image(kernel, image),
                            k < found.offset ? found.offset - k : k - end, k < found.offset ? "before" : "after"));
}

bool within(DType dtype, uint64_t a, uint64_t b, double slack) {
  if (support::same_answer(dtype, a, b)) return true;
  if (slack == 0 || !is_float(dtype)) return false;
  double x = ir::double_of_bits(dtype, a), y = ir::double_of_bits(dtype, b);
  return std::fabs(x - y) <= slack * std::fmax(std::fabs(x), std::fabs(y));
}

}  // namespace

std::string differences(const Kernel& kernel, const std::vector<Image>& wanted, const std::vector<Image>& found) {
  Lines lines;
  for_each_buffer(kernel, [&](const Argument& a, size_t k) {
    compare_guards(kernel, k, a, found[k], lines);
    for (int64_t i = 0; i < a.count; ++i) {
      uint64_t x = read_element(a.dtype, element(wanted[k], a, i)), y = read_element(a.dtype, element(found[k], a, i));
      if (!within(a.dtype, x, y, kernel.atomic_slack))
        lines.add(fmt::format("argument {}[{}] is {}, expected {}", argument_of_image(kernel, k), i, support::show_bits(a.dtype, y),
                              support::show_bits(a.dtype, x)));
    }
  });
  return lines.text();
}

namespace {

using Columns = std::vector<std::vector<Real>>;

/// Elements of every argument that is a buffer; numbers and aliases have none.
Columns columns_of(const Kernel& kernel, const std::vector<Image>& images) {
  Columns all(kernel.arguments.size());
  for_each_buffer(kernel, [&](const Argument& a, size_t k) {
    auto& column = all[static_cast<size_t>(argument_of_image(kernel, k))];
    for (int64_t i = 0; i < a.count; ++i) column.push_back(real_of_bits(a.dtype, read_element(a.dtype, element(images[k], a, i))));
  });
  return all;
}

bool close(Real found, Real wanted, double tolerance) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) && std::isnan(found);
  if (found == wanted) return true;
  return std::fabs(found - wanted) <= static_cast<Real>(tolerance) * std::fmax(1.0L, std::fabs(wanted));
}

}  // namespace

std::string differences_from_reference(const Kernel& kernel, const std::vector<Image>& found) {
  if (!kernel.reference) return "";
  Columns before = columns_of(kernel, initial_images(kernel)), wanted = before, after = columns_of(kernel, found);
  Reference reference(before, wanted);
  kernel.reference(reference);
  Lines lines;
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t i = 0; i < wanted[k].size(); ++i)
      if (!close(after[k][i], wanted[k][i], kernel.tolerance))
        lines.add(fmt::format("argument {}[{}] is {}, the reference says {}", k, i, static_cast<double>(after[k][i]), static_cast<double>(wanted[k][i])));
  return lines.text();
}

}  // namespace strider::lowering
