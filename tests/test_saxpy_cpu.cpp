// The CPU rungs of saxpy: every rung and peer against the oracle at every pair of alignments, in place and apart; the
// oracle against wrong answers; and outputs in place as the lab arranges them.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/cache.h"
#include "base/inputs.h"
#include "base/platform.h"
#include "base/primitive.h"
#include "lab/check.h"
#include "lab/time.h"
#include "saxpy/cpu_simd.h"
#include "saxpy/oracle.h"

namespace upsweep {
namespace {

// ThreadSanitizer sees races in a oneTBB that was not built for it, so there the peers are left out.
#if defined(__SANITIZE_THREAD__)
constexpr bool with_peers = false;
#else
constexpr bool with_peers = true;
#endif

const Primitive& saxpy() { return *find_primitive("saxpy"); }

std::vector<const Rung*> saxpy_rungs() {
  std::vector<const Rung*> rungs;
  for (const Rung* rung : cpu_platform().rungs())
    if (rung->primitive == "saxpy" && (with_peers || !rung->peer)) rungs.push_back(rung);
  return rungs;
}

Case saxpy_case(Type type, std::size_t n, const char* input, double a) {
  Case c;
  c.type = type, c.n = n, c.input = input;
  c.params.set("a", a);
  return c;
}

// x, y and out, each some elements past a cache line, with guards around out.
struct Arrays {
  static constexpr std::size_t guard = 64;
  static constexpr std::byte poison{0xCD};
  Arrays(const Problem& problem, std::size_t shift_x, std::size_t shift_y, std::size_t shift_out, bool in_place)
      : bytes(problem.inputs()[0].count * size_of(problem.inputs()[0].type)) {
    const std::size_t element = size_of(problem.inputs()[0].type);
    const auto array = [&](std::vector<std::byte>& memory, std::size_t shift) {
      memory.assign(bytes + 4 * guard, poison);
      const std::size_t past = reinterpret_cast<std::uintptr_t>(memory.data()) % guard;
      return memory.data() + 2 * guard - past + shift * element;
    };
    x = array(memory[0], shift_x);
    y = array(memory[1], shift_y);
    out = in_place ? y : array(memory[2], shift_out);
    if (bytes) std::memcpy(x, problem.inputs()[0].data, bytes);
    if (bytes) std::memcpy(y, problem.inputs()[1].data, bytes);
  }
  bool guards_stand() const {
    for (std::size_t i = 1; i <= guard / 2; ++i)
      if (out[-static_cast<std::ptrdiff_t>(i)] != poison || out[bytes + i - 1] != poison) return false;
    return true;
  }
  std::vector<std::byte> memory[3];
  std::size_t bytes;
  std::byte *x, *y, *out;
};

Call call_of(const Case& c, const Arrays& arrays) {
  Call call;
  call.type = c.type;
  call.n = c.n;
  call.in = {arrays.x, arrays.y};
  call.out = {arrays.out};
  call.params = c.params;
  return call;
}

TEST(SaxpyCpu, EveryAlignmentInPlaceAndApart) {
  for (const Type type : saxpy().types())
    for (const std::size_t n : {0, 1, 5, 31, 64, 129, 1000}) {
      const Case c = saxpy_case(type, n, "uniform", -2.7);
      const auto problem = saxpy().make(c, {});
      for (const Rung* rung : saxpy_rungs()) {
        const RunFn run = rung->find(type, Op::sum);
        if (!run) continue;
        for (const std::size_t x : {0, 1, 3})
          for (const std::size_t y : {0, 1, 2})
            for (const std::size_t out : {0, 1, 5})
              for (const bool in_place : {false, true}) {
                const Arrays arrays(*problem, x, y, out, in_place);
                ASSERT_TRUE(run(call_of(c, arrays)));
                const void* outputs[] = {arrays.out};
                const auto wrong = problem->verify(*rung, outputs);
                ASSERT_FALSE(wrong) << rung->name << ' ' << to_string(type) << " n " << n << " shifts " << x << ' ' << y
                                    << ' ' << out << (in_place ? " in place: " : ": ") << *wrong;
                ASSERT_TRUE(arrays.guards_stand()) << rung->name << " n " << n;
              }
      }
    }
}

// Every core, and stores around the caches.
TEST(SaxpyCpu, LargerThanTheCaches) {
  const std::size_t beyond = last_level_cache_bytes() / (3 * sizeof(float)) + 12345;
  for (const std::size_t n : {std::size_t{11'000}, std::size_t{300'001}, beyond}) {
    const Case c = saxpy_case(Type::f32, n, "uniform", 1.0 / 3);
    const auto problem = saxpy().make(c, {});
    for (const Rung* rung : saxpy_rungs())
      for (const int threads : {1, 2, 3})
        for (const bool in_place : {false, true}) {
          const Arrays arrays(*problem, 1, 0, 3, in_place);
          Call call = call_of(c, arrays);
          call.params.set("threads", threads);
          ASSERT_TRUE(rung->find(Type::f32, Op::sum)(call));
          const void* outputs[] = {arrays.out};
          const auto wrong = problem->verify(*rung, outputs);
          ASSERT_FALSE(wrong) << rung->name << " n " << n << " threads " << threads << ": " << *wrong;
          ASSERT_TRUE(arrays.guards_stand()) << rung->name;
        }
  }
}

TEST(SaxpyCpu, EveryInstructionSet) {
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_STATIC_TARGET}) {
    if (!(hwy::SupportedTargets() & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    for (const Type type : saxpy().types())
      for (const std::size_t n : {1, 63, 130, 1029})
        for (const Stores stores : {Stores::cached, Stores::around}) {
          const Case c = saxpy_case(type, n, is_float(type) ? "wide" : "uniform", -2.7);
          const auto problem = saxpy().make(c, {});
          const Arrays arrays(*problem, 0, 1, 2, false);
          visit(type, [&]<class T>(TypeTag<T>) {
            const T a = static_cast<T>(static_cast<std::conditional_t<std::is_integral_v<T>, std::int64_t, T>>(-2.7));
            ladders::saxpy::simd_span(type, stores)(&a, arrays.x, arrays.y, arrays.out, n);
          });
          const void* outputs[] = {arrays.out};
          const auto wrong = problem->verify(Rung{}, outputs);
          ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << to_string(type) << " n " << n << ": " << *wrong;
        }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- the oracle can say no ---------------------------------------------------------------------------------

template <class T>
bool accepts(double a, const std::vector<T>& x, const std::vector<T>& y, const std::vector<T>& out) {
  return !ladders::saxpy::find_mistake(type_of<T>(), a, x.data(), y.data(), out.data(), x.size());
}

TEST(SaxpyOracle, TakesTwoRoundingsAndNoThird) {
  // 0.1f is a little more than a tenth: its product with 10 rounds to 1, and only fused does the rest show.
  const float a = 0.1f, x = 10, y = -1;
  const float twice = a * x + y, once = std::fma(a, x, y);
  ASSERT_NE(twice, once);
  EXPECT_TRUE(accepts<float>(a, {x}, {y}, {twice}));
  EXPECT_TRUE(accepts<float>(a, {x}, {y}, {once}));
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {once / 2})) << "between the two";
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {std::nextafter(once, 1.0f)}));
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {y})) << "y left as it was";
}

