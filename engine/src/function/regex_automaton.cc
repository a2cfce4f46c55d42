#include "function/regex_automaton.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "vector/error.h"

namespace penumbra {
namespace {

constexpr uint32_t kCodePoints = 0x110000;
constexpr uint32_t kColorsMax = 1 << 15;
constexpr uint32_t kContinuations = 64;  // 10xxxxxx

void Need(bool is_true) {
  if (!is_true) throw EngineError(PENUMBRA_INTERNAL, "damaged regular expression");
}

class Words {
 public:
  explicit Words(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Take() {
    T value;
    Need(bytes_.size() >= sizeof(T));
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> TakeMany(size_t count) {
    Need(bytes_.size() / sizeof(T) >= count);
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data(), count * sizeof(T));
    bytes_.remove_prefix(count * sizeof(T));
    return values;
  }
  bool is_empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

RegexAutomaton TakeAutomaton(Words& words) {
  const auto header = words.Take<PenumbraRegexAutomaton>();
  Need(header.state_count <= PENUMBRA_REGEX_STATES_MAX && header.arc_count <= PENUMBRA_REGEX_ARCS_MAX &&
       header.initial < header.state_count && header.final < header.state_count);
  RegexAutomaton automaton;
  automaton.state_count = header.state_count;
  automaton.initial = header.initial;
  automaton.final = header.final;
  for (const uint32_t flags : words.TakeMany<uint32_t>(header.state_count)) {
    automaton.makes_no_progress.push_back((flags & PENUMBRA_REGEX_NO_PROGRESS) != 0);
  }
  automaton.first_arc = words.TakeMany<uint32_t>(header.state_count + 1);
  automaton.arcs = words.TakeMany<RegexAutomaton::Arc>(header.arc_count);
  Need(std::is_sorted(automaton.first_arc.begin(), automaton.first_arc.end()) && automaton.first_arc.front() == 0 &&
       automaton.first_arc.back() == header.arc_count);
  for (const RegexAutomaton::Arc& arc : automaton.arcs) {
    Need(arc.to < header.state_count && (arc.color < kColorsMax || arc.color >= PENUMBRA_REGEX_END));
  }
  Need(automaton.arcs_of(header.final).empty());
  automaton.accepts_anything.resize(header.state_count);
  for (uint32_t state = 0; state < header.state_count; ++state) {
    bool has_any = false, has_end = false;
    for (const RegexAutomaton::Arc& arc : automaton.arcs_of(state)) {
      has_any |= arc.to == header.final && arc.color == PENUMBRA_REGEX_ANY;
      has_end |= arc.to == header.final && arc.color == PENUMBRA_REGEX_END;
    }
    automaton.accepts_anything[state] = has_any && has_end;
  }
  return automaton;
}

// Parts inside come later, so that a walk through them ends.
void CheckPart(const Regex& regex, uint32_t place) {
  const PenumbraRegexPart& part = regex.parts[place];
  const auto count = static_cast<uint32_t>(regex.parts.size());
  uint32_t inside = 0;
  for (uint32_t i = part.first, before = place; i != 0; before = i, i = regex.parts[i].next, ++inside) {
    Need(i > before && i < count);
  }
  Need(part.kind <= PENUMBRA_REGEX_REPEATED && part.group <= PENUMBRA_REGEX_GROUPS_MAX &&
       part.automaton < regex.automata.size());
  Need(part.kind == PENUMBRA_REGEX_UNDIVIDED  ? inside == 0
       : part.kind == PENUMBRA_REGEX_CHOICE   ? inside > 0
       : part.kind == PENUMBRA_REGEX_SEQUENCE ? inside == 2
                                              : inside == 1);
}

uint32_t EncodeUtf8(uint32_t code, char* to) {
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  const uint32_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  to[0] = static_cast<char>((0xff00 >> (more + 1) & 0xff) | code >> (6 * more));
  for (uint32_t i = 1; i <= more; ++i) to[i] = static_cast<char>(0x80 | (code >> (6 * (more - i)) & 0x3f));
  return more + 1;
}

// The nodes of UTF-8: equal ones are one. The first is that between characters.
class NodeMaker {
 public:
  // By byte.
  using Node = std::vector<int32_t>;

  explicit NodeMaker(std::span<const RegexAlphabet::Range> ranges) : ranges_(ranges), nodes_(1) {
    Node first(256, ColorAt(0));
    for (uint32_t byte = 0; byte < 0x80; ++byte) first[byte] = ColorAt(byte);
    for (uint32_t byte = 0xc2; byte < 0xe0; ++byte) first[byte] = Make((byte & 0x1f) << 6, 1);
    for (uint32_t byte = 0xe0; byte < 0xf0; ++byte) first[byte] = Make((byte & 0xf) << 12, 2);
    for (uint32_t byte = 0xf0; byte < 0xf5; ++byte) first[byte] = Make((byte & 7) << 18, 3);
    nodes_[0] = std::move(first);
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  int32_t ColorAt(uint32_t code) const { return -1 - static_cast<int32_t>(RangeOf(code)->color); }
  const RegexAlphabet::Range* RangeOf(uint32_t code) const {
    return std::upper_bound(ranges_.data(), ranges_.data() + ranges_.size(), code,
                            [](uint32_t c, const RegexAlphabet::Range& range) { return c < range.first; }) -
           1;
  }

  // Of the codes from `code` on, of which so many more bytes decide.
  int32_t Make(uint32_t code, uint32_t more) {
    const uint32_t codes = 1u << (6 * more);
    const bool is_uniform = RangeOf(code) == RangeOf(code + codes - 1);
    const std::pair<int32_t, uint32_t> uniform_key(ColorAt(code), more);
    if (is_uniform) {
      if (const auto known = uniform_.find(uniform_key); known != uniform_.end()) return known->second;
    }
    Node node(256, ColorAt(code));
    int32_t child = 0;
    for (uint32_t i = 0; i < kContinuations; ++i) {
      const uint32_t at = code + i * (codes / kContinuations);
      if (i == 0 || !is_uniform) child = more == 1 ? ColorAt(at) : Make(at, more - 1);
      node[0x80 + i] = child;
    }
    const auto [place, is_new] = numbers_.try_emplace(node, static_cast<int32_t>(nodes_.size()));
    if (is_new) nodes_.push_back(std::move(node));
    if (is_uniform) uniform_[uniform_key] = place->second;
    return place->second;
  }

  std::span<const RegexAlphabet::Range> ranges_;
  std::vector<Node> nodes_;
  std::map<Node, int32_t> numbers_;
  std::map<std::pair<int32_t, uint32_t>, int32_t> uniform_;
};

}  // namespace

RegexAlphabet::RegexAlphabet(std::span<const Range> ranges, bool is_utf8) : is_utf8_(is_utf8) {
  std::vector<NodeMaker::Node> nodes;
  if (is_utf8) {
    nodes = NodeMaker(ranges).nodes();
  } else {
    nodes.emplace_back(256);
    for (size_t i = 0; i < ranges.size(); ++i) {
      const uint32_t end = i + 1 < ranges.size() ? ranges[i + 1].first : 256;
      for (uint32_t byte = ranges[i].first; byte < std::min(end, 256u); ++byte) {
        nodes[0][byte] = -1 - static_cast<int32_t>(ranges[i].color);
      }
    }
  }
  std::map<std::vector<int32_t>, uint32_t> classes;
  std::vector<uint32_t> representatives;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    std::vector<int32_t> column;
    for (const NodeMaker::Node& node : nodes) column.push_back(node[byte]);
    const auto [place, is_new] = classes.try_emplace(std::move(column), static_cast<uint32_t>(classes.size()));
    if (is_new) representatives.push_back(byte);
    class_of_[byte] = static_cast<uint8_t>(place->second);
  }
  class_count_ = static_cast<uint32_t>(representatives.size());
  for (const NodeMaker::Node& node : nodes) {
    for (const uint32_t byte : representatives) next_.push_back(node[byte]);
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    const uint32_t all = is_utf8 ? kCodePoints : 256;
    const uint32_t end = i + 1 < ranges.size() ? ranges[i + 1].first : all;
    if (ranges[i].color >= only_.size()) only_.resize(ranges[i].color + 1);
    Only& only = only_[ranges[i].color];
    only.characters = std::min(only.characters + std::min(end - ranges[i].first, 2u), 2u);
    if (only.characters != 1) continue;
    only.bytes[0] = static_cast<char>(ranges[i].first);
    only.length = static_cast<uint8_t>(is_utf8 ? EncodeUtf8(ranges[i].first, only.bytes) : 1);
  }
}

uint32_t RegexAlphabet::ColorBefore(const char* begin, const char* end) const {
  const char* position = end - 1;
  while (is_utf8_ && position > begin && end - position < 4 && (*position & 0xc0) == 0x80) --position;
  uint32_t node = 0;
  for (; position < end; ++position) {
    const Step step = Next(node, ClassOf(*position));
    if (step.is_character && position + 1 == end) return step.value;
    node = step.is_character ? 0 : step.value;
  }
  return 0;
}

std::string_view RegexAlphabet::OnlyCharacter(uint32_t color) const {
  if (color >= only_.size() || only_[color].characters != 1) return {};
  return {only_[color].bytes, only_[color].length};
}

Regex ParseRegex(std::string_view bytes) {
  Words words(bytes);
  const auto header = words.Take<PenumbraRegexHeader>();
  Need(header.version == PENUMBRA_REGEX_VERSION && header.range_count > 0 && header.automaton_count >= 1 &&
       header.automaton_count <= 2 + PENUMBRA_REGEX_PARTS_MAX && header.part_count <= PENUMBRA_REGEX_PARTS_MAX &&
       header.group <= PENUMBRA_REGEX_GROUPS_MAX);
  const std::vector<RegexAlphabet::Range> ranges = words.TakeMany<RegexAlphabet::Range>(header.range_count);
  Need(ranges.front().first == 0);
  for (size_t i = 0; i < ranges.size(); ++i) {
    Need(ranges[i].color < kColorsMax && (i == 0 || ranges[i - 1].first < ranges[i].first));
  }
  Regex regex;
  regex.alphabet = RegexAlphabet(ranges, header.is_utf8 != 0);
  regex.is_shortest = header.is_shortest != 0;
  regex.group = header.group;
  for (uint32_t i = 0; i < header.automaton_count; ++i) regex.automata.push_back(TakeAutomaton(words));
  regex.parts = words.TakeMany<PenumbraRegexPart>(header.part_count);
  for (uint32_t i = 0; i < header.part_count; ++i) CheckPart(regex, i);
  Need(words.is_empty());
  return regex;
}

}  // namespace penumbra
