#include "penumbra/sort.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels_testing.h"

inline bool operator==(PenumbraWideKey a, PenumbraWideKey b) { return a.high == b.high && a.low == b.low; }
inline bool operator<(PenumbraWideKey a, PenumbraWideKey b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

namespace penumbra::kernels {
namespace {

template <typename T>
constexpr PenumbraKeyKind kKind = PENUMBRA_KEY_UINT128;
template <>
constexpr PenumbraKeyKind kKind<int16_t> = PENUMBRA_KEY_INT16;
template <>
constexpr PenumbraKeyKind kKind<int32_t> = PENUMBRA_KEY_INT32;
template <>
constexpr PenumbraKeyKind kKind<int64_t> = PENUMBRA_KEY_INT64;
template <>
constexpr PenumbraKeyKind kKind<uint64_t> = PENUMBRA_KEY_UINT64;

enum Shape { kMixed, kAscending, kDescending, kEqual, kFew, kSawTooth, kShapes };

class SortTest : public KernelTest {
 protected:
  static std::vector<size_t> SortSizes() {
    std::vector<size_t> sizes = Sizes();
    for (size_t size : {2, 3, 5, 24, 25, 33, 129, 257, 5000, 20000}) sizes.push_back(size);
    return sizes;
  }

  template <typename T>
  T Key() {
    if constexpr (sizeof(T) == 16) {
      return {Value<uint64_t>(), Value<uint64_t>()};
    } else {
      return Value<T>();
    }
  }

  template <typename T>
  std::vector<T> Keys(size_t count, Shape shape) {
    std::vector<T> keys(count);
    const T few[] = {Key<T>(), Key<T>(), Key<T>()};
    for (T& key : keys) {
      key = shape == kEqual ? few[0] : shape == kFew ? few[random() % 3] : Key<T>();
    }
    const auto sort_part = [&](size_t begin, size_t end) { std::sort(keys.begin() + begin, keys.begin() + end); };
    if (shape == kAscending || shape == kDescending) sort_part(0, count);
    if (shape == kDescending) std::reverse(keys.begin(), keys.end());
    if (shape == kSawTooth) {
      for (size_t begin = 0; begin < count; begin += 100) {
        sort_part(begin, std::min(begin + 100, count));
      }
    }
    return keys;
  }

  template <typename F>
  void ForEachInput(F f) {
    for (size_t size : SortSizes()) {
      for (int shape = 0; shape < kShapes; ++shape) f(size, static_cast<Shape>(shape));
    }
  }

  template <typename T>
  void CheckSort() {
    ForEachInput([this](size_t size, Shape shape) {
      const std::vector<T> keys = Keys<T>(size, shape);
      std::vector<T> expected = keys;
      std::sort(expected.begin(), expected.end());
      for (bool descending : {false, true}) {
        // One more key behind, which must stay.
        const T guard = Key<T>();
        std::vector<T> sorted = keys;
        sorted.push_back(guard);
        penumbra_sort_keys(kKind<T>, sorted.data(), size, descending);
        ASSERT_TRUE(sorted.back() == guard);
        sorted.pop_back();
        ASSERT_TRUE(sorted == expected) << "size " << size << ", shape " << shape;
        std::reverse(expected.begin(), expected.end());
      }
    });
  }

  template <typename T>
  void CheckOrder() {
    ForEachInput([this](size_t size, Shape shape) {
      std::vector<T> keys = Keys<T>(size, shape);
      for (bool descending : {false, true}) {
        const bool expected =
            descending ? std::is_sorted(keys.rbegin(), keys.rend()) : std::is_sorted(keys.begin(), keys.end());
        ASSERT_EQ(penumbra_keys_are_ordered(kKind<T>, keys.data(), size, descending), expected);
      }
    });
    // One wrong neighbour, at every place.
    for (size_t size : {2, 63, 64, 65, 66, 130, 200}) {
      for (size_t place = 1; place < size; ++place) {
        std::vector<T> keys(size, Key<T>());
        for (size_t i = place; i < size; ++i) keys[i] = Key<T>();
        std::fill(keys.begin() + place, keys.end(), keys[place]);
        const bool rises = keys[0] < keys[place];
        const bool falls = keys[place] < keys[0];
        ASSERT_EQ(penumbra_keys_are_ordered(kKind<T>, keys.data(), size, false), !falls);
        ASSERT_EQ(penumbra_keys_are_ordered(kKind<T>, keys.data(), size, true), !rises);
      }
    }
  }

  template <typename T>
  void CheckBuckets() {
    for (size_t size : {1, 7, 8, 100, 5000, 30000}) {
      for (int shape = 0; shape < kShapes; ++shape) {
        const std::vector<T> keys = Keys<T>(size, static_cast<Shape>(shape));
        PenumbraSplitters splitters;
        penumbra_choose_splitters(kKind<T>, keys.data(), size, size, &splitters);
        uint64_t counts[PENUMBRA_BUCKETS] = {};
        const size_t half = size / 2;
        penumbra_count_buckets(&splitters, keys.data(), half, counts);
        penumbra_count_buckets(&splitters, keys.data() + half, size - half, counts);
        uint64_t begins[PENUMBRA_BUCKETS];
        uint64_t total = 0;
        for (size_t b = 0; b < PENUMBRA_BUCKETS; total += counts[b++]) begins[b] = total;
        ASSERT_EQ(total, size);
        std::vector<T> out(size);
        uint64_t positions[PENUMBRA_BUCKETS];
        std::copy_n(begins, size_t{PENUMBRA_BUCKETS}, positions);
        penumbra_scatter_keys(&splitters, keys.data(), half, positions, out.data());
        penumbra_scatter_keys(&splitters, keys.data() + half, size - half, positions, out.data());
        for (size_t b = 0; b < PENUMBRA_BUCKETS; ++b) {
          ASSERT_EQ(positions[b], begins[b] + counts[b]);
          const auto begin = out.begin() + begins[b];
          if (b % 2 == 1) {
            for (size_t i = 1; i < counts[b]; ++i) ASSERT_TRUE(begin[i] == begin[0]);
          }
          std::sort(begin, begin + counts[b]);
        }
        std::vector<T> expected = keys;
        std::sort(expected.begin(), expected.end());
        ASSERT_TRUE(out == expected) << "size " << size << ", shape " << shape;
      }
    }
  }

  template <typename T>
  void CheckSelection() {
    ForEachInput([this](size_t size, Shape shape) {
      std::vector<T> keys = Keys<T>(size, shape);
      const T bound = size == 0 ? Key<T>() : keys[random() % size];
      for (bool greater : {false, true}) {
        std::vector<T> expected;
        for (T key : keys) {
          if (greater ? bound < key : key < bound) expected.push_back(key);
        }
        std::vector<T> selected(size + 1);
        selected.resize(penumbra_select_keys(kKind<T>, keys.data(), size, &bound, greater, selected.data()));
        ASSERT_TRUE(selected == expected);
      }
      std::vector<T> reversed = keys;
      penumbra_reverse_keys(kKind<T>, reversed.data(), size, size / 4, size / 2);
      penumbra_reverse_keys(kKind<T>, reversed.data(), size, 0, size / 4);
      ASSERT_TRUE(std::equal(keys.begin(), keys.end(), reversed.rbegin()));
      std::sort(keys.begin(), keys.end());
      std::vector<T> distinct = keys;
      distinct.resize(penumbra_drop_equal_keys(kKind<T>, distinct.data(), size));
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      ASSERT_TRUE(distinct == keys);
    });
  }

  template <typename T, typename Bits, typename Encode, typename Decode>
  void CheckFloats(Encode encode, Decode decode) {
    for (size_t size : SortSizes()) {
      const std::vector<T> values = Values<T>(size);
      std::vector<Bits> bits(size);
      std::transform(values.begin(), values.end(), bits.begin(), [](T value) { return std::bit_cast<Bits>(value); });
      std::vector<Bits> before = bits;
      size_t next = 0;
      size_t numbers = size;
      while (next < numbers) encode(bits.data(), &next, &numbers, 1 + random() % 2000);
      ASSERT_EQ(next, numbers);
      ASSERT_EQ(numbers, static_cast<size_t>(
                             std::count_if(values.begin(), values.end(), [](T value) { return value == value; })));
      const std::vector<Bits> keys(bits.begin(), bits.begin() + numbers);
      decode(bits.data(), numbers);
      for (size_t i = 0; i < size; ++i) {
        const T value = std::bit_cast<T>(bits[i]);
        ASSERT_EQ(value != value, i >= numbers);
        for (size_t j = i < 20 ? 0 : i - 20; i < numbers && j < i; ++j) {
          const T other = std::bit_cast<T>(bits[j]);
          const bool is_less = value == other ? bits[i] < bits[j] : value < other;
          ASSERT_EQ(keys[i] < keys[j], is_less);
        }
      }
      std::sort(before.begin(), before.end());
      std::sort(bits.begin(), bits.end());
      ASSERT_EQ(bits, before);
    }
  }
};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(SortTest);

TEST_P(SortTest, SortsLikeStd) {
  CheckSort<int16_t>();
  CheckSelection<int16_t>();
  CheckSort<int32_t>();
  CheckSelection<int32_t>();
  CheckSort<int64_t>();
  CheckSelection<int64_t>();
  CheckSort<uint64_t>();
  CheckSelection<uint64_t>();
  CheckSort<PenumbraWideKey>();
  CheckSelection<PenumbraWideKey>();
}

TEST_P(SortTest, FindsOrder) {
  CheckOrder<int16_t>();
  CheckOrder<int32_t>();
  CheckOrder<int64_t>();
  CheckOrder<uint64_t>();
  CheckOrder<PenumbraWideKey>();
}

TEST_P(SortTest, BucketsHoldRanges) {
  CheckBuckets<int16_t>();
  CheckBuckets<int32_t>();
  CheckBuckets<int64_t>();
  CheckBuckets<uint64_t>();
  CheckBuckets<PenumbraWideKey>();
}

TEST_P(SortTest, FloatsAsKeys) {
  CheckFloats<float, int32_t>(penumbra_encode_float4, penumbra_decode_float4);
  CheckFloats<double, int64_t>(penumbra_encode_float8, penumbra_decode_float8);
}

// The least keys stand where one seed has samples taken: all others are greater than its splitters.
TEST(SortKeysTest, KeysArrangedForOneSeedAreSpreadByAnother) {
  constexpr size_t kCount = 200'000, kSamples = 32 * PENUMBRA_SPLITTERS;
  constexpr uint64_t kSeed = 12345;
  std::vector<int64_t> keys(kCount);
  for (size_t i = 0; i < kCount; ++i) keys[i] = 1'000'000 + static_cast<int64_t>(i);
  uint64_t state = kSeed;
  for (size_t i = 0; i < kSamples; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    keys[(state >> 32) % kCount] = static_cast<int64_t>(i);
  }
  const auto largest_bucket = [&keys](uint64_t seed) {
    PenumbraSplitters splitters;
    penumbra_choose_splitters(PENUMBRA_KEY_INT64, keys.data(), kCount, seed, &splitters);
    uint64_t counts[PENUMBRA_BUCKETS] = {};
    penumbra_count_buckets(&splitters, keys.data(), kCount, counts);
    return *std::max_element(counts, std::end(counts));
  };
  EXPECT_GT(largest_bucket(kSeed), kCount / 10 * 9);
  EXPECT_LT(largest_bucket(kSeed + 1), kCount / 50);
}

TEST(SortKeysTest, BytesAsKeys) {
  std::mt19937_64 random{20260101};
  std::vector<std::array<unsigned char, 16>> bytes(1000);
  for (auto& value : bytes) {
    for (auto& byte : value) byte = random() % 3 == 0 ? 0xff : random() % 3;
  }
  std::vector<PenumbraWideKey> keys(bytes.size());
  penumbra_encode_bytes16(bytes.data(), bytes.size(), keys.data());
  std::sort(keys.begin(), keys.end());
  std::vector<std::array<unsigned char, 16>> sorted(bytes.size());
  penumbra_decode_bytes16(keys.data(), keys.size(), sorted.data());
  std::sort(bytes.begin(), bytes.end());
  ASSERT_EQ(sorted, bytes);
}

}  // namespace
}  // namespace penumbra::kernels
