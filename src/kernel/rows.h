// Rows of 16-byte packs, and warp-wide scans of them: in row r, lane l has pack r * 32 + l.
#pragma once
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "upsweep/half.h"

namespace upsweep {

// ---- the input as packs ---------------------------------------------------------------------------------------------

// An array as 16-byte aligned packs. Positions count from the start of the first pack; positions outside [begin, end)
// are not in the array.
template <class T>
struct Aligned {
  const T* base;           // 16-byte aligned, `begin` elements before the input
  std::size_t begin, end;  // positions of the input
  __host__ __device__ Aligned(const T* in, std::size_t n)
      : base(in - reinterpret_cast<std::uintptr_t>(in) % 16 / sizeof(T)), begin(in - base), end(begin + n) {}
  // True if all `count` elements from `position` on are in the array.
  __device__ bool has(std::size_t position, std::size_t count = 1) const {
    return position >= begin && position + count <= end;
  }
};

template <class T>
inline constexpr unsigned row_elements = warp_size* Pack<T>::size;

// Loads this lane's packs, one per row, the first at `position`; elements outside the array become neutral. One bounds
// check covers all rows, so that all loads are in flight together. Not by load_once(), because the output may be the
// same memory. Packs stay as raw 16 bytes, because one-byte items would take a register each.
template <class Op, unsigned Rows, class T>
__device__ __forceinline__ void load_rows(const Aligned<T>& in, std::size_t position, uint4 (&rows)[Rows]) {
  if (in.has(position, (Rows - 1) * row_elements<T> + Pack<T>::size)) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      rows[r] = *reinterpret_cast<const uint4*>(in.base + position + r * row_elements<T>);
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    Pack<T> pack;
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      const std::size_t i = position + r * row_elements<T> + k;
      pack.item[k] = in.has(i) ? in.base[i] : Op::template neutral<T>();
    }
    rows[r] = raw(pack);
  }
}

// Stores the rows to the same positions of the output, 16 bytes at a time if the output is aligned like the input.
template <unsigned Rows, class T>
__device__ __forceinline__ void store_rows(T* out,  // in.begin elements before the output
                                           const Aligned<T>& in, std::size_t position, const uint4 (&rows)[Rows]) {
  if (reinterpret_cast<std::uintptr_t>(out) % 16 == 0 &&
      in.has(position, (Rows - 1) * row_elements<T> + Pack<T>::size)) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) *reinterpret_cast<uint4*>(out + position + r * row_elements<T>) = rows[r];
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const Pack<T> pack = as_pack<T>(rows[r]);
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      const std::size_t i = position + r * row_elements<T> + k;
      if (in.has(i)) out[i] = pack.item[k];
    }
  }
}

// Stores a pack's items, converted to another type, to the same positions of the output. Each lane writes contiguous
// bytes, so a warp's stores are not coalesced; L2 merges them into whole sectors.
template <class Out, class T>
__device__ __forceinline__ void store_items(Out* out,  // in.begin elements before the output
                                            const Aligned<T>& in, std::size_t position,
                                            const Out (&item)[Pack<T>::size]) {
  if (reinterpret_cast<std::uintptr_t>(out) % 16 == 0 && in.has(position, Pack<T>::size)) {
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; k += Pack<Out>::size) {
      Pack<Out> pack;
#pragma unroll
      for (unsigned i = 0; i < Pack<Out>::size; ++i) pack.item[i] = item[k + i];
      *reinterpret_cast<uint4*>(out + position + k) = raw(pack);
    }
    return;
  }
#pragma unroll
  for (unsigned k = 0; k < Pack<T>::size; ++k)
    if (in.has(position + k)) out[position + k] = item[k];
}

// Stores the first element of an exclusive scan if the result of an empty sum is not the neutral element. By the lane
// that has stored the pack at position 0.
template <class Op, class T, class Out>
__device__ __forceinline__ void store_empty_prefix(Out* out,  // in.begin elements before the output
                                                   const Aligned<T>& in, std::size_t position, bool inclusive,
                                                   Initial<Out, Op> initial = {}) {
  if constexpr (none_is_not_neutral<Op, Out>)
    if (!inclusive && position == 0) out[in.begin] = initial.alone();
}

// ---- a pack ---------------------------------------------------------------------------------------------------------

// True for sums of 8- and 16-bit integers, which are computed on four or two elements per word.
template <class T, class Op>
inline constexpr bool sums_in_words = std::is_same_v<Op, Sum>&& std::is_integral_v<T> && sizeof(T) < 4;

// The type in which totals of output type T are computed. Sums of narrow integers wrap, and sums of halves are rounded,
// only when they are written.
template <class T, class Op>
using Total = std::conditional_t<sums_in_words<T, Op>, unsigned, Computed<T>>;

inline constexpr unsigned even_bytes = 0x00ff00ff, both_halves = 0x00010001;

template <class T, class Out = T, class Op>
__device__ __forceinline__ Total<Out, Op> fold_raw(const uint4& pack, Op op) {
  if constexpr (sums_in_words<T, Op>) {
    unsigned sum = 0;  // of bytes: two 16-bit sums of eight bytes each, which cannot overflow
    for (const unsigned word : {pack.x, pack.y, pack.z, pack.w})
      sum += sizeof(T) == 1 ? (word & even_bytes) + (word >> 8 & even_bytes) : (word & 0xffff) + (word >> 16);
    return sizeof(T) == 1 ? (sum & 0xffff) + (sum >> 16) : sum;
  } else if constexpr (std::is_same_v<T, Total<Out, Op>>) {
    return fold(as_pack<T>(pack), op);
  } else {
    return fold(widen_pack<Total<Out, Op>>(as_pack<T>(pack)), op);
  }
}

