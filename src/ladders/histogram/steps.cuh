// Reads samples in steps. A step is 32 packs of 16 bytes from one row, one per lane of a warp.
#pragma once
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/shared_counts.cuh"

namespace upsweep::ladders::histogram {

// One block per multiprocessor. Each thread loads packs_at_once packs while it counts the previous ones, so that a
// block has 64 KB in flight, 32 KB for byte samples. Bandwidth times latency is 28 KB per multiprocessor (35 bytes per
// ns, 0.8 us). With byte samples, more than two packs would exceed a thread's 64 registers.
inline constexpr unsigned steps_block = 1024;
template <class T>
inline constexpr unsigned packs_at_once = sizeof(T) == 1 ? 2 : 4;

// Steps [from, to).
struct StepRange {
  unsigned from, to;
};

// The steps of a call's samples. Step numbers have 32 bits, because a call of a rung has fewer than 2^32 samples; that
// halves their registers.
template <class T>
struct Steps {
  unsigned per_row, count;

  explicit Steps(const Samples<T>& s)
      : per_row(static_cast<unsigned>(ceil_div(s.width ? s.width : 1, std::size_t(warp_size) * Pack<T>::size))),
        count(s.count ? per_row * static_cast<unsigned>(ceil_div(s.count, s.width)) : 0) {}

  // Returns the share of block `block` of `blocks`: consecutive steps, one more in the first blocks if the division is
  // not even.
  __device__ StepRange share(unsigned block, unsigned blocks) const {
    const unsigned each = count / blocks, more = count % blocks;
    const unsigned from = block * each + (block < more ? block : more);
    return {from, from + each + (block < more)};
  }
  // Returns the grid: enough blocks for one step per warp, at most one block per multiprocessor.
  unsigned grid(unsigned block) const { return persistent_grid(ceil_div(count, block / warp_size)); }
};

// The launch shape for a call's steps, with one share per block. The rung sets shape.shared_bytes.
template <class T>
struct StepsLaunch {
  Steps<T> steps;
  Shape shape;

  template <class O>
  explicit StepsLaunch(const Args<T, O>& a) : steps(a.in.samples), samples_(a.in.samples.count) {
    shape.block = a.tuning.block_or(steps_block);
    shape.grid = a.tuning.grid_or(valid() ? steps.grid(shape.block.x) : 1);
    shape.overlap = true;
    shape.stream = a.stream;
  }
  bool valid() const { return whole_warps(shape.block.x); }
  unsigned blocks() const { return shape.grid.x; }
  std::size_t samples_per_block() const { return samples_ / blocks(); }

 private:
  std::size_t samples_;
};

// One row: whole packs, and less than a pack of single samples at each end.
template <class T>
struct Row {
  const T* begin;
  unsigned width, head, packs;

  __device__ Row(const Samples<T>& s, unsigned row) : begin(s.data + row * s.pitch), width(width_of(s, row)) {
    const PackSplit<T> split(begin, width);
    head = static_cast<unsigned>(split.head), packs = static_cast<unsigned>(split.packs);
  }
  __device__ unsigned tail() const { return width - head - packs * Pack<T>::size; }

