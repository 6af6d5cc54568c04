// select/pipeline: warp-specialised like scan/pipeline; tiles pass from role to role.
//
//   fetch    claims the next tile and starts the bulk copy of its keys as soon as a slot of the ring is free;
//   flag     evaluates the selection for a tile, stores it as bits and counts them;
//   publish  publishes that count to the other blocks;
//   place    sums the counts of the tiles since the block's previous tile, which gives the tile's offset in the output;
//   gather   loads the selected elements into registers, compacts them once the offset is known, and writes them: a
//            group of warps per tile.
// Waits cannot be circular: a tile's count depends on the input alone, never on another tile's offset. While selected
// elements wait in registers for their offset, the tile's slot is refilled. With flags, only the flags pass through the
// ring; elements are loaded directly from global memory, and only the packs that contain a selected element.
//
// Traffic   n reads by bulk copies, one more pack per tile; the selected elements written, 16 bytes at a time; per
//           tile, one word of counts written and read by every block (132 on an H200).
// Order     preserved.
// Source    as scan/pipeline, after Merrill and Garland, decoupled look-back, 2016.
#pragma once
#include "ladders/select/choose.h"
#include "ladders/select/passes.cuh"
#include "ladders/select/shape.cuh"

namespace upsweep::ladders::select {

template <class S, class T, class O>
struct SelectJobs {
  using K = Key<T, O>;
  static constexpr unsigned stages = S::stages, held = S::held, records = S::records, parts = S::parts;
  // True if keys are read again after their bits are known.
  static constexpr bool keys_kept = writes_values<O> && !reads_flags<O>;
  static constexpr bool runs = writes_lengths<O>;
  struct Shared {
    typename S::Pipeline::Shared ring;
    std::uint64_t flagged[held], gathered[held];                      // mbarriers for a tile's bits
    std::uint64_t counted[records], placed[records];                  // mbarriers for lane 0's writes
    Selected<std::size_t> between[records];                           // over tiles [last_tile, tile)
    alignas(16) unsigned count[records][parts], end[records][parts];  // per part of the tile
  };

  typename S::Pipeline pipeline;
  const Input<T, O>& in;
  const Target<T>& to;
  const Aligned<K>& keys;
  unsigned char* memory;  // [S::shared_bytes], shared
  Shared& shared;
  unsigned lane = threadIdx.x % warp_size;

  __device__ K* slot(unsigned step) const {
    return reinterpret_cast<K*>(memory + step % stages * S::slot_bytes + S::before_slot);
  }

  __device__ typename S::Bits* bits_at(unsigned step) const {
    return reinterpret_cast<typename S::Bits*>(memory + S::bits_begin) + step % held * S::bits_of_tile;
  }

  __device__ void prepare() {
    init_barriers(shared.flagged, parts * warp_size);
    init_barriers(shared.gathered, parts * warp_size);
    init_barriers(shared.counted, parts);
    init_barriers(shared.placed, 2);  // arrivals by publish() and place()
    prefetch_first_tile(keys, S::elements);
  }

  __device__ void fetch(unsigned step, unsigned tile) {
    fetch_packs(keys, std::size_t(tile) * S::elements, S::elements, S::halo, K{}, slot(step),
                &shared.ring.fetched[step % stages]);
  }

