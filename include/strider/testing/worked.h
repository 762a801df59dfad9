// SPDX-License-Identifier: Apache-2.0
// All worked kernels in one list: how each is called, what it must give, and how many bytes it has to move. Tests, benchmarks
// and `strider check` go through it; a new kernel is a header and a row here.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <strider/kernels/abs.h>
#include <strider/kernels/clip.h>
#include <strider/kernels/dropout.h>
#include <strider/kernels/gelu.h>
#include <strider/kernels/huber.h>
#include <strider/kernels/l1_norm.h>
#include <strider/kernels/layer_norm.h>
#include <strider/kernels/softmax.h>
#include <strider/kernels/vector_add.h>

namespace strider::inline v0::testing::worked {

namespace st = strider;

using Doubles = std::vector<double>;

/// What a call works on. Kernels over vectors take rows * columns elements.
struct Size {
  int64_t rows = 1, columns = 0, block = 1024;
  int64_t elements() const { return rows * columns; }
  int64_t programs() const { return st::cdiv(elements(), block); }
};

/// A kernel with its tensors, ready to be launched again and again.
struct Call {
  std::vector<st::Tensor> inputs;
  st::Tensor out = st::empty({});
  std::function<void()> launch;       // sets `out`, whatever was in it
  std::function<Doubles()> expected;  // the same by plain C++ in double
  int64_t bytes = 0;                  // that must be read and written
};

struct Worked {
  std::string_view name, about;
  bool by_rows;  // a program holds a row: the block is at least as long
  Call (*prepare)(const Size& size, const st::TensorOptions& options);
  bool in_f32 = true;  // the maths, whatever the tensors are
};

namespace detail {

constexpr double kClipLimit = 0.75, kNormLimit = 1.0, kDelta = 0.5, kEpsilon = 1e-5, kDropped = 0.25;
constexpr int64_t kSeed = 1234;

inline st::Tensor random(const st::Dims& shape, const st::TensorOptions& options, uint64_t seed) {
  return st::randn(shape, {options.dtype, "cpu"}, seed).to(options.device);
}

inline int64_t bytes_of(const st::TensorView& t) { return t.elements() * st::size_of(t.dtype()); }

inline Doubles doubles(const st::Tensor& t) { return t.to_host().to_doubles(); }

/// One value from the same place of each input.
template <class F>
std::function<Doubles()> each(std::vector<st::Tensor> inputs, F f) {
  return [=] {
    Doubles x = doubles(inputs.front()), y = doubles(inputs.back());
    for (size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
    return x;
  };
}

/// A call that reads `count` vectors and writes one.
template <class Launch, class Reference>
Call on_vectors(int count, const Size& size, const st::TensorOptions& options, Launch launch, Reference reference) {
  Call call;
  for (int k = 0; k < count; ++k) call.inputs.push_back(random({size.elements()}, options, static_cast<uint64_t>(k)));
  call.out = st::empty({size.elements()}, options);
  call.launch = [=, inputs = call.inputs, out = call.out] { launch(inputs, out, size); };
  call.expected = each(call.inputs, reference);
  call.bytes = (count + 1) * bytes_of(call.out);
  return call;
}

/// A call that reads one vector and gives a sum of f32.
template <class Launch>
Call to_sum(const Size& size, const st::TensorOptions& options, Launch launch) {
  Call call;
  st::Tensor x = random({size.elements()}, options, 0);
  call.inputs = {x};
  call.out = st::zeros({}, {st::f32, options.device});
  call.launch = [=, out = call.out] { launch(x, out, size); };
  call.expected = [x] {
    double sum = 0;
    for (double v : doubles(x)) sum += std::abs(v);
    return Doubles{sum};
  };
  call.bytes = bytes_of(x);
  return call;
}

inline void set_to_zero(const st::Tensor& t) { st::ops::fill(t, 0.0, st::out(t)); }

template <class F>
std::function<Doubles()> each_row(const st::Tensor& x, F f) {
  return [=] {
    Doubles all = doubles(x);
    size_t columns = static_cast<size_t>(x.size(1));
    for (size_t begin = 0; begin < all.size(); begin += columns) f(std::span(all).subspan(begin, columns));
    return all;
  };
}

inline Call vector_add(const Size& size, const st::TensorOptions& options) {
  return on_vectors(2, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::vector_add()[s.programs()](in[0], in[1], out, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double y) { return x + y; });
}

inline Call abs(const Size& size, const st::TensorOptions& options) {
  return on_vectors(1, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::abs()[s.programs()](in[0], out, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return std::abs(x); });
}

inline Call identity(const Size& size, const st::TensorOptions& options) {
  return on_vectors(1, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::identity()[s.programs()](in[0], out, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return x; });
}

inline Call clip(const Size& size, const st::TensorOptions& options) {
  return on_vectors(1, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::clip()[s.programs()](in[0], out, kClipLimit, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return x < -kClipLimit ? -kClipLimit : x > kClipLimit ? kClipLimit : x; });  // NaN stays
}

inline Call clip_by_norm(const Size& size, const st::TensorOptions& options) {
  st::Tensor squares = st::zeros({}, {st::f32, options.device});
  Call call = on_vectors(1, size, options, [=](const auto& in, const auto& out, const Size& s) {
    set_to_zero(squares);
    kernels::square_sum()[s.programs()](in[0], squares, s.elements(), {{"BLOCK", s.block}});
    kernels::clip_by_norm()[s.programs()](in[0], squares, out, kNormLimit, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return x; });
  call.expected = [x = call.inputs[0]] {
    Doubles all = doubles(x);
    double squares = 0;
    for (double v : all) squares += v * v;
    double scale = kNormLimit / (std::sqrt(squares) + 1e-6);
    for (double& v : all) v *= scale > 1 ? 1 : scale;  // NaN stays
    return all;
  };
  call.bytes += bytes_of(call.out);  // the input is read twice
  return call;
}

inline Call huber(const Size& size, const st::TensorOptions& options) {
  return on_vectors(2, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::huber()[s.programs()](in[0], in[1], out, kDelta, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double y) {
    double error = std::abs(x - y);
    return error <= kDelta ? 0.5 * error * error : kDelta * (error - 0.5 * kDelta);
  });
}

inline Call gelu(const Size& size, const st::TensorOptions& options) {
  return on_vectors(1, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::gelu()[s.programs()](in[0], out, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); });
}

inline Call l1_norm(const Size& size, const st::TensorOptions& options) {
  return to_sum(size, options, [](const auto& x, const auto& out, const Size& s) {
    set_to_zero(out);
    kernels::l1_norm()[s.programs()](x, out, s.elements(), {{"BLOCK", s.block}});
  });
}

inline Call l1_norm_in_two_phases(const Size& size, const st::TensorOptions& options) {
  st::Tensor parts = st::empty({size.programs()}, {st::f32, options.device});
  return to_sum(size, options, [=](const auto& x, const auto& out, const Size& s) {
    kernels::l1_norm_parts()[s.programs()](x, parts, s.elements(), {{"BLOCK", s.block}});
    kernels::sum_parts()[1](parts, out, s.programs(), {{"BLOCK", 1024}});
  });
}

inline Call softmax(const Size& size, const st::TensorOptions& options) {
  Call call;
  st::Tensor x = random({size.rows, size.columns}, options, 0), out = st::empty(x.shape(), options);
  call.inputs = {x}, call.out = out, call.bytes = 2 * bytes_of(x);
  call.launch = [=] { kernels::softmax()[size.rows](x, out, size.columns, size.columns, size.columns, {{"BLOCK", size.block}}); };
  call.expected = each_row(x, [](std::span<double> row) {
    double largest = row[0], sum = 0;
    for (double v : row) largest = std::fmax(largest, v);
    for (double& v : row) sum += v = std::exp(v - largest);
    for (double& v : row) v /= sum;
  });
  return call;
}

inline Call layer_norm(const Size& size, const st::TensorOptions& options) {
  Call call;
  st::Tensor x = random({size.rows, size.columns}, options, 0), out = st::empty(x.shape(), options);
  st::Tensor weight = random({size.columns}, options, 1), bias = random({size.columns}, options, 2);
  call.inputs = {x, weight, bias}, call.out = out, call.bytes = 2 * (bytes_of(x) + bytes_of(weight));
  call.launch = [=] {
    kernels::layer_norm()[size.rows](x, weight, bias, out, size.columns, size.columns, size.columns, kEpsilon, {{"BLOCK", size.block}});
  };
  call.expected = each_row(x, [=](std::span<double> row) {
    Doubles w = doubles(weight), b = doubles(bias);
    double mean = 0, variance = 0, n = static_cast<double>(row.size());
    for (double v : row) mean += v / n;
    for (double v : row) variance += (v - mean) * (v - mean) / n;
    for (size_t j = 0; j < row.size(); ++j) row[j] = (row[j] - mean) / std::sqrt(variance + kEpsilon) * w[j] + b[j];
  });
  return call;
}

/// The first of the four words that Philox 4x32 gives for element i, as a number in [0, 1): by 64-bit integers, for reference.
inline float philox(uint64_t seed, uint64_t i) {
  uint32_t c[4] = {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
                        static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  auto word = static_cast<int32_t>(c[0]);
  return static_cast<float>(word < 0 ? -word - 1 : word) * 4.6566127342e-10f;
}

inline Call dropout(const Size& size, const st::TensorOptions& options) {
  Call call = on_vectors(1, size, options, [](const auto& in, const auto& out, const Size& s) {
    kernels::dropout()[s.programs()](in[0], out, kDropped, kSeed, s.elements(), {{"BLOCK", s.block}});
  }, [](double x, double) { return x; });
  call.expected = [x = call.inputs[0]] {
    Doubles all = doubles(x);
    for (size_t i = 0; i < all.size(); ++i) all[i] = philox(kSeed, i) > kDropped ? all[i] / (1 - kDropped) : 0;
    return all;
  };
  return call;
}

}  // namespace detail

inline constexpr Worked kAll[] = {
    {"vector_add", "x + y", false, detail::vector_add, false},
    {"abs", "|x|", false, detail::abs, false},
    {"identity", "x: what abs is measured against", false, detail::identity, false},
    {"clip", "x within bounds: gradient clipping by value", false, detail::clip},
    {"clip_by_norm", "x scaled to a bounded norm: gradient clipping by norm", false, detail::clip_by_norm},
    {"huber", "Huber's loss of x and a target", false, detail::huber},
    {"gelu", "GELU with the error function", false, detail::gelu},
    {"l1_norm", "sum of |x|, one atomic for each program", false, detail::l1_norm},
    {"l1_norm_two_phase", "sum of |x|, parts first", false, detail::l1_norm_in_two_phases},
    {"softmax", "softmax of each row", true, detail::softmax},
    {"layer_norm", "layer normalisation of each row", true, detail::layer_norm},
    {"dropout", "dropout by counter-based random numbers", false, detail::dropout},
};

}  // namespace strider::v0::testing::worked
