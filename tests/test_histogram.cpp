// histogram against hand-computed answers, through the library: bin edges, saturation, images, rejected calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "error_of.h"
#include "ladders/histogram/choose.h"
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

// ---- even bins of floats ------------------------------------------------------------------------------------------

const std::string every_rung[] = {"serial", "simd", "parallel"};

// Whole numbers in ranges with whole bounds, where integer division gives the bin.
TEST_F(Histogram, WholeNumbersAreInTheBinOfTheQuotient) {
  EXPECT_EQ(even<float>({41}, 0, 82, 2), (Counts{0, 1}));
  for (const std::string& rung : every_rung)
    for (const int lower : {0, -37, 100'000})
      for (int width = 1; width <= 110; ++width) {
        std::vector<float> samples(static_cast<std::size_t>(width));
        std::iota(samples.begin(), samples.end(), static_cast<float>(lower));
        for (int bins = 1; bins <= 60; ++bins) {
          Counts counts(static_cast<std::size_t>(bins)), expected(counts);
          for (int distance = 0; distance < width; ++distance)
            ++expected[static_cast<std::size_t>(distance * bins / width)];
          histogram_even(cpu, samples, lower, lower + width, counts, outside, {}, {.rung = rung});
          ASSERT_EQ(counts, expected) << rung << ": " << bins << " bins from " << lower << " to " << lower + width;
          ASSERT_EQ(outside[0], 0u);
        }
      }
}

// Returns the counts by the header's definition: each sample belongs to the bin whose edges enclose it.
template <class T>
Counts between_edges(const std::vector<T>& samples, double lower, double upper, std::size_t bins) {
  std::vector<T> edges(bins + 1, static_cast<T>(upper));
  for (std::size_t k = 0; k < bins; ++k)
    edges[k] = static_cast<T>(lower + static_cast<double>(k) * (upper - lower) / static_cast<double>(bins));
  Counts counts(bins + 1);  // the last one counts samples outside
  for (const T x : samples) {
    const auto above = static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), x) - edges.begin());
    ++counts[above == 0 || above > bins || std::isnan(x) ? bins : above - 1];
  }
  return counts;
}

// Returns every edge and its adjacent numbers, numbers in between, and numbers outside, some by 2^32 bins.
template <class T>
std::vector<T> around_edges(double lower, double upper, std::size_t bins, std::mt19937_64& random) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> samples{-infinity, infinity, std::numeric_limits<T>::quiet_NaN(), 0, static_cast<T>(upper)};
  for (std::size_t k = 0; k <= bins; ++k) {
    const T edge = static_cast<T>(lower + static_cast<double>(k) * (upper - lower) / static_cast<double>(bins));
    const double anywhere = std::uniform_real_distribution<double>(-0.1, 1.1)(random);
    samples.insert(samples.end(), {edge, std::nextafter(edge, -infinity), std::nextafter(edge, infinity),
                                   static_cast<T>(lower + anywhere * upper - anywhere * lower),
                                   static_cast<T>(edge + (upper - lower) / static_cast<double>(bins) * 0x1p32)});
  }
  return samples;
}

template <class T>
void expect_bins_of_edges(Device& cpu, double lower, double upper, std::size_t bins, std::mt19937_64& random) {
  const std::vector<T> samples = around_edges<T>(lower, upper, bins, random);
  Counts expected = between_edges(samples, lower, upper, bins);
  const std::uint32_t expected_outside = expected.back();
  expected.pop_back();
  for (const std::string& rung : every_rung) {
    Counts counts(bins);
    std::array<std::uint64_t, 1> outside{};
    histogram_even(cpu, samples, lower, upper, counts, outside, {}, {.rung = rung});
    ASSERT_EQ(counts, expected) << rung << ": " << bins << " bins from " << lower << " to " << upper;
    ASSERT_EQ(outside[0], expected_outside) << rung << ": " << bins << " bins from " << lower << " to " << upper;
  }
}

