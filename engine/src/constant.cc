#include "constant.h"

#include <cstring>
#include <string>

#include "arena.h"
#include "error.h"
#include "numeric.h"

namespace penumbra {
namespace {

struct ConstantStorage {
  alignas(16) char value[16] = {};
  std::string bytes;
};

template <typename T>
void StoreValue(const T& value, ConstantStorage* storage) {
  static_assert(sizeof(T) <= sizeof(storage->value));
  std::memcpy(storage->value, &value, sizeof(T));
}

void StoreString(std::string_view bytes, ConstantStorage* storage) {
  storage->bytes = bytes;
  StoreValue(StringRef(storage->bytes.data(), static_cast<uint32_t>(storage->bytes.size())), storage);
}

void StoreNumeric(std::string_view payload, Vector* vector, ConstantStorage* storage) {
  auto length = static_cast<uint32_t>(payload.size());
  int64_t small = 0;
  int128 large = 0;
  int scale = 0;
  if (PayloadToInt64(payload.data(), length, &small, &scale)) {
    vector->numeric_form = NumericForm::kInt64;
    vector->lower = vector->upper = small;
    StoreValue(small, storage);
  } else if (PayloadToInt128(payload.data(), length, &large, &scale)) {
    vector->numeric_form = NumericForm::kInt128;
    vector->lower = vector->upper = large;
    StoreValue(large, storage);
  } else {
    vector->numeric_form = NumericForm::kPayload;
    StoreString(payload, storage);
    scale = 0;
  }
  vector->scale = static_cast<int16_t>(scale);
}

void StoreExternal(PenumbraType type, const PenumbraValue& value, Vector* vector, ConstantStorage* storage) {
  std::string_view bytes(static_cast<const char*>(value.bytes), value.bytes_length);
  switch (type) {
    case PENUMBRA_BOOL: StoreValue(static_cast<uint8_t>(value.integer != 0), storage); break;
    case PENUMBRA_INT2: StoreValue(static_cast<int16_t>(value.integer), storage); break;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: StoreValue(static_cast<int32_t>(value.integer), storage); break;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: StoreValue(value.integer, storage); break;
    case PENUMBRA_FLOAT4: StoreValue(static_cast<float>(value.real), storage); break;
    case PENUMBRA_FLOAT8: StoreValue(value.real, storage); break;
    case PENUMBRA_NUMERIC: StoreNumeric(bytes, vector, storage); break;
    case PENUMBRA_INTERVAL: StoreValue(value.interval, storage); break;
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: StoreString(bytes, storage); break;
    case PENUMBRA_UUID:
      if (bytes.size() != 16) throw EngineError(PENUMBRA_INTERNAL, "a uuid has 16 bytes");
      std::memcpy(storage->value, bytes.data(), 16);
      break;
    default: throw EngineError(PENUMBRA_INTERNAL, "unknown type");
  }
}

void Install(PenumbraType type, Vector vector, std::shared_ptr<ConstantStorage> storage, Expr* expr) {
  vector.type = type;
  vector.form = VectorForm::kConstant;
  vector.validity = nullptr;
  vector.dictionary = nullptr;
  vector.data = storage == nullptr ? nullptr : storage->value;
  expr->kind = Expr::Kind::kConstant;
  expr->type = type;
  expr->constant = vector;
  expr->storage = std::move(storage);
}

}  // namespace

void SetConstant(PenumbraType type, const PenumbraValue& value, Expr* expr) {
  Vector vector;
  std::shared_ptr<ConstantStorage> storage;
  if (!value.is_null) {
    storage = std::make_shared<ConstantStorage>();
    StoreExternal(type, value, &vector, storage.get());
  }
  Install(type, vector, std::move(storage), expr);
}

void SetConstant(const Vector& value, Expr* expr) {
  Vector vector;
  std::shared_ptr<ConstantStorage> storage;
  if (value.IsValid(0)) {
    Arena arena;
    Vector flat = value.is_constant() ? value : Flatten(value, 1, arena);
    storage = std::make_shared<ConstantStorage>();
    vector.numeric_form = flat.numeric_form;
    vector.scale = flat.scale;
    vector.lower = flat.lower;
    vector.upper = flat.upper;
    bool is_string = IsStringType(flat.type) ||
                     (flat.type == PENUMBRA_NUMERIC && flat.numeric_form == NumericForm::kPayload);
    if (is_string) {
      StoreString(flat.values<StringRef>()[0].view(), storage.get());
    } else {
      std::memcpy(storage->value, flat.data, FlatWidth(flat));
    }
  }
  Install(value.type, vector, std::move(storage), expr);
}

}  // namespace penumbra
