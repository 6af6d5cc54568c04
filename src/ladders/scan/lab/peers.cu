// Peers on the GPU: what CUB offers for the same contract.
#include <cub/device/device_scan.cuh>
#include <string>

#include "kernel/kernel.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {
namespace {

struct cub_device_scan {
  static constexpr Story story{.idea = "cub::DeviceScan, Sum by name and the others with our operators",
                               .limits = "any n",
                               .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    std::size_t bytes = 0;
    const auto scan = [&](void* scratch) {
      const auto stream = static_cast<cudaStream_t>(a.stream.handle);
      if constexpr (std::is_same_v<Op, Sum>)
        return a.inclusive ? cub::DeviceScan::InclusiveSum(scratch, bytes, a.in, a.out, a.n, stream)
                           : cub::DeviceScan::ExclusiveSum(scratch, bytes, a.in, a.out, a.n, stream);
      else
        return a.inclusive ? cub::DeviceScan::InclusiveScan(scratch, bytes, a.in, a.out, a.op, a.n, stream)
                           : cub::DeviceScan::ExclusiveScan(scratch, bytes, a.in, a.out, a.op,
                                                            Op::template neutral<T>(), a.n, stream);
    };
    if (const cudaError_t e = scan(nullptr)) return status_of(e);
    void* const scratch = a.workspace->scratch(bytes);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for CUB's scratch"};
    return status_of(scan(scratch));
  }
};

}  // namespace

Rungs cuda_peers() {
  static const std::string version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                     std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
  static const Rung cub = as_peer(make_rung<cub_device_scan>("cub", Backend::cuda), version);
  static const Rung* const all[] = {&cub};
  return all;
}

}  // namespace upsweep::ladders::scan