 private:
  static __device__ unsigned width_of(const Samples<T>& s, unsigned row) {  // the last row may be short
    const unsigned full = static_cast<unsigned>(s.width), left = static_cast<unsigned>(s.count) - row * full;
    return left < full ? left : full;
  }
};

// Prefetches this block's first packs into L2 while the previous kernel ends. By one thread, and only if the samples
// are a single row.
template <class T>
__device__ void prefetch_first_steps(const Samples<T>& samples, StepRange range) {
  if (threadIdx.x > 0 || samples.width != samples.count) return;
  const Row<T> row(samples, 0);
  const unsigned first = range.from * warp_size, packs = packs_at_once<T> * blockDim.x;
  const unsigned end = range.to * warp_size < row.packs ? range.to * warp_size : row.packs;
  if (first >= end) return;
  prefetch_l2(row.begin + row.head + std::size_t(first) * Pack<T>::size,
              16 * (end - first < packs ? end - first : packs));
}

// Returns the packs that a thread has in flight: Slots::packs_at_once if the slot finder declares it, otherwise
// packs_at_once<T>.
template <class T, class Slots>
constexpr unsigned packs_at_once_for() {
  if constexpr (requires { Slots::packs_at_once; })
    return Slots::packs_at_once;
  else
    return packs_at_once<T>;
}

// Warp-wide: for_each_slot() for every `stride`th of a row's steps [step, end). All slots of a pack are found before
// any is counted, because the compiler moves no load above an atomic addition.
template <class T, class Slots, class Count>
__device__ __forceinline__ void for_each_slot_of_row(const Row<T>& row, unsigned step, unsigned end, unsigned stride,
                                                     Slots& slots_of, Count& count) {
  constexpr unsigned size = Pack<T>::size, several = packs_at_once_for<T, std::remove_cvref_t<Slots>>();
  const unsigned lane = threadIdx.x % warp_size;
  const auto* const packs = reinterpret_cast<const uint4*>(row.begin + row.head) + lane;
  const auto count_pack = [&](uint4 raw, unsigned at, auto present) {
    const Pack<T> pack = as_pack<T>(raw);
    const unsigned column = row.head + (at * warp_size + lane) * size;
    unsigned slots[size];
    slots_of(pack.item, column, slots);
#pragma unroll
    for (unsigned k = 0; k < size; ++k) count(slots[k], present);
  };
  // Counts several whole steps per iteration, while the loads of the next ones are in flight.
  const unsigned whole = row.packs / warp_size < end ? row.packs / warp_size : end;
  uint4 next[several];
  const auto load_several = [&] {
    if (step + (several - 1) * stride >= whole) return false;
#pragma unroll
    for (unsigned k = 0; k < several; ++k) next[k] = load_once(packs + (step + k * stride) * warp_size);
    return true;
  };
  for (bool more = load_several(); more;) {
    uint4 now[several];
#pragma unroll
    for (unsigned k = 0; k < several; ++k) now[k] = next[k];
    const unsigned at = step;
    step += several * stride;
    more = load_several();
#pragma unroll
    for (unsigned k = 0; k < several; ++k) count_pack(now[k], at + k * stride, std::true_type{});
  }
  // Counts the remaining whole steps, fewer than in an iteration, and the row's last, partial step.
#pragma unroll
  for (unsigned k = 0; k < several; ++k) {
    const unsigned at = step + k * stride;
    next[k] = {};
    if (at < end && at * warp_size + lane < row.packs) next[k] = load_once(packs + at * warp_size);
  }
#pragma unroll
  for (unsigned k = 0; k < several; ++k)
    if (const unsigned at = step + k * stride; at < end) count_pack(next[k], at, at * warp_size + lane < row.packs);
}

// Block-wide: counts the samples in a range of steps. slots_of(x, column, slots) sets slots[k] to the slot of sample
// x[k], which is in column + k of its row. Then count(slot, present) is called per sample, by all lanes of a warp
// together. `present` is false in a lane that has no sample; in whole steps it is a std::true_type.
template <class T, class Slots, class Count>
__device__ __forceinline__ void for_each_slot(const Samples<T>& samples, const Steps<T>& steps, StepRange range,
                                              Slots&& slots_of, Count&& count) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  // With a single row, warps interleave its steps. With several rows, each warp takes consecutive steps, so that few
  // rows are split between warps.
  const bool one_row = samples.width == samples.count;
  StepRange own{range.from + warp, range.to};
  if (!one_row) {
    const unsigned each = (range.to - range.from) / warps + 1;
    own.from = range.from + warp * each < range.to ? range.from + warp * each : range.to;
    own.to = range.to - own.from < each ? range.to : own.from + each;
  }
  for (unsigned row = one_row ? 0 : own.from / steps.per_row; own.from < own.to; ++row) {
    const unsigned begin = row * steps.per_row;
    const unsigned end = own.to - begin < steps.per_row ? own.to - begin : steps.per_row;
    for_each_slot_of_row(Row<T>(samples, row), own.from - begin, end, one_row ? warps : 1, slots_of, count);
    own.from = begin + end;
  }
  // Counts the ends of the rows that begin in the range: fewer than `size` samples before a row's packs, and after
  // them.
  constexpr unsigned size = Pack<T>::size;
  const unsigned first = static_cast<unsigned>(ceil_div(range.from, steps.per_row)),
                 rows = static_cast<unsigned>(ceil_div(range.to, steps.per_row)) - first;
  for (std::size_t k = threadIdx.x; k - lane < std::size_t(rows) * 2 * size; k += blockDim.x) {
    const unsigned r = static_cast<unsigned>(k / (2 * size)), i = k % size;
    bool present = false;
    unsigned column = 0, slot[1];
    T x[1]{};
    if (r < rows) {
      const Row<T> row(samples, first + r);
      const bool at_head = k % (2 * size) < size;
      column = at_head ? i : row.width - row.tail() + i;
      present = i < (at_head ? row.head : row.tail());
      if (present) x[0] = row.begin[column];
    }
    slots_of(x, column, slot);
    count(slot[0], present);
  }
}

