// Predicates on encoded data against Evaluate() on the rows.
#include "scan/scan_predicate.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "function/registry.h"
#include "kernels/kernels.h"
#include "random_columns.h"
#include "segment/segment.h"
#include "segment/segment_format.h"
#include "vector/error.h"

namespace penumbra {
namespace {

// Builds expressions over one column and keeps them.
class Builder {
 public:
  Builder(PenumbraType type, int column) : type_(type), column_(column) {}

  const Expr* Column() { return Keep(BuildColumn(column_, type_)); }
  const Expr* Constant(const PenumbraValue& value) { return Keep(BuildConstant(type_, value)); }
  const Expr* Constant(PenumbraType type, const PenumbraValue& value) { return Keep(BuildConstant(type, value)); }
  const Expr* List(const std::vector<PenumbraValue>& values) {
    std::vector<uint64_t> words;
    std::vector<uint32_t> lengths;
    std::vector<uint8_t> nulls;
    for (const PenumbraValue& value : values) {
      words.push_back(Word(value));
      lengths.push_back(value.bytes_length);
      nulls.push_back(value.is_null);
    }
    return Keep(BuildList(type_, {words.data(), lengths.data(), nulls.data()}, static_cast<uint32_t>(values.size())));
  }
  const Expr* Text(const std::string& bytes) {
    PenumbraValue value = {};
    value.bytes = bytes.data();
    value.bytes_length = static_cast<uint32_t>(bytes.size());
    return Keep(BuildConstant(PENUMBRA_TEXT, value));
  }
  const Expr* Call(PenumbraFunction function, std::vector<const Expr*> args, PenumbraType result = PENUMBRA_BOOL) {
    std::string reason;
    std::unique_ptr<Expr> expr = BuildCall(function, result, args, session_, &reason);
    return expr == nullptr ? nullptr : Keep(std::move(expr));
  }
  const Session& session() const { return session_; }

 private:
  // As in a PenumbraColumnInput.
  uint64_t Word(const PenumbraValue& value) const {
    switch (type_) {
      case PENUMBRA_FLOAT4: return std::bit_cast<uint32_t>(static_cast<float>(value.real));
      case PENUMBRA_FLOAT8: return std::bit_cast<uint64_t>(value.real);
      case PENUMBRA_INTERVAL: return reinterpret_cast<uint64_t>(&value.interval);
      case PENUMBRA_NUMERIC:
      case PENUMBRA_TEXT:
      case PENUMBRA_BPCHAR:
      case PENUMBRA_UUID: return reinterpret_cast<uint64_t>(value.bytes);
      default: return static_cast<uint64_t>(value.integer);
    }
  }
  const Expr* Keep(std::unique_ptr<Expr> expr) {
    kept_.push_back(std::move(expr));
    return kept_.back().get();
  }
  PenumbraType type_;
  int column_;
  Session session_;
  std::vector<std::unique_ptr<Expr>> kept_;
};

// Random conditions whose constants are mostly values of the column or near them.
class RandomPredicates {
 public:
  RandomPredicates(const TestColumn& column, RandomColumns& random, Builder& builder)
      : column_(column), random_(random), builder_(builder) {}

  const Expr* Make(int depth = 0) {
    if (IsStringType(column_.type()) && random_.Next() % 3 == 0) return Like();
    const uint64_t r = random_.Next() % (depth == 0 ? 14 : 9);
    if (r < 6) {
      const auto function = static_cast<PenumbraFunction>(PENUMBRA_FN_EQ + r);
      std::vector<const Expr*> args = {builder_.Column(), builder_.Constant(Value())};
      if (random_.Next() % 4 == 0) std::swap(args[0], args[1]);
      return builder_.Call(function, args);
    }
    if (r < 8) {
      const std::vector<PenumbraValue> values = Values(1 + random_.Next() % (random_.Next() % 16 == 0 ? 3000 : 12));
      std::vector<const Expr*> args = {builder_.Column()};
      if (random_.Next() % 2 == 0) {
        args.push_back(builder_.List(values));
      } else {
        for (const PenumbraValue& value : values) args.push_back(builder_.Constant(value));
      }
      return builder_.Call(r == 6 ? PENUMBRA_FN_IN_LIST : PENUMBRA_FN_NOT_IN_LIST, args);
    }
    if (r == 8) {
      return builder_.Call(random_.Next() % 2 == 0 ? PENUMBRA_FN_IS_NULL : PENUMBRA_FN_IS_NOT_NULL,
                           {builder_.Column()});
    }
    const Expr* a = Make(1);
    const Expr* b = Make(1);
    if (a == nullptr || b == nullptr) return nullptr;
    if (r < 12) return builder_.Call(r < 10 ? PENUMBRA_FN_AND : PENUMBRA_FN_OR, {a, b});
    return builder_.Call(PENUMBRA_FN_NOT, {a});
  }
  std::vector<PenumbraValue> Values(uint64_t count) {
    std::vector<PenumbraValue> values;
    while (values.size() < count) values.push_back(Value());
    return values;
  }

