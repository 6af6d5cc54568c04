// Scans on a GPU with a user-defined operator: for .cu files, which link upsweep::kernels.
#pragma once
#include <string>
#include <type_traits>

#include "ladders/scan/11_lookback.cuh"
#include "ladders/scan/12_wave.cuh"
#include "ladders/scan/13_pipeline.cuh"
#include "ladders/scan/choose.h"
#include "upsweep/device_call.cuh"
#include "upsweep/operator.cuh"
#include "upsweep/scan.h"

namespace upsweep {

// Elements that lanes exchange in one step: a number, or a struct of two, such as a function x -> a x + b.
template <class T>
concept DeviceScanElement = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
template <class In, class Out, class O>
void scan_on_device(Device& device, bool inclusive, const In& in, Out&& out, O op) {
  using T = input_element<In>;
  require_kernels_on(device, "scan", "std::inclusive_scan or std::exclusive_scan");
  const View<const T> from = view_on(device, in, "the input");
  const View<T> to = view_on(device, out, "the output");
  if (to.size() < from.size())
    throw Error(Code::invalid_argument, "scan: the output has " + std::to_string(to.size()) + " elements, the input " +
                                            std::to_string(from.size()));
  const Tuning tuning;
  using namespace ladders::scan;
  const Args<T, O> args{
      {tuning, &device.workspace(), device.stream()}, from.data(), to.data(), from.size(), inclusive, op};
  const Choice choice = choose(from.size() * sizeof(T), machine_of_unit());
  require_success(run_named<pipeline, wave, lookback>(choice.rung, args), "scan");
}
}  // namespace detail

// out[i] = in[0] op ... op in[i-1] (exclusive; the neutral element for i = 0, +0 for Sum) or with in[i] (inclusive), by
// the fastest rung. The operator is associative; its operands keep their order, so it need not be commutative. `out`
// may be `in`. Queued on the device's stream and capturable, like the scans of scan.h. Throws Error: invalid_argument
// (host memory, or another device's; `out` too small), unsupported (the device is not a GPU), out_of_memory,
// device_error.
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void exclusive_scan(Device& device, const In& in, Out&& out, O op) {
  detail::scan_on_device(device, false, in, out, op);
}
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void inclusive_scan(Device& device, const In& in, Out&& out, O op) {
  detail::scan_on_device(device, true, in, out, op);
}

}  // namespace upsweep
