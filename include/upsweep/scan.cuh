// Scans on a GPU with a user-defined operator, for .cu files that link upsweep::kernels.
#pragma once
#include <string>
#include <type_traits>

#include "ladders/scan/11_lookback.cuh"
#include "ladders/scan/12_wave.cuh"
#include "ladders/scan/13_pipeline.cuh"
#include "ladders/scan/choose.h"
#include "upsweep/device_call.cuh"
#include "upsweep/own_operator.cuh"
#include "upsweep/scan.h"

namespace upsweep {

// Elements that a warp can shuffle: a number, or a struct of two, such as the coefficients of x -> a x + b.
template <class T>
concept DeviceScanElement = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
template <class In, class Out, class O>
void scan_on_device(Device& device, bool inclusive, const In& in, Out&& out, O op,
                    Initial<input_element<In>, O> initial = {}) {
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
      {tuning, &device.workspace(), device.stream()}, from.data(), to.data(), from.size(), inclusive, op, initial};
  const Choice choice = choose(from.size() * sizeof(T), machine_of_unit());
  require_success(run_named<pipeline, wave, lookback>(choice.rung, args), "scan");
}
}  // namespace detail

// out[i] = in[0] op ... op in[i-1] (exclusive; out[0] is the neutral element, +0 for Sum) or in[0] op ... op in[i]
// (inclusive). Runs the fastest rung. An initial value, passed before the operator as in std::exclusive_scan, precedes
// in[0]. The operator must be associative but need not be commutative. `out` may be `in`. The call is queued on the
// device's stream and can be captured, like the scans of scan.h. Throws Error: invalid_argument (host memory or memory
// of another device; `out` too small), unsupported (the device is not a GPU), out_of_memory, device_error.
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void exclusive_scan(Device& device, const In& in, Out&& out, O op) {
  detail::scan_on_device(device, false, in, out, op);
}
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void exclusive_scan(Device& device, const In& in, Out&& out, std::type_identity_t<input_element<In>> initial, O op) {
  detail::scan_on_device(device, false, in, out, op, {initial, true});
}
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void inclusive_scan(Device& device, const In& in, Out&& out, O op) {
  detail::scan_on_device(device, true, in, out, op);
}
template <ArrayLike In, OutputOf<input_element<In>> Out, DeviceOperator<input_element<In>> O>
requires DeviceScanElement<input_element<In>>
void inclusive_scan(Device& device, const In& in, Out&& out, std::type_identity_t<input_element<In>> initial, O op) {
  detail::scan_on_device(device, true, in, out, op, {initial, true});
}

}  // namespace upsweep
