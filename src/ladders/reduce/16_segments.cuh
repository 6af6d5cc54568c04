// reduce/segments: reduces each segment of equal length, such as the rows of a matrix, in one launch.
//
// Short segments: a block loads a tile of whole segments into shared memory, with 16-byte loads whatever the segments'
// length and alignment; then 1 to 32 lanes reduce each segment. Many segments of medium length: one warp per segment.
// Long segments, or few: one block per segment, or several if there are too few segments to fill the device; the last
// block of a segment collects the totals of the others, as in overlap.
//
// Traffic   one read of n elements, one write per segment.
// Order     fixed by n, segment length and the alignment of the input.
// Source    Sengupta, Harris, Zhang, Owens, Scan Primitives for GPU Computing, 2007 (segments); Merrill, CUB, 2013.
#pragma once
#include "base/threshold.h"
#include "kernel/rows.h"
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

// ---- short segments -------------------------------------------------------------------------------------------------

inline constexpr unsigned segments_block = 256, segments_packs = 4;  // threads per tile, loads per thread

// A tile in shared memory, with space for one more pack, because segments need not start at a pack boundary. A word of
// padding follows every 128 bytes, so that lanes whose segments are a power of two apart use different banks.
template <class T>
class SegmentTile {
 public:
  static constexpr unsigned packs = segments_block * segments_packs;
  static constexpr unsigned elements = packs * Pack<T>::size;

  __device__ __forceinline__ void put(unsigned pack, uint4 bytes) {
    Word words[words_per_pack];
    memcpy(words, &bytes, sizeof bytes);
#pragma unroll
    for (unsigned k = 0; k < words_per_pack; ++k) words_[padded(pack * words_per_pack + k)] = words[k];
  }
  __device__ __forceinline__ T get(unsigned element) const {
    constexpr unsigned per_word = sizeof(Word) / sizeof(T);
    T value;
    memcpy(&value,
           reinterpret_cast<const unsigned char*>(words_ + padded(element / per_word)) + element % per_word * sizeof(T),
           sizeof value);
    return value;
  }

 private:
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  static constexpr unsigned words_per_pack = 16 / sizeof(Word), words_per_line = 128 / sizeof(Word);
  static __device__ __forceinline__ unsigned padded(unsigned word) { return word + word / words_per_line; }

  Word words_[(packs + 1) * words_per_pack * (words_per_line + 1) / words_per_line + 1];
};

// Each block reduces `per_tile` segments; 2^log2_lanes lanes of one warp reduce each segment.
template <class T, class Op, class Out>
__global__ void __launch_bounds__(segments_block, min_blocks(segments_block,
                                                             resident_threads<segments_packs> / segments_block))
    short_segments_kernel(const T* in,  // [n]
                          Out* out,     // [ceil(n / length)]
                          std::size_t n, unsigned length, unsigned per_tile, unsigned log2_lanes, Op op,
                          Initial<Out, Op> initial) {
  using A = Accumulator<Out>;
  __shared__ SegmentTile<T> tile;
  allow_next_launch();
  wait_for_previous();

  // 1. Load the packs that contain the tile's segments.
  const Aligned<T> all(in, n);
  const std::size_t first_segment = std::size_t(blockIdx.x) * per_tile, begin = all.begin + first_segment * length;
  const unsigned count = unsigned(min(std::size_t(per_tile) * length, all.end - begin));
  const unsigned skipped = unsigned(begin % Pack<T>::size);
  const unsigned packs = ceil_div(skipped + count, Pack<T>::size);
  const auto load = [&](unsigned pack) {
    uint4 row[1];
    load_rows<Op>(all, begin - skipped + std::size_t(pack) * Pack<T>::size, row);
    return row[0];
  };
  uint4 bytes[segments_packs];
#pragma unroll
  for (unsigned k = 0; k < segments_packs; ++k)
    if (const unsigned pack = threadIdx.x + k * segments_block; pack < packs) bytes[k] = load(pack);
#pragma unroll
  for (unsigned k = 0; k < segments_packs; ++k)
    if (const unsigned pack = threadIdx.x + k * segments_block; pack < packs) tile.put(pack, bytes[k]);
  if (packs > SegmentTile<T>::packs && threadIdx.x == 0) tile.put(packs - 1, load(packs - 1));
  __syncthreads();

  // 2. Reduce the segments. All lanes of a warp run the same number of rounds, because the shuffles need all lanes.
  const unsigned lanes = 1u << log2_lanes, lane = threadIdx.x % lanes;
  const unsigned segments = ceil_div(count, length);
  for (unsigned round = 0; round < segments; round += segments_block >> log2_lanes) {
    const unsigned segment = round + (threadIdx.x >> log2_lanes);
    const unsigned end = min(segment * length + length, count);
    A total = Op::template neutral<A>();
    for (unsigned i = segment * length + lane; i < end; i += lanes) total = op(total, A(tile.get(skipped + i)));
    for (unsigned d = 1; d < lanes; d *= 2) total = op(total, shuffle_down(total, d));
    if (lane == 0 && segment < segments) out[first_segment + segment] = with_initial(total, count, op, initial);
  }
}

