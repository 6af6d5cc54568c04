// The exception that upsweep throws: a code, a message and a hint.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "upsweep/status.h"

namespace upsweep {

// what() is one line that says what went wrong and where; hint() says how to fix it, or is empty.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  Code code() const noexcept { return code_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  Code code_;
  std::string hint_;
};

}  // namespace upsweep
