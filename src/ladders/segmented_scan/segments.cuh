// Rows of packs (kernel/rows.h) with one bit per item, and warp-wide segmented scans of them.
//
// In a warp, heads are a ballot and not shuffled with the values: a lane adds the value `distance` to its left unless
// that lane is left of the last head.
#pragma once
#include "kernel/lookback.h"
#include "kernel/rows.h"
#include "ladders/segmented_scan/heads.cuh"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {

// Reduces a pack from its last head on.
template <class T, class Op>
__device__ __forceinline__ T fold_pack(const uint4& raw_pack, unsigned heads, Op op) {
  const Pack<T> pack = as_pack<T>(raw_pack);
  T sum = pack.item[0];
#pragma unroll
  for (unsigned k = 1; k < Pack<T>::size; ++k) sum = heads >> k & 1 ? pack.item[k] : op(sum, pack.item[k]);
  return sum;
}

// Returns the last lane up to and including `lane` that has a head, or lane 0; `heads` has one bit per lane.
__device__ __forceinline__ unsigned last_head(unsigned heads, unsigned lane) {
  const unsigned upto = heads & ((2u << lane) - 1);
  return upto ? highest_bit(upto) : 0;
}

// Returns the total of a warp's rows to lane 0. Cheaper than scan_rows(); for operators that commute.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ Run<T> total_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows], Op op) {
  T sum = Op::template neutral<T>();  // this lane's part, since the last head of any lane
  bool any_head = false;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const unsigned row_heads = __ballot_sync(all_lanes, heads[r] != 0);
    const T value = fold_pack<T>(rows[r], heads[r], op);
    const bool counts = threadIdx.x % warp_size >= last_head(row_heads, warp_size - 1);
    if (row_heads) any_head = true, sum = Op::template neutral<T>();
    if (counts) sum = op(sum, value);
  }
  return {warp_reduce(sum, op), any_head};
}

// The prefix of each of this lane's packs within the warp's rows.
template <class T, unsigned Rows>
struct BeforePacks {
  T value[Rows];
  unsigned enclosed = 0;  // one bit per row: whether a head precedes the pack, so that nothing before it matters
};

// Computes the prefix of each pack; returns the total of the rows to every lane.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ Run<T> scan_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows],
                                            BeforePacks<T, Rows>& before, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned row_heads[Rows], in_segment[Rows];  // the number of lanes to the left in this lane's segment
  T upto[Rows];
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    row_heads[r] = __ballot_sync(all_lanes, heads[r] != 0);
    in_segment[r] = lane - last_head(row_heads[r], lane);
    upto[r] = fold_pack<T>(rows[r], heads[r], op);
  }
  warp_scans(upto, op, [&](unsigned r) { return in_segment[r]; });
  Run<T> total = Joined<Op>::template neutral<Run<T>>();
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const bool in_row = row_heads[r] & ((1u << lane) - 1);
    const T left = from_left_lane(upto[r], op);
    before.value[r] = in_row ? left : op(total.value, left);
    before.enclosed |= unsigned(in_row || total.head) << r;
    total = Joined<Op>{op}(total, {shuffle(upto[r], warp_size - 1), row_heads[r] != 0});
  }
  return total;
}

// Replaces the rows with their scan; `left` is the prefix before them.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ void finish_rows(uint4 (&rows)[Rows], const unsigned (&heads)[Rows],
                                            const BeforePacks<T, Rows>& before, T left, bool inclusive, Op op) {
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    T prefix = before.enclosed >> r & 1 ? before.value[r] : op(left, before.value[r]);
    Pack<T> pack = as_pack<T>(rows[r]);
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      const bool head = heads[r] >> k & 1;
      const T before_item = head ? value_of_none<Op, T>() : prefix;
      if (head) prefix = Op::template neutral<T>();
      const T next = op(prefix, pack.item[k]);
      pack.item[k] = inclusive ? next : before_item;
      prefix = next;
    }
    rows[r] = raw(pack);
  }
}

// Publishes a tile's total, by one thread. In a tile with a head it is also the prefix, whatever comes before the tile;
// in the others only the total is known at first (kernel/lookback.h).
template <class T>
__device__ __forceinline__ void publish(const Descriptors& descriptors, std::size_t tile, unsigned epoch,
                                        const Run<T>& total) {
  if (Descriptors::rewrites(epoch))
    store_tagged(total.head ? total_words<T>(descriptors, tile) : prefix_words<T>(descriptors, tile), 0, T{});
  store_tagged(total.head ? prefix_words<T>(descriptors, tile) : total_words<T>(descriptors, tile), epoch, total.value);
}

}  // namespace upsweep::ladders::segmented_scan
