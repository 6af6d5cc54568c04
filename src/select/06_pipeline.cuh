// select/pipeline: every warp has one job, and tiles pass from job to job, as in scan/pipeline.
//
//   fetch    draws the next tile's number and starts the bulk copy of its keys, as soon as a place in the ring is free;
//   flag     finds what is selected of a tile, leaves it as bits, and tells every other block how many;
//   place    adds up what is selected of the tiles between its block's last tile and this one: the tile's place;
//   gather   puts the selected together, and writes them.
// Nobody waits for a place that is itself waited for, and while one tile's place is found the next are fetched. Of
// elements selected by flags, only those packs are read that have a flag.
//
// Traffic   n reads by bulk copies, one pack more a tile; what is selected written, 16 bytes at a time.
// Order     preserved.
// Source    as scan/pipeline, after Merrill and Garland, decoupled look-back, 2016.
#pragma once
#include "kernel/async.h"
#include "select/05_vec16.cuh"

namespace upsweep::ladders::select {

// How a tile of keys is cut: `gatherers` warps gather `rows` rows of packs each.
template <class T, class O>
struct TileShape {
  using K = Key<T, O>;
  static constexpr unsigned size = Pack<K>::size;  // keys a pack
  static constexpr unsigned out = Pack<T>::size;   // elements a pack
  static constexpr unsigned gatherers = 4, flaggers = 2, stages = 4;
  // Tiles of 32 KB; of bytes, less, so that the positions, or the elements that flags select, find room together.
  static constexpr unsigned rows = O::op == Op::select_flagged        ? (sizeof(T) == 8 ? 2 : 4)
                                   : size == 16 && gives_positions<O> ? 8
                                                                      : 16;
  static constexpr unsigned of_warp = rows * warp_size * size;  // keys
  static constexpr unsigned elements = gatherers * of_warp;     // keys of a tile
  static constexpr unsigned rows_out = of_warp / (warp_size * out);
  static constexpr unsigned halo = sees_neighbour<O> ? size : 0;  // keys before the tile
  static constexpr unsigned threads = (2 + flaggers + gatherers) * warp_size;
  using Bits = std::conditional_t<size == 16, std::uint16_t, std::uint8_t>;  // a pack's
  static constexpr unsigned bits_of_tile = elements / size;

  // Shared memory: the ring of keys, that of their bits, and for each gatherer what it puts together.
  static constexpr unsigned slot_bytes = (halo + elements) * sizeof(K);
  static constexpr unsigned values_bytes = gives_values<O> ? of_warp * sizeof(T) + 16 : 0;
  static constexpr unsigned places_bytes = gives_positions<O> ? of_warp * 2 : 0;
  static constexpr unsigned staged_bytes = values_bytes + places_bytes;
  static constexpr unsigned bits_begin = stages * slot_bytes;
  static constexpr unsigned staged_begin = bits_begin + stages * bits_of_tile * sizeof(Bits);
  static constexpr unsigned shared_bytes = staged_begin + gatherers * staged_bytes;
  static_assert(stages % flaggers == 0);  // a warp may wait for a phase of a barrier only if it saw the one before
  static_assert(shared_bytes <= 226 * 1024);
};

// How many of some neighbouring tiles are selected, and behind which position the last of them is (0: none).
struct Selected {
  std::size_t count, end;
};

template <class T, class O>
struct Pipeline {
  using S = TileShape<T, O>;
  using K = Key<T, O>;
  static constexpr unsigned stages = S::stages;
  static constexpr bool runs = O::op == Op::run_length_encode;
  struct Shared {
    std::uint64_t fetched[stages], placed[stages], freed[stages];  // mbarriers
    unsigned tile[stages], last_tile[stages];                      // in this turn and the one before; `tiles`: the end
    Selected between[stages];                                      // of tiles [last_tile, tile)
    unsigned before_warp[stages][S::gatherers], end_before_warp[stages][S::gatherers];  // within the tile
    unsigned call;
  };

  const Input<T, O>& in;
  const Target<T>& to;
  const Aligned<K>& keys;
  unsigned char* memory;  // [S::shared_bytes], shared
  Shared& shared;
  const TaggedBoxes& state;
  unsigned tiles;
  unsigned lane = threadIdx.x % warp_size;

  static __device__ unsigned stage(unsigned turn) { return turn % stages; }
  static __device__ void wait(std::uint64_t* barriers, unsigned turn) {
    mbarrier_wait(&barriers[turn % stages], turn / stages % 2);
  }
  // The keys of a tile in the ring, and their bits.
  __device__ K* keys_at(unsigned s) const { return reinterpret_cast<K*>(memory + s * S::slot_bytes) + S::halo; }
  __device__ typename S::Bits* bits_at(unsigned s) const {
    return reinterpret_cast<typename S::Bits*>(memory + S::bits_begin) + s * S::bits_of_tile;
  }

