// Draws a histogram as SVG.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace upsweep::lab {

// Draws the counts of `channels` histograms, one after the other, as `upsweep run histogram` writes them: one area per
// channel, on one linear axis. One channel is grey, two are grey and alpha, three or four are red, green, blue and
// alpha. Throws Error(invalid_argument) if counts.size() is not a multiple of `channels`.
std::string counts_svg(std::span<const std::uint64_t> counts, unsigned channels, const std::string& title);

}  // namespace upsweep::lab
