// The scan oracle accepts right results for any order of additions, and rejects wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "lab/inputs.h"
#include "lab/primitive.h"
#include "lab/wrapping.h"
#include "ladders/scan/lab/oracle.h"

namespace upsweep::ladders::scan {
namespace {

// Scans left to right.
template <class T, class O = Sum>
std::vector<T> scanned(const std::vector<T>& in, bool inclusive, std::optional<T> initial = {}) {
  std::vector<T> out;
  T prefix = initial.value_or(O::template neutral<T>());
  for (const T x : in) {
    const T next = O{}(prefix, x);
    out.push_back(inclusive ? next : out.empty() && !initial ? value_of_none<O, T>() : prefix);
    prefix = next;
  }
  return out;
}

template <class T, class O = Sum>
std::optional<std::string> mistake(const std::vector<T>& in, const std::vector<T>& out, bool inclusive,
                                   const Scalar& initial = {}) {
  return find_mistake(type_of<T>(), O::operation, inclusive, in.data(), out.data(), in.size(), Zeros::differ, initial);
}

template <class T>
class ScanOracle : public testing::Test {};
using Types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(ScanOracle, Types);

TYPED_TEST(ScanOracle, TakesEveryInputScannedLeftToRight) {
  using T = TypeParam;
  for (const std::string& input : input_names(type_of<T>()))
    for (const bool inclusive : {false, true}) {
      const auto in = make_input<T>(input, 3000, 1);
      EXPECT_EQ(mistake(in, scanned(in, inclusive), inclusive), std::nullopt) << input;
      EXPECT_EQ((mistake<T, Max>(in, scanned<T, Max>(in, inclusive), inclusive)), std::nullopt) << input;
    }
}

TYPED_TEST(ScanOracle, RefusesOneWrongElementAnywhere) {
  using T = TypeParam;
  std::vector<T> in(1000, T(3));
  for (const bool inclusive : {false, true}) {
    const std::vector<T> right = scanned(in, inclusive);
    for (const std::size_t at : {0, 1, 31, 512, 999}) {
      std::vector<T> wrong = right;
      wrong[at] = static_cast<T>(wrong[at] + T(3));  // one element too many
      const auto said = mistake(in, wrong, inclusive);
      ASSERT_TRUE(said) << at;
      EXPECT_TRUE(said->starts_with("out[" + std::to_string(at) + "] is ")) << *said;
    }
    EXPECT_TRUE(mistake(in, scanned(in, !inclusive), inclusive)) << "the other kind of scan";
  }
}

TYPED_TEST(ScanOracle, AnInitialValueComesFirst) {
  using T = TypeParam;
  const auto in = make_input<T>("uniform", 300, 1);
  for (const bool inclusive : {false, true}) {
    const std::vector<T> right = scanned<T>(in, inclusive, T(3));
    EXPECT_EQ(mistake(in, right, inclusive, T(3)), std::nullopt);
    EXPECT_TRUE(mistake(in, right, inclusive)) << "there is none";
    EXPECT_TRUE(mistake(in, scanned(in, inclusive), inclusive, T(3))) << "left out";
    std::vector<T> late = right;
    late[0] = scanned(in, inclusive)[0];
    EXPECT_TRUE(mistake(in, late, inclusive, T(3))) << "left out of the first element";
    EXPECT_EQ((mistake<T, Max>(in, scanned<T, Max>(in, inclusive, T(3)), inclusive, T(3))), std::nullopt);
  }
}

TEST(ScanOracle, SpecialInitialValues) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> zeros{-0.0f, -0.0f}, ones{1, 1};
  EXPECT_EQ(mistake(zeros, {-0.0f, -0.0f}, false, -0.0f), std::nullopt);
  EXPECT_TRUE(mistake(zeros, {0.0f, -0.0f}, false, -0.0f));
  EXPECT_EQ(mistake(zeros, {0.0f, 0.0f}, true, 0.0f), std::nullopt);
  EXPECT_TRUE(mistake(zeros, {-0.0f, -0.0f}, true, 0.0f));
  EXPECT_EQ(mistake(ones, {nan, nan}, false, nan), std::nullopt);
  EXPECT_TRUE(mistake(ones, {nan, 1}, false, nan));
  EXPECT_EQ(mistake(ones, {inf, inf}, true, inf), std::nullopt);
  EXPECT_TRUE(mistake(ones, {1, 2}, true, inf));
  EXPECT_EQ((mistake<float, Max>(ones, {nan, nan}, false, nan)), std::nullopt);
}

TEST(ScanOracle, FloatsInAnotherOrderAreRightAndALostElementIsNot) {
  const auto in = make_input<float>("uniform", 4096, 1);
  std::vector<float> out = scanned(in, true);
  double exact = 0;
  for (const float x : in) exact += static_cast<double>(x);
  out.back() = static_cast<float>(exact);
  EXPECT_EQ(mistake(in, out, true), std::nullopt);
  out[99] -= in[50];
  EXPECT_TRUE(mistake(in, out, true));
}

TEST(ScanOracle, TheSignOfZeroCountsInSums) {
  const std::vector<float> in{-0.0f, -0.0f, 0.0f, -0.0f};
  EXPECT_EQ(mistake(in, {-0.0f, -0.0f, 0.0f, 0.0f}, true), std::nullopt);
  EXPECT_EQ(mistake(in, {0.0f, -0.0f, -0.0f, 0.0f}, false), std::nullopt);
  EXPECT_TRUE(mistake(in, {0.0f, -0.0f, 0.0f, 0.0f}, true));
  EXPECT_TRUE(mistake(in, {-0.0f, -0.0f, 0.0f, -0.0f}, true));
  EXPECT_TRUE(mistake(in, {-0.0f, -0.0f, -0.0f, 0.0f}, false));
  EXPECT_TRUE(mistake(in, {0.0f, 0.0f, -0.0f, 0.0f}, false));
  EXPECT_EQ(find_mistake(Type::f32, Op::sum, true, in.data(), std::vector<float>(4).data(), 4, Zeros::are_equal),
            std::nullopt);
  EXPECT_EQ((mistake<float, Max>(in, {0.0f, 0.0f, 0.0f, 0.0f}, true)), std::nullopt) << "which zero is not specified";
  EXPECT_TRUE(mistake<float>({1, -1}, {1, -0.0f}, true)) << "a sum that cancels is +0";
}

TEST(ScanOracle, NanAndInfinityFromWhereTheyAre) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{1, inf, 2, -inf, 3};
  EXPECT_EQ(mistake(in, {0, 1, inf, inf, nan}, false), std::nullopt);
  EXPECT_EQ(mistake(in, {1, inf, inf, nan, nan}, true), std::nullopt);
  EXPECT_TRUE(mistake(in, {0, 1, inf, inf, inf}, false));
  EXPECT_TRUE(mistake(in, {0, 1, -inf, inf, nan}, false));
  EXPECT_TRUE(mistake(in, {nan, 1, inf, inf, nan}, false));
  // The sign of a NaN, which x86 arithmetic sets, is not shown.
  EXPECT_EQ(*mistake(in, {-nan, 1, inf, inf, nan}, false), "out[0] is nan, should be 0");
  const std::vector<float> finite{1, 2};
  EXPECT_TRUE(mistake(finite, {0, inf}, false));
}