 private:
  const Expr* Like() {
    const uint64_t r = random_.Next();
    const Expr* text = builder_.Column();
    if (r % 5 == 0 && column_.type() == PENUMBRA_TEXT) text = builder_.Call(PENUMBRA_FN_LOWER, {text}, PENUMBRA_TEXT);
    const PenumbraFunction functions[] = {PENUMBRA_FN_LIKE, PENUMBRA_FN_NOT_LIKE, PENUMBRA_FN_ILIKE,
                                          PENUMBRA_FN_NOT_ILIKE};
    return builder_.Call(functions[r / 8 % 4], {text, builder_.Text(Pattern())});
  }
  // Parts of a value of the column, in their order, with wildcards between them.
  std::string Pattern() {
    const uint32_t row = static_cast<uint32_t>(random_.Next() % column_.rows());
    const std::string value = column_.is_null(row) ? "" : column_.bytes(row);
    std::string pattern = random_.Next() % 2 == 0 ? "%" : "";
    for (size_t from = pattern.empty() ? 0 : random_.Next() % (value.size() + 1); from < value.size();) {
      const size_t length = 1 + random_.Next() % (random_.Next() % 4 == 0 ? 40 : 6);
      for (char c : value.substr(from, length)) {
        if (c == '%' || c == '_' || c == '\\') pattern += '\\';
        pattern += random_.Next() % 40 == 0 ? '_' : random_.Next() % 40 == 0 ? '?' : c;
      }
      from += length + random_.Next() % 10;
      if (from < value.size() || random_.Next() % 2 == 0) pattern += '%';
      if (random_.Next() % 3 == 0) break;
    }
    return pattern;
  }
  PenumbraValue Value() {
    PenumbraValue value = {};
    const uint64_t r = random_.Next();
    const uint32_t row = static_cast<uint32_t>(r % column_.rows());
    if (column_.is_null(row) || r % 97 == 0) {
      value.is_null = r % 3 == 0;
      if (!value.is_null) return OfOtherKind();
      return value;
    }
    const PenumbraType type = column_.type();
    if (type == PENUMBRA_FLOAT4) {
      float real;
      std::memcpy(&real, &Bits(row), sizeof(real));
      value.real = random_.Next() % 4 == 0 ? real + 0.1f : real;
    } else if (type == PENUMBRA_FLOAT8) {
      std::memcpy(&value.real, &Bits(row), sizeof(value.real));
      if (random_.Next() % 4 == 0) value.real += 0.1;
    } else if (column_.is_pointer()) {
      bytes_.push_back(column_.bytes(row));
      if (IsStringType(type)) ChangeText(&bytes_.back());
      if (type == PENUMBRA_NUMERIC && random_.Next() % 3 == 0) ChangeNumeric(&bytes_.back());
      SetBytes(&value);
    } else {
      uint64_t bits = column_.bits(row);  // unsigned: the greatest value has a neighbour too
      if (type != PENUMBRA_BOOL && random_.Next() % 3 == 0) bits += random_.Next() % 3 - 1;
      value.integer = static_cast<int64_t>(bits);
      if (FlatWidth(type, NumericForm::kInt64) == 2) value.integer = static_cast<int16_t>(value.integer);
      if (FlatWidth(type, NumericForm::kInt64) == 4) value.integer = static_cast<int32_t>(value.integer);
    }
    return value;
  }
  PenumbraValue OfOtherKind() {
    PenumbraValue value = {};
    value.real = std::numeric_limits<double>::quiet_NaN();
    Arena arena;
    const char* numerics[] = {"NaN", "-Infinity", "0", "0.00001", "-12345678901234567890123456789.5", "1e60"};
    bytes_.push_back(column_.type() == PENUMBRA_NUMERIC
                         ? std::string(Decimal::FromString(numerics[random_.Next() % 6]).ToPayload(arena).view())
                         : std::string(16, '\0'));
    SetBytes(&value);
    return value;
  }
  const uint64_t& Bits(uint32_t row) { return bits_ = column_.bits(row); }
  void SetBytes(PenumbraValue* value) {
    value->bytes = bytes_.back().data();
    value->bytes_length = static_cast<uint32_t>(bytes_.back().size());
    if (column_.type() == PENUMBRA_INTERVAL) std::memcpy(&value->interval, bytes_.back().data(), 16);
  }
  void ChangeText(std::string* text) {
    switch (random_.Next() % 6) {
      case 0: *text += ' '; break;
      case 1: text->resize(text->size() / 2); break;
      case 2: *text += 'z'; break;
      default: break;
    }
  }
  void ChangeNumeric(std::string* payload) {
    Arena arena;
    const Decimal changed = Decimal::Add(Decimal::FromPayload(*payload), Decimal::FromString("0.005"));
    *payload = std::string(changed.ToPayload(arena).view());
  }