TEST_F(Histogram, FloatsAreBetweenTheEdgesOfTheirBin) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> fraction(-1, 1);
  for (int round = 0; round < 300; ++round) {
    const double size = std::ldexp(1.0, static_cast<int>(random() % 60) - 30), lower = fraction(random) * size;
    const double upper = lower + std::fabs(fraction(random)) * std::ldexp(size, -static_cast<int>(random() % 12));
    if (static_cast<float>(lower) < static_cast<float>(upper))
      expect_bins_of_edges<float>(cpu, lower, upper, random() % 1000 + 1, random);
  }
  for (const std::size_t bins : {1u, 2u, 3u, 255u, 256u, 1u << 17}) {
    expect_bins_of_edges<float>(cpu, -1, 1, bins, random);
    expect_bins_of_edges<float>(cpu, 0, 0.1, bins, random);
    expect_bins_of_edges<float>(cpu, 0.25, 0.3, bins, random);
  }
}

// Ranges whose width or bins per unit are not representable; subnormal edges.
TEST_F(Histogram, RangesMayExceedWhatTheTypeHolds) {
  std::mt19937_64 random(6);
  const double largest = std::numeric_limits<float>::max();
  for (const std::size_t bins : {1u, 4u, 7u, 1000u}) {
    expect_bins_of_edges<float>(cpu, -largest, largest, bins, random);
    expect_bins_of_edges<float>(cpu, 0, largest, bins, random);
    expect_bins_of_edges<float>(cpu, 0, 1e-38, bins, random);
    expect_bins_of_edges<float>(cpu, -1e-44, 1e-44, bins, random);
  }
  EXPECT_EQ(even<float>({-3e38f, -1, 0, 1e38f, 2.9e38f}, -3e38, 3e38, 2), (Counts{2, 3}));
}

TEST_F(Histogram, QuotientsAreRoundedAsDivisionsAre) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 1'000'000; ++round) {
    const double count = static_cast<double>(1 + random() % (1 << 20));
    const double all = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 300) - 250);
    ASSERT_EQ(ladders::histogram::quotient(all, count, 1 / count), all / count) << all << " / " << count;
    // A dividend that is a multiple of the divisor, and its neighbours.
    const double near = std::ldexp((static_cast<double>(random() >> 32) + 0.5) * count, 21);
    for (const double beside : {near, std::nextafter(near, 0), std::nextafter(near, 1e300)})
      ASSERT_EQ(ladders::histogram::quotient(beside, count, 1 / count), beside / count) << beside << " / " << count;
  }
}

// More bins than floats in the range: bins with two equal edges are empty.
TEST_F(Histogram, EdgesThatMeetLeaveBinsEmpty) {
  std::mt19937_64 random(7);
  const float next = std::nextafter(1.0f, 2.0f), after = std::nextafter(next, 2.0f);
  const Counts counts = even<float>({1, next, after}, 1, after, 1000);
  EXPECT_EQ(counts[250], 1u) << "the last of those that begin at 1, which the tie of edge 250 rounds to";
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 2u);
  EXPECT_EQ(outside[0], 1u);
  for (const std::size_t bins : {3u, 1000u, 1u << 16}) {
    expect_bins_of_edges<float>(cpu, 1, after, bins, random);
    expect_bins_of_edges<float>(cpu, 1e6, 1e6 + 1, bins, random);
    expect_bins_of_edges<float>(cpu, -16777216, -16777000, bins, random);
  }
}

// ---- types --------------------------------------------------------------------------------------------------------

__extension__ using Int128 = __int128;

