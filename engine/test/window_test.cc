// Window functions against what the standard says of each row, found by looking at all rows of its partition.
#include "window/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "numeric/numeric.h"
#include "operator/execution_environment.h"
#include "support/sink.h"
#include "window/whole_partitions.h"

namespace penumbra::test {
namespace {

// The table's columns. `id` is the last key of the order where rows must have one place each.
enum Column { kPartition, kOrder, kInteger, kFloat, kText, kNumeric, kFilter, kPlace, kCount, kId, kColumns };
constexpr PenumbraType kTypes[kColumns] = {PENUMBRA_INT4, PENUMBRA_INT8,    PENUMBRA_INT4, PENUMBRA_FLOAT8,
                                           PENUMBRA_TEXT, PENUMBRA_NUMERIC, PENUMBRA_BOOL, PENUMBRA_TEXT,
                                           PENUMBRA_INT4, PENUMBRA_INT4};

constexpr size_t kEnoughMemory = size_t{1} << 30;
constexpr size_t kFewNumbersMemory = size_t{2} << 20;  // for all rows, but not for numbers of all partitions
constexpr size_t kNoMemory = 1000;

struct TestCall {
  WindowFunctionSpec spec;
  bool needs_places = false;  // its value depends on the places of peers
};

class RandomWindow {
 public:
  // has_many_partitions: more than get numbers.
  explicit RandomWindow(uint32_t seed, bool has_many_partitions = false)
      : random_(seed), has_many_partitions_(has_many_partitions) {
    for (int c = 0; c < kColumns; ++c) columns_.push_back(ColumnExpr(c, kTypes[c]));
    delimiter_.kind = Expr::Kind::kConstant;
    delimiter_.type = delimiter_.constant.type = PENUMBRA_TEXT;
    delimiter_.constant.form = VectorForm::kConstant;
    delimiter_.constant.data = &comma_;
    MakeTable();
    MakeSpec();
    spec_.needed.assign(spec_.column_types.size() + spec_.functions.size(), true);
  }

  void Run(size_t memory_bytes) {
    Session session;
    ExecutionEnvironment environment(memory_bytes, session);
    {
      std::unique_ptr<Sink> sink = CreateWindow(spec_, environment);
      const SinkFormChooser form = [](int column, uint32_t begin) {
        return (begin + static_cast<uint32_t>(column)) % 3 == 0 ? SinkForm::kDictionary : SinkForm::kFlat;
      };
      const SinkRun run =
          RunSink(*sink, environment, table_, 1 + Below(kVectorRows), 1 + static_cast<int>(Below(3)), form);
      if (spec_.limit.count > 0) {
        CheckLimited(run.rows);
        // Of each of three threads, and what they keep before they drop some.
        if (memory_bytes == kEnoughMemory && rows_ > 1000 && 30 * spec_.limit.count * partitions_ < rows_ &&
            spec_.limit.rank == PENUMBRA_WINDOW_ROW_NUMBER) {
          EXPECT_LT(run.rows.size(), rows_ / 2);
        }
        return;
      }
      ASSERT_EQ(run.rows.size(), rows_);
      std::vector<std::vector<std::string>> rows = run.rows;
      if (IsOfWholePartitions(spec_)) {
        std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
          return ComparePartition(static_cast<uint32_t>(std::stoul(a[kId])),
                                  static_cast<uint32_t>(std::stoul(b[kId]))) < 0;
        });
      }
      if (memory_bytes == kNoMemory && rows_ > 10000) {
        EXPECT_GT(run.stats.spilled_bytes, 0u);
      }
      Check(rows);
    }
    EXPECT_EQ(environment.budget.used_bytes(), 0u);
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }

