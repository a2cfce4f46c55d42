// Sort keys as bytes whose memcmp order is the order wanted.
//
// The keys of a row are encoded one after the other into a prefix of 16 bytes, each so that no
// value's code is the beginning of another's:
//   most types   a byte for null or not, then the value big-endian with its order made unsigned
//   text         a byte for null or not, the bytes (zeros and ones as two bytes each), a zero byte; ordered by
//                a locale only the first, or with it the beginning of its weights, and no further key is
//                encoded after it
//   numeric      of one scale as an integer (IntegerScale); any other
//                11 bytes: class and exponent (null, -inf, negative, zero, positive, inf, NaN),
//   then
//                18 digits and a bit that says whether more follow; no further key is encoded after
//                a value with more digits
// A descending key has all bits inverted, nulls aside. Rows with equal prefixes are compared by
// their values where a prefix may not hold all (HasExactPrefix).
#pragma once

#include <vector>

#include "row/row_layout.h"
#include "sort/sort_spec.h"

namespace penumbra {

struct SortPrefix {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator<(const SortPrefix& other) const { return high < other.high || (high == other.high && low < other.low); }
  bool operator==(const SortPrefix& other) const { return high == other.high && low == other.low; }
};

// The entries of a dictionary that are known to be beyond a bound, by code.
struct BeyondCodes {
  uint64_t dictionary_id = 0;
  std::vector<uint8_t> is_beyond;
};

class SortKeys {
 public:
  // columns[k]: where the row holds key k.
  // With has_weights prefixes hold strxfrm's weights of text that a locale orders. They may order rows
  // otherwise than strcoll: whoever asks for them proves the result, see NeedsProof().
  SortKeys(const std::vector<SortKeySpec>& keys, std::vector<int> columns, const RowLayout& layout, bool has_weights);

  // Whether rows in the order of prefixes, then of CompareRows(), are in order only if each neighbours are by
  // CompareRows() alone.
  bool NeedsProof() const { return needs_proof_; }

  bool HasExactPrefix() const { return is_exact_; }
  // Prefixes of the selected rows of the keys' (flat) vectors. Whether each holds all of its keys, so that rows with
  // equal ones are equal; true of all rows if HasExactPrefix().
  bool Encode(const Vector* keys, RowSelection selection, SortPrefix* prefixes) const;
  // The rows whose first word, with the first key alone encoded, is not beyond `bound`: by
  // comparing values, without encoding any. False when that does not work for the key's type and
  // form.
  bool SelectFirst(const Vector& key, uint32_t rows, uint64_t bound, uint64_t* bits) const;
  // The first words of the prefixes, as far as the first key goes; the rest is zero.
  void EncodeFirstWords(const Vector& key, uint32_t rows, uint64_t* words) const;
  bool IsFirstString() const { return keys_[0].type == PENUMBRA_TEXT || keys_[0].type == PENUMBRA_BPCHAR; }
  // The rows whose first key, a string, is not beyond that of `row`; ascending, to `selected`. `key` is flat, or has a
  // dictionary with an identifier. `beyond` is of the calls before, whose rows were beyond this one or equal to it.
  uint32_t SelectStrings(const Vector& key, uint32_t rows, const char* row, BeyondCodes* beyond,
                         uint16_t* selected) const;
  // <0, 0, >0 by the values in the rows.
  int CompareRows(const char* a, const char* b) const;
  // Whether that is 0.
  bool AreEqual(const char* a, const char* b) const;
  // The same of the first key of `a` and the value of its type that `b` has in another column.
  int CompareFirst(const char* a, const char* b, int column) const { return CompareKey(keys_[0], a, b, column); }

 private:
  struct Key {
    PenumbraType type;
    PenumbraType code_type;  // as it is encoded
    int integer_scale;       // of a NUMERIC that is encoded as an integer (numeric/integer_codes.h); -1: it is not
    bool descending;
    bool nulls_first;
    int column;
    const Collation* collation;  // of text in another order than that of its bytes
  };
  struct Cursor {
    // Past a key's code. What exceeds the prefix is cut.
    void Advance(uint32_t length);

    char bytes[64];
    uint32_t at;
    bool is_cut;
  };
  bool EncodeKeys(const Vector* keys, size_t key_count, RowSelection selection, SortPrefix* prefixes) const;
  void EncodeFixedKeys(const Vector* keys, RowSelection selection, SortPrefix* prefixes) const;
  Vector CodesOf(const Key& key, const Vector& v, uint32_t rows, Arena& arena) const;
  void EncodeKey(const Key& key, const Vector& v, RowSelection selection, Cursor* cursors) const;
  void EncodeCollated(const Key& key, const Vector& v, RowSelection selection, Cursor* cursors) const;
  // Of a's value of the key and b's in `column`.
  int CompareKey(const Key& key, const char* a, const char* b, int column) const;
  int CompareValues(const Key& key, const char* a, const char* b, int column) const;

  std::vector<Key> keys_;
  const RowLayout& layout_;
  const bool has_weights_;
  bool is_exact_ = true;
  bool are_fixed_ = true;   // the prefix holds all keys, each of one width
  bool are_coded_ = false;  // some are encoded as another type
  bool needs_proof_ = false;
};

}  // namespace penumbra
