// histogram/partitioned: samples are sorted into buckets first, a bucket's counters being as many as a block holds.
//
// Many slices read the samples too often. Here they are read once, and all that is kept of a sample is two bytes: its
// counter's number in its bucket. A first kernel sorts each tile by bucket, in shared memory. A thread counts its own
// samples in words that no other thread touches, so that the time does not depend on the skew. A second kernel counts
// bucket by bucket. Its warps take turns, and blocks move on to the bucket of which most is left.
//
// Traffic   n reads; 2 n bytes written and read again; 4 bytes per tile and bucket; an atomic addition per nonzero
//           counter and block that counted its bucket; totals read once.
// Order     any.
// Source    Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009 (tiles sorted in
//           shared memory); Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011 (a thread's counters).
#pragma once
#include <algorithm>

#include "ladders/histogram/steps.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

// Samples by bucket, as the first kernel leaves them to the second.
struct Partition {
  static constexpr unsigned block = 512, samples_per_thread = 32, tile = block * samples_per_thread;
  static constexpr unsigned buckets = most_buckets;
  static constexpr std::size_t bytes_per_tile = tile * sizeof(std::uint16_t) + buckets * sizeof(unsigned);

  std::uint16_t* places;  // [tiles][tile]: the samples' counters, counted from the bucket's first, by bucket
  unsigned* runs;         // [buckets][tiles]: where the bucket begins in the tile, and 2^16 times its length
  unsigned tiles;
  unsigned* lengths;  // [buckets], zero at first: samples
  unsigned* taken;    // [buckets], zero at first: groups of tiles that warps have taken

  // The last bucket has one counter more: if there are 2^20, that of the samples in no bin is another one.
  static constexpr unsigned largest_bucket = (1u << log_bucket) + 1;
  static __host__ __device__ __forceinline__ unsigned bucket_of(unsigned slot) {
    const unsigned bucket = slot >> log_bucket;
    return bucket < buckets ? bucket : buckets - 1;
  }
  // Where place p of a tile is stored: moved inside its 128 bytes, because lanes whose samples are all in one bucket
  // have them 32 or 512 places apart, and would write to two banks. Its own inverse.
  static __device__ __forceinline__ unsigned stored_at(unsigned p) { return p ^ (p >> 8 & 0x3e); }
  // Tiles that a warp takes at once: 4 to 16, with about 2^13 samples of the bucket, if these are spread evenly.
  __device__ __forceinline__ unsigned group(unsigned bucket) const {
    const unsigned all = lengths[bucket] / tiles;  // samples per tile
    return all < 1024 ? 16 : all < 2048 ? 8 : 4;
  }
  __device__ __forceinline__ unsigned groups(unsigned bucket) const { return (tiles - 1) / group(bucket) + 1; }
};