  SinkCell Cell(int column) {
    const bool can_be_null = column != kId;
    if (can_be_null && nulls_ != 0 && Below(nulls_) == 0) return std::nullopt;
    switch (column) {
      case kPartition: return std::to_string(Below(partitions_));
      case kOrder: return std::to_string(Below(orders_));
      case kInteger: return std::to_string(static_cast<int>(Below(1000)) - 500);
      case kFloat: return Below(5) == 0 ? "-0" : std::to_string((static_cast<int>(Below(2000)) - 1000) / 7.0);
      case kCount: return std::to_string(1 + Below(6));
      case kText: return std::string(Below(30), static_cast<char>('a' + Below(5)));
      case kPlace: return "a place with a number: " + std::to_string(Below(partitions_));
      case kNumeric: return Decimal::FromInteger(Below(100000), static_cast<int>(Below(4))).ToString();
      default: return Below(2) != 0 ? "t" : "f";
    }
  }
  void MakeTable() {
    constexpr uint32_t kRows[] = {0, 1, 50, 3000, 15000};
    rows_ = kRows[Below(5)];
    rows_ -= Below(rows_ / 10 + 1);
    partitions_ = std::vector<uint32_t>{1, 5, rows_ / 3 + 1, 100000}[Below(4)];
    if (has_many_partitions_) rows_ = 15000, partitions_ = 8000;
    orders_ = std::vector<uint32_t>{3, rows_ + 1, 1000000}[Below(3)];
    nulls_ = std::vector<uint32_t>{0, 7}[Below(2)];
    for (int c = 0; c < kColumns; ++c) {
      table_.push_back({kTypes[c], {}});
      for (uint32_t i = 0; i < rows_; ++i) table_[c].cells.push_back(c == kId ? std::to_string(i) : Cell(c));
    }
  }