// Integers over the type's whole range, near zero and 2^32, and near zero modulo 2^32; each operation against its
// definition.
template <class T>
void expect_bins_of_integers(Device& cpu) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(9);
  std::vector<T> samples{Limits::min(), Limits::max(), 0, 1, static_cast<T>(-1)};
  while (samples.size() < 3000) {
    samples.push_back(static_cast<T>(random()));
    samples.push_back(static_cast<T>(static_cast<int>(random() % 200) - 100));
    samples.push_back(static_cast<T>((std::uint64_t{1} << 32) + 5 - random() % 10));
    samples.push_back(static_cast<T>(random() << 32 | random() % 200));
  }
  const double least = static_cast<double>(Limits::min()), past = static_cast<double>(Limits::max()) + 1;
  const auto expect = [&](std::size_t bins, const char* what, auto&& bin_of, auto&& histogram) {
    Counts expected(bins);
    std::uint64_t expected_outside = 0;
    for (const T x : samples)
      if (const Int128 bin = bin_of(Int128{x}); bin >= 0 && bin < Int128(bins))
        ++expected[static_cast<std::size_t>(bin)];
      else
        ++expected_outside;
    for (const std::string& rung : every_rung) {
      Counts counts(bins);
      std::array<std::uint64_t, 1> outside{};
      histogram(counts, outside, Options{.rung = rung});
      ASSERT_EQ(counts, expected) << rung << ' ' << to_string(type_of<T>()) << ' ' << what << ' ' << bins;
      ASSERT_EQ(outside[0], expected_outside) << rung << ' ' << to_string(type_of<T>()) << ' ' << what << ' ' << bins;
    }
  };
  const std::pair<double, double> ranges[] = {{least, past}, {-50, 77},         {0, 100},
                                              {0, 64},       {least - 1000, 3}, {-3, past + 1e6},
                                              {1, 0x1p32},   {0, 0x1p32},       {-1, 0x1p32}};
  for (const auto& [lower, upper] : ranges)
    for (const std::size_t bins : {1u, 3u, 16u, 256u, 1000u})
      for (const LastBin last : {LastBin::open, LastBin::closed}) {
        const Int128 from = static_cast<Int128>(lower), width = static_cast<Int128>(upper) - from;
        if (width > Int128{1} << (sizeof(T) == 8 ? 64 : 32)) continue;
        expect(
            bins, "even",
            [&](Int128 x) {
              if (last == LastBin::closed && x == from + width) return Int128(bins) - 1;
              return x < from || x >= from + width ? Int128{-1} : (x - from) * Int128(bins) / width;
            },
            [&](auto& counts, auto& outside, const Options& options) {
              histogram_even(cpu, samples, lower, upper, counts, outside, {}, options, last);
            });
      }
  const std::vector<T> edges{std::is_signed_v<T> ? static_cast<T>(-90) : T{0}, 1, 5, 77, Limits::max()};
  for (const LastBin last : {LastBin::open, LastBin::closed})
    expect(
        4, "edges",
        [&](Int128 x) {
          if (x == edges.back()) return Int128{last == LastBin::closed ? 3 : -1};
          return Int128{std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1};
        },
        [&](auto& counts, auto& outside, const Options& options) {
          histogram_edges(cpu, samples, edges, counts, outside, {}, options, last);
        });
  for (const std::size_t bins : {1u, 100u, 256u, 1000u})
    expect(
        bins, "direct", [](Int128 x) { return x; },
        [&](auto& counts, auto& outside, const Options& options) {
          histogram_direct(cpu, samples, counts, outside, {}, options);
        });
}

TEST_F(Histogram, EveryIntegerType) {
  expect_bins_of_integers<std::int8_t>(cpu);
  expect_bins_of_integers<std::uint8_t>(cpu);
  expect_bins_of_integers<std::int16_t>(cpu);
  expect_bins_of_integers<std::uint16_t>(cpu);
  expect_bins_of_integers<std::int32_t>(cpu);
  expect_bins_of_integers<std::uint32_t>(cpu);
  expect_bins_of_integers<std::int64_t>(cpu);
  expect_bins_of_integers<std::uint64_t>(cpu);
}

