// The seeded generator against published answers, and every input against its description.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/unsigned_as.h"
#include "lab/inputs.h"
#include "lab/rng.h"
#include "upsweep/error.h"

using namespace upsweep;

namespace {

constexpr std::size_t n = 10007;  // odd and prime, so no chunk size divides it

template <class T>
std::vector<T> values(std::string_view name, std::uint64_t seed = 1, std::size_t count = n) {
  return make_input<T>(name, count, seed);
}

}  // namespace

// Known answers published with the Random123 library.
TEST(Philox, KnownAnswers) {
  const auto expect = [](std::uint64_t low, std::uint64_t high, std::uint64_t key, std::array<std::uint32_t, 4> words) {
    const Philox::Block block = Philox::block(low, high, key);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(block.word[k], words[k]) << "word " << k;
  };
  expect(0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect(~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Random, IsRandomAccessAndSeedsDiffer) {
  const Random a(1), b(2), other_stream(1, 1);
  EXPECT_EQ(a.pair(3).even, a(6));
  EXPECT_EQ(a.pair(3).odd, a(7));
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) seen.insert({a(i), b(i), other_stream(i)});
  EXPECT_EQ(seen.size(), 3000u);
}

TEST(Random, ScaleCoversItsRangeEvenly) {
  const Random random(7);
  std::array<int, 10> count{};
  for (std::uint64_t i = 0; i < 100000; ++i) ++count.at(scale(random(i), 10));
  for (int c : count) EXPECT_NEAR(c, 10000, 500);  // 5 standard deviations
}

// Generating in parts of any size gives the same bytes as the whole, for every type and input.
TEST(Inputs, PartsAgreeWithTheWhole) {
  for (std::size_t t = 0; t < type_names.size(); ++t) {
    const Type type = static_cast<Type>(t);
    for (const std::string& name : input_names(type)) {
      std::vector<std::byte> whole(n * size_of(type));
      fill_input(name, type, n, 5, whole.data());
      for (std::size_t first = 0, size = 1; first < n; first += size, size = size * 3 + 1) {
        std::vector<std::byte> part(std::min(size, n - first) * size_of(type));
        fill_input_part(name, type, n, 5, first, part);
        ASSERT_EQ(std::memcmp(part.data(), whole.data() + first * size_of(type), part.size()), 0)
            << name << ' ' << to_string(type) << " from " << first;
      }
    }
  }
}

TEST(Inputs, ManyThreadsAgreeWithOnePart) {
  const std::size_t large = (std::size_t{1} << 20) + 3;
  for (const char* name : {"uniform", "reversed", "zipf", "permutation", "nan"}) {
    const auto whole = values<float>(name, 9, large);
    std::vector<float> part(large);
    fill_input_part(name, Type::f32, large, 9, 0, std::as_writable_bytes(std::span(part)));
    EXPECT_EQ(std::memcmp(part.data(), whole.data(), large * sizeof(float)), 0) << name;
  }
}

TEST(Inputs, SizesZeroAndOne) {
  for (Type type : {Type::u8, Type::f64})
    for (const std::string& name : input_names(type)) {
      double element = 0;
      fill_input(name, type, 0, 1, nullptr);
      fill_input(name, type, 1, 1, &element);
    }
}

TEST(Inputs, SeedsMatter) {
  for (const std::string& name : input_names(Type::f64)) {
    if (name == "constant" || name == "alternating_extremes" || name == "minus_zeros") continue;
    const auto a = values<double>(name, 1), b = values<double>(name, 2);
    EXPECT_NE(std::memcmp(a.data(), b.data(), n * sizeof(double)), 0) << name;
  }
}

TEST(Inputs, UniformCoversTheRange) {
  const auto bytes = values<std::int8_t>("uniform", 1, 100000);
  std::map<int, int> count;
  for (int v : bytes) ++count[v];
  EXPECT_EQ(count.size(), 256u);
  for (auto [v, c] : count) EXPECT_NEAR(c, 390, 120) << v;  // 6 standard deviations

  const auto longs = values<std::int64_t>("uniform");
  EXPECT_LT(*std::min_element(longs.begin(), longs.end()), std::numeric_limits<std::int64_t>::min() / 2);
  EXPECT_GT(*std::max_element(longs.begin(), longs.end()), std::numeric_limits<std::int64_t>::max() / 2);

  double sum = 0;
  for (float v : values<float>("uniform")) {
    ASSERT_TRUE(v >= -1 && v < 1);
    ASSERT_EQ(std::ldexp(v, 23), std::floor(std::ldexp(v, 23)));
    sum += v;
  }
  EXPECT_NEAR(sum / n, 0, 0.03);  // 5 standard deviations
}

TEST(Inputs, ConstantAndAllSame) {
  for (int v : values<int>("constant")) ASSERT_EQ(v, 1);
  const auto same = values<int>("all_same");
  EXPECT_EQ(std::count(same.begin(), same.end(), same[0]), static_cast<long>(n));
  EXPECT_NE(same[0], 1);
}

TEST(Inputs, TwoValuedHasTwo) {
  const auto v = values<std::uint8_t>("two_valued");
  EXPECT_EQ(std::set(v.begin(), v.end()).size(), 2u);
  EXPECT_NEAR(std::count(v.begin(), v.end(), v[0]), n / 2, 260);  // 5 standard deviations
}

TEST(Inputs, SortedAndReversed) {
  const auto up = values<std::int32_t>("sorted");
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end()));
  EXPECT_GT(std::set(up.begin(), up.end()).size(), n - 2);
  EXPECT_LT(up.front(), -2'000'000'000);
  EXPECT_GT(up.back(), 2'000'000'000);
  auto down = values<std::int32_t>("reversed");
  std::reverse(down.begin(), down.end());
  EXPECT_EQ(up, down);
  const auto floats = values<float>("sorted");
  EXPECT_TRUE(std::is_sorted(floats.begin(), floats.end()));
}

TEST(Inputs, ZipfFollowsItsLaw) {
  const auto v = values<std::uint32_t>("zipf", 1, 200000);
  std::map<std::uint32_t, int> count;
  for (auto k : v) ++count[k];
  double harmonic = 0;
  for (int k = 1; k <= 65536; ++k) harmonic += 1.0 / k;
  for (std::uint32_t k : {0u, 1u, 2u, 9u, 99u}) {
    const double expected = 200000 / (harmonic * (k + 1));
    EXPECT_NEAR(count[k], expected, 5 * std::sqrt(expected)) << "rank " << k;
  }
  EXPECT_LT(count.rbegin()->first, 65536u);
  const auto narrow = values<std::int8_t>("zipf");
  EXPECT_GE(*std::min_element(narrow.begin(), narrow.end()), 0);
}

TEST(Inputs, RandomWalkTakesSmallSteps) {
  const auto v = values<std::int32_t>("random_walk");
  for (std::size_t i = 1; i < n; ++i) ASSERT_LE(std::abs(v[i] - v[i - 1]), 16);
  EXPECT_GT(std::set(v.begin(), v.end()).size(), 100u);
  const auto f = values<double>("random_walk");
  for (std::size_t i = 1; i < n; ++i) ASSERT_LE(std::abs(f[i] - f[i - 1]), 1.0);
}

TEST(Inputs, PermutationHasEachOnce) {
  for (std::size_t count : {1, 2, 3, 4, 5, 17, 1024, 10007}) {
    auto v = values<std::uint32_t>("permutation", 3, count);
    if (count > 1000) {
      EXPECT_FALSE(std::is_sorted(v.begin(), v.end()));
    }
    std::sort(v.begin(), v.end());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(v[i], i) << "of " << count;
  }
}

TEST(Inputs, AlternatingExtremes) {
  const auto i = values<std::int16_t>("alternating_extremes");
  const auto f = values<float>("alternating_extremes");
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_EQ(i[k], k % 2 ? -32768 : 32767);
    ASSERT_EQ(f[k], k % 2 ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max());
  }
}