  const Expr* ColumnAt(int column) const { return columns_[column].get(); }
  PenumbraFrameBound Bound(bool is_end, bool can_have_offset) {
    const uint32_t kind = Below(can_have_offset ? 4 : 2);
    if (kind == 0) return {is_end ? PENUMBRA_FRAME_UNBOUNDED_FOLLOWING : PENUMBRA_FRAME_UNBOUNDED_PRECEDING, 0};
    if (kind == 1) return {PENUMBRA_FRAME_CURRENT_ROW, 0};
    return {kind == 2 ? PENUMBRA_FRAME_PRECEDING : PENUMBRA_FRAME_FOLLOWING,
            Below(std::vector<uint32_t>{5, 5, 400, 4000}[Below(4)])};
  }
  void SetFrame(WindowFunctionSpec* function) {
    function->mode = static_cast<PenumbraFrameMode>(has_places_ ? Below(3) : 1 + Below(2));
    // Offsets of a RANGE are of one key.
    const auto [earlier_keys, later_keys] = function->order;
    const size_t keys = spec_.order_keys.size() - earlier_keys - later_keys;
    const bool can_have_offset = function->mode == PENUMBRA_FRAME_RANGE
                                     ? keys == 1 && spec_.order_keys[earlier_keys].expr == ColumnAt(kOrder)
                                     : keys > 0;
    function->start = Bound(false, can_have_offset);
    function->end = Bound(true, can_have_offset);
    if (function->mode == PENUMBRA_FRAME_RANGE) {
      function->range_key = ColumnAt(kOrder);
      if (HasOffset(function->start)) function->start_edge = Edge(function->start);
      if (HasOffset(function->end)) function->end_edge = Edge(function->end);
      if (function->start_edge == nullptr && function->end_edge == nullptr) function->range_key = nullptr;
    }
    if (keys > 0 && Below(4) == 0) {
      function->exclusion = static_cast<PenumbraFrameExclusion>(Below(4));
    }
  }
  // A further column of the table: of each row the order's key, and the bound's offset added or subtracted.
  const Expr* Edge(const PenumbraFrameBound& bound) {
    const long long offset = (bound.kind == PENUMBRA_FRAME_FOLLOWING) != is_descending_ ? bound.offset : -bound.offset;
    const int column = static_cast<int>(table_.size());
    table_.push_back({PENUMBRA_INT8, {}});
    for (const SinkCell& cell : table_[kOrder].cells) {
      table_.back().cells.push_back(cell ? SinkCell(std::to_string(std::stoll(*cell) + offset)) : std::nullopt);
    }
    spec_.column_types.push_back(PENUMBRA_INT8);
    columns_.push_back(ColumnExpr(column, PENUMBRA_INT8));
    return columns_.back().get();
  }
  void SetAggregate(WindowFunctionSpec* function) {
    struct Choice {
      const char* name;
      int argument;  // -1: none
      PenumbraType result;
    };
    constexpr Choice kChoices[] = {
        {"count(*)", -1, PENUMBRA_INT8},  {"count", kText, PENUMBRA_INT8},     {"sum", kInteger, PENUMBRA_INT8},
        {"min", kInteger, PENUMBRA_INT4}, {"max", kText, PENUMBRA_TEXT},       {"sum", kFloat, PENUMBRA_FLOAT8},
        {"avg", kFloat, PENUMBRA_FLOAT8}, {"sum", kNumeric, PENUMBRA_NUMERIC}, {"max", kNumeric, PENUMBRA_NUMERIC},
        {"min", kText, PENUMBRA_TEXT},
    };
    function->function = PENUMBRA_WINDOW_AGGREGATE;
    // Of more rows the texts of one column can take gigabytes.
    constexpr uint32_t kJoinedRowsMax = 3000;
    if (has_places_ && rows_ <= kJoinedRowsMax && Below(4) == 0) return SetStringAgg(function);
    const Choice& choice = kChoices[Below(std::size(kChoices))];
    function->result = choice.result;
    function->aggregate.function = AggregateOf(choice.name);
    function->aggregate.result = choice.result;
    if (choice.argument >= 0) function->aggregate.arguments = {ColumnAt(choice.argument)};
    if (Below(4) == 0) function->aggregate.filter = ColumnAt(kFilter);
  }
  // The delimiter is a constant, or another column.
  void SetStringAgg(WindowFunctionSpec* function) {
    function->result = function->aggregate.result = PENUMBRA_TEXT;
    function->aggregate.function = AggregateOf("string_agg");
    function->aggregate.arguments = {ColumnAt(kText)};
    if (Below(2) == 0) {
      function->aggregate.arguments.push_back(ColumnAt(kPlace));
    } else {
      function->aggregate.delimiter = &delimiter_;
    }
    if (Below(4) == 0) function->aggregate.filter = ColumnAt(kFilter);
  }
  void MakeSpec() {
    for (const SinkColumn& column : table_) spec_.column_types.push_back(column.type);
    if (Below(5) != 0) spec_.partition_keys.push_back(ColumnAt(kPartition));
    if (has_many_partitions_ || Below(3) == 0) spec_.partition_keys.push_back(ColumnAt(kPlace));
    spec_.any_partition_order = has_many_partitions_ || Below(3) != 0;
    is_descending_ = Below(2) != 0;
    nulls_first_ = Below(2) != 0;
    const bool is_whole = Below(4) == 0;
    if (!is_whole && Below(6) != 0) spec_.order_keys.push_back({ColumnAt(kOrder), is_descending_, nulls_first_});
    has_places_ = !is_whole && Below(3) != 0;
    if (has_places_) spec_.order_keys.push_back({ColumnAt(kId)});
    if (!spec_.order_keys.empty() && Below(3) == 0) return MakeLimit();
    for (uint32_t count = 1 + Below(4); count > 0; --count) {
      WindowFunctionSpec function;
      function.function = is_whole ? PENUMBRA_WINDOW_AGGREGATE
                                   : static_cast<PenumbraWindowFunction>(std::min<uint32_t>(
                                         Below(PENUMBRA_WINDOW_AGGREGATE + 6), PENUMBRA_WINDOW_AGGREGATE));
      const auto order_keys = static_cast<uint32_t>(spec_.order_keys.size());
      if (Below(3) == 0) function.order.later_keys = Below(order_keys + 1);
      if (Below(3) == 0) {
        function.order.earlier_keys = Below(order_keys + 1 - static_cast<uint32_t>(function.order.later_keys));
      }
      SetFrame(&function);
      if (function.function == PENUMBRA_WINDOW_AGGREGATE) {
        SetAggregate(&function);
        // Floats of peers are added in any order.
        if (!has_places_ && function.aggregate.arguments.size() == 1 &&
            function.aggregate.arguments[0]->type == PENUMBRA_FLOAT8) {
          continue;
        }
      } else if (!has_places_ &&
                 (function.function == PENUMBRA_WINDOW_ROW_NUMBER || function.function >= PENUMBRA_WINDOW_NTILE)) {
        continue;
      } else if (function.function >= PENUMBRA_WINDOW_LAG) {
        const int value = std::vector<int>{kInteger, kFloat, kText, kNumeric}[Below(4)];
        function.value = ColumnAt(value);
        function.result = kTypes[value];
        if (Below(2) != 0) function.default_value = ColumnAt(value);
        function.count = Below(5) == 0 ? 3000 : 1 + Below(3);
        const bool is_of_partition = function.function <= PENUMBRA_WINDOW_LEAD;
        if (is_of_partition) function.count -= Below(3);
        if (!is_of_partition) function.default_value = nullptr;
        const bool has_count = is_of_partition || function.function == PENUMBRA_WINDOW_NTH_VALUE;
        if (has_count && Below(3) == 0) function.count_value = ColumnAt(kCount);
        function.ignores_nulls = Below(3) == 0;
      } else if (function.function == PENUMBRA_WINDOW_NTILE) {
        function.result = PENUMBRA_INT4;
        function.count = 1 + Below(Below(2) != 0 ? 4 : 5000);
        if (Below(3) == 0) function.count_value = ColumnAt(kCount);
      } else if (function.function == PENUMBRA_WINDOW_PERCENT_RANK || function.function == PENUMBRA_WINDOW_CUME_DIST) {
        function.result = PENUMBRA_FLOAT8;
      }
      spec_.functions.push_back(std::move(function));
    }
  }