  // Draws tiles and has them copied. Every block draws one number past the end; who draws the last of them leaves
  // things as they should be.
  __device__ void fetch(unsigned first) {
    unsigned next = __shfl_sync(all_lanes, first, 0), last = 0, ends = 0;
    for (unsigned turn = 0; ends < S::flaggers; ++turn) {
      if (turn >= stages) wait(shared.freed, turn - stages);
      const unsigned s = stage(turn), tile = next < tiles ? next : tiles;
      // The next number is drawn while this tile is on its way.
      const unsigned drawn = tile < tiles && lane == 0 ? atomicAdd(state.counter(), 1u) : next;
      if (lane == 0) {
        shared.tile[s] = tile;
        shared.last_tile[s] = last;
      }
      if (tile < tiles) {
        copy_in(std::size_t(tile) * S::elements, keys_at(s), &shared.fetched[s]);
      } else {
        ++ends;
        mbarrier_arrive(&shared.fetched[s]);
      }
      last = tile;
      next = __shfl_sync(all_lanes, drawn, 0);
    }
    if (lane == 0 && next == tiles + gridDim.x - 1) {
      *state.counter() = 0;
      state.end(shared.call, tiles);
    }
  }

  // Whole packs by the copy engine, the others, at the ends of the input, by the warp, all of whose lanes arrive.
  __device__ void copy_in(std::size_t position, K* slot, std::uint64_t* arrived) {
    const std::size_t left = keys.end - position;
    const unsigned halo = position > 0 ? S::halo : 0;  // in which all is there
    const unsigned from = position < keys.begin ? S::size : 0;
    unsigned end = left < S::elements ? unsigned(left) / S::size * S::size : S::elements;
    if (end < from) end = from;
    const auto fill = [&](unsigned i) { slot[i] = keys.has(position + i) ? keys.base[position + i] : K{}; };
    if (lane < from) fill(lane);
    for (unsigned i = end + lane; i < S::elements; i += warp_size) fill(i);
    if (S::halo && !halo && lane == 0) slot[-1] = K{};
    if (lane > 0) return mbarrier_arrive(arrived);
    const unsigned bytes = (halo + end - from) * sizeof(K);
    mbarrier_arrive_expect(arrived, bytes);
    // The halo lies just before the tile, here and there; with it, the tile begins with a whole pack.
    if (bytes > 0) bulk_copy(slot + from - halo, keys.base + position + from - halo, bytes, arrived);
  }

  // Finds the bits of a tile, warp by warp of those that will gather it.
  __device__ void flag(unsigned turn) {
    for (;; turn += S::flaggers) {
      wait(shared.fetched, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      const K* const slot = keys_at(s);
      unsigned count = 0, end = 0;
      for (unsigned w = 0; w < S::gatherers && tile < tiles; ++w) {
        if (lane == 0) {
          shared.before_warp[s][w] = count;
          if (runs) shared.end_before_warp[s][w] = end;
        }
        const unsigned first = w * S::of_warp;
        const K left = sees_neighbour<O> && lane == 0 ? slot[int(first) - 1] : K{};
        unsigned bits[S::rows], of_lane = 0;
        uint4 rows[S::rows];
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r)
          rows[r] = reinterpret_cast<const uint4*>(slot + first)[r * warp_size + lane];
        bits_of_rows<S::rows, T, O>(in, keys, std::size_t(tile) * S::elements + first, rows, left, bits);
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r) {
          bits_at(s)[(w * S::rows + r) * warp_size + lane] = static_cast<typename S::Bits>(bits[r]);
          of_lane += __popc(bits[r]);
        }
        count += __reduce_add_sync(all_lanes, of_lane);
        if (runs) {
          unsigned behind = 0;
#pragma unroll
          for (unsigned r = 0; r < S::rows; ++r)
            if (bits[r]) behind = first + (r * warp_size + lane) * S::size + (32 - __clz(int(bits[r])));
          behind = __reduce_max_sync(all_lanes, behind);
          if (behind) end = behind;
        }
      }
      __syncwarp();  // all lanes' bits are written, and all have read the tile's number
      if (lane == 0 && tile < tiles) put_tagged(state.boxes() + tile, shared.call, count | end << 16);
      mbarrier_arrive(&shared.placed[s]);
      if (tile == tiles) return;
    }
  }

