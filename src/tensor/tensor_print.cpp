// SPDX-License-Identifier: Apache-2.0
// Tensors as text, by the rules of NumPy 2.2 (its arrayprint.py, with precision 8, threshold 1000, 3 items at an edge and 75
// columns), but with commas, "true" and "false", and dtype and shape at the end:
//
//   [[ 0.5, -1.25],
//    [ 3. ,  4.  ]] f32(2, 2)
//
// First the elements that will be shown are gathered, then a format is chosen that fits all of them, then the brackets are
// written.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "base/float_environment.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "base/out_of_memory.h"
#include "tensor/storage.h"

#include <strider/tensor.h>

namespace strider::inline v0 {
namespace {

constexpr int64_t kWhole = 1000;     // elements that are all shown
constexpr int64_t kMostShown = 8000; // elements shown of a tensor of many axes
constexpr int64_t kEdge = 3;         // elements at each end of a shortened axis
constexpr size_t kWidth = 75;        // columns
constexpr int kPrecision = 8;        // digits after the point

// ---- floats

/// The fewest digits that tell a value from all others of its dtype: how many follow the first one, whose place is `exponent`.
struct Digits {
  int after_first, exponent;
};

Digits shortest(DType dtype, uint64_t bits) {
  double value = ir::double_of_bits(dtype, bits), near = 0;
  std::string text;
  int digits = 0;
  for (;; ++digits) {
    text = fmt::format("{:.{}e}", value, digits);
    std::from_chars(text.data(), text.data() + text.size(), near);
    if (digits == 16 || ir::bits_of_double(dtype, near) == bits) break;
  }
  Digits d{digits, 0};
  const char* exponent = text.data() + text.find('e') + 1;
  std::from_chars(exponent + (*exponent == '+'), text.data() + text.size(), d.exponent);
  return d;
}

/// A number as text in three parts, so that columns can be aligned: "-1", "25", "e-07".
struct Parts {
  std::string whole, fraction, exponent = {};
};

void trim_zeros(std::string* fraction) {
  while (fraction->ends_with('0')) fraction->pop_back();
}

/// The shortest digits, but no more than kPrecision after the point, and all before it.
Parts positional(DType dtype, uint64_t bits) {
  Digits d = shortest(dtype, bits);
  std::string text =
      fmt::format("{:#.{}f}", ir::double_of_bits(dtype, bits), std::clamp(d.after_first - d.exponent, 0, kPrecision));
  Parts parts{text.substr(0, text.find('.')), text.substr(text.find('.') + 1)};
  trim_zeros(&parts.fraction);
  return parts;
}

/// The value rounded to so many digits after the point.
Parts scientific(DType dtype, uint64_t bits, int digits) {
  std::string text = fmt::format("{:#.{}e}", ir::double_of_bits(dtype, bits), digits);
  size_t point = text.find('.'), e = text.find('e');
  return {text.substr(0, point), text.substr(point + 1, e - point - 1), text.substr(e)};
}

int scientific_digits(DType dtype, uint64_t bits) {
  Parts cut = scientific(dtype, bits, std::min(shortest(dtype, bits).after_first, kPrecision));
  trim_zeros(&cut.fraction);
  return static_cast<int>(cut.fraction.size());
}

// ---- formats, each of which fits all elements that are shown

class Format {
 public:
  virtual ~Format() = default;
  virtual std::string text(uint64_t bits) const = 0;
};

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// Integers and bool: aligned on the right.
class PlainFormat final : public Format {
 public:
  PlainFormat(DType dtype, const std::vector<uint64_t>& all) : dtype_(dtype) {
    for (uint64_t bits : all) width_ = std::max(width_, ir::print_element(dtype, bits).size());
  }
  std::string text(uint64_t bits) const override { return padded(ir::print_element(dtype_, bits), width_); }