// Returns the scan of a word's four bytes. `carry` has the prefix before the word in both 16-bit halves, and is updated
// to the prefix before the next word. Bytes are added in 16-bit halves, so that no sum carries into the next byte.
__device__ __forceinline__ unsigned scan_bytes(unsigned word, unsigned& carry, bool inclusive) {
  const unsigned odd = word >> 8 & even_bytes;
  const unsigned odd_sums = ((word & even_bytes) + odd) * both_halves + carry;  // sums up to bytes 1 and 3
  const unsigned after = ((odd_sums - odd) & even_bytes) | (odd_sums << 8 & ~even_bytes);
  const unsigned before = carry & 0xff;
  carry = (odd_sums >> 16) * both_halves;
  return inclusive ? after : after << 8 | before;
}
__device__ __forceinline__ unsigned scan_halves(unsigned word, unsigned& carry, bool inclusive) {
  const unsigned before = carry & 0xffff, first = carry + word;
  carry = first + (word >> 16);
  const unsigned after = (first & 0xffff) | carry << 16;
  return inclusive ? after : after << 16 | before;
}

// Scans the pack in place; `left` is the prefix before the pack.
template <class T, class Op>
__device__ __forceinline__ void finish_raw(uint4& pack, Total<T, Op> left, bool inclusive, Op op) {
  if constexpr (sums_in_words<T, Op>) {
    unsigned carry = sizeof(T) == 1 ? (left & 0xff) * both_halves : left;
    for (unsigned* const word : {&pack.x, &pack.y, &pack.z, &pack.w})
      *word = sizeof(T) == 1 ? scan_bytes(*word, carry, inclusive) : scan_halves(*word, carry, inclusive);
  } else {
    Pack<T> items = as_pack<T>(pack);
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) {
      const Total<T, Op> next = op(left, Total<T, Op>(items.item[k]));
      items.item[k] = T(inclusive ? next : left);
      left = next;
    }
    pack = raw(items);
  }
}

// ---- a warp's rows --------------------------------------------------------------------------------------------------

// Warp-wide: returns the total of all rows to lane 0. If the operator commutes, cheaper than scan_rows().
template <class T, class Out = T, unsigned Rows, class Op>
__device__ __forceinline__ Total<Out, Op> total_rows(const uint4 (&rows)[Rows], Op op) {
  using A = Total<Out, Op>;
  if constexpr (commutes<Op>) {
    A sum = fold_raw<T, Out>(rows[0], op);
#pragma unroll
    for (unsigned r = 1; r < Rows; ++r) sum = op(sum, fold_raw<T, Out>(rows[r], op));
    return warp_reduce(sum, op);
  } else {
    A sum = Op::template neutral<A>();
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) sum = op(sum, warp_reduce(fold_raw<T, Out>(rows[r], op), op));
    return sum;
  }
}

// Warp-wide: sets before[r] to the exclusive prefix, within the warp's rows, of this lane's pack in row r. Returns the
// total of all rows to every lane.
template <class T, class Out = T, unsigned Rows, class Op>
__device__ __forceinline__ Total<Out, Op> scan_rows(const uint4 (&rows)[Rows], Total<Out, Op> (&before)[Rows], Op op) {
  using A = Total<Out, Op>;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) before[r] = warp_scan(fold_raw<T, Out>(rows[r], op), op);
  A total = Op::template neutral<A>();
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const A row = shuffle(before[r], warp_size - 1);
    before[r] = op(total, from_left_lane(before[r], op));
    total = op(total, row);
  }
  return total;
}

// Scans the rows in place. `left` is the prefix before the rows; `before` comes from scan_rows().
template <class T, unsigned Rows, class Op>
__device__ __forceinline__ void finish_rows(uint4 (&rows)[Rows], const Total<T, Op> (&before)[Rows], Total<T, Op> left,
                                            bool inclusive, Op op) {
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) finish_raw<T>(rows[r], op(left, before[r]), inclusive, op);
}

// Writes the scan of the rows to the output, and may overwrite `rows`. `left` and `before` are as in finish_rows();
// `left` includes the initial value.
template <class T, class Out, unsigned Rows, class Op>
__device__ __forceinline__ void write_scan(Out* out,  // in.begin elements before the output
                                           const Aligned<T>& in, std::size_t position, uint4 (&rows)[Rows],
                                           const Total<Out, Op> (&before)[Rows], Total<Out, Op> left, bool inclusive,
                                           Op op, Initial<Out, Op> initial) {
  if constexpr (std::is_same_v<T, Out>) {
    finish_rows<T>(rows, before, left, inclusive, op);
    store_rows(out, in, position, rows);
  } else {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const Pack<T> items = as_pack<T>(rows[r]);
      Out prefix = op(left, before[r]), item[Pack<T>::size];
#pragma unroll
      for (unsigned k = 0; k < Pack<T>::size; ++k) {
        const Out next = op(prefix, Out(items.item[k]));
        item[k] = inclusive ? next : prefix;
        prefix = next;
      }
      store_items(out, in, position + r * row_elements<T>, item);
    }
  }
  store_empty_prefix<Op>(out, in, position, inclusive, initial);
}

}  // namespace upsweep
