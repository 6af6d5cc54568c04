// The CPU rungs of reduce beyond what `upsweep check` runs: every alignment, more threads than cores and every
// instruction set; the oracle against wrong answers; and the guarantees of `reproducible`.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/platform.h"
#include "cpu/parallel.h"
#include "cpu_rungs.h"
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/cpu_exact.h"
#include "ladders/reduce/cpu_extreme.h"
#include "ladders/reduce/cpu_simd.h"
#include "ladders/reduce/lab/oracle.h"

namespace upsweep {
namespace {

Call call_of(Type type, std::size_t n, const void* in, void* out, unsigned threads = 0) {
  return {.operation = Op::sum,
          .in = {input_array(type, n, in)},
          .out = {{{type, 1, out}}},
          .tuning = {.threads = threads}};
}

// Returns the mistake in the rung's sum; nullopt if it is right.
std::optional<std::string> mistake(const Rung& rung, Type type, const Problem& problem, std::size_t offset,
                                   unsigned threads = 0) {
  const Array values = problem.inputs()[0];
  const Type out_type = problem.outputs()[0].type;
  Framed in(values.bytes(), offset * size_of(type), values.data), out(size_of(out_type), 0);
  Call call = call_of(type, values.count, in.data(), out.data(), threads);
  call.out[0].type = out_type;
  if (!rung.find(type, Op::sum)(call)) return "failed";
  if (!in.guards_stand() || !out.guards_stand()) return "wrote outside its output";
  const void* outputs[] = {out.data()};
  return problem.verify(rung, outputs);
}

TEST(ReduceCpu, EveryAlignment) {
  const Primitive& reduce = *find_primitive("reduce");
  for (const Type type : reduce.types())
    for (const std::size_t n : {3, 40, 1100}) {
      const auto problem = reduce.make({.type = type, .operation = Op::sum, .n = n}, {});
      for (const Rung* rung : cpu_rungs_of("reduce", type, Op::sum))
        for (std::size_t offset = 0; offset < 16; ++offset) {
          const auto wrong = mistake(*rung, type, *problem, offset);
          ASSERT_FALSE(wrong) << rung->name << ' ' << to_string(type) << ' ' << n << " offset " << offset << ": "
                              << *wrong;
        }
    }
}

TEST(ReduceCpu, MoreThreadsThanCores) {
  const Primitive& reduce = *find_primitive("reduce");
  for (const Type type : {Type::u32, Type::f32, Type::f64})
    for (const std::size_t n : {(std::size_t{1} << 21) + 1, (std::size_t{3} << 20) - 5}) {
      const auto problem = reduce.make({.type = type, .operation = Op::sum, .n = n}, {});
      for (const Rung* rung : cpu_rungs_of("reduce", type, Op::sum)) {
        const auto wrong = mistake(*rung, type, *problem, 3, 64);
        ASSERT_FALSE(wrong) << rung->name << ' ' << to_string(type) << ' ' << n << ": " << *wrong;
      }
    }
}

// argmin and argmax, by every rung and in chunks: the extreme or a NaN in each part, with equal elements in later
// parts.
TEST(ReduceCpu, IndicesOfExtremes) {
  const std::size_t n = (std::size_t{1} << 18) + 5, distance = 37'001;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto found = [&](const Rung& rung, IndexOf which, const std::vector<float>& values, unsigned threads) {
    std::uint64_t index = n;
    const Call call{.operation = which,
                    .in = {input_array(Type::f32, values.size(), values.data())},
                    .out = {{{Type::u64, 1, &index}}},
                    .tuning = {.threads = threads}};
    EXPECT_TRUE(rung.find(Type::f32, which)(call));
    return index;
  };
  for (const Rung* rung : cpu_rungs_of("reduce", Type::f32, IndexOf::max))
    for (std::size_t first = 0; first < n; first += distance)
      for (const float extreme : {2.0f, nan}) {
        std::vector<float> values = make_input<float>("uniform", n, first);
        for (std::size_t i = first; i < n; i += distance) values[i] = extreme;
        for (const unsigned threads : {1, 3}) {
          ASSERT_EQ(found(*rung, IndexOf::max, values, threads), first) << rung->name << ' ' << extreme;
          for (float& x : values) x = -x;
          ASSERT_EQ(found(*rung, IndexOf::min, values, threads), first) << rung->name << ' ' << extreme;
          for (float& x : values) x = -x;
        }
      }
}

TEST(ReduceCpu, StreamsFindTheFirstExtreme) {
  const Primitive& reduce = *find_primitive("reduce");
  const auto streamed = [&](IndexOf which, const std::vector<double>& values, std::size_t chunk) {
    const auto streamer =
        reduce.stream(cpu_platform(), cpu_rung("reduce", "parallel"), {.type = Type::f64, .operation = which});
    EXPECT_EQ(streamer->output_type(), Type::u64);
    EXPECT_FALSE(streamer->any_order());
    std::uint64_t index = values.size();
    const Streamer::Sink sink{
        [&](std::span<const std::byte> bytes, std::size_t) { std::memcpy(&index, bytes.data(), sizeof index); }};
    for (std::size_t i = 0; i < values.size(); i += chunk) {
      const auto bytes = std::as_bytes(std::span(values).subspan(i, std::min(chunk, values.size() - i)));
      streamer->feed({&bytes, 1}, sink);
    }
    streamer->finish(sink);
    return index;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t chunk : {1, 2, 3, 8}) {
    EXPECT_EQ(streamed(IndexOf::max, {1, 5, 2, 5, 5, 0}, chunk), 1u) << chunk;
    EXPECT_EQ(streamed(IndexOf::min, {1, 5, 0.0, 2, -0.0, 5}, chunk), 2u) << chunk;
    EXPECT_EQ(streamed(IndexOf::min, {1, 5, -3, nan, -7, nan}, chunk), 3u) << chunk;
    EXPECT_THROW(streamed(IndexOf::max, {}, chunk), Error);
  }
}

// Every rung, at sizes that take each path and with any number of threads; and sums in chunks.
TEST(ReduceCpu, SumsKeepTheSignOfZero) {
  const Primitive& reduce = *find_primitive("reduce");
  for (const Type type : {Type::f32, Type::f64})
    for (const char* input : {"minus_zeros", "signed_zeros"})
      for (const std::size_t n : {0, 1, 2, 7, 33, 1029, 1 << 20}) {
        const auto problem = reduce.make({.type = type, .operation = Op::sum, .n = n, .input = input}, {});
        for (const Rung* rung : cpu_rungs_of("reduce", type, Op::sum))
          for (const unsigned threads : {1, 3}) {
            const auto wrong = mistake(*rung, type, *problem, n % 5, threads);
            ASSERT_FALSE(wrong) << rung->name << ' ' << to_string(type) << ' ' << input << ' ' << n << ": " << *wrong;
          }
      }
}

TEST(ReduceCpu, StreamsKeepTheSignOfZero) {
  const Primitive& reduce = *find_primitive("reduce");
  const auto streamed = [&](const Rung& rung, std::span<const float> values, std::size_t chunk) {
    const auto streamer = reduce.stream(cpu_platform(), rung, {.type = Type::f32, .operation = Op::sum});
    float sum = 1;
    const Streamer::Sink sink{
        [&](std::span<const std::byte> bytes, std::size_t) { std::memcpy(&sum, bytes.data(), sizeof sum); }};
    for (std::size_t i = 0; i < values.size(); i += chunk) {
      const auto bytes = std::as_bytes(values.subspan(i, std::min(chunk, values.size() - i)));
      streamer->feed({&bytes, 1}, sink);
    }
    streamer->finish(sink);
    return sum;
  };
  const float values[] = {-0.0f, -0.0f, -0.0f, 0.0f};
  for (const Rung* rung : cpu_rungs_of("reduce", Type::f32, Op::sum))
    for (const std::size_t chunk : {1, 2, 4}) {
      if (rung->peer) continue;
      EXPECT_FALSE(std::signbit(streamed(*rung, {}, chunk))) << rung->name;
      EXPECT_TRUE(std::signbit(streamed(*rung, std::span(values).first(3), chunk))) << rung->name << chunk;
      EXPECT_FALSE(std::signbit(streamed(*rung, values, chunk))) << rung->name << chunk;
    }
}

// ---- reproducible ------------------------------------------------------------------------------------------

template <class T>
T reproducible_sum(const T* in, std::size_t n, int threads) {
  T out;
  const Call call = call_of(type_of<T>(), n, in, &out, static_cast<unsigned>(threads));
  EXPECT_TRUE(cpu_rung("reduce", "reproducible").find(type_of<T>(), Op::sum)(call));
  return out;
}

template <class T>
T one_by_one(const std::vector<T>& values) {
  ladders::reduce::ExactSum<T> sum{};
  for (const T x : values) sum.deposit(x);
  return sum.round();
}

// Compares whole accumulators, because rounding could hide a difference.
template <class T>
bool same_exactly(const std::vector<T>& values) {
  ladders::reduce::ExactSum<T> fast{}, slow{};
  ladders::reduce::deposit_all(values.data(), values.size(), fast);
  for (const T x : values) slow.deposit(x);
  fast.carry();
  slow.carry();
  return std::equal(fast.limb, fast.limb + fast.limbs, slow.limb) && fast.flags == slow.flags;
}

template <class T>
auto bits(T x) {
  return std::bit_cast<typename ladders::reduce::FloatFormat<T>::Bits>(x);
}

template <class T>
class Reproducible : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Reproducible, Floats);

