// CUB's implementation of the same contract.
#include <cub/device/device_scan.cuh>

#include "lab/cub.h"
#include "ladders/scan/binding.h"

namespace upsweep::ladders::scan {
namespace {

struct cub_device_scan {
  static constexpr Story story{
      .idea = "cub::DeviceScan: ...Sum, or ...Scan with our operators", .limits = "any n", .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto scan = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      if constexpr (std::is_same_v<Op, Sum>)
        return a.inclusive ? cub::DeviceScan::InclusiveSum(scratch, bytes, a.in, a.out, a.n, stream)
                           : cub::DeviceScan::ExclusiveSum(scratch, bytes, a.in, a.out, a.n, stream);
      else
        return a.inclusive ? cub::DeviceScan::InclusiveScan(scratch, bytes, a.in, a.out, a.op, a.n, stream)
                           : cub::DeviceScan::ExclusiveScan(scratch, bytes, a.in, a.out, a.op,
                                                            Op::template neutral<T>(), a.n, stream);
    };
    return lab::run_cub(*a.workspace, a.stream, scan);
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, cub_device_scan>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::scan
