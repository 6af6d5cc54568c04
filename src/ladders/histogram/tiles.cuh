// Samples in tiles: a tile is as many packs of 16 bytes of one row as a block's threads have in flight.
#pragma once
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// Packs that a thread has in flight: with 2048 threads per multiprocessor 64 KB, twice what its share of the memory's
// speed and latency needs (35 bytes per ns, 0.8 us).
inline constexpr unsigned packs_in_flight = 2;

template <class T>
struct Tiles {
  std::size_t per_row, count;

  Tiles(const Samples<T>& s, unsigned block)
      : per_row(ceil_div(s.width, std::size_t(block) * packs_in_flight * Pack<T>::size)),
        count(s.count ? per_row * (s.count / s.width + (s.count % s.width != 0)) : 0) {}
};

// Block-wide: calls f(x, column, present) for the samples of a tile, in all lanes of every warp; `column` is the
// sample's place in its row. Where `present` is false there is no sample. Blocks of whole warps.
template <class T, class F>
__device__ __forceinline__ void for_each_of_tile(const Samples<T>& s, const Tiles<T>& tiles, std::size_t tile, F&& f) {
  constexpr unsigned size = Pack<T>::size;
  const bool one_row = s.width == s.count;
  const std::size_t row = one_row ? 0 : tile / tiles.per_row, part = one_row ? tile : tile % tiles.per_row;
  const T* const begin = s.data + row * s.pitch;
  const std::size_t left = s.count - row * s.width, width = left < s.width ? left : s.width;  // the last may be short
  const PackSplit<T> split(begin, width);

  const std::size_t first = part * packs_in_flight * blockDim.x + threadIdx.x;
  uint4 raw[packs_in_flight];
#pragma unroll
  for (unsigned p = 0; p < packs_in_flight; ++p)
    if (const std::size_t i = first + p * blockDim.x; i < split.packs)
      raw[p] = load_once(reinterpret_cast<const uint4*>(split.aligned) + i);
#pragma unroll
  for (unsigned p = 0; p < packs_in_flight; ++p) {
    const std::size_t i = first + p * blockDim.x;
    const bool present = i < split.packs;
    const Pack<T> pack = present ? as_pack<T>(raw[p]) : Pack<T>{};
#pragma unroll
    for (unsigned k = 0; k < size; ++k) f(pack.item[k], split.head + i * size + k, present);
  }
  // The ends of the row have fewer samples than a warp has lanes.
  if (part == 0 && threadIdx.x < warp_size) {
    const bool in_head = threadIdx.x < split.head, in_tail = threadIdx.x < split.tail;
    f(in_head ? begin[threadIdx.x] : T{}, threadIdx.x, in_head);
    const std::size_t tail = width - split.tail + threadIdx.x;
    f(in_tail ? begin[tail] : T{}, tail, in_tail);
  }
}

// Bins as the kernels that read tiles find them: by a shift alone where that is enough.
template <bool shifts, class T, class O>
__device__ __forceinline__ unsigned slot_of(const Input<T, O>& in, T x, std::size_t column) {
  unsigned bin;
  if constexpr (shifts) {
    const std::uint32_t distance = static_cast<std::uint32_t>(x) - in.bins.first;
    bin = distance <= in.bins.last ? (distance + in.bins.skipped) >> in.bins.scale.as_shift : in.bins.count;
  } else {
    bin = in.bins(x);
  }
  if (in.samples.channels == 1) return bin;  // that of a sample in no bin is counters()
  if (bin == in.bins.count) return in.counters();
  return static_cast<unsigned>(column % in.samples.channels) * in.bins.count + bin;
}

// Calls launch_with(std::bool_constant<shifts>{}).
template <class T, class O, class F>
Status by_shift(const Input<T, O>& in, F&& launch_with) {
  if constexpr (std::is_integral_v<T> && O::binning == Binning::even)
    if (in.bins.scale.as_shift >= 0) return launch_with(std::true_type{});
  return launch_with(std::false_type{});
}

// The grid for these tiles: at most `per_sm` blocks per multiprocessor.
template <class T>
unsigned grid_for(const Tiles<T>& tiles, unsigned per_sm) {
  const std::size_t most = std::size_t(device_limits().multiprocessors) * per_sm;
  return static_cast<unsigned>(tiles.count < 1 ? 1 : tiles.count < most ? tiles.count : most);
}

// Blocks of `bytes` of shared memory and `threads` threads that a multiprocessor holds; a block takes 1 KB more.
inline unsigned resident(std::size_t bytes, unsigned threads) {
  const auto by_memory = static_cast<unsigned>((most_shared + 1024) / (bytes + 1024));
  const unsigned by_threads = static_cast<unsigned>(device_limits().threads_per_sm) / threads;
  const unsigned least = by_memory < by_threads ? by_memory : by_threads;
  return least < 1 ? 1 : least;
}

}  // namespace upsweep::ladders::histogram
