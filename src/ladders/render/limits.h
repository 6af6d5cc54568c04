// The limits of the rungs: for them, and for the choice among them, which has no kernels.
#pragma once
#include "base/machine.h"
#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

// Whether pixels of one paint are drawn: neither shaded one by one, nor with the coverage beside their colour.
constexpr bool is_plain(const Frame& f) { return f.shading == Shading::flat && f.channels != Channels::rgbw; }
inline constexpr Status not_plain{Code::unsupported, 0, "this rung draws flat circles, without the coverage"};

// Circles that few_circles keeps in a block's shared memory, at most.
inline constexpr std::size_t few_circles_most = 2048;

inline constexpr Needs few_circles_needs{{}, 66'688};
// Circles that bit_columns takes: 512 blocks of 8 warps, whose summaries can be added (bins.cuh), test one batch each.
inline constexpr std::size_t bit_columns_most = std::size_t{512} * 8 * 32;

// max_column_words leave a window of more than 65,536 circles 2040 bins, of which a block writes 8 words each; of more
// than 32,768 circles twice as many bins, but 4 words each.
inline constexpr Needs bit_columns_needs{{}, 66'144};
inline constexpr Needs list_ends_needs{{}, 114'304};

}  // namespace upsweep::ladders::render
