// reduce/reproducible: the exact sum, rounded once; the same bits everywhere.
//
// Rounded additions are not associative, so a sum that is independent of grid, block, alignment and device may round
// only once, at the end. Elements are added exactly within a window of exponents (exact_window.cuh), window sums are
// added as integers to a fixed-point number that spans the format's range (exact.h), and the total is rounded to
// nearest. Integer addition is associative, so blocks may use atomics in any order.
//
// Traffic   as vec16; 10 (f32) or 67 (f64) atomics per block. 6 instructions per element instead of 1, still hidden
//           behind the loads.
// Order     none: the result is the correctly rounded sum, |error| <= 1/2 ulp.
// Source    Collange, Defour, Graillat, Iakymchuk, Numerical Reproducibility for the Parallel Reduction, 2015.
#pragma once
#include "kernel/block.h"
#include "kernel/vector.h"
#include "ladders/reduce/exact_window.cuh"
#include "ladders/reduce/thread_sum.cuh"

namespace upsweep::ladders::reduce {

// The grid's accumulator in global memory; zero between calls.
template <class T>
struct GlobalExactSum {
  unsigned long long limb[ExactSum<T>::limbs];
  unsigned flags, tickets;
  unsigned minus_zeros;  // number of blocks with only -0 or no elements
};

// Resident blocks of 256 threads per multiprocessor, limited by the registers that hold a batch.
template <class T>
inline constexpr unsigned blocks_per_sm = sizeof(T) == 4 ? 4 : 2;

template <class T>
__global__ void __launch_bounds__(256, blocks_per_sm<T>)
    reproducible_kernel(const T* in,  // [n]
                        T* out,       // [1]
                        GlobalExactSum<T>* global, std::size_t n, Initial<T, Sum> initial) {
  __shared__ SharedExactSum<T> block_sum;
  __shared__ bool is_last;
  block_sum.clear();
  __syncthreads();

  // 1. Add the packs in batches, by whole warps. A pack past the end counts as -0, which leaves any sum unchanged.
  const PackSplit<T> split(in, n);
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  const unsigned lane = threadIdx.x % warp_size;
  Pack<T> past_the_end;
  for (T& item : past_the_end.item) item = Sum::neutral<T>();
  ExactWindow<T> window(block_sum);
  for (std::size_t first = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < split.packs;
       first += ExactWindow<T>::packs * step)
    window.add([&](unsigned k) {
      const std::size_t i = first + lane + k * step;
      return i < split.packs ? load_pack(split.aligned + i * Pack<T>::size) : past_the_end;
    });
  window.flush();

  // 2. Deposit the unaligned ends, and the initial value as one more element.
  if (blockIdx.x == 0) {
    if (initial.given && threadIdx.x == 0) block_sum.deposit_end(initial.value);
    if (threadIdx.x < split.head) block_sum.deposit_end(in[threadIdx.x]);
    if (threadIdx.x < split.tail) block_sum.deposit_end(split.aligned[split.packs * Pack<T>::size + threadIdx.x]);
  }
  __syncthreads();

  // 3. Add the block's sum to the grid's. Carries are propagated first, which leaves headroom for 2^31 blocks.
  __shared__ ExactSum<T> sum;
  if (threadIdx.x == 0) {
    sum.flags = block_sum.flags | (n > 0 || initial.given ? ExactSum<T>::saw_element : 0);
    sum.pending = 0;
    for (int k = 0; k < ExactSum<T>::limbs; ++k) sum.limb[k] = static_cast<long long>(block_sum.limb[k]);
    sum.carry();
  }
  __syncthreads();
  if (gridDim.x > 1) {
    for (unsigned k = threadIdx.x; k < ExactSum<T>::limbs; k += blockDim.x)
      if (sum.limb[k]) atomicAdd(&global->limb[k], static_cast<unsigned long long>(sum.limb[k]));
    if (threadIdx.x == 0) {
      if (sum.flags & ExactSum<T>::not_finite) atomicOr(&global->flags, sum.flags);
      // Counting the blocks with only -0, not the others, spares most sums the atomic.
      if (!(sum.flags & ExactSum<T>::saw_other)) atomicAdd(&global->minus_zeros, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) is_last = take_ticket(&global->tickets) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;

    // 4. The last block loads the grid's sum and zeroes the accumulator.
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
  if (threadIdx.x == 0) out[0] = sum.round();
}

struct reproducible {
  static constexpr bool reproducible_bits = true;
  static constexpr bool takes_initial = true;
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
    const unsigned block = a.tuning.block_or(256);
    const unsigned grid = a.tuning.grid_or(blocks_for<T>(a.n, block, ExactWindow<T>::packs, blocks_per_sm<T>));
    if (!whole_warps(block) || block > 256)
      return {Code::unsupported, 0, "reproducible needs blocks of whole warps, at most 256 threads"};
    auto* const global =
        reinterpret_cast<GlobalExactSum<T>*>(a.workspace->counters(sizeof(GlobalExactSum<T>) / sizeof(unsigned)));
    if (!global) return {Code::out_of_memory, 0, "no memory for the accumulator"};
    return launch(reproducible_kernel<T>, {.grid = grid, .block = block, .stream = a.stream}, a.in, a.out, global, a.n,
                  a.initial);
  }
};

}  // namespace upsweep::ladders::reduce
