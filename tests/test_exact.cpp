// Compares ExactSum with an independent big integer on hard cases of float sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {
namespace {

// The oracle: separate sums of positive and negative magnitudes, as binary numbers with one bit per byte in units of
// 2^-1074. It rounds by definition: to the nearer of the two adjacent floats, and to even on a tie. It shares no code
// with the code under test.
class Binary {
 public:
  void add(double magnitude) {  // finite, non-negative
    int exponent;
    const double fraction = std::frexp(magnitude, &exponent);
    auto whole = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    int position = exponent - 53 + 1074;
    for (; position < 0; ++position) whole >>= 1;  // subnormal: the low bits are zero
    for (int i = 0; whole; ++i, whole >>= 1)
      if (whole & 1) increment(static_cast<std::size_t>(position + i));
  }
  friend bool operator<(const Binary& a, const Binary& b) {
    return std::lexicographical_compare(a.bits_.rbegin(), a.bits_.rend(), b.bits_.rbegin(), b.bits_.rend());
  }
  Binary minus(const Binary& b) const {  // *this >= b
    Binary r = *this;
    int borrow = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const int d = bits_[i] - b.bits_[i] - borrow;
      borrow = d < 0;
      r.bits_[i] = static_cast<std::int8_t>(d + 2 * borrow);
    }
    return r;
  }
  bool operator==(const Binary&) const = default;

 private:
  void increment(std::size_t position) {
    while (bits_.at(position)) bits_[position++] = 0;
    bits_.at(position) = 1;
  }
  std::vector<std::int8_t> bits_ = std::vector<std::int8_t>(2200, 0);
};

Binary binary(double x) {
  Binary b;
  b.add(x);
  return b;
}

template <class T>
T nearest(const Binary& truth) {
  constexpr T largest = std::numeric_limits<T>::max();
  // Binary search for the largest float not above the exact value: encodings of positive floats are ordered like the
  // floats.
  using Bits = typename FloatFormat<T>::Bits;
  Bits low = 0, high = std::bit_cast<Bits>(largest);
  if (truth < binary(largest)) {
    while (high - low > 1) {
      const Bits middle = low + (high - low) / 2;
      if (truth < binary(std::bit_cast<T>(middle)))
        high = middle;
      else
        low = middle;
    }
  } else
    low = high;
  const T below = std::bit_cast<T>(low);
  const Binary rest = truth.minus(binary(below));
  // The gap to the next float; above the largest float, it is as wide as the gap below.
  const T gap = low < std::bit_cast<Bits>(largest) ? std::bit_cast<T>(Bits(low + 1)) - below
                                                   : largest - std::bit_cast<T>(Bits(low - 1));
  const Binary whole = binary(gap);
  if (!(rest < whole)) return std::numeric_limits<T>::infinity();  // a whole gap above the largest
  const Binary other = whole.minus(rest);                          // distance to the float above
  if (rest < other || (rest == other && !(low & 1))) return below;
  return std::bit_cast<T>(Bits(low + 1));
}

template <class T>
T oracle(const std::vector<T>& values) {
  Binary plus, minus;
  for (const T x : values) (x < 0 ? minus : plus).add(std::fabs(static_cast<double>(x)));
  if (minus < plus) return nearest<T>(plus.minus(minus));
  if (plus < minus) return -nearest<T>(minus.minus(plus));
  const bool all_minus_zero = std::all_of(values.begin(), values.end(), [](T x) { return x == 0 && std::signbit(x); });
  return all_minus_zero && !values.empty() ? -T(0) : T(0);
}

template <class T>
T exact(const std::vector<T>& values) {
  ExactSum<T> sum{};
  for (const T x : values) sum.deposit(x);
  return sum.round();
}

template <class T>
auto bits(T x) {
  return std::bit_cast<typename FloatFormat<T>::Bits>(x);
}

template <class T>
class ExactSumOf : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSumOf, Floats);

template <class T>
struct Numbers {
  using L = std::numeric_limits<T>;
  static constexpr T tiny = L::denorm_min(), normal = L::min(), largest = L::max(), inf = L::infinity(),
                     nan = L::quiet_NaN();
  static T ulp_of_largest() { return largest - std::nextafter(largest, T(0)); }
};