// Ranges wider than 32 bits, against division: at a bin's first value, just below it, at the ends, and anywhere.
TEST_F(Histogram, ScalesLongDistancesWithoutDividing) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    const Int128 width = round % 50 == 0 ? Int128{1} << 64 : Int128{random() >> random() % 64} + 1;
    const std::uint64_t count = (random() >> (44 + random() % 20)) + 1;
    const ladders::histogram::LongScale scale(count, static_cast<ladders::histogram::Wide>(width));
    for (int k = 0; k < 50; ++k) {
      const Int128 begin = (Int128{random() % count} * width + count - 1) / count;
      for (const Int128 distance : {begin, begin - 1, width - 1, Int128{0}, Int128{random()} % width})
        if (distance >= 0 && distance < width) {
          const auto at = static_cast<std::uint64_t>(distance);
          ASSERT_EQ(scale(at), static_cast<unsigned>(distance * count / width)) << round;
          if (scale.as_shift >= 0) {
            ASSERT_EQ(at >> scale.as_shift, static_cast<std::uint64_t>(distance * count / width)) << round;
          }
        }
    }
  }
}

TEST_F(Histogram, DoublesAreBetweenTheEdgesOfTheirBin) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> fraction(-1, 1);
  for (int round = 0; round < 100; ++round) {
    const double size = std::ldexp(1.0, static_cast<int>(random() % 600) - 300), lower = fraction(random) * size;
    const double upper = lower + std::fabs(fraction(random)) * std::ldexp(size, -static_cast<int>(random() % 50));
    if (lower < upper) expect_bins_of_edges<double>(cpu, lower, upper, random() % 1000 + 1, random);
  }
  expect_bins_of_edges<double>(cpu, 0, 1e-320, 7, random);
  expect_bins_of_edges<double>(cpu, -1e300, 1e300, 1000, random);
  expect_bins_of_edges<double>(cpu, 1, std::nextafter(1, 2), 5, random);
  EXPECT_EQ(even<double>({41}, 0, 82, 2), (Counts{0, 1}));
  Counts counts(2);
  const Error wide = error_of([&] { histogram_even(cpu, std::vector<double>{1}, -1e308, 1e308, counts); });
  EXPECT_NE(std::string(wide.what()).find("too wide"), std::string::npos) << wide.what();
}

// ---- the last bin -------------------------------------------------------------------------------------------------

TEST_F(Histogram, TheLastBinMayBeClosed) {
  // Whole vectors of samples: each is counted 64 times.
  const auto repeated = [](auto samples) {
    for (int doubling = 0; doubling < 6; ++doubling) {
      const auto once = samples;
      samples.insert(samples.end(), once.begin(), once.end());
    }
    return samples;
  };
  const auto per_sample = [&](Counts counts) {
    for (std::uint32_t& count : counts) count = count % 64 ? ~0u : count / 64;
    outside[0] = outside[0] % 64 ? ~0u : outside[0] / 64;
    return counts;
  };
  const auto closed_even = [&](const auto& samples, double lower, double upper, std::size_t bins,
                               const Options& options) {
    Counts counts(bins);
    histogram_even(cpu, repeated(samples), lower, upper, counts, outside, {}, options, LastBin::closed);
    return per_sample(counts);
  };
  const auto closed_edges = [&](const auto& samples, const auto& edges, const Options& options) {
    Counts counts(edges.size() - 1);
    histogram_edges(cpu, repeated(samples), edges, counts, outside, {}, options, LastBin::closed);
    return per_sample(counts);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::string& rung : every_rung) {
    const Options options{.rung = rung};
    EXPECT_EQ(
        closed_edges(std::vector<std::uint8_t>{0, 100, 255, 255}, std::vector<std::uint8_t>{0, 128, 255}, options),
        (Counts{2, 2}));
    EXPECT_EQ(outside[0], 0u) << rung;
    EXPECT_EQ(closed_edges(std::vector<std::uint32_t>{0, 1, 5, ~0u}, std::vector<std::uint32_t>{0, 2, ~0u}, options),
              (Counts{2, 2}));
    EXPECT_EQ(closed_edges(std::vector<float>{-infinity, 2, infinity, std::nanf("")},
                           std::vector<float>{-infinity, 0, infinity}, options),
              (Counts{1, 2}));
    EXPECT_EQ(outside[0], 1u) << rung << ": NaN";
    EXPECT_EQ(
        closed_edges(std::vector<float>{0, 1, 2, std::nextafter(2.0f, 3.0f)}, std::vector<float>{0, 1, 2}, options),
        (Counts{1, 2}));
    EXPECT_EQ(closed_even(std::vector<std::int16_t>{0, 1, 2, 3, 4, 5}, 0, 4, 2, options), (Counts{2, 3}));
    EXPECT_EQ(outside[0], 1u) << rung;
    EXPECT_EQ(closed_even(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, 0, 4, 4, options), (Counts{1, 1, 1, 2}));
    EXPECT_EQ(closed_even(std::vector<float>{0, 1, 2, 3, 4, 5}, 0, 4, 4, options), (Counts{1, 1, 1, 2}));
    EXPECT_EQ(closed_even(std::vector<double>{0, 1, 2, 3, 4, 5}, 0, 4, 4, options), (Counts{1, 1, 1, 2}));
    EXPECT_EQ(closed_even(std::vector<float>{0, 0.1f, std::nanf(""), 0.05f}, 0, static_cast<double>(0.1f), 3, options),
              (Counts{1, 1, 1}));
    EXPECT_EQ(closed_even(std::vector<double>{-1, 0, 0.3, 0.30000000000000004}, -1, 0.3, 13, options)[12], 1u);
    EXPECT_EQ(outside[0], 1u) << rung;
  }
}

