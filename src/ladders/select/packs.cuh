// 16-byte packs of keys: selection bits, ranks within a warp's rows, compaction and output.
//
// Keys are the values that an operation tests: the elements, or their flags. A row has one pack per lane of a warp
// (kernel/rows.h).
#pragma once
#include "kernel/bytes.h"
#include "kernel/rows.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

template <class T, class O>
using Key = std::conditional_t<reads_flags<O>, std::uint8_t, T>;

template <class T, class O>
__host__ __device__ const Key<T, O>* keys_of(const Input<T, O>& in) {
  if constexpr (reads_flags<O>)
    return in.flags;
  else
    return in.values;
}

// ---- bits -----------------------------------------------------------------------------------------------------------

// The distance from the position that a bit stands for to the position where the bit is computed. For find_repeats,
// that is at the second of two equal keys, so the bit stands for the previous position.
template <class O>
inline constexpr unsigned bit_lag = sees_next<O> ? 1 : 0;

// Returns a word whose bit k is the condition at key k of the pack; `left` is the key before the pack.
template <class T, class O>
__device__ __forceinline__ unsigned bits_of(const Input<T, O>& in, const uint4& raw, [[maybe_unused]] Key<T, O> left) {
  if constexpr (reads_flags<O> || (compares_with_zero<O> && sizeof(T) == 1)) {
    return nonzero_bytes(raw);
  } else {
    const Pack<T> pack = as_pack<T>(raw);
    unsigned bits = 0;
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      bool selected;
      if constexpr (has_predicate<O>)
        selected = in.predicate(pack.item[k]);
      else if constexpr (compares_with_zero<O>)
        selected = pack.item[k] != T{};
      else
        selected = (pack.item[k] == left) == sees_next<O>;
      bits |= unsigned(selected) << k;
      if constexpr (sees_neighbour<O>) left = pack.item[k];
    }
    return bits;
  }
}

// Returns the bits of the pack at `position`, corrected at the ends of the input: keys outside it are not selected, the
// first key begins a run, and no position precedes the first.
template <class O, class K>
__device__ __forceinline__ unsigned at_the_ends(unsigned bits, const Aligned<K>& keys, std::size_t position) {
  constexpr unsigned size = Pack<K>::size;
  const auto until = [&](std::size_t end) {  // bits of the keys before `end`
    return end <= position ? 0u : end - position >= size ? (1u << size) - 1 : (1u << (end - position)) - 1;
  };
  if constexpr (starts_runs<O>)
    if (keys.begin >= position && keys.begin - position < size) bits |= 1u << (keys.begin - position);
  return bits & until(keys.end) & ~until(keys.begin + bit_lag<O>);
}

// Computes the bits of a warp's rows. Lane 0's first pack is at `position`; lane 0's `left` is the key before it.
template <unsigned Rows, class T, class O>
__device__ __forceinline__ void bits_of_rows(const Input<T, O>& in, const Aligned<Key<T, O>>& keys,
                                             std::size_t position, const uint4 (&rows)[Rows], Key<T, O> left,
                                             unsigned (&bits)[Rows]) {
  using K = Key<T, O>;
  constexpr unsigned size = Pack<K>::size;
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    K before = left;
    if constexpr (sees_neighbour<O>) {
      // The key before a pack is the last key of the lane to the left. For lane 0, it is lane 31's last key in the
      // previous row, kept in `left`.
      const K last = as_pack<K>(rows[r]).item[size - 1];
      const K rotated = K(__shfl_sync(all_lanes, last, int(lane + warp_size - 1) % warp_size));
      before = lane == 0 ? left : rotated;
      left = rotated;
    }
    bits[r] = bits_of<T, O>(in, rows[r], before);
  }
  if (position > keys.begin && position + Rows * warp_size * size <= keys.end) return;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) bits[r] = at_the_ends<O>(bits[r], keys, position + (r * warp_size + lane) * size);
}

// ---- ranks ----------------------------------------------------------------------------------------------------------

