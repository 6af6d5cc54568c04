// CUB's radix sort restricted to the digit: the same keys and values in the same order. The sort writes no offsets: the
// check ignores them, but the traffic of a case includes them.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "lab/cub.h"
#include "ladders/partition/binding.h"

namespace upsweep::ladders::partition {
namespace {

struct cub_radix_sort {
  static constexpr Story story{.idea = "cub::DeviceRadixSort::SortKeys, SortPairs over the digit's bits",
                               .guarantees = "stable; does not write the offsets",
                               .limits = "digit; one pass per 8 bits (7 on some GPUs)",
                               .source = "NVIDIA CCCL"};
  template <class T, class O>
  static constexpr bool supports = O::operation == Bucketing::digit;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const auto n = static_cast<std::int64_t>(a.in.n);
    const int begin = static_cast<int>(a.in.buckets.first_bit);
    const int end = begin + static_cast<int>(std::bit_width(a.in.buckets.count - 1));
    if (a.values.bytes == 0)
      return lab::run_cub(*a.workspace, a.stream, [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, a.in.keys, a.keys, n, begin, end, stream);
      });
    Status status;
    a.values.visit([&](const auto* values, auto* moved) {
      status = lab::run_cub(*a.workspace, a.stream, [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, a.in.keys, a.keys, values, moved, n, begin, end, stream);
      });
    });
    return status;
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_radix_sort>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::partition
