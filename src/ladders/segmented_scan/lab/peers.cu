// CUB's implementations of the same contract: InclusiveScanByKey and ExclusiveScanByKey for keys. CUB has no algorithm
// for flags or offsets, so pairs are scanned for these, as CUB's users do.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "lab/cub.h"
#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/heads.cuh"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {
namespace {

// Returns element i as a pair; for an exclusive scan, its left neighbour, or the neutral element at a head.
template <class T, class Op>
struct PairAt {
  const T* in;
  const std::uint8_t* flags;  // null: use `bits`
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
    const bool by_bits = a.heads.kind == HeadKind::offsets;
    unsigned* bits = nullptr;
    const auto scan = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
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
    Scratch scratch(*a.workspace);
    if (by_bits) {
      bits = scratch.take<unsigned>(head_words(0, a.n));
      if (!scratch) return no_memory_for_heads;
      if (Status s = make_head_bits(a.heads, bits, 0, a.n, a.stream); !s) return s;
    }
    return lab::run_cub(*a.workspace, a.stream, scan);
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_scan>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::segmented_scan
