// Errors: one exception family with a code, a message and a hint; and the Status that launchers return.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace upsweep {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,  // an invalid size, pointer, name or parameter; found before anything is launched
  unsupported,       // valid, but not supported by this rung or backend
  out_of_memory,     // host or device
  no_device,         // no GPU, no driver, or a build without it
  device_error,      // a launch or a kernel failed; the message names the rung and the case
  bad_file,          // a file that is not what it claims to be
  io_error,          // open, read, write or rename failed
  wrong_result,      // a check found a difference
  interrupted,       // Ctrl-C
};

// Everything that upsweep throws. what() is one line: what went wrong, where; hint() says what to do, or is empty.
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

// The result of a launch: no allocation, so that it costs a steady-state call nothing.
struct [[nodiscard]] Status {
  Code code = Code::ok;
  int native = 0;                // the platform's own error number (a cudaError_t), or 0
  const char* message = nullptr;  // static text

  constexpr explicit operator bool() const { return code == Code::ok; }
};

}  // namespace upsweep