// Products of all elements, and of those above and below 1 in magnitude, stay within the range of f32.
template <class T>
void expect_near_one() {
  for (const std::size_t count : {std::size_t{100}, std::size_t{1000}, n, std::size_t{1} << 20}) {
    const auto v = values<T>("near_one", 1, count);
    double rising = 0, falling = 0;
    std::size_t negative = 0;
    for (const T x : v) {
      ASSERT_TRUE(std::abs(x) >= 0.5 && std::abs(x) < 1.5 + 1e-6) << x;
      negative += std::signbit(x);
      const double size = std::log2(std::abs(static_cast<double>(x)));
      (size > 0 ? rising : falling) += size;
    }
    EXPECT_GT(rising, 8) << count;
    EXPECT_LT(rising, 100) << count;
    EXPECT_GT(falling, -100) << count;
    EXPECT_NEAR(static_cast<double>(negative), static_cast<double>(count) / 2, 3 * std::sqrt(count)) << count;
  }
}

TEST(Inputs, NearOneForProducts) {
  expect_near_one<float>();
  expect_near_one<double>();
  for (const std::int16_t x : values<std::int16_t>("near_one")) ASSERT_NE(x % 2, 0);
  for (const std::uint64_t x : values<std::uint64_t>("near_one")) ASSERT_EQ(x % 2, 1u);
}

