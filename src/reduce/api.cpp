// upsweep::reduce: from the public call to a rung.
#include "base/parallel.h"
#include "library/device_state.h"
#include "upsweep/reduce.h"

namespace upsweep::detail {
namespace {

const Primitive& reduce_primitive_of_this_program() {
  static const Primitive& primitive = *find_primitive("reduce");
  return primitive;
}

// Everything that can be wrong with a call is found here, before anything is launched.
struct Resolved {
  const Rung& rung;
  RunFn run;
};
Resolved resolve(DeviceState& state, Type type, Op op, const void* in, std::size_t n, const ReduceOptions& options) {
  const Rung& rung = resolve_rung(state, reduce_primitive_of_this_program(), options.rung);
  const RunFn run = resolve_run(rung, type, op);
  if (n && !in)
    throw Error(Code::invalid_argument, "reduce: the input is null but has " + std::to_string(n) + " elements");
  if (options.block > 1024)
    throw Error(Code::invalid_argument, "reduce: a block of " + std::to_string(options.block) + " threads",
                "a block has at most 1024 threads; 0 leaves the choice to the rung");
  return {rung, run};
}

void run(DeviceState& state, const Resolved& resolved, Type type, Op op, const void* in, std::size_t n, void* out,
         const ReduceOptions& options) {
  Call& call = state.call;
  call.type = type;
  call.op = op;
  call.n = n;
  call.in[0] = in;
  call.out[0] = out;
  if (options.block || options.grid || options.threads) {
    Call tuned = call;
    if (options.block) tuned.params.set("block", options.block);
    if (options.grid) tuned.params.set("grid", options.grid);
    if (options.threads) tuned.params.set("threads", options.threads);
    run_or_throw(state, resolved.rung, resolved.run, tuned);
  } else {
    run_or_throw(state, resolved.rung, resolved.run, call);
  }
}

}  // namespace

void reduce_queued(Device& device, Type type, Op op, const void* in, std::size_t n, void* out,
                   const ReduceOptions& options) {
  DeviceState& state = *device.state();
  run(state, resolve(state, type, op, in, n, options), type, op, in, n, out, options);
}

void reduce_host(Device& device, Type type, Op op, const void* in, std::size_t n, void* out,
                 const ReduceOptions& options) {
  DeviceState& state = *device.state();
  const Resolved resolved = resolve(state, type, op, in, n, options);
  if (state.backend == Backend::cpu) return run(state, resolved, type, op, in, n, out, options);

  // One staging area: the result in its first 256 bytes, the alignment that kernels like, then the input.
  constexpr std::size_t in_offset = 256;
  const std::size_t bytes = n * size_of(type);
  auto* staging = static_cast<std::byte*>(state.staging.scratch(in_offset + bytes));
  if (!staging)
    throw Error(Code::out_of_memory, "reduce: no device memory for a copy of " + std::to_string(bytes) + " bytes",
                "reduce it in parts");
  if (n) state.platform.copy_in(staging + in_offset, in, bytes, state.stream);
  run(state, resolved, type, op, staging + in_offset, n, staging, options);
  state.platform.copy_out(out, staging, size_of(type), state.stream);
  state.platform.synchronize(state.stream);
}

void require_cpu(const Device& device) {
  if (device.backend() == Backend::cpu) return;
  throw Error(Code::unsupported, "a host function cannot be the operator of a reduction on " + device.name(),
              "use Device::cpu(), or instantiate a rung of upsweep/src with the operator in a .cu");
}

int cores() noexcept { return hardware_threads(); }

void run_parts_on_cores(int parts, void (*run)(void*, int) noexcept, void* context) noexcept {
  run_parts(parts, 0, run, context);
}

}  // namespace upsweep::detail