  // Adds up what is selected since this block's last tile.
  __device__ void place(unsigned turn) {
    for (;; ++turn) {
      wait(shared.fetched, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      Selected sum{};
      if (tile < tiles) sum = take(shared.last_tile[s], tile);
      __syncwarp();
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.placed[s]);
      if (tile == tiles) return;
    }
  }
  // As scan's take_totals(), of words that hold a count and an end.
  __device__ Selected take(unsigned from, unsigned to) {
    constexpr unsigned each = 5;  // 160 in all: more than there are blocks on an H200
    Selected sum{};
    for (; from < to; from += each * warp_size) {
      const auto index = [&](unsigned k) {
        const unsigned i = from + k * warp_size + lane;
        return i < to ? i : to - 1;
      };
      unsigned words[each], count = 0, end = 0, last = 0;
      take_tagged<each>(state.boxes(), shared.call, index, words);
      __syncwarp();
#pragma unroll
      for (unsigned k = 0; k < each; ++k) {
        if (from + k * warp_size + lane >= to) continue;
        count += words[k] & 0xffff;
        if (words[k] >> 16) end = words[k] >> 16, last = index(k) + 1;
      }
      sum.count += __reduce_add_sync(all_lanes, count);
      if (!runs) continue;
      const unsigned latest = __reduce_max_sync(all_lanes, last);
      end = __reduce_max_sync(all_lanes, last == latest ? end : 0);
      if (latest) sum.end = std::size_t(latest - 1) * S::elements + end;
    }
    return sum;
  }