// ---- segments of medium length --------------------------------------------------------------------------------------

// Each warp reduces one segment, without shared memory or barriers: as soon as a warp ends, its place is free.
template <unsigned Block, unsigned InFlight, class T, class Op, class Out>
__global__ void __launch_bounds__(Block, min_blocks(Block, resident_threads<InFlight> / Block))
    warp_segments_kernel(const T* in,  // [n]
                         Out* out,     // [ceil(n / length)]
                         std::size_t n, unsigned length, unsigned segments, Op op, Initial<Out, Op> initial) {
  using A = Accumulator<Out>;
  allow_next_launch();
  wait_for_previous();
  const unsigned segment = blockIdx.x * (Block / warp_size) + threadIdx.x / warp_size;
  if (segment >= segments) return;
  const std::size_t begin = std::size_t(segment) * length, count = min(std::size_t(length), n - begin);
  const PackSplit<T> split(in + begin, count);
  const A total = warp_reduce(thread_sum<A, InFlight, Walk::warp>(split, in + begin, op), op);
  if (threadIdx.x % warp_size == 0) out[segment] = with_initial(total, count, op, initial);
}

// ---- long segments --------------------------------------------------------------------------------------------------

// `parts` consecutive blocks reduce one segment.
template <unsigned Block, unsigned InFlight, class T, class Op, class Out>
__global__ void __launch_bounds__(Block, min_blocks(Block, resident_threads<InFlight> / Block))
    long_segments_kernel(const T* in,                 // [n]
                         Out* out,                    // [ceil(n / length)]
                         unsigned long long* totals,  // [gridDim.x * words_per<A>], zero; unused for one part
                         std::size_t n, std::size_t length, unsigned parts, Op op, Initial<Out, Op> initial) {
  using A = Accumulator<Out>;
  allow_next_launch();
  const unsigned segment = blockIdx.x / parts, part = blockIdx.x % parts;
  const std::size_t begin = segment * length, count = min(length, n - begin);
  const PackSplit<T> split(in + begin, count);
  prefetch_rows<2>(split, steps_of_thread<Walk::shares>(split.packs, part, parts));
  wait_for_previous();
  A total = thread_sum<A, InFlight, Walk::shares>(split, in + begin, op, part, parts);
  if (collect(total, op, totals + std::size_t(segment) * parts * words_per<A>, part, parts))
    out[segment] = with_initial(total, count, op, initial);
}

// The segments that a warp each reduces. Minimum length, in elements: the threads of short_segments_kernel take a
// segment from the tile element by element, the lanes of a warp 16 bytes at a time. Minimum length, in bytes: with
// less, half of the lanes have a single load. Maximum: for longer segments, a block has as many loads in flight, and
// fewer places in memory are read at once. Segments per multiprocessor: with fewer warps, less is in flight than memory
// needs. 2^26 elements on an H200, times as fast as without warps: f32 segments of 256 0.78, of 400 1.04, of 2000 1.07,
// of 3000 1.02, of 8192 0.96; u8 segments of 1000 1.6; i64 segments of 520 1.4 (docs/notes/reduce.md).
inline constinit Threshold warp_min_elements{"warp_min_elements", 384, 48, {.min = 32}};
inline constinit Threshold warp_min_bytes{"warp_min_bytes", 768, 128};
inline constinit Threshold warp_max_bytes{"warp_max_bytes", 10 << 10, 1 << 10, {.max = 1 << 20}};
inline constinit Threshold warps_each{"warps_each", 8, 0};

// ---- the rung -------------------------------------------------------------------------------------------------------