TYPED_TEST(ExactSumOf, AwkwardSumsAreCorrectlyRounded) {
  using T = TypeParam;
  using N = Numbers<T>;
  const T u = std::numeric_limits<T>::epsilon() / 2;  // half an ulp of 1
  const std::vector<std::vector<T>> cases{
      {},
      {T(0)},
      {-T(0)},
      {-T(0), -T(0)},
      {-T(0), T(0)},
      {-T(0), N::tiny, -T(0), -N::tiny},
      {T(1e30), T(-1e30), N::tiny},
      {N::tiny, T(1e30), T(1), T(-1e30), -N::tiny},
      {N::largest, -N::largest, N::tiny, N::tiny, N::tiny},
      {T(1), u},            // a tie: 1 is even
      {T(1) + 2 * u, u},    // a tie: up to even
      {T(1), u, N::tiny},   // just above the tie
      {T(1), u, -N::tiny},  // just below it
      {T(-1), -u},
      {T(-1) - 2 * u, -u},
      {T(-1), -u, -N::tiny},
      {T(1), -u / 2},  // a tie below a power of two, where the spacing halves
      {T(1), -u / 2, N::tiny},
      {T(1), -u / 2, -N::tiny},
      {N::normal, -N::tiny},  // the largest subnormal
      {N::normal / 2, N::normal / 2},
      {N::largest, N::ulp_of_largest() / 2},            // exactly half way to overflow: up to even, infinity
      {N::largest, N::ulp_of_largest() / 2, -N::tiny},  // just below: the largest
      {-N::largest, -N::ulp_of_largest() / 2},
      {N::largest, N::largest},
      {N::largest, N::largest, -N::largest},
      {-N::largest, -N::largest, -N::largest, N::largest, N::largest},
  };
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(bits(exact(cases[i])), bits(oracle(cases[i]))) << "case " << i;
  // Three cases by hand, in case both implementations have the same error.
  EXPECT_EQ(exact(cases[6]), N::tiny);
  EXPECT_EQ(exact(cases[21]), N::inf);
  EXPECT_EQ(exact(cases[22]), N::largest);
  EXPECT_EQ(bits(exact(cases[0])), bits(T(0)));
  EXPECT_EQ(bits(exact(cases[3])), bits(T(-0.0)));
}

TYPED_TEST(ExactSumOf, EverySubnormalCountIsExact) {
  using T = TypeParam;
  ExactSum<T> sum{};
  T expected = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(bits(sum.round()), bits(expected));
    sum.deposit(Numbers<T>::tiny);
    expected += Numbers<T>::tiny;
  }
}

template <class T>
std::vector<T> random_floats(std::mt19937_64& random, std::size_t n, int low_exponent, int high_exponent) {
  std::vector<T> values(n);
  for (T& x : values) {
    const double mantissa = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
    const int exponent =
        low_exponent + static_cast<int>(random() % static_cast<unsigned>(high_exponent - low_exponent));
    x = static_cast<T>(std::ldexp(random() & 1 ? mantissa : -mantissa, exponent));
  }
  return values;
}

TYPED_TEST(ExactSumOf, RandomSumsAreCorrectlyRounded) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(7);
  const int lowest = L::min_exponent - L::digits, highest = L::max_exponent - 1;
  for (int i = 0; i < 300; ++i) {
    const int low = lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest - 1));
    const int high = i % 3 == 0 ? highest : std::min(highest, low + 1 + static_cast<int>(random() % 80));
    auto values = random_floats<T>(random, 1 + random() % 40, low, high);
    if (i % 2) {  // cancels everything except one perturbation
      const std::size_t n = values.size();
      for (std::size_t k = 0; k < n; ++k) values.push_back(-values[k]);
      values[0] = std::nextafter(values[0], T(0));
    }
    ASSERT_EQ(bits(exact(values)), bits(oracle(values))) << "sum " << i;
  }
}

