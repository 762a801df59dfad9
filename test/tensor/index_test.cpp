// SPDX-License-Identifier: Apache-2.0
// Subscripts, and tensors that were never given one.
#include <gtest/gtest.h>

#include <sstream>

#include <strider/dlpack.h>
#include <strider/strider.h>

#include "support/errors.h"

namespace strider {
namespace {

namespace st = strider;
using Values = std::vector<double>;

using support::error_of;

const Tensor& x() {
  static const Tensor& t = *new Tensor(arange(24).reshape({2, 3, 4}));
  return t;
}

TEST(Subscript, TakesPositionsSlicesAndWords) {
  EXPECT_EQ((x()[{1, st::all, st::slice(0, 4, 2)}].to_doubles()), (Values{12, 14, 16, 18, 20, 22}));
  EXPECT_EQ((x()[{1, st::all, st::slice(0, 4, 2)}].shape()), (Dims{3, 2}));
  EXPECT_EQ((x()[{-1, -1, -1}].item()), 23);
  EXPECT_EQ((x()[{-1, -1, -1}].rank()), 0);
  EXPECT_EQ(x()[1].shape(), (Dims{3, 4}));
  EXPECT_EQ(x()[st::slice(1, 2)].shape(), (Dims{1, 3, 4}));
  EXPECT_EQ((x()[{st::ellipsis, 0}].to_doubles()), (Values{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ((x()[{st::newaxis, 0, st::newaxis, st::ellipsis, st::newaxis}].shape()), (Dims{1, 1, 3, 4, 1}));
  EXPECT_EQ((x()[{0, st::ellipsis, 1, 2}].item()), 6);  // the ellipsis stands for no axis
  EXPECT_EQ(x()[{}].shape(), x().shape());
}

TEST(Subscript, SlicesHaveOpenAndNegativeBounds) {
  Tensor v = arange(6);
  EXPECT_EQ(v[st::slice(std::nullopt, std::nullopt, -1)].to_doubles(), (Values{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(v[st::slice(-2, std::nullopt)].to_doubles(), (Values{4, 5}));
  EXPECT_EQ(v[st::slice(std::nullopt, -4)].to_doubles(), (Values{0, 1}));
  EXPECT_EQ(v[st::slice(4, std::nullopt, -2)].to_doubles(), (Values{4, 2, 0}));
  EXPECT_EQ(v[st::slice(std::nullopt, 3, -1)].to_doubles(), (Values{5, 4}));
  EXPECT_EQ(v[st::slice(2, 100)].to_doubles(), (Values{2, 3, 4, 5}));
  EXPECT_EQ(v[st::slice(4, 2)].shape(), (Dims{0}));
}

TEST(Subscript, ViewsShareMemoryAndKeepTheirRights) {
  Tensor v = zeros({2, 3});
  v[{st::all, 1}].copy_from(full({2}, 7));
  EXPECT_EQ(v.to_doubles(), (Values{0, 7, 0, 0, 7, 0}));
  TensorView view = v;
  EXPECT_EQ((view[{1, 1}].data()), v.data<float>() + 4);
  EXPECT_TRUE(v.read_only()[0].is_read_only());
  static_assert(!std::is_assignable_v<decltype(v[0]), Tensor>, "an assignment to a view would write nothing");
}

TEST(Subscript, MistakesAreNamed) {
  EXPECT_EQ(error_of([] { x()[{0, 3}]; }), "index 3 is out of range for axis 1 of a tensor of shape (2, 3, 4)");
  EXPECT_EQ(error_of([] { x()[-3]; }), "index -3 is out of range for axis 0 of a tensor of shape (2, 3, 4)");
  EXPECT_EQ(error_of([] { x()[INT64_MIN]; }), "index -9223372036854775808 is out of range for axis 0 of a tensor of shape (2, 3, 4)");
  EXPECT_EQ(error_of([] { x()[{0, 0, 0, 0}]; }), "a subscript names 4 axes of a tensor of shape (2, 3, 4), which has 3");
  EXPECT_EQ(error_of([] { x()[{st::ellipsis, st::ellipsis}]; }), "a subscript has more than one ellipsis");
  EXPECT_NE(error_of([] { x()[st::slice(0, 1, 0)]; }).find("the step is 0"), std::string::npos);
}

TEST(UndefinedTensor, IsATensorOnceOneIsAssigned) {
  Tensor t;
  EXPECT_FALSE(t.defined());
  Tensor copy = t;
  EXPECT_FALSE(copy.defined());
  std::ostringstream text;
  text << t;
  EXPECT_EQ(text.str(), "undefined tensor");
  t = ones({2});
  EXPECT_TRUE(t.defined());
  EXPECT_EQ(t.to_doubles(), (Values{1, 1}));
}

TEST(UndefinedTensor, EveryUseIsAnError) {
  const Tensor t{}, other = ones({1});
  const std::function<void()> uses[] = {
      [&] { t.shape(); },      [&] { t.dtype(); },          [&] { t.data(); },        [&] { t.elements(); },
      [&] { t.device(); },     [&] { t.item(); },           [&] { t.to_doubles(); },  [&] { t.t(); },
      [&] { t.reshape({1}); }, [&] { t[0]; },               [&] { t.expand({1}); },   [&] { t.squeeze(); },
      [&] { t.unsqueeze(0); }, [&] { t.to(f64); },          [&] { t.to("cpu"); },     [&] { t.clone(); },
      [&] { t.contiguous(); }, [&] { t.copy_from(other); }, [&] { other.copy_from(t); }, [&] { t.as_strided({1}, {1}); },
      [&] { t.read_only(); },  [&] { t.offset(); },         [&] { st::out(t); },      [&] { t + 1; },
      [&] { other + t; },      [&] { ops::neg(t); },        [&] { equal(t, other); }, [&] { cat({t, other}); },
      [&] { to_dlpack(t); },
  };
  for (const auto& use : uses) EXPECT_NE(error_of(use).find("a tensor that was never given one is used"), std::string::npos);
}

}  // namespace
}  // namespace strider
