// select/pipeline: every warp has one job, and tiles pass from job to job, as in scan/pipeline.
//
//   fetch    draws the next tile's number and starts the bulk copy of its keys, as soon as a place in the ring is free;
//   flag     finds what is selected of a tile, leaves it as bits, and counts it;
//   tell     tells every other block how much that is, as soon as it is known;
//   place    adds up what is selected of the tiles between its block's last tile and this one: the tile's place;
//   gather   groups of warps, each with a tile of its own: they take what is selected into registers, put it together
//            when the place is known, and write it.
// Nobody waits for a place that is itself waited for, and nothing that is waited for waits for a place: tiles are
// counted as soon as they are there, and while they wait for their places, in registers, their room is filled again. Of
// elements selected by flags, only those packs are read that have a flag.
//
// Traffic   n reads by bulk copies, one pack more a tile; what is selected written, 16 bytes at a time; 132 words of
//           counts a tile.
// Order     preserved.
// Source    as scan/pipeline, after Merrill and Garland, decoupled look-back, 2016.
#pragma once
#include "select/05_vec16.cuh"
#include "select/shape.cuh"

namespace upsweep::ladders::select {

// How many of some neighbouring tiles are selected, and behind which position the last of them is (0: none).
struct Selected {
  std::size_t count, end;
};

template <class S, class T, class O>
struct Pipeline {
  using K = Key<T, O>;
  static constexpr unsigned stages = S::stages, held = S::held, notes = S::notes, parts = S::parts;
  // Whether keys are looked at again once their bits are known.
  static constexpr bool keys_kept = gives_values<O> && O::op != Op::select_flagged;
  static constexpr bool runs = O::op == Op::run_length_encode;
  // Of mbarriers. As in scan's ring every lane arrives for itself; `counted` and `placed` are for what lane 0 wrote.
  struct Shared {
    std::uint64_t fetched[stages], freed[stages];     // places in the ring
    std::uint64_t flagged[held], gathered[held];      // places of bits
    std::uint64_t counted[notes], placed[notes];      // turns
    unsigned tile[notes], last_tile[notes];           // in this turn and the one before; `tiles`: the end
    Selected between[notes];                          // of tiles [last_tile, tile)
    unsigned count[notes][parts], end[notes][parts];  // of the tile's parts
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

  template <unsigned Count>
  static __device__ void wait(std::uint64_t (&barriers)[Count], unsigned turn) {
    mbarrier_wait(&barriers[turn % Count], turn / Count % 2);
  }
  __device__ K* slot(unsigned turn) const {
    return reinterpret_cast<K*>(memory + turn % stages * S::slot_bytes + S::before_slot);
  }

  __device__ typename S::Bits* bits_at(unsigned turn) const {
    return reinterpret_cast<typename S::Bits*>(memory + S::bits_begin) + turn % held * S::bits_of_tile;
  }

  // Draws tiles and has them copied. Every block draws one number past the end; who draws the last of them leaves
  // things as they should be.
  __device__ void fetch(unsigned first) {
    unsigned next = __shfl_sync(all_lanes, first, 0), last = 0, ends = 0;
    for (unsigned turn = 0; ends < S::groups; ++turn) {
      if (turn >= stages) wait(shared.freed, turn - stages);
      const unsigned tile = next < tiles ? next : tiles;
      // The next number is drawn while this tile is on its way.
      const unsigned drawn = tile < tiles && lane == 0 ? atomicAdd(state.counter(), 1u) : next;
      if (lane == 0) {
        shared.tile[turn % notes] = tile;
        shared.last_tile[turn % notes] = last;
      }
      std::uint64_t* const arrived = &shared.fetched[turn % stages];
      if (tile < tiles) {
        scan::copy_packs(keys, std::size_t(tile) * S::elements, S::elements, S::halo, K{}, slot(turn), arrived);
      } else {
        ++ends;
        mbarrier_arrive(arrived);
      }
      last = tile;
      next = __shfl_sync(all_lanes, drawn, 0);
    }
    if (lane == 0 && next == tiles + gridDim.x - 1) {
      *state.counter() = 0;
      state.end(shared.call, tiles);
    }
  }

