// Copies of 16 bytes to shared memory by each thread, for data that is scattered. The thread continues meanwhile, but
// on devices without such copies, where it loads and stores.
#pragma once
#include "kernel/async.h"
#include "kernel/features.h"

namespace upsweep {

// The copies that a thread has started, in groups.
class Copies16 {
 public:
#if defined(__CUDACC__)
  // Starts a copy, without room in L1. Both addresses are multiples of 16.
  __device__ __forceinline__ void start(void* shared, const void* global) {
    if constexpr (has(Feature::copy_16))
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
    else
      *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
  }
  // Ends a group, perhaps an empty one.
  __device__ __forceinline__ void commit() {
    if constexpr (has(Feature::copy_16)) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // Waits for this thread's copies, but for those of the last `groups` groups. Other threads see them after a barrier.
  template <unsigned groups>
  __device__ __forceinline__ void wait() {
    if constexpr (has(Feature::copy_16)) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
  }
#else
  // The emulator copies as late as it may.
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
