// CUB's implementation of the same contract.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>

#include "base/unsigned_as.h"
#include "lab/cub.h"
#include "ladders/select/binding.h"

namespace upsweep::ladders::select {
namespace {

// A predicate on positions: true if element i equals the next one.
template <class T>
struct Repeats {
  const T* values;
  std::size_t n;
  template <class I>
  __device__ bool operator()(I i) const {
    return std::size_t(i) + 1 < n && values[i] == values[i + 1];
  }
};

struct cub_device_select {
  static constexpr Story story{
      .idea = "cub::DeviceSelect, DeviceRunLengthEncode; find_repeats and nonzero: a selection among positions",
      .guarantees = "partition_if leaves the second part in reverse order: not offered",
      .limits = "n below 2^31 for run_length_encode",
      .source = "NVIDIA CCCL"};
  // CUB's partition reverses the elements that are not selected, which this contract does not allow.
  template <class T, class O>
  static constexpr bool supports = !writes_rest<O>;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const auto n = static_cast<std::int64_t>(a.in.n);
    const auto select = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      if constexpr (has_predicate<O> && !writes_rest<O>) {
        return cub::DeviceSelect::If(scratch, bytes, a.in.values, a.out.values, a.out.count, n, a.in.predicate, stream);
      } else if constexpr (reads_flags<O>) {
        return cub::DeviceSelect::Flagged(scratch, bytes, a.in.values, a.in.flags, a.out.values, a.out.count, n,
                                          stream);
      } else if constexpr (starts_runs<O> && !writes_lengths<O>) {
        return cub::DeviceSelect::Unique(scratch, bytes, a.in.values, a.out.values, a.out.count, n, stream);
      } else if constexpr (writes_lengths<O>) {
        return a.out.positions.visit([&](auto* lengths) {
          return cub::DeviceRunLengthEncode::Encode(scratch, bytes, a.in.values, a.out.values, lengths, a.out.count,
                                                    static_cast<int>(n), stream);
        });
      } else if constexpr (compares_with_zero<O>) {
        // The elements are the flags. Signed integers share the instantiations of unsigned ones.
        using Flag = std::conditional_t<std::is_integral_v<T>, UnsignedAs<T>, T>;
        const auto* const flags = reinterpret_cast<const Flag*>(a.in.values);
        return a.out.positions.visit([&]<class P>(P* out) {
          return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<P>(0), flags, out, a.out.count, n,
                                            stream);
        });
      } else {
        return a.out.positions.visit([&]<class P>(P* out) {
          return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<P>(0), out, a.out.count, n,
                                       Repeats<T>{a.in.values, a.in.n}, stream);
        });
      }
    };
    if (writes_lengths<O> && a.in.n > 0x7fffffff)
      return {Code::unsupported, 0, "CUB computes run lengths for at most 2^31 - 1 elements"};
    return lab::run_cub(*a.workspace, a.stream, select);
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_device_select>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::select
