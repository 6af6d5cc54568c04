// One stable pass by up to 256 buckets, in tiles whose ranks come from bytes that a lane has to itself: what
// lane_counters and two_passes share.
#pragma once
#include "kernel/multisplit/table.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// `next_tile` is 0, and left so; `opaque_zero` is 0, as ThreadRanks wants it.
template <class Tiles, bool has_values, class Offset, class T, class B>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_counters_kernel(multisplit::BucketedKeys<T, B> in, T* out, Values values, OffsetTable table,
                         unsigned* next_tile, T opaque_zero) {
  auto& m = *dynamic_shared<TilePartitionMemory<Offset, Tiles, T, has_values, OffsetTable>>();
  allow_next_launch();
  wait_for_previous();
  const TileQueue queue{next_tile, table.tiles};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  partition_in_tiles<Tiles>(m, in, out, values, table, queue, first_tile, opaque_zero, IdentityCodec{});
}

// `few`: offsets have 32 bits.
template <class Tiles, bool has_values, bool few = false, class T, class B>
Status start_lane_pass(const multisplit::Task<T, B>& a) {
  if (a.tuning.block && a.tuning.block != Tiles::block)
    return {Code::unsupported, 0, "this rung has blocks of 192 threads, and of 384 for values"};
  OffsetTable table;
  if (Status s = make_offset_table<Tiles::tile>(a, table); !s || a.in.n == 0) return s;
  unsigned* const next_tile = a.workspace->counters(1);
  if (!next_tile) return no_memory;
  const auto by_offset = [&]<class Offset>(Offset) {
    return launch_persistent<Tiles, TilePartitionMemory<Offset, Tiles, T, has_values, OffsetTable>>(
        lane_counters_kernel<Tiles, has_values, Offset, T, B>, a, table.tiles, a.in, a.keys, a.values, table, next_tile,
        T(0));
  };
  // With values the wider offsets cost 1 %, which saves half of the kernels to compile.
  if constexpr (emulated || few)
    return by_offset(0u);
  else if constexpr (has_values)
    return by_offset(std::uint64_t(0));
  else
    return wide(a.in.n) ? by_offset(std::uint64_t(0)) : by_offset(0u);
}

// Keys alone have two blocks per multiprocessor, one of which moves memory while the other ranks. With values one is
// faster, if there are tiles for all: they are twice as large, so runs are longer, and fewer sectors wait in L2 for
// their other half (docs/notes/partition.md). Tiles that would leave multiprocessors without one have half as many
// keys: 2^16, 2^18, 2^20 pairs of 4 and 4 bytes take 11.5, 13.5, 19.4 us for 18.7, 19.5, 22.9. With 8 bytes they were
// half as large already: 2^16 and 2^18 u64 keys take 10.0 and 13.4 us for 11.7 and 12.5.
template <unsigned value_bytes, unsigned warps, class T, class B>
Status lane_pass_by_size(const multisplit::Task<T, B>& a) {
  constexpr bool has_values = value_bytes > 0;
  using Large = ThreadTiles<T, value_bytes, warps>;
  using Medium = ThreadTiles<T, value_bytes, 6>;
  using Small = ThreadTiles<T, value_bytes, 6, 7>;
  const std::size_t multiprocessors = machine().multiprocessors;
  constexpr unsigned quarters = Small::widest == 4 ? 8 : 2;  // of a tile, per multiprocessor
  const std::size_t max_small = emulated ? Medium::tile : multiprocessors * Small::tile * quarters / 4;
  const bool large = a.tuning.block ? a.tuning.block == Large::block : a.in.n >= multiprocessors * Large::tile;
  if (warps > Medium::warps && large) return start_lane_pass<Large, has_values>(a);
  if (a.in.n <= max_small) return start_lane_pass<Small, has_values, /*few=*/true>(a);
  return start_lane_pass<Medium, has_values>(a);
}

template <class T, class B>
Status lane_pass(const multisplit::Task<T, B>& a) {
  return a.values.by_size([&]<unsigned bytes>() {
    if constexpr (bytes == 16)
      return start_lane_pass<ThreadTiles<T, 16, 12>, true>(a);
    else
      return lane_pass_by_size < bytes, bytes == 0 ? 6 : 12 > (a);
  });
}

// Passes by a digit are compiled once, in digit_passes_unit.cuh.
extern template Status lane_pass(const Args<std::uint32_t, By<Bucketing::digit>>&);
extern template Status lane_pass(const Args<std::uint64_t, By<Bucketing::digit>>&);

}  // namespace upsweep::ladders::partition
