// scan/hillis_steele: every element adds its neighbour at distance 1, 2, 4, ...
//
// log2(n) steps instead of twice as many, each with all lanes busy on neighbouring words: no bank conflicts, no idle
// threads. The price is work: n log2(n) additions where the sweeps make 2n. Double buffering needs one barrier per
// step; with one buffer, all reads and all writes would need another between them.
//
// Traffic   as recursive. Shared memory: 321 wavefronts per tile of 512 words, 10 barriers instead of 21.
// Order     left to right: each step joins two neighbouring runs.
// Source    Hillis, Steele, Data Parallel Algorithms, 1986.
#pragma once
#include "ladders/scan/levels.cuh"

namespace upsweep::ladders::scan {

struct HillisSteele {
  static constexpr unsigned per_thread = 1, block = 512;  // the sweeps' tile size, so that all else is equal
  static constexpr Status refusal(unsigned threads) {
    if (threads >= 2 && threads <= 1024) return {};  // tiles of one element would have as many totals as elements
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
    T sum = t < n ? in[t] : Op::template neutral<T>();       // of the `distance` elements up to t
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
          "ties padded when n is large: 10 barriers per tile instead of 21, but 321 wavefronts instead of 181",
      .guarantees = "same bits for the same n and block",
      .limits = "any n",
      .source = "Hillis and Steele, Data Parallel Algorithms, 1986"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<HillisSteele>(a);
  }
};

}  // namespace upsweep::ladders::scan
