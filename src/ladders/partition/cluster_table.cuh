// Where each cluster's tile's keys of each bucket go: a tile_table.cuh of up to 32768 buckets and of larger tiles.
//
// A block counts a chunk of tiles in all the shared memory of a multiprocessor, 32768 words: a counter of 32 bits for
// each bucket, because a tile may have more than 2^16 keys that are alike, in as many copies as there is room for.
#pragma once
#include "ladders/partition/tile_table.cuh"

namespace upsweep::ladders::partition {

inline constexpr unsigned cluster_table_block = 1024, cluster_table_words = most_buckets;

// Tiles have `parts` parts of `part_keys` keys each. Rows are a multiple of 4096 words. `totals` is zero.
template <unsigned part_keys, class T, class O>
__global__ void __launch_bounds__(cluster_table_block, 1)
    count_cluster_tiles_kernel(Input<T, O> in, TileTable of, unsigned parts,
                               unsigned* counts,    // [chunks][row]
                               unsigned* totals) {  // [row]
  constexpr unsigned block = cluster_table_block;
  __shared__ unsigned warp_totals[2][warp_size];
  unsigned* const words = dynamic_shared<unsigned>();  // [copies][row]
  const unsigned t = threadIdx.x, copies = cluster_table_words / of.row, own_copy = t % copies * of.row;
  allow_next_launch();
  for (unsigned w = t; w < cluster_table_words; w += block) words[w] = 0;
  __syncthreads();
  const std::size_t n_parts = in.n ? ceil_div(in.n, part_keys) : 1;
  const unsigned first = blockIdx.x * of.per_chunk * parts, most = first + of.per_chunk * parts;
  const unsigned end = most < n_parts ? most : static_cast<unsigned>(n_parts);
  uint4* const so_far = reinterpret_cast<uint4*>(counts + std::size_t(blockIdx.x) * of.row);  // read by who has written
  const auto count = [&](T key) { atomicAdd(&words[own_copy + in.buckets(key)], 1u); };
  const auto write_row = [&](unsigned part) {
    if ((part + 1) % parts != 0 && part + 1 < end) return;
    const unsigned tile = part / parts;
    uint4* const row = reinterpret_cast<uint4*>(of.of_tile + std::size_t(tile) * of.row);
    unsigned start = 0;                                 // in the tile
    for (unsigned p = t; p < of.row / 4; p += block) {  // as many times for each thread
      uint4 own{0, 0, 0, 0};
      for (unsigned c = 0; c < copies; ++c) {
        uint4& pack = reinterpret_cast<uint4*>(words + c * of.row)[p];
        const uint4 four = pack;
        pack = uint4{0, 0, 0, 0};
        own.x += four.x, own.y += four.y, own.z += four.z, own.w += four.w;
      }
      unsigned total;
      const unsigned before = block_scan(own.x + own.y + own.z + own.w, Sum{}, warp_totals[p / block % 2], total);
      const unsigned x = start + before, y = x + own.x, z = y + own.y, w = z + own.z;
      start += total;
      const uint4 earlier = tile == first / parts ? uint4{0, 0, 0, 0} : so_far[p];
      row[p] = uint4{earlier.x - x, earlier.y - y, earlier.z - z, earlier.w - w};
      so_far[p] = uint4{earlier.x + own.x, earlier.y + own.y, earlier.z + own.z, earlier.w + own.w};
    }
  };
  read_tiles<part_keys, block>(in, first, end, count, write_row);
  for (unsigned p = t; p < of.row / 4; p += block) {
    const uint4 own = so_far[p];
    const unsigned four[4] = {own.x, own.y, own.z, own.w};
#pragma unroll
    for (unsigned j = 0; j < 4; ++j)
      if (four[j]) atomicAdd(&totals[4 * p + j], four[j]);
  }
}

// Launches it and table_chunks_kernel for tiles of `parts` parts; writes the offsets. `totals` is zero, and the caller
// zeroes it again.
template <unsigned part_keys, class T, class O>
Status make_cluster_table(const Args<T, O>& a, unsigned parts, unsigned* totals, TileTable& table) {  // [buckets]
  const auto most = static_cast<unsigned>(device_limits().multiprocessors);
  unsigned* const counts = lay_out_table(a, std::size_t(part_keys) * parts, most, table);
  if (!counts) return no_memory;
  const Shape shape{.grid = table.chunks,
                    .block = cluster_table_block,
                    .shared_bytes = cluster_table_words * sizeof(unsigned),
                    .stream = a.stream};
  const auto kernel = count_cluster_tiles_kernel<part_keys, T, O>;
  if (Status s = launch(kernel, shape, a.in, table, parts, counts, totals); !s) return s;
  return place_chunks(a, table, counts, totals);
}

}  // namespace upsweep::ladders::partition