// ---- edges of another type than the samples' ------------------------------------------------------------------------

TEST_F(Histogram, EdgesMayBeOfAnyType) {
  for (const std::string& rung : every_rung)
    for (const LastBin last : {LastBin::open, LastBin::closed}) {
      const auto between = [&](const auto& samples, const auto& edges) {
        Counts counts(edges.size() - 1, 1234);
        outside[0] = 77;
        histogram_edges(cpu, samples, edges, counts, outside, {}, {.rung = rung}, last);
        return counts;
      };
      const unsigned closed = last == LastBin::closed;
      const std::vector<std::uint8_t> bytes{0, 100, 255, 255};
      EXPECT_EQ(between(bytes, std::vector<std::int32_t>{0, 128, 256}), (Counts{2, 2})) << rung;
      EXPECT_EQ(outside[0], 0u);
      EXPECT_EQ(between(bytes, std::vector<double>{-0.5, 0.5, 99.5, 100}), (Counts{1, 0, closed})) << rung;
      EXPECT_EQ(outside[0], 3u - closed);
      // The first and the last bins contain no byte.
      EXPECT_EQ(between(bytes, std::vector<std::int16_t>{-20, -10, 0, 255, 256, 300, 400}), (Counts{0, 0, 2, 2, 0, 0}));
      EXPECT_EQ(outside[0], 0u);
      for (const auto& none : {std::vector<float>{0.25, 0.5, 0.75}, std::vector<float>{-9, -5, -0.5},
                               std::vector<float>{255.5, 256, 1e30f}}) {
        EXPECT_EQ(between(bytes, none), (Counts{0, 0})) << rung << ' ' << none[0];
        EXPECT_EQ(outside[0], 4u) << rung << ' ' << none[0];
      }
      // Two adjacent f32 values, and a double between them.
      const float next = std::nextafter(1.0f, 2.0f);
      EXPECT_EQ(between(std::vector<float>{1, next, -0.0f, std::numeric_limits<float>::infinity()},
                        std::vector<double>{0, 1 + 0x1p-30, static_cast<double>(next), 1e300}),
                (Counts{2, 0, 1}));
      EXPECT_EQ(outside[0], 1u);
      EXPECT_EQ(between(std::vector<double>{-1, 0.5, 1, 1e300}, std::vector<std::int8_t>{-1, 1, 2}), (Counts{2, 1}));
      // Beyond 2^53, where doubles do not represent every integer.
      const std::int64_t far = std::int64_t{1} << 60;
      EXPECT_EQ(between(std::vector<std::int64_t>{far - 1, far, far + 1, far + 2},
                        std::vector<std::uint64_t>{0, 1u + std::uint64_t(far), 1u + (std::uint64_t{1} << 63)}),
                (Counts{2, 2}));
      EXPECT_EQ(between(std::vector<std::int64_t>{far - 1, far, far + 1}, std::vector<double>{0, 0x1p60, 0x1p63}),
                (Counts{1, 2}));
    }
}

