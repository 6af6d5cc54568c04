// scan/hillis_steele: every element adds its neighbour at distance 1, 2, 4, ...
//
// log2(n) steps instead of 2 log2(n), each with all lanes active on neighbouring words: no bank conflicts, no idle
// threads. The price is n log2(n) additions instead of the sweeps' 2n. Double buffering needs one barrier per step; a
// single buffer would need another between reads and writes.
//
// Traffic   as recursive. Shared memory: 321 wavefronts per tile of 512 words, 10 barriers instead of 21.
// Order     left to right: each step joins two adjacent runs.
// Source    Hillis, Steele, Data Parallel Algorithms, 1986.
#pragma once
#include "ladders/scan/levels.cuh"

namespace upsweep::ladders::scan {

struct HillisSteele {
  static constexpr unsigned per_thread = 1, block = 512;  // the sweeps' tile size, so that all else is equal
  static constexpr Status refusal(unsigned threads) {
    if (threads >= 2 && threads <= 1024) return {};  // with tiles of one element, n totals would remain
    return {Code::unsupported, 0, "this rung needs a block of 2 to 1024 threads"};
  }
  template <class T>
  static constexpr std::size_t shared_bytes(unsigned threads) {
    return 2 * threads * sizeof(T);
  }
  template <class T, class Op>
  static __device__ T scan(const T* in, T* out, std::size_t n, bool inclusive, Op op) {
    const unsigned t = threadIdx.x;
    T *from = dynamic_shared<T>(), *to = from + blockDim.x;  // [blockDim.x] each
    T sum = t < n ? in[t] : Op::template neutral<T>();       // total of the `distance` elements up to t
    from[t] = sum;
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
      __syncthreads();
      if (t >= distance) sum = op(from[t - distance], sum);
      to[t] = sum;
      T* const old = from;
      from = to;
      to = old;
    }
    __syncthreads();
    if (t < n) out[t] = inclusive ? sum : t == 0 ? Op::template neutral<T>() : from[t - 1];
    return from[blockDim.x - 1];
  }
};

struct hillis_steele {
  static constexpr Story story{
      .idea = "log2(n) steps in which every element adds its neighbour at a doubling distance",
      .prediction =
          "ties with padded at large n: 10 barriers per tile instead of 21, but 321 wavefronts instead of 181",
      .guarantees = "same bits for the same n and block",
      .limits = "sum, min, max; any n",
      .source = "Hillis and Steele, Data Parallel Algorithms, 1986"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<HillisSteele>(a);
  }
};

}  // namespace upsweep::ladders::scan
