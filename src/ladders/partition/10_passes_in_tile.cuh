// partition/passes_in_tile: up to 2048 buckets in one pass; each tile is sorted by two sub-digits in shared memory.
//
// two_passes moves every key through memory twice and counts it twice. Here both passes stay inside the tile. A tile
// takes all the shared memory of a multiprocessor, 23040 keys of 4 bytes, so that with 2048 buckets a run still has 11
// keys, or 45 bytes. The tile is sorted by the lower sub-digit of the bucket number, then by the upper, as two_passes
// sorts the whole input; then it is written once, run by run.
//
// Traffic   keys read twice and written once, values read and written once; 4 bytes per tile and bucket written and
//           read, 6 % of the traffic of a tile's keys.
// Order     stable.
// Source    Merrill, Grimshaw, 2011 (several digits ranked in a tile's shared memory between its load and its store).
#pragma once
#include "kernel/ptx.h"
#include "ladders/partition/choose.h"
#include "ladders/partition/sub_digit_tiles.cuh"

namespace upsweep::ladders::partition {

// `next_tile` is zero on entry and exit. Zeroes `totals`, [table.row]. `opaque_zero` is as in
// SubDigitRanks::find_positions().
template <class Tiles, bool has_values, class T, class O, class Lower, class Upper>
__global__ void __launch_bounds__(Tiles::block, 1)
    passes_in_tile_kernel(Input<T, O> in, T* out, Values values, Lower lower, Upper upper, WideOffsetTable table,
                          unsigned* next_tile, unsigned* totals, T opaque_zero) {
  using Ranks = typename Tiles::Ranks;
  using Value = typename Tiles::Value;
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys, position_words = (keys_per_lane + 1) / 2;
  auto& m = *dynamic_shared<typename Tiles::Memory>();
  const unsigned t = threadIdx.x;
  LargeTileInput<Tiles> input{{in.keys, in.n}, {static_cast<const InArray<Value>*>(values.in), in.n}, table, m};
  const TileQueue queue{next_tile, table.tiles};
  allow_next_launch();
  wait_for_previous();
  if (blockIdx.x == 0)
    for (unsigned b = t; b < table.row; b += block) totals[b] = 0;
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    m.next = queue.draw();
    input.fetch_keys(m.next);
  }
  __syncthreads();
  for (unsigned tile = m.next; tile < table.tiles; tile = m.next) {
    const unsigned size = input.keys.size(tile);
    unsigned following = 0;  // the next tile, kept here until m.next may be overwritten
    // 1. Load the lane's keys; padding past the end sorts after all real keys.
    input.wait();
    T keys[keys_per_lane];
    input.keys.template load<Ranks>(tile, m.staged, key_past_the_end(in, tile, Tiles::tile, size), keys);
    __syncthreads();  // the previous tile has been written
    table.find(m.rows, m.offset);
    fence_before_bulk_copy();
    // 2. Sort by the lower sub-digit while the values or the next tile's keys arrive.
    unsigned first[position_words], second[position_words];  // positions after each pass, two per word
    const auto keep = [](unsigned* positions) {
      return [=](unsigned k, unsigned position) { put_half(positions, k, position); };
    };
    const auto all_counted = [&] {
      if (t > 0) return;
      if (has_values) return input.fetch_values(tile);
      following = queue.draw();
      input.fetch_keys(following);
    };
    Ranks::find_positions(m.ranks, keys, lower, lower.count, opaque_zero, all_counted, keep(first));
    __syncthreads();
    T* const sorted_keys = reinterpret_cast<T*>(m.sorted);
    store_at_positions(sorted_keys, first, keys);
    __syncthreads();
    load_own<Ranks>(sorted_keys, keys);
    __syncthreads();
    // 3. Sort by the upper sub-digit.
    Ranks::find_positions(
        m.ranks, keys, upper, upper.count, opaque_zero, [] {}, keep(second));
    __syncthreads();
    store_at_positions(sorted_keys, second, keys);
    // 4. Sort the values the same way, in the memory where they arrived. The next tile's keys cannot arrive there
    // meanwhile, so they are only prefetched into L2.
    Value* const sorted_values = reinterpret_cast<Value*>(m.staged);
    if constexpr (has_values) {
      input.wait();
      Value own[keys_per_lane];
      input.values.template load<Ranks>(tile, m.staged, Value{}, own);
      __syncthreads();
      forget(first, static_cast<unsigned>(opaque_zero));  // discards the positions unpacked for the keys
      forget(second, static_cast<unsigned>(opaque_zero));
      store_at_positions(sorted_values, first, own);
      __syncthreads();
      load_own<Ranks>(sorted_values, own);
      __syncthreads();
      store_at_positions(sorted_values, second, own);
      if (t == 0) {
        following = queue.draw();
        input.prefetch_keys(following);
      }
    }
    if (t == 0) m.next = following;
    __syncthreads();
    // 5. Write the runs: neighbouring lanes store to neighbouring offsets.
    auto* const to = static_cast<InArray<Value>*>(values.out);
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(Value) == 0;
    for_each_position<Tiles>(size, out, [&](unsigned first, unsigned k, T* row) {
      const T key = (sorted_keys + first)[k * block];
      const unsigned at = at_shared<const unsigned>(shared_address(m.offset) + shifted_bucket<2>(in.buckets, key));
      (row + at)[k * block] = key;
      if constexpr (has_values) write_element(to + (at + first + k * block), sorted_values[first + k * block], aligned);
    });
    if constexpr (has_values) {
      fence_before_bulk_copy();
      __syncthreads();
      if (t == 0) input.fetch_keys(following);
    }
  }
}

struct passes_in_tile {
  static constexpr Needs needs = passes_in_tile_needs;
  static constexpr Story story{
      .idea = "up to 2048 buckets in one pass: a tile is sorted by two sub-digits in shared memory",
      .prediction =
          "25 shared-memory wavefronts per 32 keys against 39 in two passes, and one count: 1.55 to 1.7 ms for "
          "2^28 u32 keys, 1.6 times CUB's speed",
      .guarantees = "stable",
      .limits = "257 to 2048 buckets by a digit or function; fewer than 2^32 keys; block size fixed",
      .source = "Merrill, Grimshaw, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = LargeTiles<std::uint32_t, 0>::bytes;
  static constexpr std::size_t largest = 0xffffffff;
  template <class T, class O>
  static constexpr bool supports = !std::is_same_v<O, By<Bucketing::splitters>>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (!takes_table(a.in.n, a.in.buckets.count, /*searched=*/false))
      return {Code::unsupported, 0, "this rung takes 257 to 2048 buckets and fewer than 2^32 keys"};
    return a.values.by_size([&]<unsigned bytes>() { return start<bytes>(a); });
  }

 private:
  template <unsigned value_bytes, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Tiles = LargeTiles<T, value_bytes>;
    return by_sub_digits<Tiles>(
        a, [&]<class Lower, class Upper>(const Lower& lower, const Upper& upper, const WideOffsetTable& table,
                                         unsigned* next_tile, unsigned* totals) {
          return launch_persistent<Tiles, typename Tiles::Memory>(
              passes_in_tile_kernel<Tiles, (value_bytes > 0), T, O, Lower, Upper>, a, table.tiles, a.in, a.keys,
              a.values, lower, upper, table, next_tile, totals, T(0));
        });
  }
};

}  // namespace upsweep::ladders::partition