// Returns n numbers of type T: some close to the given numbers, the rest arbitrary.
template <class T>
std::vector<T> numbers_near(const std::vector<long double>& others, std::size_t n, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all;
  while (all.size() < n) {
    const std::uint64_t which = random();
    const long double near = others.empty() ? 0 : others[random() % others.size()];
    const long double x = which % 3 ? near + static_cast<int>(which % 5) - 2.0L
                                    : std::ldexp(static_cast<long double>(static_cast<std::int64_t>(random())),
                                                 -static_cast<int>(which % 64));
    if (x > static_cast<long double>(Limits::max()))
      all.push_back(Limits::max());
    else if (x < static_cast<long double>(Limits::lowest()))
      all.push_back(Limits::lowest());
    else
      all.push_back(static_cast<T>(x));
  }
  return all;
}

template <class T, class E>
void expect_bins_between(Device& cpu, std::mt19937_64& random) {
  for (int round = 0; round < 20; ++round) {
    std::vector<E> edges = numbers_near<E>({}, 2 + random() % (round % 2 ? 6 : 60), random);
    if (round % 3 == 0)
      edges.push_back(std::numeric_limits<E>::max()), edges.push_back(std::numeric_limits<E>::lowest());
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    if (edges.size() < 2) continue;
    const std::vector<long double> numbers(edges.begin(), edges.end());
    const std::vector<T> samples = numbers_near<T>(numbers, 500, random);
    for (const LastBin last : {LastBin::open, LastBin::closed}) {
      std::vector<std::uint8_t> expected(edges.size() - 1);  // saturating
      std::uint64_t none = 0;
      for (const T x : samples) {
        const auto number = static_cast<long double>(x);
        auto above = std::upper_bound(numbers.begin(), numbers.end(), number);
        if (last == LastBin::closed && number == numbers.back()) --above;
        if (above == numbers.begin() || above == numbers.end())
          ++none;
        else if (auto& count = expected[static_cast<std::size_t>(above - numbers.begin() - 1)]; count < 255)
          ++count;
      }
      for (const std::string& rung : every_rung) {
        std::vector<std::uint8_t> counts(expected.size());
        std::array<std::uint64_t, 1> outside{};
        histogram_edges(cpu, samples, edges, counts, outside, {}, {.rung = rung}, last);
        ASSERT_EQ(counts, expected) << rung << ": " << to_string(type_of<T>()) << " between "
                                    << to_string(type_of<E>());
        ASSERT_EQ(outside[0], none) << rung << ": " << to_string(type_of<T>()) << " between "
                                    << to_string(type_of<E>());
      }
    }
  }
}

TEST_F(Histogram, EveryTypeBetweenEdgesOfEveryType) {
  std::mt19937_64 random(11);
  for (std::size_t t = 0; t < arithmetic_type_names.size(); ++t)
    for (std::size_t e = 0; e < arithmetic_type_names.size(); ++e)
      visit(static_cast<Type>(t), [&]<class T>(TypeTag<T>) {
        visit(static_cast<Type>(e), [&]<class E>(TypeTag<E>) { expect_bins_between<T, E>(cpu, random); });
      });
}

// ---- samples in no bin --------------------------------------------------------------------------------------------

TEST_F(Histogram, NanAndInfinityAreInNoBin) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(even<float>({nan, infinity, -infinity, 0.5f}, 0, 1, 2), (Counts{0, 1}));
  EXPECT_EQ(outside[0], 3u);
  Counts counts(2);
  const std::vector<float> edges{-infinity, 0, infinity};
  histogram_edges(cpu, std::vector<float>{nan, -infinity, infinity, -3, 3}, edges, counts, outside);
  EXPECT_EQ(counts, (Counts{2, 1}));
  EXPECT_EQ(outside[0], 2u);  // NaN, and +infinity, at which the last bin ends
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

