// The numbers of keys' buckets, and offsets found in what is in order by bucket.
#pragma once
#include "kernel/occupancy.h"
#include "kernel/ptx.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

template <class T, class O>
__global__ void numbers_kernel(Input<T, O> in, unsigned* numbers) {  // [n], of each key's bucket
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < in.n; i += step)
    numbers[i] = in.bucket_of(i);
}

// Launches it on a resident grid.
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

// Where each bucket begins among keys that are in order by bucket: by a thread per bucket, and one for n.
template <class T, class O>
__global__ void search_kernel(Input<T, O> sorted, unsigned buckets, Offsets of_upper, unsigned lower_bits,
                              Offsets offsets) {
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  allow_next_launch();
  wait_for_previous();
  if (b > buckets) return;
  if (b == buckets) return offsets.put(b, sorted.n);
  std::uint64_t first = of_upper.get(b >> lower_bits), end = of_upper.get((b >> lower_bits) + 1);
  while (first < end) {  // keys before `first` are in earlier buckets, those from `end` on are not
    const std::uint64_t middle = first + (end - first) / 2;
    if (sorted.bucket_of(middle) < b)
      first = middle + 1;
    else
      end = middle;
  }
  offsets.put(b, first);
}

// Launches it: writes the offsets of `a`, whose buckets' upper sub-digit, above `lower_bits`, has the offsets
// `of_upper`.
template <class T, class O, class U, class P>
Status search_offsets(const Args<T, O>& a, const Input<U, P>& sorted, const Offsets& of_upper, unsigned lower_bits) {
  const unsigned block = 128, buckets = a.in.buckets.count;
  return launch(search_kernel<U, P>, {.grid = buckets / block + 1, .block = block, .overlap = true, .stream = a.stream},
                sorted, buckets, of_upper, lower_bits, a.offsets);
}

}  // namespace upsweep::ladders::partition
