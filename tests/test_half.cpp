// 16-bit floats: conversions against the definition of rounding to nearest, for every value of each type, and the
// library's calls. The exact values of f16 are in test_npy.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "error_of.h"
#include "upsweep/half.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/sort.h"

namespace upsweep {
namespace {

template <class T>
class Half : public testing::Test {
 protected:
  static std::vector<T> every_value() {
    std::vector<T> all;
    for (unsigned bits = 0; bits < 65536; ++bits) all.push_back(T::of_bits(static_cast<std::uint16_t>(bits)));
    return all;
  }
  // Every value except NaN.
  static std::vector<T> every_number() {
    std::vector<T> all = every_value();
    std::erase_if(all, [](T x) { return x != x; });
    return all;
  }
  Device cpu = Device::cpu();
};
using Halves = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Half, Halves);

TYPED_TEST(Half, EveryValueConvertsBack) {
  for (const TypeParam x : this->every_value()) {
    const TypeParam back = float(x);
    if (x == x)
      ASSERT_EQ(back.bits, x.bits);
    else
      ASSERT_TRUE(std::isnan(float(back))) << x.bits;
  }
}

// The midpoint of two neighbours rounds to the even one, the floats next to the midpoint to the nearer one.
TYPED_TEST(Half, FloatsRoundToNearestEven) {
  using Limits = std::numeric_limits<TypeParam>;
  for (std::uint16_t bits = 0; bits < Limits::max().bits; ++bits) {
    const TypeParam low = TypeParam::of_bits(bits), high = TypeParam::of_bits(bits + 1);
    const float middle = static_cast<float>((double{float(low)} + double{float(high)}) / 2);
    const TypeParam even = bits % 2 ? high : low;
    ASSERT_EQ(TypeParam(middle).bits, even.bits);
    ASSERT_EQ(TypeParam(-middle).bits, even.bits | 0x8000);
    ASSERT_EQ(TypeParam(std::nextafter(middle, 0.0f)).bits, low.bits);
    ASSERT_EQ(TypeParam(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, high.bits);
  }
  const double most = double{float(Limits::max())}, half_step = std::ldexp(most, -Limits::digits);
  EXPECT_EQ(TypeParam(static_cast<float>(most + half_step / 2)).bits, Limits::max().bits);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::infinity()).bits, Limits::infinity().bits);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, Limits::infinity().bits);
  EXPECT_TRUE(std::isnan(float(TypeParam(-std::numeric_limits<float>::quiet_NaN()))));
}

TYPED_TEST(Half, Limits) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(float(Limits::min()), std::ldexp(1.0f, Limits::min_exponent - 1));
  EXPECT_EQ(double{float(Limits::max())},
            std::ldexp(2 - std::ldexp(1.0, 1 - Limits::digits), Limits::max_exponent - 1));
  EXPECT_EQ(float(Limits::lowest()), -float(Limits::max()));
  EXPECT_EQ(float(Limits::epsilon()), std::ldexp(1.0f, 1 - Limits::digits));
  EXPECT_EQ(float(Limits::denorm_min()), std::ldexp(1.0f, Limits::min_exponent - Limits::digits));
}

TYPED_TEST(Half, Sorts) {
  const std::vector<TypeParam> keys = this->every_value();
  std::vector<TypeParam> out(keys.size()), expected = keys;
  const auto before = [](TypeParam a, TypeParam b) { return a < b || (a == a && b != b); };
  std::stable_sort(expected.begin(), expected.end(), before);
  sort(this->cpu, keys, out);
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(out[i].bits, expected[i].bits) << i;

  std::vector<std::uint32_t> indices(keys.size());
  argsort(this->cpu, keys, indices, {.order = Order::descending});
  std::vector<std::uint32_t> backward(keys.size());
  std::iota(backward.begin(), backward.end(), 0u);
  std::stable_sort(backward.begin(), backward.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return before(keys[b], keys[a]); });
  EXPECT_EQ(indices, backward);

  sort(this->cpu, keys, out, {.float_order = FloatOrder::total_order});
  EXPECT_EQ(out.front().bits, 0xffff);  // the negative NaN with the largest payload
  EXPECT_EQ(out.back().bits, 0x7fff);
}

