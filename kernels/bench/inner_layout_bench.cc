// Layouts for the inner levels of a tree of 8-byte keys: lookups of a child, and what one more key costs.
//
// A lookup finds the first key that is not less, and reads its child (4 bytes). Lookups wait for each other,
// as those of an index do.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inner_layout_bench.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penumbra::inner_layout_bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// How many of a node's 16 keys are less.
HWY_INLINE size_t CountLess(const uint64_t* node, uint64_t key) {
  const hn::CappedTag<uint64_t, 16> d;
  const auto bound = hn::Set(d, key);
  size_t less = 0;
  for (size_t i = 0; i < 16; i += hn::Lanes(d)) {
    less += hn::CountTrue(d, hn::Lt(hn::LoadU(d, node + i), bound));
  }
  return less;
}

// The place of the bound in the lowest level: levels[i] begins there in keys, the root is the last.
size_t SearchStaticTree(const uint64_t* keys, const size_t* levels, size_t height, uint64_t key) {
  size_t node = 0;
  for (size_t level = height; level-- > 1;) {
    node = node * 17 + CountLess(keys + levels[level] + node * 16, key);
  }
  return node * 16 + CountLess(keys + node * 16, key);
}

}  // namespace penumbra::inner_layout_bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "penumbra/key_search.h"

namespace penumbra::inner_layout_bench {
HWY_EXPORT(SearchStaticTree);
namespace {

using Keys = std::vector<uint64_t>;
constexpr uint64_t kLast = ~uint64_t{0};

void Insert(auto* array, size_t count, size_t at) {
  std::memmove(array + at + 1, array + at, (count - at) * sizeof(*array));
}

// One sorted array, halved without branches.
class SortedArray {
 public:
  explicit SortedArray(const Keys& keys) : keys_(keys), children_(keys.size() + 1) {
    keys_.push_back(kLast);
    for (size_t i = 0; i < keys.size(); ++i) children_[i] = static_cast<uint32_t>(i);
  }
  uint32_t Find(uint64_t key) const {
    const uint64_t* begin = keys_.data();
    for (size_t count = keys_.size() - 1; count > 1;) {
      const size_t half = count / 2;
      count -= half;
      __builtin_prefetch(begin + count / 2);
      __builtin_prefetch(begin + half + count / 2);
      begin += begin[half - 1] < key ? half : 0;
    }
    return children_[static_cast<size_t>(begin - keys_.data()) + (*begin < key)];
  }
  void Add(size_t at) {
    Insert(keys_.data(), keys_.size() - 1, at);
    Insert(children_.data(), children_.size() - 1, at);
  }

 private:
  Keys keys_;
  std::vector<uint32_t> children_;
};

// The children of key i are 2i and 2i + 1.
class Eytzinger {
 public:
  explicit Eytzinger(const Keys& keys) : keys_(keys.size() + 1), children_(keys.size() + 1) {
    size_t next = 0;
    Plant(keys, 1, &next);
  }
  uint32_t Find(uint64_t key) const {
    size_t i = 1;
    while (i < keys_.size()) {
      __builtin_prefetch(keys_.data() + i * 8);
      i = 2 * i + (keys_[i] < key);
    }
    return children_[i >> __builtin_ffsll(static_cast<long long>(~i))];
  }

 private:
  void Plant(const Keys& sorted, size_t i, size_t* next) {
    if (i >= keys_.size()) return;
    Plant(sorted, 2 * i, next);
    keys_[i] = sorted[*next];
    children_[i] = static_cast<uint32_t>((*next)++);
    Plant(sorted, 2 * i + 1, next);
  }

