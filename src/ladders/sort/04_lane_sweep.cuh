// sort/lane_sweep: one kernel per digit, with the ranks and tiles of partition/lane_counters.
//
// A block of onesweep_8bit has one tile: it waits for its keys, ranks them by ballots, waits for the tiles before it,
// and writes runs of 24 keys. Here a block stays and draws tiles. The next one's keys arrive while this one is written;
// ranks are bytes that a lane has to itself; tiles are large, with runs of 45 keys; and while a tile waits for others,
// the second block of the multiprocessor ranks its own. Few keys are few tiles, which all begin together: then tiles
// are small, their ranks come from counters of a warp's own, and their places from sums of groups instead of a
// look-back.
//
// Traffic   keys read once to count all digits, then read and written once per digit; values read and written once per
//           digit; 4 bytes per tile and bucket written twice and read once or more.
// Order     stable.
// Source    Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
#pragma once
#include "kernel/run_rung.h"
#include "ladders/partition/lane_partition.cuh"
#include "ladders/sort/sweep.cuh"

namespace upsweep::ladders::sort {

template <class Tiles, class Places, bool has_values, class Place, class K, bool is_float>
__global__ void __launch_bounds__(Tiles::block, Tiles::blocks_per_sm)
    lane_sweep_kernel(Sweep<K, is_float> sweep, unsigned d, unsigned* next_tile, K nothing) {
  auto& m = *dynamic_shared<partition::LaneTilesMemory<Place, Tiles, K, has_values, Places>>();
  allow_next_launch();
  wait_for_previous();
  const partition::TileQueue queue{next_tile, sweep.tiles_of_portion(), sweep.first_tile()};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;  // on its way while the pass is looked up
  const auto pass = sweep.template pass<Places>(d);
  if (pass.skipped) {
    if (threadIdx.x == 0) queue.leave(first_tile);
    return;
  }
  pass.with_input([&](const auto& in) {
    partition::partition_in_tiles<Tiles>(m, in, pass.out, pass.values, pass.places, queue, first_tile, nothing,
                                         pass.codec);
  });
}

struct onesweep_8bit;
extern const Rung kernel_onesweep_8bit_rung;

struct lane_sweep {
  static constexpr Needs needs{{Feature::bulk_copy}, 217'104};
  static constexpr Story story{
      .idea = "onesweep_8bit with ranks by bytes of a lane's own and tiles of 46 KB, the next one fetched meanwhile",
      .prediction = "four passes of 950 us and 290 us to count: 1.3 times CUB",
      .guarantees = "stable",
      .limits =
          "keys from 2 bytes, values up to 8 (of 2-byte keys 4), n below 2^32, else onesweep_8bit; block size fixed",
      .source = "Merrill, Grimshaw, 2011; Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (partition::wide(a.n)) return run_rung<onesweep_8bit, kernel_onesweep_8bit_rung>(a);
    if constexpr (sizeof(T) >= 2) {
      if (a.values.bytes == 0) return by_size<0, 6>(a);
      if (a.values.bytes == 4) return by_size<4, 12>(a);
    }
    if constexpr (sizeof(T) >= 4) {
      if (a.values.bytes == 8) return by_size<8, 12>(a);
    }
    return run_rung<onesweep_8bit, kernel_onesweep_8bit_rung>(a);
  }

 private:
  // Up to so many keys, tiles have 2048 keys: for 2^17 30.4 us instead of the 32 that other tiles take. Up to twice or
  // four times as many, 4096: 36.9 us for 2^18 keys and 43.4 for 2^19, where 2048 take 50.8 and 67.9.
  static constexpr std::size_t most_small = emulated ? 1 << 12 : 1 << 17, most_medium = 4 * most_small;

  // Where large tiles would leave multiprocessors without any, lanes have half of the keys, or tiles are small.
  template <unsigned value_bytes, unsigned warps, class T, class O>
  static Status by_size(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    using Large = partition::LaneTiles<Key, value_bytes, warps>;
    using Middle = partition::LaneTiles<Key, value_bytes, 6, 7>;
    using Medium = partition::RowTiles<Key, value_bytes, partition::SetRanks, 16>;
    using Small = partition::RowTiles<Key, value_bytes, partition::SetRanks>;
    constexpr bool has_values = value_bytes > 0;
    const std::size_t large = machine().multiprocessors * std::size_t(Large::blocks_per_sm) * Large::tile;
    const auto chosen = [&](unsigned block, bool fits) { return a.tuning.block ? a.tuning.block == block : fits; };
    if (chosen(Large::block, a.n > large)) return start<Large, partition::TileLookback, has_values>(a);
    if (chosen(Small::block, a.n <= most_small)) return start<Small, partition::TileGroups, has_values>(a);
    if (!a.tuning.block && a.n <= most_medium) return start<Medium, partition::TileGroups, has_values>(a);
    if (chosen(Middle::block, true)) return start<Middle, partition::TileLookback, has_values>(a);
    return {Code::unsupported, 0,
            "this rung has blocks of 192 threads, of 256 for few keys, of 384 for many with values"};
  }
  template <class Tiles, class Places, bool has_values, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    using Place = unsigned;
    using Memory = partition::LaneTilesMemory<Place, Tiles, Key, has_values, Places>;
    const std::size_t blocks = a.tuning.grid_or(Tiles::blocks_per_sm * std::size_t(machine().multiprocessors));
    const auto launch_pass = [&]<bool is_float>(const Sweep<Key, is_float>& sweep, unsigned d, unsigned* next_tile) {
      const unsigned tiles = sweep.tiles_of_portion();
      return launch(lane_sweep_kernel<Tiles, Places, has_values, Place, Key, is_float>,
                    {.grid = static_cast<unsigned>(tiles < blocks ? tiles : blocks),
                     .block = Tiles::block,
                     .shared_bytes = sizeof(Memory),
                     .overlap = true,
                     .stream = a.stream},
                    sweep, d, next_tile, Key(0));
    };
    return sweep_digits<Places>(a, Tiles::tile, launch_pass);
  }
};

}  // namespace upsweep::ladders::sort
