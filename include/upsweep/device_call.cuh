// What calls that bring a kernel of one's own to a GPU have in common.
#pragma once
#include <string>

#include "kernel/kernel.h"
#include "upsweep/device.h"
#include "upsweep/error.h"

namespace upsweep::detail {

// Before a launch: Throws Error(unsupported) where this program's kernels do not run; `instead` is what does on the
// CPU.
inline void require_kernels_on(const Device& device, const std::string& call, const char* instead) {
  if (device.backend() == kernel_backend) return device.platform().activate();
  throw Error(Code::unsupported, call + ": " + device.name() + " does not run this kernel",
              std::string("on the CPU, use ") + instead);
}

inline void require_success(Status status, const std::string& rung) {
  if (!status) throw Error(status.code, rung + " failed: " + (status.message ? status.message : "no message"));
}

}  // namespace upsweep::detail