  // Puts together what is selected of a warp's part of each tile, and writes it.
  __device__ void gather(unsigned warp) {
    T* const values = reinterpret_cast<T*>(memory + S::staged_begin + warp * S::staged_bytes);
    auto* const where = reinterpret_cast<std::uint16_t*>(memory + S::staged_begin + warp * S::staged_bytes +
                                                         S::values_bytes);  // in the warp's part
    Selected before_tile{to.behind ? *to.behind : 0, 0};
    for (unsigned turn = 0;; ++turn) {
      wait(shared.placed, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      if (tile == tiles) return;
      before_tile.count += shared.between[s].count;
      if (runs && shared.between[s].end) before_tile.end = shared.between[s].end;
      const std::size_t place = before_tile.count + shared.before_warp[s][warp];
      std::size_t last_end = before_tile.end;
      if (runs && shared.end_before_warp[s][warp])
        last_end = std::size_t(tile) * S::elements + shared.end_before_warp[s][warp];
      const std::size_t origin = std::size_t(tile) * S::elements + warp * S::of_warp;

      // 1. Together.
      unsigned bits[S::rows_out], before[S::rows_out];
#pragma unroll
      for (unsigned r = 0; r < S::rows_out; ++r) bits[r] = bits_of_pack(s, warp, r);
      const unsigned count = rank_rows<S::out>(bits, before);
      const unsigned shift = gives_values<O> ? misalignment(to.out.values + place) : 0;
      if (count > 0) {
        uint4 packs[S::rows_out];  // all on their way before the first is used
#pragma unroll
        for (unsigned r = 0; r < S::rows_out; ++r)
          if (gives_values<O> && bits[r]) packs[r] = pack_at(s, warp, r, bits[r], origin);
#pragma unroll
        for (unsigned r = 0; r < S::rows_out; ++r) {
          if constexpr (gives_values<O>) compact(bits[r], as_pack<T>(packs[r]), values + shift + before[r]);
          if constexpr (gives_positions<O>)
            compact_places<S::out>(bits[r], (r * warp_size + lane) * S::out, where + before[r]);
        }
      }
      __syncwarp();
      if (lane == 0) mbarrier_arrive(&shared.freed[s]);

      // 2. Out.
      if constexpr (gives_values<O>) put_values(to.out.values + place, values, count, lane, warp_size);
      const std::size_t first = origin - keys.begin;
      if constexpr (O::op == Op::find_repeats)
        for (unsigned k = lane; k < count; k += warp_size) to.out.positions.put(place + k, first + where[k] - 1);
      if constexpr (runs) {
        // A run's length is known where the next begins.
        for (unsigned k = lane; k < count; k += warp_size) {
          const std::size_t last = k > 0 ? origin + where[k - 1] + 1 : last_end;
          if (place + k > 0) to.out.positions.put(place + k - 1, origin + where[k] + 1 - last);
        }
      }
      if (tile + 1 == tiles && warp + 1 == S::gatherers && lane == 0) {
        if (to.out.count) *to.out.count = place + count;
        if (runs && place + count > 0)
          to.out.positions.put(place + count - 1, keys.end + 1 - (count ? origin + where[count - 1] + 1 : last_end));
      }
      __syncwarp();  // all lanes have written what the next tile overwrites
    }
  }

  // The bits of this lane's pack of row r of the elements: where flags select, of several of their packs' bits.
  __device__ unsigned bits_of_pack(unsigned s, unsigned warp, unsigned r) {
    const unsigned pack = (warp * S::rows_out + r) * warp_size + lane;
    if constexpr (S::out == S::size) return bits_at(s)[pack];
    const unsigned bit = pack * S::out;
    return bits_at(s)[bit / 16] >> bit % 16 & ((1u << S::out) - 1);
  }

  // The pack itself: from the ring, or where flags select, from memory.
  __device__ uint4 pack_at(unsigned s, unsigned warp, unsigned r, unsigned bits, std::size_t origin) {
    const unsigned first = (r * warp_size + lane) * S::out;
    if constexpr (O::op != Op::select_flagged) {
      return *reinterpret_cast<const uint4*>(keys_at(s) + warp * S::of_warp + first);
    } else {
      const std::size_t i = origin + first - keys.begin;
      if (i < in.n && in.n - i >= S::out && misalignment(in.values + i) == 0)
        return load_once(reinterpret_cast<const uint4*>(in.values + i));
      Pack<T> pack{};
#pragma unroll
      for (unsigned k = 0; k < S::out; ++k)
        if (bits >> k & 1) pack.item[k] = in.values[i + k];
      return raw(pack);
    }
  }
};

template <class T, class O>
__global__ void __launch_bounds__(TileShape<T, O>::threads, 1)
    pipeline_kernel(Input<T, O> in, Target<T> to, TaggedBoxes state, unsigned tiles) {
  using P = Pipeline<T, O>;
  using S = TileShape<T, O>;
  __shared__ typename P::Shared shared;
  const Aligned<Key<T, O>> keys(keys_of(in), in.n);
  unsigned first = 0;
  allow_next_launch();
  if (threadIdx.x == S::threads - warp_size) {  // the warp that fetches
    for (unsigned s = 0; s < P::stages; ++s) {
      mbarrier_init(&shared.fetched[s], warp_size);
      mbarrier_init(&shared.placed[s], 2 * warp_size);  // its bits and its place
      mbarrier_init(&shared.freed[s], S::gatherers);
    }
    // While the previous kernel ends, L2 gets the tile that this block will probably draw.
    const std::size_t probably = std::size_t(blockIdx.x) * S::elements;
    if (keys.has(probably, S::elements)) prefetch_l2(keys.base + probably, S::elements * sizeof(Key<T, O>));
    wait_for_previous();
    first = atomicAdd(state.counter(), 1u);  // in flight together with the next
    shared.call = TaggedBoxes::call(state.last());
  }
  __syncthreads();

  P pipeline{in, to, keys, dynamic_shared<unsigned char>(), shared, state, tiles};
  unsigned warp = threadIdx.x / warp_size;
  if (warp < S::gatherers) return pipeline.gather(warp);
  warp -= S::gatherers;
  if (warp < S::flaggers) return pipeline.flag(warp);
  warp -= S::flaggers;
  if (warp == 0) return pipeline.place(0);
  pipeline.fetch(first);
}

struct pipeline {
  static constexpr Story story{
      .idea = "one block a multiprocessor; its warps fetch, flag, place and gather different tiles at once",
      .prediction = "0.9 of the read ceiling when little is selected",
      .limits = "any n up to 2^32 tiles; fixed shape; up to 226 KB of shared memory a block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.n * sizeof(T) <= 1024 * 1024 && a.params.get("grid", 0) == 0) return vec16::run<T, O>(a);
    if constexpr (O::op == Op::partition_if)
      return by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) { return start<T, P>(a, in, to); });
    else
      return start<T, O>(a, a.in, Target<T>{a.out, nullptr, nullptr});
  }

 private:
  template <class T, class P, class O>
  static Status start(const Args<T, O>& a, const Input<T, P>& in, const Target<T>& to) {
    using S = TileShape<T, P>;
    const std::size_t all = ceil_div(Aligned<Key<T, P>>(keys_of(in), in.n).end, S::elements), tiles = all ? all : 1;
    const auto most = static_cast<std::size_t>(device_limits().multiprocessors);
    const auto grid = static_cast<unsigned>(a.params.get("grid", double(tiles < most ? tiles : most)));
    const TaggedBoxes state = scan::boxes_for<unsigned>(*a.workspace, tiles);
    if (!state.words) return no_memory;
    return launch(
        pipeline_kernel<T, P>,
        {.grid = grid, .block = S::threads, .shared_bytes = S::shared_bytes, .overlap = true, .stream = a.stream}, in,
        to, state, unsigned(tiles));
  }
};

}  // namespace upsweep::ladders::select
