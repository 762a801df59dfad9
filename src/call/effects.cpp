// SPDX-License-Identifier: Apache-2.0
#include "call/effects.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/ranges.h>

#include "base/cancellation.h"
#include "base/error.h"
#include "ir/print.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/taps.h>

namespace strider {

using front::Effects;
using front::Record;
using front::RecordLayout;

namespace {

std::string program_text(const Grid& grid, int64_t linear) {
  return fmt::format("program ({}, {}, {})", linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]);
}

std::string place_text(const Span& place) {
  std::string text = to_string(place);
  return text.empty() ? "" : " (" + text + ")";
}

std::string lane_text(const ir::Shape& shape, int64_t lane) {
  if (shape.rank() == 0) return "";
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int k = shape.rank(); k-- > 0; lane /= shape[k]) index[static_cast<size_t>(k)] = lane % shape[k];
  return fmt::format(", lane ({})", fmt::join(index, ", "));
}

Tensor zeros_on(Device& device, const Dims& shape, DType dtype, StreamHandle stream) {
  Tensor tensor = empty_on(device, shape, contiguous_strides(shape), dtype);
  device.fill_zero(tensor.data(), tensor.elements() * size_of(dtype), stream);
  return tensor;
}

/// Printed elements as a tensor, or as a number.
std::string values_text(const ir::Type& type, const int64_t* words) {
  const auto bytes = static_cast<size_t>(size_of(type.dtype));
  auto bits = [&](int64_t word) { return bytes == 8 ? static_cast<uint64_t>(word) : static_cast<uint64_t>(word) & ((uint64_t{1} << 8 * bytes) - 1); };
  if (type.is_scalar()) return ir::print_element(type.dtype, bits(*words));
  Tensor values = empty(Dims(type.shape.dims()), {type.dtype, "cpu"});
  for (int64_t k = 0; k < type.elements(); ++k) {
    uint64_t element = bits(words[k]);
    std::copy_n(reinterpret_cast<const char*>(&element), bytes, static_cast<char*>(values.data()) + k * static_cast<int64_t>(bytes));
  }
  return to_string(values);
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> EffectsExecutable::launch_and_tap(const Grid& grid, int axes,
                                                                              std::span<const uint64_t> args,
                                                                              StreamHandle stream) {
  const Uncancelled uncancelled;
  std::vector<uint64_t> slots(args.begin(), args.end());
  std::vector<Tensor> memory;
  std::vector<std::pair<std::string, Tensor>> taps;
  for (int which : effects_.hidden) {
    if (which == Effects::kRecords) {
      int64_t words = RecordLayout::kPrints + (effects_.prints() ? RecordLayout::kPrintWords : 0);
      memory.push_back(zeros_on(device_, {words}, DType::I64, stream));
    } else {
      const front::TapPoint& tap = effects_.taps[static_cast<size_t>(which)];
      std::vector<int64_t> shape(grid.begin(), grid.begin() + axes);
      shape.insert(shape.end(), tap.type.shape.dims().begin(), tap.type.shape.dims().end());
      memory.push_back(zeros_on(device_, shape, tap.type.dtype, stream));
      taps.emplace_back(tap.name, memory.back());
    }
    slots.push_back(reinterpret_cast<uint64_t>(memory.back().data()));
  }
  std::string faults, failures;
  std::exception_ptr thrown;
  try {
    launch_(grid, slots, memory, stream);
    device_.synchronize_stream(stream);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;  // of a device that does not answer, nothing can be read
    faults = std::string("\n") + error.what();
    thrown = std::current_exception();
  }
  for (size_t k = 0; k < memory.size(); ++k)
    if (effects_.hidden[k] == Effects::kRecords) failures = read_records(grid, memory[k], stream);
  if (!failures.empty()) user_error("{}{}", failures, faults);
  if (thrown) std::rethrow_exception(thrown);
  return taps;
}

/// Prints; gives what is to be said of failed assertions.
std::string EffectsExecutable::read_records(const Grid& grid, const Tensor& records, StreamHandle stream) const {
  std::vector<int64_t> words(RecordLayout::kPrints);
  device_.copy_out(words.data(), records.data(), RecordLayout::kPrints * 8, stream);
  if (int64_t used = std::min(words[RecordLayout::kCursor], RecordLayout::kPrintWords); used > 0) {
    words.resize(static_cast<size_t>(RecordLayout::kPrints + used));
    device_.copy_out(words.data(), records.data(), static_cast<int64_t>(words.size()) * 8, stream);
    std::string text = prints(grid, words);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  return words[RecordLayout::kFailures] > 0 ? failures(grid, words) : "";
}

/// The failure of the first program is told, of others their number.
std::string EffectsExecutable::failures(const Grid& grid, const std::vector<int64_t>& words) const {
  const int64_t count = words[RecordLayout::kFailures], kept = std::min(count, RecordLayout::kMostFailures);
  const int64_t* first = nullptr;
  for (int64_t k = 0; k < kept; ++k) {
    const int64_t* failure = words.data() + RecordLayout::kFirstFailure + k * RecordLayout::kFailureWords;
    if (!first || std::pair(failure[1], failure[0]) < std::pair(first[1], first[0])) first = failure;
  }
  const Record& record = effects_.records[static_cast<size_t>(first[0] - 1)];
  return fmt::format("assertion failed{}{}{}, {}{}{}", record.text.empty() ? "" : ": ", record.text, place_text(record.place),
                     program_text(grid, first[1]), lane_text(record.values[0].shape, first[2]),
                     count > 1 ? fmt::format("; {} more failed", count - 1) : "");
}

std::string EffectsExecutable::print_line(const Grid& grid, const Record& record, const int64_t* words) const {
  std::string text = fmt::format("{}{}, {}: {}", kernel_, place_text(record.place), program_text(grid, words[1]), record.text);
  int64_t next = 2;
  for (size_t k = 0; k < record.values.size(); ++k) {
    bool is_first = k == 0;
    text += is_first ? (record.text.empty() ? "" : " ") : ", ";
    text += values_text(record.values[k], words + next);
    next += record.values[k].elements();
  }
  return text + "\n";
}

std::string EffectsExecutable::prints(const Grid& grid, const std::vector<int64_t>& words) const {
  std::vector<const int64_t*> found;
  const int64_t *at = words.data() + RecordLayout::kPrints, *end = words.data() + words.size();
  while (at < end && *at > 0) {  // 0: the first print that did not fit
    found.push_back(at);
    at += 2;
    for (const ir::Type& t : effects_.records[static_cast<size_t>(*found.back() - 1)].values) at += t.elements();
  }
  std::stable_sort(found.begin(), found.end(), [](const int64_t* a, const int64_t* b) { return a[1] < b[1]; });
  std::string text;
  for (const int64_t* record : found) text += print_line(grid, effects_.records[static_cast<size_t>(*record - 1)], record);
  if (int64_t lost = words[RecordLayout::kCursor] - (at - words.data() - RecordLayout::kPrints); lost > 0)
    text += fmt::format("{}: {} words of prints did not fit into the {} that a launch keeps\n", kernel_, lost,
                        RecordLayout::kPrintWords);
  return text;
}

namespace {

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void EffectsExecutable::check_taps(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (std::find(effects_.tap_names.begin(), effects_.tap_names.end(), name) == effects_.tap_names.end())
      user_error("there is no tap {}; its taps: {}", name, list_text(effects_.tap_names));
}

inline namespace v0 {

const Tensor& Taps::operator[](std::string_view name) const {
  for (const auto& [known, values] : values_)
    if (known == name) return values;
  user_error("there is no tap {}; the last launch left: {}", name, list_text(names()));
}

std::vector<std::string> Taps::names() const {
  std::vector<std::string> all;
  for (const auto& tap : values_) all.push_back(tap.first);
  return all;
}

}  // namespace v0
}  // namespace strider
