// histogram against handwritten answers, through the library: bounds of bins, saturation, images, what is refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "error_of.h"
#include "ladders/histogram/contract.h"
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

// Rows that are longer than the image are one row.
TEST_F(Histogram, ImagesMayEndInTheirFirstRow) {
  const std::vector<std::uint8_t> image{0, 1, 0, 2, 1};
  for (const std::size_t width : {std::size_t{6}, (std::size_t{1} << 32) + 2, std::size_t{1} << 39}) {
    Counts counts(3);
    histogram_direct(cpu, image, counts, outside, {.width = width});
    EXPECT_EQ(counts, (Counts{2, 2, 1})) << width;
  }
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
  EXPECT_NE(even_error(samples, 0, 1e-38, counts).find("narrow"), std::string::npos) << "4e38 is no float";
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

// Edges are checked before anything runs, as far as the host can read them.
TEST_F(Histogram, RefusesEdgesThatDoNotAscend) {
  Counts counts(3, 7);
  const std::vector<float> samples{0.5f};
  const float nan = std::nanf("");
  const auto edges_error = [&](const std::vector<float>& edges) {
    return message_of([&] { histogram_edges(cpu, samples, edges, counts); });
  };
  EXPECT_NE(edges_error({0, 1, 1, 2}).find("edge 2, 1, is not above the one before it, 1"), std::string::npos);
  EXPECT_NE(edges_error({0, 2, 1, 3}).find("edge 2"), std::string::npos);
  EXPECT_NE(edges_error({3, 2, 1, 0}).find("edge 1"), std::string::npos);
  EXPECT_NE(edges_error({0.0f, -0.0f, 1, 2}).find("edge 1"), std::string::npos) << "the two zeros are equal";
  for (int k = 0; k < 4; ++k) {
    std::vector<float> edges{0, 1, 2, 3};
    edges[static_cast<std::size_t>(k)] = nan;
    EXPECT_NE(edges_error(edges).find("edge " + std::to_string(k) + " is NaN"), std::string::npos) << k;
  }
  EXPECT_EQ(counts, Counts(3, 7)) << "nothing is written";
}

TEST_F(Histogram, RefusesRangesThatHoldNoSample) {
  Counts counts(4);
  const std::vector<std::uint8_t> bytes{1};
  const std::vector<std::uint32_t> words{1};
  const auto refusal = [&](const auto& in, double lower, double upper) {
    return message_of([&] { histogram_even(cpu, in, lower, upper, counts); });
  };
  EXPECT_NE(refusal(bytes, 256, 512).find("contains no value of u8"), std::string::npos);
  EXPECT_NE(refusal(bytes, -9, 0).find("contains no value of u8"), std::string::npos);
  EXPECT_NE(refusal(words, -0x1p32, 0).find("contains no value of u32"), std::string::npos);
  EXPECT_NE(refusal(words, -1, 0x1p32).find("wider than 2^32"), std::string::npos);
  EXPECT_NE(refusal(words, 0, 0x1p54).find("beyond 2^53"), std::string::npos);
}

// Bins of ranges that reach beyond the type, whose width is a power of two or not, against the division.
TEST_F(Histogram, ScalesWithoutDividing) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t width = (random() >> (31 + random() % 33)) % 0xffffffffu + 1 + round % 2;
    const std::uint64_t count = (random() >> (44 + random() % 20)) + 1;
    const ladders::histogram::Scale scale(count, width);
    for (int k = 0; k < 100; ++k) {
      // Where a bin begins, and just before it; the ends; anything.
      const std::uint64_t bin = random() % count, begin = (bin * width + count - 1) / count;
      for (const std::uint64_t distance : {begin, begin - 1, width - 1, std::uint64_t{0}, random() % width})
        if (distance < width) {
          ASSERT_EQ(scale(static_cast<std::uint32_t>(distance)), distance * count / width) << count << ' ' << width;
        }
    }
    if (scale.as_shift >= 0) {
      ASSERT_EQ(scale(static_cast<std::uint32_t>(width - 1)), (width - 1) >> scale.as_shift);
    }
  }
}

// A range that begins below the type's values, and ends above them.
TEST_F(Histogram, RangesMayReachBeyondTheType) {
  EXPECT_EQ(even<std::uint8_t>({0, 127, 128, 255}, -256, 512, 6), (Counts{0, 0, 2, 2, 0, 0}));
  EXPECT_EQ(outside[0], 0u);
}

// Every bin is full long before the end: rungs may stop early, but what is outside must still be counted if asked for.
TEST_F(Histogram, FullCountersDoNotHideSamplesOutside) {
  std::vector<std::uint32_t> samples(1 << 20);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint32_t>(i % 101);
  for (const std::string rung : {"serial", "simd", "parallel"}) {
    std::vector<std::uint8_t> counts(100);
    histogram_direct(cpu, samples, counts, outside, {}, {.rung = rung});
    EXPECT_EQ(counts, std::vector<std::uint8_t>(100, 255)) << rung;
    EXPECT_EQ(outside[0], samples.size() / 101) << rung;
    std::fill(counts.begin(), counts.end(), 0);
    histogram_direct(cpu, samples, counts, {}, {}, {.rung = rung});
    EXPECT_EQ(counts, std::vector<std::uint8_t>(100, 255)) << rung;
  }
}

// One bin that is never hit, among others that are full.
TEST_F(Histogram, AnEmptyBinStaysEmptyAmongFullOnes) {
  std::vector<float> samples(300'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 1024 == 77 ? 0 : i % 1024);
  for (const std::string rung : {"serial", "simd", "parallel"}) {
    std::vector<std::uint8_t> counts(1024);
    histogram_even(cpu, samples, 0, 1024, counts, outside, {}, {.rung = rung});
    std::vector<std::uint8_t> expected(1024, 255);
    expected[77] = 0;
    EXPECT_EQ(counts, expected) << rung;
  }
}

// ---- parts ----------------------------------------------------------------------------------------------------------

// Every sample is in one part, in its own column, and no part is larger than asked for.
TEST(HistogramParts, CoverEverySampleOnce) {
  std::vector<std::uint32_t> image(1000);
  std::iota(image.begin(), image.end(), 0u);
  for (std::size_t count : {0u, 1u, 35u, 36u, 200u, 359u})
    for (std::size_t width : {1u, 5u, 12u, 36u, 359u}) {
      if (count > 0 && width > count) continue;
      const ladders::histogram::Samples<std::uint32_t> all{image.data(), count, count ? width : 0, width + 1, 3};
      if (all.width && count / width * (width + 1) + count % width > image.size()) continue;
      for (std::size_t most : {12u, 36u, 1000u}) {
        std::vector<std::uint32_t> seen;
        const Status s = ladders::histogram::for_each_part(all, most, [&](const auto& part) {
          EXPECT_LE(part.count, most);
          EXPECT_EQ((part.data - image.data()) % (width + 1) % 3, 0) << "parts begin at a pixel";
          for (std::size_t i = 0; i < part.count; ++i) seen.push_back(part[i]);
          return Status{};
        });
        EXPECT_TRUE(s);
        ASSERT_EQ(seen.size(), count) << width << ' ' << most;
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], all[i]) << width << ' ' << most << ' ' << i;
      }
    }
}

}  // namespace
}  // namespace upsweep