// Numbers of bins for which samples of 8 bytes are counted in four, two and one copies of the table.
TEST_F(Histogram, CopiesOfTablesAreAddedUp) {
  std::mt19937_64 random(10);
  for (const std::size_t bins : {100u, 1000u, 3000u}) {
    std::vector<std::uint64_t> samples(50'000);
    Counts expected(bins), counts(bins);
    for (std::uint64_t& x : samples) ++expected[x = std::min<std::uint64_t>(random() % bins, random() % bins)];
    for (const std::string& rung : every_rung) {
      histogram_direct(cpu, samples, counts, outside, {}, {.rung = rung});
      EXPECT_EQ(counts, expected) << rung << ' ' << bins;
      EXPECT_EQ(outside[0], 0u);
      std::vector<std::uint8_t> bytes(bins);
      histogram_direct(cpu, samples, bytes, outside, {}, {.rung = rung});
      for (std::size_t k = 0; k < bins; ++k) ASSERT_EQ(bytes[k], std::min(expected[k], 255u)) << rung << ' ' << bins;
    }
  }
}

TEST_F(Histogram, ImagesHaveRowsAndChannels) {
  // Two rows of three pixels with two channels, 8 samples apart; 9s fill the gap.
  const std::vector<std::uint8_t> image{0, 1, 0, 2, 1, 2, 9, 9, 2, 2, 2, 1, 0, 0};
  Counts counts(2 * 3);
  histogram_direct(cpu, image, counts, outside, {.width = 6, .pitch = 8, .channels = 2});
  EXPECT_EQ(counts, (Counts{3, 1, 2, 1, 2, 3}));
  EXPECT_EQ(outside[0], 0u);
}

// An image shorter than one row is a single row.
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

// Edges are checked before anything runs if the host can read them.
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
  EXPECT_NE(refusal(std::vector<std::int64_t>{1}, -1, 0x1p64).find("wider than 2^64"), std::string::npos);
  EXPECT_NE(refusal(std::vector<std::int64_t>{1}, 0x1p63, 0x1p64).find("contains no value of i64"), std::string::npos);
}