// Exponent windows of every width and position, which drift along the array: all paths of the fast sums, and the
// transitions between them.
TYPED_TEST(Reproducible, EveryExponentWindow) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(3);
  const int lowest = L::min_exponent - L::digits, highest = L::max_exponent - 14;
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + random() % 6000;
    const int width = 1 + static_cast<int>(random() % (round % 2 ? 70 : 30));
    const int drift = static_cast<int>(random() % 5) - 2;
    int base = lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest));
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 512 == 0) base = std::clamp(base + drift * 6, lowest, highest);
      const int exponent = std::min(highest, base + static_cast<int>(random() % static_cast<unsigned>(width)));
      const double mantissa = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
      values[i] = random() % 64 ? static_cast<T>(std::ldexp(random() & 1 ? mantissa : -mantissa, exponent)) : T(0);
    }
    ASSERT_TRUE(same_exactly(values)) << "round " << round << " n " << n << " width " << width;
  }
}

// Values of one sign, with full mantissas, at the window's edges, which fill the accumulators fastest.
TYPED_TEST(Reproducible, AccumulatorsThatFillUp) {
  using T = TypeParam;
  const T top = std::nextafter(T(2), T(0));
  for (int width = 0; width < 60; ++width) {
    std::vector<T> values(std::size_t{1} << 17, top);
    for (std::size_t i = 7; i < values.size(); i += 97) values[i] = std::ldexp(top, -width);
    ASSERT_TRUE(same_exactly(values)) << "width " << width;
  }
}

