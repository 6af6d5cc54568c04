// upsweep::saxpy: from the public call to a rung.
#include <cstring>

#include "library/device_state.h"
#include "saxpy/contract.h"
#include "upsweep/transform.h"

namespace upsweep::detail {
namespace {

const Primitive& saxpy_primitive_of_this_program() {
  static const Primitive& primitive = *find_primitive("saxpy");
  return primitive;
}

void run(DeviceState& state, Type type, const void* a, const SaxpyArrays& arrays, const SaxpyOptions& options) {
  const Rung& rung = resolve_rung(state, saxpy_primitive_of_this_program(), options.rung);
  const RunFn run = resolve_run(rung, type, Op::sum);
  if (arrays.x_size != arrays.y_size)
    throw Error(Code::invalid_argument,
                "saxpy: x has " + std::to_string(arrays.x_size) + " elements, y " + std::to_string(arrays.y_size));
  if (arrays.out_size < arrays.x_size)
    throw Error(Code::invalid_argument, "saxpy: the output has " + std::to_string(arrays.out_size) +
                                            " elements, the inputs " + std::to_string(arrays.x_size));
  Call call = state.call;
  call.type = type;
  call.n = arrays.x_size;
  call.in = {arrays.x, arrays.y};
  call.out[0] = arrays.out;
  visit(type, [&]<class T>(TypeTag<T>) {
    T factor;
    std::memcpy(&factor, a, sizeof(T));
    ladders::saxpy::set_factor(call.params, factor);
  });
  run_or_throw(state, rung, run, call);
}

}  // namespace

void saxpy_queued(Device& device, Type type, const void* a, const SaxpyArrays& arrays, const SaxpyOptions& options) {
  run(*device.state(), type, a, arrays, options);
}

void saxpy_host(Device& device, Type type, const void* a, const SaxpyArrays& arrays, const SaxpyOptions& options) {
  DeviceState& state = *device.state();
  const std::size_t n = arrays.x_size, bytes = n * size_of(type);
  // What cannot be is found by run(), before it touches anything.
  if (state.backend == Backend::cpu || n == 0 || n != arrays.y_size || arrays.out_size < n)
    return run(state, type, a, arrays, options);
  if (resolve_rung(state, saxpy_primitive_of_this_program(), options.rung).from_host()) {
    run(state, type, a, arrays, options);
    return state.platform.synchronize(state.stream);
  }

  const std::size_t second = (bytes + 255) / 256 * 256;  // aligned as the first
  auto* const x = static_cast<std::byte*>(state.staging.scratch(second + bytes));
  if (!x && options.rung.empty()) return saxpy_host(device, type, a, arrays, {.rung = "from_host_pipelined"});
  if (!x)
    throw Error(Code::out_of_memory, "saxpy: no device memory for copies of " + std::to_string(2 * bytes) + " bytes",
                "do it in parts, or by from_host_pipelined");
  std::byte* const y = x + second;
  state.platform.copy_in(x, arrays.x, bytes, state.stream);
  state.platform.copy_in(y, arrays.y, bytes, state.stream);
  run(state, type, a, {x, n, y, n, y, n}, options);
  state.platform.copy_out(arrays.out, y, bytes, state.stream);
  state.platform.synchronize(state.stream);
}

}  // namespace upsweep::detail