// Ranks the bits of a warp's rows, `Size` per lane and row: before[r] becomes the number of keys selected before this
// lane's pack of row r. Returns the total. Four or two rows share a scanned word, because the sums of one row fit in 8
// or 16 bits.
template <unsigned Size, unsigned Rows>
__device__ __forceinline__ unsigned rank_rows(const unsigned (&bits)[Rows], unsigned (&before)[Rows]) {
  constexpr unsigned width = Size * warp_size < 256 ? 8 : 16, sharing = 32 / width, mask = (1u << width) - 1;
  unsigned total = 0;
#pragma unroll
  for (unsigned first = 0; first < Rows; first += sharing) {
    unsigned counts = 0;
#pragma unroll
    for (unsigned q = 0; q < sharing && first + q < Rows; ++q) counts |= unsigned(__popc(bits[first + q])) << q * width;
    const unsigned upto = warp_scan(counts, Sum{});
    const unsigned all = __shfl_sync(all_lanes, upto, warp_size - 1);
#pragma unroll
    for (unsigned q = 0; q < sharing && first + q < Rows; ++q) {
      before[first + q] = total + ((upto - counts) >> q * width & mask);
      total += all >> q * width & mask;
    }
  }
  return total;
}

// ---- the last selected element --------------------------------------------------------------------------------------

// The elements selected in a range of tiles: their number, and one past the position of the last (0 if none). For runs,
// `end - 1` is where the last run begins; that run ends at the next selected element.
template <class N>
struct Selected {
  N count, end;
};
// Combines two adjacent ranges.
struct Adjoin {
  template <class S>
  __host__ __device__ static constexpr S neutral() {
    return {0, 0};
  }
  template <class N>
  __host__ __device__ constexpr Selected<N> operator()(Selected<N> left, Selected<N> right) const {
    return {left.count + right.count, right.end ? right.end : left.end};
  }
};

// Returns, to every lane, one past the position of the last key selected in a warp's rows, or 0 if none is; `first` is
// the position of this lane's first pack.
template <unsigned Size, unsigned Rows>
__device__ __forceinline__ unsigned end_of_rows(const unsigned (&bits)[Rows], unsigned first) {
  unsigned end = 0;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r)
    if (bits[r]) end = first + r * warp_size * Size + 32 - __clz(int(bits[r]));
  return warp_reduce_all(end, Max{});
}

// ---- compaction and output ------------------------------------------------------------------------------------------

// Writes the items of the pack whose bits are set to at[0], at[1], ...
template <class V>
__device__ __forceinline__ void compact(unsigned bits, const Pack<V>& pack, V* at) {
#pragma unroll
  for (unsigned k = 0; k < Pack<V>::size; ++k)
    if (bits >> k & 1) *at++ = pack.item[k];
}
// Writes the positions of the items whose bits are set to at[0], at[1], ...; `first` is the position of the pack.
template <unsigned Size>
__device__ __forceinline__ void compact_positions(unsigned bits, unsigned first, std::uint16_t* at) {
#pragma unroll
  for (unsigned k = 0; k < Size; ++k)
    if (bits >> k & 1) *at++ = static_cast<std::uint16_t>(first + k);
}

// Returns the array's offset from a 16-byte boundary, in elements. In shared memory, compacted values begin at the same
// offset.
template <class V>
__device__ unsigned misalignment(const V* array) {
  return unsigned(reinterpret_cast<std::uintptr_t>(array) % 16 / sizeof(V));
}

// Copies staged[misalignment(values) + k] to values[k] for k < count, 16 bytes at a time. Called by `threads` threads;
// the caller is number `thread`.
template <class V>
__device__ __forceinline__ void put_values(V* values, const V* staged, unsigned count, unsigned thread,
                                           unsigned threads) {
  constexpr unsigned size = Pack<V>::size;
  const unsigned from = misalignment(values), to = from + count;
  V* const aligned = values - from;
  // The whole packs are [begin, end). The elements before and after are copied one by one; all of them if there is no
  // whole pack.
  const unsigned begin = from > 0 && to >= size ? size : from, end = to >= size ? to / size * size : from;
  if (thread < begin - from) values[thread] = staged[from + thread];
  if (thread < to - end) aligned[end + thread] = staged[end + thread];
#pragma unroll 4
  for (unsigned first = begin + thread * size; first < end; first += threads * size)
    *reinterpret_cast<uint4*>(aligned + first) = *reinterpret_cast<const uint4*>(staged + first);
}

}  // namespace upsweep::ladders::select
