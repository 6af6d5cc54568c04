// Groups of GPUs that NCCL joins. NCCL's library is opened at run time; neither its headers nor the library are needed
// to build.
//
//   ncclComm_t communicator;  // from ncclCommInitRank(), one GPU per process
//   upsweep::Group group = upsweep::nccl_group(communicator, upsweep::Device::cuda(gpu));
#pragma once
#include <memory>
#include <vector>

#include "upsweep/group.h"

struct ncclComm;  // an ncclComm_t is a pointer to one

namespace upsweep {

// Returns the group of a communicator's ranks, one member each, on the GPU of the communicator. All ranks call it
// together. The communicator must outlive the group, and only the group may use it meanwhile. Throws Error(unsupported)
// if there is no NCCL library, and Error(device_error) if NCCL reports an error. If a rank has ended, calls throw
// Error(lost_member), and abort the communicator.
Group nccl_group(ncclComm* communicator, Device device);

namespace multi {
// Returns an engine that carries messages as `messages` does and the memory of these GPUs, this process's members, over
// a new NCCL communicator. All processes call it together.
std::shared_ptr<Engine> nccl_engine(std::shared_ptr<Engine> messages, std::span<Device> devices);
// True if the library is found.
bool has_nccl();
}  // namespace multi

}  // namespace upsweep
