// The state of a Device, and the lookup from a rung's name to its function.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "base/platform.h"
#include "base/workspace.h"
#include "upsweep/device.h"

namespace upsweep::detail {

struct DeviceState {
  DeviceState(Platform& p, Stream s, bool owns) : platform(p), stream(s), owns_stream(owns) {}
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState() {
    if (owns_stream) platform.destroy_stream(stream);
  }

  // Returns the rung for calls that name none; looked up once per contract.
  const Rung& default_rung(const Contract& contract);

  Platform& platform;
  const Stream stream;
  const bool owns_stream;
  Workspace workspace{platform};  // the rungs' scratch
  Workspace staging{platform};    // device copies of host arrays
  const Backend backend = platform.backend();

 private:
  std::vector<std::pair<const Contract*, const Rung*>> defaults_;
};

// Returns the rung `name` of a ladder, or its default if the name is empty. Throws Error(invalid_argument) with the
// ladder's names in the hint.
const Rung& resolve_rung(DeviceState& state, const Contract& contract, std::string_view name);

// Returns the rung's function. Throws Error(unsupported) if it does not take this type, operation or n.
RunFn resolve_run(const Rung& rung, Type type, Operation operation, std::size_t n, const Machine& machine);

}  // namespace upsweep::detail