  // Computes the bits of this part in every tile.
  __device__ void flag(unsigned part) {
    for (unsigned step = 0, ends = 0; ends < S::groups; ++step) {
      wait_step(shared.ring.fetched, step);
      const unsigned record = step % records, tile = shared.ring.tile[record];
      if (tile < pipeline.tiles) {
        const K* const mine = slot(step) + part * S::of_warp;
        const K left = sees_neighbour<O> && lane == 0 ? mine[-1] : K{};
        uint4 rows[S::rows];
        unsigned bits[S::rows], count = 0;
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r) rows[r] = reinterpret_cast<const uint4*>(mine)[r * warp_size + lane];
        if constexpr (!keys_kept) mbarrier_arrive(&shared.ring.freed[step % stages]);
        bits_of_rows<S::rows, T, O>(in, keys, std::size_t(tile) * S::elements + part * S::of_warp, rows, left, bits);
        if (step >= held) wait_step(shared.gathered, step - held);
#pragma unroll
        for (unsigned r = 0; r < S::rows; ++r) {
          bits_at(step)[(part * S::rows + r) * warp_size + lane] = static_cast<typename S::Bits>(bits[r]);
          count += __popc(bits[r]);
        }
        count = warp_reduce(count, Sum{});
        if (lane == 0) shared.count[record][part] = count;
        if constexpr (runs) {
          const unsigned end = end_of_rows<S::size>(bits, part * S::of_warp + lane * S::size);  // position in the tile
          if (lane == 0) shared.end[record][part] = end;
        }
      } else {
        ++ends;  // one end step per group
        if (step >= held) wait_step(shared.gathered, step - held);
      }
      mbarrier_arrive(&shared.flagged[step % held]);
      if (lane == 0) mbarrier_arrive(&shared.counted[record]);
    }
  }

