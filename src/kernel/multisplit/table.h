// A table of every tile's bucket offsets, which two kernels fill beforehand.
//
// The first kernel counts: a block counts a chunk of consecutive tiles in order, and so knows how many of the chunk's
// keys of each bucket precede a tile. The second kernel is a cluster of eight blocks, which scan the chunks' totals,
// each block for an eighth of the buckets.
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "kernel/cluster.h"
#include "kernel/multisplit/args.h"
#include "kernel/multisplit/read_tiles.h"

namespace upsweep::multisplit {

// A tile's row of the table in shared memory.
struct TileRow {
  alignas(16) std::uint64_t of_chunk[max_counted];  // output offset of the chunk's first key, per bucket
  unsigned before[max_counted];                     // keys in the chunk's earlier tiles, per bucket
};

struct OffsetTable {
  unsigned tiles, per_chunk, chunks;
  const unsigned* before;              // [tiles][max_counted]
  const std::uint64_t* chunk_offsets;  // [chunks][max_counted]

  struct Memory {
    TileRow rows[2];  // of the current tile and the next one
  };
  static constexpr unsigned fetched_bytes = sizeof(TileRow);
  static constexpr bool waits = false;  // find() needs no other tile
  __device__ void prepare(Memory&) const {}
  // Starts the copy of a tile's row to rows[turn]; `turn` alternates from tile to tile of a block. By one thread.
  __device__ void fetch(unsigned tile, unsigned turn, Memory& m, std::uint64_t* arrived) const {
    TileRow& row = m.rows[turn];
    bulk_copy(row.of_chunk, chunk_offsets + tile / per_chunk * max_counted, sizeof row.of_chunk, arrived);
    bulk_copy(row.before, before + std::size_t(tile) * max_counted, sizeof row.before, arrived);
  }
  __device__ void publish(unsigned, uint4) const {}  // no other tile needs the counts
  // Block-wide, once the row has arrived: sets offset[b] to the output offset of bucket b's first key, minus the key's
  // position in the tile.
  template <class Offset>
  __device__ void find(unsigned, unsigned turn, const Memory& m, const std::uint16_t* start, unsigned,
                       Offset* offset) const {
    const TileRow& row = m.rows[turn];
    for (unsigned b = threadIdx.x; b < max_counted; b += blockDim.x)
      offset[b] = static_cast<Offset>(row.of_chunk[b]) + row.before[b] - start[b];
  }
};

// Counts the tiles of one chunk per block: `before` gets, for each tile, the counts of the chunk's earlier tiles, and
// `counts` the chunk's totals. A bucket's counter is a row of 32 words, one per lane, so that lanes never conflict in a
// bank.
inline constexpr unsigned count_block = 2 * max_counted;
template <unsigned tile_keys, class T, class B>
__global__ void __launch_bounds__(count_block, 2)
    count_tiles_kernel(BucketedKeys<T, B> in, OffsetTable of, unsigned* before,  // [tiles][max_counted]
                       unsigned* counts) {                                       // [chunks][max_counted]
  allow_next_launch();
  unsigned* const words = dynamic_shared<unsigned>();  // [max_counted][warp_size]
  const unsigned t = threadIdx.x;
  for (unsigned w = t; w < max_counted * warp_size; w += count_block) words[w] = 0;
  __syncthreads();
  unsigned* const own = words + t % warp_size;
  const auto count = [&](T key) { atomicAdd(&own[in.buckets(key) * warp_size], 1u); };
  const unsigned first = blockIdx.x * of.per_chunk;
  const unsigned end = first + of.per_chunk < of.tiles ? first + of.per_chunk : of.tiles;
  const unsigned bucket = t / 2;  // two threads sum its row of words
  unsigned so_far = 0;
  read_tiles<tile_keys, count_block>(in, first, end, count, [&](unsigned tile) {
    if (t % 2 == 0) before[std::size_t(tile) * max_counted + bucket] = so_far;
    uint4* const row = reinterpret_cast<uint4*>(words) + t * (warp_size / 8);
    unsigned sum = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {  // eight threads cover all banks
      const uint4 four = row[(t / 2 + j) % 4];
      sum += four.x + four.y + four.z + four.w;
    }
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) row[(t / 2 + j) % 4] = uint4{0, 0, 0, 0};
    so_far += sum + __shfl_xor_sync(all_lanes, sum, 1);
    __syncthreads();
  });
  if (t % 2 == 0) counts[blockIdx.x * max_counted + bucket] = so_far;
}