 private:
  DType dtype_;
  size_t width_ = 0;
};

/// Floats: aligned at the point.
class FloatFormat final : public Format {
 public:
  FloatFormat(DType dtype, const std::vector<uint64_t>& all) : dtype_(dtype) {
    std::vector<uint64_t> finite;
    std::copy_if(all.begin(), all.end(), std::back_inserter(finite), [&](uint64_t b) { return std::isfinite(value(b)); });
    is_scientific_ = wants_scientific(finite);
    if (is_scientific_)
      for (uint64_t bits : finite) precision_ = std::max(precision_, scientific_digits(dtype, bits));
    for (uint64_t bits : finite) {
      Parts p = is_scientific_ ? scientific(dtype, bits, precision_) : positional(dtype, bits);
      left_ = std::max(left_, p.whole.size());
      right_ = std::max(right_, p.fraction.size());
      exponent_ = std::max(exponent_, p.exponent.size());
    }
    for (uint64_t bits : all)
      if (!std::isfinite(value(bits))) left_ = std::max(left_, name(bits).size() - std::min(name(bits).size(), tail()));
  }

  std::string text(uint64_t bits) const override {
    if (!std::isfinite(value(bits))) return padded(name(bits), left_ + tail());
    Parts p = is_scientific_ ? scientific(dtype_, bits, precision_) : positional(dtype_, bits);
    if (is_scientific_) p.exponent.insert(2, exponent_ - p.exponent.size(), '0');
    else p.fraction.append(right_ - p.fraction.size(), ' ');
    return padded(std::move(p.whole), left_) + "." + p.fraction + p.exponent;
  }

 private:
  double value(uint64_t bits) const { return ir::double_of_bits(dtype_, bits); }
  std::string name(uint64_t bits) const { return std::isnan(value(bits)) ? "nan" : value(bits) < 0 ? "-inf" : "inf"; }
  /// Columns from the point on.
  size_t tail() const { return 1 + right_ + exponent_; }
  double rounded(double x) const { return value(ir::bits_of_double(dtype_, x)); }

  bool wants_scientific(const std::vector<uint64_t>& finite) const {
    double most = 0, least = INFINITY;
    for (uint64_t bits : finite) {
      double magnitude = std::fabs(value(bits));
      if (magnitude == 0) continue;
      most = std::max(most, magnitude);
      least = std::min(least, magnitude);
    }
    return most > 0 && (most >= rounded(1e8) || least < rounded(1e-4) || rounded(most / least) > 1000);
  }

  DType dtype_;
  bool is_scientific_;
  int precision_ = 0;
  size_t left_ = 0, right_ = 0, exponent_ = 0;
};

std::unique_ptr<Format> format_for(DType dtype, const std::vector<uint64_t>& all) {
  if (is_float(dtype)) return std::make_unique<FloatFormat>(dtype, all);
  return std::make_unique<PlainFormat>(dtype, all);
}

// ---- what is shown

/// How many indices of an axis are shown at its beginning and at its end; with `is_cut`, others lie between.
struct Shown {
  int64_t first, last;
  bool is_cut;
  int64_t count() const { return first + last; }
};

/// Three of each end of a long axis; of a tensor of very many axes, one of each outer one.
std::vector<Shown> choose_shown(const TensorView& tensor) {
  std::vector<Shown> axes;
  double shown = 1;
  for (int64_t size : tensor.shape()) {
    bool is_cut = tensor.elements() > kWhole && size > 2 * kEdge;
    axes.push_back(is_cut ? Shown{kEdge, kEdge, true} : Shown{size, 0, false});
    shown *= static_cast<double>(axes.back().count());
  }
  for (Shown& axis : axes) {
    if (shown <= kMostShown) break;
    shown /= static_cast<double>(axis.count());
    if (axis.count() > 1) axis = {1, 0, true};
  }
  return axes;
}

/// The bits of what is shown, in order.
void gather(const TensorView& part, std::span<const Shown> axes, std::vector<uint64_t>* bits) {
  if (part.rank() == 0) return bits->push_back(part.to_bits()[0]);
  auto take = [&](int64_t begin, int64_t count) {
    if (part.rank() == 1) {
      std::vector<uint64_t> run = part.slice(0, begin, begin + count).to_bits();
      bits->insert(bits->end(), run.begin(), run.end());
    } else {
      for (int64_t i = begin; i < begin + count; ++i) gather(part.select(0, i), axes.subspan(1), bits);
    }
  };
  take(0, axes[0].first);
  take(part.size(0) - axes[0].last, axes[0].last);
}

// ---- brackets

class Printer {
 public:
  Printer(const TensorView& tensor, std::span<const Shown> axes, const std::vector<uint64_t>& bits)
      : axes_(axes), format_(format_for(tensor.dtype(), bits)), next_(bits.data()) {}

