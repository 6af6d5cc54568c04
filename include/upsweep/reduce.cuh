// reduce on a GPU with a user-defined operator: for .cu files, which link upsweep::kernels.
#pragma once
#include "ladders/reduce/13_overlap.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/operator.cuh"
#include "upsweep/reduce.h"

namespace upsweep {

// out[0] = in[0] op ... op in[n-1], or the neutral element if n is 0 (+0 for Sum), by the fastest rung and with its
// guarantees: the same bits for the same n. The operator must also be commutative. Queued on the device's stream and
// capturable, like reduce(device, in, out). Throws Error: invalid_argument (host memory, or
// another device's; an empty out), unsupported (the device is not a GPU: there, reduce(device, range, neutral, op)
// takes any operator), out_of_memory, device_error.
template <InputArray In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires ReduceElement<input_element<In>>
void reduce(Device& device, const In& in, Out&& out, O op) {
  using T = input_element<In>;
  detail::require_kernels_on(device, "reduce", "reduce(device, range, neutral, op)");
  const View<const T> from = detail::view_on(device, in, "the input");
  const View<T> to = detail::view_on(device, out, "the output");
  if (to.size() == 0) throw Error(Code::invalid_argument, "reduce: the output has no element");
  const Tuning tuning;
  detail::require_success(
      ladders::reduce::overlap::run<T, O>(
          {{tuning, &device.workspace(), device.stream()}, from.data(), to.data(), from.size(), op}),
      "reduce/overlap");
}

}  // namespace upsweep