// Sorts tiles by bucket.
template <Search search, class T, class O>
__global__ void __launch_bounds__(Partition::block, 2) partition_kernel(Input<T, O> in, Partition to) {
  constexpr unsigned block = Partition::block, items = Partition::samples_per_thread, buckets = Partition::buckets;
  struct Memory {
    std::uint16_t sorted[Partition::tile];
    unsigned own[buckets][block];  // how many samples of a thread are in the bucket; then, the place of the first
  };
  Memory& memory = *dynamic_shared<Memory>();
  __shared__ unsigned lengths[buckets];  // of the runs
  const unsigned t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;
  allow_next_launch();
  wait_for_previous();
  for (unsigned tile = blockIdx.x; tile < to.tiles; tile += gridDim.x) {
    const std::size_t begin = std::size_t(tile) * Partition::tile;
    const std::size_t left = in.samples.count - begin;
    const auto sort = [&](auto whole) {
      const auto present = [&](unsigned k) { return whole || k * block + t < left; };
      // For each sample: its counter in the bucket, 2^16 times the bucket, and 2^21 times the number of the thread's
      // earlier samples in it.
      unsigned samples[items];
      const auto find_slots = [&](auto&& slot_at) {
#pragma unroll
        for (unsigned k = 0; k < items; ++k) samples[k] = present(k) ? slot_at(begin + k * block + t) : 0;
      };
      if (in.samples.width == in.samples.count && in.samples.channels == 1)
        find_slots([&](std::size_t i) { return bin_of<search>(in, in.samples.data[i]); });
      else
        find_slots([&](std::size_t i) { return in.counter_of(i); });
#pragma unroll
      for (unsigned b = 0; b < buckets; ++b) memory.own[b][t] = 0;
#pragma unroll
      for (unsigned k = 0; k < items; ++k) {
        if (!present(k)) continue;
        const unsigned bucket = Partition::bucket_of(samples[k]), earlier = memory.own[bucket][t]++;
        samples[k] += bucket * ((1u << 16) - (1u << log_bucket)) + (earlier << 21);
      }
      __syncthreads();
      // A warp per bucket: a lane sums the counts of every 32nd group of four threads, in whose order the samples will
      // be.
      constexpr unsigned per_warp = buckets / (block / warp_size), fours = block / 4 / warp_size;
      uint4* const of_fours = reinterpret_cast<uint4*>(memory.own[warp * per_warp]) + lane;
      unsigned before[per_warp];
#pragma unroll
      for (unsigned j = 0; j < per_warp; ++j) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned k = 0; k < fours; ++k) {
          const uint4 four = of_fours[j * block / 4 + k * warp_size];
          sum += four.x + four.y + four.z + four.w;
        }
        const unsigned all = warp_scan(sum, Sum{});
        before[j] = all - sum;
        if (lane == warp_size - 1) lengths[warp * per_warp + j] = all;
      }
      __syncthreads();
      const unsigned length = lengths[lane], start = warp_scan(length, Sum{}) - length;
      if (warp == 0) {
        to.runs[lane * std::size_t(to.tiles) + tile] = start | length << 16;
        if (length) atomicAdd(&to.lengths[lane], length);
      }
#pragma unroll
      for (unsigned j = 0; j < per_warp; ++j) {
        unsigned place = shuffle(start, warp * per_warp + j) + before[j];
#pragma unroll
        for (unsigned k = 0; k < fours; ++k) {
          uint4& four = of_fours[j * block / 4 + k * warp_size];
          const uint4 counts = four;
          four = uint4{place, place + counts.x, place + counts.x + counts.y, place + counts.x + counts.y + counts.z};
          place += counts.x + counts.y + counts.z + counts.w;
        }
      }
      __syncthreads();
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        if (present(k)) {
          const unsigned place = memory.own[samples[k] >> 16 & (buckets - 1)][t] + (samples[k] >> 21);
          memory.sorted[Partition::stored_at(place)] = static_cast<std::uint16_t>(samples[k]);
        }
      // The last line of 128 bytes is copied whole.
      if (!whole && t < -left % 64) memory.sorted[Partition::stored_at(static_cast<unsigned>(left) + t)] = 0;
      __syncthreads();
      const auto* const from = reinterpret_cast<const uint4*>(memory.sorted);
      auto* const packs = reinterpret_cast<uint4*>(to.places + begin);
#pragma unroll
      for (unsigned i = t; i < Partition::tile / 8; i += block)
        if (whole || i / 8 * 64 < left) packs[i] = from[i];
    };
    if (left >= Partition::tile)
      sort(std::true_type{});
    else
      sort(std::false_type{});
  }
}

// Counts the buckets in use, one after another.
static __global__ void __launch_bounds__(1024, 1)
    count_buckets(Partition from, unsigned slots, unsigned* totals) {  // [slots]
  unsigned* const counts = dynamic_shared<unsigned>();                 // [Partition::largest_bucket]
  __shared__ unsigned next_bucket;
  const unsigned lane = threadIdx.x % warp_size, used = Partition::bucket_of(slots - 1) + 1;
  // By eight lanes: places [start, end) of a tile, 128 bytes of them at once.
  constexpr unsigned line = 64, at_once = 4;
  const auto count_run = [&](const std::uint16_t* tile, unsigned start, unsigned end) {
    const auto* const packs = reinterpret_cast<const uint4*>(tile) + lane % 8;
    for (unsigned first = start / line; first * line < end; first += at_once) {
      uint4 raw[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        if ((first + k) * line < end) raw[k] = load_once(packs + (first + k) * 8);
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const unsigned begin = (first + k) * line;
        if (begin >= end) break;
        const Pack<std::uint16_t> pack = as_pack<std::uint16_t>(raw[k]);
        if (begin >= start && begin + line <= end) {
#pragma unroll
          for (unsigned i = 0; i < 8; ++i) atomicAdd(&counts[pack.item[i]], 1u);
        } else {
#pragma unroll
          for (unsigned i = 0; i < 8; ++i) {
            const unsigned place = Partition::stored_at(begin + lane % 8 * 8 + i);
            if (place >= start && place < end) atomicAdd(&counts[pack.item[i]], 1u);
          }
        }
      }
    }
  };
  for (unsigned k = threadIdx.x; k < Partition::largest_bucket; k += blockDim.x) counts[k] = 0;
  allow_next_launch();
  wait_for_previous();
  __syncthreads();
  for (unsigned bucket = blockIdx.x * used / gridDim.x; bucket < used; bucket = next_bucket) {
    const unsigned group = from.group(bucket), groups = from.groups(bucket);
    for (;;) {
      unsigned mine = lane == 0 ? atomicAdd(&from.taken[bucket], 1u) : 0;
      mine = shuffle(mine, 0);
      if (mine >= groups) break;
      // Tiles far apart: sorted samples have long runs in a few tiles side by side.
      const unsigned own_tile = mine + lane * groups;
      const bool has_run = lane < group && own_tile < from.tiles;
      const unsigned run = has_run ? from.runs[bucket * std::size_t(from.tiles) + own_tile] : 0;
      for (unsigned j = lane / 8; j - lane / 8 < group; j += 4) {
        const unsigned one = shuffle(run, j), start = one & 0xffff, length = one >> 16;
        if (length) count_run(from.places + std::size_t(mine + j * groups) * Partition::tile, start, start + length);
        __syncwarp();
      }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < Partition::largest_bucket; k += blockDim.x)
      if (counts[k]) {
        atomicAdd(&totals[(bucket << log_bucket) + k], counts[k]);
        counts[k] = 0;
      }
    // Next: the bucket of which most is left. What no block has begun must be counted; to help with less than a group
    // per warp would take longer than it saves.
    if (threadIdx.x < warp_size) {
      const unsigned all = lane < used && from.lengths[lane] ? from.groups(lane) : 0;
      const unsigned begun = all ? atomicAdd(&from.taken[lane], 0u) : 0;
      const unsigned left = begun < all ? all - begun : 0;
      const unsigned most = warp_reduce_all(begun == 0 || left > warp_size ? left : 0, Max{});
      const unsigned which = __ballot_sync(all_lanes, left == most);
      if (lane == 0) next_bucket = most ? lowest_bit(which) : used;
    }
    __syncthreads();
  }
}

