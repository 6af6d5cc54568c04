// histogram against handwritten answers, through the library: bounds of bins, saturation, images, what is refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "error_of.h"
#include "upsweep/histogram.h"

namespace upsweep {
namespace {

using Counts = std::vector<std::uint32_t>;

class Histogram : public testing::Test {
 protected:
  Device cpu = Device::cpu();
  std::array<std::uint64_t, 1> outside{77};

  template <class T>
  Counts even(const std::vector<T>& samples, double lower, double upper, std::size_t bins) {
    Counts counts(bins, 1234);
    histogram_even(cpu, samples, lower, upper, counts, outside);
    return counts;
  }
};

TEST_F(Histogram, BinsAreHalfOpen) {
  EXPECT_EQ(even<std::int32_t>({-1, 0, 1, 2, 3, 4, 9, 10, 11}, 0, 10, 5), (Counts{2, 2, 1, 0, 1}));
  EXPECT_EQ(outside[0], 3u);  // -1, 10, 11
  EXPECT_EQ(even<float>({-0.0f, 0.25f, 0.5f, 0.999f, 1.0f, -1e-30f}, 0, 1, 4), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(outside[0], 2u);
}

TEST_F(Histogram, IntegerBinsAreExact) {
  // 10 values in 3 bins: floor(x * 3 / 10).
  std::vector<std::uint8_t> digits(10);
  std::iota(digits.begin(), digits.end(), 0);
  EXPECT_EQ(even(digits, 0, 10, 3), (Counts{4, 3, 3}));
  // More bins than values.
  EXPECT_EQ(even<std::uint8_t>({0, 1}, 0, 2, 5), (Counts{1, 0, 1, 0, 0}));
  // The whole range of 32 bits, signed and unsigned.
  const std::int32_t least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(even<std::int32_t>({least, -1, 0, most}, -0x1p31, 0x1p31, 4), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(even<std::uint32_t>({0, 0x7fffffffu, 0x80000000u, 0xffffffffu}, 0, 0x1p32, 2), (Counts{2, 2}));
}

TEST_F(Histogram, NanAndInfinityAreInNoBin) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(even<float>({nan, infinity, -infinity, 0.5f}, 0, 1, 2), (Counts{0, 1}));
  EXPECT_EQ(outside[0], 3u);
  Counts counts(2);
  const std::vector<float> edges{-infinity, 0, infinity};
  histogram_edges(cpu, std::vector<float>{nan, -infinity, infinity, -3, 3}, edges, counts, outside);
  EXPECT_EQ(counts, (Counts{2, 1}));
  EXPECT_EQ(outside[0], 2u);  // NaN, and +infinity, where the last bin ends
}

TEST_F(Histogram, EdgesAreLowerBounds) {
  Counts counts(3);
  histogram_edges(cpu, std::vector<std::int32_t>{-6, -5, -1, 0, 1, 9, 10}, std::vector<std::int32_t>{-5, 0, 1, 10},
                  counts, outside);
  EXPECT_EQ(counts, (Counts{2, 1, 2}));
  EXPECT_EQ(outside[0], 2u);
}

TEST_F(Histogram, DirectCountsIndices) {
  Counts counts(4);
  histogram_direct(cpu, std::vector<std::int32_t>{0, 3, 3, 4, -1}, counts, outside);
  EXPECT_EQ(counts, (Counts{1, 0, 0, 2}));
  EXPECT_EQ(outside[0], 2u);
}

TEST_F(Histogram, CountersSaturate) {
  const std::vector<std::uint8_t> same(70000, 3);
  for (const std::string rung : {"serial", "parallel"}) {
    std::array<std::uint8_t, 4> bytes{};
    std::array<std::uint16_t, 4> halves{};
    Counts words(4);
    histogram_direct(cpu, same, bytes, {}, {}, {.rung = rung});
    histogram_direct(cpu, same, halves, {}, {}, {.rung = rung});
    histogram_direct(cpu, same, words, {}, {}, {.rung = rung});
    EXPECT_EQ(bytes[3], 255u) << rung;
    EXPECT_EQ(halves[3], 65535u) << rung;
    EXPECT_EQ(words[3], 70000u) << rung;
  }
}

TEST_F(Histogram, ImagesHaveRowsAndChannels) {
  // Two rows of three pixels with two channels, 8 samples apart; 9s lie in the gap.
  const std::vector<std::uint8_t> image{0, 1, 0, 2, 1, 2, 9, 9, 2, 2, 2, 1, 0, 0};
  Counts counts(2 * 3);
  histogram_direct(cpu, image, counts, outside, {.width = 6, .pitch = 8, .channels = 2});
  EXPECT_EQ(counts, (Counts{3, 1, 2, 1, 2, 3}));
  EXPECT_EQ(outside[0], 0u);
}

TEST_F(Histogram, NoSamples) {
  EXPECT_EQ(even<float>({}, 0, 1, 3), (Counts{0, 0, 0}));
  EXPECT_EQ(outside[0], 0u);
}

std::string message_of(auto&& action) { return error_of(action).what(); }

TEST_F(Histogram, RefusesWhatIsNoHistogram) {
  const std::vector<float> samples{0.5f};
  const std::vector<std::int32_t> integers{1};
  Counts counts(4), none;
  const auto even_error = [&](const auto& in, double lower, double upper, Counts& out) {
    return message_of([&] { histogram_even(cpu, in, lower, upper, out); });
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(even_error(samples, 1, 1, counts).find("empty"), std::string::npos);
  EXPECT_NE(even_error(samples, 1, 0, counts).find("empty"), std::string::npos);
  EXPECT_NE(even_error(samples, 1, 1 + 1e-12, counts).find("empty"), std::string::npos) << "equal as floats";
  EXPECT_NE(even_error(samples, nan, 1, counts).find("not finite"), std::string::npos);
  EXPECT_NE(even_error(samples, 0, infinity, counts).find("not finite"), std::string::npos);
  EXPECT_NE(even_error(integers, 0.5, 2, counts).find("whole"), std::string::npos);
  EXPECT_NE(even_error(samples, 0, 1, none), "");
  EXPECT_NE(message_of([&] {
              histogram_edges(cpu, samples, std::vector<float>{0, 1}, counts);
            }).find("edges"),
            std::string::npos);
  EXPECT_NE(message_of([&] { histogram_direct(cpu, integers, counts, {}, {.channels = 3}); }), "");
  EXPECT_NE(message_of([&] { histogram_direct(cpu, integers, counts, {}, {.width = 4, .pitch = 3}); }), "");
  EXPECT_NE(message_of([&] { histogram_direct(cpu, integers, counts, {}, {.channels = 5}); }), "");
}

}  // namespace
}  // namespace upsweep
