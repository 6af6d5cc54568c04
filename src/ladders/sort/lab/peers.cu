// CUB's radix sort, which takes typed keys. It sorts floats in totalOrder, except that the zeros are equal.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "lab/cub.h"
#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {
namespace {

// Returns a key of the type that CUB has for T.
template <class T>
auto cub_key() {
  if constexpr (std::is_same_v<T, f16>)
    return __half();
  else if constexpr (std::is_same_v<T, bf16>)
    return __nv_bfloat16();
  else
    return T();
}

struct cub_radix_sort {
  static constexpr Story story{.idea = "cub::DeviceRadixSort::SortKeys, SortPairs, and Descending",
                               .guarantees = "stable",
                               .limits = "not in place; no indices; floats in totalOrder, but -0 and +0 are equal",
                               .source = "NVIDIA CCCL"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.indices() || a.out == a.keys)
      return {Code::unsupported, 0, "CUB's sort is not in place, and takes indices only as values"};
    const auto n = static_cast<std::int64_t>(a.n);
    const int begin = static_cast<int>(a.first_bit), end = static_cast<int>(a.first_bit + a.bits);
    const bool descending = a.order.descending();
    using CubKey = decltype(cub_key<T>());
    const auto* const keys = reinterpret_cast<const CubKey*>(a.keys);
    auto* const out = reinterpret_cast<CubKey*>(a.out);
    Status status;
    if (a.values.bytes == 0)
      return lab::run_cub(*a.workspace, a.stream, [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
        return descending ? cub::DeviceRadixSort::SortKeysDescending(scratch, bytes, keys, out, n, begin, end, stream)
                          : cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, out, n, begin, end, stream);
      });
    a.values.visit([&](const auto* values, auto* moved) {
      status = lab::run_cub(*a.workspace, a.stream, [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
        return descending
                   ? cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, keys, out, values, moved, n, begin, end,
                                                               stream)
                   : cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, out, values, moved, n, begin, end, stream);
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

}  // namespace upsweep::ladders::sort
