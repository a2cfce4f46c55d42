// Queries over a generated lineitem, end to end through the C interface.
//
// PENUMBRA_BENCH_ROWS sets the table's rows (default 1,200,000), the benchmark's argument the engine
// threads. Under `valgrind --tool=callgrind` run one benchmark with --benchmark_min_time=0 and divide the
// instructions by the rows.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>

#include "lineitem.h"
#include "numeric/numeric.h"
#include "penumbra/engine.h"

namespace penumbra::bench {
namespace {

const Lineitem& Table() {
  static const Lineitem* const table = [] {
    const char* rows = std::getenv("PENUMBRA_BENCH_ROWS");
    auto* result = new Lineitem(rows != nullptr ? static_cast<uint32_t>(std::atoi(rows)) : 1'200'000);
    for (int c = 0; c < kLineitemColumns; ++c) {
      std::fprintf(stderr, "column %2d: %-16s %6.2f bytes/row\n", c, result->encoding(c),
                   static_cast<double>(result->encoded_bytes(c)) / result->rows());
    }
    return result;
  }();
  return *table;
}

class Query {
 public:
  Query() {
    PenumbraPlanOptions options{true, nullptr};
    plan_ = penumbra_plan_create(&options);
    std::vector<PenumbraScanColumn> columns;
    for (PenumbraType type : kLineitemTypes) columns.push_back({type, type == PENUMBRA_NUMERIC ? 2 : -1});
    current_ = Check(penumbra_plan_add_scan(plan_, columns.data(), static_cast<int>(columns.size())));
  }
  ~Query() { penumbra_plan_destroy(plan_); }
  Query(const Query&) = delete;

  void Finish() { Check(penumbra_plan_finish(plan_, current_) ? 0 : -1); }
  const PenumbraPlan* plan() const { return plan_; }
  PenumbraExpr Column(int column) { return Check(penumbra_plan_column(plan_, current_, column)); }
  PenumbraExpr Integer(PenumbraType type, int64_t value) {
    PenumbraValue constant{};
    constant.integer = value;
    return Check(penumbra_plan_constant(plan_, type, &constant));
  }
  PenumbraExpr Numeric(int64_t value, int scale) {
    char payload[kIntegerPayloadBytes];
    PenumbraValue constant{};
    constant.bytes = payload;
    constant.bytes_length = IntegerToPayload(value, scale, payload);
    return Check(penumbra_plan_constant(plan_, PENUMBRA_NUMERIC, &constant));
  }
  PenumbraExpr Text(PenumbraType type, const std::string& value) {
    PenumbraValue constant{};
    constant.bytes = value.data();
    constant.bytes_length = static_cast<uint32_t>(value.size());
    return Check(penumbra_plan_constant(plan_, type, &constant));
  }
  PenumbraExpr Call(PenumbraFunction function, PenumbraType type, std::initializer_list<PenumbraExpr> args) {
    return Check(penumbra_plan_call(plan_, function, type, args.begin(), static_cast<int>(args.size())));
  }
  PenumbraExpr Compare(PenumbraFunction function, PenumbraExpr a, PenumbraExpr b) {
    return Call(function, PENUMBRA_BOOL, {a, b});
  }
  PenumbraExpr Multiply(PenumbraExpr a, PenumbraExpr b) { return Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {a, b}); }
  void Filter(std::initializer_list<PenumbraExpr> conjuncts) {
    current_ = Check(penumbra_plan_add_filter(plan_, current_, conjuncts.begin(), static_cast<int>(conjuncts.size())));
  }
  void Project(std::initializer_list<PenumbraExpr> exprs) {
    current_ = Check(penumbra_plan_add_projection(plan_, current_, exprs.begin(), static_cast<int>(exprs.size())));
  }
  void Aggregate(std::initializer_list<PenumbraExpr> keys, std::initializer_list<PenumbraAggregateCall> calls) {
    current_ = Check(penumbra_plan_add_aggregation(plan_, current_, keys.begin(), static_cast<int>(keys.size()),
                                                   calls.begin(), static_cast<int>(calls.size())));
  }
  void Sort(std::initializer_list<PenumbraSortKey> keys, int64_t limit) {
    current_ = Check(penumbra_plan_add_sort(plan_, current_, keys.begin(), static_cast<int>(keys.size()), limit, 0));
  }

