// The state of lanes, warps and blocks: which run, which wait, and for what. Plain data; the scheduler is in worker.h.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/fiber.h"
#include "simt/runtime.h"

namespace upsweep::simt {

struct Block;
struct Warp;

// Calls f(i) for every set bit of a mask, lowest first.
template <class F>
void for_each_bit(std::uint32_t mask, F&& f) {
  for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
}

// One CUDA thread.
struct Lane {
  uint3 thread{};           // threadIdx
  std::uint16_t index = 0;  // in its block; index % 32 in its warp
  Warp* warp = nullptr;
  Block* block = nullptr;
  Fiber* fiber = nullptr;  // on which it is parked; null before it starts and while it runs
  // The collective or barrier that the lane reached last, with its operands and result.
  Site site;
  Collective op = Collective::sync;
  unsigned mask = 0;
  std::uint64_t value = 0, result = 0;
  int argument = 0, width = 32;

  unsigned number() const { return index % 32; }
  std::uint32_t bit() const { return 1u << (index % 32); }
};

// Thirty-two lanes as bit masks. A live lane is in exactly one of runnable, in_collective, at_barrier, at_active_mask,
// at_mbarrier, at_cluster_barrier.
struct Warp {
  unsigned index = 0;  // in its block
  Lane* lanes = nullptr;
  Block* block = nullptr;
  std::uint32_t members = 0;  // lanes that exist
  std::uint32_t live = 0;     // have not returned
  std::uint32_t runnable = 0;
  std::uint32_t yielded = 0;  // runnable, but yielded to others
  std::uint32_t in_collective = 0, at_barrier = 0, at_active_mask = 0, at_mbarrier = 0, at_cluster_barrier = 0;

  void start() {
    live = runnable = members;
    yielded = in_collective = at_barrier = at_active_mask = at_mbarrier = at_cluster_barrier = 0;
  }
};

struct Block {
  uint3 index{};      // blockIdx
  unsigned rank = 0;  // in its cluster
  unsigned threads = 0, live = 0;
  std::vector<Lane> lanes;
  std::vector<Warp> warps;

  // The block barrier: the number of waiting threads, the site and the kind of vote of the first of them, the votes so
  // far, and the outcome of the last barrier.
  unsigned arrived = 0;
  Site barrier_site;
  Vote vote = Vote::none;
  int votes = 0, outcome = 0;
  bool divergence_reported = false;

  std::byte* dynamic_shared = nullptr;
  std::vector<std::byte> static_shared;  // the saved thread-local image, while a cluster peer runs

  // Lays out lanes and warps for blocks of this shape; once per launch.
  void shape(dim3 threads_per_block);
  // Makes every lane ready to run block `block_index` of the grid.
  void start(uint3 block_index);
  // Says where threads wait, for reports of deadlocks: "3 threads wait in a warp collective with mask 0000ffff, file:12
  // (first: thread 5); ...".
  std::string describe_waiting() const;
};

// "file.cuh:12", without directories.
std::string to_string(const Site& site);
inline bool same_place(const Site& a, const Site& b) {
  return a.line() == b.line() && a.column() == b.column() && a.file_name() == b.file_name();
}

}  // namespace upsweep::simt
