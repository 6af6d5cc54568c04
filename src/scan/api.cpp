// upsweep::exclusive_scan and inclusive_scan: from the public call to a rung.
#include "library/device_state.h"
#include "upsweep/scan.h"

namespace upsweep::detail {
namespace {

void run(DeviceState& state, ScanKind kind, Type type, Op op, const void* in, std::size_t n, void* out,
         std::size_t room, const ScanOptions& options) {
  static const Primitive& primitive = *find_primitive("scan");
  const Rung& rung = resolve_rung(state, primitive, options.rung);
  const RunFn run = resolve_run(rung, type, op);
  if (room < n)
    throw Error(Code::invalid_argument,
                "scan: the output has " + std::to_string(room) + " elements, the input " + std::to_string(n));
  if (rung.largest && n > rung.largest)
    throw Error(Code::unsupported, "scan/" + std::string(rung.name) + " takes up to " + std::to_string(rung.largest) +
                                       " elements, not " + std::to_string(n));
  Call call = state.call;
  call.type = type;
  call.op = op;
  call.n = n;
  call.in[0] = in;
  call.out[0] = out;
  call.params.set("inclusive", kind == ScanKind::inclusive);
  run_or_throw(state, rung, run, call);
}

}  // namespace

void scan_queued(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n, void* out,
                 std::size_t room, const ScanOptions& options) {
  run(*device.state(), kind, type, op, in, n, out, room, options);
}

void scan_host(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n, void* out,
               std::size_t room, const ScanOptions& options) {
  DeviceState& state = *device.state();
  if (state.backend == Backend::cpu || n == 0) return run(state, kind, type, op, in, n, out, room, options);

  const std::size_t bytes = n * size_of(type);
  void* const staging = state.staging.scratch(bytes);  // scanned in place
  if (!staging)
    throw Error(Code::out_of_memory, "scan: no device memory for a copy of " + std::to_string(bytes) + " bytes",
                "scan it in parts");
  if (n) state.platform.copy_in(staging, in, bytes, state.stream);
  run(state, kind, type, op, staging, n, staging, room, options);
  if (n) state.platform.copy_out(out, staging, bytes, state.stream);
  state.platform.synchronize(state.stream);
}

}  // namespace upsweep::detail