// ---- products -------------------------------------------------------------------------------------------------------

// Scans in another order: from the right within each block of 16 elements.
template <class T>
std::vector<T> products_in_blocks(const std::vector<T>& in) {
  std::vector<T> out;
  T before = 1;
  for (std::size_t i = 0; i < in.size(); ++i) {
    T block = in[i];
    for (std::size_t k = i; k % 16 != 0;) block *= in[--k];
    out.push_back(before * block);
    if (i % 16 == 15) before = out.back();
  }
  return out;
}

template <class T>
class ScanOracleOfProducts : public testing::Test {};
using TypesOfProducts = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(ScanOracleOfProducts, TypesOfProducts);

TYPED_TEST(ScanOracleOfProducts, TakesEveryInputScannedLeftToRightAndInBlocks) {
  using T = TypeParam;
  for (const std::string& input : input_names(type_of<T>())) {
    const auto in = make_input<T>(input, 3000, 1);
    for (const bool inclusive : {false, true}) {
      EXPECT_EQ((mistake<T, Product>(in, scanned<T, Product>(in, inclusive), inclusive)), std::nullopt) << input;
      EXPECT_EQ((mistake<T, Product>(in, scanned<T, Product>(in, inclusive, T(3)), inclusive, T(3))), std::nullopt)
          << input;
    }
    if constexpr (std::is_floating_point_v<T>) {
      EXPECT_EQ((mistake<T, Product>(in, products_in_blocks(in), true)), std::nullopt) << input;
    }
  }
}

