// Stable partition on a GPU by a user-defined bucket function, for .cu files that link upsweep::kernels.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>

#include "base/contract.h"
#include "ladders/partition/07_lookback.cuh"
#include "ladders/partition/08_lane_counters.cuh"
#include "ladders/partition/09_two_passes.cuh"
#include "ladders/partition/10_passes_in_tile.cuh"
#include "ladders/partition/11_overlapped_writes.cuh"
#include "ladders/partition/12_replicated_counts.cuh"
#include "ladders/partition/choose.h"
#include "upsweep/device_call.cuh"
#include "upsweep/partition.h"

namespace upsweep {

// A function from a key to its bucket. It must be callable on the device (a struct or a __device__ lambda) and is
// copied there, so it may hold values but no pointers to host memory.
template <class F, class T>
concept DeviceBuckets = detail::is_device_lambda<F> ||(std::is_trivially_copyable_v<F>&& requires(const F f, T key) {
  { f(key) } -> std::convertible_to<unsigned>;
});

namespace ladders::partition {

template <class F>
struct ByFunction {};

template <class T, class F>
struct Buckets<T, ByFunction<F>> {
  F bucket_of;
  unsigned count;
  __device__ unsigned operator()(T key) const { return static_cast<unsigned>(bucket_of(key)); }
};

}  // namespace ladders::partition

namespace detail {

template <class T, class F, class Offsets>
void partition_on_device(Device& device, const View<const T>& keys, F bucket_of, unsigned buckets, const View<T>& out,
                         const ladders::partition::Values& values, Offsets&& offsets) {
  const auto begins = view_on(device, offsets, "the offsets");
  constexpr Type type = type_of<element_of<Offsets>>();
  if (buckets < 2 || buckets > ladders::partition::max_buckets)
    throw Error(Code::invalid_argument, "partition: " + std::to_string(buckets) + " buckets",
                "the number of buckets must be 2 to 32768");
  if (out.size() < keys.size())
    throw Error(Code::invalid_argument, "partition: the output has room for " + std::to_string(out.size()) +
                                            " keys, the input has " + std::to_string(keys.size()));
  if (begins.size() != buckets + 1)
    throw Error(Code::invalid_argument,
                "partition: " + std::to_string(begins.size()) + " offsets for " + std::to_string(buckets) + " buckets",
                "there must be one more than buckets");
  if (index_type(type, keys.size()) != type)
    throw Error(Code::invalid_argument, "partition: " + std::to_string(keys.size()) + " does not fit the offsets' type",
                index_types);
  const Tuning tuning;
  using By = ladders::partition::ByFunction<F>;
  using namespace ladders::partition;
  const Args<T, By> args{{tuning, &device.workspace(), device.stream()},
                         {keys.data(), keys.size(), {bucket_of, buckets}},
                         out.data(),
                         values,
                         {begins.data(), size_of(type) == 8}};
  const Choice choice = choose(keys.size(), sizeof(T), values.bytes, buckets, /*searched=*/false, machine_of_unit());
  require_success(run_named<replicated_counts, lane_counters, lookback, overlapped_writes, passes_in_tile, two_passes>(
                      choice.rung, args),
                  "partition");
}

}  // namespace detail

// Groups the keys by bucket into `out`, in input order within each bucket. offsets[b] is the start of bucket b, and
// offsets[buckets] the number of keys. `buckets` is 2 to 32768; bucket_of(key) must be less than `buckets`, which is
// not checked. Runs the fastest rung:
//   upsweep::partition_by(gpu, keys, [=] __device__(std::uint32_t key) { return key * 2654435769u >> 28; }, 16, out,
//                         offsets);
// Arrays are as in partition.h, in the device's memory; no output may overlap an input or another output. The call is
// queued on the device's stream and can be captured. Throws Error: invalid_argument (host memory or memory of another
// device; an output too small; an invalid number of buckets; offsets of the wrong number or type), unsupported (the
// device is not a GPU), out_of_memory, device_error.
template <detail::KeyArray Keys, DeviceBuckets<input_element<Keys>> F, OutputOf<input_element<Keys>> Out,
          detail::IndexArray Offsets>
void partition_by(Device& device, const Keys& keys, F bucket_of, unsigned buckets, Out&& out, Offsets&& offsets) {
  using T = input_element<Keys>;
  detail::require_kernels_on(device, "partition", "partition_by_digit or partition_by_splitters");
  const View<const T> from = detail::view_on(device, keys, "the input");
  const View<T> to = detail::view_on(device, out, "the output");
  detail::partition_on_device<T>(device, from, bucket_of, buckets, to, {}, offsets);
}
// As above, for key-value pairs with values of 4, 8 or 16 bytes.
template <detail::KeyArray Keys, detail::ValueArray Values, DeviceBuckets<input_element<Keys>> F,
          OutputOf<input_element<Keys>> Out, OutputOf<std::remove_const_t<element_of<Values>>> OutValues,
          detail::IndexArray Offsets>
void partition_by(Device& device, const Keys& keys, const Values& values, F bucket_of, unsigned buckets, Out&& out,
                  OutValues&& out_values, Offsets&& offsets) {
  using T = input_element<Keys>;
  detail::require_kernels_on(device, "partition", "partition_by_digit or partition_by_splitters");
  const View<const T> from = detail::view_on(device, keys, "the input");
  const View<T> to = detail::view_on(device, out, "the output");
  const auto values_in = detail::view_on(device, values, "the values");
  const auto values_out = detail::view_on(device, out_values, "the output of the values");
  if (values_in.size() != from.size() || values_out.size() < from.size())
    throw Error(Code::invalid_argument, "partition: " + std::to_string(values_in.size()) + " values, and room for " +
                                            std::to_string(values_out.size()) + ", for " + std::to_string(from.size()) +
                                            " keys");
  detail::partition_on_device<T>(device, from, bucket_of, buckets, to,
                                 {values_in.data(), values_out.data(), sizeof(element_of<Values>)}, offsets);
}

}  // namespace upsweep
