// Runs a user-defined operator on all cores, for upsweep/reduce.h.
#include "cpu/parallel.h"
#include "upsweep/reduce.h"

namespace upsweep::detail {

void require_cpu(const Device& device) {
  if (device.backend() == Backend::cpu) return;
  throw Error(Code::unsupported, "a host function cannot be the operator of a reduction on " + device.name(),
              "use Device::cpu(), or upsweep/reduce.cuh in a .cu");
}

int cores() noexcept { return hardware_threads(); }

void run_parts_on_cores(int parts, void (*run)(void*, int) noexcept, void* context) noexcept {
  run_parts(parts, 0, run, context);
}

}  // namespace upsweep::detail
