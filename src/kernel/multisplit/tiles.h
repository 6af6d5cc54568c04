// Tiles that a block sorts by bucket: their shapes, reading, writing, and the queue from which persistent blocks draw
// them.
#pragma once
#include "kernel/address.h"
#include "kernel/async.h"
#include "kernel/bytes.h"
#include "kernel/multisplit/thread_counters.h"
#include "kernel/vector.h"

namespace upsweep::multisplit {

// ---- values ---------------------------------------------------------------------------------------------------------

// The type in which a tile holds values of this size; arbitrary without values.
template <unsigned bytes>
using ValueOf = std::conditional_t<bytes == 16, uint4, std::conditional_t<bytes == 8, std::uint64_t, std::uint32_t>>;

// The type of values V in the caller's arrays, where 16-byte values may lie 8 bytes past a 16-byte boundary.
template <class V>
using InArray = std::conditional_t<std::is_same_v<V, uint4>, Wide, V>;

template <class V>
__device__ __forceinline__ V read_element(const InArray<V>* from) {
  if constexpr (std::is_same_v<V, uint4>) {
    const std::uint64_t low = from->low, high = from->high;
    return uint4{unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
  } else {
    return *from;
  }
}
template <class V>
__device__ __forceinline__ void write_element(InArray<V>* to, const V& element, [[maybe_unused]] bool aligned) {
  if constexpr (std::is_same_v<V, uint4>) {
    if (aligned) return store_whole(reinterpret_cast<uint4*>(to), element);
    to->low = element.x | std::uint64_t(element.y) << 32;
    to->high = element.z | std::uint64_t(element.w) << 32;
  } else {
    *to = element;
  }
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

// Bytes of the wider of key and value, at least 4.
template <class T, unsigned value_bytes>
inline constexpr unsigned widest_of = sizeof(T) > value_bytes ? (sizeof(T) > 4 ? sizeof(T) : 4)
                                                              : (value_bytes > 4 ? value_bytes : 4);

// Packs per lane, of keys or values, whichever are wider: an odd number, so that 32 lanes that read their first packs
// use all banks. A thread's 168 registers hold 60 keys of 4 bytes and their positions, or 34 keys of 8 bytes, for which
// shared memory just suffices for two blocks (2^28 u64 keys sorted: 13.8 ms with 15 packs, 13.2 ms with 17).
template <class T, unsigned value_bytes, unsigned block_warps>
inline constexpr unsigned lane_packs = sizeof(T) == 8 && value_bytes == 0 && block_warps == 6 ? 17 : 15;

// Tiles for ThreadRanks. Twelve warps fill a multiprocessor, as one block or as two.
template <class T, unsigned value_bytes, unsigned block_warps, unsigned packs = lane_packs<T, value_bytes, block_warps>>
struct ThreadTiles {
  static constexpr unsigned widest = widest_of<T, value_bytes>;
  static constexpr unsigned warps = block_warps, block = warps * warp_size, blocks_per_sm = 12 / warps;
  static constexpr unsigned keys = packs * 16 / widest;  // per lane
  static constexpr unsigned tile = block * keys, bytes = tile * widest;
  using Value = ValueOf<value_bytes>;
  using Ranks = ThreadRanks<warps, keys>;
};

// ---- reading --------------------------------------------------------------------------------------------------------

// Block-wide: returns a key of the highest bucket among the keys [first, first + size).
template <class T, class B>
__device__ T key_of_last_bucket(const BucketedKeys<T, B>& in, std::size_t first, unsigned size) {
  static_assert(max_counted <= 1 << 16);
  __shared__ unsigned last;  // bucket << 16 | index of the key
  if (threadIdx.x == 0) last = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) atomicMax(&last, in.bucket_of(first + i) << 16 | i);
  __syncthreads();
  return in.keys[first + (last & 0xffff)];
}

// Block-wide: returns a padding key, which sorts after all real keys, for a tile with `size` of `tile_size` keys: a key
// of the last bucket or, if a user's function computes buckets, the tile's key with the highest bucket.
template <class T, class B>
__device__ T key_past_the_end(const BucketedKeys<T, B>& in, unsigned tile, unsigned tile_size, unsigned size) {
  if constexpr (requires { in.buckets.last_key(); })
    return in.buckets.last_key();
  else
    return size < tile_size ? key_of_last_bucket(in, std::size_t(tile) * tile_size, size) : T(~T(0));
}

// Loads this thread's elements, Ranks::element(0) and so on, of a tile in shared memory.
template <class Ranks, class T, unsigned count>
__device__ __forceinline__ void load_own(const T* elements, T (&own)[count]) {
  if constexpr (Ranks::consecutive) {
    constexpr unsigned bytes = sizeof own;
    using Word = std::conditional_t<bytes % 16 == 0, uint4, std::conditional_t<bytes % 8 == 0, uint2, unsigned>>;
    static_assert(bytes % sizeof(Word) == 0);
    constexpr unsigned size = sizeof(Word) / sizeof(T), last = bytes / sizeof(Word) - 1;
    const Word* const words = reinterpret_cast<const Word*>(elements + Ranks::first_element());
#pragma unroll
    for (unsigned k = 0; k <= last; ++k) {
      const Word word = words[k];
      memcpy(static_cast<void*>(&own[k * size]), &word, sizeof word);
    }
    if constexpr (requires { Ranks::backward(); }) {
      const bool backward = Ranks::backward();
#pragma unroll
      for (unsigned k = 0; k < count / 2; ++k) {
        const T low = own[k], high = own[count - 1 - k];
        own[k] = backward ? high : low;
        own[count - 1 - k] = backward ? low : high;
      }
    }
  } else {
#pragma unroll
    for (unsigned k = 0; k < count; ++k) own[k] = elements[Ranks::element(k)];
  }
}

// An array that is read tile by tile.
template <class T, unsigned tile_size>
struct TileReader {
  const InArray<T>* all;  // [n]; if null, element i is i
  std::size_t n;

  __device__ unsigned size(unsigned tile) const {
    const std::size_t left = n - std::size_t(tile) * tile_size;
    return left < tile_size ? static_cast<unsigned>(left) : tile_size;
  }
  // Returns the bytes that fetch() copies: all of a tile that is whole and aligned, otherwise 0.
  __device__ unsigned fetched_bytes(unsigned tile) const {
    return all && reinterpret_cast<std::uintptr_t>(all) % 16 == 0 && size(tile) == tile_size ? tile_size * sizeof(T)
                                                                                             : 0;
  }
  // Starts the copy of a tile to `staged`, [tile_size]. By one thread.
  __device__ void fetch(unsigned tile, void* staged, std::uint64_t* arrived) const {
    if (const unsigned bytes = fetched_bytes(tile))
      bulk_copy(staged, all + std::size_t(tile) * tile_size, bytes, arrived);
  }
  // Loads this thread's elements of a tile from global memory; elements past the end of the array become `past`.
  template <class Ranks, unsigned count>
  __device__ __forceinline__ void load_to_registers(unsigned tile, T past, T (&own)[count]) const {
    const std::size_t first = std::size_t(tile) * tile_size;
    if constexpr (std::is_integral_v<T>) {
      if (!all) {
#pragma unroll
        for (unsigned k = 0; k < count; ++k) own[k] = static_cast<T>(first + Ranks::element(k));
        return;
      }
    }
    const unsigned filled = size(tile);
    const InArray<T>* const from = all + first;
    if (filled == tile_size) {
#pragma unroll
      for (unsigned k = 0; k < count; ++k) own[k] = read_element<T>(from + Ranks::element(k));
    } else {
#pragma unroll
      for (unsigned k = 0; k < count; ++k)
        own[k] = Ranks::element(k) < filled ? read_element<T>(from + Ranks::element(k)) : past;
    }
  }
  // Block-wide, once fetch()'s copy has arrived: loads this thread's elements of the tile, Ranks::element(0) and so on.
  // If fetch() copied nothing, stages the tile first; elements past the end of the array become `past`.
  template <class Ranks, unsigned count>
  __device__ __forceinline__ void load(unsigned tile, void* staged, T past, T (&own)[count]) const {
    if constexpr (std::is_integral_v<T>) {
      if (!all) {
#pragma unroll
        for (unsigned k = 0; k < count; ++k) own[k] = static_cast<T>(tile) * tile_size + Ranks::element(k);
        return;
      }
    }
    T* const elements = static_cast<T*>(staged);
    if (!fetched_bytes(tile)) {
      const unsigned filled = size(tile);
      const InArray<T>* const from = all + std::size_t(tile) * tile_size;
      // Loads in flight per thread.
      constexpr unsigned at_once = count % 10 == 0   ? 10
                                   : count % 17 == 0 ? 17
                                   : count % 7 == 0  ? 7
                                   : count % 5 == 0  ? 5
                                   : count % 8 == 0  ? 8
                                                     : largest_divisor(count, 8);
      static_assert(count % at_once == 0);
      for (unsigned k = 0; k < count; k += at_once) {
        T some[at_once];
#pragma unroll
        for (unsigned j = 0; j < at_once; ++j) {
          const unsigned i = (k + j) * blockDim.x + threadIdx.x;
          some[j] = i < filled ? read_element<T>(from + i) : past;
        }
#pragma unroll
        for (unsigned j = 0; j < at_once; ++j) elements[(k + j) * blockDim.x + threadIdx.x] = some[j];
      }
      __syncthreads();
    }
    load_own<Ranks>(elements, own);
  }
};

// ---- writing --------------------------------------------------------------------------------------------------------

// Sets half k % 2 of words[k / 2]; call with ascending k.
__device__ __forceinline__ void put_half(unsigned* words, unsigned k, unsigned half) {
  if (k % 2 == 0)
    words[k / 2] = half;
  else
    words[k / 2] |= half << 16;
}
// Stores this thread's elements of a tile at their positions; half k % 2 of positions[k / 2] is the position of element
// k.
template <class T, unsigned count>
__device__ __forceinline__ void store_at_positions(T* sorted, const unsigned (&positions)[(count + 1) / 2],
                                                   const T (&own)[count]) {
  const SharedAddress to = shared_address(sorted);
#pragma unroll
  for (unsigned k = 0; k < count; ++k) at_shared<T>(half_of(positions[k / 2], k % 2) * sizeof(T) + to) = own[k];
}

// Calls write(first, k, row) for this thread's elements first + k * block of a tile of `size` elements; `k` is known to
// the compiler, and row[k * block] is element first + k * block of `out`.
template <class Tiles, class T, class Write>
__device__ __forceinline__ void for_each_position(unsigned size, T* out, Write&& write) {
  constexpr unsigned block = Tiles::block, at_once = largest_divisor(Tiles::keys, 7);
  const unsigned t = threadIdx.x;
  if (size == Tiles::tile) {
#pragma unroll 1
    for (unsigned first = t; first < Tiles::tile; first += at_once * block) {
      T* const row = as_computed(out + first);
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) write(first, k, row);
    }
  } else {
    for (unsigned p = t; p < size; p += block) write(p, 0u, out + p);
  }
}

// ---- the queue ------------------------------------------------------------------------------------------------------

// Hands out tiles in order, so that tiles in flight are close together.
struct TileQueue {
  unsigned* next;  // zero, and left zero
  unsigned tiles;
  unsigned first = 0;  // number of the first tile

