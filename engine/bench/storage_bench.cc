// Loading and decoding one column at a time: items are values.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "numeric/numeric.h"
#include "segment/rows.h"
#include "segment/segment.h"

namespace penumbra::bench {
namespace {

constexpr uint32_t kRows = 120'000;
constexpr uint32_t kPageRows = 60;  // as a loader appends them

enum Kind : int { kInteger, kKey, kDate, kPrice, kFlag, kCode, kCity, kComment, kBody, kDouble, kKinds };
const char* const kKindNames[] = {
    "int4",           "int8 key",    "date",  "numeric(15,2)", "char(1)", "int2", "text of 1,000 values",
    "text of 10..43", "text of 500", "float8"};
const PenumbraType kTypes[] = {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_DATE, PENUMBRA_NUMERIC, PENUMBRA_BPCHAR,
                               PENUMBRA_INT2, PENUMBRA_TEXT, PENUMBRA_TEXT, PENUMBRA_TEXT,    PENUMBRA_FLOAT8};

// The column in the adapter's form.
struct Input {
  std::vector<std::string> strings;
  std::vector<uint64_t> values;
  std::vector<uint32_t> lengths;
};

std::string MakeText(Kind kind, uint64_t r) {
  if (kind == kFlag) return std::string(1, "ANR"[r % 3]);
  if (kind == kCity) return "city number " + std::to_string(r % 1000);
  static const char* const kWords[] = {"furiously ", "quickly ", "deposits ", "foxes ", "above ", "ironic ", "sleep "};
  std::mt19937_64 random(r);
  std::string text;
  const size_t length = kind == kBody ? 500 : 10 + r % 34;
  while (text.size() < length) text += kWords[random() % std::size(kWords)];
  text.resize(length);
  return text;
}

Input MakeInput(Kind kind) {
  std::mt19937_64 random(kind);
  Input input;
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint64_t r = random() >> 8;
    switch (kind) {
      case kInteger: input.values.push_back(r % 200'000); break;
      case kKey: input.values.push_back(row * 4); break;
      case kDate: input.values.push_back(static_cast<uint64_t>(-2922 + static_cast<int64_t>(r % 2500))); break;
      case kCode: input.values.push_back(r % 100); break;
      case kDouble: {
        const double value = static_cast<double>(r);
        input.values.emplace_back();
        std::memcpy(&input.values.back(), &value, sizeof(value));
        break;
      }
      case kPrice: {
        char payload[kIntegerPayloadBytes];
        const uint32_t length = IntegerToPayload(static_cast<int64_t>(r % 10'000'000), 2, payload);
        input.strings.emplace_back(payload, length);
        break;
      }
      default: input.strings.push_back(MakeText(kind, r));
    }
  }
  for (const std::string& string : input.strings) {
    input.values.push_back(reinterpret_cast<uint64_t>(string.data()));
    input.lengths.push_back(static_cast<uint32_t>(string.size()));
  }
  input.lengths.resize(kRows);
  return input;
}

void AppendAll(const Input& input, Rows* rows) {
  rows->Clear();
  for (uint32_t begin = 0; begin < kRows; begin += kPageRows) {
    const PenumbraColumnInput page = {input.values.data() + begin, input.lengths.data() + begin, nullptr};
    rows->Append(&page, std::min(kPageRows, kRows - begin));
  }
}

void BenchAppend(benchmark::State& state) {
  const Kind kind = static_cast<Kind>(state.range(0));
  const Input input = MakeInput(kind);
  Rows rows(&kTypes[kind], 1);
  for (auto _ : state) AppendAll(input, &rows);
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetLabel(kKindNames[kind]);
}

void BenchEncode(benchmark::State& state) {
  const Kind kind = static_cast<Kind>(state.range(0));
  const Input input = MakeInput(kind);
  Rows rows(&kTypes[kind], 1);
  AppendAll(input, &rows);
  const char* encoding = "";
  size_t bytes = 0;
  for (auto _ : state) {
    void* segment = EncodeSegment(rows, 0, &bytes);
    encoding = EncodingName(segment);
    std::free(segment);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetLabel(std::string(kKindNames[kind]) + ": " + encoding + ", bytes/row " +
                 std::to_string(static_cast<double>(bytes) / kRows).substr(0, 5));
}

// all: every row; otherwise every 20th.
void BenchDecode(benchmark::State& state, bool all) {
  const Kind kind = static_cast<Kind>(state.range(0));
  Rows rows(&kTypes[kind], 1);
  AppendAll(MakeInput(kind), &rows);
  size_t bytes;
  const std::unique_ptr<void, decltype(&std::free)> segment(EncodeSegment(rows, 0, &bytes), &std::free);
  std::vector<uint16_t> selected;
  for (uint32_t row = 0; row < kVectorRows; row += 20) selected.push_back(static_cast<uint16_t>(row));
  Arena reader_arena, arena;
  const SegmentReader reader(segment.get(), &reader_arena);
  uint64_t decoded = 0;
  for (auto _ : state) {
    for (uint32_t begin = 0; begin + kVectorRows <= kRows; begin += kVectorRows) {
      arena.Reset();
      Vector v = all ? reader.Decode(begin, kVectorRows, arena)
                     : reader.DecodeSelected(begin, kVectorRows, selected.data(),
                                             static_cast<uint32_t>(selected.size()), arena);
      benchmark::DoNotOptimize(v.data);
      decoded += all ? kVectorRows : selected.size();
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(decoded));
  state.SetLabel(std::string(kKindNames[kind]) + ": " + EncodingName(segment.get()));
}

BENCHMARK(BenchAppend)->Name("append")->DenseRange(0, kKinds - 1);
BENCHMARK(BenchEncode)->Name("encode")->DenseRange(0, kKinds - 1);
BENCHMARK_CAPTURE(BenchDecode, all, true)->Name("decode")->DenseRange(0, kKinds - 1);
BENCHMARK_CAPTURE(BenchDecode, some, false)->Name("decode_selected")->DenseRange(0, kKinds - 1);

}  // namespace
}  // namespace penumbra::bench
