// sort/cluster: up to 2^15 keys in one launch, by a cluster of blocks that hold them in shared memory.
//
// A small sort spends its time on the launch per digit: counts and keys go to L2 and come back between kernels. Here up
// to 16 blocks hold all keys. For each digit, a block ranks its keys, sends its digit counts to the other blocks, and
// stores every key directly into the shared memory of its destination block. Values do not move until the end: keys
// carry an index, by which values are gathered.
//
// Traffic   keys read and written once, values likewise, in random order; per digit the keys and their indices through
//           distributed shared memory.
// Order     stable.
#pragma once
#include <bit>

#include "kernel/block.h"
#include "kernel/cluster.h"
#include "kernel/multisplit/match_ranks.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/digit_counts.cuh"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

// A block has eight warps, with eight keys per lane. With 32 keys per lane, a pass takes three times as long as one of
// lane_sweep.
inline constexpr unsigned cluster_warps = 8, cluster_block = cluster_warps * warp_size, max_blocks = 16;
inline constexpr unsigned cluster_keys = 8;  // per lane

template <class K, bool has_index>
struct ClusterTile {
  static constexpr unsigned size = cluster_block * cluster_keys;
  using Ranks = multisplit::MatchRanks<cluster_keys>;
  typename Ranks::Memory ranks;
  alignas(16) Ordered<K> keys[size];
  alignas(16) unsigned index[has_index ? size : 4];
  alignas(16) unsigned counts[max_blocks][digit_values];  // digit counts of each block
  unsigned base[digit_values];  // offset of the block's first key with each digit, minus its position in the block
  alignas(8) std::uint16_t start[digit_values];
  unsigned warp_totals[warp_size];
};

template <bool has_index, class Order, class K = typename Order::Key>
__global__ void __launch_bounds__(cluster_block)
    cluster_sort_kernel(const K* keys, K* out, Values values, unsigned n, Order order, Digits digits, unsigned blocks) {
  using Tile = ClusterTile<K, has_index>;
  auto& m = *dynamic_shared<Tile>();
  const unsigned t = threadIdx.x, block = cluster_rank(), first = block * Tile::size;
  allow_next_launch();
  wait_for_previous();
  // 1. Load the block's keys in order; padding past the end sorts last.
  for (unsigned i = t; i < Tile::size; i += cluster_block) {
    m.keys[i] = first + i < n ? order.number(keys[first + i]) : Ordered<K>(~Ordered<K>(0));
    if (has_index) m.index[i] = first + i;
  }
  cluster_sync();  // a block must have started before others write its shared memory
  for (unsigned d = 0; d < digits.count(); ++d) {
    const NumberDigit<Order> digit{order, digits.first_bit_of(d), digits.values(d)};
    Ordered<K> own[cluster_keys];
    unsigned index[cluster_keys], positions[cluster_keys / 2];
#pragma unroll
    for (unsigned k = 0; k < cluster_keys; ++k) {
      own[k] = m.keys[Tile::Ranks::element(k)];
      // Padding stays past the end. With merged numbers, no number sorts last in every digit, so each pass sets the
      // padding anew.
      if (Order::merges && first + Tile::Ranks::element(k) >= n) own[k] = order.last(digits.end_bit_of(d));
      if (has_index) index[k] = m.index[Tile::Ranks::element(k)];
    }
    // 2. Rank the keys in the block, and send the block's digit counts to all blocks.
    Tile::Ranks::find_positions(m.ranks, own, digit, positions, m.start, [&](uint4 counts) {
      auto* const row = reinterpret_cast<uint4*>(m.counts[block]) + t;
      for (unsigned b = 0; b < blocks; ++b) store_in_cluster(row, b, counts);
    });
    cluster_sync();  // no remote writes follow the last digit's barrier, so a block may exit
    // 3. Find the offset of the block's first key with each digit.
    unsigned before = 0, all = 0, total;
    for (unsigned b = 0; b < blocks; ++b) {
      const unsigned count = m.counts[b][t];
      if (b < block) before += count;
      all += count;
    }
    m.base[t] = block_scan(all, Sum{}, m.warp_totals, total) + before - m.start[t];
    __syncthreads();
    // 4. Store the keys: in the cluster's shared memory, or in the output after the last digit.
    const auto for_each_key = [&](auto&& store) {
#pragma unroll
      for (unsigned k = 0; k < cluster_keys; ++k)
        store(k, m.base[digit(own[k])] + (positions[k / 2] >> k % 2 * 16 & 0xffff));
    };
    if (d + 1 < digits.count()) {
      for_each_key([&](unsigned k, unsigned to) {
        store_in_cluster(&m.keys[to % Tile::size], to / Tile::size, own[k]);
        if (has_index) store_in_cluster(&m.index[to % Tile::size], to / Tile::size, index[k]);
      });
      cluster_sync();
      continue;
    }
    if (out)
      for_each_key([&](unsigned k, unsigned to) {
        if (to < n) out[to] = order.key(static_cast<K>(own[k]));
      });
    if constexpr (has_index) {
      unsigned to[cluster_keys];
      for_each_key([&](unsigned k, unsigned offset) { to[k] = offset; });
      gather_values(values, n, index, to, [] { cluster_sync(); });
    }
  }
}

struct cluster {
  static constexpr std::size_t largest = cluster_most;
  static_assert(largest == max_blocks * cluster_block * cluster_keys);
  static constexpr Needs needs = cluster_needs;
  static constexpr Story story{
      .idea = "one launch: a cluster's blocks hold all keys, and store them into each other's shared memory",
      .prediction = "25 us at 2^15: 1.5 times CUB, which launches six kernels",
      .guarantees = "stable",
      .limits = "up to 2^15 keys; block size fixed",
      .source = {}};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n > largest) return {Code::unsupported, 0, "this rung takes up to 2^15 keys"};
    if (a.n == 0) return {};
    return a.values.bytes ? start<true>(a) : start<false>(a);
  }

 private:
  template <bool has_index, class T, class O>
  static Status start(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    using Tile = ClusterTile<Key, has_index>;
    if (a.tuning.block && a.tuning.block != cluster_block)
      return {Code::unsupported, 0, "this rung runs only in blocks of 256 threads"};
    const auto blocks = std::bit_ceil(static_cast<unsigned>(ceil_div(a.n, Tile::size)));
    const Shape shape{.grid = blocks,
                      .block = cluster_block,
                      .shared_bytes = sizeof(Tile),
                      .cluster = blocks,
                      .overlap = true,
                      .stream = a.stream};
    return launch(cluster_sort_kernel<has_index, OrderOf<T>>, shape, a.keys, a.out, a.values,
                  static_cast<unsigned>(a.n), a.order, Digits{a.first_bit, a.bits}, blocks);
  }
};

}  // namespace upsweep::ladders::sort