  void MakeLimit() {
    spec_.limit.rank = static_cast<PenumbraWindowFunction>(has_places_ ? PENUMBRA_WINDOW_ROW_NUMBER + Below(3)
                                                                       : PENUMBRA_WINDOW_RANK + Below(2));
    spec_.limit.count = 1 + Below(Below(3) == 0 ? 500 : 4);
    for (PenumbraWindowFunction rank : {spec_.limit.rank, PENUMBRA_WINDOW_RANK}) {
      spec_.functions.push_back({});
      spec_.functions.back().function = rank;
    }
  }

  // -1, 0, 1 of NULLs and integers.
  int Compare(int column, uint32_t a, uint32_t b, bool is_descending, bool nulls_first) const {
    const SinkCell &x = table_[column].cells[a], &y = table_[column].cells[b];
    if (!x || !y) return !x && !y ? 0 : (!x == nulls_first ? -1 : 1);
    const bool is_text = table_[column].type == PENUMBRA_TEXT;
    const long long left = is_text ? 0 : std::stoll(*x), right = is_text ? 0 : std::stoll(*y);
    const int order = is_text ? (*x > *y) - (*x < *y) : (left > right) - (left < right);
    return is_descending ? -order : order;
  }
  int CompareOrder(uint32_t a, uint32_t b, size_t later_keys = 0) const {
    for (size_t k = 0; k + later_keys < spec_.order_keys.size(); ++k) {
      const SortKeySpec& key = spec_.order_keys[k];
      if (const int order = Compare(key.expr->column, a, b, key.descending, key.nulls_first)) return order;
    }
    return 0;
  }
  int ComparePartition(uint32_t a, uint32_t b) const {
    for (const Expr* key : spec_.partition_keys) {
      if (const int order = Compare(key->column, a, b, false, false)) return order;
    }
    return 0;
  }

