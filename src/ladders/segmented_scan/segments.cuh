// Rows of packs (kernel/rows.h) with one head bit per item, and warp-wide segmented scans of them.
//
// Within a warp, heads come from a ballot and are not shuffled along with the values. In each step of a scan, a lane
// adds the value from `distance` lanes to its left, unless that lane precedes the segment's head.
#pragma once
#include "kernel/lookback.h"
#include "kernel/rows.h"
#include "ladders/segmented_scan/heads.cuh"
#include "ladders/segmented_scan/run.h"

namespace upsweep::ladders::segmented_scan {

// Stand-in for an Initial that is known at compile time to be the neutral element.
struct NoInitial {
  template <class T, class O>
  UPSWEEP_HD constexpr operator Initial<T, O>() const {
    return {};
  }
};
// Calls start(from) with NoInitial if the call has no initial value, otherwise with its initial value. A check at run
// time instead would slow down lookback by 2 % at 2^20 elements and pipeline by 1 % at 2^24. Sums in a wider type are
// not worth a second kernel, so they always get an Initial.
template <class T, class Op, class Out, class Start>
Status start_from(const Args<T, Op, Out>& a, Start&& start) {
  if constexpr (std::is_same_v<T, Out>)
    if (!a.initial.given) return start(NoInitial{});
  return start(a.initial);
}

// Reduces a pack of T to Out, starting at the last head of the pack, or at its first item if it has none.
template <class T, class Out, class Op>
__device__ __forceinline__ Out fold_pack(const uint4& raw_pack, unsigned heads, Op op) {
  const Pack<T> pack = as_pack<T>(raw_pack);
  Out sum = pack.item[0];
#pragma unroll
  for (unsigned k = 1; k < Pack<T>::size; ++k) {
    const Out item = pack.item[k];
    sum = heads >> k & 1 ? item : op(sum, item);
  }
  return sum;
}

// Returns the last lane in [0, lane] that has a head, or 0 if none has. `heads` has one bit per lane.
__device__ __forceinline__ unsigned last_head(unsigned heads, unsigned lane) {
  const unsigned upto = heads & ((2u << lane) - 1);
  return upto ? highest_bit(upto) : 0;
}

// The runs below include the initial value if they contain a head, because every segment starts from it. Every prefix
// includes it too, because element 0 is a head.

// Returns the total of a warp's rows to lane 0. Cheaper than scan_rows(), but only for commutative operators.
template <class T, class Out, unsigned Rows, class Op>
__device__ __forceinline__ Run<Out> total_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows], Op op,
                                               Out initial) {
  const Out first = threadIdx.x % warp_size == 0 ? initial : Op::template neutral<Out>();
  Out sum = Op::template neutral<Out>();  // this lane's contribution since the warp's last head
  bool any_head = false;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const unsigned row_heads = __ballot_sync(all_lanes, heads[r] != 0);
    const Out value = fold_pack<T, Out>(rows[r], heads[r], op);
    const bool counts = threadIdx.x % warp_size >= last_head(row_heads, warp_size - 1);
    if (row_heads) any_head = true, sum = first;
    if (counts) sum = op(sum, value);
  }
  return {warp_reduce(sum, op), any_head};
}

// The prefix of each of this lane's packs within the warp's rows.
template <class T, unsigned Rows>
struct BeforePacks {
  T value[Rows];
  unsigned enclosed = 0;  // bit r: a head of the warp precedes the pack in row r, so the prefix starts in the warp
};

// Warp-wide: computes the prefix of each pack, and returns the total of the rows to every lane.
template <class T, class Out, unsigned Rows, class Op>
__device__ __forceinline__ Run<Out> scan_rows(const uint4 (&rows)[Rows], const unsigned (&heads)[Rows],
                                              BeforePacks<Out, Rows>& before, Op op, Out initial) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned row_heads[Rows], in_segment[Rows];  // in_segment: lanes to the left that are in this lane's segment
  Out upto[Rows];
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    row_heads[r] = __ballot_sync(all_lanes, heads[r] != 0);
    in_segment[r] = lane - last_head(row_heads[r], lane);
    upto[r] = fold_pack<T, Out>(rows[r], heads[r], op);
  }
  warp_scans(upto, op, [&](unsigned r) { return in_segment[r]; });
  Run<Out> total = Joined<Op>::template neutral<Run<Out>>();
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const bool in_row = row_heads[r] & ((1u << lane) - 1);
    const Out left = from_left_lane(upto[r], op);
    before.value[r] = op(in_row ? initial : total.value, left);
    before.enclosed |= unsigned(in_row || total.head) << r;
    const bool row_head = row_heads[r] != 0;
    total = {op(row_head ? initial : total.value, shuffle(upto[r], warp_size - 1)),
             static_cast<UnsignedAs<Out>>(total.head | row_head)};
  }
  return total;
}

// Writes the scan of `rows`, whose contents may be overwritten. `left` is the prefix before the warp's rows.
template <class T, unsigned Rows, class Op, class Out>
__device__ __forceinline__ void write_scan(Out* out,  // points in.begin elements before the output
                                           const Aligned<T>& in, std::size_t position, uint4 (&rows)[Rows],
                                           const unsigned (&heads)[Rows], const BeforePacks<Out, Rows>& before,
                                           Out left, bool inclusive, Op op, Initial<Out, Op> initial) {
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    Out prefix = before.enclosed >> r & 1 ? before.value[r] : op(left, before.value[r]);
    const Pack<T> pack = as_pack<T>(rows[r]);
    Out item[Pack<T>::size];
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      const bool head = heads[r] >> k & 1;
      const Out before_item = head ? initial.alone() : prefix;
      if (head) prefix = initial.value;
      const Out next = op(prefix, Out(pack.item[k]));
      item[k] = inclusive ? next : before_item;
      prefix = next;
    }
    if constexpr (std::is_same_v<T, Out>) {
      Pack<T> scanned;
#pragma unroll
      for (unsigned k = 0; k < Pack<T>::size; ++k) scanned.item[k] = item[k];
      rows[r] = raw(scanned);
    } else {
      store_items(out, in, position + r * row_elements<T>, item);
    }
  }
  if constexpr (std::is_same_v<T, Out>) store_rows(out, in, position, rows);
}

// Publishes a tile's total; called by one thread. If the tile has a head, its total is also its prefix, whatever
// precedes the tile; otherwise only the total is known at first (kernel/lookback.h).
template <class T>
__device__ __forceinline__ void publish(const Descriptors& descriptors, std::size_t tile, unsigned epoch,
                                        const Run<T>& total) {
  if (Descriptors::rewrites(epoch))
    store_tagged(total.head ? total_words<T>(descriptors, tile) : prefix_words<T>(descriptors, tile), 0, T{});
  store_tagged(total.head ? prefix_words<T>(descriptors, tile) : total_words<T>(descriptors, tile), epoch, total.value);
}

}  // namespace upsweep::ladders::segmented_scan