  // Publishes every tile's count, from one lane.
  __device__ void publish() {
    if (lane > 0) return;
    pipeline.for_each_tile(shared.counted, 0, 1, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned record = step % records;
      unsigned count = 0, end = 0;
#pragma unroll
      for (unsigned part = 0; part < parts; ++part) {
        count += shared.count[record][part];
        if (runs && shared.end[record][part]) end = shared.end[record][part];
      }
      store_tagged(pipeline.descriptors.array() + tile, shared.ring.epoch, count | end << 16);
      mbarrier_arrive(&shared.placed[record]);
    });
  }

  // For every tile, sums the counts since this block's previous tile. Starts once the tile is counted: before that, few
  // earlier tiles have been published, and polling would only delay other traffic.
  __device__ void place() {
    for (unsigned step = 0;; ++step) {
      const unsigned record = step % records;
      unsigned tile = 0, last = 0;  // only lane 0 reads the record, so only lane 0 arrives
      if (lane == 0) {
        wait_step(shared.counted, step);
        tile = shared.ring.tile[record], last = shared.ring.last_tile[record];
      }
      tile = __shfl_sync(all_lanes, tile, 0);
      if (tile == pipeline.tiles) return;
      const Selected<std::size_t> sum = selected_between(__shfl_sync(all_lanes, last, 0), tile);
      if (lane > 0) continue;
      shared.between[record] = sum;
      mbarrier_arrive(&shared.placed[record]);
    }
  }
  // Like total_between(), for words that hold a count and an end.
  __device__ Selected<std::size_t> selected_between(unsigned from, unsigned to) {
    constexpr unsigned each = polls_per_lane;
    Selected<std::size_t> sum{};
    for (; from < to; from += each * warp_size) {
      const LaneTiles<each> tiles(from, to);
      unsigned words[each], count = 0, end = 0, last = 0;
      wait_tagged<each>(pipeline.descriptors.array(), shared.ring.epoch, tiles, words);
      __syncwarp();
#pragma unroll
      for (unsigned k = 0; k < each; ++k) {
        if (!tiles.has(k)) continue;
        count += words[k] & 0xffff;
        if (words[k] >> 16) end = words[k] >> 16, last = tiles(k) + 1;
      }
      sum.count += warp_reduce_all(count, Sum{});
      if (!runs) continue;
      const unsigned latest = warp_reduce_all(last, Max{});
      end = warp_reduce_all(last == latest ? end : 0, Max{});
      if (latest) sum.end = std::size_t(latest - 1) * S::elements + end;
    }
    return sum;
  }

  // Compacts and writes this part of every tile of one group.
  __device__ void gather(unsigned group, unsigned part) {
    unsigned char* const staged = memory + S::staged_begin + (group * parts + part) * S::staged_bytes;
    T* const values = reinterpret_cast<T*>(staged);
    auto* const where = reinterpret_cast<std::uint16_t*>(staged + S::values_bytes);  // positions in this part
    Selected<std::size_t> before{to.written ? *to.written : 0, 0};
    unsigned placed = 0;  // steps that `before` includes
    pipeline.for_each_tile(shared.flagged, group, S::groups, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned record = step % records;

      // 1. Load the bits, and the packs with selected elements; rank the bits.
      const std::size_t origin = std::size_t(tile) * S::elements + part * S::of_warp;
      unsigned bits[S::rows_out], ranks[S::rows_out];
      uint4 packs[S::rows_out];
#pragma unroll
      for (unsigned r = 0; r < S::rows_out; ++r) bits[r] = bits_of_pack(step, part, r);
      if constexpr (writes_values<O>) {
#pragma unroll
        for (unsigned r = 0; r < S::rows_out; ++r)
          if (bits[r]) packs[r] = pack_at(step, part, r, bits[r], origin);
      }
      mbarrier_arrive(&shared.gathered[step % held]);
      if (keys_kept) mbarrier_arrive(&shared.ring.freed[step % stages]);
      const unsigned count = rank_rows<S::out>(bits, ranks);

      // 2. Wait for the offset.
      for (; placed <= step; ++placed) {
        wait_step(shared.placed, placed);
        const Selected<std::size_t>& between = shared.between[placed % records];
        before.count += between.count;
        if (runs && between.end) before.end = between.end;
      }
      std::size_t offset = before.count, last_end = before.end;
      for (unsigned p = 0; p < part; ++p) {
        offset += shared.count[record][p];
        if (runs && shared.end[record][p]) last_end = std::size_t(tile) * S::elements + shared.end[record][p];
      }

      // 3. Compact and write.
      if (count > 0) {
        const unsigned shift = writes_values<O> ? misalignment(to.out.values + offset) : 0;
        if (writes_values<O> && !needs_positions<O> && count == S::rows_out * warp_size * S::out && shift == 0) {
          // All elements are selected, and the output is 16-byte aligned: store straight from registers.
#pragma unroll
          for (unsigned r = 0; r < S::rows_out; ++r)
            store_whole(reinterpret_cast<uint4*>(to.out.values + offset) + r * warp_size + lane, packs[r]);
        } else {
#pragma unroll
          for (unsigned r = 0; r < S::rows_out; ++r) {
            if constexpr (writes_values<O>) compact(bits[r], as_pack<T>(packs[r]), values + shift + ranks[r]);
            if constexpr (needs_positions<O>)
              compact_positions<S::out>(bits[r], (r * warp_size + lane) * S::out, where + ranks[r]);
          }
          __syncwarp();
          if constexpr (writes_values<O>) put_values(to.out.values + offset, values, count, lane, warp_size);
          if constexpr (needs_positions<O>) put_positions(offset, where, count, origin, last_end);
        }
      }
      if (tile + 1 == pipeline.tiles && part + 1 == parts && lane == 0) {
        if (to.out.count) *to.out.count = offset + count;
        if (runs && offset + count > 0)
          to.out.positions.put(offset + count - 1, keys.end - (count ? origin + where[count - 1] : last_end - 1));
      }
      __syncwarp();  // the next tile overwrites the staging memory
    });
  }

  // Writes the positions of this part's selected elements or, if these are the starts of runs, the lengths of the runs
  // before them: a run's length is known where the next run begins.
  __device__ void put_positions(std::size_t offset, const std::uint16_t* where, unsigned count, std::size_t origin,
                                std::size_t last_end) {
    to.out.positions.visit([&]<class P>(P* out) {
      if constexpr (writes_positions<O>) {
        const std::size_t first = origin - bit_lag<O> - keys.begin;
        for (unsigned k = lane; k < count; k += warp_size) out[offset + k] = static_cast<P>(first + where[k]);
      } else {
        const P before = static_cast<P>(last_end - 1 - origin);  // previous run's start, relative to `origin`; may wrap
        for (unsigned k = offset + lane > 0 ? lane : warp_size; k < count; k += warp_size)
          out[offset + k - 1] = where[k] - (k > 0 ? where[k - 1] : before);
      }
    });
  }

  // Returns the bits of this lane's pack in row r. With flags, a pack of keys covers several packs of elements.
  __device__ unsigned bits_of_pack(unsigned step, unsigned part, unsigned r) {
    const unsigned pack = (part * S::rows_out + r) * warp_size + lane;
    if constexpr (S::out == S::size) return bits_at(step)[pack];
    const unsigned bit = pack * S::out;
    return bits_at(step)[bit / 16] >> bit % 16 & ((1u << S::out) - 1);
  }

  // Loads this lane's pack in row r, from the ring or, with flags, from memory.
  __device__ uint4 pack_at(unsigned step, unsigned part, unsigned r, unsigned bits, std::size_t origin) {
    const unsigned first = (r * warp_size + lane) * S::out;
    if constexpr (!reads_flags<O>) {
      return *reinterpret_cast<const uint4*>(slot(step) + part * S::of_warp + first);
    } else {
      const T* const values = in.values - keys.begin;  // element at position 0; all packs have the same alignment
      const std::size_t position = origin + first;
      if (keys.has(position, S::out) && misalignment(values) == 0)
        return load_once(reinterpret_cast<const uint4*>(values + position));
      Pack<T> pack{};
#pragma unroll
      for (unsigned k = 0; k < S::out; ++k)
        if (bits >> k & 1) pack.item[k] = values[position + k];
      return raw(pack);
    }
  }
};

