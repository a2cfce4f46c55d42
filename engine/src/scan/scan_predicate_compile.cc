// Conditions on one column, evaluated on encoded data. See segment.h; what is tried for which
// encoding is in the README.
#include <algorithm>
#include <map>
#include <mutex>

#include "expression/code_domain.h"
#include "function/collation.h"
#include "kernels/kernels.h"
#include "scan/like_search.h"
#include "scan/range_condition.h"
#include "scan/regex_search.h"
#include "scan/scan_predicate_bound.h"
#include "scan/scan_predicate_ranges.h"
#include "segment/segment.h"
#include "segment/segment_format.h"
#include "vector/arena.h"

namespace penumbra {
namespace {

// The type of the one column that the expression reads.
bool FindColumnType(const Expr& expr, PenumbraType* type) {
  if (expr.kind == Expr::Kind::kColumn) {
    *type = expr.type;
    return true;
  }
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const Expr* arg) { return FindColumnType(*arg, type); });
}

bool IsNullTest(const Expr& expr) {
  return expr.kind == Expr::Kind::kCall &&
         (expr.function == PENUMBRA_FN_IS_NULL || expr.function == PENUMBRA_FN_IS_NOT_NULL) &&
         expr.args[0]->kind == Expr::Kind::kColumn;
}

// col = 'text' or col <> 'text', either way round: the text.
const Vector* FindEqualText(const Expr& expr) {
  if (expr.kind != Expr::Kind::kCall || (expr.function != PENUMBRA_FN_EQ && expr.function != PENUMBRA_FN_NE)) {
    return nullptr;
  }
  const Expr* column = expr.args[0];
  const Expr* constant = expr.args[1];
  if (column->kind == Expr::Kind::kConstant) std::swap(column, constant);
  if (column->kind != Expr::Kind::kColumn || constant->kind != Expr::Kind::kConstant || column->type != PENUMBRA_TEXT ||
      constant->type != PENUMBRA_TEXT || constant->constant.is_null_constant()) {
    return nullptr;
  }
  return &constant->constant;
}

// col LIKE 'pattern' or the like, also of lower(col), which is what folds.
std::unique_ptr<const TextSearch> FindLike(const Expr& expr) {
  const LikePattern* pattern = ConstantPattern(expr);
  if (pattern == nullptr) return nullptr;
  const Expr* text = expr.args[0];
  const LetterCase* letter_case = IsFoldingLike(expr.function) ? &LetterCaseOf(expr.collation) : nullptr;
  if (text->kind == Expr::Kind::kCall && text->function == PENUMBRA_FN_LOWER) {
    // Folding by two collations is not folding by one.
    if (letter_case != nullptr && text->collation != expr.collation) return nullptr;
    letter_case = &LetterCaseOf(text->collation);
    text = text->args[0];
  }
  if (text->kind != Expr::Kind::kColumn || !IsStringType(text->type)) return nullptr;
  return std::make_unique<const LikeSearch>(*pattern, letter_case);
}

std::unique_ptr<const TextSearch> FindSearch(const Expr& expr) {
  if (const RegexPattern* pattern = FindRegexMatch(expr)) {
    if (expr.args[0]->kind != Expr::Kind::kColumn) return nullptr;
    return std::make_unique<const RegexSearch>(*pattern);
  }
  return FindLike(expr);
}

bool IsNegatedSearch(PenumbraFunction function) {
  return function == PENUMBRA_FN_REGEX_MATCHES_NOT || IsNegatedLike(function);
}

KeyDomain DomainOf(PenumbraType type, int scale) {
  switch (type) {
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: return {KeyKind::kFloat, type, 0};
    case PENUMBRA_NUMERIC: return {KeyKind::kNumeric, type, scale};
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
    case PENUMBRA_UUID: return {KeyKind::kPrefix, type, 0};
    default: return {KeyKind::kInteger, type, 0};
  }
}

class ColumnPredicate final : public ScanPredicate {
 public:
  ColumnPredicate(const Expr& expr, int column, PenumbraType type)
      : expr_(expr),
        column_(column),
        type_(type),
        search_(FindSearch(expr)),
        range_condition_(RangeCondition::Find(expr)) {
    // The ranges of a numeric depend on the scale of each segment.
    if (type != PENUMBRA_INTERVAL && type != PENUMBRA_NUMERIC) ranges_ = CompileRanges(expr, DomainOf(type, 0));
  }

