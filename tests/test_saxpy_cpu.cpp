// The CPU rungs of saxpy beyond what `upsweep check` runs: combinations of alignments, in place and out of place;
// arrays larger than the caches; every instruction set. The oracle against wrong answers. In-place outputs, which the
// laboratory restores between contestants.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/platform.h"
#include "cpu/cache.h"
#include "cpu/skipped_targets.h"
#include "cpu_rungs.h"
#include "lab/primitive.h"
#include "lab/time.h"
#include "ladders/saxpy/cpu_simd.h"
#include "ladders/saxpy/lab/oracle.h"

#if defined(HWY_AVX3_SPR)
static_assert(UPSWEEP_SKIPPED_16_BIT_FLOATS == (HWY_AVX3_SPR | HWY_AVX3_ZEN4));
#endif

namespace upsweep {
namespace {

const Primitive& saxpy() { return *find_primitive("saxpy"); }

// A negative factor: its products round in every float type, and it wraps in unsigned types.
Scalar factor(Type type) {
  return visit(type, []<class T>(TypeTag<T>) -> Scalar {
    if constexpr (std::is_floating_point_v<T>)
      return T(-2.7);
    else
      return static_cast<T>(-2);
  });
}

Case saxpy_case(Type type, std::size_t n, const char* input, Scalar a) {
  Case c{.type = type, .n = n, .input = input};
  c.settings.set(*saxpy().parameter("a"), a);
  return c;
}

struct Offsets {  // elements past a cache line
  std::size_t x, y, out;
};

// Returns the mistake in the answer of run(Call), or nullopt.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Offsets& offsets,
                                   bool in_place, auto&& run) {
  const std::size_t element = size_of(c.type), bytes = c.n * element;
  Framed x(bytes, offsets.x * element, problem.inputs()[0].data),
      y(bytes, offsets.y * element, problem.inputs()[1].data), apart(bytes, offsets.out * element);
  Framed& out = in_place ? y : apart;
  Call call = call_of(saxpy(), c);
  call.in = {{{c.type, c.n, x.data()}, {c.type, c.n, y.data()}}};
  call.out = {{{c.type, c.n, out.data()}}};
  if (!run(call)) return "failed";
  if (!x.guards_stand() || !y.guards_stand() || !apart.guards_stand()) return "wrote outside its output";
  const void* outputs[] = {out.data()};
  return problem.verify(rung, outputs);
}

TEST(SaxpyCpu, EveryAlignmentInPlaceAndApart) {
  for (const Type type : saxpy().types())
    for (const std::size_t n : {0, 1, 5, 31, 64, 129, 1000}) {
      const Case c = saxpy_case(type, n, "uniform", factor(type));
      const auto problem = saxpy().make(c, {});
      for (const Rung* rung : cpu_rungs_of("saxpy", type, {})) {
        const RunFn run = rung->find(type, {});
        for (const std::size_t x : {0, 1, 3})
          for (const std::size_t y : {0, 1, 2})
            for (const std::size_t out : {0, 1, 5})
              for (const bool in_place : {false, true}) {
                const auto wrong = mistake(*rung, c, *problem, {x, y, out}, in_place, run);
                ASSERT_FALSE(wrong) << rung->name << ' ' << to_string(type) << " n " << n << " offsets " << x << ' '
                                    << y << ' ' << out << (in_place ? " in place: " : ": ") << *wrong;
              }
      }
    }
}

// Several threads, and non-temporal stores.
TEST(SaxpyCpu, LargerThanTheCaches) {
  const std::size_t beyond = last_level_cache_bytes() / (3 * sizeof(float)) + 12345;
  for (const unsigned threads : {1, 2, 3}) {
    if (under_thread_sanitizer && threads < 3) continue;
    Case c = saxpy_case(Type::f32, beyond, "uniform", 1.0f / 3);
    c.tuning.threads = threads;
    const auto problem = saxpy().make(c, {});
    for (const Rung* rung : cpu_rungs_of("saxpy", Type::f32, {}))
      for (const bool in_place : {false, true}) {
        const auto wrong = mistake(*rung, c, *problem, {1, 0, 3}, in_place, rung->find(Type::f32, {}));
        ASSERT_FALSE(wrong) << rung->name << " threads " << threads << ": " << *wrong;
      }
  }
}

TEST(SaxpyCpu, EveryInstructionSet) {
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const Type type : saxpy().types())
      for (const std::size_t n : {1, 63, 130, 1029})
        for (const Stores stores : {Stores::cached, Stores::around}) {
          const Case c = saxpy_case(type, n, is_float(type) ? "wide" : "uniform", factor(type));
          const auto wrong = mistake(Rung{}, c, *saxpy().make(c, {}), {0, 1, 2}, false, [&](const Call& call) {
            ladders::saxpy::simd_span(type, stores)(call.scalars[0].data(), call.in[0].data, call.in[1].data,
                                                    call.out[0].data, n);
            return Status{};
          });
          ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << to_string(type) << " n " << n << ": " << *wrong;
        }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- the oracle rejects wrong answers ----------------------------------------------------------------------

template <class T>
bool accepts(T a, const std::vector<T>& x, const std::vector<T>& y, const std::vector<T>& out) {
  return !ladders::saxpy::find_mistake(type_of<T>(), a, x.data(), y.data(), out.data(), x.size());
}

TEST(SaxpyOracle, TakesTwoRoundingsAndNoThird) {
  // 0.1f is slightly above 0.1: its product with 10 rounds to 1, and only a fused multiply-add keeps the remainder.
  const float a = 0.1f, x = 10, y = -1;
  const float twice = a * x + y, once = std::fma(a, x, y);
  ASSERT_NE(twice, once);
  EXPECT_TRUE(accepts<float>(a, {x}, {y}, {twice}));
  EXPECT_TRUE(accepts<float>(a, {x}, {y}, {once}));
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {once / 2})) << "between the two";
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {std::nextafter(once, 1.0f)}));
  EXPECT_FALSE(accepts<float>(a, {x}, {y}, {y})) << "y unchanged";
}

