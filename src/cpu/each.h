// The CPU counterpart of kernel/each.h.
#pragma once
#include "base/implementation.h"
#include "upsweep/status.h"

namespace upsweep {

// Calls f(k) for each k < n.
template <class F>
Status for_each_index(const Execution& execution, unsigned n, const F& f) {
  if (execution.stream.dry) return {};
  for (unsigned k = 0; k < n; ++k) f(k);
  return {};
}

}  // namespace upsweep
