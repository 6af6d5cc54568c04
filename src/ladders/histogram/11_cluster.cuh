// histogram/cluster: counters are distributed over a cluster's blocks, which add to each other's shared memory.
//
// Unlike a group of slices, a cluster reads and bins every sample once. But an addition to another block's shared
// memory is a packet on the network between multiprocessors, whose packet rate is low, and the additions of lanes that
// hit the same word are not merged. On an H200, 65536 bins take 16 times as long as with two slices. Kept as a lesson:
// choose() never returns it.
//
// Traffic   n reads; n additions to shared memory, a fraction (blocks - 1) / blocks of them remote; an atomic addition
//           per nonzero counter and cluster; totals read once.
// Order     any.
// Source    NVIDIA, CUDA C++ Programming Guide, 2022, Distributed Shared Memory (the histogram example).
#pragma once
#include "kernel/cluster.h"
#include "ladders/histogram/steps.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

inline constexpr unsigned log_counters_per_block = 15;  // 128 KB
inline constexpr unsigned most_in_cluster = 8;          // blocks; larger clusters are not portable

template <Search search, class T, class O>
__global__ void __launch_bounds__(steps_block, 1)
    cluster_kernel(Input<T, O> in, Steps<T> steps, unsigned* totals) {  // [counters + 1], zero
  constexpr unsigned each = 1u << log_counters_per_block;
  unsigned* const counts = dynamic_shared<unsigned>();  // [each]
  const unsigned first = cluster_rank() << log_counters_per_block, slots = in.counters() + 1;
  const StepRange share = steps.share(blockIdx.x, gridDim.x);
  allow_next_launch();
  prefetch_first_steps(in.samples, share);
  for (unsigned k = threadIdx.x; k < each && first + k < slots; k += blockDim.x) counts[k] = 0;
  wait_for_previous();
  cluster_sync();
  for_each_slot(in.samples, steps, share, slots_of<search>(in), [&](unsigned slot, auto present) {
    if (present) increment_in_cluster(&counts[slot % each], slot >> log_counters_per_block);
  });
  cluster_sync();
  for (unsigned k = threadIdx.x; k < each && first + k < slots; k += blockDim.x)
    if (counts[k]) atomicAdd(&totals[first + k], counts[k]);
}

struct cluster {
  static constexpr Needs needs{{Feature::cluster}, 131'072};
  static constexpr Story story{
      .idea = "counters distributed over a cluster's blocks, which add in each other's shared memory",
      .prediction = "one read and one binning per sample: faster than two slices or more",
      .guarantees = "counts are exact",
      .limits = "any n; up to 2^18 - 1 counters; two launches",
      .source = "NVIDIA, CUDA C++ Programming Guide, Distributed Shared Memory, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    StepsLaunch<T> plan(a);
    if (!plan.valid()) return not_whole_warps;
    const unsigned blocks = std::bit_ceil((a.in.counters() >> log_counters_per_block) + 1);
    if (blocks > most_in_cluster) return {Code::unsupported, 0, "the counters do not fit in a cluster's shared memory"};
    plan.shape.cluster = blocks;
    plan.shape.grid = (plan.blocks() + blocks - 1) / blocks * blocks;
    plan.shape.shared_bytes = sizeof(unsigned) << log_counters_per_block;
    return by_totals(a, [&](unsigned* totals) {
      return by_search(a.in, [&]<Search search>(Chosen<search>) {
        return launch(cluster_kernel<search, T, O>, plan.shape, a.in, plan.steps, totals);
      });
    });
  }
};

}  // namespace upsweep::ladders::histogram
