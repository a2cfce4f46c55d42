#include "support/nested_loop.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace penumbra::test {
namespace {

constexpr size_t kChunkRows = 20000;

std::string IntervalBytes(int32_t month, int32_t day, int64_t time_us) {
  const PenumbraInterval interval = {time_us, day, month};
  return {reinterpret_cast<const char*>(&interval), sizeof(interval)};
}

Table MakeTable(const Relation& relation, size_t begin, size_t end) {
  return Table(relation.types, static_cast<uint32_t>(end - begin),
               [&](uint32_t row, int column) { return relation.rows[begin + row][column].cell; });
}

std::vector<Value> Pair(std::vector<Value> left, const std::vector<Value>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

Value KeyValue(PenumbraType type, uint32_t n) {
  const std::string number = std::to_string(n);
  const uint32_t way = n % 3;
  const std::string which = std::to_string(n / 3);
  switch (type) {
    case PENUMBRA_BOOL: {
      const bool is_true = n % 2 != 0;
      return {is_true ? "1" : "0", is_true ? "t" : "f", is_true ? "1" : "0"};
    }
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      std::string text = number + ".5";
      if (n % 5 == 0) text = way == 0 ? "-0" : "0";
      if (n % 5 == 1) text = way == 0 ? "nan" : "-nan";
      const std::string shown = std::to_string(std::strtod(text.c_str(), nullptr));
      return {text, shown, n % 5 == 0 ? "zero" : n % 5 == 1 ? "nan" : shown};
    }
    case PENUMBRA_NUMERIC: {
      const char* endings[] = {"", ".0", ".000"};
      if (n % 7 == 0) return {"NaN", "NaN", "NaN"};
      // Some do not fit in 64 bits, some not in 128.
      const std::string digits = which + (n % 4 == 0 ? std::string(n % 8 == 0 ? 60 : 25, '7') : "");
      return {digits + endings[way], digits + endings[way], digits};
    }
    case PENUMBRA_INTERVAL: {
      const auto days = static_cast<int32_t>(n / 3);
      const std::string bytes = way == 0   ? IntervalBytes(0, days, 0)
                                : way == 1 ? IntervalBytes(0, 0, int64_t{days} * 86400 * 1000000)
                                           : IntervalBytes(days / 30, days % 30, 0);
      return {bytes, bytes, which};
    }
    case PENUMBRA_TEXT: {
      const std::string text = (n % 2 == 0 ? "a key longer than twelve bytes " : "") + number;
      return {text, text, text};
    }
    case PENUMBRA_BPCHAR: {
      const std::string text = (n % 6 < 3 ? "char of more than twelve bytes " : "c") + which;
      const std::string padded = n % 6 == 0 && way % 2 != 0 ? WithTail(text, which) : text + std::string(way, ' ');
      return {padded, padded, text};
    }
    case PENUMBRA_UUID: {
      std::string bytes(16, 'u');
      std::memcpy(bytes.data() + 5, &n, 4);
      return {bytes, bytes, bytes};
    }
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMPTZ: {
      // Some ranges are narrow, some as wide as can be.
      const int64_t value = n % 50 == 49 ? INT64_MIN + n : n % 50 == 48 ? INT64_MAX - n : static_cast<int64_t>(n) - 100;
      return {std::to_string(value), std::to_string(value), std::to_string(value)};
    }
    default: return {number, number, number};
  }
}

Relation RandomRelation(std::mt19937& random, PenumbraType first_key, PenumbraType second_key, uint32_t rows,
                        uint32_t distinct, uint32_t null_percent) {
  Relation relation{{first_key, second_key, PENUMBRA_INT4, PENUMBRA_TEXT}, {}};
  for (uint32_t i = 0; i < rows; ++i) {
    std::vector<Value> row;
    for (int k = 0; k < 2; ++k) {
      const bool is_null = random() % 100 < null_percent;
      row.push_back(is_null ? Value() : KeyValue(relation.types[k], random() % distinct));
    }
    const std::string digit = std::to_string(random() % 10);
    row.push_back(random() % 20 == 0 ? Value() : Value{digit, digit, digit});
    const std::string name = "row " + std::to_string(i) + (i % 2 == 0 ? " of a long name" : "");
    row.push_back({name, name, name});
    relation.rows.push_back(std::move(row));
  }
  return relation;
}

std::vector<Row> Shown(const Relation& relation) {
  std::vector<Row> rows;
  for (const auto& values : relation.rows) {
    Row& row = rows.emplace_back();
    for (const Value& value : values) row.push_back(value.shown);
  }
  return Sorted(std::move(rows));
}

Loaded::Loaded(const Relation& relation, bool has_chunks, bool has_pushed) {
  const size_t rows = relation.rows.size();
  const size_t split = has_chunks && has_pushed ? rows / 2 : has_chunks ? rows : 0;
  for (size_t begin = 0; begin < split; begin += kChunkRows) {
    tables_.push_back(MakeTable(relation, begin, std::min(begin + kChunkRows, split)));
    chunks_.emplace_back(tables_.back());
  }
  if (has_pushed) pushed_.push_back(MakeTable(relation, split, rows));
}

ScanInput Loaded::Input(PenumbraOperator scan) const {
  ScanInput input{scan, {}, {}};
  for (const Chunk& chunk : chunks_) input.chunks.push_back(&chunk);
  for (const Table& table : pushed_) input.pushed.push_back(&table);
  return input;
}

bool NaiveJoin::IsMatch(const std::vector<Value>& probe, const std::vector<Value>& build) const {
  for (const Key& key : keys) {
    const Value &a = probe[key.probe], &b = build[key.build];
    if (a.is_null() || b.is_null() ? !(a.is_null() && b.is_null() && key.nulls_are_equal)
                                   : a.equality_class != b.equality_class) {
      return false;
    }
  }
  return std::all_of(conditions.begin(), conditions.end(), [&](const Comparison& condition) {
    const auto at = [&](int c) { return c < static_cast<int>(probe.size()) ? probe[c] : build[c - probe.size()]; };
    const Value left = at(condition.left), right = at(condition.right);
    if (left.is_null() || right.is_null()) return false;
    switch (condition.function) {
      case PENUMBRA_FN_LT: return left.equality_class < right.equality_class;
      case PENUMBRA_FN_LE: return left.equality_class <= right.equality_class;
      case PENUMBRA_FN_GT: return left.equality_class > right.equality_class;
      case PENUMBRA_FN_GE: return left.equality_class >= right.equality_class;
      default: std::abort();
    }
  });
}

std::vector<size_t> NaiveJoin::MatchesOf(const std::vector<Value>& probe, const Relation& build) const {
  std::vector<size_t> matches;
  for (size_t b = 0; b < build.rows.size(); ++b) {
    if (IsMatch(probe, build.rows[b])) matches.push_back(b);
  }
  if (choice == PENUMBRA_JOIN_ALL || matches.empty()) return matches;
  const size_t column = static_cast<size_t>(std::max(conditions[0].left, conditions[0].right)) - probe.size();
  const auto is_less = [&](size_t a, size_t b) {
    return build.rows[a][column].equality_class < build.rows[b][column].equality_class;
  };
  const bool takes_least = choice == PENUMBRA_JOIN_LEAST;
  return {takes_least ? *std::min_element(matches.begin(), matches.end(), is_less)
                      : *std::max_element(matches.begin(), matches.end(), is_less)};
}

bool NaiveJoin::Run(const Relation& probe, const Relation& build, Relation* output) const {
  const std::vector<Value> no_probe(probe.types.size()), no_build(build.types.size());
  const bool has_pairs = kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_LEFT || kind == PENUMBRA_JOIN_SINGLE ||
                         kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL;
  const bool is_right = kind == PENUMBRA_JOIN_RIGHT_SEMI || kind == PENUMBRA_JOIN_RIGHT_ANTI;
  output->types = is_right ? build.types : probe.types;
  if (has_pairs) output->types.insert(output->types.end(), build.types.begin(), build.types.end());
  if (kind == PENUMBRA_JOIN_MARK) output->types.push_back(PENUMBRA_BOOL);
  std::vector<bool> is_build_matched(build.rows.size());
  bool has_null_key = false;
  for (const auto& row : build.rows) has_null_key |= is_null_aware && row[keys[0].build].is_null();
  for (const auto& row : probe.rows) {
    int matches = 0;
    for (size_t b : MatchesOf(row, build)) {
      ++matches;
      is_build_matched[b] = true;
      if (has_pairs) output->rows.push_back(Pair(row, build.rows[b]));
    }
    const bool is_unknown =
        is_null_aware && matches == 0 && !build.rows.empty() && (has_null_key || row[keys[0].probe].is_null());
    if (kind == PENUMBRA_JOIN_SINGLE && matches > 1) return false;
    const bool is_kept = kind == PENUMBRA_JOIN_LEFT || kind == PENUMBRA_JOIN_SINGLE || kind == PENUMBRA_JOIN_FULL;
    if (is_kept && matches == 0) output->rows.push_back(Pair(row, no_build));
    if (kind == PENUMBRA_JOIN_SEMI && matches > 0) output->rows.push_back(row);
    if (kind == PENUMBRA_JOIN_ANTI && matches == 0 && !is_unknown) output->rows.push_back(row);
    if (kind == PENUMBRA_JOIN_MARK) {
      output->rows.push_back(Pair(row, {is_unknown ? Value() : Value{"", matches > 0 ? "t" : "f", ""}}));
    }
  }
  for (size_t b = 0; b < build.rows.size(); ++b) {
    const bool is_rest = kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL;
    if (is_rest && !is_build_matched[b]) output->rows.push_back(Pair(no_probe, build.rows[b]));
    if (is_right && is_build_matched[b] == (kind == PENUMBRA_JOIN_RIGHT_SEMI)) output->rows.push_back(build.rows[b]);
  }
  return true;
}

PenumbraOperator AddJoin(PlanBuilder& plan, PenumbraOperator probe, PenumbraOperator build, const NaiveJoin& join) {
  std::vector<PenumbraJoinKey> keys;
  for (const Key& key : join.keys) {
    keys.push_back({plan.ColumnOf(probe, key.probe), plan.ColumnOf(build, key.build), key.nulls_are_equal});
  }
  std::vector<PenumbraExpr> conditions;
  for (auto [left, right, function] : join.conditions) {
    conditions.push_back(plan.Call(function, PENUMBRA_BOOL,
                                   {plan.PairColumn(probe, build, left), plan.PairColumn(probe, build, right)}));
  }
  return plan.Join(probe, build, join.kind, keys, conditions, join.is_null_aware, 0, join.choice);
}

}  // namespace penumbra::test
