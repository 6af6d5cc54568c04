// Asynchronous copies of 16 bytes to shared memory (cp.async), started per thread, for scattered data. Devices without
// them load and store instead.
#pragma once
#include "kernel/async.h"
#include "kernel/features.h"

namespace upsweep {

// A thread's copies in flight, in groups.
class Copies16 {
 public:
#if defined(__CUDACC__)
  // Starts a copy that bypasses L1. Both addresses are multiples of 16.
  __device__ __forceinline__ void start(void* shared, const void* global) {
    if constexpr (has(Feature::copy_16))
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
    else
      *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
  }
  // Ends the current group of copies, which may be empty.
  __device__ __forceinline__ void commit() {
    if constexpr (has(Feature::copy_16)) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // Waits for this thread's copies, except those in the last `groups` groups. Other threads see the copied bytes only
  // after a barrier.
  template <unsigned groups>
  __device__ __forceinline__ void wait() {
    if constexpr (has(Feature::copy_16)) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
  }
#else
  // The emulator performs each copy as late as the rules allow, to expose missing waits.
  void start(void* shared, const void* global) {
    if (!has(Feature::copy_16)) {
      *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
      return;
    }
    if (count_ == most) simt::trap("too many copies in flight for the emulator");
    pending_[count_++] = {static_cast<uint4*>(shared), static_cast<const uint4*>(global), group_};
  }
  void commit() { ++group_; }
  template <unsigned groups>
  void wait() {
    unsigned kept = 0;
    for (unsigned k = 0; k < count_; ++k)
      if (pending_[k].group + groups < group_)
        *pending_[k].to = *pending_[k].from;
      else
        pending_[kept++] = pending_[k];
    count_ = kept;
  }

 private:
  static constexpr unsigned most = 16;
  struct Pending {
    uint4* to;
    const uint4* from;
    unsigned group;
  } pending_[most];
  unsigned count_ = 0, group_ = 0;
#endif
};

}  // namespace upsweep
