// reduce on a GPU with an operator of one's own: for a .cu, which links upsweep::kernels.
#pragma once
#include "reduce/13_overlap.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/operator.cuh"
#include "upsweep/reduce.h"

namespace upsweep {

// out[0] = in[0] op ... op in[n-1], the neutral element when n is 0; by the fastest rung, with its guarantees: the same
// bits for the same n. The operator is also commutative. Queued on the device's stream and capturable, as
// reduce(device, in, out). Throws Error: invalid_argument (buffers of another device, an empty out), unsupported (the
// device is no GPU: there, reduce(device, range, neutral, op) takes any operator), out_of_memory, device_error.
template <ReduceElement T, DeviceOperator<T> O>
void reduce(Device& device, const Buffer<T>& in, Buffer<T>& out, O op) {
  in.memory().require_on(device, "the input");
  out.memory().require_on(device, "the output");
  if (out.size() == 0) throw Error(Code::invalid_argument, "reduce: the output buffer has no element");
  detail::require_kernels_on(device, "reduce", "reduce(device, range, neutral, op)");
  const Params params;
  detail::require_success(ladders::reduce::overlap::run<T, O>(
                              {in.data(), out.data(), in.size(), op, params, &device.workspace(), device.stream()}),
                          "reduce/overlap");
}

}  // namespace upsweep
