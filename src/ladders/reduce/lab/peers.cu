// CUB's implementation of the same contract.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "lab/cub.h"
#include "ladders/reduce/binding.h"

namespace upsweep::ladders::reduce {
namespace {

// Returns the offset at which a segment begins, clamped to n: cub::DeviceSegmentedReduce takes offsets as iterators.
struct Bound {
  std::size_t length, n;
  __host__ __device__ std::size_t operator()(std::size_t segment) const {
    return segment * length < n ? segment * length : n;
  }
};

struct cub_device_reduce {
  static constexpr Story story{.idea =
                                   "cub::DeviceReduce: Sum, ArgMin, ArgMax, or Reduce with our operators; "
                                   "cub::DeviceSegmentedReduce",
                               .guarantees = "same bits from run to run on one device",
                               .limits = "any n; argmin and argmax of floats without NaN",
                               .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static constexpr bool supports = sizeof(T) >= 4;
  static constexpr bool takes_segments = true;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.segment_length) return run_segments(a);
    const auto reduce = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      if constexpr (std::is_same_v<Op, Sum>)
        return cub::DeviceReduce::Sum(scratch, bytes, a.in, a.out, a.n, stream);
      else
        return cub::DeviceReduce::Reduce(scratch, bytes, a.in, a.out, a.n, a.op, Op::template neutral<T>(), stream);
    };
    return lab::run_cub(*a.workspace, a.stream, reduce);
  }
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    Scratch scratch(*a.workspace);
    T* const extreme = scratch.take<T>(1);  // CUB also writes the value
    if (!scratch) return {Code::out_of_memory, 0, "no memory for the extreme"};
    return lab::run_cub(*a.workspace, a.stream, [&](void* memory, std::size_t& bytes, cudaStream_t stream) {
      const auto n = static_cast<std::int64_t>(a.n);
      if constexpr (std::is_same_v<Op, ArgMin>)
        return cub::DeviceReduce::ArgMin(memory, bytes, a.in, extreme, a.out, n, stream);
      else
        return cub::DeviceReduce::ArgMax(memory, bytes, a.in, extreme, a.out, n, stream);
    });
  }

 private:
  template <class T, class Op>
  static Status run_segments(const Args<T, Op>& a) {
    const auto bounds =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::size_t{0}), Bound{a.segment_length, a.n});
    return lab::run_cub(*a.workspace, a.stream, [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      const auto segments = static_cast<std::int64_t>(a.segments());
      return cub::DeviceSegmentedReduce::Reduce(scratch, bytes, a.in, a.out, segments, bounds, bounds + 1, a.op,
                                                Op::template neutral<T>(), stream);
    });
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_device_reduce>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::reduce