TYPED_TEST(ExactSumOf, OrderAndSplitDoNotMatter) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(11);
  auto values = random_floats<T>(random, 500, L::min_exponent - L::digits, L::max_exponent - 1);
  const T expected = exact(values);
  ExactSum<T> canonical{};
  for (const T x : values) canonical.deposit(x);
  canonical.carry();
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    std::vector<ExactSum<T>> parts(1 + random() % 9);
    for (const T x : values) parts[random() % parts.size()].deposit(x);
    while (parts.size() > 1) {  // merges in a random tree, with random carries
      const std::size_t i = random() % (parts.size() - 1);
      if (random() & 1) parts[i].carry();
      parts[i].add(parts[i + 1]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    ASSERT_EQ(bits(parts[0].round()), bits(expected));
    parts[0].carry();
    ASSERT_TRUE(std::equal(parts[0].limb, parts[0].limb + ExactSum<T>::limbs, canonical.limb));
  }
}

TYPED_TEST(ExactSumOf, SpecialValues) {
  using T = TypeParam;
  using N = Numbers<T>;
  EXPECT_TRUE(std::isnan(exact<T>({T(1), N::nan, N::inf})));
  EXPECT_TRUE(std::isnan(exact<T>({N::inf, T(1), -N::inf})));
  EXPECT_EQ(exact<T>({N::inf, -N::largest, -N::largest}), N::inf);
  EXPECT_EQ(exact<T>({-N::inf, N::largest, N::largest}), -N::inf);
  ExactSum<T> one{}, other{};
  one.deposit(N::inf);
  other.deposit(-N::inf);
  one.add(other);
  EXPECT_TRUE(std::isnan(one.round()));
  one.clear();
  EXPECT_EQ(bits(one.round()), bits(T(0)));
}

// 2^40 terms of the largest magnitude, by doubling: the count that the limbs are sized for.
TYPED_TEST(ExactSumOf, LargestSumComesBack) {
  using T = TypeParam;
  using N = Numbers<T>;
  for (const T sign : {T(1), T(-1)}) {
    ExactSum<T> sum{};
    sum.deposit(sign * N::largest);
    for (int i = 0; i < 40; ++i) {
      const ExactSum<T> half = sum;
      sum.add(half);
    }
    EXPECT_EQ(sum.round(), sign * N::inf);
    ExactSum<T> back{};
    back.deposit(-sign * N::largest);
    for (int i = 0; i < 40; ++i) {
      const ExactSum<T> half = back;
      back.add(half);
    }
    back.deposit(sign * N::tiny);
    sum.add(back);
    EXPECT_EQ(bits(sum.round()), bits(sign * N::tiny));
  }
}

// Limbs filled to the limit that `pending` permits before a carry must survive an add and a deposit.
TYPED_TEST(ExactSumOf, FullLimbsCarryInTime) {
  using T = TypeParam;
  using S = ExactSum<T>;
  S full{};
  constexpr std::int64_t most = (std::int64_t{1} << 62);
  for (int k = 0; k < S::limbs - 2; ++k) full.limb[k] = most;  // deposits_between_carries times 2^32
  full.pending = S::deposits_between_carries - 1;
  S twice = full;
  twice.add(full);
  twice.deposit(T(1));
  S canonical = full;
  canonical.carry();
  S expected = canonical;
  expected.add(canonical);
  expected.deposit(T(1));
  expected.carry();
  twice.carry();
  EXPECT_TRUE(std::equal(twice.limb, twice.limb + S::limbs, expected.limb));
}

TEST(ExactSumOfFloats, TakesExactDoubles) {
  ExactSum<float> sum{};
  sum.deposit(0x1p160);                // beyond the float range, within that of its sums
  sum.deposit(0x1.fffffffffffffp-97);  // 53 bits down to 2^-149
  sum.deposit(-0x1p160);
  EXPECT_EQ(sum.round(), 0x1p-96f);  // correctly rounded
  sum.deposit(-0x1p-96);
  EXPECT_EQ(sum.round(), -0x1p-149f);
  sum.deposit(0x1p-149);
  EXPECT_EQ(bits(sum.round()), 0u);
}

static_assert(
    [] {
      ExactSum<float> sum{};
      sum.deposit(1.0f);
      sum.deposit(0x1p-100f);
      sum.deposit(-1.0f);
      return sum.round();
    }() == 0x1p-100f,
    "works at compile time");

}  // namespace
}  // namespace upsweep::ladders::reduce
