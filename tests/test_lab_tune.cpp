// Tests that tuning finds known crossovers, with exact and with noisy synthetic times.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/contract.h"
#include "error_of.h"
#include "lab/backends.h"
#include "lab/rng.h"
#include "lab/tune.h"

namespace upsweep::lab {
namespace {

// The rung for small x takes x ns, the rung for large x takes x / 2 ns plus a constant, so they cross at twice the
// constant.
struct Costs {
  double crossing, noise = 0;
  std::uint64_t calls = 0;
  Faster operator()(std::uint64_t x) {
    const Random random(1);
    const auto noisy = [&](double us) {
      return us * (1 + noise * (static_cast<double>(random(calls++) >> 11) * 0x1p-52 - 1));
    };
    const double n = static_cast<double>(x), small = noisy(n), large = noisy((n + crossing) / 2);
    if (std::abs(small / large - 1) < 2 * noise + 1e-9) return Faster::neither;
    return small < large ? Faster::small : Faster::large;
  }
};

TEST(FindCrossing, WithinAQuarterOfAnOctave) {
  for (const double crossing : {70., 1000., 2500., 8192., 10'000., 123'456., 3e6})
    for (const std::uint64_t known : {64u, 8192u, 100'000u, 1u << 22}) {
      Costs costs{crossing};
      const Crossing found = find_crossing({known, known + 1}, 64, 1 << 22, std::ref(costs));
      EXPECT_LE(static_cast<double>(found.last), crossing) << known;
      EXPECT_GE(static_cast<double>(found.first), crossing) << known;
      EXPECT_LE(found.first, found.last + found.last / 4 + 1) << crossing << ' ' << known;
    }
}

TEST(FindCrossing, DespiteNoise) {
  for (const double noise : {0.01, 0.03, 0.1})
    for (const double crossing : {1000., 10'000., 123'456.}) {
      Costs costs{crossing, noise};
      const Crossing found = find_crossing({8192, 8193}, 64, 1 << 22, std::ref(costs));
      // The answer is right wherever the times differ by more than the noise.
      EXPECT_LE(static_cast<double>(found.last), crossing * (1 + 8 * noise)) << noise;
      EXPECT_GE(static_cast<double>(found.first), crossing / (1 + 8 * noise) / 1.25) << noise;
    }
}

TEST(FindCrossing, TiesKeepWhatIsKnown) {
  const Crossing found = find_crossing({8192, 8193}, 1, 1 << 20, [](std::uint64_t) { return Faster::neither; });
  EXPECT_EQ(found.last, 8192u);
  EXPECT_EQ(found.first, 8193u);
}

TEST(FindCrossing, OneMayBeFasterEverywhere) {
  const Crossing small = find_crossing({1000, 1001}, 100, 5000, [](std::uint64_t) { return Faster::small; });
  EXPECT_EQ(small.last, 5000u);
  EXPECT_EQ(small.first, 5001u);
  const Crossing large = find_crossing({1000, 1001}, 100, 5000, [](std::uint64_t) { return Faster::large; });
  EXPECT_EQ(large.last, 99u);
  EXPECT_EQ(large.first, 100u);
}

TEST(Race, IsTimedBetweenRightRungs) {
  const Primitive& scan = *find_primitive("scan");
  const Rung& serial = *find_rung(cpu_platform().rungs_of(scan.contract), "scan", "serial");
  const Rung& parallel = *find_rung(cpu_platform().rungs_of(scan.contract), "scan", "parallel");
  Rung idle = serial;
  idle.find = [](Type, Operation) -> RunFn { return [](const Call&) { return Status{}; }; };
  const Case c{.type = Type::i32, .operation = Op::sum, .n = 1000};
  const RunRace race = race_on(cpu_platform());
  const Race times = race(scan, c, serial, parallel);
  EXPECT_GT(times.small_us, 0);
  EXPECT_GT(times.large_us, 0);
  EXPECT_EQ(error_of([&] { race(scan, c, serial, idle); }).code(), Code::wrong_result);
}

#if defined(UPSWEEP_WITH_SIMT)

// The result of tune_with(), which tunes the threshold of this name. The synthetic times cross at `crossing` on the
// axis of the threshold's probe.
struct Outcome {
  Tuned tuned;
  std::vector<std::string> rungs;  // for small numbers, in the order of the races
};
Outcome tune_with(std::string_view primitive_name, std::string_view threshold, double crossing) {
  const Primitive& primitive = *find_primitive(primitive_name);
  for (const Probe& probe : primitive.probes) {
    if (probe.threshold.name() != threshold) continue;
    Outcome outcome;
    const auto tuned = tune(
        open_plain(), primitive, probe, [&](const Primitive& p, const Case& c, const Rung& small, const Rung& large) {
          EXPECT_NE(&small, &large);
          EXPECT_EQ(small.primitive, p.name());
          outcome.rungs.emplace_back(small.name);
          const double x = probe.axis == "n" ? static_cast<double>(c.n)
                                             : static_cast<double>(c.settings.get(probe.axis, std::uint64_t{0}));
          return Race{x, (x + crossing) / 2, false};
        });
    EXPECT_EQ(probe.threshold, tuned ? tuned->here : probe.threshold.measured());
    probe.threshold.reset();
    if (!tuned) break;
    outcome.tuned = *tuned;
    return outcome;
  }
  ADD_FAILURE() << primitive_name << '.' << threshold << " decides nothing";
  return {};
}

TEST(Tune, InTheUnitOfTheThreshold) {
  const Outcome keys = tune_with("sort", "most_enumerated", 3000);
  EXPECT_EQ(keys.tuned.threshold, "sort.most_enumerated");
  EXPECT_EQ(keys.tuned.edge, 8192u);
  EXPECT_EQ(keys.tuned.small, "enumeration");
  EXPECT_GE(keys.tuned.here, 2560u);
  EXPECT_LT(keys.tuned.here, 3072u);
  EXPECT_NEAR(keys.tuned.gain, 2 * 8192. / (8192 + 3000) - 1, 1e-3);
  // The threshold is in bytes, of 4-byte elements.
  const Outcome bytes = tune_with("scan", "most_for_wave", 100'000);
  EXPECT_GE(bytes.tuned.here, 4u * 98'304);
  EXPECT_LT(bytes.tuned.here, 4u * 114'688);
  // This threshold is the large rung's minimum size, not the small one's maximum.
  const Outcome least = tune_with("sort", "least_counted_of_8_bits", 1e6);
  EXPECT_EQ(least.tuned.large, "counting");
  EXPECT_GT(least.tuned.here, 917'504u);
  EXPECT_LE(least.tuned.here, 1u << 20);
  // A parameter as axis: one rung is faster at 2^9 buckets, the other at 2^10.
  const Outcome buckets = tune_with("partition", "most_buckets_of_pairs", 9.5);
  EXPECT_EQ(buckets.tuned.small, "passes_in_tile");
  EXPECT_EQ(buckets.tuned.here, 512u);
}

TEST(Tune, WhatFitsStays) {
  const Outcome outcome = tune_with("sort", "most_enumerated", 8192 * 1.01);
  EXPECT_EQ(outcome.tuned.here, 8192u);
}

// Every probe distinguishes two rungs on the device that the thresholds were measured on.
TEST(Tune, EveryThresholdOfAChoiceHasAProbe) {
  for (const Primitive* primitive : primitives())
    for (const Threshold* threshold : primitive->contract.thresholds) {
      const Outcome outcome = tune_with(primitive->name(), threshold->name(), 5000);
      EXPECT_FALSE(outcome.rungs.empty()) << primitive->name() << '.' << threshold->name();
    }
}

TEST(Tune, WhatDoesNotDecideIsLeftOut) {
  const Primitive& sort = *find_primitive("sort");
  ASSERT_FALSE(sort.probes.empty());
  const auto never = [](const Primitive&, const Case&, const Rung&, const Rung&) -> Race {
    ADD_FAILURE() << "a race between rungs that no call can get";
    return {1, 1, true};
  };
  EXPECT_FALSE(tune(cpu_platform(), sort, sort.probes.front(), never));
}

#endif

}  // namespace
}  // namespace upsweep::lab
