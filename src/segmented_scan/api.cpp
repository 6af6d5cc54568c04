// upsweep::segmented_exclusive_scan and its kin: from the public call to a rung.
#include "library/device_state.h"
#include "upsweep/scan.h"

namespace upsweep::detail {
namespace {

std::size_t bytes_of(const HeadsView& heads) {
  constexpr std::size_t element[] = {sizeof(std::uint8_t), sizeof(std::uint32_t), sizeof(std::uint64_t)};
  return heads.count * element[static_cast<int>(heads.kind)];
}

void run(DeviceState& state, ScanKind kind, Type type, Op op, const void* in, std::size_t n, const HeadsView& heads,
         void* out, std::size_t room, const ScanOptions& options) {
  static const Primitive& primitive = *find_primitive("segmented_scan");
  const Rung& rung = resolve_rung(state, primitive, options.rung);
  const RunFn run = resolve_run(rung, type, op);
  if (room < n)
    throw Error(Code::invalid_argument,
                "segmented scan: the output has " + std::to_string(room) + " elements, the input " + std::to_string(n));
  if (heads.kind != HeadsAre::offsets && heads.count < n)
    throw Error(Code::invalid_argument, std::string("segmented scan: there are ") + std::to_string(heads.count) +
                                            (heads.kind == HeadsAre::flags ? " flags" : " keys") + " for " +
                                            std::to_string(n) + " elements");
  Call call = state.call;
  call.type = type;
  call.op = op;
  call.n = n;
  call.in[0] = in;
  call.in[1] = heads.data;
  call.out[0] = out;
  call.params.set("inclusive", kind == ScanKind::inclusive);
  call.params.set("heads", static_cast<int>(heads.kind));
  if (heads.kind == HeadsAre::offsets) call.params.set("segments", static_cast<double>(heads.count));
  run_or_throw(state, rung, run, call);
}

}  // namespace

void segmented_scan_queued(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n,
                           const HeadsView& heads, void* out, std::size_t room, const ScanOptions& options) {
  run(*device.state(), kind, type, op, in, n, heads, out, room, options);
}

void segmented_scan_host(Device& device, ScanKind kind, Type type, Op op, const void* in, std::size_t n,
                         const HeadsView& heads, void* out, std::size_t room, const ScanOptions& options) {
  DeviceState& state = *device.state();
  if (state.backend == Backend::cpu || n == 0) return run(state, kind, type, op, in, n, heads, out, room, options);

  constexpr std::size_t alignment = 256;
  const std::size_t bytes = n * size_of(type), own = (bytes + alignment - 1) / alignment * alignment;
  auto* const staging = static_cast<std::byte*>(state.staging.scratch(own + bytes_of(heads)));  // scanned in place
  if (!staging)
    throw Error(Code::out_of_memory,
                "segmented scan: no device memory for a copy of " + std::to_string(own + bytes_of(heads)) + " bytes",
                "scan it in parts");
  state.platform.copy_in(staging, in, bytes, state.stream);
  if (heads.count) state.platform.copy_in(staging + own, heads.data, bytes_of(heads), state.stream);
  run(state, kind, type, op, staging, n, {heads.kind, staging + own, heads.count}, staging, room, options);
  state.platform.copy_out(out, staging, bytes, state.stream);
  state.platform.synchronize(state.stream);
}

}  // namespace upsweep::detail
