// What an exception is for a caller in C.
#pragma once

#include <cstring>
#include <exception>
#include <new>

#include "penumbra/engine.h"
#include "vector/error.h"

namespace penumbra {

// Of a long message the status has the beginning.
inline PenumbraStatus MakeStatus(PenumbraCode code, const char* message) {
  PenumbraStatus status{};
  status.code = code;
  std::strncpy(status.message, message, sizeof(status.message) - 1);
  return status;
}

// That of the exception in flight.
inline PenumbraStatus CurrentStatus() {
  try {
    throw;
  } catch (const EngineError& error) {
    return MakeStatus(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return MakeStatus(PENUMBRA_OUT_OF_MEMORY, "");
  } catch (const std::exception& error) {
    return MakeStatus(PENUMBRA_INTERNAL, error.what());
  } catch (...) {
    return MakeStatus(PENUMBRA_INTERNAL, "unknown exception");
  }
}

}  // namespace penumbra
