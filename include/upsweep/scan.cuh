// Scans on a GPU with an operator of one's own: for a .cu, which links upsweep::kernels.
#pragma once
#include <string>
#include <type_traits>

#include "scan/13_pipeline.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/operator.cuh"
#include "upsweep/scan.h"

namespace upsweep {

// Elements that a lane exchanges in one step: a number, or a struct of two, such as a function x -> a x + b.
template <class T>
concept DeviceScanElement = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
template <class T, class O>
void scan_on_device(Device& device, ScanKind kind, const Buffer<T>& in, Buffer<T>& out, O op) {
  in.memory().require_on(device, "the input");
  out.memory().require_on(device, "the output");
  if (out.size() < in.size())
    throw Error(Code::invalid_argument, "scan: the output has " + std::to_string(out.size()) + " elements, the input " +
                                            std::to_string(in.size()));
  require_kernels_on(device, "scan", "std::inclusive_scan or std::exclusive_scan");
  const Params params;
  require_success(ladders::scan::pipeline::run<T, O>({in.data(), out.data(), in.size(), kind == ScanKind::inclusive, op,
                                                      params, &device.workspace(), device.stream()}),
                  "scan/pipeline");
}
}  // namespace detail

// out[i] = in[0] op ... op in[i-1] (exclusive; the neutral element for i = 0) or with in[i] (inclusive), by the fastest
// rung. The operator is associative; its operands keep their order, so it need not be commutative. `out` may be `in`.
// Queued on the device's stream and capturable, as the scans of scan.h. Throws Error: invalid_argument (buffers of
// another device, `out` too small), unsupported (the device is no GPU), out_of_memory, device_error.
template <DeviceScanElement T, DeviceOperator<T> O>
void exclusive_scan(Device& device, const Buffer<T>& in, Buffer<T>& out, O op) {
  detail::scan_on_device(device, detail::ScanKind::exclusive, in, out, op);
}
template <DeviceScanElement T, DeviceOperator<T> O>
void inclusive_scan(Device& device, const Buffer<T>& in, Buffer<T>& out, O op) {
  detail::scan_on_device(device, detail::ScanKind::inclusive, in, out, op);
}

}  // namespace upsweep