  // The rows in the window's order, with a value for each function.
  void Check(const std::vector<std::vector<std::string>>& rows) {
    std::vector<uint32_t> order;
    std::vector<bool> seen(rows_);
    const auto is_before = [this](uint32_t a, uint32_t b) { return ComparePartition(a, b) < 0; };
    std::set<uint32_t, decltype(is_before)> partitions(is_before);
    for (const auto& row : rows) {
      order.push_back(static_cast<uint32_t>(std::stoul(row[kId])));
      ASSERT_FALSE(seen.at(order.back())) << "row twice";
      seen[order.back()] = true;
      for (int c = 0; c < kColumns; ++c) ASSERT_EQ(row[c], FormatOf(c, order.back()));
    }
    for (size_t begin = 0, end; begin < order.size(); begin = end) {
      for (end = begin + 1; end < order.size() && ComparePartition(order[end - 1], order[end]) == 0; ++end) {
        ASSERT_LE(CompareOrder(order[end - 1], order[end]), 0) << "at " << end;
      }
      ASSERT_TRUE(partitions.insert(order[begin]).second) << "partition twice";
      if (end < order.size() && !spec_.any_partition_order) {
        ASSERT_LT(ComparePartition(order[end - 1], order[end]), 0) << "partitions in another order";
      }
      const std::vector<uint32_t> partition(order.begin() + static_cast<ptrdiff_t>(begin),
                                            order.begin() + static_cast<ptrdiff_t>(end));
      // All rows of a large partition would take too long.
      const size_t step = partition.size() / 100 + 1;
      for (size_t i = 0; i < partition.size(); i += step) {
        for (size_t f = 0; f < spec_.functions.size(); ++f) {
          ASSERT_EQ(rows[begin + i][table_.size() + f], ValueInPartition(spec_.functions[f], partition, i))
              << "function " << f << " of kind " << spec_.functions[f].function << ", row " << i << " of "
              << partition.size();
        }
      }
    }
  }
  // All rows within the limit, with their ranks.
  void CheckLimited(const std::vector<std::vector<std::string>>& rows) {
    std::vector<uint32_t> order(rows_);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const int partition = ComparePartition(a, b);
      return partition != 0 ? partition < 0 : CompareOrder(a, b) < 0;
    });
    std::map<std::string, std::pair<std::string, std::string>> expected, found;
    int64_t number = 0, rank = 0, dense_rank = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const bool begins = i == 0 || ComparePartition(order[i - 1], order[i]) != 0;
      if (begins) number = dense_rank = 0;
      ++number;
      if (begins || CompareOrder(order[i - 1], order[i]) != 0) {
        ++dense_rank;
        rank = number;
      }
      const int64_t limited = spec_.limit.rank == PENUMBRA_WINDOW_ROW_NUMBER ? number
                              : spec_.limit.rank == PENUMBRA_WINDOW_RANK     ? rank
                                                                             : dense_rank;
      if (limited > spec_.limit.count) continue;
      expected[std::to_string(order[i])] = {std::to_string(limited), std::to_string(rank)};
    }
    for (const auto& row : rows) {
      if (std::stoll(row[table_.size()]) > spec_.limit.count) continue;
      for (int c = 0; c < kColumns; ++c) {
        ASSERT_EQ(row[c], FormatOf(c, static_cast<uint32_t>(std::stoul(row[kId]))));
      }
      ASSERT_TRUE(found.emplace(row[kId], std::pair(row[table_.size()], row[table_.size() + 1])).second) << "row twice";
    }
    EXPECT_EQ(found, expected);
  }
  // As the sink writes it.
  std::string FormatOf(int column, uint32_t row) const {
    const SinkCell& cell = table_[column].cells[row];
    return !cell ? "NULL" : column == kFloat ? FormatFloat(std::stod(*cell)) : *cell;
  }
  static std::string FormatFloat(double value) {
    Vector v;
    v.type = PENUMBRA_FLOAT8;
    v.data = &value;
    return FormatSinkValue(v, 0);
  }

  std::optional<int64_t> CountOf(const WindowFunctionSpec& function, uint32_t row) const {
    if (function.count_value == nullptr) return function.count;
    const SinkCell& count = table_[function.count_value->column].cells[row];
    return count ? std::optional<int64_t>(std::stoll(*count)) : std::nullopt;
  }

  // Of rows that are equal in the window's partition keys.
  std::string ValueInPartition(const WindowFunctionSpec& function, const std::vector<uint32_t>& rows, size_t i) const {
    const size_t other_keys = spec_.order_keys.size() - function.order.earlier_keys;
    const auto is_of_own = [&](uint32_t row) { return CompareOrder(row, rows[i], other_keys) == 0; };
    const auto begin = std::find_if(rows.begin(), rows.end(), is_of_own);
    return ValueOf(function, {begin, std::find_if_not(begin, rows.end(), is_of_own)},
                   i - static_cast<size_t>(begin - rows.begin()));
  }
  std::string ValueOf(const WindowFunctionSpec& function, const std::vector<uint32_t>& rows, size_t i) const {
    const auto count = static_cast<int64_t>(rows.size());
    const auto place = static_cast<int64_t>(i);
    const auto is_peer = [&](uint32_t row) { return CompareOrder(row, rows[i], function.order.later_keys) == 0; };
    const auto first_peer = std::find_if(rows.begin(), rows.end(), is_peer) - rows.begin();
    const auto past_peers = rows.rend() - std::find_if(rows.rbegin(), rows.rend(), is_peer);  // their end
    switch (function.function) {
      case PENUMBRA_WINDOW_ROW_NUMBER: return std::to_string(place + 1);
      case PENUMBRA_WINDOW_RANK: return std::to_string(first_peer + 1);
      case PENUMBRA_WINDOW_DENSE_RANK: {
        int64_t number = 1;
        for (int64_t k = 1; k <= place; ++k)
          number += CompareOrder(rows[k - 1], rows[k], function.order.later_keys) != 0;
        return std::to_string(number);
      }
      case PENUMBRA_WINDOW_PERCENT_RANK:
        return FormatFloat(count == 1 ? 0 : static_cast<double>(first_peer) / static_cast<double>(count - 1));
      case PENUMBRA_WINDOW_CUME_DIST: return FormatFloat(static_cast<double>(past_peers) / static_cast<double>(count));
      case PENUMBRA_WINDOW_NTILE: {
        // As many rows in each bucket, the first ones with one more.
        int64_t buckets = function.count, bucket = 0, left = 0, k = 0;
        if (function.count_value != nullptr) {
          const auto has_count = [&](uint32_t row) { return table_[kCount].cells[row].has_value(); };
          k = std::find_if(rows.begin(), rows.end(), has_count) - rows.begin();
          if (k > place) return "NULL";
          buckets = CountOf(function, rows[static_cast<size_t>(k)]).value();
        }
        for (; k <= place; ++k, --left) {
          if (left == 0) left = count / buckets + (bucket < count % buckets), ++bucket;
        }
        return std::to_string(bucket);
      }
      case PENUMBRA_WINDOW_LAG:
      case PENUMBRA_WINDOW_LEAD: {
        const std::optional<int64_t> distance = CountOf(function, rows[i]);
        if (!distance) return "NULL";
        int64_t other = function.function == PENUMBRA_WINDOW_LAG ? place - *distance : place + *distance;
        if (function.ignores_nulls && other != place) {
          const int64_t step = other < place ? -1 : 1;
          int64_t left = std::abs(other - place);
          for (other = place + step; other >= 0 && other < count; other += step) {
            if (table_[function.value->column].cells[rows[other]] && --left == 0) break;
          }
        }
        if (other >= 0 && other < count) return FormatOf(function.value->column, rows[other]);
        return function.default_value == nullptr ? "NULL" : FormatOf(function.default_value->column, rows[i]);
      }
      default: break;
    }
    std::vector<uint32_t> frame = FrameOf(function, rows, i);
    if (function.ignores_nulls) {
      frame.erase(std::remove_if(frame.begin(), frame.end(),
                                 [&](uint32_t row) { return !table_[function.value->column].cells[row]; }),
                  frame.end());
    }
    switch (function.function) {
      case PENUMBRA_WINDOW_FIRST_VALUE: return frame.empty() ? "NULL" : FormatOf(function.value->column, frame[0]);
      case PENUMBRA_WINDOW_LAST_VALUE: return frame.empty() ? "NULL" : FormatOf(function.value->column, frame.back());
      case PENUMBRA_WINDOW_NTH_VALUE: {
        const std::optional<int64_t> nth = CountOf(function, rows[i]);
        return !nth || *nth > static_cast<int64_t>(frame.size())
                   ? "NULL"
                   : FormatOf(function.value->column, frame[static_cast<size_t>(*nth) - 1]);
      }
      default: return AggregateOfRows(function.aggregate, frame);
    }
  }

  // Of a partition those that row i's frame has.
  std::vector<uint32_t> FrameOf(const WindowFunctionSpec& function, const std::vector<uint32_t>& rows, size_t i) const {
    const auto count = static_cast<int64_t>(rows.size());
    std::vector<int64_t> groups;
    for (int64_t k = 0; k < count; ++k) {
      groups.push_back(k == 0 ? 0
                              : groups.back() + (CompareOrder(rows[k - 1], rows[k], function.order.later_keys) != 0));
    }
    // -1, 0, 1: the bound is after row k, at it, or before it.
    const auto order = [&](const PenumbraFrameBound& of, const Expr* edge, int64_t k) -> int64_t {
      const int64_t offset = of.kind == PENUMBRA_FRAME_PRECEDING   ? -of.offset
                             : of.kind == PENUMBRA_FRAME_FOLLOWING ? of.offset
                                                                   : 0;
      if (of.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING) return 1;
      if (of.kind == PENUMBRA_FRAME_UNBOUNDED_FOLLOWING) return -1;
      if (function.mode == PENUMBRA_FRAME_ROWS) return k - (static_cast<int64_t>(i) + offset);
      if (edge == nullptr) return groups[k] - (groups[i] + offset);
      const SinkCell &key = table_[kOrder].cells[rows[k]], &value = table_[edge->column].cells[rows[i]];
      if (!key || !value) return !key && !value ? 0 : (!key == nulls_first_ ? -1 : 1);
      const long long difference = std::stoll(*key) - std::stoll(*value);
      return is_descending_ ? -difference : difference;
    };
    std::vector<uint32_t> frame;
    for (int64_t k = 0; k < count; ++k) {
      if (order(function.start, function.start_edge, k) < 0 || order(function.end, function.end_edge, k) > 0) continue;
      const bool is_own = k == static_cast<int64_t>(i), is_peer = groups[k] == groups[i];
      if (function.exclusion == PENUMBRA_EXCLUDE_CURRENT_ROW && is_own) continue;
      if (function.exclusion == PENUMBRA_EXCLUDE_GROUP && is_peer) continue;
      if (function.exclusion == PENUMBRA_EXCLUDE_TIES && is_peer && !is_own) continue;
      frame.push_back(rows[k]);
    }
    return frame;
  }

  std::string Joined(const AggregateSpec& aggregate, const std::vector<uint32_t>& rows) const {
    std::string text;
    bool is_first = true;
    for (uint32_t row : rows) {
      if (aggregate.filter != nullptr && table_[kFilter].cells[row] != "t") continue;
      if (!table_[kText].cells[row]) continue;
      if (!is_first) text += aggregate.delimiter != nullptr ? ", " : table_[kPlace].cells[row].value_or("");
      text += *table_[kText].cells[row];
      is_first = false;
    }
    return text;
  }
  std::string AggregateOfRows(const AggregateSpec& aggregate, const std::vector<uint32_t>& rows) const {
    const int column = aggregate.arguments.empty() ? static_cast<int>(kId) : aggregate.arguments[0]->column;
    std::vector<std::string> values;
    for (uint32_t row : rows) {
      if (aggregate.filter != nullptr && table_[kFilter].cells[row] != "t") continue;
      if (table_[column].cells[row]) values.push_back(*table_[column].cells[row]);
    }
    if (aggregate.result == PENUMBRA_INT8 && aggregate.function != penumbra::test::AggregateOf("sum")) {
      return std::to_string(values.size());
    }
    if (values.empty()) return "NULL";
    if (aggregate.function == penumbra::test::AggregateOf("string_agg")) return Joined(aggregate, rows);
    switch (aggregate.arguments[0]->type) {
      case PENUMBRA_INT4: {
        long long sum = 0, least = INT64_MAX;
        for (const std::string& value : values) {
          sum += std::stoll(value);
          least = std::min(least, std::stoll(value));
        }
        return std::to_string(aggregate.result == PENUMBRA_INT8 ? sum : least);
      }
      case PENUMBRA_FLOAT8: {
        const bool is_average = aggregate.function == penumbra::test::AggregateOf("avg");
        double sum = is_average ? 0.0 : -0.0;
        for (const std::string& value : values) sum += std::stod(value);
        return FormatFloat(is_average ? sum / static_cast<double>(values.size()) : sum);
      }
      case PENUMBRA_TEXT:
        return aggregate.function == penumbra::test::AggregateOf("max")
                   ? *std::max_element(values.begin(), values.end())
                   : *std::min_element(values.begin(), values.end());
      default: break;
    }
    Decimal result = Decimal::FromString(values[0]);
    for (size_t i = 1; i < values.size(); ++i) {
      const Decimal value = Decimal::FromString(values[i]);
      if (aggregate.function == penumbra::test::AggregateOf("sum")) {
        result = Decimal::Add(result, value);
      } else if (Decimal::Compare(value, result) >= 0) {
        result = value;
      }
    }
    return result.ToString();
  }

  std::mt19937 random_;
  const bool has_many_partitions_;
  uint32_t rows_ = 0, partitions_ = 1, orders_ = 1, nulls_ = 0;
  bool is_descending_ = false, nulls_first_ = false, has_places_ = false;
  std::vector<std::unique_ptr<Expr>> columns_;
  const StringRef comma_{", ", 2};
  Expr delimiter_;
  std::vector<SinkColumn> table_;
  WindowSpec spec_;
};

TEST(Window, AsTheStandardSays) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    RandomWindow(seed).Run(kEnoughMemory);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(Window, MorePartitionsThanNumbers) {
  for (uint32_t seed = 2000; seed < 2020; ++seed) {
    SCOPED_TRACE(seed);
    RandomWindow(seed, true).Run(kFewNumbersMemory);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(Window, PastTheBudget) {
  for (uint32_t seed = 1000; seed < 1050; ++seed) {
    SCOPED_TRACE(seed);
    RandomWindow(seed).Run(kNoMemory);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace penumbra::test
