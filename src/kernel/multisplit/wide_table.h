// The table of offsets for more buckets than table.h can handle: up to 2048.
//
// As in table.h, a block counts a chunk of consecutive tiles in order. A tile's row has, per bucket, the number of keys
// in the chunk's earlier tiles, minus the bucket's first position in the tile, which follows from the tile's own
// counts. So one addition turns a key's position in the tile into its output offset.
#pragma once
#include "kernel/async.h"
#include "kernel/block.h"
#include "kernel/multisplit/args.h"
#include "kernel/multisplit/read_tiles.h"

namespace upsweep::multisplit {

// Packs of a row per thread, for blocks of `block` threads.
template <unsigned block>
inline constexpr unsigned table_packs = (max_in_table / 4 - 1) / block + 1;

struct WideOffsetTable {
  static constexpr unsigned max_buckets = max_in_table;
  unsigned tiles, per_chunk, chunks;
  unsigned row;        // words: the buckets, rounded up to whole packs
  unsigned* of_tile;   // [tiles][row]: keys in the chunk's earlier tiles, minus the first position in the tile
  unsigned* of_chunk;  // [chunks][row]: output offsets of the chunk's first keys

  // A tile's rows in shared memory.
  struct Memory {
    uint4 of_tile[max_buckets / 4], of_chunk[max_buckets / 4];
  };
  __device__ unsigned row_bytes() const { return row * sizeof(unsigned); }
  __device__ unsigned fetched_bytes() const { return 2 * row_bytes(); }
  // Starts the copies of a tile's two rows. By one thread.
  __device__ void fetch(unsigned tile, Memory& m, std::uint64_t* arrived) const {
    fetch_tile(tile, m.of_tile, arrived);
    bulk_copy(m.of_chunk, chunk_row(tile), row_bytes(), arrived);
  }
  // Starts the copy of the tile's row of `of_tile` only, to `to`, [row / 4].
  __device__ void fetch_tile(unsigned tile, uint4* to, std::uint64_t* arrived) const {
    bulk_copy(to, of_tile + std::size_t(tile) * row, row_bytes(), arrived);
  }
  // Block-wide, once the rows have arrived: sets the output offset of each bucket's first key, minus the key's position
  // in the tile.
  __device__ void find(const Memory& m, uint4* offset) const {  // [row / 4], shared
    for (unsigned p = threadIdx.x; p < row / 4; p += blockDim.x) {
      const uint4 a = m.of_tile[p], b = m.of_chunk[p];
      offset[p] = uint4{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    }
  }
  // find() in steps, so that `offset` may be in use until the last step: load_row() loads a row from shared memory,
  // load_chunk() the chunk's row from global memory, and store_offsets() sets `offset`. By blocks of `block` threads.
  template <unsigned block>
  __device__ void load_row(const uint4* from, uint4 (&packs)[table_packs<block>]) const {  // [row / 4]
#pragma unroll
    for (unsigned k = 0; k < table_packs<block>; ++k)
      if (k * block + threadIdx.x < row / 4) packs[k] = from[k * block + threadIdx.x];
  }
  template <unsigned block>
  __device__ void load_chunk(unsigned tile, uint4 (&packs)[table_packs<block>]) const {
    load_row<block>(reinterpret_cast<const uint4*>(chunk_row(tile)), packs);
  }
  template <unsigned block>
  __device__ void store_offsets(const uint4 (&a)[table_packs<block>], const uint4 (&b)[table_packs<block>],
                                uint4* offset) const {  // [row / 4], shared
#pragma unroll
    for (unsigned k = 0; k < table_packs<block>; ++k)
      if (k * block + threadIdx.x < row / 4)
        offset[k * block + threadIdx.x] = uint4{a[k].x + b[k].x, a[k].y + b[k].y, a[k].z + b[k].z, a[k].w + b[k].w};
  }

 private:
  __device__ const unsigned* chunk_row(unsigned tile) const { return of_chunk + std::size_t(tile / per_chunk) * row; }
};

// Counts the tiles of one chunk per block. Two buckets share a word, and each word has 16 copies, one per pair of lanes
// (l, l + 16), so that at most two lanes conflict in a bank and two blocks fit on a multiprocessor. At the end, the
// block adds the chunk's counts to `totals`.
inline constexpr unsigned table_block = 512, table_copies = 16;
template <unsigned tile_keys, class T, class B>
__global__ void __launch_bounds__(table_block, 2) count_table_kernel(BucketedKeys<T, B> in, WideOffsetTable of,
                                                                     unsigned* counts,    // [chunks][row]
                                                                     unsigned* totals) {  // [row]
  static_assert(tile_keys < 1 << 16, "a count has 16 bits");
  static_assert(table_block * 4 == WideOffsetTable::max_buckets && table_copies == 16, "a thread adds up four buckets");
  __shared__ unsigned warp_totals[2][table_block / warp_size];
  unsigned* const words = dynamic_shared<unsigned>();  // [row / 2][table_copies]
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
  allow_next_launch();
  for (unsigned w = t; w < of.row / 2 * table_copies; w += table_block) words[w] = 0;
  __syncthreads();
  const unsigned first = blockIdx.x * of.per_chunk;
  const unsigned end = first + of.per_chunk < of.tiles ? first + of.per_chunk : of.tiles;
  const bool has_buckets = 4 * t < of.row;
  unsigned so_far[4] = {};
  const auto count = [&](T key) {
    const unsigned bucket = in.buckets(key);
    atomicAdd(&words[bucket / 2 * table_copies + t % table_copies], 1u << bucket % 2 * 16);
  };
  const auto write_row = [&](unsigned tile) {
    unsigned both[2] = {};
    if (has_buckets) {
      uint4* const packs = reinterpret_cast<uint4*>(words) + t * 8;
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) {
        const unsigned at = (t + j) % 8;  // eight threads cover all banks
        const uint4 four = packs[at];
        packs[at] = uint4{0, 0, 0, 0};
        const unsigned sum = four.x + four.y + four.z + four.w;
        if (at < 4)
          both[0] += sum;
        else
          both[1] += sum;
      }
    }
    const unsigned own[4] = {both[0] & 0xffff, both[0] >> 16, both[1] & 0xffff, both[1] >> 16};
    const unsigned sum = own[0] + own[1] + own[2] + own[3], upto = warp_scan(sum, Sum{});
    unsigned* const of_warps = warp_totals[tile % 2];  // the previous tile's totals may still be read
    if (lane == warp_size - 1) of_warps[warp] = upto;
    __syncthreads();
    if (!has_buckets) return;
    unsigned start = upto - sum;
    for (unsigned w = 0; w < warp; ++w) start += of_warps[w];
    unsigned offset[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      offset[j] = so_far[j] - start;
      start += own[j];
      so_far[j] += own[j];
    }
    reinterpret_cast<uint4*>(of.of_tile + std::size_t(tile) * of.row)[t] =
        uint4{offset[0], offset[1], offset[2], offset[3]};
  };
  read_tiles<tile_keys, table_block>(in, first, end, count, write_row);
  if (!has_buckets) return;
  reinterpret_cast<uint4*>(counts + std::size_t(blockIdx.x) * of.row)[t] =
      uint4{so_far[0], so_far[1], so_far[2], so_far[3]};
#pragma unroll
  for (unsigned j = 0; j < 4; ++j)
    if (so_far[j]) atomicAdd(&totals[4 * t + j], so_far[j]);
}

// Computes the output offsets of each chunk's first keys and of the buckets: one block per 32 buckets, one bucket per
// lane, and a range of chunks per warp. Every block sums the totals of all preceding buckets.
inline constexpr unsigned max_chunk_warps = 32, max_chunk_block = max_chunk_warps * warp_size;
static __global__ void __launch_bounds__(max_chunk_block)
    table_chunks_kernel(const unsigned* counts,  // [chunks][row]
                        const unsigned* totals,  // [row]
                        unsigned chunks, unsigned row,
                        unsigned* chunk_offsets,  // [chunks][row]
                        Offsets offsets, unsigned buckets, std::size_t n) {
  __shared__ unsigned of_part[max_chunk_warps][warp_size], warp_totals[warp_size];
  const unsigned parts = blockDim.x / warp_size;  // ranges of chunks, one per warp
  const unsigned t = threadIdx.x, lane = t % warp_size, part = t / warp_size, bucket = blockIdx.x * warp_size + lane;
  const unsigned from = chunks * part / parts, to = chunks * (part + 1) / parts;
  allow_next_launch();
  wait_for_previous();
  unsigned before = 0, sum = 0;
  for (unsigned b = t; b < blockIdx.x * warp_size; b += blockDim.x) before += totals[b];
  if (bucket < row) {
#pragma unroll 8
    for (unsigned c = from; c < to; ++c) sum += counts[std::size_t(c) * row + bucket];
  }
  of_part[part][lane] = sum;
  unsigned start;  // offset of this block's first bucket
  block_scan(before, Sum{}, warp_totals, start);
  const unsigned own = bucket < row ? totals[bucket] : 0;
  unsigned offset = start + warp_scan(own, Sum{}) - own;
  if (part == 0 && bucket < buckets) offsets.put(bucket, offset);
  if (t == 0 && blockIdx.x == 0) offsets.put(buckets, n);
  if (bucket >= row) return;
  for (unsigned p = 0; p < part; ++p) offset += of_part[p][lane];
#pragma unroll 8
  for (unsigned c = from; c < to; ++c) {
    chunk_offsets[std::size_t(c) * row + bucket] = offset;
    offset += counts[std::size_t(c) * row + bucket];
  }
}

// Lays out a table for tiles of `tile_keys` keys in at most `max_chunks` chunks. Returns the array of the chunks'
// counts, [chunks][row].
template <class T, class B>
unsigned* lay_out_table(const Task<T, B>& a, std::size_t tile_keys, unsigned max_chunks, Scratch& scratch,
                        WideOffsetTable& table) {
  table.tiles = static_cast<unsigned>(a.in.n ? ceil_div(a.in.n, tile_keys) : 1);
  table.per_chunk = (table.tiles - 1) / max_chunks + 1;
  table.chunks = (table.tiles - 1) / table.per_chunk + 1;
  table.row = static_cast<unsigned>(ceil_div(a.in.buckets.count, 4) * 4);
  const std::size_t chunk_words = std::size_t(table.chunks) * table.row;
  table.of_chunk = scratch.take<unsigned>(chunk_words);
  table.of_tile = scratch.take<unsigned>(std::size_t(table.tiles) * table.row);
  return scratch.take<unsigned>(chunk_words);
}

// Launches table_chunks_kernel, once the tiles are counted.
template <class T, class B>
Status launch_chunk_offsets(const Task<T, B>& a, const WideOffsetTable& table, const unsigned* counts,
                            const unsigned* totals) {
  unsigned warps = 4;  // few threads for few chunks, because emulated time grows with the threads
  while (warps < table.chunks && warps < max_chunk_warps) warps *= 2;
  const Shape shape{.grid = static_cast<unsigned>(ceil_div(table.row, warp_size)),
                    .block = warps * warp_size,
                    .overlap = true,
                    .stream = a.stream};
  return launch(table_chunks_kernel, shape, counts, totals, table.chunks, table.row, table.of_chunk, a.offsets,
                a.in.buckets.count, a.in.n);
}

// Fills the table for tiles of `tile_keys` keys and writes the bucket offsets, by launching both kernels. `totals` is
// zero on entry; the caller zeroes it again afterwards. The table is taken from the caller's scratch.
template <unsigned tile_keys, class T, class B>
Status make_wide_table(const Task<T, B>& a, unsigned* totals,  // [WideOffsetTable::max_buckets]
                       Scratch& scratch, WideOffsetTable& table) {
  const auto multiprocessors = static_cast<unsigned>(machine().multiprocessors);
  unsigned* const counts = lay_out_table(a, tile_keys, 2 * multiprocessors, scratch, table);
  if (!scratch) return no_memory;
  const Shape shape{.grid = table.chunks,
                    .block = table_block,
                    .shared_bytes = table.row / 2 * table_copies * sizeof(unsigned),
                    .stream = a.stream};
  if (Status s = launch(count_table_kernel<tile_keys, T, B>, shape, a.in, table, counts, totals); !s) return s;
  return launch_chunk_offsets(a, table, counts, totals);
}

}  // namespace upsweep::multisplit