  // Finds the bits of this part of every tile.
  __device__ void flag(unsigned part) {
    for (unsigned turn = 0, ends = 0; ends < S::groups; ++turn) {
      wait(shared.fetched, turn);
      const unsigned note = turn % notes, tile = shared.tile[note];
      if (tile < tiles) {
        const K* const mine = slot(turn) + part * S::of_warp;
        const K left = sees_neighbour<O> && lane == 0 ? mine[-1] : K{};
        uint4 rows[S::rows];
        unsigned bits[S::rows], count = 0, end = 0;  // `end` in the tile
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r) rows[r] = reinterpret_cast<const uint4*>(mine)[r * warp_size + lane];
        if constexpr (!keys_kept) mbarrier_arrive(&shared.freed[turn % stages]);
        bits_of_rows<S::rows, T, O>(in, keys, std::size_t(tile) * S::elements + part * S::of_warp, rows, left, bits);
        if (turn >= held) wait(shared.gathered, turn - held);
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r) {
          bits_at(turn)[(part * S::rows + r) * warp_size + lane] = static_cast<typename S::Bits>(bits[r]);
          count += __popc(bits[r]);
          if (runs && bits[r]) end = part * S::of_warp + (r * warp_size + lane) * S::size + (32 - __clz(int(bits[r])));
        }
        count = __reduce_add_sync(all_lanes, count);
        if (runs) end = __reduce_max_sync(all_lanes, end);
        if (lane == 0) {
          shared.count[note][part] = count;
          if (runs) shared.end[note][part] = end;
        }
      } else {
        ++ends;  // one for each group to see
        if (turn >= held) wait(shared.gathered, turn - held);
      }
      mbarrier_arrive(&shared.flagged[turn % held]);
      if (lane == 0) mbarrier_arrive(&shared.counted[note]);
    }
  }

  // Tells every other block how many are selected of a tile. By one lane.
  __device__ void tell() {
    if (lane > 0) return;
    for (unsigned turn = 0;; ++turn) {
      wait(shared.counted, turn);
      const unsigned note = turn % notes, tile = shared.tile[note];
      if (tile == tiles) return;
      unsigned count = 0, end = 0;
#pragma unroll
      for (unsigned part = 0; part < parts; ++part) {
        count += shared.count[note][part];
        if (runs && shared.end[note][part]) end = shared.end[note][part];
      }
      put_tagged(state.boxes() + tile, shared.call, count | end << 16);
      mbarrier_arrive(&shared.placed[note]);
    }
  }