template <class T>
void expect_cancellation(double least_large, double largest) {
  const auto v = values<T>("cancellation");
  std::size_t large = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(v[i]) < 1) continue;
    ++large;
    ASSERT_EQ(v[i], -v[n - 1 - i]);
    ASSERT_GE(std::abs(v[i]), least_large);
    ASSERT_LT(std::abs(v[i]), largest);
  }
  EXPECT_NEAR(large, n * 15 / 16, 20);
}

TEST(Inputs, CancellationCancelsInPairs) {
  expect_cancellation<float>(0x1p24, 0x1p72);
  expect_cancellation<double>(0x1p53, 0x1p159);
}

template <class T>
void expect_special_floats() {
  for (T v : values<T>("denormals")) ASSERT_EQ(std::fpclassify(v), FP_SUBNORMAL);
  for (std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{33}, n}) {
    const auto nan = values<T>("nan", 1, count), inf = values<T>("inf", 1, count);
    const auto nans = std::count_if(nan.begin(), nan.end(), [](T v) { return std::isnan(v); });
    const auto infs = std::count_if(inf.begin(), inf.end(), [](T v) { return std::isinf(v); });
    EXPECT_GE(nans, 1);
    EXPECT_GE(infs, 1);
    EXPECT_LE(nans, 1 + static_cast<long>(count) / 200);
    EXPECT_LE(infs, 1 + static_cast<long>(count) / 200);
  }
  std::set<int> exponents;
  T sum_of_magnitudes = 0;
  for (T v : values<T>("wide", 1, 200000)) {
    ASSERT_TRUE(std::isfinite(v));
    exponents.insert(std::fpclassify(v) == FP_SUBNORMAL ? std::numeric_limits<T>::min_exponent - 2 : std::ilogb(v));
    sum_of_magnitudes += std::abs(v);
  }
  EXPECT_EQ(exponents.size(), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent + 2 - 34u);
  EXPECT_TRUE(std::isfinite(sum_of_magnitudes));
  std::size_t negative = 0;
  const std::vector<T> zeros = values<T>("signed_zeros");
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(zeros[i], 0);
    ASSERT_TRUE(std::signbit(zeros[i]) || (i >= n / 8 && n - 1 - i >= n / 8)) << i;
    negative += std::signbit(zeros[i]);
  }
  EXPECT_NEAR(negative, n / 4 + n * 3 / 8, 220);
  for (const T zero : values<T>("minus_zeros")) ASSERT_TRUE(zero == 0 && std::signbit(zero));
  // Each kind of special value, with either sign; NaNs with many payloads.
  std::size_t special_zeros[2] = {}, infinities[2] = {}, nans[2] = {}, subnormals[2] = {};
  std::set<UnsignedAs<T>> payloads;
  for (T v : values<T>("specials")) {
    const bool sign = std::signbit(v);
    special_zeros[sign] += v == 0, infinities[sign] += std::isinf(v), nans[sign] += std::isnan(v);
    subnormals[sign] += std::fpclassify(v) == FP_SUBNORMAL;
    if (std::isnan(v)) payloads.insert(std::bit_cast<UnsignedAs<T>>(v));
  }
  for (const bool sign : {false, true}) {
    EXPECT_NEAR(special_zeros[sign], n / 16, 160);
    EXPECT_NEAR(infinities[sign], n / 16, 160);
    EXPECT_NEAR(nans[sign], n / 8, 220);
    EXPECT_NEAR(subnormals[sign], n / 16, 160);
  }
  EXPECT_GT(payloads.size(), n / 16);
}

TEST(Inputs, SpecialFloats) {
  expect_special_floats<float>();
  expect_special_floats<double>();
}

TEST(Inputs, UnknownNamesAreRefusedWithTheList) {
  try {
    require_input("denormals", Type::i32);
    FAIL() << "denormals is not an input of i32";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid_argument);
    EXPECT_NE(e.hint().find("random_walk"), std::string::npos);
    EXPECT_EQ(e.hint().find("denormals"), std::string::npos);
  }
  float out[4];
  EXPECT_THROW(fill_input_part("uniform", Type::f32, 3, 1, 0, std::as_writable_bytes(std::span(out))), Error);
  EXPECT_THROW(fill_input_part("uniform", Type::f32, 3, 1, 4, {}), Error);
}
