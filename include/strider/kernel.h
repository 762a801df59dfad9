// SPDX-License-Identifier: Apache-2.0
// kernel(): a tile program by hand, launched over a grid.
//
//   auto l1 = st::kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
//     auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
//     tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
//   });
//   l1[st::cdiv(n, 1024)](x, out, n, {{"BLOCK", 1024}});
//
// The body runs once per specialisation: constants, dtypes, and what is known of alignment, divisibility and overlap.
// A pointer reaches the memory between the first and the last element of the tensor that it was given, and no other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strider/argument.h>
#include <strider/callable.h>
#include <strider/interpret.h>
#include <strider/prepared.h>
#include <strider/stage.h>
#include <strider/stream.h>
#include <strider/taps.h>
#include <strider/tile.h>

namespace strider {

namespace ir {
class Function;  // of the implementation
}

inline namespace v0 {

namespace detail {

enum class ParamKind : uint8_t { Pointer, Scalar, Constant };

struct ParamDecl {
  ParamKind kind;
  DType dtype = DType::I64;  // of the elements or the number
  bool any_dtype = false;    // a pointer that takes the dtype of its tensor
  std::string name = {};     // empty: not named
};

/// A kernel as declared: its parameters, and its body as a function of values, or instead its whole program.
struct KernelDecl {
  std::string name;
  std::vector<ParamDecl> params;
  std::function<void(std::span<const Value>)> body;
  std::shared_ptr<const ir::Function> program = nullptr;
};

/// Gives the parameters the names that are not empty; a user error if some have none that are no constants at the end.
STRIDER_API void name_params(KernelDecl& kernel, const std::vector<std::string>& names);

template <class T>
struct Param {
  static_assert(never<T>, "a kernel takes pointers (tl::Ptr<float>), numbers (tl::i64, tl::f32, ...) and tl::Constexpr");
};
template <class T>
struct Param<tl::Ptr<T>> {
  static ParamDecl declare() { return {ParamKind::Pointer, dtype_of<T>}; }
  static tl::Ptr<T> bind(const Value& v) { return tl::Ptr<T>(v); }
};
template <>
struct Param<tl::Ptr<void>> {
  static ParamDecl declare() { return {ParamKind::Pointer, DType::F32, true}; }
  static tl::Ptr<> bind(const Value& v) { return tl::Ptr<>(v); }
};
template <DType D>
struct Param<tl::Scalar<D>> {
  static ParamDecl declare() { return {ParamKind::Scalar, D}; }
  static tl::Scalar<D> bind(const Value& v) { return tl::Scalar<D>(v); }
};
template <>
struct Param<tl::Constexpr> {
  static ParamDecl declare() { return {ParamKind::Constant}; }
  static tl::Constexpr bind(const Value& v) { return {static_cast<int64_t>(v.handle().bits)}; }
};
template <tl::Name N>
struct Param<tl::Const<N>> {
  static ParamDecl declare() { return {ParamKind::Constant, DType::I64, false, std::string(tl::Const<N>::name)}; }
  static tl::Const<N> bind(const Value& v) { return {{static_cast<int64_t>(v.handle().bits)}}; }
};

template <class... P>
struct Signature {
  static std::vector<ParamDecl> declare() { return {Param<std::decay_t<P>>::declare()...}; }
  template <class F, size_t... I>
  static void call(const F& f, [[maybe_unused]] std::span<const Value> values, std::index_sequence<I...>) {
    f(Param<std::decay_t<P>>::bind(values[I])...);
  }
  template <class F>
  static void call(const F& f, std::span<const Value> values) {
    call(f, values, std::index_sequence_for<P...>());
  }
};
template <class C, class R, class... P>
Signature<P...> signature_of(R (C::*)(P...) const);
template <class R, class... P>
Signature<P...> signature_of(R (*)(P...));

template <class F>
concept HasOneSignature = requires { &F::operator(); };
template <class F>
auto signature() {
  if constexpr (std::is_function_v<std::remove_pointer_t<F>>) return decltype(signature_of(std::declval<F>()))();
  else {
    static_assert(HasOneSignature<F>, "a kernel's lambda names the types of its parameters: tl::Ptr<float> x, not auto x");
    return decltype(signature_of(&F::operator()))();
  }
}

}  // namespace detail

/// The constants of a launch, for grids that depend on them: `constants["BLOCK"]`.
class LaunchConstants {
 public:
  LaunchConstants(const detail::KernelDecl& kernel, std::span<const int64_t> by_param) : kernel_(kernel), by_param_(by_param) {}
  STRIDER_API int64_t operator[](std::string_view name) const;

 private:
  const detail::KernelDecl& kernel_;
  std::span<const int64_t> by_param_;  // by parameter; 0 where it is no constant
};

/// One to three numbers of programs, or a function of the constants that gives them.
class LaunchGrid {
 public:
  using Place = std::source_location;
  LaunchGrid(std::integral auto x, Place where = Place::current()) : size_{static_cast<int64_t>(x)}, where_(where) {}
  LaunchGrid(std::initializer_list<int64_t> size, Place where = Place::current()) : size_(size), where_(where) {}
  LaunchGrid(const Dims& size, Place where = Place::current()) : size_(size), where_(where) {}
  template <std::invocable<const LaunchConstants&> F>
  LaunchGrid(const F& f, Place where = Place::current())
      : function_([f](const LaunchConstants& c) { return LaunchGrid(f(c)).size_; }), where_(where) {}
  /// Where the launch is written, for errors.
  const Place& where() const { return where_; }
  Dims resolve(const LaunchConstants& constants) const { return function_ ? function_(constants) : size_; }

 private:
  Dims size_;
  std::function<Dims(const LaunchConstants&)> function_;
  Place where_;
};

struct KernelOptions {
  std::vector<std::string> names = {};  // of the parameters, in order; empty names are fine, and constants at the end need none
};

class Kernel {
 public:
  STRIDER_API explicit Kernel(detail::KernelDecl declaration);
  Kernel(const Kernel&) = default;  // moving copies: there is no empty kernel
  Kernel& operator=(const Kernel&) = default;

  class Launcher;
  /// The kernel on a grid, to be called with its arguments. Constants come last as a list of names and values, or stand at
  /// their place among the arguments; a kernel with a single constant may call it by any name.
  inline Launcher operator[](LaunchGrid grid) const;
  /// With `taps`, what tl::tap names in the kernel is read back into it.
  STRIDER_API void launch(const LaunchGrid& grid, std::span<const Argument> arguments, Taps* taps = nullptr) const;
  void launch(const LaunchGrid& grid, std::initializer_list<Argument> arguments) const {
    launch(grid, std::span(arguments.begin(), arguments.size()));
  }
  STRIDER_API PreparedCall prepare(const LaunchGrid& grid, std::span<const Argument> arguments) const;

  /// The tile program that these arguments run: `k.source({x, out, n, {{"BLOCK", 1024}}})`.
  std::string source(std::initializer_list<Argument> arguments) const { return show("tile", arguments); }
  /// The text of a stage of that program: `k.show({"ptx", "cuda:sm_90"}, {x, out, n, {{"BLOCK", 1024}}})`.
  STRIDER_API std::string show(const Stage& stage, std::initializer_list<Argument> arguments) const;
  STRIDER_API const detail::KernelDecl& declaration() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

class Kernel::Launcher {
 public:
  Launcher(const Kernel& kernel, LaunchGrid grid) : kernel_(kernel), grid_(std::move(grid)) {}

  /// The launch leaves the values of tl::tap in `taps`.
  Launcher taps(Taps& taps) const {
    Launcher other = *this;
    other.taps_ = &taps;
    return other;
  }
  /// The same launch on a stream of the tensors' device: strider/stream.h.
  Launcher on(const Stream& stream) const {
    Launcher launcher(*this);
    launcher.stream_ = stream;
    return launcher;
  }
  /// The same launch in the interpreter, which checks every access: strider/interpret.h. User errors: a tensor is not on the CPU,
  /// and what the interpreter finds.
  Launcher interpreted(const Interpretation& how = {}) const {
    Launcher launcher(*this);
    launcher.how_ = how;
    return launcher;
  }

  template <std::convertible_to<Argument>... A>
  void operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    launch(std::span(list, sizeof...(A)));
  }
  /// The same with a list of constants at the end: a list in braces has no type that a template could name.
  using In = const Argument&;
  void operator()(In a, In b = {}, In c = {}, In d = {}, In e = {}, In f = {}, In g = {}, In h = {}, In i = {}, In j = {},
                  In k = {}, In l = {}, In m = {}, In n = {}, In o = {}, In p = {}, In q = {}, In r = {}, In s = {},
                  In t = {}) const {
    const Argument list[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t};
    launch(given(list));
  }

  /// A launch with these arguments that is checked once, to run again: strider/prepared.h. Throws what the launch itself would.
  template <std::convertible_to<Argument>... A>
  PreparedCall prepare(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    return prepare_all(std::span(list, sizeof...(A)));
  }
  PreparedCall prepare(In a, In b = {}, In c = {}, In d = {}, In e = {}, In f = {}, In g = {}, In h = {}, In i = {}, In j = {},
                       In k = {}, In l = {}, In m = {}, In n = {}, In o = {}, In p = {}, In q = {}, In r = {}, In s = {},
                       In t = {}) const {
    const Argument list[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t};
    return prepare_all(given(list));
  }

 private:
  static std::span<const Argument> given(std::span<const Argument> list) {
    size_t count = list.size();
    while (count > 0 && list[count - 1].kind() == Argument::None) --count;
    return list.first(count);
  }
  void launch(std::span<const Argument> arguments) const {
    std::optional<Interpreted> interpreted;
    std::optional<StreamScope> scope;
    if (how_) interpreted.emplace(*how_);
    if (stream_) scope.emplace(*stream_);
    kernel_.launch(grid_, arguments, taps_);
  }
  PreparedCall prepare_all(std::span<const Argument> arguments) const {
    if (!how_) return kernel_.prepare(grid_, arguments);
    Interpreted scope(*how_);
    return kernel_.prepare(grid_, arguments);
  }

  Kernel kernel_;  // a launcher may outlive the object that it came from
  LaunchGrid grid_;
  Taps* taps_ = nullptr;
  std::optional<Interpretation> how_;
  std::optional<Stream> stream_;
};

inline Kernel::Launcher Kernel::operator[](LaunchGrid grid) const { return {*this, std::move(grid)}; }

/// A kernel from text of the IR (docs/ir.md) in tile form, as `show("tile", ...)` prints it. Its parameters are pointers and
/// numbers; what the text says of their alignment and overlap does not count: that is read from the arguments of each launch. User
/// errors: text that is none, with line and column; a function in another form.
STRIDER_API Kernel kernel_from_ir(std::string_view text);

/// A kernel from a C++ function or lambda whose parameters say what it takes. User errors: it is a null pointer, two parameters
/// have one name, names are given for some parameters only.
template <class F>
Kernel kernel(std::string_view name, F f, const KernelOptions& options = {}) {
  return detail::out_of_memory_is_an_error([&] {
    auto signature = detail::signature<F>();
    detail::KernelDecl decl{std::string(name), signature.declare(), {}};
    if (detail::has_body(f)) decl.body = [f, signature](std::span<const Value> values) { signature.call(f, values); };
    detail::name_params(decl, options.names);
    return Kernel(std::move(decl));
  });
}

}  // namespace v0
}  // namespace strider
