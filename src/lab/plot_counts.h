// Draws a histogram as SVG.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace upsweep::lab {

// The counts of `channels` histograms, one after the other, as `upsweep run histogram` writes them: an area for each,
// on one linear axis. Of several channels, one is grey, two are grey and alpha, three and four are red, green, blue and
// alpha. Throws Error(invalid_argument) if the counts are not a whole number of bins for each channel.
std::string counts_svg(std::span<const std::uint64_t> counts, unsigned channels, const std::string& title);

}  // namespace upsweep::lab
