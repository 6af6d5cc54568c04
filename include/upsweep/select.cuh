// select_if and partition_if on a GPU with a predicate of one's own: for a .cu, which links upsweep::kernels.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>

#include "select/06_pipeline.cuh"
#include "upsweep/device_call.cuh"
#include "upsweep/select.h"

namespace upsweep {

// What packs of 16 bytes are made of: a number, or a struct of 1, 2, 4 or 8 bytes, such as a point.
template <class T>
concept DeviceSelectElement = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
// nvcc gives the host no type that can be called for a __device__ lambda, so there is nothing to ask of one.
template <class P>
inline constexpr bool is_device_lambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(P);
#else
    false;
#endif
}  // namespace detail

// Whether to keep an element. Callable on the device, a struct or a __device__ lambda, and copied there, so it may
// carry values but no host memory.
template <class P, class T>
concept DevicePredicate = detail::is_device_lambda<P> ||(std::is_trivially_copyable_v<P>&& requires(const P keep, T x) {
  { keep(x) } -> std::convertible_to<bool>;
});

namespace detail {
template <Op operation, class P>
struct OperationOf {
  static constexpr Op op = operation;
  template <class>
  using Predicate = P;
};

template <Op operation, class T, class P>
void select_on_device(Device& device, const Buffer<T>& in, P keep, Buffer<T>& out, Buffer<std::uint64_t>& count) {
  const std::string name(to_string(operation));
  in.memory().require_on(device, "the input");
  out.memory().require_on(device, "the output");
  count.memory().require_on(device, "the count");
  if (out.size() < in.size())
    throw Error(Code::invalid_argument, name + ": the output has room for " + std::to_string(out.size()) +
                                            " elements, the input has " + std::to_string(in.size()));
  if (count.size() == 0) throw Error(Code::invalid_argument, name + ": the count has no element");
  require_kernels_on(device, name, "std::copy_if or std::stable_partition_copy");
  const Params params;
  require_success(ladders::select::pipeline::run<T, OperationOf<operation, P>>({{in.data(), nullptr, in.size(), keep},
                                                                                {out.data(), {}, count.data()},
                                                                                params,
                                                                                &device.workspace(),
                                                                                device.stream()}),
                  "select/pipeline");
}
}  // namespace detail

// out = the elements that the predicate keeps, in their order; count[0] = how many. By the fastest rung:
//   upsweep::select_if(gpu, points, [=] __device__(Point p) { return p.x * p.x + p.y * p.y < r * r; }, inside, count);
// `out` has room for as many elements as the input has, and does not overlap it; nothing is written behind what is
// kept. Queued on the device's stream and capturable, as the selections of select.h. Throws Error: invalid_argument
// (buffers of another device, an output too small), unsupported (the device is no GPU), out_of_memory, device_error.
template <DeviceSelectElement T, DevicePredicate<T> P>
void select_if(Device& device, const Buffer<T>& in, P keep, Buffer<T>& out, Buffer<std::uint64_t>& count) {
  detail::select_on_device<Op::select_if>(device, in, keep, out, count);
}
// The same, and behind them the elements that it does not keep, in their order too.
template <DeviceSelectElement T, DevicePredicate<T> P>
void partition_if(Device& device, const Buffer<T>& in, P keep, Buffer<T>& out, Buffer<std::uint64_t>& count) {
  detail::select_on_device<Op::partition_if>(device, in, keep, out, count);
}

}  // namespace upsweep
