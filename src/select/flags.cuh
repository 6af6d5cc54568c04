// Flags, their scan, a scatter: selection by any rung of the scan ladder, and what the fused rungs take from it.
#pragma once
#include "kernel/kernel.h"
#include "scan/contract.h"
#include "select/contract.h"

namespace upsweep::ladders::select {

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for the ranks"};
// Ranks and positions on the way are 32 bits.
inline constexpr std::size_t largest_narrow = 0xffffffffu;

template <class T, class O>
__global__ void flags_kernel(Input<T, O> in,
                             unsigned* flags) {  // [n]
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < in.n) flags[i] = in.selects(i);
}

template <class T, class O>
__global__ void scatter_kernel(Input<T, O> in, Output<T> out,
                               const unsigned* ranks,  // [n], how many are selected to the left
                               unsigned* heads) {      // [n], positions of run_length_encode
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.n) {
    if (i == 0) *out.count = 0;  // of nothing
    return;
  }
  const bool selected = in.selects(i);
  const unsigned rank = ranks[i];
  if (i + 1 == in.n) *out.count = rank + selected;
  if constexpr (O::op == Op::partition_if) {
    const std::size_t selected_in_all = ranks[in.n - 1] + in.selects(in.n - 1);
    out.values[selected ? rank : selected_in_all + (i - rank)] = in.values[i];
  } else if (selected) {
    if constexpr (O::op == Op::find_repeats)
      out.positions.put(rank, i);
    else
      out.values[rank] = in.values[i];
    if constexpr (O::op == Op::run_length_encode) heads[rank] = static_cast<unsigned>(i);
  }
}

// From the positions of the runs' first elements to the runs' lengths.
template <class T>
__global__ void lengths_kernel(const unsigned* heads,  // [count]
                               Output<T> out, std::size_t n) {
  const std::size_t count = *out.count, step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t r = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; r < count; r += step)
    out.positions.put(r, (r + 1 < count ? heads[r + 1] : n) - heads[r]);
}

template <class T>
Status lengths_of_runs(const unsigned* heads, const Output<T>& out, std::size_t n, Stream stream) {
  constexpr unsigned threads = 256;
  // How many there are is known on the device alone: enough threads to fill it, each for several.
  const std::size_t fill = std::size_t(device_limits().multiprocessors) * device_limits().threads_per_sm / threads;
  const std::size_t most = ceil_div(n, threads);
  return launch(lengths_kernel<T>,
                {.grid = static_cast<unsigned>(most < 1      ? 1
                                               : most < fill ? most
                                                             : fill),
                 .block = threads,
                 .stream = stream},
                heads, out, n);
}

template <class Scan, class T, class O>
Status flags_scan_scatter(const Args<T, O>& a) {
  constexpr bool runs = O::op == Op::run_length_encode;
  const std::size_t n = a.in.n;
  // The flags become their ranks in place.
  auto* const ranks = static_cast<unsigned*>(a.workspace->scratch_of_caller((runs ? 2 : 1) * n * sizeof(unsigned)));
  if (!ranks && n > 0) return no_memory;
  unsigned* const heads = runs ? ranks + n : nullptr;
  const Shape shape{.grid = static_cast<unsigned>(n ? ceil_div(n, 256) : 1), .block = 256, .stream = a.stream};
  if (Status s = launch(flags_kernel<T, O>, shape, a.in, ranks); !s) return s;
  if (Status s = Scan::template run<unsigned, Sum>({ranks, ranks, n, false, Sum{}, a.params, a.workspace, a.stream});
      !s)
    return s;
  if (Status s = launch(scatter_kernel<T, O>, shape, a.in, a.out, ranks, heads); !s) return s;
  if constexpr (runs) return lengths_of_runs(heads, a.out, n, a.stream);
  return {};
}

}  // namespace upsweep::ladders::select