TYPED_TEST(ScanOracleOfProducts, RefusesOneWrongElementAnywhere) {
  using T = TypeParam;
  const auto in = make_input<T>("near_one", 1000, 1);
  for (const bool inclusive : {false, true}) {
    const std::vector<T> right = scanned<T, Product>(in, inclusive);
    for (const std::size_t at : {0, 1, 31, 512, 999}) {
      std::vector<T> wrong = right;
      wrong[at] = Product{}(wrong[at], static_cast<T>(-1));
      EXPECT_TRUE((mistake<T, Product>(in, wrong, inclusive))) << at << ": the sign";
      wrong[at] = Product{}(right[at], in[500]);  // one element too many
      const auto said = mistake<T, Product>(in, wrong, inclusive);
      ASSERT_TRUE(said) << at;
      EXPECT_TRUE(said->starts_with("out[" + std::to_string(at) + "] is ")) << *said;
    }
    EXPECT_TRUE((mistake<T, Product>(in, scanned<T, Product>(in, !inclusive), inclusive))) << "the other kind of scan";
    EXPECT_TRUE((mistake<T, Product>(in, scanned<T, Product>(in, inclusive, T(3)), inclusive))) << "an initial value";
    EXPECT_TRUE((mistake<T, Product>(in, right, inclusive, T(3)))) << "no initial value";
  }
}

TEST(ScanOracleOfProducts, ZeroInfinityAndNanFromWhereTheyAre) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto accepts = [](const std::vector<float>& in, const std::vector<float>& out) {
    return !mistake<float, Product>(in, out, true);
  };
  EXPECT_TRUE(accepts({2, -0.0f, -3, inf}, {2, -0.0f, 0.0f, nan}));
  EXPECT_FALSE(accepts({2, -0.0f, -3, inf}, {2, 0.0f, 0.0f, nan})) << "the sign of zero";
  EXPECT_FALSE(accepts({2, -0.0f, -3, inf}, {2, -0.0f, 0.0f, inf}));
  EXPECT_FALSE(accepts({2, 0, 3}, {2, nan, 0})) << "nothing overflows";
  EXPECT_FALSE(accepts({2, 0, 3}, {2, 0, 1e-45f}));
  EXPECT_TRUE(accepts({-2, inf, -1}, {-2, -inf, inf}));
  EXPECT_FALSE(accepts({-2, inf, -1}, {-2, -inf, -inf}));
  EXPECT_FALSE(accepts({2, inf}, {2, nan})) << "nothing underflows";
  EXPECT_FALSE(accepts({2, inf}, {2, 3e38f}));
  EXPECT_TRUE(accepts({nan, 0, 2}, {nan, nan, nan}));
  EXPECT_FALSE(accepts({2, nan, 2}, {2, nan, 4}));
}

TEST(ScanOracleOfProducts, OverflowAndUnderflowInSomeOrder) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto accepts = [](const std::vector<float>& in, float last) {
    std::vector<float> out = scanned<float, Product>(in, true);
    out.back() = last;
    return !mistake<float, Product>(in, out, true);
  };
  EXPECT_TRUE(accepts({1e-30f, 1e30f, 1e30f}, 1e30f));
  EXPECT_TRUE(accepts({1e-30f, 1e30f, 1e30f}, inf)) << "1e-30 * (1e30 * 1e30)";
  EXPECT_FALSE(accepts({1e-30f, 1e30f, 1e30f}, -inf));
  EXPECT_FALSE(accepts({1e-30f, 1e30f, 1e30f}, 2e30f));
  EXPECT_FALSE(accepts({1e-30f, 1e30f, 1e30f}, nan)) << "nothing vanishes";
  EXPECT_TRUE(accepts({0, 1e30f, 1e30f}, nan)) << "0 * infinity";
  EXPECT_TRUE(accepts({inf, 1e-30f, 1e-30f}, nan)) << "infinity * 0";
  EXPECT_TRUE(accepts({1e30f, 1e30f, 1e-30f, 1e-30f}, nan)) << "infinity * 0";
  EXPECT_TRUE(accepts({1e30f, 1e-30f, 1e-30f}, 1e-30f));
  EXPECT_TRUE(accepts({1e30f, 1e-30f, 1e-30f}, 0)) << "1e30 * (1e-30 * 1e-30)";
  EXPECT_FALSE(accepts({2, 1e-30f, 1e-30f}, 1e-40f)) << "too large even for lost bits";
  EXPECT_FALSE(accepts({2, 1e-20f, 1e-19f}, 0)) << "nothing vanishes: 2e-39 has most of its bits";
  EXPECT_FALSE(accepts({1e30f, 1e30f}, 3e38f)) << "beyond the largest number";
  EXPECT_TRUE(accepts({1e30f, 1e30f}, inf));
}

