// Plots of records.
#include <gtest/gtest.h>

#include <array>
#include <regex>

#include "lab/plot.h"
#include "lab/plot_counts.h"

namespace upsweep::lab {
namespace {

Record record(std::optional<std::string> rung, std::optional<std::string> peer, std::uint64_t n, double us) {
  Record r;
  r.primitive = "reduce", r.rung = std::move(rung), r.peer = std::move(peer);
  r.type = "f32", r.op = "sum", r.input = "uniform", r.device = "<a> & b";
  r.n = n, r.median_us = us, r.traffic_bytes = 4 * n, r.ceiling = "read", r.ceiling_gbs = 100;
  return r;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::vector<Record> two_sizes() {
  return {record("slow", {}, 1024, 4), record("quick", {}, 1024, 1), record({}, "other", 1024, 2),
          record("slow", {}, 4096, 9), record("quick", {}, 4096, 3), record({}, "other", 4096, 3)};
}

TEST(Plot, EveryNameHasALineInBothChartsAndTheLegend) {
  const std::string svg = plot_svg(two_sizes());
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<polyline"), 6u);
  for (const char* name : {">slow<", ">quick<", ">other<", ">ceiling 100 GB/s<"})
    EXPECT_EQ(count(svg, name), 1u) << name;
  EXPECT_NE(svg.find("&lt;a&gt; &amp; b"), std::string::npos) << "markup in a name is text";
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// Smaller y is higher up: `quick` is twice as fast as the peer at the first size, and ties at the second.
TEST(Plot, LinesGoWhereTheFiguresAre) {
  const std::string svg = plot_svg(two_sizes());
  const std::regex points("points=\"([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+) \"");
  std::vector<std::array<double, 4>> lines;
  for (std::sregex_iterator it(svg.begin(), svg.end(), points), end; it != end; ++it)
    lines.push_back({std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4])});
  ASSERT_EQ(lines.size(), 6u);  // slow, quick, other; GB/s and ratio of each
  const auto &slow = lines[1], &quick = lines[3], &other = lines[5];
  EXPECT_LT(quick[1], other[1]);
  EXPECT_LT(other[1], slow[1]);
  EXPECT_NEAR(other[1] - quick[1], 2 * (slow[1] - other[1]), 0.3) << "2x is twice as far above 1x as 0.5x is below";
  EXPECT_EQ(quick[3], other[3]);
  EXPECT_LT(lines[2][3], lines[2][1]) << "more GB/s at the larger size";
}

TEST(Plot, ARowASeriesAndNoRatioWithoutAPeer) {
  auto records = two_sizes();
  records.push_back(record("quick", {}, 1024, 1));
  records.back().type = "i64";
  const std::string svg = plot_svg(records);
  EXPECT_EQ(count(svg, "class=\"title\""), 2u);
  EXPECT_EQ(count(svg, "<polyline"), 6u) << "no peer, no ratio";
  EXPECT_EQ(count(svg, "<circle"), 1u) << "one size";
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, NothingTimedIsAnError) {
  Record failed = record("slow", {}, 1024, 1);
  failed.median_us.reset();
  EXPECT_THROW(plot_svg({failed}), Error);
  EXPECT_THROW(plot_svg({}), Error);
}

TEST(PlotCounts, AnAreaForEachChannel) {
  const std::vector<std::uint64_t> counts{0, 5, 10, 20, 1, 1};
  const std::string svg = counts_svg(counts, 2, "<photo>");
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<path"), 2u);
  EXPECT_EQ(count(svg, "&lt;photo&gt;"), 1u);
  EXPECT_EQ(count(svg, ">20<"), 1u) << "the largest count is at the top of the axis";
  EXPECT_EQ(count(svg, ">3<"), 1u) << "three bins";
}

// Each column of a plot of 2^20 bins is the sum of 1024 bins.
TEST(PlotCounts, ManyBinsAreAddedUp) {
  const std::string svg = counts_svg(std::vector<std::uint64_t>(1 << 20, 1), 1, "");
  EXPECT_LT(svg.size(), 30'000u);
  EXPECT_EQ(count(svg, ">1024<"), 1u);
  EXPECT_EQ(count(svg, "nan"), 0u);
}

TEST(PlotCounts, NoCounts) {
  EXPECT_EQ(count(counts_svg(std::vector<std::uint64_t>(4), 1, ""), "nan"), 0u) << "all zero";
  EXPECT_THROW(counts_svg({}, 1, ""), Error);
  for (const unsigned channels : {0u, 3u, 5u})
    EXPECT_THROW(counts_svg(std::vector<std::uint64_t>(4), channels, ""), Error);
}

TEST(Plot, ASingleSizeIsAPoint) {
  const std::string svg = plot_svg({record("slow", {}, 1024, 4), record({}, "other", 1024, 2)});
  EXPECT_EQ(count(svg, "<polyline"), 0u);
  EXPECT_EQ(count(svg, "<circle"), 4u) << "two names in two charts";
}

// A few series form one column, as in a README; many fill a page.
TEST(Plot, ManySeriesAreWrapped) {
  const auto page = [](int series) {
    std::vector<Record> records;
    for (int k = 0; k < series; ++k)
      for (Record r : two_sizes()) r.input = "input" + std::to_string(k), records.push_back(r);
    const std::string svg = plot_svg(records);
    EXPECT_EQ(count(svg, "<polyline"), static_cast<std::size_t>(6 * series));
    std::smatch size;
    EXPECT_TRUE(std::regex_search(svg, size, std::regex("width=\"([0-9]+)\" height=\"([0-9]+)\"")));
    const std::pair page{std::stoi(size[1]), std::stoi(size[2])};
    // Nothing lies outside the page.
    const std::regex corner("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\"");
    for (std::sregex_iterator at(svg.begin(), svg.end(), corner); at != std::sregex_iterator(); ++at) {
      EXPECT_LT(std::stod((*at)[1]), page.first);
      EXPECT_LT(std::stod((*at)[2]), page.second);
    }
    return page;
  };
  const auto [width, height] = page(1);
  EXPECT_EQ(page(3), (std::pair{width, 3 * height}));
  EXPECT_EQ(page(40), (std::pair{4 * width, 10 * height}));
}

}  // namespace
}  // namespace upsweep::lab
