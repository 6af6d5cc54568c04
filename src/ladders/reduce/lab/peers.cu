// Peers on the GPU: what CUB offers for the same contract.
#include <cub/device/device_reduce.cuh>
#include <string>

#include "kernel/kernel.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {
namespace {

struct cub_device_reduce {
  static constexpr Story story{.idea = "cub::DeviceReduce, Sum by name and the others with our operators",
                               .guarantees = "same bits from run to run on one device",
                               .limits = "any n",
                               .source = "NVIDIA CCCL"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    std::size_t bytes = 0;
    const auto reduce = [&](void* scratch) {
      const auto stream = static_cast<cudaStream_t>(a.stream.handle);
      if constexpr (std::is_same_v<Op, Sum>)
        return cub::DeviceReduce::Sum(scratch, bytes, a.in, a.out, a.n, stream);
      else
        return cub::DeviceReduce::Reduce(scratch, bytes, a.in, a.out, a.n, a.op, Op::template neutral<T>(), stream);
    };
    if (const cudaError_t e = reduce(nullptr)) return status_of(e);
    void* const scratch = a.workspace->scratch(bytes);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for CUB's scratch"};
    return status_of(reduce(scratch));
  }
};

}  // namespace

Rungs cuda_peers() {
  static const std::string version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                     std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
  static const Rung cub = as_peer(make_rung<cub_device_reduce>("cub", Backend::cuda), version);
  static const Rung* const all[] = {&cub};
  return all;
}

}  // namespace upsweep::ladders::reduce
