// The result of a launch, and the codes that it shares with errors.
#pragma once
#include <cstdint>

namespace upsweep {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,  // an invalid size, pointer, name or parameter; found before anything is launched
  unsupported,       // valid, but not supported by this rung or backend
  out_of_memory,     // host or device
  no_device,         // no GPU, no driver, or a build without CUDA
  device_error,      // a launch or a kernel failed; the message names the rung and the case
  bad_file,          // a file that is not what it claims to be
  io_error,          // open, read, write or rename failed
  wrong_result,      // a check found a difference
  interrupted,       // Ctrl-C
  lost_member,       // another process of a group has ended
};

// The result of a launch. It allocates nothing, so it costs a steady-state call nothing.
struct [[nodiscard]] Status {
  Code code = Code::ok;
  int native = 0;                 // the platform's own error number (a cudaError_t), or 0
  const char* message = nullptr;  // static text

  constexpr explicit operator bool() const { return code == Code::ok; }
};

}  // namespace upsweep
