#include "row/row_layout.h"

#include <gtest/gtest.h>

#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

constexpr int128 kWide = int128{1} << 100;

// Columns: numerics and, beside them, strings, whose slots follow.
class RowLayoutTest : public testing::Test {
 protected:
  RowLayoutTest() : layout_({PENUMBRA_NUMERIC, PENUMBRA_TEXT}) {}

  Vector Numerics(const std::vector<Decimal>& values, uint64_t validity) {
    NumericWriter writer(static_cast<uint32_t>(values.size()), arena_);
    for (uint32_t i = 0; i < values.size(); ++i) {
      if ((validity >> i) & 1) writer.SetDecimal(i, values[i]);
    }
    return writer.Finish();
  }

  void Add(const std::vector<Decimal>& values, uint64_t validity) {
    Vector columns[2] = {Numerics(values, validity), {}};
    auto* strings = arena_.AllocateArray<StringRef>(values.size());
    const size_t first = rows_.size();
    for (size_t i = 0; i < values.size(); ++i) {
      strings[i] = StringRef(i % 2 == 0 ? "short" : "a string that the slot does not hold");
      char* row = static_cast<char*>(arena_.Allocate(layout_.row_bytes()));
      std::memset(row, 0, layout_.row_bytes());
      rows_.push_back(row);
      const bool is_valid = (validity >> i) & 1;
      expected_.push_back(is_valid ? std::string(values[i].ToPayload(arena_).view()) : "null");
    }
    columns[1].type = PENUMBRA_TEXT;
    columns[1].data = strings;
    layout_.Write(columns, {nullptr, static_cast<uint32_t>(values.size())}, &rows_[first], arena_);
  }
  void ExpectRows(const std::vector<char*>& rows) {
    const auto count = static_cast<uint32_t>(rows.size());
    const Vector numerics = layout_.Read(0, rows.data(), count, arena_);
    const Vector strings = layout_.Read(1, rows.data(), count, arena_);
    for (uint32_t i = 0; i < count; ++i) {
      const bool is_valid = numerics.IsValid(i);
      EXPECT_EQ(is_valid ? std::string(PayloadAt(numerics, i, arena_).view()) : "null", expected_[i]) << i;
      if (is_valid) {
        EXPECT_EQ(layout_.GetNumeric(rows[i], 0).ToDecimal().ToPayload(arena_).view(), expected_[i]) << i;
      }
      EXPECT_EQ(strings.values<StringRef>()[i].view().substr(0, 1), i % 2 == 0 ? "s" : "a") << i;
    }
  }

  RowLayout layout_;
  Arena arena_;
  std::vector<char*> rows_;
  std::vector<std::string> expected_;
};

TEST_F(RowLayoutTest, NumericsOfOneScaleTakeEightBytes) {
  Add({Decimal::FromInteger(-5, 2), Decimal::FromInteger(0, 2), Decimal::FromInteger(int128{1} << 61, 2),
       Decimal::FromInteger(-(int128{1} << 61), 2)},
      0b1011);
  ExpectRows(rows_);
  EXPECT_EQ(layout_.row_bytes(), 32u);  // null bits, 8 and 16 bytes
  const Vector read = layout_.Read(0, rows_.data(), 4, arena_);
  EXPECT_EQ(read.numeric_form, NumericForm::kInt64);
  EXPECT_EQ(read.scale, 2);
}

TEST_F(RowLayoutTest, NumericsOfOtherScalesAndWidths) {
  const int128 limit = int128{1} << 62;
  Add({Decimal::FromInteger(7, 2), Decimal::FromInteger(limit - 1, 2)}, 0b11);
  Add({Decimal::FromInteger(limit, 2), Decimal::FromInteger(-limit, 2)}, 0b11);
  Add({Decimal::FromInteger(INT64_MAX, 2), Decimal::FromInteger(INT64_MIN, 2)}, 0b10);
  Add({Decimal::FromInteger(7, 3), Decimal::FromInteger(-7, 3)}, 0b11);
  Add({Decimal::FromInteger(kWide, 2), Decimal::FromInteger(-kWide, 2)}, 0b11);
  Add({Decimal::FromPayload(Decimal::FromInteger(kWide, 30).ToPayload(arena_).view()), Decimal::FromInteger(7, 2)},
      0b11);
  ExpectRows(rows_);

  std::vector<char*> copies, loaded, pointing;
  std::vector<std::vector<char>> saved(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    copies.push_back(layout_.Copy(rows_[i], arena_));
    layout_.SaveStrings(rows_[i], &saved[i]);
    saved[i].resize(saved[i].size() + 16);
    for (Arena* arena : {&arena_, static_cast<Arena*>(nullptr)}) {
      char* row = static_cast<char*>(arena_.Allocate(layout_.row_bytes()));
      std::memcpy(row, rows_[i], layout_.row_bytes());
      const char* end = layout_.LoadStrings(row, saved[i].data(), arena);
      EXPECT_EQ(end, saved[i].data() + saved[i].size() - 16);
      (arena == nullptr ? pointing : loaded).push_back(row);
    }
  }
  ExpectRows(copies);
  ExpectRows(pointing);
  for (std::vector<char>& bytes : saved) bytes.assign(bytes.size(), 'x');
  ExpectRows(loaded);
}

TEST_F(RowLayoutTest, AColumnOfNullsHasNoScale) {
  Add({Decimal::FromInteger(1), Decimal::FromInteger(2)}, 0);
  ExpectRows(rows_);
}

}  // namespace
}  // namespace penumbra