TEST(SaxpyOracle, IntegersWrapAndSpecialValuesStay) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(accepts<std::uint8_t>(3, {100}, {7}, {51}));
  EXPECT_FALSE(accepts<std::uint8_t>(3, {100}, {7}, {255})) << "saturated";
  EXPECT_TRUE(accepts<std::int8_t>(-2.7, {100}, {0}, {56})) << "the whole part of a: -2";
  EXPECT_TRUE(accepts<std::uint32_t>(-1, {1}, {0}, {0xffffffff}));
  EXPECT_TRUE(accepts<float>(2, {nan, inf}, {1, -inf}, {nan, nan}));
  EXPECT_FALSE(accepts<float>(2, {inf}, {1}, {nan}));
  EXPECT_FALSE(accepts<float>(0, {nan}, {1}, {1})) << "0 * NaN is NaN";
  EXPECT_FALSE(accepts<float>(2, {1, 2, 3}, {1, 1, 1}, {3, 5, 6})) << "the last one";
}

// ---- outputs in place ----------------------------------------------------------------------------------------

// Adds x in again where the caller has been before: right on a fresh y, wrong on one that was not renewed.
Status once_only(const Call& call) {
  const auto* x = static_cast<const float*>(call.in[0]);
  auto* y = static_cast<float*>(call.out[0]);
  if (call.in[1] != call.out[0]) return {Code::invalid_argument, 0, "not in place"};
  for (std::size_t i = 0; i < call.n; ++i) y[i] += 2 * x[i];
  return {};
}
// Leaves y as it is.
Status nothing(const Call&) { return {}; }

Rung in_place_rung(const char* name, RunFn (*find)(Type, Op)) {
  Rung rung{};
  rung.primitive = "saxpy", rung.name = name, rung.find = find;
  return rung;
}

TEST(InPlace, TheLabRenewsWhatACallOverwrites) {
  const Rung right = in_place_rung("once_only", [](Type type, Op) { return type == Type::f32 ? &once_only : nullptr; });
  const Rung wrong = in_place_rung("nothing", [](Type type, Op) { return type == Type::f32 ? &nothing : nullptr; });
  Case c = saxpy_case(Type::f32, 1000, "uniform", 2);
  c.params.set("inplace", 1);
  EXPECT_EQ(saxpy().make(c, {})->outputs()[0].in_place_of, 1);

  lab::Stopwatch stopwatch(cpu_platform());
  for (int twice = 0; twice < 2; ++twice) {
    const auto measured =
        stopwatch.measure(saxpy(), c, {&right, &right, &wrong}, {.samples = 4, .cold = false, .budget_us = 1e3});
    ASSERT_EQ(measured.size(), 3u);
    EXPECT_TRUE(measured[0].checked) << measured[0].failure.value_or("");
    EXPECT_TRUE(measured[1].checked) << "the second contestant found what the first had left";
    EXPECT_FALSE(measured[2].checked);
  }
}

}  // namespace
}  // namespace upsweep