TYPED_TEST(Reproducible, SameBitsForAnyThreadsAlignmentOrderAndSplit) {
  using T = TypeParam;
  for (const char* input : {"uniform", "wide", "cancellation", "zipf"}) {
    auto values = make_input<T>(input, 300007, 5);
    const T expected = one_by_one(values);
    std::mt19937_64 random(1);
    for (const int threads : {1, 2, 3, 7}) {
      Framed in(values.size() * sizeof(T), static_cast<std::size_t>(threads) * sizeof(T), values.data());
      const T* const shifted = reinterpret_cast<const T*>(in.data());
      ASSERT_EQ(bits(reproducible_sum(shifted, values.size(), threads)), bits(expected)) << input;
      std::shuffle(values.begin(), values.end(), random);
      ladders::reduce::ExactSum<T> sum{};
      for (std::size_t begin = 0; begin < values.size();) {
        const std::size_t count = std::min(values.size() - begin, 1 + random() % 50000);
        ladders::reduce::ExactSum<T> part{};
        ladders::reduce::deposit_all(values.data() + begin, count, part);
        sum.add(part);
        begin += count;
      }
      ASSERT_EQ(bits(sum.round()), bits(expected)) << input;
    }
  }
}

// ---- every instruction set of this processor ----------------------------------------------------------------