  int column() const override { return column_; }
  Verdict Check(const PenumbraZoneMap& zone_map) const override;
  std::unique_ptr<Bound> Bind(const SegmentReader& reader, EvalContext& context) const override;

 private:
  // In the keys of this segment.
  const std::optional<RangeSet>& RangesFor(NumericForm form, int scale) const;
  BoundPredicate BindConstant(const SegmentReader& reader, EvalContext& context) const;
  BoundPredicate BindValues(const SegmentReader& reader, EvalContext& context) const;
  bool IsTrueForNull(EvalContext& context) const;
  // Appends the truth of each of `values`, flat without nulls.
  void EvaluateValues(const Vector& values, uint32_t count, EvalContext& context, std::vector<uint8_t>* truth) const;
  std::vector<uint8_t> EvaluateCodes(const SegmentView& segment, uint32_t codes, EvalContext& context) const;

  const Expr& expr_;
  const int column_;
  const PenumbraType type_;
  std::optional<RangeSet> ranges_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::optional<RangeSet>> ranges_by_scale_;
  const std::unique_ptr<const TextSearch> search_;
  const std::unique_ptr<const RangeCondition> range_condition_;
};

const std::optional<RangeSet>& ColumnPredicate::RangesFor(NumericForm form, int scale) const {
  if (type_ != PENUMBRA_NUMERIC || form != NumericForm::kInt64) return ranges_;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, is_new] = ranges_by_scale_.try_emplace(scale);
  if (is_new) found->second = CompileRanges(expr_, DomainOf(type_, scale));
  return found->second;
}

Verdict ColumnPredicate::Check(const PenumbraZoneMap& zone_map) const {
  if (zone_map.rows == 0) return Verdict::kNone;
  if (IsNullTest(expr_)) {
    const bool nulls_pass = expr_.function == PENUMBRA_FN_IS_NULL;
    if (zone_map.null_count == 0) return nulls_pass ? Verdict::kNone : Verdict::kAll;
    if (zone_map.null_count == zone_map.rows) return nulls_pass ? Verdict::kAll : Verdict::kNone;
    return Verdict::kSome;
  }
  if (range_condition_ != nullptr) return range_condition_->Check(zone_map.ranges, zone_map.null_count > 0);
  const std::optional<RangeSet>& ranges = RangesFor(static_cast<NumericForm>(zone_map.numeric_form), zone_map.scale);
  if (!ranges) return Verdict::kSome;
  if (zone_map.null_count == zone_map.rows) return Verdict::kNone;
  if ((zone_map.flags & kHasBounds) == 0) return Verdict::kSome;
  if (!ranges->Overlaps(zone_map.least, zone_map.greatest)) return Verdict::kNone;
  const bool is_exact = (zone_map.flags & kExactBounds) != 0;
  if (is_exact && zone_map.null_count == 0 && ranges->Contains(zone_map.least, zone_map.greatest)) return Verdict::kAll;
  return Verdict::kSome;
}

bool ColumnPredicate::IsTrueForNull(EvalContext& context) const {
  Vector null;
  null.type = type_;
  null.form = VectorForm::kConstant;
  EvalContext local = context.In(context.arena);
  Truth truth;
  EvaluateOnColumn({expr_, column_}, null, 1, local, &truth);
  return (truth.is_true[0] & 1) != 0;
}

void ColumnPredicate::EvaluateValues(const Vector& values, uint32_t count, EvalContext& context,
                                     std::vector<uint8_t>* truth) const {
  Arena arena;
  EvalContext local = context.In(arena);
  const uint32_t width = FlatWidth(values);
  for (uint32_t begin = 0; begin < count; begin += kVectorRows) {
    const uint32_t rows = std::min(kVectorRows, count - begin);
    Vector part = values;
    part.data = values.values<char>() + size_t{begin} * width;
    Truth part_truth;
    EvaluateOnColumn({expr_, column_}, part, rows, local, &part_truth);
    const size_t before = truth->size();
    truth->resize(before + rows);
    kernels::BitsToBytes(part_truth.is_true, rows, truth->data() + before);
    arena.Reset();
  }
}

