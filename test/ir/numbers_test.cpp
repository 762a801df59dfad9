// SPDX-License-Identifier: Apache-2.0
// The numbers of ops and dtypes that compiled programs hold. Rows may be appended to these lists; what stands here stays.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include <strider/error.h>
#include <strider/value.h>

#include "ir/op.h"

namespace strider::ir {
namespace {

const std::map<std::string, int> kOpNumbers{
    {"param", 0}, {"const", 1}, {"program_id", 2}, {"num_programs", 3}, {"arange", 4}, {"neg", 5}, {"abs", 6}, {"sign", 7},
    {"not", 8}, {"floor", 9}, {"ceil", 10}, {"trunc", 11}, {"round", 12}, {"isnan", 13}, {"isinf", 14}, {"isfinite", 15},
    {"signbit", 16}, {"sqrt", 17}, {"rsqrt", 18}, {"cbrt", 19}, {"exp", 20}, {"exp2", 21}, {"expm1", 22}, {"log", 23},
    {"log2", 24}, {"log10", 25}, {"log1p", 26}, {"sin", 27}, {"cos", 28}, {"tan", 29}, {"asin", 30}, {"acos", 31}, {"atan", 32},
    {"sinh", 33}, {"cosh", 34}, {"tanh", 35}, {"asinh", 36}, {"acosh", 37}, {"atanh", 38}, {"erf", 39}, {"erfc", 40},
    {"lgamma", 41}, {"tgamma", 42}, {"sigmoid", 43}, {"cast", 44}, {"bitcast", 45}, {"add", 46}, {"sub", 47}, {"mul", 48},
    {"div", 49}, {"rem", 50}, {"floor_div", 51}, {"remainder", 52}, {"minimum", 53}, {"maximum", 54}, {"fmin", 55},
    {"fmax", 56}, {"copysign", 57}, {"nextafter", 58}, {"ldexp", 59}, {"atan2", 60}, {"hypot", 61}, {"pow", 62}, {"and", 63},
    {"or", 64}, {"xor", 65}, {"shl", 66}, {"shr", 67}, {"eq", 68}, {"ne", 69}, {"lt", 70}, {"le", 71}, {"gt", 72}, {"ge", 73},
    {"where", 74}, {"fma", 75}, {"ptr_add", 76}, {"broadcast", 77}, {"expand_dims", 78}, {"reshape", 79}, {"trans", 80},
    {"gather", 81}, {"dot", 82}, {"histogram", 83}, {"load", 84}, {"store", 85}, {"atomic", 86}, {"hint", 87}, {"assume", 88},
    {"reduce", 89}, {"scan", 90}, {"for", 91}, {"while", 92}, {"if", 93}, {"yield", 94}, {"result", 95}, {"nest", 96},
    {"thread_id", 97}, {"alloc", 98}, {"load_block", 99}, {"store_block", 100}, {"vector", 101}, {"extract", 102},
    {"shuffle", 103}, {"exchange", 104}, {"phase", 105}, {"barrier", 106}, {"call", 107}, {"gelu", 108},
};

const std::map<std::string, int> kDTypeNumbers{{"bool", 0}, {"i8", 1}, {"i16", 2}, {"i32", 3}, {"i64", 4}, {"u8", 5}, {"u16", 6},
                                               {"u32", 7}, {"u64", 8}, {"f16", 9}, {"bf16", 10}, {"f32", 11}, {"f64", 12}};

TEST(Numbers, OfOpsStay) {
  std::set<int> seen;
  for (int row = 0; row < kOpCount; ++row) {
    Op op = op_at(row);
    auto known = kOpNumbers.find(std::string(name_of(op)));
    ASSERT_NE(known, kOpNumbers.end()) << name_of(op) << " is new: append it here with its number, " << int{number_of(op)};
    EXPECT_EQ(number_of(op), known->second) << name_of(op);
    EXPECT_TRUE(seen.insert(number_of(op)).second) << name_of(op) << " has the number of another op";
    EXPECT_EQ(op_numbered(number_of(op)), op);
  }
  EXPECT_EQ(seen.size(), kOpNumbers.size()) << "an op is gone that programs may use";
  EXPECT_EQ(op_numbered(255), std::nullopt);
}

TEST(Numbers, OfDTypesStay) {
  std::set<int> seen;
  for (int row = 0; row < kDTypeCount; ++row) {
    DType dtype = dtype_at(row);
    auto known = kDTypeNumbers.find(std::string(name_of(dtype)));
    ASSERT_NE(known, kDTypeNumbers.end()) << name_of(dtype) << " is new: append it here with its number";
    EXPECT_EQ(static_cast<int>(dtype), known->second) << name_of(dtype);
    EXPECT_TRUE(seen.insert(static_cast<int>(dtype)).second) << name_of(dtype) << " has the number of another dtype";
    EXPECT_EQ(row_of(dtype), row);
    EXPECT_TRUE(is_known(dtype));
  }
  EXPECT_EQ(seen.size(), kDTypeNumbers.size());
  for (int number = 0; number < 256; ++number) EXPECT_EQ(is_known(static_cast<DType>(number)), seen.count(number) == 1) << number;
}

TEST(Numbers, AProgramThatIsNewerThanTheLibraryIsTold) {
  try {
    detail::evaluate(static_cast<detail::OpId>(255), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no op number 255: the program was compiled with the headers of another Strider");
  }
}

}  // namespace
}  // namespace strider::ir