// Calls the loops of argmin and argmax directly, because a rung keeps those of the first instruction set that it runs
// on.
std::uint64_t index_of(Type type, IndexOf which, const void* in, std::size_t n) {
  return visit(type, [&]<class T>(TypeTag<T>) -> std::uint64_t {
    if constexpr (sizeof(T) < 4) {
      return n;
    } else {
      const auto find = [&]<class O>(O) {
        const ladders::reduce::ExtremeLoops loops = ladders::reduce::extreme_loops<T, O>();
        const T* const values = static_cast<const T*>(in);
        return index_in(values, n, ladders::reduce::extreme_block<O>(values, n, loops), loops);
      };
      return which == IndexOf::min ? find(ladders::reduce::ArgMin{}) : find(ladders::reduce::ArgMax{});
    }
  });
}

TEST(InstructionSets, AllAgreeWithTheOracle) {
  const Primitive& primitive = *find_primitive("reduce");
  const Rung& simd = cpu_rung("reduce", "simd");  // checked against the oracle's ordinary bounds
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const Type type : {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64})
      for (const std::size_t n : {1, 7, 63, 130, 1029, 5003})
        for (const char* input : {"uniform", "alternating_extremes", "wide", "nan", "minus_zeros"}) {
          if (!is_float(type) && input[0] != 'u' && input[0] != 'a') continue;
          Case c;
          c.type = type, c.n = n, c.input = input;
          for (const Op op : {Op::sum, Op::product, Op::min, Op::max}) {
            c.operation = op;
            const auto problem = primitive.make(c, {});
            Framed in(n * size_of(type), n % 5 * size_of(type), problem->inputs()[0].data);
            for (const auto from : {ladders::reduce::From::caches, ladders::reduce::From::memory}) {
              std::uint64_t out = 0;
              ladders::reduce::simd_reduction(type, op, from)(in.data(), n, &out);
              const void* outputs[] = {&out};
              const auto wrong = problem->verify(simd, outputs);
              ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << to_string(type) << ' ' << to_string(op) << ' '
                                  << input << ' ' << n << ": " << *wrong;
            }
          }
        }
    for (const Type type : {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64})
      for (const std::size_t n : {1, 7, 63, 130, 1029, 5003, 20'011})
        for (const char* input : {"uniform", "two_valued", "all_same", "sorted", "reversed", "nan", "specials"}) {
          if (!is_float(type) && (input[0] == 'n' || std::string_view(input) == "specials")) continue;
          for (const IndexOf which : {IndexOf::min, IndexOf::max}) {
            const auto problem = primitive.make({.type = type, .operation = which, .n = n, .input = input}, {});
            Framed in(n * size_of(type), n % 5 * size_of(type), problem->inputs()[0].data);
            const std::uint64_t index = index_of(type, which, in.data(), n);
            const void* outputs[] = {&index};
            const auto wrong = problem->verify(simd, outputs);
            ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << to_string(type) << ' ' << to_string(which) << ' '
                                << input << ' ' << n << ": " << *wrong;
          }
        }
    for (const char* input : {"uniform", "wide", "cancellation", "denormals", "inf", "signed_zeros", "minus_zeros"}) {
      ASSERT_TRUE(same_exactly(make_input<float>(input, 20011, 2))) << hwy::TargetName(target) << " f32 " << input;
      ASSERT_TRUE(same_exactly(make_input<double>(input, 20011, 2))) << hwy::TargetName(target) << " f64 " << input;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- the oracle rejects wrong answers ----------------------------------------------------------------------

template <class T>
bool accepts(const std::vector<T>& in, Op op, T out, bool reproducible = false) {
  Rung rung{};
  rung.reproducible = reproducible;
  return !ladders::reduce::make_oracle(type_of<T>(), op, in.data(), in.size())(&out, rung);
}

TEST(ReduceOracle, RefusesWhatIsWrong) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float largest = std::numeric_limits<float>::max();
  using F = std::vector<float>;
  EXPECT_TRUE(accepts<std::int32_t>({2147483647, 1}, Op::sum, std::numeric_limits<std::int32_t>::min()));
  EXPECT_FALSE(accepts<std::int32_t>({1, 2, 3}, Op::sum, 5));
  EXPECT_FALSE(accepts<std::uint64_t>({3, 5}, Op::product, 16u));

  // Sums of small integers are exact, so one missing element shows at any count.
  const F ones(std::size_t{1} << 20, 1.0f);
  EXPECT_TRUE(accepts(ones, Op::sum, 0x1p20f));
  EXPECT_FALSE(accepts(ones, Op::sum, 0x1p20f - 1));
  const F thirds(1000, 1.0f / 3);
  EXPECT_TRUE(accepts(thirds, Op::sum, 333.3333f));
  EXPECT_FALSE(accepts(thirds, Op::sum, 333.0f));
  EXPECT_FALSE(accepts(thirds, Op::sum, std::nextafter(one_by_one(thirds), 0.0f), true)) << "one ulp, reproducible";

  EXPECT_FALSE(accepts(F{1, nan}, Op::sum, 1.0f));
  EXPECT_FALSE(accepts(F{inf, -inf}, Op::sum, 0.0f));
  EXPECT_FALSE(accepts(F{inf, 1}, Op::sum, nan));
  EXPECT_FALSE(accepts(F{1, 2}, Op::sum, inf));
  EXPECT_TRUE(accepts(F{largest, largest, -largest}, Op::sum, inf)) << "some order overflows";
  EXPECT_FALSE(accepts(F{largest, largest, -largest}, Op::sum, inf, true));

  for (const bool reproducible : {false, true}) {
    EXPECT_TRUE(accepts(F{-0.0f, -0.0f}, Op::sum, -0.0f, reproducible));
    EXPECT_FALSE(accepts(F{-0.0f, -0.0f}, Op::sum, 0.0f, reproducible));
    EXPECT_FALSE(accepts(F{-0.0f, 0.0f}, Op::sum, -0.0f, reproducible));
    EXPECT_FALSE(accepts(F{1, -1, -0.0f}, Op::sum, -0.0f, reproducible));
    EXPECT_FALSE(accepts(F{}, Op::sum, -0.0f, reproducible));
  }

  EXPECT_TRUE(accepts(F{1, nan, 2}, Op::min, nan));
  EXPECT_FALSE(accepts(F{1, nan, 2}, Op::min, 1.0f));
  EXPECT_TRUE(accepts(F{-0.0f, 0.0f}, Op::max, -0.0f));

  EXPECT_TRUE(accepts(F{1.5f, 1.5f, 2}, Op::product, 4.5f));
  EXPECT_FALSE(accepts(F{1.5f, 1.5f, 2}, Op::product, 4.51f));
  EXPECT_FALSE(accepts(F{1.5f, 0, 2}, Op::product, 3.0f));
  EXPECT_FALSE(accepts(F{inf, 0}, Op::product, 0.0f));
  EXPECT_TRUE(accepts(F{1e30f, 1e30f, 1e-30f}, Op::product, inf)) << "some order overflows";
  EXPECT_FALSE(accepts(F{1e30f, 1e30f, 1e-30f}, Op::product, nan)) << "no order makes inf * 0";
  EXPECT_FALSE(accepts(F{1e-30f, 1e-30f}, Op::product, inf));
}

// A sum of bf16 may overflow as a float in one order of additions and not in another, or only when it is rounded.
TEST(ReduceOracle, HalvesMayOverflow) {
  const bf16 largest = std::numeric_limits<bf16>::max(), infinity = std::numeric_limits<bf16>::infinity();
  const bf16 lowest = std::numeric_limits<bf16>::lowest();
  EXPECT_TRUE(accepts<bf16>({largest, lowest, largest}, Op::sum, largest));
  EXPECT_TRUE(accepts<bf16>({largest, lowest, largest}, Op::sum, infinity));
  EXPECT_FALSE(accepts<bf16>({largest, lowest, largest}, Op::sum, bf16(1.0f)));
  EXPECT_FALSE(accepts<bf16>({largest, lowest}, Op::sum, bf16(1.0f)));
  EXPECT_FALSE(accepts<bf16>({1.0f, 2.0f}, Op::sum, infinity));
  EXPECT_TRUE(accepts<f16>({65504.0f, 100.0f}, Op::sum, std::numeric_limits<f16>::infinity()));
}

TEST(ReduceOracle, IndexOfTheFirstExtreme) {
  const auto accepts_index = [](IndexOf which, const std::vector<double>& in, std::uint64_t index) {
    return !ladders::reduce::make_oracle(Type::f64, which, in.data(), in.size())(&index, {});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> in{1, -0.0, 3, 0.0, 3};
  EXPECT_TRUE(accepts_index(IndexOf::max, in, 2));
  EXPECT_FALSE(accepts_index(IndexOf::max, in, 4)) << "the last of equal elements";
  EXPECT_TRUE(accepts_index(IndexOf::min, in, 1));
  EXPECT_FALSE(accepts_index(IndexOf::min, in, 3));
  EXPECT_FALSE(accepts_index(IndexOf::min, in, 5)) << "past the end";
  EXPECT_TRUE(accepts_index(IndexOf::min, {1, nan, 0, nan}, 1));
  EXPECT_FALSE(accepts_index(IndexOf::min, {1, nan, 0, nan}, 2)) << "a NaN comes first";
  EXPECT_FALSE(accepts_index(IndexOf::max, {1, nan, 0, nan}, 3)) << "the last NaN";
}

// ---- parallel() --------------------------------------------------------------------------------------------

TEST(Parallel, EveryPartOnceFromManyThreadsAndNested) {
  std::vector<std::thread> callers;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        const int parts = 1 + round % 9;
        std::vector<int> seen(static_cast<std::size_t>(parts) * 3, 0);
        parallel(parts, 0, [&](int i) { parallel(3, 0, [&](int j) { ++seen[static_cast<std::size_t>(3 * i + j)]; }); });
        if (std::count(seen.begin(), seen.end(), 1) != 3 * parts) ++failures;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
  parallel(0, 0, [&](int) { ++failures; });
  EXPECT_EQ(failures, 0);
}

TEST(Parallel, ThreadsAreThoseAskedForOrAll) {
  const int all = std::min(hardware_threads(), Parts::most);
  EXPECT_EQ(threads_of({}), all);
  for (const auto& [asked, threads] : {std::pair{0u, all}, {1u, 1}, {3u, 3}, {3'000'000'000u, Parts::most}})
    EXPECT_EQ(threads_of({.threads = asked}), threads) << asked;
}

TEST(Parallel, CutCoversEverythingOnce) {
  for (const std::size_t bytes : {4, 8})
    for (const std::size_t n : {0ul, 1ul, 32769ul, 65537ul, 1048577ul, 33554431ul, 1073741825ul})
      for (const int threads : {1, 2, 3, 16, 300}) {
        const Parts parts = cut(n, bytes, threads);
        ASSERT_GE(parts.count, 1);
        ASSERT_LE(parts.count, Parts::most);
        const std::size_t before_last = static_cast<std::size_t>(parts.count - 1) * parts.size;
        ASSERT_TRUE(n == 0 || (before_last < n && n - before_last <= parts.size)) << n << ' ' << threads;
      }
}

}  // namespace
}  // namespace upsweep