 private:
  PenumbraExpr Check(PenumbraExpr expr) {
    if (expr < 0) {
      std::fprintf(stderr, "refused: %s\n", penumbra_plan_reason(plan_));
      std::abort();
    }
    return expr;
  }
  PenumbraPlan* plan_;
  PenumbraOperator current_ = -1;
};

PenumbraAggregateCall Sum(PenumbraExpr argument) {
  return {PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, {argument}, 1, -1, false};
}
PenumbraAggregateCall Average(PenumbraExpr argument) {
  return {PENUMBRA_AGG_AVG, PENUMBRA_NUMERIC, {argument}, 1, -1, false};
}
PenumbraAggregateCall Count() { return {PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8, {}, 0, -1, false}; }

void BuildQ1(Query& q) {
  q.Filter({q.Compare(PENUMBRA_FN_LE, q.Column(kShipdate), q.Integer(PENUMBRA_DATE, -486))});  // 1998-09-02
  PenumbraExpr one = q.Numeric(1, 0);
  PenumbraExpr price =
      q.Multiply(q.Column(kExtendedprice), q.Call(PENUMBRA_FN_SUB, PENUMBRA_NUMERIC, {one, q.Column(kDiscount)}));
  PenumbraExpr charge = q.Multiply(price, q.Call(PENUMBRA_FN_ADD, PENUMBRA_NUMERIC, {one, q.Column(kTax)}));
  q.Aggregate({q.Column(kReturnflag), q.Column(kLinestatus)},
              {Sum(q.Column(kQuantity)), Sum(q.Column(kExtendedprice)), Sum(price), Sum(charge),
               Average(q.Column(kQuantity)), Average(q.Column(kExtendedprice)), Average(q.Column(kDiscount)), Count()});
  q.Sort({{q.Column(0), false, false}, {q.Column(1), false, false}}, -1);
}

void BuildQ6(Query& q) {
  q.Filter({q.Compare(PENUMBRA_FN_GE, q.Column(kShipdate), q.Integer(PENUMBRA_DATE, -2191)),  // 1994-01-01
            q.Compare(PENUMBRA_FN_LT, q.Column(kShipdate), q.Integer(PENUMBRA_DATE, -1826)),
            q.Compare(PENUMBRA_FN_GE, q.Column(kDiscount), q.Numeric(5, 2)),
            q.Compare(PENUMBRA_FN_LE, q.Column(kDiscount), q.Numeric(7, 2)),
            q.Compare(PENUMBRA_FN_LT, q.Column(kQuantity), q.Numeric(24, 0))});
  q.Aggregate({}, {Sum(q.Multiply(q.Column(kExtendedprice), q.Column(kDiscount)))});
}

void BuildGroupByPart(Query& q) {
  q.Aggregate({q.Column(kPartkey)}, {Sum(q.Column(kQuantity)), Count()});
  q.Sort({{q.Column(1), true, true}, {q.Column(0), false, false}}, 10);
}

void BuildCountDistinct(Query& q) {
  q.Aggregate({q.Column(kShipmode)}, {{PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {q.Column(kSuppkey)}, 1, -1, true}});
}

void BuildLike(Query& q) {
  q.Filter({q.Compare(PENUMBRA_FN_LIKE, q.Column(kComment), q.Text(PENUMBRA_TEXT, "%special%requests%"))});
  q.Aggregate({}, {Count()});
}

void BuildMonth(Query& q) {
  PenumbraExpr shipped = q.Call(PENUMBRA_FN_CAST, PENUMBRA_TIMESTAMP, {q.Column(kShipdate)});
  PenumbraExpr month = q.Call(PENUMBRA_FN_DATE_TRUNC, PENUMBRA_TIMESTAMP, {q.Text(PENUMBRA_TEXT, "month"), shipped});
  PenumbraExpr rest = q.Call(PENUMBRA_FN_SUB, PENUMBRA_NUMERIC, {q.Numeric(1, 0), q.Column(kDiscount)});
  q.Aggregate({month}, {Sum(q.Multiply(q.Column(kExtendedprice), rest))});
}

void BuildTopN(Query& q) { q.Sort({{q.Column(kExtendedprice), true, true}}, 10); }

void BuildCount(Query& q) { q.Aggregate({}, {Count()}); }

void BuildSelective(Query& q) {
  q.Filter({q.Compare(PENUMBRA_FN_EQ, q.Column(kPartkey), q.Integer(PENUMBRA_INT4, 155))});
  q.Project({q.Column(kOrderkey), q.Column(kExtendedprice), q.Column(kComment)});
}

void BuildWideScan(Query& q) {
  q.Filter({q.Compare(PENUMBRA_FN_EQ, q.Column(kShipmode), q.Text(PENUMBRA_BPCHAR, "RAIL      "))});
}

bool RunQuery(const Query& query, int threads, uint64_t* rows) {
  PenumbraExecOptions options{size_t{512} << 20, threads, "/tmp"};
  PenumbraExec* exec = penumbra_exec_create(query.plan(), &options);
  for (const PenumbraChunk& chunk : Table().chunks()) penumbra_exec_add_chunk(exec, 0, &chunk);
  penumbra_exec_start(exec);
  penumbra_exec_end_rows(exec, 0);
  PenumbraResult result;
  PenumbraStatus status;
  PenumbraFetch fetch;
  while ((fetch = penumbra_exec_fetch(exec, &result, &status)) != PENUMBRA_FETCH_DONE) {
    if (fetch == PENUMBRA_FETCH_ERROR) {
      std::fprintf(stderr, "error %d: %s\n", status.code, status.message);
      break;
    }
    if (fetch == PENUMBRA_FETCH_ROWS) *rows += result.rows;
  }
  penumbra_exec_destroy(exec);
  return fetch == PENUMBRA_FETCH_DONE;
}

void RunBenchmark(benchmark::State& state, void (*build)(Query&)) {
  Query query;
  build(query);
  query.Finish();
  Table();
  uint64_t rows = 0;
  for (auto _ : state) {
    if (!RunQuery(query, static_cast<int>(state.range(0)), &rows)) state.SkipWithError("failed");
  }
  double scanned = static_cast<double>(state.iterations()) * Table().rows();
  state.counters["rows_per_second"] = benchmark::Counter(scanned, benchmark::Counter::kIsRate);
  state.counters["ns_per_row"] =
      benchmark::Counter(scanned / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["result_rows"] =
      static_cast<double>(rows) / static_cast<double>(std::max<int64_t>(state.iterations(), 1));
}

#define PENUMBRA_QUERY(name) \
  BENCHMARK_CAPTURE(RunBenchmark, name, Build##name)->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond)

PENUMBRA_QUERY(Q1);
PENUMBRA_QUERY(Q6);
PENUMBRA_QUERY(GroupByPart);
PENUMBRA_QUERY(CountDistinct);
PENUMBRA_QUERY(Like);
PENUMBRA_QUERY(Month);
PENUMBRA_QUERY(TopN);
PENUMBRA_QUERY(Count);
PENUMBRA_QUERY(Selective);
PENUMBRA_QUERY(WideScan);

}  // namespace
}  // namespace penumbra::bench