  Keys keys_;
  std::vector<uint32_t> children_;
};

// A complete binary tree, cut at half its height again and again, each part in one piece. Places are
// computed from the depth: Brodal, Fagerberg and Jacob, Cache-oblivious search trees via binary trees of small
// height (2002).
class VanEmdeBoas {
 public:
  explicit VanEmdeBoas(const Keys& keys) {
    while ((size_t{1} << height_) <= keys.size()) ++height_;
    Cut(0, height_);
    keys_.resize(size_t{1} << height_);
    children_.resize(keys.size() + 1);
    for (size_t i = 0; i < keys.size(); ++i) children_[i] = static_cast<uint32_t>(i);
    for (size_t node = 1; node < keys_.size(); ++node) {
      const size_t depth = 63 - static_cast<size_t>(__builtin_clzll(node));
      size_t places[64] = {};
      for (size_t d = 1; d <= depth; ++d) places[d] = Place(places, d, node >> (depth - d));
      const size_t in_level = node - (size_t{1} << depth);
      const size_t rank = ((2 * in_level + 1) << (height_ - depth - 1)) - 1;
      keys_[places[depth]] = rank < keys.size() ? keys[rank] : kLast;
    }
  }
  uint32_t Find(uint64_t key) const {
    size_t places[64];
    size_t node = 1;
    places[0] = 0;
    for (size_t depth = 0;;) {
      node = 2 * node + (keys_[places[depth]] < key);
      if (++depth == height_) break;
      places[depth] = Place(places, depth, node);
    }
    return children_[node - (size_t{1} << height_)];
  }

 private:
  struct Level {
    size_t above;   // levels up to the root of the part above
    size_t mask;    // its number of nodes
    size_t bottom;  // nodes of each part below
  };

  size_t Place(const size_t* places, size_t depth, size_t node) const {
    const Level& level = levels_[depth];
    return places[depth - level.above] + level.mask + (node & level.mask) * level.bottom;
  }
  void Cut(size_t depth, size_t height) {
    if (height < 2) return;
    const size_t top = height / 2;
    levels_[depth + top] = {top, (size_t{1} << top) - 1, (size_t{1} << (height - top)) - 1};
    Cut(depth, top);
    Cut(depth + top, height - top);
  }

  size_t height_ = 0;
  Level levels_[64] = {};
  Keys keys_;
  std::vector<uint32_t> children_;
};

// Nodes of 16 keys and 17 children without pointers, compared side by side.
class StaticTree {
 public:
  explicit StaticTree(const Keys& keys) : children_(keys.size() + 1) {
    for (size_t i = 0; i < keys.size(); ++i) children_[i] = static_cast<uint32_t>(i);
    size_t nodes = (keys.size() + 15) / 16;
    std::vector<size_t> nodes_of;
    for (size_t begin = 0;; nodes = (nodes + 16) / 17) {
      levels_.push_back(begin);
      nodes_of.push_back(nodes);
      begin += nodes * 16;
      keys_.resize(begin, kLast);
      if (nodes == 1) break;
    }
    std::copy(keys.begin(), keys.end(), keys_.begin());
    for (size_t level = 1, leaves_below = 1; level < levels_.size(); ++level, leaves_below *= 17) {
      for (size_t i = 0; i < nodes_of[level] * 16; ++i) {
        // What separates two children is the last key of the left one's last leaf.
        const size_t leaf = (i / 16 * 17 + i % 16 + 1) * leaves_below;
        if (leaf < nodes_of[0]) keys_[levels_[level] + i] = keys[leaf * 16 - 1];
      }
    }
  }
  uint32_t Find(uint64_t key) const {
    return children_[HWY_DYNAMIC_DISPATCH(SearchStaticTree)(keys_.data(), levels_.data(), levels_.size(), key)];
  }

