// Limits of the rungs, shared with the choice among them, which includes no kernels.
#pragma once
#include "base/machine.h"
#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

// True if each circle has a single colour and the image has no coverage channel.
constexpr bool is_plain(const Frame& f) { return f.shading == Shading::flat && f.channels != Channels::rgbw; }
inline constexpr Status not_plain{Code::unsupported, 0, "this rung draws flat circles without coverage"};

// Maximum number of circles that few_circles keeps in a block's shared memory.
inline constexpr std::size_t few_circles_most = 2048;

inline constexpr Needs few_circles_needs{{}, 66'688};
// Maximum number of circles for bit_columns: one batch of 8 warps in each of 512 blocks, the maximum whose summaries
// can be added (bins.cuh).
inline constexpr std::size_t bit_columns_most = std::size_t{512} * 8 * 32;

// Shared memory for a block that writes bits. With more than 65,536 circles, max_column_words allows 2040 bins per
// window, and a block writes 8 words per bin; with 32,769 to 65,536 circles, it allows twice as many bins, but a block
// writes only 4 words per bin.
inline constexpr Needs bit_columns_needs{{}, 66'144};
inline constexpr Needs list_ends_needs{{}, 114'304};

}  // namespace upsweep::ladders::render
