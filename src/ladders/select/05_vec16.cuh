// select/vec16: 16-byte loads with a halo, several in flight, and 16-byte stores.
//
// Each lane has up to eight packs. A pack's flags are bits of one word, and the key before a pack comes from the lane
// to the left. Selected elements are compacted in shared memory at the output's misalignment, so that they too are
// stored in packs. The kernel starts before the previous one has finished. For run_length_encode, look-back finds not
// only a tile's offset but also the position of the last element selected before the tile, which gives the length of a
// run that began in an earlier tile. Offsets and positions have 32 bits; for 2^32 elements or more, separate kernels
// use 64.
//
// Traffic   n reads and selected elements written, 16 bytes per access; one more key per warp (the halo); two words per
//           tile, doubled for run_length_encode and doubled for 2^32 elements or more. With flags, the n flags and only
//           the selected elements are read.
// Order     preserved.
// Source    Bakunas-Milanowski et al., Efficient Algorithms for Stream Compaction on GPUs, 2017.
#pragma once
#include "base/threshold.h"
#include "kernel/block.h"
#include "ladders/select/fused.cuh"
#include "ladders/select/packs.cuh"

namespace upsweep::ladders::select {

inline constexpr unsigned vec16_block = 256;
// Rows per tile. With twice the rows there are half as many tiles, so blocks wait less for each other. On an H200 with
// code for compute capability 8.0, half of the elements selected: 2^24 elements of 4 bytes take 40 us with 8 rows and
// 48 with 4; 2^20 take 5.95 and 6.38. Tiles that would not fit in 48 KB of shared memory have fewer rows: those of 1-
// and 2-byte elements with their positions, and of values selected by flags.
template <class T, class O, bool large>
inline constexpr unsigned vec16_rows = reads_flags<O>   ? 1
                                       : sizeof(T) == 1 ? 2
                                       : sizeof(T) == 2 ? 4
                                       : large          ? 8
                                                        : 4;
// Maximum input for small tiles, in bytes. Larger inputs have more than 64 large tiles, enough for about half of an
// H200's multiprocessors.
inline constinit Threshold most_in_small_tiles{"most_in_small_tiles", 2 << 20, 32 << 10};

template <class T, class O, unsigned rows>
struct Vec16Tile {
  static constexpr unsigned keys = vec16_block * rows * Pack<Key<T, O>>::size;
  // Shared memory for compaction: values, shifted by up to a pack, and positions in the tile.
  static constexpr unsigned values = writes_values<O> ? keys + Pack<T>::size : 0;
  static constexpr unsigned shared_bytes = values * sizeof(T) + (needs_positions<O> ? keys * sizeof(std::uint16_t) : 0);
};

template <class O, class N>
using TileTotal = std::conditional_t<writes_lengths<O>, Selected<N>, N>;

template <unsigned rows, class T, class O, class Queue>
__global__ void __launch_bounds__(vec16_block) vec16_kernel(Input<T, O> in, Target<T> to, Queue places) {
  using K = Key<T, O>;
  using N = typename Queue::Offset;
  using Tile = Vec16Tile<T, O, rows>;
  constexpr unsigned size = Pack<K>::size;
  __shared__ Drawn drawn;
  __shared__ N before_tile, end_before_tile;
  __shared__ unsigned warp_totals[warp_size], warp_ends[warp_size];
  T* const staged = dynamic_shared<T>();
  auto* const where = reinterpret_cast<std::uint16_t*>(staged + Tile::values);  // positions
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const Aligned<K> keys(keys_of(in), in.n);
  allow_next_launch();
  wait_for_previous();
  const unsigned tile = places.draw(drawn);
  const std::size_t begin = std::size_t(tile) * Tile::keys;
  const unsigned of_warp = warp * rows * warp_size * size, first = of_warp + lane * size;

  // 1. Compute bits and ranks.
  K left{};
  if (sees_neighbour<O> && lane == 0 && begin + of_warp > keys.begin && begin + of_warp <= keys.end)
    left = keys.base[begin + of_warp - 1];
  uint4 packs[rows];
  load_rows<Sum>(keys, begin + first, packs);
  unsigned bits[rows], before[rows], selected;
  bits_of_rows<rows, T, O>(in, keys, begin + of_warp, packs, left, bits);
  const unsigned in_warp = rank_rows<size>(bits, before);
  if constexpr (writes_lengths<O>) {
    const unsigned end = end_of_rows<size>(bits, first);
    if (lane == 0) warp_ends[warp] = end;
  }
  const unsigned before_warp = scan_warps(in_warp, Sum{}, warp_totals, selected);

  // 2. Find the tile's offset.
  const std::size_t origin = begin - keys.begin;  // input position of the tile's first slot; may wrap below 0 in tile 0
  if (warp == 0) {
    if constexpr (writes_lengths<O>) {
      const unsigned end = warp_reduce_all(lane < vec16_block / warp_size ? warp_ends[lane] : 0, Max{});
      const Selected<N> own{selected, end ? N(origin + end) : 0};
      const Selected<N> before_this = places.before(drawn, own, Adjoin{}), all = Adjoin{}(before_this, own);
      if (lane == 0) before_tile = before_this.count, end_before_tile = before_this.end;
      if (lane == 0 && tile + 1 == gridDim.x) {
        *to.out.count = all.count;
        if (all.count) to.out.positions.put(all.count - 1, in.n - (all.end - 1));  // the last run's length
      }
    } else {
      const N offset = places.find(drawn, selected, to.out.count);
      if (lane == 0) before_tile = offset;
    }
  }
  __syncthreads();
  const std::size_t offset = before_tile + (to.written ? *to.written : 0);

  // 3. Compact in shared memory, and write out.
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
    const unsigned at = before_warp + before[r], row = first + r * warp_size * size;
    if constexpr (reads_flags<O>) {
      T* next = staged + misalignment(to.out.values + offset) + at;
      for (unsigned k = 0; k < size; ++k)
        if (bits[r] >> k & 1) *next++ = in.values[origin + row + k];
    } else if constexpr (writes_values<O>) {
      compact(bits[r], as_pack<T>(packs[r]), staged + misalignment(to.out.values + offset) + at);
    }
    if constexpr (needs_positions<O>) compact_positions<size>(bits[r], row, where + at);
  }
  __syncthreads();
  if constexpr (writes_values<O>) put_values(to.out.values + offset, staged, selected, threadIdx.x, vec16_block);
  if constexpr (writes_positions<O>)
    for (unsigned k = threadIdx.x; k < selected; k += vec16_block)
      to.out.positions.put(offset + k, origin + where[k] - bit_lag<O>);
  if constexpr (writes_lengths<O>)  // a run ends where the next begins
    for (unsigned k = threadIdx.x; k < selected; k += vec16_block)
      if (offset + k > 0)
        to.out.positions.put(offset + k - 1,
                             k > 0 ? where[k] - where[k - 1] : origin + where[0] - (end_before_tile - 1));
}

