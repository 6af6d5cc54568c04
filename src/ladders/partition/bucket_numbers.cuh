// Writes bucket numbers, and finds the bucket offsets of keys in bucket order.
#pragma once
#include "kernel/occupancy.h"
#include "kernel/ptx.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

template <class T, class O>
__global__ void numbers_kernel(Input<T, O> in, unsigned* numbers) {  // [n]
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < in.n; i += step)
    numbers[i] = in.bucket_of(i);
}

// Launches numbers_kernel on a resident grid.
template <class T, class O>
Status write_numbers(const Args<T, O>& a, unsigned* numbers) {  // [n]
  const unsigned block = 256;
  const std::size_t max_blocks = std::size_t(machine().multiprocessors) * resident(0, block);
  const std::size_t wanted = a.in.n ? ceil_div(a.in.n, block) : 1;
  return launch(
      numbers_kernel<T, O>,
      {.grid = static_cast<unsigned>(wanted < max_blocks ? wanted : max_blocks), .block = block, .stream = a.stream},
      a.in, numbers);
}

// Finds the offset of each bucket among keys in bucket order: one thread per bucket, and one for n.
template <class T, class O>
__global__ void search_kernel(Input<T, O> sorted, unsigned buckets, Offsets of_upper, unsigned lower_bits,
                              Offsets offsets) {
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  allow_next_launch();
  wait_for_previous();
  if (b > buckets) return;
  if (b == buckets) return offsets.put(b, sorted.n);
  std::uint64_t first = of_upper.get(b >> lower_bits), end = of_upper.get((b >> lower_bits) + 1);
  while (first < end) {  // keys before `first` are in earlier buckets than b; keys from `end` on are not
    const std::uint64_t middle = first + (end - first) / 2;
    if (sorted.bucket_of(middle) < b)
      first = middle + 1;
    else
      end = middle;
  }
  offsets.put(b, first);
}

// Launches search_kernel, which writes a.offsets. `of_upper` has the offsets of the upper sub-digit, which is the
// bucket number >> lower_bits.
template <class T, class O, class U, class P>
Status search_offsets(const Args<T, O>& a, const Input<U, P>& sorted, const Offsets& of_upper, unsigned lower_bits) {
  const unsigned block = 128, buckets = a.in.buckets.count;
  return launch(search_kernel<U, P>, {.grid = buckets / block + 1, .block = block, .overlap = true, .stream = a.stream},
                sorted, buckets, of_upper, lower_bits, a.offsets);
}

}  // namespace upsweep::ladders::partition
