// Wrong on purpose: the selected elements are written in whole packs, the last one padded.
//
// Must be caught by the check: elements past the last selected one were written. (Between tiles, the next tile repairs
// the same mistake if it writes later.)
#pragma once
#include "kernel/block.h"
#include "ladders/select/fused.cuh"

namespace upsweep::ladders::select {

inline constexpr unsigned whole_packs_block = 64, whole_packs_pack = 4;

template <class T, class O>
__global__ void __launch_bounds__(whole_packs_block) whole_packs_kernel(Input<T, O> in, Target<T> to, Places places) {
  __shared__ T compact[whole_packs_block];
  __shared__ Drawn drawn;
  __shared__ unsigned before_tile, warp_totals[warp_size];
  const unsigned tile = places.draw(drawn), t = threadIdx.x;
  const std::size_t i = std::size_t(tile) * whole_packs_block + t;
  const bool selects = i < in.n && in.selects(i);
  compact[t] = T{};
  unsigned selected;
  const unsigned rank = block_scan(unsigned(selects), Sum{}, warp_totals, selected);
  if (selects) compact[rank] = in.values[i];
  if (t < warp_size) {
    const unsigned before = places.find(drawn, selected, to.out.count);
    if (t == 0) before_tile = before;
  }
  __syncthreads();
  const std::size_t at = before_tile + t;
  if (t < ceil_div(selected, whole_packs_pack) * whole_packs_pack && at < in.n) to.out.values[at] = compact[t];
}

struct whole_packs {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "the last pack is padded", .prediction = "writes past the selected elements"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static constexpr bool supports = has_predicate<O> && !writes_rest<O>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return launch_tiles(whole_packs_kernel<T, O>, {.block = whole_packs_block}, ceil_div(a.in.n, whole_packs_block), a,
                        a.in, Target<T>{a.out, nullptr, nullptr});
  }
};

}  // namespace upsweep::ladders::select
