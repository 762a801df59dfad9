// SPDX-License-Identifier: Apache-2.0
// Operands in words: what they mean, and what is said about those that mean nothing.
#include "testing/operand_text.h"

#include <gtest/gtest.h>

#include <ostream>

#include "backend/backend.h"

#include <strider/error.h>

namespace strider {
namespace {

struct Meaning {
  const char* text;
  DType dtype;
  Dims shape, strides;
  int64_t offset, elements;  // of the first element, and of the memory
};

void PrintTo(const Meaning& m, std::ostream* stream) { *stream << m.text; }

class Words : public ::testing::TestWithParam<Meaning> {};

TEST_P(Words, MeanTheirTensor) {
  const Meaning& m = GetParam();
  OperandText text(m.text);
  ASSERT_FALSE(text.is_number());
  EXPECT_EQ(text.dtype(), m.dtype);
  EXPECT_EQ(text.elements(), m.elements);
  std::vector<char> memory(static_cast<size_t>(std::max<int64_t>(text.bytes(), 1)) + 16);
  char* aligned = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
  TensorView view = text.in(aligned, device_named("cpu"));
  EXPECT_EQ(view.shape(), m.shape) << to_string(view.shape());
  EXPECT_EQ(view.strides(), m.strides) << to_string(view.strides());
  EXPECT_EQ((static_cast<char*>(view.data()) - aligned) / size_of(m.dtype), m.offset);
}

INSTANTIATE_TEST_SUITE_P(
    All, Words,
    ::testing::Values(Meaning{"f32(2,3)", f32, {2, 3}, {3, 1}, 0, 6}, Meaning{"f64()", f64, {}, {}, 0, 1},
                      Meaning{" bf16( 4, 5 ) :t ", bf16, {5, 4}, {1, 5}, 0, 20},
                      Meaning{"u8(2,3,4):permute(2,0,1)", u8, {4, 2, 3}, {1, 12, 4}, 0, 24},
                      Meaning{"f32(64,128)[::2, ::2]", f32, {32, 64}, {256, 2}, 0, 8192},
                      Meaning{"f32(6)[::-1]", f32, {6}, {-1}, 5, 6}, Meaning{"f32(6)[1:5:2]", f32, {2}, {2}, 1, 6},
                      Meaning{"f32(4,6)[1]", f32, {6}, {1}, 6, 24}, Meaning{"f32(4,6)[:, -1]", f32, {4}, {6}, 5, 24},
                      Meaning{"f32(4,6)[2:][::2]", f32, {1, 6}, {6, 1}, 12, 24},
                      Meaning{"f32(3):expand(2,3)", f32, {2, 3}, {0, 1}, 0, 3},
                      Meaning{"f32(2,3):flip(0)", f32, {2, 3}, {-3, 1}, 3, 6},
                      Meaning{"f32(4,6):reshape(-1):unsqueeze(0)", f32, {1, 24}, {24, 1}, 0, 24},
                      Meaning{"f32(2,3):strides(1,10)", f32, {2, 3}, {1, 10}, 0, 22},
                      Meaning{"f32(3):strides(-2)", f32, {3}, {-2}, 4, 5}, Meaning{"i64(0,3)", i64, {0, 3}, {3, 1}, 0, 0}));

TEST(OperandText, ReadsNumbers) {
  EXPECT_EQ(OperandText("0.5").number().as_float(), 0.5);
  EXPECT_EQ(OperandText("-3").number().as_int(), -3);
  EXPECT_EQ(OperandText("-3").number().kind(), Argument::Int);
  EXPECT_EQ(OperandText("1e-3").number().kind(), Argument::Float);
  EXPECT_EQ(OperandText("true").number().kind(), Argument::Bool);
}

struct Wrong {
  const char *text, *words;
};

TEST(OperandText, SaysWhatIsWrong) {
  constexpr Wrong kWrong[] = {
      {"", "expected a number, or a dtype"},
      {"f33(2)", "expected a number, or a dtype (bool i8"},
      {"f32", "expected (, found the end"},
      {"f32(2,", "expected an integer, found the end"},
      {"f32(2 3)", "expected , or ), found \"3)\""},
      {"f32(2)x", "expected a view"},
      {"f32(2):sideways", "expected a view (strides t transpose permute"},
      {"f32(2)[::2", "expected ], found the end"},
      {"f32(2)[]", "expected an index or a slice"},
      {"f32(2)[7]", "index 7 of an axis of size 2"},
      {"f32(2)[0,0]", "a subscript of 2 parts, the tensor has shape (2)"},
      {"f32(2,3):permute(0)", "permute: axes (0) are no permutation"},
      {"f32(2,3):strides(1)", "one for each axis of (2, 3)"},
      {"f32(-2)", "-2"},
      {"f32(4000000000,4000000000)", "4000000000"},
      {"f32(2):flip(4294967296)", "axis 4294967296 is out of range"},  // case L13
      {"f32(2,3):transpose(0,-4294967295)", "axis -4294967295 is out of range"},
      {"f32(2,3):squeeze(9223372036854775807)", "axis 9223372036854775807 is out of range"},
      {"f32(2,3):unsqueeze(99999999999999999999)", "expected an integer"},
      {"f32(2,3):transpose(1)", "transpose takes 2 numbers, 1 given"},
  };
  for (const Wrong& wrong : kWrong) {
    try {
      OperandText text(wrong.text);
      ADD_FAILURE() << wrong.text << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User) << wrong.text;
      EXPECT_NE(std::string(error.what()).find(wrong.words), std::string::npos) << wrong.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace strider
