// Rows of packs (kernel/rows.h) with a bit an item, and segmented scans of them by a warp.
//
// In a warp, heads are a ballot and no part of what is shuffled: a lane adds what lies `distance` to its left if that
// lane is not left of the last head.
#pragma once
#include "kernel/lookback.h"
#include "kernel/rows.h"
#include "ladders/segmented_scan/heads.cuh"

namespace upsweep::ladders::segmented_scan {

// What comes from the last head of a pack on.
template <class T, class Op>
__device__ __forceinline__ T fold_pack(const uint4& raw_pack, unsigned heads, Op op) {
  const Pack<T> pack = as_pack<T>(raw_pack);
  T sum = pack.item[0];
#pragma unroll
  for (unsigned k = 1; k < Pack<T>::size; ++k) sum = heads >> k & 1 ? pack.item[k] : op(sum, pack.item[k]);
  return sum;
}

// The last lane up to and with `lane` that has a head, or lane 0; `heads` has a bit a lane.
__device__ __forceinline__ unsigned last_head(unsigned heads, unsigned lane) {
  const unsigned upto = heads & ((2u << lane) - 1);
  return upto ? warp_size - 1 - __clz(int(upto)) : 0;
}

// The total of a warp's rows, for lane 0: cheaper than scan_rows(), for operators that commute.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ Run<T> total_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows], Op op) {
  T sum = Op::template neutral<T>();  // this lane's, since the last head of them all
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

// What comes before each pack of this lane, as far as the warp's rows go.
template <class T, unsigned Rows>
struct BeforePacks {
  T value[Rows];
  unsigned enclosed = 0;  // a bit a row: whether a head comes before the pack, so that nothing else matters
};

// That of all packs; returns the total of the rows, to every lane.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ Run<T> scan_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows],
                                            BeforePacks<T, Rows>& before, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned row_heads[Rows], in_segment[Rows];  // lanes to the left that belong to the lane's segment
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

// The rows become their scan, after `left`.
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ void finish_rows(uint4 (&rows)[Rows], const unsigned (&heads)[Rows],
                                            const BeforePacks<T, Rows>& before, T left, bool inclusive, Op op) {
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    T prefix = before.enclosed >> r & 1 ? before.value[r] : op(left, before.value[r]);
    Pack<T> pack = as_pack<T>(rows[r]);
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      if (heads[r] >> k & 1) prefix = Op::template neutral<T>();
      const T next = op(prefix, pack.item[k]);
      pack.item[k] = inclusive ? next : prefix;
      prefix = next;
    }
    rows[r] = raw(pack);
  }
}

// Publishes a tile's total, by one thread. A tile with a head has its prefix at once, whatever comes before it; of the
// others only the total is known at first (kernel/lookback.h).
template <class T>
__device__ __forceinline__ void publish(const Descriptors& descriptors, std::size_t tile, unsigned epoch,
                                        const Run<T>& total) {
  if (Descriptors::rewrites(epoch))
    store_tagged(total.head ? total_words<T>(descriptors, tile) : prefix_words<T>(descriptors, tile), 0, T{});
  store_tagged(total.head ? prefix_words<T>(descriptors, tile) : total_words<T>(descriptors, tile), epoch, total.value);
}

}  // namespace upsweep::ladders::segmented_scan
