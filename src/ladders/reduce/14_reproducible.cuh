// reduce/reproducible: the exact sum, rounded once; the same bits everywhere.
//
// Rounded additions are not associative, so a sum that is independent of grid, block, alignment and device may round
// only once, at the end. Elements are added exactly within a window of exponents (exact_window.cuh), window sums are
// added as integers to a fixed-point number that spans the format's range (exact.h), and the total is rounded to
// nearest. Integer addition is associative, so blocks may use atomics in any order.
//
// Traffic   as vec16; up to 10 (f32) or 67 (f64) atomics per block for the limbs. 6 instructions per element instead of
//           1, still hidden behind the loads. Segments: a thread per short segment, a warp per longer one, each with
//           an accumulator of its own; the longest one after another, each by the whole grid.
// Order     none: the result is the correctly rounded sum, |error| <= 1/2 ulp.
// Source    Collange, Defour, Graillat, Iakymchuk, Numerical Reproducibility for the Parallel Reduction, 2015.
#pragma once
#include "base/threshold.h"
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/reduce/exact_window.cuh"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

// ---- the parts of a sum ---------------------------------------------------------------------------------------------

// Warp-wide: adds the warp's share of n elements to `sum`. The warp consists of threads [first, first + 32) out of
// `threads`, which visit the packs in a grid-stride loop. The first warp also adds the unaligned ends, and the initial
// value as one more element.
template <class T>
__device__ __forceinline__ void deposit_share(const T* in, std::size_t n, std::size_t first, std::size_t threads,
                                              const Initial<T, Sum>& initial, SharedExactSum<T>& sum) {
  const PackSplit<T> split(in, n);
  const unsigned lane = threadIdx.x % warp_size;
  Pack<T> past_the_end;  // -0, which changes no sum
  for (T& item : past_the_end.item) item = Sum::neutral<T>();
  ExactWindow<T> window(sum);
  for (std::size_t at = first; at < split.packs; at += ExactWindow<T>::packs * threads)
    window.add([&](unsigned k) {
      const std::size_t i = at + lane + k * threads;
      return i < split.packs ? load_pack(split.aligned + i * Pack<T>::size) : past_the_end;
    });
  window.flush();
  if (first > 0) return;
  if (initial.given && lane == 0) sum.deposit_end(initial.value);
  if (lane < split.head) sum.deposit_end(in[lane]);
  if (lane < split.tail) sum.deposit_end(split.aligned[split.packs * Pack<T>::size + lane]);
}

// Copies a sum to `to` and propagates its carries; by one thread. `has_element` is false for the sum of no elements.
template <class T>
__device__ void settle(const SharedExactSum<T>& from, bool has_element, ExactSum<T>& to) {
  to.flags = from.flags | (has_element ? ExactSum<T>::saw_element : 0);
  to.pending = 0;
  for (int k = 0; k < ExactSum<T>::limbs; ++k) to.limb[k] = static_cast<long long>(from.limb[k]);
  to.carry();
}

// ---- one sum, by the whole grid -------------------------------------------------------------------------------------

// The grid's accumulator in global memory; zero between calls.
template <class T>
struct GlobalExactSum {
  unsigned long long limb[ExactSum<T>::limbs];
  unsigned flags, tickets;
  unsigned minus_zeros;  // number of blocks that saw no element other than -0
};

// Resident blocks of the maximum size per multiprocessor, limited by the registers that hold a batch.
inline constexpr unsigned max_exact_block = 256;
template <class T>
inline constexpr unsigned blocks_per_sm = sizeof(T) == 4 ? 4 : 2;