TEST(SaxpyOracle, IntegersWrapAndSpecialValuesStay) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(accepts<std::uint8_t>(3, {100}, {7}, {51}));
  EXPECT_FALSE(accepts<std::uint8_t>(3, {100}, {7}, {255})) << "saturated";
  EXPECT_TRUE(accepts<std::int8_t>(-2, {100}, {0}, {56}));
  EXPECT_TRUE(accepts<std::uint32_t>(~0u, {1}, {0}, {0xffffffff}));
  EXPECT_TRUE(accepts<float>(2, {nan, inf}, {1, -inf}, {nan, nan}));
  EXPECT_FALSE(accepts<float>(2, {inf}, {1}, {nan}));
  EXPECT_FALSE(accepts<float>(0, {nan}, {1}, {1})) << "0 * NaN is NaN";
  EXPECT_FALSE(accepts<float>(2, {1, 2, 3}, {1, 1, 1}, {3, 5, 6})) << "the last element is wrong";
}

// ---- in-place outputs ----------------------------------------------------------------------------------------

// Adds to y in place: right on a fresh y, wrong on one that an earlier call has updated.
Status once_only(const Call& call) {
  const auto* x = call.in[0].as<const float>();
  auto* y = call.out[0].as<float>();
  if (call.in[1].data != y) return {Code::invalid_argument, 0, "not in place"};
  for (std::size_t i = 0; i < call.n(); ++i) y[i] += 2 * x[i];
  return {};
}
// Leaves y unchanged.
Status nothing(const Call&) { return {}; }

Rung in_place_rung(const char* name, RunFn (*find)(Type, Operation)) {
  Rung rung{};
  rung.primitive = "saxpy", rung.name = name, rung.find = find;
  return rung;
}

TEST(InPlace, TheLabRenewsWhatACallOverwrites) {
  const Rung right =
      in_place_rung("once_only", [](Type type, Operation) { return type == Type::f32 ? &once_only : nullptr; });
  const Rung wrong =
      in_place_rung("nothing", [](Type type, Operation) { return type == Type::f32 ? &nothing : nullptr; });
  Case c = saxpy_case(Type::f32, 1000, "uniform", 2.0f);
  c.settings.set(*saxpy().parameter("inplace"), true);
  const auto problem = saxpy().make(c, {});
  EXPECT_EQ(problem->outputs()[0].data, problem->inputs()[1].data);

  lab::Stopwatch stopwatch(cpu_platform());
  for (int twice = 0; twice < 2; ++twice) {
    const auto measured = stopwatch.measure(saxpy(), c, {&right, &right, &wrong},
                                            {.samples = 4, .situation = lab::Situation::warm, .budget_us = 1e3});
    ASSERT_EQ(measured.size(), 3u);
    EXPECT_TRUE(measured[0].checked) << measured[0].failure.value_or("");
    EXPECT_TRUE(measured[1].checked) << "the second contestant must not see the first one's output";
    EXPECT_FALSE(measured[2].checked);
  }
}

}  // namespace
}  // namespace upsweep
