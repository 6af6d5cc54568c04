// Offsets of every tile's buckets in a table, which two kernels fill beforehand.
//
// A block counts a chunk of consecutive tiles, one tile after another, so that it knows how many keys of a bucket come
// before a tile in the chunk. A cluster of blocks adds up the chunks, each for an eighth of the buckets.
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "kernel/cluster.h"
#include "kernel/multisplit/args.h"
#include "kernel/multisplit/read_tiles.h"

namespace upsweep::multisplit {

// A tile's row of the table, as it lies in shared memory.
struct TileRow {
  alignas(16) std::uint64_t of_chunk[max_counted];  // offsets of the chunk's first keys
  unsigned before[max_counted];                     // keys of the bucket in the chunk's earlier tiles
};

struct OffsetTable {
  unsigned tiles, per_chunk, chunks;
  const unsigned* before;              // [tiles][max_counted]
  const std::uint64_t* chunk_offsets;  // [chunks][max_counted]

  struct Memory {
    TileRow rows[2];  // of a tile and the next one
  };
  static constexpr unsigned fetched_bytes = sizeof(TileRow);
  static constexpr bool waits = false;  // for other tiles
  __device__ void prepare(Memory&) const {}
  // Starts the copy of the row of a tile, the turn-th of the block, modulo 2. By one thread.
  __device__ void fetch(unsigned tile, unsigned turn, Memory& m, std::uint64_t* arrived) const {
    TileRow& row = m.rows[turn];
    bulk_copy(row.of_chunk, chunk_offsets + tile / per_chunk * max_counted, sizeof row.of_chunk, arrived);
    bulk_copy(row.before, before + std::size_t(tile) * max_counted, sizeof row.before, arrived);
  }
  __device__ void publish(unsigned, uint4) const {}  // others have no use for a tile's counts
  // Block-wide: sets the offset of each bucket's first key of a tile, less its position in the tile. The row has
  // arrived.
  template <class Offset>
  __device__ void find(unsigned, unsigned turn, const Memory& m, const std::uint16_t* start, unsigned,
                       Offset* offset) const {
    const TileRow& row = m.rows[turn];
    for (unsigned b = threadIdx.x; b < max_counted; b += blockDim.x)
      offset[b] = static_cast<Offset>(row.of_chunk[b]) + row.before[b] - start[b];
  }
};

// A block per chunk counts its tiles: in each tile the keys of the chunk's earlier ones, and all of the chunk. A
// counter is a row of 32 words, one per lane, so that no two lanes with different buckets meet in a bank.
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
  const unsigned bucket = t / 2;  // two threads add up its row
  unsigned so_far = 0;
  read_tiles<tile_keys, count_block>(in, first, end, count, [&](unsigned tile) {
    if (t % 2 == 0) before[std::size_t(tile) * max_counted + bucket] = so_far;
    uint4* const row = reinterpret_cast<uint4*>(words) + t * (warp_size / 8);
    unsigned sum = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {  // eight threads read all banks
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

// The offsets of each chunk's first keys, and those of all keys: by a cluster of eight blocks, each for the buckets of
// a warp's lanes. Each warp has some of the chunks, which on the emulator are few.
inline constexpr unsigned offsets_block = emulated ? max_counted : 1024, offsets_blocks = max_counted / warp_size;
[[maybe_unused]] static __global__ void __launch_bounds__(offsets_block)
    chunk_offsets_kernel(const unsigned* counts,                         // [chunks][max_counted]
                         unsigned chunks, std::uint64_t* chunk_offsets,  // [chunks][max_counted]
                         Offsets offsets, unsigned buckets, std::size_t n) {
  constexpr unsigned parts = offsets_block / warp_size;  // of the chunks
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
  // The keys of the buckets before these, from the other blocks.
  const std::uint64_t keys = t < max_counted ? read_in_cluster(&of_bucket[lane], part) : 0;
  std::uint64_t total;
  const std::uint64_t before = block_scan(keys, Sum{}, warp_totals, total);
  if (part == block) {
    first[lane] = before;
    if (bucket < buckets) offsets.put(bucket, before);
    if (bucket == 0) offsets.put(buckets, n);
  }
  cluster_sync();  // before a block ends whose memory others read
  offset += first[lane];
#pragma unroll 8
  for (unsigned c = from; c < to; ++c) {
    chunk_offsets[c * max_counted + bucket] = offset;
    offset += counts[c * max_counted + bucket];
  }
}

// Launches both for tiles of `tile_keys` keys; writes the offsets. At most two blocks per multiprocessor count.
template <unsigned tile_keys, class T, class B>
Status make_offset_table(const Task<T, B>& a, OffsetTable& table) {
  const unsigned max_chunks = 2 * static_cast<unsigned>(machine().multiprocessors);
  table.tiles = static_cast<unsigned>(a.in.n ? ceil_div(a.in.n, tile_keys) : 1);
  table.per_chunk = (table.tiles - 1) / max_chunks + 1;
  table.chunks = (table.tiles - 1) / table.per_chunk + 1;
  const std::size_t chunk_words = std::size_t(table.chunks) * max_counted;
  const std::size_t tile_words = std::size_t(table.tiles) * max_counted;
  auto* const chunk_offsets = static_cast<std::uint64_t*>(
      a.workspace->scratch(chunk_words * (sizeof(std::uint64_t) + sizeof(unsigned)) + tile_words * sizeof(unsigned)));
  if (!chunk_offsets) return no_memory;
  auto* const counts = reinterpret_cast<unsigned*>(chunk_offsets + chunk_words);
  unsigned* const before = counts + chunk_words;
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