// Sums in[0..n) and the initial value by the whole grid. Thread 0 of the last block to finish calls put(sum).
template <class T, class Put>
__device__ __forceinline__ void sum_by_grid(const T* in,  // [n]
                                            GlobalExactSum<T>* global, std::size_t n, const Initial<T, Sum>& initial,
                                            Put put) {
  __shared__ SharedExactSum<T> block_sum;
  __shared__ bool is_last;
  block_sum.clear(threadIdx.x, blockDim.x);
  __syncthreads();

  // 1. Add the block's elements.
  const std::size_t first = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x / warp_size * warp_size;
  deposit_share(in, n, first, std::size_t(gridDim.x) * blockDim.x, initial, block_sum);
  __syncthreads();

  // 2. Add the block's sum to the grid's. Carries are propagated first, which leaves headroom for 2^31 blocks.
  __shared__ ExactSum<T> sum;
  if (threadIdx.x == 0) settle(block_sum, n > 0 || initial.given, sum);
  __syncthreads();
  if (gridDim.x > 1) {
    for (unsigned k = threadIdx.x; k < ExactSum<T>::limbs; k += blockDim.x)
      if (sum.limb[k]) atomicAdd(&global->limb[k], static_cast<unsigned long long>(sum.limb[k]));
    if (threadIdx.x == 0) {
      if (sum.flags & ExactSum<T>::not_finite) atomicOr(&global->flags, sum.flags);
      // Counts the blocks that saw only -0 rather than the others: most sums then need no atomic here.
      if (!(sum.flags & ExactSum<T>::saw_other)) atomicAdd(&global->minus_zeros, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) is_last = take_ticket(&global->tickets) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;

    // 3. The last block loads the grid's sum and zeroes the accumulator.
    for (unsigned k = threadIdx.x; k < ExactSum<T>::limbs; k += blockDim.x) {
      sum.limb[k] = static_cast<long long>(__ldcg(&global->limb[k]));
      global->limb[k] = 0;
    }
    if (threadIdx.x == 0) {
      const bool all_minus_zero = __ldcg(&global->minus_zeros) == gridDim.x;
      sum.flags |= __ldcg(&global->flags) | (all_minus_zero ? 0 : ExactSum<T>::saw_other);
      global->flags = global->tickets = global->minus_zeros = 0;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) put(sum);
}

template <class T>
__global__ void __launch_bounds__(max_exact_block, blocks_per_sm<T>)
    reproducible_kernel(const T* in,  // [n]
                        T* out,       // [1]
                        GlobalExactSum<T>* global, std::size_t n, Initial<T, Sum> initial) {
  sum_by_grid(in, global, n, initial, [&](ExactSum<T>& sum) { out[0] = sum.round(); });
}

// Writes the exact sum too, which can be added to those of other arrays.
template <class T>
__global__ void __launch_bounds__(max_exact_block, blocks_per_sm<T>)
    exact_sum_kernel(const T* in,         // [n]
                     T* out,              // [1]
                     ExactSum<T>* exact,  // [1]
                     GlobalExactSum<T>* global, std::size_t n, Initial<T, Sum> initial) {
  sum_by_grid(in, global, n, initial, [&](ExactSum<T>& sum) {
    out[0] = sum.round();
    sum.carry();  // equal sums then have equal words
    *exact = sum;
  });
}

// ---- segments -------------------------------------------------------------------------------------------------------

// Each thread sums whole segments, in a grid-stride loop, element by element.
template <class T>
__global__ void __launch_bounds__(max_exact_block)
    reproducible_short_segments_kernel(const T* in,  // [n]
                                       T* out,       // [ceil(n / length)]
                                       std::size_t n, std::size_t length, Initial<T, Sum> initial) {
  const std::size_t threads = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t s = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; s * length < n; s += threads) {
    const std::size_t begin = s * length, end = n - begin < length ? n : begin + length;
    ExactSum<T> sum{};
    if (initial.given) sum.deposit(initial.value);
    for (std::size_t i = begin; i < end; ++i) sum.deposit(in[i]);
    out[s] = sum.round();
  }
}

// Each warp sums whole segments, in a grid-stride loop.
template <class T>
__global__ void __launch_bounds__(max_exact_block, blocks_per_sm<T>)
    reproducible_segments_kernel(const T* in,  // [n]
                                 T* out,       // [ceil(n / length)]
                                 std::size_t n, std::size_t length, Initial<T, Sum> initial) {
  __shared__ SharedExactSum<T> warp_sums[max_exact_block / warp_size];
  __shared__ ExactSum<T> totals[max_exact_block / warp_size];
  const unsigned warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  SharedExactSum<T>& sum = warp_sums[warp];
  for (std::size_t s = std::size_t(blockIdx.x) * warps + warp; s * length < n; s += std::size_t(gridDim.x) * warps) {
    const std::size_t begin = s * length, count = n - begin < length ? n - begin : length;
    sum.clear(lane, warp_size);
    __syncwarp();
    deposit_share(in + begin, count, 0, warp_size, initial, sum);
    __syncwarp();
    if (lane == 0) {
      settle(sum, true, totals[warp]);
      out[s] = totals[warp].round();
    }
    __syncwarp();
  }
}

// ---- the rung -------------------------------------------------------------------------------------------------------

// Maximum elements per segment for a thread per segment instead of a warp, few of whose lanes clear, carry and round its
// accumulator. 2^27 f32 on an H200: segments of 100 take 1.21 ms with threads, 2.21 with warps; segments of 512 take
// 1.04 ms with threads, of 513 0.54 with warps.
inline constinit Threshold max_exact_short{"max_exact_short", 128, 16};
// Minimum bytes per segment, divided by the number of segments, for a launch per segment. A warp reads 20 KB in the 6 us
// of a launch (H200).
inline constinit Threshold exact_launch_bytes{"exact_launch_bytes", 20 << 10, 64};

struct reproducible {
  static constexpr bool reproducible_bits = true;
  static constexpr bool takes_initial = true;
  static constexpr bool takes_segments = true;
  static constexpr bool writes_exact = true;
  static constexpr Threshold* thresholds[] = {&max_exact_short, &exact_launch_bytes};
  static constexpr Story story{
      .idea = "the exact sum in fixed point, rounded once",
      .prediction = "at least 0.9 of overlap's speed at large n; a few microseconds more at small n",
      .guarantees = "correctly rounded; the same bits on every backend, grid, alignment and split",
      .limits = "sums of f32 and f64; below 2^30 elements per block",
      .source = "Collange et al., 2015"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static constexpr bool supports = std::is_floating_point_v<T>&& std::is_same_v<Op, Sum>;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const unsigned block = a.tuning.block_or(max_exact_block);
    if (!whole_warps(block) || block > max_exact_block)
      return {Code::unsupported, 0, "reproducible needs blocks of whole warps, at most 256 threads"};
    const std::size_t segments = a.segments(), length = a.length() < a.n ? a.length() : a.n;
    if (segments > 1 && length <= max_exact_short)
      return sum_segments(a, reproducible_short_segments_kernel<T>, block, block);
    if (segments > 1 && length * sizeof(T) < segments * exact_launch_bytes)
      return sum_segments(a, reproducible_segments_kernel<T>, block, block / warp_size);
    for (std::size_t s = 0; s < segments; ++s)
      if (Status status = launch_sum(a, block, a.segment(s), a.out + s); !status) return status;
    return {};
  }

 private:
  template <class T, class Op>
  static Status launch_sum(const Args<T, Op>& a, unsigned block, std::span<const T> elements, T* out) {
    const unsigned grid =
        a.tuning.grid_or(blocks_for<T>(elements.size(), block, ExactWindow<T>::packs, blocks_per_sm<T>));
    auto* const global =
        reinterpret_cast<GlobalExactSum<T>*>(a.workspace->counters(sizeof(GlobalExactSum<T>) / sizeof(unsigned)));
    if (!global) return {Code::out_of_memory, 0, "no memory for the accumulator"};
    const Shape shape{.grid = grid, .block = block, .stream = a.stream};
    if (a.exact)
      return launch(exact_sum_kernel<T>, shape, elements.data(), out, reinterpret_cast<ExactSum<T>*>(a.exact), global,
                    elements.size(), a.initial);
    return launch(reproducible_kernel<T>, shape, elements.data(), out, global, elements.size(), a.initial);
  }

  // Launches a kernel whose blocks sum `per_block` segments at a time.
  template <class T, class Op, class Kernel>
  static Status sum_segments(const Args<T, Op>& a, Kernel* kernel, unsigned block, std::size_t per_block) {
    const std::size_t blocks = ceil_div(a.segments(), per_block);
    const std::size_t resident = std::size_t(machine().multiprocessors) * blocks_per_sm<T>;
    return launch(kernel,
                  {.grid = a.tuning.grid_or(blocks < resident ? blocks : resident), .block = block, .stream = a.stream},
                  a.in, a.out, a.n, a.length(), a.initial);
  }
};

}  // namespace upsweep::ladders::reduce
