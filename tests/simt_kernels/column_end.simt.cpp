// The renderer's bit columns, read from their end.
#include "ladders/render/bin_columns.cuh"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

using namespace ladders::render;

// Writes the circles of a column in the order in which a block finds them, then their number.
template <unsigned threads, unsigned most>
__global__ void circles_from_the_end(const unsigned* words, unsigned count, unsigned* circles, unsigned room) {
  __shared__ unsigned found[most], warp_totals[warp_size];
  ColumnEnd<threads, most> column(words, count);
  unsigned all = 0;
  while (const unsigned more = column.next(found, warp_totals)) {
    for (unsigned k = threadIdx.x; k < more; k += threads)
      if (all + k < room) circles[all + k] = found[k];
    all += more;
    __syncthreads();
  }
  if (threadIdx.x == 0) circles[room] = all;
}

template <unsigned threads, unsigned most>
Status run(const Call& c) {
  return launch(circles_from_the_end<threads, most>, {.grid = 1, .block = threads}, in<unsigned>(c), unsigned(c.n()),
                out<unsigned>(c), unsigned(number(c)));
}

constexpr Rung with_eps = make_rung<run<256, 256>>("column_end_256"),
               exact = make_rung<run<256, 512>>("column_end_512");

}  // namespace

Rungs column_end_kernels() {
  static constexpr const Rung* all[] = {&with_eps, &exact};
  return all;
}

}  // namespace upsweep::test