struct segments {
  static constexpr Story story{
      .idea = "short segments from tiles in shared memory, longer ones by a warp, a block or several blocks each",
      .prediction = "nine tenths of the read ceiling from 2^26 elements on, whatever the segments' length",
      .guarantees = "same bits for the same n, segment length and alignment",
      .limits = "any n and segment length; fixed block size",
      .source = "Sengupta et al., Scan Primitives for GPU Computing, 2007"};
  static constexpr bool blocks_in_order = true;
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr bool takes_segments = true;
  static constexpr Threshold* thresholds[] = {&warp_min_elements, &warp_min_bytes, &warp_max_bytes, &warps_each};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t tile_bytes = SegmentTile<std::uint32_t>::packs * 16;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "segments chooses its own block size"};
    if (a.segments() == 0) return {};
    const std::size_t length = a.length() < a.n ? a.length() : a.n;
    if (takes_warps(length, length * sizeof(T), a.segments())) return run_warps(a, static_cast<unsigned>(length));
    // Segments are short if a tile holds at least four: with fewer, too much of the tile could stay empty. But if there
    // are no more segments than multiprocessors, a block per segment is faster, provided that a segment has a load for
    // more than half of the block's threads.
    const bool fits = length > 0 && length <= SegmentTile<T>::elements / 4;
    const bool is_few = a.segments() <= multiprocessors() && length * sizeof(T) > shortest_alone;
    if (fits && !is_few) return run_short(a, static_cast<unsigned>(length));
    return run_long(a, length);
  }

 private:
  static constexpr std::size_t shortest_alone = 64 * 16;  // bytes: one 16-byte load for each thread of two warps

  static std::size_t multiprocessors() { return static_cast<std::size_t>(machine().multiprocessors); }

  static bool takes_warps(std::size_t length, std::size_t bytes, std::size_t segments) {
    return length >= warp_min_elements && bytes >= warp_min_bytes && bytes <= warp_max_bytes &&
           segments > warps_each * multiprocessors();
  }

  template <class T, class Op, class Out>
  static Status run_warps(const Args<T, Op, Out>& a, unsigned length) {
    const auto segments = static_cast<unsigned>(a.segments());
    return launch(warp_segments_kernel<segment_block, segment_loads, T, Op, Out>,
                  {.grid = ceil_div(segments, segment_block / warp_size),
                   .block = segment_block,
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.out, a.n, length, segments, a.op, a.initial);
  }

  template <class T, class Op, class Out>
  static Status run_short(const Args<T, Op, Out>& a, unsigned length) {
    // Full tiles; smaller ones if there would be fewer full tiles than multiprocessors.
    const std::size_t share = ceil_div(a.segments(), a.tuning.grid_or(multiprocessors()));
    const unsigned full = SegmentTile<T>::elements / length;
    const unsigned per_tile = share < full ? static_cast<unsigned>(share) : full;
    // As many lanes per segment as keep all threads busy, at most a warp.
    unsigned log2_lanes = 0;
    while (log2_lanes < 5 && (per_tile << (log2_lanes + 1)) <= segments_block) ++log2_lanes;
    return launch(short_segments_kernel<T, Op, Out>,
                  {.grid = static_cast<unsigned>(ceil_div(a.segments(), per_tile)),
                   .block = segments_block,
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.out, a.n, length, per_tile, log2_lanes, a.op, a.initial);
  }

  // Small blocks with many loads in flight: as soon as one ends, another becomes resident. On an H200, the fastest of
  // five shapes at 2^24 elements, and within 3 % of the fastest at 2^27 (docs/notes/reduce.md).
  static constexpr unsigned segment_block = 128, segment_loads = 8;

  template <class T, class Op, class Out>
  static Status run_long(const Args<T, Op, Out>& a, std::size_t length) {
    // Enough parts for a grid of four times the resident blocks, so that little is idle while the last blocks end; but
    // parts of about 32 KiB or more, because collecting one total takes about as long as reducing 32 KiB.
    const std::size_t resident = multiprocessors() * (resident_threads<segment_loads> / segment_block);
    const std::size_t wanted = ceil_div(4 * resident, a.segments());
    const std::size_t most = ceil_div(length * sizeof(T), std::size_t{32} << 10);
    const std::size_t parts = wanted < most ? wanted : most > 0 ? most : 1;
    const auto grid = static_cast<unsigned>(a.segments() * parts);
    unsigned long long* const totals = parts > 1 ? mailboxes<Accumulator<Out>>(a, grid) : nullptr;
    if (parts > 1 && !totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(long_segments_kernel<segment_block, segment_loads, T, Op, Out>,
                  {.grid = grid, .block = segment_block, .overlap = true, .stream = a.stream}, a.in, a.out, totals, a.n,
                  length, static_cast<unsigned>(parts), a.op, a.initial);
  }
};

}  // namespace upsweep::ladders::reduce
