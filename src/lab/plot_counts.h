// Draws a histogram as SVG.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace upsweep::lab {

// Draws `channels` histograms, whose counts follow one another as `upsweep run histogram` writes them: one area per
// channel, all on the same linear axis. One channel is grey, two are grey and alpha, three or four are red, green, blue
// and alpha. Throws Error(invalid_argument) if `channels` is not from 1 to 4, or if counts.size() is 0 or not a
// multiple of `channels`.
std::string counts_svg(std::span<const std::uint64_t> counts, unsigned channels, const std::string& title);

}  // namespace upsweep::lab