// Returns the channel of the sample in a column, without dividing by `channels`.
__device__ __forceinline__ unsigned channel_of(unsigned column, unsigned channels) {
  return channels == 3 ? column % 3 : column & (channels - 1);
}

// The method by which a kernel finds bins: see by_search().
enum class Search : std::uint8_t {
  general,
  shortcut,   // even: the bin of an integer is a shift; for floats, no edge is in doubt and the last bin is half-open
  closed,     // even, floats: no edge is in doubt, and the last bin is closed
  with_doubt  // even, floats: a few samples are compared with an edge in f64
};
template <Search search, class T, class O>
__device__ __forceinline__ unsigned bin_of(const Input<T, O>& in, T x) {
  [[maybe_unused]] bool in_doubt = false;
  if constexpr (search == Search::general)
    return in.bins(x);
  else if constexpr (search == Search::with_doubt)
    return in.bins.without_doubt(x);
  else if constexpr (search == Search::closed)
    return x == in.bins.included ? in.bins.count - 1 : in.bins.by_next_edge(x, in_doubt);
  else if constexpr (std::is_floating_point_v<T>)
    return in.bins.by_next_edge(x, in_doubt);
  else
    return in.bins.by_shift(x);
}

// Slot finder for for_each_slot(): slots are numbered like the caller's counters, and slot counters() is for samples in
// no bin.
template <Search search, class T, class O>
class SlotsOf {
 public:
  // A division in f64 takes registers: with four packs in flight, the kernel would spill. f32 edges need no division.
  static constexpr bool divides = std::is_same_v<T, double> && O::operation == Binning::even &&
                                  (search == Search::general || search == Search::with_doubt);
  static constexpr unsigned packs_at_once = divides ? 2 : histogram::packs_at_once<T>;

  __device__ explicit SlotsOf(const Input<T, O>& in) : in_(in) {}
  template <unsigned n>
  __device__ __forceinline__ void operator()(const T (&x)[n], unsigned column, unsigned (&slots)[n]) const {
    find_bins(x, slots);
    if (in_.samples.channels == 1) return;
#pragma unroll
    for (unsigned k = 0; k < n; ++k)
      slots[k] = slots[k] == in_.bins.count ? in_.counters()
                                            : channel_of(column + k, in_.samples.channels) * in_.bins.count + slots[k];
  }

 private:
  template <unsigned n>
  __device__ __forceinline__ void find_bins(const T (&x)[n], unsigned (&bins)[n]) const {
    if constexpr (search == Search::with_doubt) {  // doubts are rare: one branch for all samples of a pack
      bool in_doubt = false;
#pragma unroll
      for (unsigned k = 0; k < n; ++k) bins[k] = in_.bins.by_next_edge(x[k], in_doubt);
      if (!in_doubt) return;
    }
#pragma unroll
    for (unsigned k = 0; k < n; ++k) bins[k] = bin_of<search>(in_, x[k]);
  }

  const Input<T, O>& in_;
};
template <Search search, class T, class O>
__device__ __forceinline__ SlotsOf<search, T, O> slots_of(const Input<T, O>& in) {
  return SlotsOf<search, T, O>(in);
}

template <Search search>
using Chosen = std::integral_constant<Search, search>;

// Calls launch_with(Chosen<search>{}) with the fastest method for these bins.
template <class T, class O, class F>
Status by_search(const Input<T, O>& in, F&& launch_with) {
  using enum Search;
  if constexpr (O::operation == Binning::even && std::is_floating_point_v<T>) {
    if (!in.bins.has_shortcut() && !in.bins.may_doubt()) return launch_with(Chosen<closed>{});
    if (in.bins.may_doubt() && !in.bins.is_crowded()) return launch_with(Chosen<with_doubt>{});
  }
  if constexpr (O::operation == Binning::even)
    if (in.bins.has_shortcut()) return launch_with(Chosen<shortcut>{});
  return launch_with(Chosen<general>{});
}

}  // namespace upsweep::ladders::histogram
