// SPDX-License-Identifier: Apache-2.0
#include "torch_side.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "base/error.h"

namespace strider::peers {
namespace {

struct DTypePair {
  DType ours;
  at::ScalarType theirs;
};
constexpr DTypePair kDTypes[] = {
    {DType::Bool, at::kBool}, {DType::U8, at::kByte},   {DType::I8, at::kChar},  {DType::I16, at::kShort},
    {DType::I32, at::kInt},   {DType::I64, at::kLong},  {DType::F16, at::kHalf}, {DType::BF16, at::kBFloat16},
    {DType::F32, at::kFloat}, {DType::F64, at::kDouble},
};

at::ScalarType scalar_type(DType dtype) {
  for (const DTypePair& pair : kDTypes)
    if (pair.ours == dtype) return pair.theirs;
  unsupported_error("libtorch has no dtype {}", name_of(dtype));
}

at::Tensor wrap(const TensorView& t) {
  auto rank = static_cast<size_t>(t.rank());
  at::IntArrayRef shape(t.shape().data(), rank), strides(t.strides().data(), rank);
  return at::from_blob(t.data(), shape, strides, at::TensorOptions(scalar_type(t.dtype())));
}

/// What a function gets: tensors and numbers, counted apart.
struct Operands {
  std::vector<at::Tensor> t;
  std::vector<double> n;
};

struct Function {
  std::string_view name;
  void (*call)(const Operands& x, at::Tensor& out);
};

constexpr Function kFunctions[] = {
    {"copy", [](const Operands& x, at::Tensor& out) { out.copy_(x.t[0]); }},
    {"add", [](const Operands& x, at::Tensor& out) { at::add_out(out, x.t[0], x.t[1]); }},
    {"add_alpha", [](const Operands& x, at::Tensor& out) { at::add_out(out, x.t[0], x.t[1], x.n[0]); }},
    {"new_add", [](const Operands& x, at::Tensor&) { at::add(x.t[0], x.t[1]); }},
    {"mul", [](const Operands& x, at::Tensor& out) { at::mul_out(out, x.t[0], x.t[1]); }},
    {"abs", [](const Operands& x, at::Tensor& out) { at::abs_out(out, x.t[0]); }},
    {"clamp", [](const Operands& x, at::Tensor& out) { at::clamp_out(out, x.t[0], at::Scalar(x.n[0]), at::Scalar(x.n[1])); }},
    {"where", [](const Operands& x, at::Tensor& out) { at::where_out(out, x.t[0], x.t[1], x.t[2]); }},
    {"exp", [](const Operands& x, at::Tensor& out) { at::exp_out(out, x.t[0]); }},
    {"silu", [](const Operands& x, at::Tensor& out) { at::silu_out(out, x.t[0]); }},
    {"sin", [](const Operands& x, at::Tensor& out) { at::sin_out(out, x.t[0]); }},
    {"tanh", [](const Operands& x, at::Tensor& out) { at::tanh_out(out, x.t[0]); }},
    {"erf", [](const Operands& x, at::Tensor& out) { at::erf_out(out, x.t[0]); }},
    {"pow", [](const Operands& x, at::Tensor& out) { at::pow_out(out, x.t[0], at::Scalar(x.n[0])); }},
    {"gelu", [](const Operands& x, at::Tensor& out) { at::gelu_out(out, x.t[0]); }},
    {"gelu_tanh", [](const Operands& x, at::Tensor& out) { at::gelu_out(out, x.t[0], "tanh"); }},
    {"fused", [](const Operands& x, at::Tensor& out) {  // as it is written: a chain of calls
       at::add_out(out, at::mul(at::gelu(at::add(x.t[0], x.t[1])), 1.5), x.t[2]);
     }},
    {"softmax", [](const Operands& x, at::Tensor& out) { at::_softmax_out(out, x.t[0], -1, false); }},
    {"layer_norm", [](const Operands& x, at::Tensor& out) {  // it has no form with a given result
       at::Tensor mean, deviation;
       std::tie(out, mean, deviation) = at::native_layer_norm(x.t[0], x.t[1].sizes(), x.t[1], x.t[2], 1e-5);
     }},
};

class Torch final : public testing::Peer {
 public:
  Torch() { c10::GradMode::set_enabled(false); }

  std::string_view name() const override { return "libtorch"; }
  void use_threads(int threads) override { at::set_num_threads(threads); }

  std::function<void()> call(std::string_view function, std::span<const Argument> operands, const TensorView* result) override {
    Operands x;
    for (const Argument& a : operands) {
      if (!a.is_number()) x.t.push_back(wrap(a.view()));
      else x.n.push_back(a.kind() == Argument::Float ? a.as_float() : static_cast<double>(a.as_int()));
    }
    at::Tensor out = result ? wrap(*result) : at::Tensor();
    for (const Function& f : kFunctions)
      if (f.name == function) return [call = f.call, x, out]() mutable { call(x, out); };
    internal_error("libtorch's side has no function {}", function);
  }
};

}  // namespace

std::unique_ptr<testing::Peer> make_torch() { return std::make_unique<Torch>(); }

}  // namespace strider::peers
