// Samples in tiles: a tile is as many packs of 16 bytes of one row as a block's threads have in flight.
#pragma once
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// Packs that a thread has in flight: with 1536 threads per multiprocessor 48 KB, more than its share of the memory's
// speed and latency needs (35 bytes per ns, 0.8 us).
inline constexpr unsigned packs_in_flight = 2;

// All numbers fit 32 bits, because the rungs take less than 2^32 samples: half the registers.
template <class T, unsigned Packs = packs_in_flight>
struct Tiles {
  unsigned per_row, count;

  Tiles(const Samples<T>& s, unsigned block)
      : per_row(static_cast<unsigned>(ceil_div(s.width, std::size_t(block) * Packs * Pack<T>::size))),
        count(s.count ? per_row * static_cast<unsigned>(ceil_div(s.count, s.width)) : 0) {}
};

// The channel of the sample in a column, without a division.
__device__ __forceinline__ unsigned channel_of(unsigned column, unsigned channels) {
  return channels == 3 ? column % 3 : column & (channels - 1);
}

// Block-wide: calls f(x, column, present) for the samples of a tile, in all lanes of every warp; `column` is the
// sample's place in its row. Where `present` is false there is no sample. Blocks of whole warps.
template <class T, unsigned Packs, class F>
__device__ __forceinline__ void for_each_of_tile(const Samples<T>& s, const Tiles<T, Packs>& tiles, unsigned tile,
                                                 F&& f) {
  constexpr unsigned size = Pack<T>::size;
  const bool one_row = s.width == s.count;
  const unsigned row = one_row ? 0 : tile / tiles.per_row, part = one_row ? tile : tile % tiles.per_row;
  const T* const begin = s.data + row * s.pitch;
  const auto all = static_cast<unsigned>(s.count), full = static_cast<unsigned>(s.width);
  const unsigned left = all - row * full, width = left < full ? left : full;  // the last row may be short
  const PackSplit<T> split(begin, width);
  const auto head = static_cast<unsigned>(split.head), packs = static_cast<unsigned>(split.packs);

  const unsigned first = part * Packs * blockDim.x + threadIdx.x;
  uint4 raw[Packs];
#pragma unroll
  for (unsigned p = 0; p < Packs; ++p)
    if (const unsigned i = first + p * blockDim.x; i < packs)
      raw[p] = load_once(reinterpret_cast<const uint4*>(split.aligned) + i);
#pragma unroll
  for (unsigned p = 0; p < Packs; ++p) {
    const unsigned i = first + p * blockDim.x;
    const bool present = i < packs;
    const Pack<T> pack = present ? as_pack<T>(raw[p]) : Pack<T>{};
#pragma unroll
    for (unsigned k = 0; k < size; ++k) f(pack.item[k], head + i * size + k, present);
  }
  // The ends of the row have fewer samples than a warp has lanes.
  if (part == 0 && threadIdx.x < warp_size) {
    const auto tail = static_cast<unsigned>(split.tail);
    const bool in_head = threadIdx.x < head, in_tail = threadIdx.x < tail;
    f(in_head ? begin[threadIdx.x] : T{}, threadIdx.x, in_head);
    const unsigned column = width - tail + threadIdx.x;
    f(in_tail ? begin[column] : T{}, column, in_tail);
  }
}

// Bins as the kernels that read tiles find them: by a shift alone where that is enough.
template <bool shifts, class T, class O>
__device__ __forceinline__ unsigned slot_of(const Input<T, O>& in, T x, unsigned column) {
  unsigned bin;
  if constexpr (shifts) {
    const std::uint32_t distance = static_cast<std::uint32_t>(x) - in.bins.first;
    bin = distance <= in.bins.last ? (distance + in.bins.skipped) >> in.bins.scale.as_shift : in.bins.count;
  } else {
    bin = in.bins(x);
  }
  if (in.samples.channels == 1) return bin;  // that of a sample in no bin is counters()
  if (bin == in.bins.count) return in.counters();
  return channel_of(column, in.samples.channels) * in.bins.count + bin;
}

// Calls launch_with(std::bool_constant<shifts>{}).
template <class T, class O, class F>
Status by_shift(const Input<T, O>& in, F&& launch_with) {
  if constexpr (std::is_integral_v<T> && O::binning == Binning::even)
    if (in.bins.scale.as_shift >= 0) return launch_with(std::true_type{});
  return launch_with(std::false_type{});
}

// The grid for these tiles: at most `per_sm` blocks per multiprocessor.
template <class T, unsigned Packs>
unsigned grid_for(const Tiles<T, Packs>& tiles, unsigned per_sm) {
  const unsigned most = static_cast<unsigned>(device_limits().multiprocessors) * per_sm;
  return tiles.count < 1 ? 1 : tiles.count < most ? tiles.count : most;
}

}  // namespace upsweep::ladders::histogram