  // Returns the next tile; by one thread. Each block draws until it gets a number past the last tile.
  __device__ unsigned draw() const { return drawn(start_draw()); }
  // draw() in two parts, so that the caller can work while the atomic is in flight.
  __device__ unsigned start_draw() const { return atomicAdd(next, 1u); }
  __device__ unsigned drawn(unsigned number) const {
    if (number == tiles + gridDim.x - 1) atomicExch(next, 0u);  // keep_pace() may be reading it
    return first + number;
  }
  // Throttles blocks that run ahead, so that tiles in flight stay close together in the output. A block that holds tile
  // t polls the counter until it has advanced gridDim.x past t, at most four times: the other blocks may not be
  // resident, so it must not wait for them indefinitely. Not on the first tile: all blocks start together. By one
  // thread, which has just drawn `drawn`.
  __device__ void keep_pace(unsigned tile, unsigned drawn) const {
    constexpr unsigned max_polls = 4;  // 0.7 us each on an H200, where a tile takes 9 us; 8 are no faster
    if (tile - first < gridDim.x) return;
#pragma unroll
    for (unsigned polls = 0; drawn - tile < gridDim.x && polls < max_polls; ++polls)
      drawn = first + atomicAdd(next, 0u);
  }
  // Resets the queue in a launch without work, where every block draws once and then calls this.
  __device__ void leave(unsigned drawn) const {
    if (drawn - first == gridDim.x - 1) *next = 0;
  }
};

// Launches a persistent kernel whose blocks, or clusters of blocks, draw tiles: with as many blocks as are resident, or
// as there are tiles if that is fewer.
template <class Tiles, class Memory, unsigned cluster = 1, class... P, class... A>
Status launch_persistent(void (*kernel)(P...), const Execution& call, unsigned tiles, const A&... args) {
  const unsigned resident = call.tuning.grid_or(Tiles::blocks_per_sm * std::size_t(machine().multiprocessors));
  const unsigned blocks = tiles < resident ? tiles : resident;
  return launch(kernel,
                {.grid = static_cast<unsigned>(ceil_div(blocks, cluster)) * cluster,
                 .block = Tiles::block,
                 .shared_bytes = sizeof(Memory),
                 .cluster = cluster,
                 .overlap = true,
                 .stream = call.stream},
                args...);
}

}  // namespace upsweep::multisplit
