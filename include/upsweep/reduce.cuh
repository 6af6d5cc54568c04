// reduce on a GPU with a user-defined operator, for .cu files that link upsweep::kernels.
#pragma once
#include "ladders/reduce/13_overlap.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/own_operator.cuh"
#include "upsweep/reduce.h"

namespace upsweep {

// out[0] = in[0] op ... op in[n-1], or the neutral element if n is 0 (+0 for Sum). Runs the fastest rung, whose result
// has the same bits on the same device for the same n and alignment of `in`. The operator must also be commutative. The
// call is queued on the device's stream and can be captured, like reduce(device, in, out). Throws Error:
// invalid_argument (host memory or memory of another device; an empty out), unsupported (the device is not a GPU; on
// the CPU, reduce(device, range, neutral, op) takes any operator), out_of_memory, device_error.
template <InputArray In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires ReduceElement<input_element<In>>
void reduce(Device& device, const In& in, Out&& out, O op) {
  using T = input_element<In>;
  detail::require_kernels_on(device, "reduce", "reduce(device, range, neutral, op)");
  const View<const T> from = detail::view_on(device, in, "the input");
  const View<T> to = detail::view_on(device, out, "the output");
  if (to.size() == 0) throw Error(Code::invalid_argument, "reduce: the output has no element");
  const Tuning tuning;
  const ladders::reduce::Args<T, O> args{
      {tuning, &device.workspace(), device.stream()}, from.data(), to.data(), from.size(), op};
  detail::require_success(ladders::reduce::overlap::run<T, O>(args), "reduce/overlap");
}

}  // namespace upsweep
