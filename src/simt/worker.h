// A worker: one OS thread that runs blocks, one cluster at a time, with one fiber per CUDA thread. Holds the scheduler.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "simt/block.h"
#include "simt/fiber.h"

#if UPSWEEP_SIMT_TRACED
#include "simt/trace.h"
#else
#include "simt/preemption.h"
#endif

namespace upsweep::simt {

// True in the library with instrumented kernels; the runtime is compiled once for each kind.
inline constexpr bool traced = UPSWEEP_SIMT_TRACED;

class GlobalWrites;

// The state of one launch, shared by its workers.
struct GridRun {
  const Launch& launch;
  std::string kernel_name;
  std::size_t shared_limit = 0;            // maximum shared memory per block, static and dynamic
  std::uint64_t clusters = 0;              // to run
  bool reverse = false;                    // last cluster first
  std::uint64_t schedule = 0;              // not 0: the seed of an arbitrary schedule
  bool checks = false, counters = false;   // of the traced emulator
  GlobalWrites* writes = nullptr;          // likewise
  std::uint64_t yield_limit = 0;           // yields without progress before a launch counts as a livelock
  std::atomic<std::uint64_t> next{0};      // the next cluster to start: handed out in order
  std::atomic<std::uint64_t> finished{0};  // clusters done: progress, for livelock detection
  // Finished clusters plus, in an arbitrary schedule, strong writes to global memory. A cluster that is held back waits
  // for this number to grow.
  std::atomic<std::uint64_t> published{0};
  std::atomic<bool> failed{false};
  int most_workers = 1;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::atomic<int> workers{0};  // currently running
};

class Worker {
 public:
  Worker();
  ~Worker();
  // Returns the worker of this OS thread, created on first use.
  static Worker& mine();

  // Runs clusters of the grid until none is left or the launch has failed.
  void work(GridRun& run);

  // ---- called by a running lane; each returns when the lane continues -----------------------------------------------
  void yield();
  void note_poll();
  // Called before a strong access or an mbarrier operation; `writes`: the access writes global memory. In an arbitrary
  // schedule, may let other lanes run first. If the previous strong access wrote global memory, may also hold the whole
  // cluster back, so that other clusters act on what it has published so far.
  void explore(bool writes) {
    if (run->schedule) run_others(writes);
  }
  void preempt();  // yields on behalf of a lane that has not yielded for a long time
  int barrier(Vote vote, int predicate, const Site& site);
  std::uint64_t collective(Collective op, unsigned mask, std::uint64_t value, int argument, int width,
                           const Site& site);
  unsigned active_mask(const Site& site);
  void wait_for_mbarrier(const Site& site);
  void cluster_barrier(const Site& site);
  // Abandons the launch; does not return.
  [[noreturn]] void fail(const char* kind, std::string text);

  // Wakes all lanes that wait for an mbarrier, because a phase is over; each tests its own mbarrier again.
  void wake_mbarrier_waiters();
  // Returns the address in block `rank` of the running cluster that corresponds to the current block's `shared`.
  void* peer_address(void* shared, unsigned rank);
  // Counts a mistake at `key` (a place or a pair of places); only the first one at each key is described.
  void report(const char* kind, std::uint64_t key, std::string text) const;
  // Names the running lane: "thread 3 of block 7 of reduce::total_kernel".
  std::string who() const;

  // The running lane and its block; null outside kernels.
  Lane* lane = nullptr;
  Block* block = nullptr;
  GridRun* run = nullptr;
  std::deque<Block> blocks;  // of the running cluster, by rank
  FiberPool fibers;
  std::uintptr_t stack_top = 0;    // of the running fiber
  std::size_t dynamic_stride = 0;  // bytes between the dynamic shared memory of consecutive blocks of a cluster

#if UPSWEEP_SIMT_TRACED
  Tracer tracer{*this};
#else
  Preemption preemption{*this};
#endif

 private:
  static void fiber_main();
  void prepare(const Launch& launch);
  void run_cluster(std::uint64_t cluster);
  void finish_cluster();
  void run_lanes();
  Lane* pick();
  Lane* pick_any();
  void run_others(bool writes);
  void hold();
  std::uint32_t random();
  void enter(Lane& next);
  void park();                 // suspends the lane and runs another; returns when it can continue
  void switch_to(Lane* next);  // null: back to work()
  void make_current(Block& next);
  void lane_done();
  void release_barrier(Block& b);
  void report_early_exit(Block& b);
  void release_cluster_barrier();
  std::uint32_t release_active_mask(Warp& warp);
  bool try_complete(Warp& warp, std::uint32_t mask);

  Fiber* fiber_ = nullptr;  // running
  Context main_ = nullptr;  // the context of work()
  const char* failure_ = nullptr;
  std::string failure_text_;
  std::uint64_t yields_ = 0, finished_seen_ = 0;  // yields since the launch last finished a cluster
  unsigned polls_ = 0;
  std::uint64_t random_ = 0;                           // state of the random number generator
  std::chrono::steady_clock::duration held_{};         // time for which hold() has delayed this launch
  bool wrote_ = false;                                 // the last strong access wrote global memory
  std::uint64_t switches_ = 0, switches_at_tick_ = 0;  // lanes entered: so far; at the last preemption tick
  unsigned live_blocks_ = 0, cluster_arrived_ = 0;
  std::vector<std::byte> dynamic_shared_;
  std::vector<std::byte> fresh_static_shared_;  // the thread-local image that every block of a cluster starts from
};

// Null on a thread that has never run a kernel. Initial-exec thread-local storage: one instruction to read.
extern thread_local Worker* current_worker;

}  // namespace upsweep::simt