// Computes the output offsets of each chunk's first keys and of the buckets, by a cluster of eight blocks: one bucket
// per lane, and a range of chunks per warp. Blocks are smaller on the emulators, whose four multiprocessors make only
// eight chunks: with 1024 threads, these blocks alone would take three quarters of the time of a check.
inline constexpr unsigned offsets_block = emulated ? max_counted : 1024, offsets_blocks = max_counted / warp_size;
[[maybe_unused]] static __global__ void __launch_bounds__(offsets_block)
    chunk_offsets_kernel(const unsigned* counts,                         // [chunks][max_counted]
                         unsigned chunks, std::uint64_t* chunk_offsets,  // [chunks][max_counted]
                         Offsets offsets, unsigned buckets, std::size_t n) {
  constexpr unsigned parts = offsets_block / warp_size;  // ranges of chunks, one per warp
  __shared__ std::uint64_t of_part[parts][warp_size], of_bucket[warp_size], warp_totals[warp_size], first[warp_size];
  const unsigned t = threadIdx.x, lane = t % warp_size, part = t / warp_size, block = cluster_rank();
  const unsigned bucket = block * warp_size + lane;
  const unsigned from = chunks * part / parts, to = chunks * (part + 1) / parts;
  allow_next_launch();
  wait_for_previous();
  std::uint64_t sum = 0, offset = 0;
#pragma unroll 8
  for (unsigned c = from; c < to; ++c) sum += counts[c * max_counted + bucket];
  of_part[part][lane] = sum;
  __syncthreads();
  for (unsigned p = 0; p < part; ++p) offset += of_part[p][lane];
  if (part == parts - 1) of_bucket[lane] = offset + sum;
  cluster_sync();
  // Scan the totals of all buckets, read from the blocks of the cluster.
  const std::uint64_t keys = t < max_counted ? read_in_cluster(&of_bucket[lane], part) : 0;
  std::uint64_t total;
  const std::uint64_t before = block_scan(keys, Sum{}, warp_totals, total);
  if (part == block) {
    first[lane] = before;
    if (bucket < buckets) offsets.put(bucket, before);
    if (bucket == 0) offsets.put(buckets, n);
  }
  cluster_sync();  // a block must not end while others read its memory
  offset += first[lane];
#pragma unroll 8
  for (unsigned c = from; c < to; ++c) {
    chunk_offsets[c * max_counted + bucket] = offset;
    offset += counts[c * max_counted + bucket];
  }
}

// Fills the table for tiles of `tile_keys` keys and writes the bucket offsets, by launching both kernels. At most two
// blocks per multiprocessor count. The table is taken from the caller's scratch.
template <unsigned tile_keys, class T, class B>
Status make_offset_table(const Task<T, B>& a, Scratch& scratch, OffsetTable& table) {
  const unsigned max_chunks = 2 * static_cast<unsigned>(machine().multiprocessors);
  table.tiles = static_cast<unsigned>(a.in.n ? ceil_div(a.in.n, tile_keys) : 1);
  table.per_chunk = (table.tiles - 1) / max_chunks + 1;
  table.chunks = (table.tiles - 1) / table.per_chunk + 1;
  const std::size_t chunk_words = std::size_t(table.chunks) * max_counted;
  auto* const chunk_offsets = scratch.take<std::uint64_t>(chunk_words);
  auto* const counts = scratch.take<unsigned>(chunk_words);
  auto* const before = scratch.take<unsigned>(std::size_t(table.tiles) * max_counted);
  if (!scratch) return no_memory;
  table.before = before, table.chunk_offsets = chunk_offsets;
  const Shape shape{.grid = table.chunks,
                    .block = count_block,
                    .shared_bytes = max_counted * warp_size * sizeof(unsigned),
                    .stream = a.stream};
  if (Status s = launch(count_tiles_kernel<tile_keys, T, B>, shape, a.in, table, before, counts); !s) return s;
  const Shape cluster{
      .grid = offsets_blocks, .block = offsets_block, .cluster = offsets_blocks, .overlap = true, .stream = a.stream};
  return launch(chunk_offsets_kernel, cluster, counts, table.chunks, chunk_offsets, a.offsets, a.in.buckets.count,
                a.in.n);
}

}  // namespace upsweep::multisplit