  // Adds up what is selected since this block's last tile. Not before this tile is counted: those before it will hardly
  // be, and polls are in everybody's way.
  __device__ void place() {
    for (unsigned turn = 0;; ++turn) {
      const unsigned note = turn % notes;
      unsigned tile = 0, last = 0;  // lane 0 reads them, and so it alone arrives
      if (lane == 0) {
        wait(shared.counted, turn);
        tile = shared.tile[note], last = shared.last_tile[note];
      }
      tile = __shfl_sync(all_lanes, tile, 0);
      if (tile == tiles) return;
      const Selected sum = take(__shfl_sync(all_lanes, last, 0), tile);
      if (lane > 0) continue;
      shared.between[note] = sum;
      mbarrier_arrive(&shared.placed[note]);
    }
  }
  // As scan's take_totals(), of words that hold a count and an end.
  __device__ Selected take(unsigned from, unsigned to) {
    constexpr unsigned each = scan::many_totals;
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

  // The tiles of one group, for the warp that has this part of each.
  __device__ void gather(unsigned group, unsigned part) {
    unsigned char* const staged = memory + S::staged_begin + (group * parts + part) * S::staged_bytes;
    T* const values = reinterpret_cast<T*>(staged);
    auto* const where = reinterpret_cast<std::uint16_t*>(staged + S::values_bytes);  // in this part
    Selected before{to.behind ? *to.behind : 0, 0};
    unsigned placed = 0;  // turns
    for (unsigned turn = group;; turn += S::groups) {
      // 1. From the ring: bits, ranks, what is selected.
      wait(shared.flagged, turn);
      const unsigned note = turn % notes, tile = shared.tile[note];
      if (tile == tiles) return;
      const std::size_t origin = std::size_t(tile) * S::elements + part * S::of_warp;
      unsigned bits[S::rows_out], ranks[S::rows_out];
      uint4 packs[S::rows_out];
#pragma unroll
      for (unsigned r = 0; r < S::rows_out; ++r) bits[r] = bits_of_pack(turn, part, r);
      if constexpr (gives_values<O>) {
#pragma unroll
        for (unsigned r = 0; r < S::rows_out; ++r)
          if (bits[r]) packs[r] = pack_at(turn, part, r, bits[r], origin);
      }
      mbarrier_arrive(&shared.gathered[turn % held]);
      if (keys_kept) mbarrier_arrive(&shared.freed[turn % stages]);
      const unsigned count = rank_rows<S::out>(bits, ranks);

      // 2. The place.
      for (; placed <= turn; ++placed) {
        wait(shared.placed, placed);
        const Selected& between = shared.between[placed % notes];
        before.count += between.count;
        if (runs && between.end) before.end = between.end;
      }
      std::size_t place = before.count, last_end = before.end;
      for (unsigned p = 0; p < part; ++p) {
        place += shared.count[note][p];
        if (runs && shared.end[note][p]) last_end = std::size_t(tile) * S::elements + shared.end[note][p];
      }

      // 3. Together, and out.
      if (count > 0) {
        const unsigned shift = gives_values<O> ? misalignment(to.out.values + place) : 0;
        if (gives_values<O> && !gives_positions<O> && count == S::rows_out * warp_size * S::out && shift == 0) {
          // All of it, and it lands as it lies: from the registers.
#pragma unroll
          for (unsigned r = 0; r < S::rows_out; ++r)
            store_whole(reinterpret_cast<uint4*>(to.out.values + place) + r * warp_size + lane, packs[r]);
        } else {
#pragma unroll
          for (unsigned r = 0; r < S::rows_out; ++r) {
            if constexpr (gives_values<O>) compact(bits[r], as_pack<T>(packs[r]), values + shift + ranks[r]);
            if constexpr (gives_positions<O>)
              compact_places<S::out>(bits[r], (r * warp_size + lane) * S::out, where + ranks[r]);
          }
          __syncwarp();
          if constexpr (gives_values<O>) put_values(to.out.values + place, values, count, lane, warp_size);
          if constexpr (gives_positions<O>) put_positions(place, where, count, origin, last_end);
        }
      }
      if (tile + 1 == tiles && part + 1 == parts && lane == 0) {
        if (to.out.count) *to.out.count = place + count;
        if (runs && place + count > 0)
          to.out.positions.put(place + count - 1, keys.end - (count ? origin + where[count - 1] : last_end - 1));
      }
      __syncwarp();  // all lanes have written what the next tile overwrites
    }
  }

  __device__ void put_positions(std::size_t place, const std::uint16_t* where, unsigned count, std::size_t origin,
                                std::size_t last_end) {
    for (unsigned k = lane; k < count; k += warp_size) {
      const std::size_t position = origin + where[k];
      if constexpr (O::op == Op::find_repeats) {
        to.out.positions.put(place + k, position - 1 - keys.begin);
      } else {  // a run's length is known where the next begins
        const std::size_t last = k > 0 ? origin + where[k - 1] : last_end - 1;
        if (place + k > 0) to.out.positions.put(place + k - 1, position - last);
      }
    }
  }

  // The bits of this lane's pack of row r of the elements: where flags select, of several of their packs' bits.
  __device__ unsigned bits_of_pack(unsigned turn, unsigned part, unsigned r) {
    const unsigned pack = (part * S::rows_out + r) * warp_size + lane;
    if constexpr (S::out == S::size) return bits_at(turn)[pack];
    const unsigned bit = pack * S::out;
    return bits_at(turn)[bit / 16] >> bit % 16 & ((1u << S::out) - 1);
  }

  // The pack itself: from the ring, or where flags select, from memory.
  __device__ uint4 pack_at(unsigned turn, unsigned part, unsigned r, unsigned bits, std::size_t origin) {
    const unsigned first = (r * warp_size + lane) * S::out;
    if constexpr (O::op != Op::select_flagged) {
      return *reinterpret_cast<const uint4*>(slot(turn) + part * S::of_warp + first);
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

template <class S, class T, class O>
__global__ void __launch_bounds__(S::threads, 1)
    pipeline_kernel(Input<T, O> in, Target<T> to, TaggedBoxes state, unsigned tiles) {
  using P = Pipeline<S, T, O>;
  __shared__ typename P::Shared shared;
  const Aligned<Key<T, O>> keys(keys_of(in), in.n);
  unsigned first = 0;
  allow_next_launch();
  if (threadIdx.x == S::threads - warp_size) {  // the warp that fetches
    for (unsigned s = 0; s < P::stages; ++s) {
      mbarrier_init(&shared.fetched[s], warp_size);
      mbarrier_init(&shared.freed[s], P::parts * warp_size);
    }
    for (unsigned h = 0; h < P::held; ++h) {
      mbarrier_init(&shared.flagged[h], P::parts * warp_size);
      mbarrier_init(&shared.gathered[h], P::parts * warp_size);
    }
    for (unsigned note = 0; note < P::notes; ++note) {
      mbarrier_init(&shared.counted[note], P::parts);
      mbarrier_init(&shared.placed[note], 2);  // those that tell and place
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
  constexpr unsigned gathering = S::parts * S::groups;
  if (warp < gathering) return pipeline.gather(warp / S::parts, warp % S::parts);
  warp -= gathering;
  if (warp < S::parts) return pipeline.flag(warp);
  warp -= S::parts;
  if (warp == 0) return pipeline.tell();
  if (warp == 1) return pipeline.place();
  pipeline.fetch(first);
}

struct pipeline {
  static constexpr Story story{
      .idea = "one block a multiprocessor; its warps fetch, flag, place and gather different tiles at once",
      .prediction = "0.9 of the read ceiling when little is selected",
      .limits = "any n up to 2^32 tiles; fixed shape; up to 227 KB of shared memory a block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  // Bytes up to which vec16 is faster, or as fast. At 2^17 to 2^21 elements of 1, 2, 4 and 8 bytes on an H200, by
  // powers of two (results/h200/select-small.jsonl), the other is nowhere more than 13 % faster.
  template <class T, class O>
  static constexpr std::size_t most_for_vec16 =
      O::op == Op::select_flagged || O::op == Op::run_length_encode ? 256 << 10 : (sizeof(T) == 1 ? 1 : 2) << 20;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.n * sizeof(T) <= most_for_vec16<T, O> && a.params.get("grid", 0) == 0) return vec16::run<T, O>(a);
    if constexpr (O::op == Op::partition_if)
      return by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) { return start<T, P>(a, in, to); });
    else
      return start<T, O>(a, a.in, Target<T>{a.out, nullptr, nullptr});
  }

 private:
  template <class T, class P, class O>
  static Status start(const Args<T, O>& a, const Input<T, P>& in, const Target<T>& to) {
    using S = PipelineShape<T, P>;
    const std::size_t all = ceil_div(Aligned<Key<T, P>>(keys_of(in), in.n).end, S::elements), tiles = all ? all : 1;
    const auto grid = static_cast<unsigned>(a.params.get("grid", resident_blocks(tiles)));
    const TaggedBoxes state = scan::boxes_for<unsigned>(*a.workspace, tiles);
    if (!state.words) return no_memory;
    return launch(
        pipeline_kernel<S, T, P>,
        {.grid = grid, .block = S::threads, .shared_bytes = S::shared_bytes, .overlap = true, .stream = a.stream}, in,
        to, state, unsigned(tiles));
  }
};

}  // namespace upsweep::ladders::select
