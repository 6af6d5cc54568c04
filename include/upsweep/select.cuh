// select_if and partition_if on a GPU with a user-defined predicate, for .cu files that link upsweep::kernels.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>

#include "ladders/select/05_vec16.cuh"
#include "ladders/select/06_pipeline.cuh"
#include "ladders/select/choose.h"
#include "upsweep/device_call.cuh"
#include "upsweep/select.h"

namespace upsweep {

// Elements that fill 16-byte packs: a number, or a struct of 1, 2, 4 or 8 bytes, such as a point.
template <class T>
concept DeviceSelectElement = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

// A predicate that returns true for an element to keep. It must be callable on the device (a struct or a __device__
// lambda) and is copied there, so it may hold values but no pointers to host memory.
template <class P, class T>
concept DevicePredicate = detail::is_device_lambda<P> ||(std::is_trivially_copyable_v<P>&& requires(const P keep, T x) {
  { keep(x) } -> std::convertible_to<bool>;
});

namespace detail {
template <Selection s, class P>
struct SelectionBy {
  static constexpr Selection operation = s;
  template <class>
  using Predicate = P;
};

template <Selection s, class In, class P, class Out, class Count>
void select_on_device(Device& device, const In& in, P keep, Out&& out, Count&& count) {
  using T = input_element<In>;
  const std::string name(to_string(s));
  require_kernels_on(device, name, "std::copy_if or std::stable_partition_copy");
  const View<const T> from = view_on(device, in, "the input");
  const View<T> to = view_on(device, out, "the output");
  const View<std::uint64_t> counted = view_on(device, count, "the count");
  if (to.size() < from.size())
    throw Error(Code::invalid_argument, name + ": the output has room for " + std::to_string(to.size()) +
                                            " elements, the input has " + std::to_string(from.size()));
  if (counted.size() == 0) throw Error(Code::invalid_argument, name + ": the count has no element");
  const Tuning tuning;
  using namespace ladders::select;
  const Args<T, SelectionBy<s, P>> args{{tuning, &device.workspace(), device.stream()},
                                        {from.data(), nullptr, from.size(), keep},
                                        {to.data(), {}, counted.data()}};
  const Choice choice = choose(s, from.size(), sizeof(T), machine_of_unit());
  require_success(run_named<pipeline, vec16>(choice.rung, args), name);
}
}  // namespace detail

// Copies the elements that satisfy the predicate to `out`, in order; count[0] = their number. Runs the fastest rung:
//   upsweep::select_if(gpu, points, [=] __device__(Point p) { return p.x * p.x + p.y * p.y < r * r; }, inside, count);
// `out` must have at least as many elements as the input and must not overlap it; elements past the selected ones are
// not touched. The call is queued on the device's stream and can be captured, like the selections of select.h. Throws
// Error: invalid_argument (host memory or memory of another device; an output too small), unsupported (the device is
// not a GPU), out_of_memory, device_error.
template <ArrayLike In, DevicePredicate<input_element<In>> P, OutputOf<input_element<In>> Out,
          OutputOf<std::uint64_t> Count>
requires DeviceSelectElement<input_element<In>>
void select_if(Device& device, const In& in, P keep, Out&& out, Count&& count) {
  detail::select_on_device<Selection::select_if>(device, in, keep, out, count);
}
// As select_if(), followed by the elements that do not satisfy the predicate, also in order.
template <ArrayLike In, DevicePredicate<input_element<In>> P, OutputOf<input_element<In>> Out,
          OutputOf<std::uint64_t> Count>
requires DeviceSelectElement<input_element<In>>
void partition_if(Device& device, const In& in, P keep, Out&& out, Count&& count) {
  detail::select_on_device<Selection::partition_if>(device, in, keep, out, count);
}

}  // namespace upsweep
