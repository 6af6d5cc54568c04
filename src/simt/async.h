// Emulates operations that plain CUDA cannot express: mbarriers, bulk copies, clusters, and loads that race with other
// blocks. Each function has the semantics of the PTX instruction that its comment names. A block accesses its own
// shared memory through ordinary pointers.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simt/runtime.h"

namespace upsweep::simt {

// ---- mbarrier: a 64-bit word of shared memory, 8-byte aligned -------------------------------------------------------
// A phase completes when `count` threads have arrived and all bytes that arrivals expect have been copied; then the
// next phase begins. Phases have parity 0, 1, 0, ...

// mbarrier.init. `count` is 1 to 2^20 - 1. Other threads may use the mbarrier after a block barrier.
void mbarrier_init(std::uint64_t* mbarrier, unsigned count, const Site& site = Site::current());
// mbarrier.arrive, on behalf of `count` threads.
void mbarrier_arrive(std::uint64_t* mbarrier, unsigned count = 1);
// mbarrier.arrive.expect_tx: arrives, and keeps the phase open until `bytes` more have been copied.
void mbarrier_arrive_expect(std::uint64_t* mbarrier, unsigned bytes);
// mbarrier.test_wait.parity: returns true if the phase of this parity is over. If it is not, yields to other lanes and
// tests once more.
bool mbarrier_test(std::uint64_t* mbarrier, unsigned parity);
// mbarrier.try_wait.parity in a loop: returns when the phase of this parity is over. A wait that can never end is
// reported as a deadlock.
UPSWEEP_SIMT_CONVERGENT void mbarrier_wait(std::uint64_t* mbarrier, unsigned parity,
                                           const Site& site = Site::current());

// ---- bulk copy ------------------------------------------------------------------------------------------------------
// cp.async.bulk.shared.global.mbarrier::complete_tx: copies `bytes` and signals the mbarrier. Both addresses and the
// size must be multiples of 16. The emulator copies immediately. It reports as a race every access that is ordered
// neither before the issue of the copy nor after a wait for the mbarrier.
void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* mbarrier,
               const Site& site = Site::current());

// fence.proxy.async: orders the running thread's earlier writes to shared memory before later bulk copies. A copy that
// overwrites unfenced writes is reported.
void fence_before_bulk_copy(const Site& site = Site::current());

// ---- clusters -------------------------------------------------------------------------------------------------------
// The blocks of a cluster take turns on one OS thread. Supported: clusters along x (Config::cluster), barriers of the
// whole cluster, and access to a peer's static and dynamic shared memory through map_shared, including atomics and
// mbarriers. A mapped pointer is valid only in the block that mapped it, until that block returns.
unsigned cluster_rank();
unsigned cluster_size();
// barrier.cluster.arrive and .wait, for every thread of the cluster that has not returned.
UPSWEEP_SIMT_CONVERGENT void cluster_sync(const Site& site = Site::current());
void* map_shared_address(void* shared, unsigned rank, const Site& site);
// mapa: the address in block `rank` that corresponds to this block's `shared`.
template <class T>
T* map_shared(T* shared, unsigned rank, const Site& site = Site::current()) {
  return static_cast<T*>(map_shared_address(shared, rank, site));
}

// ---- memory that other blocks write ---------------------------------------------------------------------------------
// ld.acquire.gpu and st.release.gpu of 1 to 8 bytes. A loop that polls with load_acquire() lets other lanes run.
template <class T>
__attribute__((always_inline)) inline T load_acquire(const T* from) {
  note_poll();
  T value;
  __atomic_load(from, &value, __ATOMIC_ACQUIRE);
  return value;
}
template <class T>
__attribute__((always_inline)) inline void store_release(T* to, T value) {
  __atomic_store(to, &value, __ATOMIC_RELEASE);
}

}  // namespace upsweep::simt
