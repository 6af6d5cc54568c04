// histogram/word_columns: 32-bit counters in as many columns as fit, and blocks that fill a multiprocessor.
//
// lane_banks has 16 bits per counter: it must flush, and its additions are of 1 or 2^16. Words need neither a flush nor
// a variable addend, so that the hardware can merge lanes that meet. Blocks of 768 threads share one table; two such
// blocks keep 48 KB of loads in flight. Where a bin's number is a shift, the kernel only shifts.
//
// Traffic   n reads, 16 bytes per access; an atomic addition per nonzero counter and block; totals read once.
// Order     any.
// Source    Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011.
#pragma once
#include "ladders/histogram/08_aggregated.cuh"
#include "ladders/histogram/totals.cuh"
#include "ladders/histogram/word_columns.cuh"

namespace upsweep::ladders::histogram {

template <bool shifts, class T, class O>
__global__ void __launch_bounds__(columns_block, 2)
    word_columns_kernel(Input<T, O> in, Tiles<T> tiles, WordColumns table,
                        unsigned* totals) {            // [counters + 1], zero
  unsigned* const words = dynamic_shared<unsigned>();  // [slots][columns]
  allow_next_launch();
  table.clear(words);
  wait_for_previous();
  __syncthreads();
  for (unsigned tile = blockIdx.x; tile < tiles.count; tile += gridDim.x)
    for_each_of_tile(in.samples, tiles, tile, [&](T x, unsigned column, bool present) {
      if (present) table.count(words, slot_of<shifts>(in, x, column));
    });
  __syncthreads();
  table.merge(words, totals);
}

struct word_columns {
  static constexpr Story story{.idea = "32-bit counters in 1 to 32 columns, no flush, two blocks of 768 threads",
                               .prediction = "0.85 of the read ceiling up to 896 counters; 0.5 up to 57'000",
                               .guarantees = "counts are exact",
                               .limits = "n below 2^32; up to 58'110 counters, else aggregated; two launches",
                               .source = "Nugteren et al., High Performance Predictable Histogramming on GPUs, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = largest_counted;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const WordColumns table(a.in.counters());
    if (!table.fit()) return aggregated::run<T, O>(a);
    const unsigned block = a.tuning.block_or(columns_block);
    if (Status s = fits_columns(block); !s) return s;
    const Tiles<T> tiles(a.in.samples, block);
    const Shape shape{.grid = a.tuning.grid_or(grid_for(tiles, resident(table.bytes(), block))),
                      .block = block,
                      .shared_bytes = table.bytes(),
                      .overlap = true,
                      .stream = a.stream};
    return by_totals(a, [&](unsigned* totals) {
      return by_shift(a.in, [&]<class Shifts>(Shifts) {
        return launch(word_columns_kernel<Shifts::value, T, O>, shape, a.in, tiles, table, totals);
      });
    });
  }
};

}  // namespace upsweep::ladders::histogram