// A frame is a dictionary whose entries need not be stored.
std::vector<uint8_t> ColumnPredicate::EvaluateCodes(const SegmentView& segment, uint32_t codes,
                                                    EvalContext& context) const {
  const SegmentHeader& header = segment.header();
  std::vector<uint8_t> truth;
  std::vector<uint64_t> memory(kVectorRows);
  Vector values;
  values.type = type_;
  values.scale = header.scale;
  values.lower = header.least;
  values.upper = header.greatest;
  values.data = memory.data();
  for (uint32_t code = 0; code < codes; code += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, codes - code);
    FillCodeValues(segment.value_width(), header.base, header.step, code, count, memory.data());
    EvaluateValues(values, count, context, &truth);
  }
  return truth;
}

BoundPredicate ColumnPredicate::BindConstant(const SegmentReader& reader, EvalContext& context) const {
  EvalContext local = context.In(context.arena);
  Truth truth;
  EvaluateOnColumn({expr_, column_}, reader.Decode(0, 1, context.arena), 1, local, &truth);
  return BindVerdict((truth.is_true[0] & 1) != 0 ? Verdict::kAll : Verdict::kNone);
}

BoundPredicate ColumnPredicate::BindValues(const SegmentReader& reader, EvalContext& context) const {
  const SegmentView segment(reader.segment());
  const SegmentHeader& header = segment.header();
  if (segment.encoding() == Encoding::kDictionary) {
    std::vector<uint8_t> truth;
    if (search_ != nullptr && segment.part<char>(kBytes) != nullptr) {
      truth = FindEntries(segment, *search_, IsNegatedSearch(expr_.function), context);
    } else {
      EvaluateValues(*reader.Dictionary(context.arena), header.dictionary_size, context, &truth);
    }
    return BindTable(segment, std::move(truth), IsTrueForNull(context));
  }
  const bool is_plain_float =
      segment.encoding() == Encoding::kPlain && (type_ == PENUMBRA_FLOAT4 || type_ == PENUMBRA_FLOAT8);
  if (segment.is_integer() || is_plain_float) {
    const std::optional<RangeSet>& ranges = RangesFor(segment.numeric_form(), segment.header().scale);
    if (ranges) return BindRanges(segment, *ranges);
  }
  if (segment.encoding() == Encoding::kFrame && header.code_bytes <= 2) {
    // Worth it when there are clearly fewer codes than rows.
    const uint32_t codes = FrameCodeCount(header);
    if (codes > header.rows / 2) return nullptr;
    return BindTable(segment, EvaluateCodes(segment, codes, context), IsTrueForNull(context));
  }
  if (segment.is_string_form()) {
    if (range_condition_ != nullptr) return range_condition_->Bind(segment, {expr_, column_});
    if (search_ != nullptr) return BindSearch(segment, *search_, IsNegatedSearch(expr_.function));
    const Vector* text = FindEqualText(expr_);
    if (text != nullptr) {
      return BindStringEquality(segment, text->values<StringRef>()->view(), expr_.function == PENUMBRA_FN_NE);
    }
  }
  return nullptr;
}

std::unique_ptr<ScanPredicate::Bound> ColumnPredicate::Bind(const SegmentReader& reader, EvalContext& context) const {
  const SegmentView segment(reader.segment());
  if (segment.header().rows == 0) return BindVerdict(Verdict::kNone);
  if (IsNullTest(expr_)) return BindNullTest(segment, expr_.function == PENUMBRA_FN_IS_NULL);
  if (segment.encoding() == Encoding::kConstant) return BindConstant(reader, context);
  BoundPredicate bound = BindValues(reader, context);
  return range_condition_ == nullptr ? std::move(bound) : range_condition_->WithZones(segment, std::move(bound));
}

}  // namespace

std::unique_ptr<ScanPredicate> ScanPredicate::Compile(const Expr& expr) {
  std::vector<int> columns;
  CollectColumns(expr, &columns);
  PenumbraType type;
  // What can fail must see only rows that exist and that the conjuncts before it let pass.
  if (columns.size() != 1 || expr.can_fail || expr.type != PENUMBRA_BOOL || !FindColumnType(expr, &type)) {
    return nullptr;
  }
  return std::make_unique<ColumnPredicate>(expr, columns[0], type);
}

}  // namespace penumbra
