// What stands behind a Device, and the way from a rung's name to its function.
#pragma once
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/primitive.h"
#include "upsweep/device.h"

namespace upsweep::detail {

struct DeviceState {
  DeviceState(Platform& p, Stream s, bool owns) : platform(p), stream(s), owns_stream(owns) {
    call.workspace = &workspace;
    call.stream = stream;
  }
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState() {
    if (owns_stream) platform.destroy_stream(stream);
  }

  // The rung that runs when none is named; found once, then a look at one or two pointers.
  const Rung& default_rung(const Primitive& primitive);

  Platform& platform;
  const Stream stream;
  const bool owns_stream;
  Workspace workspace{platform};  // the rungs' scratch
  Workspace staging{platform};    // device copies of host inputs and results
  const Backend backend = platform.backend();
  Call call;  // no parameters; kept, because clearing its 300 bytes at each call took 10 ns of 30

 private:
  std::vector<std::pair<const Primitive*, const Rung*>> defaults_;
};

// The rung `name` of a primitive, or its default where the name is empty. Throws Error(invalid_argument) with the
// ladder's names in the hint.
const Rung& resolve_rung(DeviceState& state, const Primitive& primitive, std::string_view name);

// The rung's function; throws Error(unsupported) when it does not take this type and operator.
RunFn resolve_run(const Rung& rung, Type type, Op op);

// Runs it there; a failure becomes an Error that names rung and case. `in` and `out` are as the rung wants them.
void run_or_throw(DeviceState& state, const Rung& rung, RunFn run, const Call& call);

}  // namespace upsweep::detail
