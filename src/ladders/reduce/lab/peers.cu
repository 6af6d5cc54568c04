// CUB's implementation of the same contract.
#include <cub/device/device_reduce.cuh>

#include "lab/cub.h"
#include "ladders/reduce/binding.h"

namespace upsweep::ladders::reduce {
namespace {

struct cub_device_reduce {
  static constexpr Story story{.idea = "cub::DeviceReduce: Sum, or Reduce with our operators",
                               .guarantees = "same bits from run to run on one device",
                               .limits = "any n",
                               .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto reduce = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      if constexpr (std::is_same_v<Op, Sum>)
        return cub::DeviceReduce::Sum(scratch, bytes, a.in, a.out, a.n, stream);
      else
        return cub::DeviceReduce::Reduce(scratch, bytes, a.in, a.out, a.n, a.op, Op::template neutral<T>(), stream);
    };
    return lab::run_cub(*a.workspace, a.stream, reduce);
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_device_reduce>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::reduce
