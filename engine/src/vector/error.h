// Errors inside the engine are exceptions of this one type; the C functions in c_api.cc and the task
// runner turn them into PenumbraStatus, so none crosses the wall.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "penumbra/types.h"

namespace penumbra {

class EngineError : public std::exception {
 public:
  explicit EngineError(PenumbraCode code, std::string message = {}) : code_(code), message_(std::move(message)) {}
  PenumbraCode code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  PenumbraCode code_;
  std::string message_;
};

}  // namespace penumbra
