#include "support/sink.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "aggregate/aggregate_accumulator.h"
#include "numeric/numeric.h"

namespace penumbra::test {
namespace {

template <typename T>
void Put(char* values, uint32_t i, T value) {
  std::memcpy(values + size_t{i} * sizeof(T), &value, sizeof(T));
}

StringRef OwnedString(const std::string& text, Arena& arena) {
  return StringRef(arena.CopyBytes(text.data(), text.size()), static_cast<uint32_t>(text.size()));
}

// A flat value of any type but NUMERIC.
void PutCell(PenumbraType type, const std::string& text, char* values, uint32_t i, Arena& arena) {
  switch (type) {
    case PENUMBRA_BOOL: return Put<uint8_t>(values, i, text == "t");
    case PENUMBRA_INT2: return Put<int16_t>(values, i, static_cast<int16_t>(std::atoi(text.c_str())));
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return Put<int32_t>(values, i, std::atoi(text.c_str()));
    case PENUMBRA_FLOAT4: return Put<float>(values, i, std::strtof(text.c_str(), nullptr));
    case PENUMBRA_FLOAT8: return Put<double>(values, i, std::strtod(text.c_str(), nullptr));
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: return Put<StringRef>(values, i, OwnedString(text, arena));
    case PENUMBRA_UUID: std::memcpy(values + size_t{i} * 16, text.data(), 16); return;
    case PENUMBRA_INTERVAL: {
      PenumbraInterval interval{};
      long long time_us = 0;
      std::sscanf(text.c_str(), "%d/%d/%lld", &interval.month, &interval.day, &time_us);
      interval.time_us = time_us;
      return Put(values, i, interval);
    }
    default: return Put<int64_t>(values, i, std::atoll(text.c_str()));
  }
}

Vector FlatNumeric(const std::vector<SinkCell>& cells, SinkForm form, Arena& arena) {
  Vector v;
  v.type = PENUMBRA_NUMERIC;
  const uint32_t rows = static_cast<uint32_t>(cells.size());
  int scale = -1;
  bool fits = form != SinkForm::kPayload;
  int128 lower = 0, upper = 0;
  std::vector<int128> integers(rows);
  for (uint32_t i = 0; i < rows && fits; ++i) {
    if (!cells[i]) continue;
    Decimal value = Decimal::FromString(*cells[i]);
    fits = value.kind() == Decimal::Kind::kFinite && value.ToScaledInteger(&integers[i]) &&
           (scale < 0 || scale == value.scale());
    lower = scale < 0 ? integers[i] : std::min(lower, integers[i]);
    upper = scale < 0 ? integers[i] : std::max(upper, integers[i]);
    scale = value.scale();
  }
  if (!fits) {
    StringRef* values = arena.AllocateArray<StringRef>(rows);
    for (uint32_t i = 0; i < rows; ++i) {
      values[i] = cells[i] ? Decimal::FromString(*cells[i]).ToPayload(arena) : StringRef();
    }
    v.numeric_form = NumericForm::kPayload;
    v.data = values;
    return v;
  }
  v.scale = static_cast<int16_t>(std::max(scale, 0));
  v.lower = lower;
  v.upper = upper;
  constexpr int128 kLimit = 1000000000000000000;
  const bool is_narrow = form != SinkForm::kInt128 && lower > -kLimit && upper < kLimit;
  v.numeric_form = is_narrow ? NumericForm::kInt64 : NumericForm::kInt128;
  char* values = static_cast<char*>(arena.Allocate(rows * 16));
  for (uint32_t i = 0; i < rows; ++i) {
    // The value of a null row is unspecified: something that must not be used.
    const int128 value = cells[i] ? integers[i] : lower;
    if (is_narrow) {
      Put<int64_t>(values, i, static_cast<int64_t>(value));
    } else {
      Put<int128>(values, i, value);
    }
  }
  v.data = values;
  return v;
}

Vector FlatVectorOf(PenumbraType type, const std::vector<SinkCell>& cells, SinkForm form, Arena& arena) {
  const uint32_t rows = static_cast<uint32_t>(cells.size());
  Vector v;
  if (type == PENUMBRA_NUMERIC) {
    v = FlatNumeric(cells, form, arena);
  } else {
    v.type = type;
    char* values = static_cast<char*>(arena.Allocate(rows * size_t{16}));
    std::memset(values, 0, rows * size_t{16});
    for (uint32_t i = 0; i < rows; ++i) {
      if (cells[i]) PutCell(type, *cells[i], values, i, arena);
    }
    v.data = values;
  }
  return v;
}

const uint64_t* ValidityOf(const std::vector<SinkCell>& cells, Arena& arena) {
  uint64_t* validity = arena.AllocateArray<uint64_t>(kValidityWords);
  std::memset(validity, 0, kValidityWords * 8);
  bool has_null = false;
  for (uint32_t i = 0; i < cells.size(); ++i) {
    if (cells[i]) {
      validity[i / 64] |= uint64_t{1} << (i % 64);
    } else {
      has_null = true;
    }
  }
  return has_null ? validity : nullptr;
}

Vector DictionaryOf(PenumbraType type, const std::vector<SinkCell>& cells, Arena& arena) {
  std::map<std::string, uint16_t> code_of;
  std::vector<SinkCell> entries;
  uint16_t* codes = arena.AllocateArray<uint16_t>(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    codes[i] = 0;
    if (!cells[i]) continue;
    auto [entry, is_new] = code_of.emplace(*cells[i], static_cast<uint16_t>(entries.size()));
    if (is_new) entries.push_back(cells[i]);
    codes[i] = entry->second;
  }
  if (entries.empty()) entries.push_back(type == PENUMBRA_UUID ? std::string(16, 'x') : std::string("0"));
  Vector* dictionary = arena.AllocateArray<Vector>(1);
  *dictionary = FlatVectorOf(type, entries, SinkForm::kFlat, arena);
  Vector v = *dictionary;
  v.form = VectorForm::kDictionary;
  v.dictionary = dictionary;
  v.dictionary_size = static_cast<uint32_t>(entries.size());
  v.code_bytes = 2;
  v.data = codes;
  return v;
}

std::string FormatInterval(const PenumbraInterval& interval) {
  return std::to_string(interval.month) + "/" + std::to_string(interval.day) + "/" + std::to_string(interval.time_us);
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "nan";  // of any sign
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", value);
  return text;
}

// Runs work(thread) on each thread; throws the first error.
void RunThreads(int threads, const std::function<void(int)>& work) {
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      try {
        work(t);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace

Vector MakeSinkVector(const SinkColumn& column, uint32_t begin, uint32_t count, SinkForm form, Arena& arena) {
  std::vector<SinkCell> cells(column.cells.begin() + begin, column.cells.begin() + begin + count);
  bool is_constant = true;
  for (const SinkCell& cell : cells) is_constant &= cell == cells[0];
  if (form == SinkForm::kConstant && is_constant) {
    Vector v = FlatVectorOf(column.type, {cells[0]}, SinkForm::kFlat, arena);
    v.form = VectorForm::kConstant;
    if (!cells[0]) v.data = nullptr;
    return v;
  }
  const uint64_t* validity = ValidityOf(cells, arena);
  Vector v = form == SinkForm::kDictionary ? DictionaryOf(column.type, cells, arena)
                                           : FlatVectorOf(column.type, cells, form, arena);
  v.validity = validity;
  return v;
}

std::string FormatSinkValue(const Vector& v, uint32_t row) {
  if (!v.IsValid(row)) return "NULL";
  switch (v.type) {
    case PENUMBRA_BOOL: return v.values<uint8_t>()[row] != 0 ? "t" : "f";
    case PENUMBRA_INT2: return std::to_string(v.values<int16_t>()[row]);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::to_string(v.values<int32_t>()[row]);
    case PENUMBRA_FLOAT4: return FormatDouble(v.values<float>()[row]);
    case PENUMBRA_FLOAT8: return FormatDouble(v.values<double>()[row]);
    case PENUMBRA_NUMERIC: return DecimalAt(v, row).ToString();
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: return std::string(v.values<StringRef>()[row].view());
    case PENUMBRA_UUID: return {static_cast<const char*>(v.data) + size_t{16} * row, 16};
    case PENUMBRA_INTERVAL: return FormatInterval(v.values<PenumbraInterval>()[row]);
    default: return std::to_string(v.values<int64_t>()[row]);
  }
}

std::unique_ptr<Expr> ColumnExpr(int column, PenumbraType type) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kColumn;
  expr->type = type;
  expr->column = column;
  return expr;
}

PenumbraAggregate AggregateOf(const char* name) {
  for (int i = 0; i < PENUMBRA_AGG_COUNT_OF; ++i) {
    const auto function = static_cast<PenumbraAggregate>(i);
    if (std::string(InfoOf(function).name) == name) return function;
  }
  ADD_FAILURE() << "no aggregate " << name;
  return PENUMBRA_AGG_COUNT_OF;
}

SinkRun RunSink(Sink& sink, ExecutionEnvironment& environment, const std::vector<SinkColumn>& table,
                uint32_t batch_rows, int threads, const SinkFormChooser& form) {
  environment.thread_count = threads;
  const uint32_t rows = table.empty() ? 0 : static_cast<uint32_t>(table[0].cells.size());
  RunThreads(threads, [&](int t) {
    std::unique_ptr<Sink::Local> local = sink.CreateLocal();
    Arena arena;
    EvalContext context{arena, environment.session};
    std::vector<Vector> columns(table.size());
    for (uint32_t begin = static_cast<uint32_t>(t) * batch_rows; begin < rows;
         begin += batch_rows * static_cast<uint32_t>(threads)) {
      arena.Reset();
      const uint32_t count = std::min(batch_rows, rows - begin);
      for (size_t c = 0; c < table.size(); ++c) {
        columns[c] = MakeSinkVector(table[c], begin, count, form(static_cast<int>(c), begin), arena);
      }
      sink.Consume(*local, {count, static_cast<uint32_t>(table.size()), columns.data()}, context);
    }
    sink.Combine(*local);
  });
  while (int tasks = sink.PrepareFinish()) {
    std::atomic<int> next{0};
    RunThreads(threads, [&](int) {
      for (int task = next++; task < tasks; task = next++) sink.RunFinishTask(task);
    });
  }
  SinkRun run;
  const int partitions = sink.Seal();
  for (int p = 0; p < partitions; ++p) {
    std::unique_ptr<Sink::Reader> reader = sink.OpenPartition(p);
    run.partition_rows.push_back(0);
    Batch batch;
    while (reader->Next(&batch)) {
      EXPECT_GT(batch.rows, 0u);
      EXPECT_LE(batch.rows, kVectorRows);
      run.partition_rows.back() += batch.rows;
      for (uint32_t i = 0; i < batch.rows; ++i) {
        std::vector<std::string> row;
        for (uint32_t c = 0; c < batch.column_count; ++c) row.push_back(FormatSinkValue(batch.columns[c], i));
        run.rows.push_back(std::move(row));
      }
    }
  }
  run.stats = sink.stats();
  return run;
}

}  // namespace penumbra::test