  const TestColumn& column_;
  RandomColumns& random_;
  Builder& builder_;
  std::deque<std::string> bytes_;
  uint64_t bits_ = 0;
};

struct Counts {
  std::map<std::string, int> bound;  // by encoding
  std::set<std::pair<std::string, Verdict>> verdicts;
  int skipped_vectors = 0;
};

// Which rows pass, from the rows themselves.
std::vector<uint8_t> Expected(const Expr& expr, const Rows& rows, int column, const Session& session) {
  std::vector<uint8_t> passes(rows.row_count());
  for (uint32_t begin = 0; begin < rows.row_count(); begin += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, rows.row_count() - begin);
    Arena arena;
    EvalContext context{arena, session};
    std::vector<Vector> columns(static_cast<size_t>(column) + 1);
    columns[column] = rows.Slice(0, begin, count, arena);
    const Batch batch = {count, static_cast<uint32_t>(columns.size()), columns.data()};
    std::vector<uint16_t> selected(kVectorRows);
    const uint32_t n = EvaluateFilter(expr, batch, context, selected.data());
    for (uint32_t i = 0; i < n; ++i) passes[begin + selected[i]] = 1;
  }
  return passes;
}

void ExpectVerdict(Verdict verdict, const std::vector<uint8_t>& passes, uint32_t begin, uint32_t count) {
  for (uint32_t row = begin; row < begin + count; ++row) {
    if (verdict == Verdict::kNone) {
      ASSERT_EQ(passes[row], 0) << "row " << row;
    } else if (verdict == Verdict::kAll) {
      ASSERT_EQ(passes[row], 1) << "row " << row;
    }
  }
}

void CheckPredicate(const Expr& expr, const Rows& rows, const void* segment, int column, const Session& session,
                    RandomColumns& random, Counts* counts) {
  const std::unique_ptr<ScanPredicate> predicate = ScanPredicate::Compile(expr);
  if (predicate == nullptr) return;
  ASSERT_EQ(predicate->column(), column);
  const std::vector<uint8_t> passes = Expected(expr, rows, column, session);
  Arena reader_arena, arena;
  const SegmentReader reader(segment, &reader_arena);
  EvalContext context{reader_arena, session};
  const Verdict verdict = predicate->Check(reader.zone_map());
  counts->verdicts.insert({EncodingName(segment), verdict});
  ExpectVerdict(verdict, passes, 0, rows.row_count());
  const std::unique_ptr<ScanPredicate::Bound> bound = predicate->Bind(reader, context);
  if (bound == nullptr) return;
  ++counts->bound[EncodingName(segment)];
  for (uint32_t begin = 0; begin < rows.row_count();) {
    const uint32_t to_next_vector = kVectorRows - begin % kVectorRows;
    const uint32_t wanted =
        random.Next() % 2 == 0 ? to_next_vector : 1 + static_cast<uint32_t>(random.Next() % kVectorRows);
    const uint32_t count = std::min(rows.row_count() - begin, wanted);
    const Verdict part = bound->Check(begin, count);
    counts->skipped_vectors += part == Verdict::kNone;
    ExpectVerdict(part, passes, begin, count);
    uint64_t bits[kValidityWords], before[kValidityWords];
    for (uint64_t& word : bits) word = random.Next() | random.Next();
    for (size_t w = 0; w < kernels::BitmapWords(count); ++w) before[w] = bits[w];
    EvalContext apply_context{arena, session};
    bound->Apply(begin, count, bits, apply_context);
    for (uint32_t i = 0; i < count; ++i) {
      const bool was = (before[i / 64] >> (i % 64)) & 1;
      const bool is = (bits[i / 64] >> (i % 64)) & 1;
      ASSERT_EQ(is, was && passes[begin + i] != 0) << "row " << begin + i;
    }
    begin += count;
  }
}

TEST(ScanPredicateTest, AgreesWithEvaluation) {
  RandomColumns random(11);
  Counts counts;
  constexpr int kColumn = 2;
  for (PenumbraType type : kColumnTypes) {
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      for (int null_percent : {0, 15}) {
        for (uint32_t row_count : {500u, 9000u}) {
          const TestColumn column = random.Make(type, static_cast<Shape>(shape), row_count, null_percent);
          const Rows rows = MakeRows(column);
          size_t bytes;
          const std::unique_ptr<void, decltype(&std::free)> segment(EncodeSegment(rows, 0, &bytes), &std::free);
          Builder builder(type, kColumn);
          RandomPredicates predicates(column, random, builder);
          for (int i = 0; i < 40; ++i) {
            SCOPED_TRACE(testing::Message() << "type " << type << " shape " << shape << " nulls " << null_percent
                                            << "% rows " << row_count << " predicate " << i);
            const Expr* expr = predicates.Make();
            if (expr == nullptr || expr->kind == Expr::Kind::kConstant) continue;
            CheckPredicate(*expr, rows, segment.get(), kColumn, builder.session(), random, &counts);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
  for (const char* encoding : {"constant", "for1", "for2", "for4", "plain", "dictionary", "lz4"}) {
    EXPECT_GT(counts.bound[encoding], 50) << encoding;
    for (Verdict verdict : {Verdict::kNone, Verdict::kSome, Verdict::kAll}) {
      EXPECT_TRUE(counts.verdicts.count({encoding, verdict}) > 0) << encoding << " " << static_cast<int>(verdict);
    }
  }
  EXPECT_GT(counts.skipped_vectors, 100);
}

// Ranges and multiranges as strings (penumbra/types.h), with bounds near a value that rises with the rows.
class RandomRanges {
 public:
  RandomRanges(int form, int finite_percent, RandomColumns& random)
      : form_(form), finite_percent_(static_cast<uint64_t>(finite_percent)), random_(random) {}

  PenumbraType type() const { return form_ == PENUMBRA_RANGE_OF_NUMERIC ? PENUMBRA_BPCHAR : PENUMBRA_TEXT; }
  std::string Make(int64_t near, bool is_multirange = false) {
    std::string image = form_ == PENUMBRA_RANGE_OF_NUMERIC ? "" : "\3";
    if (random_.Next() % 100 < finite_percent_) return image + Range(near, near + 1 + Small(9), true, true);
    if (!is_multirange && random_.Next() % 8 > 0) {
      return random_.Next() % 8 == 0 ? image + '\0'
                                     : image + Range(near, near + 1 + Small(9), Small(4) > 0, Small(4) > 0);
    }
    const int64_t count = Small(4);
    for (int64_t i = 0; i < count; ++i) {
      image += Range(near, near + 1 + Small(3), i > 0 || Small(4) > 0, i + 1 < count || Small(4) > 0);
      near += 5 + Small(9);
    }
    return image;
  }
  PenumbraValue Value(int64_t near) {
    PenumbraValue value = {};
    value.integer = near + Small(9);
    return value;
  }

 private:
  int64_t Small(uint64_t count) { return static_cast<int64_t>(random_.Next() % count); }
  std::string Range(int64_t begin, int64_t end, bool has_begin, bool has_end) {
    return '\1' + (has_begin ? Bound(begin) : std::string(1, '\0')) + (has_end ? Bound(end) : std::string(1, '\2'));
  }
  std::string Bound(int64_t value) {
    std::string bytes = "\1";
    if (form_ == PENUMBRA_RANGE_OF_NUMERIC) {
      const auto high = value / 100 + 1, low = value % 100 + 1;
      const char digits[] = {
          3, '\x80', 0, static_cast<char>(high >> 8), static_cast<char>(high), 0, static_cast<char>(low), 0, 0};
      bytes.append(digits, sizeof(digits));
    } else {
      const uint64_t number = static_cast<uint64_t>(value) ^ uint64_t { 1 } << (8 * form_ - 1);
      for (int byte = form_ - 1; byte >= 0; --byte) bytes += static_cast<char>(number >> (8 * byte));
    }
    return bytes + static_cast<char>(Small(3) == 0);
  }

  const int form_;
  const uint64_t finite_percent_;
  RandomColumns& random_;
};

// What was changed is refused, or is read without leaving its bytes.
void CheckCorrupted(const Expr& expr, const void* segment, size_t bytes, const Session& session,
                    RandomColumns& random) {
  const std::unique_ptr<ScanPredicate> predicate = ScanPredicate::Compile(expr);
  const std::unique_ptr<void, decltype(&std::free)> copy(std::aligned_alloc(64, bytes), &std::free);
  char* begin = static_cast<char*>(copy.get());
  std::memcpy(begin, segment, bytes);
  for (uint64_t flips = 1 + random.Next() % 3; flips > 0; --flips) {
    const size_t where = random.Next() % (random.Next() % 2 == 0 ? sizeof(SegmentHeader) : bytes);
    begin[where] = static_cast<char>(begin[where] ^ (1 << random.Next() % 8));
  }
  try {
    CheckSegment(begin, bytes);
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), PENUMBRA_CORRUPT);
    return;
  }
  Arena arena;
  const SegmentReader reader(begin, &arena);
  EvalContext context{arena, session};
  predicate->Check(reader.zone_map());
  const std::unique_ptr<ScanPredicate::Bound> bound = predicate->Bind(reader, context);
  if (bound == nullptr) return;
  for (uint32_t row = 0; row < reader.rows(); row += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, reader.rows() - row);
    uint64_t bits[kValidityWords];
    kernels::SetBits(bits, count);
    bound->Check(row, count);
    bound->Apply(row, count, bits, context);
  }
}

void CheckRangeConditions(int form, int finite_percent, int null_percent, uint32_t distinct, RandomColumns& random,
                          Counts* counts) {
  constexpr uint32_t kRows = 9000;
  RandomRanges ranges(form, finite_percent, random);
  TestColumn column(ranges.type());
  for (uint32_t row = 0; row < kRows; ++row) {
    if (random.Next() % 100 < static_cast<uint64_t>(null_percent)) {
      column.AddNull();
    } else if (row >= distinct) {
      const uint32_t other = static_cast<uint32_t>(random.Next() % distinct);
      column.is_null(other) ? column.AddNull() : column.AddBytes(column.bytes(other));
    } else {
      column.AddBytes(ranges.Make(row));
    }
  }
  const Rows rows = MakeRows(column);
  size_t bytes;
  const std::unique_ptr<void, decltype(&std::free)> segment(EncodeSegment(rows, 0, &bytes), &std::free);
  CheckSegment(segment.get(), bytes);
  Builder builder(ranges.type(), 0);
  const PenumbraType value_type = form == 8 ? PENUMBRA_TIMESTAMP : PENUMBRA_DATE;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(testing::Message() << "form " << form << " finite " << finite_percent << "% nulls " << null_percent
                                    << "% distinct " << distinct << " condition " << i);
    const int64_t near = static_cast<int64_t>(random.Next() % kRows);
    std::string image = ranges.Make(near, random.Next() % 4 == 0);
    PenumbraValue value = ranges.Value(near);
    value.bytes = image.data();
    value.bytes_length = static_cast<uint32_t>(image.size());
    const Expr* form_argument = builder.Constant(PENUMBRA_INT4, {.integer = form});
    const bool is_numeric = form == PENUMBRA_RANGE_OF_NUMERIC;
    const uint64_t kind = random.Next() % (is_numeric ? 6 : 8);
    const Expr* expr;
    if (kind < 6) {
      const Expr* other =
          is_numeric || random.Next() % 3 > 0 ? builder.Constant(value) : builder.Constant(value_type, value);
      std::vector<const Expr*> args = {builder.Column(), other, form_argument};
      if (random.Next() % 2 == 0) std::swap(args[0], args[1]);
      expr = builder.Call(static_cast<PenumbraFunction>(PENUMBRA_FN_RANGE_CONTAINS + kind), args);
    } else {
      const PenumbraFunction function = kind == 6 ? PENUMBRA_FN_RANGE_LOWER : PENUMBRA_FN_RANGE_UPPER;
      std::vector<const Expr*> args = {builder.Call(function, {builder.Column(), form_argument}, value_type),
                                       builder.Constant(value_type, value)};
      if (random.Next() % 2 == 0) std::swap(args[0], args[1]);
      expr = builder.Call(static_cast<PenumbraFunction>(PENUMBRA_FN_EQ + random.Next() % 6), args);
    }
    ASSERT_NE(expr, nullptr);
    CheckPredicate(*expr, rows, segment.get(), 0, builder.session(), random, counts);
    if (testing::Test::HasFatalFailure()) return;
    CheckCorrupted(*expr, segment.get(), bytes, builder.session(), random);
  }
}

TEST(ScanPredicateTest, RangesAgreeWithEvaluation) {
  RandomColumns random(13);
  Counts counts;
  for (int form : {PENUMBRA_RANGE_OF_INT4, PENUMBRA_RANGE_OF_INT8, PENUMBRA_RANGE_OF_NUMERIC}) {
    for (int finite_percent : {0, 90, 100}) {
      for (int null_percent : {0, 10}) {
        for (uint32_t distinct : {9000u, 300u}) {
          CheckRangeConditions(form, finite_percent, null_percent, distinct, random, &counts);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  for (const char* encoding : {"plain", "dictionary"}) {
    EXPECT_GT(counts.bound[encoding], 1000) << encoding;
    EXPECT_TRUE(counts.verdicts.count({encoding, Verdict::kNone}) > 0) << encoding;
  }
  EXPECT_GT(counts.skipped_vectors, 1000);
}

// x IN (list) is x = e1 OR x = e2 ..., and so is x IN (e1, e2 ...), whatever the count makes of it.
TEST(ScanPredicateTest, AListIsItsElements) {
  RandomColumns random(12);
  for (PenumbraType type : kColumnTypes) {
    for (uint64_t count : {0, 1, 3, 9, 40, 2000}) {
      SCOPED_TRACE(testing::Message() << "type " << type << " elements " << count);
      const TestColumn column =
          random.Make(type, static_cast<Shape>(random.Next() % static_cast<int>(Shape::kCount)), kVectorRows, 10);
      const Rows rows = MakeRows(column);
      Builder builder(type, 0);
      RandomPredicates predicates(column, random, builder);  // has the bytes of its values
      const std::vector<PenumbraValue> values = predicates.Values(count);
      std::vector<const Expr*> args = {builder.Column()};
      for (const PenumbraValue& value : values) args.push_back(builder.Constant(value));
      Arena arena;
      EvalContext context{arena, builder.session()};
      const Vector data = rows.Slice(0, 0, kVectorRows, arena);
      const Batch batch = {kVectorRows, 1, &data};
      Truth expected = {};
      bool has_null = false;
      for (size_t i = 1; i < args.size(); ++i) {
        Truth equal;
        has_null |= args[i]->constant.is_null_constant();
        EvaluateTruth(*builder.Call(PENUMBRA_FN_EQ, {args[0], args[i]}), batch, context, &equal);
        kernels::OrBits(expected.is_true, equal.is_true, kVectorRows);
      }
      for (const std::vector<const Expr*>& given : {args, {args[0], builder.List(values)}}) {
        Truth in, not_in;
        EvaluateTruth(*builder.Call(PENUMBRA_FN_IN_LIST, given), batch, context, &in);
        EvaluateTruth(*builder.Call(PENUMBRA_FN_NOT_IN_LIST, given), batch, context, &not_in);
        for (uint32_t row = 0; row < kVectorRows; ++row) {
          const bool is_equal = IsBitSet(expected.is_true, row);
          const bool is_null = count > 0 && !is_equal && (has_null || !data.IsValid(row));
          ASSERT_EQ(IsBitSet(in.is_true, row), is_equal) << "row " << row;
          ASSERT_EQ(IsBitSet(not_in.is_true, row), !is_equal && !is_null) << "row " << row;
          ASSERT_EQ(in.has_nulls && IsBitSet(in.is_null, row), is_null) << "row " << row;
          ASSERT_EQ(not_in.has_nulls && IsBitSet(not_in.is_null, row), is_null) << "row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace penumbra