TYPED_TEST(Half, Reduces) {
  const std::vector<TypeParam> numbers{2.5f, -1.5f, 0.25f, 100.0f, -3.0f};
  EXPECT_EQ(reduce(this->cpu, numbers, 0.0f), 98.25f);
  EXPECT_EQ(reduce(this->cpu, numbers, TypeParam(-7.0f), Op::min), -7.0f);
  EXPECT_EQ(reduce(this->cpu, numbers, Op::min), -3.0f);
  std::vector<TypeParam> result(1);
  reduce(this->cpu, numbers, result, Op::max);
  EXPECT_EQ(result[0], 100.0f);
  EXPECT_EQ(argmin(this->cpu, numbers), 4u);
  EXPECT_EQ(argmax(this->cpu, numbers), 3u);

  // Every number of the type, repeated until the array is split into parts; then with one NaN.
  std::vector<TypeParam> many = this->every_number();
  while (many.size() < 1 << 20) many.insert(many.end(), many.begin(), many.begin() + 60000);
  EXPECT_EQ(many[argmax(this->cpu, many)].bits, TypeParam::infinity);
  EXPECT_EQ(argmax(this->cpu, many), TypeParam::infinity);
  many[700'000] = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_EQ(argmin(this->cpu, many), 700'000u);
  reduce(this->cpu, many, result, Op::min);
  EXPECT_TRUE(std::isnan(float(result[0])));

  // Rounded at every step, these sums would stop at the first power of two above the type's digits.
  const std::vector<TypeParam> ones(1 << 16, 1.0f);
  EXPECT_EQ(reduce(this->cpu, ones, 0.0f), 65536.0f);
  const std::vector<TypeParam> halves(1 << 16, 0.5f);
  EXPECT_EQ(reduce(this->cpu, halves), 32768.0f);
  EXPECT_TRUE(std::signbit(reduce(this->cpu, std::vector<TypeParam>(100, -0.0f), -0.0f)));
  EXPECT_EQ(error_of([&] { reduce(this->cpu, numbers, result, Op::product); }).code(), Code::unsupported);

  std::vector<float> sums(3);
  reduce_segments(this->cpu, numbers, 2, sums);
  EXPECT_EQ(sums, (std::vector<float>{1.0f, 100.25f, -3.0f}));
}

TYPED_TEST(Half, Scans) {
  std::vector<TypeParam> ones(5000, 1.0f);
  std::vector<float> sums(ones.size());
  inclusive_scan(this->cpu, ones, sums);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], static_cast<float>(i + 1));
  exclusive_scan(this->cpu, ones, sums);
  EXPECT_EQ(sums.back(), 4999.0f);
  for (const std::size_t n : {std::size_t{5000}, std::size_t{1} << 21}) {  // on one core; on all cores
    ones.assign(n, 1.0f);
    std::vector<TypeParam> rounded(n);
    exclusive_scan(this->cpu, ones, rounded, TypeParam(2.0f));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(rounded[i].bits, TypeParam(static_cast<float>(i + 2)).bits) << i;
    inclusive_scan(this->cpu, ones, ones);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(ones[i].bits, TypeParam(static_cast<float>(i + 1)).bits) << i;
  }
}

// Extremes of 8- and 16-bit integers.
template <class T>
class Narrow : public testing::Test {
 protected:
  Device cpu = Device::cpu();
};
using NarrowTypes = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>;
TYPED_TEST_SUITE(Narrow, NarrowTypes);

TYPED_TEST(Narrow, Extremes) {
  using T = TypeParam;
  std::vector<T> out(1);
  for (const std::size_t n : {1, 31, 1000, 1 << 20}) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i * i * 2654435761u >> 5);
    const auto least = std::min_element(x.begin(), x.end()), largest = std::max_element(x.begin(), x.end());
    reduce(this->cpu, x, out, Op::min);
    EXPECT_EQ(out[0], *least);
    reduce(this->cpu, x, out, Op::max);
    EXPECT_EQ(out[0], *largest);
    EXPECT_EQ(argmin(this->cpu, x), static_cast<std::uint64_t>(least - x.begin()));
    EXPECT_EQ(argmax(this->cpu, x), static_cast<std::uint64_t>(largest - x.begin()));
  }
  reduce(this->cpu, std::vector<T>(), out, Op::min);
  EXPECT_EQ(out[0], std::numeric_limits<T>::max());
  EXPECT_EQ(reduce(this->cpu, std::vector<T>{3, 1, 2}, T{2}, Op::max), 3);
}

}  // namespace
}  // namespace upsweep
