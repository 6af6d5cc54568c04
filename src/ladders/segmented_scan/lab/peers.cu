// Peers on the GPU: what CUB offers for the same contract. Keys by ...ScanByKey; for flags and offsets it has nothing
// of its own, so that users scan pairs.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <string>

#include "ladders/segmented_scan/heads.cuh"

namespace upsweep::ladders::segmented_scan {
namespace {

// Element i as a pair. An exclusive scan is the inclusive one of what lies to the left, and of nothing at a head.
template <class T, class Op>
struct PairAt {
  const T* in;
  const std::uint8_t* flags;  // or null:
  HeadBits bits;
  bool inclusive;
  __device__ Run<T> operator()(std::size_t i) const {
    const bool head = i == 0 || (flags ? flags[i] != 0 : bits.at(i) != 0);
    return {inclusive ? in[i] : head ? Op::template neutral<T>() : in[i - 1], head};
  }
};
template <class T>
struct ValueOf {
  __device__ T operator()(const Run<T>& run) const { return run.value; }
};

struct cub_scan {
  static constexpr Story story{.idea = "cub::DeviceScan: ScanByKey for keys, pairs for flags and offsets",
                               .limits = "any n",
                               .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    std::size_t bytes = 0;
    const auto stream = static_cast<cudaStream_t>(a.stream.handle);
    const bool by_bits = a.heads.kind == HeadKind::offsets;
    unsigned* bits = nullptr;
    const auto scan = [&](void* scratch) {
      if (a.heads.kind == HeadKind::keys) {
        const auto* const keys = static_cast<const std::uint32_t*>(a.heads.data);
        return a.inclusive ? cub::DeviceScan::InclusiveScanByKey(scratch, bytes, keys, a.in, a.out, a.op, a.n,
                                                                 ::cuda::std::equal_to<>{}, stream)
                           : cub::DeviceScan::ExclusiveScanByKey(scratch, bytes, keys, a.in, a.out, a.op,
                                                                 Op::template neutral<T>(), a.n,
                                                                 ::cuda::std::equal_to<>{}, stream);
      }
      const auto* const flags = by_bits ? nullptr : static_cast<const std::uint8_t*>(a.heads.data);
      const auto pairs = thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>(0),
                                                         PairAt<T, Op>{a.in, flags, {bits}, a.inclusive});
      const auto values = thrust::make_transform_output_iterator(a.out, ValueOf<T>{});
      return cub::DeviceScan::InclusiveScan(scratch, bytes, pairs, values, Joined<Op>{a.op}, a.n, stream);
    };
    if (const cudaError_t e = scan(nullptr)) return status_of(e);
    const std::size_t own = (bytes + 255) / 256 * 256;
    void* const scratch = a.workspace->scratch(own + (by_bits ? head_words(0, a.n) * sizeof(unsigned) : 0));
    if (!scratch) return {Code::out_of_memory, 0, "no memory for CUB's scratch"};
    if (by_bits) {
      bits = reinterpret_cast<unsigned*>(static_cast<std::byte*>(scratch) + own);
      if (Status s = make_head_bits(a.heads, bits, 0, a.n, a.stream); !s) return s;
    }
    return status_of(scan(scratch));
  }
};

}  // namespace

Rungs cuda_peers() {
  static const std::string version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                     std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
  static const Rung cub = as_peer(make_rung<cub_scan>("cub", Backend::cuda), version);
  static const Rung* const all[] = {&cub};
  return all;
}

}  // namespace upsweep::ladders::segmented_scan
