#include "lab/plot_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "upsweep/error.h"

namespace upsweep::lab {
namespace {

// Sizes in pixels.
constexpr double left = 80, top = 44, width = 1024, height = 360, below = 40, right = 24;
// One column per pixel of the width. If there are more bins, neighbouring ones are summed.
constexpr std::size_t most_columns = 1024;

constexpr std::array<const char*, 4> colours_of(unsigned channels) {
  constexpr const char *grey = "#444444", *alpha = "#b8a000", *red = "#d62728", *green = "#2ca02c", *blue = "#1f5fd0";
  if (channels <= 2) return {grey, alpha};
  return {red, green, blue, alpha};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string counts_svg(std::span<const std::uint64_t> counts, unsigned channels, const std::string& title) {
  if (channels == 0 || channels > 4 || counts.empty() || counts.size() % channels)
    throw Error(Code::invalid_argument, fmt::format("{} counts do not make {} channels", counts.size(), channels),
                "name their number with --channels, 1 to 4");
  const std::size_t bins = counts.size() / channels, columns = std::min(bins, most_columns);
  std::vector<std::uint64_t> heights(channels * columns);
  for (std::size_t k = 0; k < counts.size(); ++k) heights[k / bins * columns + k % bins * columns / bins] += counts[k];
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::max_element(heights.begin(), heights.end()));

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<style>text{{font:12px sans-serif;fill:#333}}.title{{font-size:15px;font-weight:600;fill:#111}}"
      ".grid{{stroke:#e4e4e4}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"24\" class=\"title\">{3}</text>\n",
      left + width + right, top + height + below, left, escaped(title));
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const double y = top + height * (1 - quarter / 4.);
    svg += fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" class=\"grid\"/>\n", left, y, left + width);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.4g}</text>\n", left - 6, y + 4,
                       static_cast<double>(most) * quarter / 4);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", left + width * quarter / 4.,
                       top + height + 18, bins * static_cast<std::size_t>(quarter) / 4);
  }
  svg +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">bin</text>\n", left + width / 2, top + height + 34);
  for (unsigned channel = 0; channel < channels; ++channel) {
    svg += fmt::format("<path fill=\"{}\" fill-opacity=\"{}\" d=\"M{},{}", colours_of(channels)[channel],
                       channels == 1 ? 1 : 0.45, left, top + height);
    for (std::size_t column = 0; column < columns; ++column) {
      const double share = static_cast<double>(heights[channel * columns + column]) / static_cast<double>(most);
      svg += fmt::format("V{:.2f}H{:.2f}", top + height * (1 - share),
                         left + width * static_cast<double>(column + 1) / static_cast<double>(columns));
    }
    svg += fmt::format("V{}Z\"/>\n", top + height);
  }
  return svg + "</svg>\n";
}

}  // namespace upsweep::lab
