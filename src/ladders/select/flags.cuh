// Selection with any rung of the scan ladder: compute flags, scan them, scatter.
#pragma once
#include "ladders/scan/contract.h"
#include "ladders/select/run_lengths.cuh"

namespace upsweep::ladders::select {

template <class T, class O>
__global__ void flags_kernel(Input<T, O> in,
                             unsigned* flags) {  // [n]
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < in.n) flags[i] = in.selects(i);
}

template <class T, class O>
__global__ void scatter_kernel(Input<T, O> in, Output<T> out,
                               const unsigned* ranks,  // [n], number selected to the left
                               unsigned* heads) {      // [n], where runs begin, for run_length_encode
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.n) {
    if (i == 0) *out.count = 0;  // empty input
    return;
  }
  const bool selected = in.selects(i);
  const unsigned rank = ranks[i];
  if (i + 1 == in.n) *out.count = rank + selected;
  if constexpr (writes_rest<O>) {
    const std::size_t selected_in_all = ranks[in.n - 1] + in.selects(in.n - 1);
    out.values[selected ? rank : selected_in_all + (i - rank)] = in.values[i];
  } else if (selected) {
    if constexpr (writes_positions<O>)
      out.positions.put(rank, i);
    else
      out.values[rank] = in.values[i];
    if constexpr (writes_lengths<O>) heads[rank] = static_cast<unsigned>(i);
  }
}

template <class Scan, class T, class O>
Status flags_scan_scatter(const Args<T, O>& a) {
  constexpr bool runs = writes_lengths<O>;
  const std::size_t n = a.in.n;
  Scratch scratch(*a.workspace);
  auto* const ranks = scratch.take<unsigned>(n);  // the flags are scanned in place
  auto* const heads = runs ? scratch.take<unsigned>(n) : nullptr;
  if (!scratch) return no_memory;
  const Shape shape{.grid = static_cast<unsigned>(n ? ceil_div(n, 256) : 1), .block = 256, .stream = a.stream};
  if (Status s = launch(flags_kernel<T, O>, shape, a.in, ranks); !s) return s;
  if (Status s = Scan::template run<unsigned, Sum>({a, ranks, ranks, n, false, Sum{}}); !s) return s;
  if (Status s = launch(scatter_kernel<T, O>, shape, a.in, a.out, ranks, heads); !s) return s;
  if constexpr (runs) return lengths_of_runs(heads, a.out, n, a.stream);
  return {};
}

}  // namespace upsweep::ladders::select