// ---- fewer kernels for 2^32 elements and more -----------------------------------------------------------------------
//
// Passes that differ only in the operation's name or the type's sign share a kernel: 32 kernels instead of 70, and a
// quarter of the compile time.

// Selects the elements for which F returns `side`.
template <class F>
struct EitherSide {
  static constexpr Selection operation = Selection::select_if;
  template <class T>
  struct Predicate {
    F selects;
    bool side;
    UPSWEEP_HD bool operator()(T x) const { return bool(selects(x)) == side; }
  };
};
// The element type of operations without a predicate, which only move elements and compare them for equality: the
// unsigned integer of T's width; or T itself, if it is a float and values are compared.
template <class T, class O>
using SameWidth =
    std::conditional_t<!reads_flags<O> && !std::is_integral_v<T>, T,
                       std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                          std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                             std::conditional_t<sizeof(T) == 4, std::uint32_t,  //
                                                                                std::uint64_t>>>>;

struct vec16 {
  static constexpr Story story{
      .idea = "16-byte loads with a halo; bits and packed ranks; 16-byte stores",
      .prediction = "1.5x ballot; 0.7 of the ceiling, like scan/lookback: blocks wait in look-backs",
      .limits = "any n up to 2^31 tiles; fixed block size",
      .source = "Bakunas-Milanowski et al. 2017"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr Threshold* thresholds[] = {&most_in_small_tiles};
  static constexpr std::size_t tile_bytes = vec16_block * 8 * sizeof(uint4);  // of large tiles: see vec16_rows
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) -> Status {
      if (in.n > largest_narrow) return start_wide<WidePlaces>(a, in, to);
      return in.n * sizeof(T) > most_in_small_tiles ? start<Places, true>(a, in, to) : start<Places, false>(a, in, to);
    });
  }

  // Launches one pass. Queue determines the width of offsets.
  template <class Queue, bool large, class T, class P>
  static Status start(const Execution& how, const Input<T, P>& in, const Target<T>& to) {
    constexpr unsigned rows = vec16_rows<T, P, large>;
    using Tile = Vec16Tile<T, P, rows>;
    const std::size_t keys = Aligned<Key<T, P>>(keys_of(in), in.n).end;
    return launch_tiles<TileTotal<P, typename Queue::Offset>>(
        vec16_kernel<rows, T, P, Queue>, {.block = vec16_block, .shared_bytes = Tile::shared_bytes, .overlap = true},
        ceil_div(keys, Tile::keys), how, in, to);
  }

  // Like start(), with one of the kernels shared among passes.
  template <class Queue, class T, class P>
  static Status start_wide(const Execution& how, const Input<T, P>& in, const Target<T>& to) {
    if constexpr (has_predicate<P>) {
      const auto start_side = [&]<class F>(const F& selects, bool side) {
        return start<Queue, true>(how, Input<T, EitherSide<F>>{in.values, nullptr, in.n, {selects, side}}, to);
      };
      if constexpr (is_rejects<P>)
        return start_side(in.predicate.selects, false);
      else
        return start_side(in.predicate, true);
    } else {
      using U = SameWidth<T, P>;
      const Output<U> out{reinterpret_cast<U*>(to.out.values), to.out.positions, to.out.count};
      return start<Queue, true>(how, Input<U, P>{reinterpret_cast<const U*>(in.values), in.flags, in.n, {}},
                                Target<U>{out, to.written, to.heads});
    }
  }
};

}  // namespace upsweep::ladders::select