struct partitioned {
  static constexpr Story story{
      .idea = "samples sorted into 32 buckets by counter, two bytes each; buckets counted in shared memory",
      .prediction = "0.45 of the read ceiling up to 2^20 counters, whatever the skew: 8 bytes for 4",
      .guarantees = "counts are exact",
      .limits = "any n; up to 2^20 counters; up to 1 GB of scratch",
      .source = "Satish, Harris, Garland, 2009; Merrill, Grimshaw, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  static constexpr Needs needs = partitioned_needs;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.counters() > most_partitioned) return {Code::unsupported, 0, "partitioned takes up to 2^20 counters"};
    const Samples<T>& all = a.in.samples;
    // Samples at once: 1 GB of scratch memory; less if there is not as much, down to 2 MB.
    constexpr std::size_t most = std::size_t(1) << 29, least = std::size_t(1) << 20;
    const auto tiles_of = [](std::size_t n) { return static_cast<unsigned>(ceil_div(n, Partition::tile)); };
    std::size_t at_once = std::clamp<std::size_t>(all.count, 1, most);
    void* scratch = nullptr;
    for (;; at_once /= 2) {
      scratch = a.workspace->scratch(tiles_of(at_once) * Partition::bytes_per_tile);
      if (scratch || at_once < 2 * least) break;
    }
    if (!scratch) return {Code::out_of_memory, 0, "no memory for the samples' places"};
    const unsigned tiles = tiles_of(at_once);
    auto* const places = static_cast<std::uint16_t*>(scratch);
    auto* const runs = reinterpret_cast<unsigned*>(places + std::size_t(tiles) * Partition::tile);
    const unsigned slots = a.in.counters() + 1;
    if (all.count > at_once) at_once -= at_once % all.channels;
    // Parts of whole rows may be little more than half as large.
    const auto most_parts = static_cast<unsigned>(2 * all.count / at_once + 1);
    return by_totals(
        a,
        [&](unsigned* totals) {
          unsigned* zeros = totals + slots;
          return for_each_part(all, at_once, [&](const Samples<T>& samples) -> Status {
            const unsigned part_tiles = tiles_of(samples.count);
            const Partition part{places, runs, part_tiles, zeros, zeros + Partition::buckets};
            zeros += 2 * Partition::buckets;
            if (Status s = sort_tiles(a, {samples, a.in.bins}, part); !s) return s;
            const Shape shape{.grid = a.tuning.grid_or(persistent_grid(part_tiles)),
                              .block = 1024,
                              .shared_bytes = Partition::largest_bucket * sizeof(unsigned),
                              .overlap = true,
                              .stream = a.stream};
            return launch(count_buckets, shape, part, slots, totals);
          });
        },
        most_parts * 2 * Partition::buckets);
  }

 private:
  template <class T, class O>
  static Status sort_tiles(const Args<T, O>& a, const Input<T, O>& in, const Partition& to) {
    constexpr unsigned shared_bytes =
        Partition::tile * sizeof(std::uint16_t) + Partition::buckets * Partition::block * sizeof(unsigned);
    const unsigned most = 2 * persistent_grid(to.tiles);
    const Shape shape{.grid = a.tuning.grid_or(most < to.tiles ? most : to.tiles),
                      .block = Partition::block,
                      .shared_bytes = shared_bytes,
                      .overlap = true,
                      .stream = a.stream};
    return by_search(
        in, [&]<Search search>(Chosen<search>) { return launch(partition_kernel<search, T, O>, shape, in, to); });
  }
};

}  // namespace upsweep::ladders::histogram