template <class S, class T, class O>
__global__ void __launch_bounds__(S::threads, 1)
    pipeline_kernel(Input<T, O> in, Target<T> to, Descriptors descriptors, unsigned tiles) {
  using Jobs = SelectJobs<S, T, O>;
  __shared__ typename Jobs::Shared shared;
  const Aligned<Key<T, O>> keys(keys_of(in), in.n);
  Jobs jobs{{shared.ring, descriptors, tiles}, in, to, keys, dynamic_shared<unsigned char>(), shared};
  jobs.pipeline.run([&] { jobs.prepare(); }, [&](unsigned step, unsigned tile) { jobs.fetch(step, tile); }, tiles,
                    role<S::parts * S::groups>([&](unsigned warp) { jobs.gather(warp / S::parts, warp % S::parts); }),
                    role<S::parts>([&](unsigned warp) { jobs.flag(warp); }), role<1>([&](unsigned) { jobs.publish(); }),
                    role<1>([&](unsigned) { jobs.place(); }));
}

struct pipeline {
  static constexpr Needs needs = pipeline_needs;
  static constexpr Story story{
      .idea = "one block per multiprocessor; its warps fetch, flag, place and gather different tiles at once",
      .prediction = "0.9 of the read ceiling if few elements are selected",
      .limits = "any n up to 2^32 tiles; fixed shape; up to 227 KB of shared memory per block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t ring_bytes = 8 * (32 << 10);  // the ring of bits, which wraps later than that of keys

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes(
        a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) { return start<SelectShape<T, P>>(a, in, to); });
  }

  template <class S, class T, class P, class O>
  static Status start(const Args<T, O>& a, const Input<T, P>& in, const Target<T>& to) {
    const std::size_t all = ceil_div(Aligned<Key<T, P>>(keys_of(in), in.n).end, S::elements), tiles = all ? all : 1;
    const Descriptors descriptors = descriptors_for<unsigned>(*a.workspace, tiles);
    if (!descriptors.words) return no_memory;
    return launch_pipeline<S>(pipeline_kernel<S, T, P>, a, tiles, in, to, descriptors, unsigned(tiles));
  }
};

}  // namespace upsweep::ladders::select