// ---- wrapping integers ----------------------------------------------------------------------------------------------

template <class T>
class WrappingSums : public testing::Test {};
using Narrow = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>;
TYPED_TEST_SUITE(WrappingSums, Narrow);

// Reports exactly the sums that differ from those of wide integers: for whole scans and segments, in chunks of any
// length.
TYPED_TEST(WrappingSums, TheFirstIsReported) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int reported = 0;
  for (int round = 0; round < 2000; ++round) {
    const bool inclusive = round % 2 != 0;
    const std::size_t n = 1 + below(40), mean = 1 + below(12);
    std::vector<T> in(n), out(n);
    std::vector<bool> heads(n);
    std::optional<std::size_t> first;
    std::int64_t exact = 0;
    for (std::size_t i = 0; i < n; ++i) {
      in[i] = static_cast<T>(L::lowest() / 4 + static_cast<std::int64_t>(random() % L::max() / 2));
      heads[i] = i == 0 || below(mean) == 0;
      if (heads[i]) exact = 0;
      const std::int64_t before = exact;
      exact += in[i];
      const std::int64_t sum = inclusive ? exact : before;
      out[i] = static_cast<T>(sum);
      if (!first && (sum < L::lowest() || sum > L::max())) first = i;
    }
    ScanWatch watch({.type = type_of<T>(), .operation = Op::sum}, type_of<T>(), inclusive);
    for (std::size_t begin = 0, length; begin < n; begin += length) {
      length = std::min(n - begin, 1 + below(9));
      watch.see(std::as_bytes(std::span(in).subspan(begin, length)),
                std::as_bytes(std::span(out).subspan(begin, length)),
                [&](std::size_t i) -> bool { return heads[begin + i]; });
    }
    const std::string said = watch.warning();
    ASSERT_EQ(!said.empty(), first.has_value()) << said;
    if (first) {
      EXPECT_TRUE(said.starts_with("the sum at element " + std::to_string(*first) + " is ")) << said;
    }
    reported += first.has_value();
  }
  EXPECT_GT(reported, 50);
  EXPECT_LT(reported, 1800);
}

// In chunks of any length, with and without an initial value.
TEST(WrappingProducts, TheFirstIsReported) {
  using T = std::int32_t;
  std::mt19937 random(2);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const Primitive& scan = *find_primitive("scan");
  int reported = 0;
  for (int round = 0; round < 2000; ++round) {
    const bool inclusive = round % 2 != 0;
    const std::size_t n = 1 + below(12);
    Case c{.type = Type::i32, .operation = Op::product};
    std::int64_t exact = 1;
    if (round % 3 == 0) {
      exact = static_cast<std::int64_t>(below(2000)) - 1000;
      c.settings = scan.settings(Type::i32, {{"initial", std::to_string(exact)}});
    }
    std::vector<T> in(n), out(n);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < n; ++i) {
      in[i] = static_cast<T>(below(60)) - 20;
      const std::int64_t before = exact;
      exact = static_cast<T>(before) * std::int64_t{in[i]};  // exact up to the first product that wraps
      const std::int64_t product = inclusive ? exact : before;
      out[i] = static_cast<T>(product);
      if (!first && product != out[i]) first = i;
    }
    ScanWatch watch(c, Type::i32, inclusive);
    for (std::size_t begin = 0, length; begin < n; begin += length) {
      length = std::min(n - begin, 1 + below(5));
      watch.see(std::as_bytes(std::span(in).subspan(begin, length)),
                std::as_bytes(std::span(out).subspan(begin, length)));
    }
    const std::string said = watch.warning();
    ASSERT_EQ(!said.empty(), first.has_value()) << said;
    if (first) {
      EXPECT_TRUE(said.starts_with("the product at element " + std::to_string(*first) + " is beyond i32")) << said;
    }
    reported += first.has_value();
  }
  EXPECT_GT(reported, 50);
  EXPECT_LT(reported, 1800);
}

TEST(WrappingSums, OfSumsOfIntegersAlone) {
  const std::vector<std::uint8_t> in{200, 200}, out{200, 144};
  for (const Op op : {Op::sum, Op::max}) {
    ScanWatch watch({.type = Type::u8, .operation = op}, Type::u8, true);
    watch.see(std::as_bytes(std::span(in)), std::as_bytes(std::span(out)));
    EXPECT_EQ(watch.warning().empty(), op == Op::max);
  }
}

}  // namespace
}  // namespace upsweep::ladders::scan