  std::string print() { return print(0, " ", kWidth); }

 private:
  /// `indent` is what lines after the first begin with; `width` the columns that are left for this axis.
  std::string print(size_t axis, const std::string& indent, size_t width) {
    std::string text = axis + 1 == axes_.size() ? row(axis, indent, width) : rows(axis, indent, width);
    return "[" + text.substr(indent.size()) + "]";
  }

  std::string row(size_t axis, const std::string& indent, size_t width) {
    std::string text, line = indent;
    auto add = [&](const std::string& word, bool is_last) {
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line = indent;
      }
      line += word + (is_last ? "" : ", ");
    };
    const Shown& shown = axes_[axis];
    for (int64_t i = 0; i < shown.first; ++i) add(format_->text(*next_++), !shown.is_cut && i + 1 == shown.count());
    if (shown.is_cut) add("...", shown.last == 0);
    for (int64_t i = 0; i < shown.last; ++i) add(format_->text(*next_++), i + 1 == shown.last);
    return text + line;
  }

  std::string rows(size_t axis, const std::string& indent, size_t width) {
    std::string separator = "," + std::string(axes_.size() - axis - 1, '\n'), text;
    const Shown& shown = axes_[axis];
    auto add = [&](const std::string& part) { text += (text.empty() ? "" : separator) + indent + part; };
    auto nested = [&] { return print(axis + 1, indent + " ", width - 1); };
    for (int64_t i = 0; i < shown.first; ++i) add(nested());
    if (shown.is_cut) add("...");
    for (int64_t i = 0; i < shown.last; ++i) add(nested());
    return text;
  }

  std::span<const Shown> axes_;
  std::unique_ptr<Format> format_;
  const uint64_t* next_;
};

std::string elements_text(const TensorView& tensor) {
  constexpr size_t kFewBytes = 1 << 20;  // that come from a device in one go
  if (tensor.elements() == 0) return "[]";
  if (!is_host(tensor.device_object()) && bytes_of(tensor).size() <= kFewBytes) return elements_text(tensor.to_host());
  std::vector<Shown> axes = choose_shown(tensor);
  std::vector<uint64_t> bits;
  gather(tensor, axes, &bits);
  if (tensor.rank() > 0) return Printer(tensor, axes, bits).print();
  bool is_nan = is_float(tensor.dtype()) && std::isnan(ir::double_of_bits(tensor.dtype(), bits[0]));
  return is_nan ? "nan" : ir::print_element(tensor.dtype(), bits[0]);
}

}  // namespace

std::string to_string(const TensorView& tensor) {
  if (!tensor.defined()) return "undefined tensor";
  const DefaultFloatEnvironment environment;
  return detail::out_of_memory_is_an_error([&] {
    std::string device = tensor.device();
    return fmt::format("{} {}{}{}", elements_text(tensor), name_of(tensor.dtype()), to_string(tensor.shape()),
                       device == "cpu" ? "" : " on " + device);
  });
}

std::ostream& operator<<(std::ostream& stream, const TensorView& tensor) { return stream << to_string(tensor); }

}  // namespace strider::v0