// Ranges beyond the type, with bin widths that are and are not powers of two, against division.
TEST_F(Histogram, ScalesWithoutDividing) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t width = (random() >> (31 + random() % 33)) % 0xffffffffu + 1 + round % 2;
    const std::uint64_t count = (random() >> (44 + random() % 20)) + 1;
    const ladders::histogram::Scale scale(count, width);
    for (int k = 0; k < 100; ++k) {
      // A bin's first value, and the one below it; the ends; and any value.
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

// A rung with a small maximum size, which processes all samples in parts.
struct few_at_once {
  static constexpr std::size_t largest_part = 12;
  template <class T, class O>
  static Status run(const ladders::histogram::Args<T, O>& a) {
    EXPECT_LE(a.in.samples.count, largest_part);
    std::vector<std::uint64_t> counts(a.in.counters() + 1);
    for (std::size_t i = 0; i < a.in.samples.count; ++i) ++counts[a.in.counter_of(i)];
    for (unsigned k = 0; k < a.in.counters(); ++k) a.out.put(k, counts[k]);
    a.out.put_outside(counts.back());
    return {};
  }
};
TEST_F(Histogram, ManySamplesAreCountedInParts) {
  using namespace ladders::histogram;
  std::vector<std::uint16_t> samples(1003);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint16_t>(i * i % 11);
  for (const std::uint64_t channels : {1u, 3u})
    for (const Image image :
         {Image{}, {.width = 6, .pitch = 7}, {.width = 12, .pitch = 12}, {.width = 99, .pitch = 101}}) {
      std::vector<std::uint8_t> expected(9 * channels), counts(9 * channels, 77);
      std::array<std::uint64_t, 1> outside_expected{77};
      histogram_direct(cpu, samples, expected, outside_expected, {image.width, image.pitch, channels});
      const Call call{.operation = Binning::direct,
                      .in = {input_array(Type::u16, samples.size(), samples.data())},
                      .out = {{{Type::u8, counts.size(), counts.data()}, {Type::u64, 1, outside.data()}}},
                      .scalars = {0.0, 0.0, channels, image.width, image.pitch}};
      using Direct = By<Binning::direct>;
      const auto args = Binding::args<std::uint16_t, Direct>(call);
      ASSERT_TRUE((OfStored<few_at_once>::run<std::uint16_t, Direct>(args)));
      EXPECT_EQ(counts, expected) << channels << ' ' << image.width;
      EXPECT_EQ(outside, outside_expected) << channels << ' ' << image.width;
    }
}

// Both sides of every threshold, with counters that fit a block's shared memory on an H200 but not on a T4.
TEST_F(Histogram, ChoosesByTypeCountersAndSamples) {
  using namespace ladders::histogram;
  const auto chosen = [&](Type type, Binning binning, std::size_t n, std::size_t bins, Type counter = Type::u32,
                          const char* device = "h200") {
    const Call call{.operation = binning,
                    .in = {input_array(type, n, nullptr), input_array(type, bins + 1, nullptr)},
                    .out = {{{counter, bins, nullptr}}},
                    .scalars = {0.0, 100.0, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}, false}};
    return ladders::histogram::choose(call, emulated_machine(device)).rung;
  };
  using enum Binning;
  EXPECT_EQ(chosen(Type::f32, edges, 1000, 4096), "guided");
  EXPECT_EQ(chosen(Type::f32, edges, 1000, 4097), "word_columns");
  EXPECT_EQ(chosen(Type::f32, edges, 1 << 28, 4096, Type::u32, "t4"), "word_columns");
  EXPECT_EQ(chosen(Type::f64, edges, 1000, 256), "word_columns");
  EXPECT_EQ(chosen(Type::i8, even, 1 << 28, 256), "values");
  EXPECT_EQ(chosen(Type::i8, even, 1 << 28, 256, Type::u8), "until_full");
  EXPECT_EQ(chosen(Type::u32, even, 1 << 24, 256, Type::u8), "until_full");
  EXPECT_EQ(chosen(Type::u32, even, (1 << 24) - 1, 256, Type::u8), "word_columns");
  EXPECT_EQ(chosen(Type::u32, even, 4 * 256 * 65535, 256, Type::u16), "until_full");
  EXPECT_EQ(chosen(Type::u32, even, 4 * 256 * 65535 - 1, 256, Type::u16), "word_columns");
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 28, 58'111), "word_columns");
  EXPECT_EQ(chosen(Type::u32, direct, 1000, 58'112), "slices");
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 28, 174'335), "slices");       // 3 slices
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 24, 174'336), "partitioned");  // 4
  EXPECT_EQ(chosen(Type::u32, direct, (1 << 24) - 1, 290'559), "slices");
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 21, 290'559), "slices");  // 5
  EXPECT_EQ(chosen(Type::u32, direct, (1 << 21) - 1, 174'336), "aggregated");
  EXPECT_EQ(chosen(Type::u32, direct, (1 << 22) - 1, 290'560), "aggregated");  // 6
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 22, 290'560), "partitioned");
  EXPECT_EQ(chosen(Type::u32, direct, 1 << 22, 1 << 20, Type::u32, "t4"), "aggregated");
  EXPECT_EQ(chosen(Type::u32, direct, 1000, 300'000, Type::u32, "t4"), "slices");
  least_partitioned.set(1000);
  EXPECT_EQ(chosen(Type::u32, direct, 1000, 1 << 20), "partitioned");
  least_partitioned.reset();
}

// A range that begins below the type's minimum and ends above its maximum.
TEST_F(Histogram, RangesMayReachBeyondTheType) {
  EXPECT_EQ(even<std::uint8_t>({0, 127, 128, 255}, -256, 512, 6), (Counts{0, 0, 2, 2, 0, 0}));
  EXPECT_EQ(outside[0], 0u);
}

// Every bin is full long before the end: rungs may stop early, but must still count samples outside if requested.
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

// One bin that is never hit, among others that fill up.
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

// Every sample is in exactly one part, in its channel's column, and no part exceeds the requested size.
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