 private:
  Keys keys_;
  std::vector<size_t> levels_;
  std::vector<uint32_t> children_;
};

// Images of pages, found in an array of their first keys: what extensions/keytree does.
class PageImages {
 public:
  explicit PageImages(const Keys& keys) {
    for (size_t from = 0; from < keys.size(); from += kKeys) {
      Image& image = images_.emplace_back();
      image.count = std::min(kKeys, keys.size() - from);
      lows_.push_back(from == 0 ? 0 : keys[from - 1] + 1);
      for (size_t i = 0; i < image.count; ++i) {
        image.keys[i] = keys[from + i];
        image.children[i] = static_cast<uint32_t>(from + i);
      }
    }
  }
  uint32_t Find(uint64_t key) const {
    const size_t rank = penumbra_upper_bound_packed(reinterpret_cast<const char*>(lows_.data()), 8, lows_.size(), key);
    const Image& image = images_[rank - 1];
    return image.children[penumbra_lower_bound_packed(reinterpret_cast<const char*>(image.keys), 8, image.count, key)];
  }
  void Add(size_t at) {
    Image& image = images_[at / kKeys];
    Insert(image.keys, image.count, at % kKeys);
    Insert(image.children, image.count, at % kKeys);
  }

 private:
  // As an inner page filled to 70 %.
  static constexpr size_t kKeys = 470;
  struct Image {
    alignas(64) char header[128];
    uint64_t keys[670];
    uint32_t children[670];
    size_t count;
  };
  std::vector<Image> images_;
  Keys lows_;
};

const Keys& RandomKeys(size_t count) {
  static std::map<size_t, Keys> made;
  Keys& keys = made[count];
  if (keys.empty()) {
    std::mt19937_64 random(1);
    keys.resize(count);
    for (uint64_t& key : keys) key = random() >> 1;
    std::sort(keys.begin(), keys.end());
  }
  return keys;
}

template <typename Layout>
void Lookup(benchmark::State& state) {
  const Keys& keys = RandomKeys(static_cast<size_t>(state.range(0)));
  const Layout layout(keys);
  std::mt19937_64 random(2);
  Keys wanted(1 << 20);
  for (uint64_t& key : wanted) {
    const size_t rank = random() % keys.size();
    key = keys[rank] - random() % 2;
    const auto first = std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
    if (layout.Find(key) != static_cast<uint32_t>(first)) {
      state.SkipWithError("wrong child");
      return;
    }
  }
  size_t i = 0;
  uint32_t found = 0;
  for (auto _ : state) {
    asm volatile("" : "+r"(found) : : "memory");
    // The next key depends on what was found, though its value does not.
    benchmark::DoNotOptimize(found = layout.Find(wanted[i++ % wanted.size()] + (found >> 31)));
  }
}

template <typename Layout>
void AddKey(benchmark::State& state) {
  const Keys& keys = RandomKeys(static_cast<size_t>(state.range(0)));
  Layout layout(keys);
  std::mt19937_64 random(3);
  for (auto _ : state) layout.Add(random() % keys.size());
  benchmark::ClobberMemory();
}

// A layout that has no place for one more key is made anew.
template <typename Layout>
void Rebuild(benchmark::State& state) {
  const Keys& keys = RandomKeys(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Layout(keys));
}

void Sizes(benchmark::internal::Benchmark* bench) { bench->Arg(1000)->Arg(100'000)->Arg(10'000'000); }

BENCHMARK_TEMPLATE(Lookup, SortedArray)->Apply(Sizes);
BENCHMARK_TEMPLATE(Lookup, Eytzinger)->Apply(Sizes);
BENCHMARK_TEMPLATE(Lookup, VanEmdeBoas)->Apply(Sizes);
BENCHMARK_TEMPLATE(Lookup, StaticTree)->Apply(Sizes);
BENCHMARK_TEMPLATE(Lookup, PageImages)->Apply(Sizes);
BENCHMARK_TEMPLATE(AddKey, SortedArray)->Apply(Sizes);
BENCHMARK_TEMPLATE(AddKey, PageImages)->Apply(Sizes);
BENCHMARK_TEMPLATE(Rebuild, Eytzinger)->Apply(Sizes);
BENCHMARK_TEMPLATE(Rebuild, VanEmdeBoas)->Apply(Sizes);
BENCHMARK_TEMPLATE(Rebuild, StaticTree)->Apply(Sizes);

}  // namespace
}  // namespace penumbra::inner_layout_bench
#endif
