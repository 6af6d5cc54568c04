// The statistics that decide ties, on synthetic samples; and the steps of a measurement. Times are scripted, so results
// do not depend on the machine's speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "lab/statistics.h"
#include "lab/time.h"

namespace upsweep::lab {
namespace {

TEST(Statistics, QuartilesInterpolate) {
  const Quartiles q = quartiles({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(q.q1, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 2.5);
  EXPECT_DOUBLE_EQ(q.q3, 3.25);
  EXPECT_DOUBLE_EQ(quartiles({5}).q3, 5);
  EXPECT_DOUBLE_EQ(quartiles({}).median, 0);
}

TEST(Statistics, MedianIgnoresAnOutlier) { EXPECT_DOUBLE_EQ(quartiles({1, 1, 1, 1, 1000}).median, 1); }

TEST(Statistics, TieWithinTheSpread) {
  const Timing a{{9, 10, 11}, 0.05}, close{{9, 10.4, 11}, 0.01}, far{{9, 10.6, 11}, 0.01};
  EXPECT_TRUE(tied(a, close));
  EXPECT_TRUE(tied(close, a));
  EXPECT_FALSE(tied(a, far));
}

TEST(Statistics, SlowerNeedsBothSpreadAndQuartiles) {
  const Timing before{{9.9, 10, 10.1}, 0.02};
  EXPECT_TRUE(slower(before, {{11.9, 12, 12.1}, 0.02}));
  EXPECT_FALSE(slower(before, {{10.2, 10.3, 10.4}, 0.02})) << "within the two spreads";
  EXPECT_FALSE(slower(before, {{10.0, 12, 14}, 0.02})) << "the quartile ranges overlap";
  EXPECT_FALSE(slower({{11.9, 12, 12.1}, 0.02}, before)) << "faster is not slower";
}

// The CPU with a 64 KiB cache. Records the kinds of memory that are requested.
class ScriptedPlatform : public Platform {
 public:
  Backend backend() const override { return Backend::cpu; }
  Description describe() const override { return {.device = "scripted", .cache_bytes = 1 << 16}; }
  Rungs rungs_of(const Contract&) const override { return {}; }
  const Machine& machine() const override { return cpu_platform().machine(); }
  MemorySpace& memory(MemoryKind kind) override {
    kinds.insert(kind);
    return *this;
  }
  void* allocate(std::size_t bytes) override { return cpu_platform().allocate(bytes); }
  void release(void* memory) noexcept override { cpu_platform().release(memory); }
  void copy_in(void* to, const void* from, std::size_t bytes, Stream) override {
    cpu_platform().copy_in(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes, Stream) override {
    cpu_platform().copy_out(to, from, bytes);
  }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream) override {
    cpu_platform().fill(memory, byte, bytes);
  }
  void synchronize(Stream) override {}
  std::set<MemoryKind> kinds;  // requested so far
};

// Input and observations of a ScriptedClock. Outlives the clock, which the Stopwatch owns.
struct Script {
  double microseconds = 2;  // per call
  std::function<void()> before_sample = [] {};
  int timed_by_calls = 0, timed_alone = 0;
  int largest_batch = 0;
};

// Runs and counts the batches, and returns scripted times.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(Script& script) : script_(script) {}
  std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream) override {
    std::vector<double> times;
    script_.before_sample();
    for (int i = 0; i < samples; ++i) {
      for (int k = 0; k < batch; ++k) enqueue(k);
      times.push_back(script_.microseconds);
    }
    script_.largest_batch = std::max(script_.largest_batch, batch);
    return times;
  }
  std::vector<double> time_alone_us(const Enqueue& enqueue, int samples, Stream stream) override {
    ++script_.timed_alone;
    return time_us(enqueue, samples, 1, stream);
  }
  std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) override {
    ++script_.timed_by_calls;
    return time_us(enqueue, samples, batch, stream);
  }

 private:
  Script& script_;
};

std::set<const void*> inputs_seen;

Status right(const Call& c) {
  inputs_seen.insert(c.in[0].data);
  *c.out[0].as<std::int32_t>() = 1;  // the sum of one element of "constant"
  return {};
}
Status wrong(const Call& c) {
  *c.out[0].as<std::int32_t>() = 2;
  return {};
}
template <RunFn run>
Rung rung(std::string_view name) {
  return {.primitive = "reduce", .name = name, .find = [](Type type, Operation) {
            return type == Type::i32 ? run : nullptr;
          }};
}
const Case one{.type = Type::i32, .operation = Op::sum, .n = 1, .input = "constant"};

TEST(Stopwatch, MeasuresRightRungsAndRefusesWrongOnes) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good"), bad = rung<wrong>("bad");
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  const auto results = stopwatch.measure(*find_primitive("reduce"), one, {&good, &bad}, {.samples = 10});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].checked);
  EXPECT_FALSE(results[0].failure);
  EXPECT_EQ(results[0].samples, 10);
  EXPECT_DOUBLE_EQ(results[0].time.us.median, 2);
  EXPECT_DOUBLE_EQ(results[0].time.aa_spread, 0);
  EXPECT_FALSE(results[1].checked);
  ASSERT_TRUE(results[1].failure);
  EXPECT_EQ(results[1].samples, 0);
}

Status fixed_shape(const Call& c) {
  return c.tuning.threads ? Status{Code::unsupported, 0, "one thread only"} : right(c);
}
Status reads_threads(const Call& c) {
  (void)c.tuning.threads.value_or(1);
  return right(c);
}

TEST(Stopwatch, ARefusedLaunchShapeIsNoWrongResult) {
  ScriptedPlatform platform;
  Script script;
  const Rung fixed = rung<fixed_shape>("fixed"), good = rung<right>("good");
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  Case c = one;
  for (const bool shaped : {true, false}) {
    c.tuning = {.threads = shaped ? 2u : 0u};
    const auto results = stopwatch.measure(*find_primitive("reduce"), c, {&fixed, &good}, {.samples = 10});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_FALSE(results[0].failure);
    EXPECT_EQ(results[0].refused.value_or("none"), shaped ? "one thread only" : "none");
    EXPECT_EQ(results[0].samples, shaped ? 0 : 10);
    EXPECT_EQ(results[1].samples, 10) << "the others run";
  }
}

TEST(Stopwatch, TuningIsOfTheRungsThatReadIt) {
  ScriptedPlatform platform;
  Script script;
  const Rung reader = rung<reads_threads>("reader"), good = rung<right>("good");
  Case c = one;
  c.tuning = {.block = 32, .threads = 2};
  const auto results = Stopwatch(platform, std::make_unique<ScriptedClock>(script))
                           .measure(*find_primitive("reduce"), c, {&reader, &good}, {.samples = 10});
  EXPECT_EQ(results.at(0).tuning, (Tuning{.threads = 2}));
  EXPECT_EQ(results.at(1).tuning, Tuning{});
}

TEST(Stopwatch, WhatSynchronisesIsTimedByItsCalls) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good");
  Rung waits = good;
  waits.synchronises = true;
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  stopwatch.measure(*find_primitive("reduce"), one, {&good}, {});
  EXPECT_EQ(script.timed_by_calls, 0);
  const auto results = stopwatch.measure(*find_primitive("reduce"), one, {&waits}, {.samples = 10});
  EXPECT_EQ(script.timed_by_calls, 2 + 10) << "two to find the batch size";
  EXPECT_EQ(results.at(0).samples, 10);
}

TEST(Stopwatch, RungsFromHostHaveTheirArraysThereAndAreTimedByTheirCalls) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good");
  Rung pinned = good, never = rung<right>("never");
  pinned.arrays = MemoryKind::pinned;
  never.arrays = MemoryKind::pageable;
  never.find = [](Type, Operation) -> RunFn { return nullptr; };
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  const auto results = stopwatch.measure(*find_primitive("reduce"), one, {&pinned, &never}, {.samples = 10});
  EXPECT_EQ(platform.kinds, (std::set{MemoryKind::pinned})) << "no arrays for a rung that does not take the case";
  EXPECT_EQ(script.timed_by_calls, 2 + 10);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].checked);
  stopwatch.measure(*find_primitive("reduce"), one, {&good, &pinned}, {.samples = 10});
  EXPECT_EQ(platform.kinds, (std::set{MemoryKind::device, MemoryKind::pinned}));
}

std::atomic<bool> working{false};
Status leaves_a_thread_working(const Call& c) {
  if (!working.exchange(true))
    std::thread([] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (std::chrono::steady_clock::now() < end) continue;
      working = false;
    }).detach();
  return right(c);
}

TEST(Stopwatch, ATurnBeginsWhenTheLastOnesThreadsSleep) {
  ScriptedPlatform platform;
  Script script;
  int beside_others = 0;
  script.before_sample = [&] { beside_others += working; };
  const Rung restless = rung<leaves_a_thread_working>("restless"), good = rung<right>("good");
  {
    Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
    stopwatch.measure(*find_primitive("reduce"), one, {&restless, &good}, {.samples = 4});
  }
  EXPECT_EQ(beside_others, 0);
  while (working) std::this_thread::yield();
}

TEST(Stopwatch, SamplesLastLongEnough) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good");
  Stopwatch(platform, std::make_unique<ScriptedClock>(script)).measure(*find_primitive("reduce"), one, {&good}, {});
  EXPECT_EQ(script.largest_batch, 250) << "500 us of 2 us calls";
}

TEST(Stopwatch, CopiesRotateBeyondTheCacheUnlessItIsToBeWarm) {
  ScriptedPlatform platform;
  Script script;
  script.microseconds = 0.01;  // many calls per sample
  const Rung good = rung<right>("good");
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  for (const Situation situation : {Situation::back_to_back, Situation::warm}) {
    inputs_seen.clear();
    stopwatch.measure(*find_primitive("reduce"), one, {&good}, {.situation = situation});
    if (situation == Situation::warm)
      EXPECT_EQ(inputs_seen.size(), 1u);
    else
      EXPECT_GT(inputs_seen.size() * 256, 2u << 16) << "copies are 256 bytes apart";
  }
}

TEST(Stopwatch, AloneIsOneCallASample) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good");
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  const auto results =
      stopwatch.measure(*find_primitive("reduce"), one, {&good}, {.samples = 10, .situation = Situation::alone});
  EXPECT_EQ(script.largest_batch, 1);
  EXPECT_GE(script.timed_alone, 10);
  EXPECT_EQ(results.at(0).samples, 10);
  EXPECT_DOUBLE_EQ(results.at(0).time.us.median, 2);
}

TEST(Situation, NamesGoThereAndBack) {
  for (const std::string_view name : situation_names) {
    ASSERT_TRUE(parse_situation(name)) << name;
    EXPECT_EQ(to_string(*parse_situation(name)), name);
  }
  EXPECT_FALSE(parse_situation("hot"));
  EXPECT_FALSE(is_cold(Situation::warm));
  EXPECT_TRUE(is_cold(Situation::alone));
}

TEST(Stopwatch, LongRunsGetFewerSamples) {
  ScriptedPlatform platform;
  Script script;
  script.microseconds = 3e6;
  const Rung good = rung<right>("good");
  const auto results = Stopwatch(platform, std::make_unique<ScriptedClock>(script))
                           .measure(*find_primitive("reduce"), one, {&good}, {.samples = 20, .budget_us = 1e6});
  EXPECT_EQ(results.at(0).samples, 4);
}

TEST(Room, IsWhatThePurposeNeeds) {
  class Gpu : public ScriptedPlatform {
    Backend backend() const override { return Backend::cuda; }
  } gpu;
  ScriptedPlatform cpu;
  const Description gigabyte{.memory_bytes = std::size_t{1} << 30};
  const auto error_of = [&](const Platform& platform, const Case& c, Purpose purpose) -> std::string {
    try {
      require_room(platform, gigabyte, c, purpose);
      return "none";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::out_of_memory);
      return error.what() + error.hint();
    }
  };
  // Two copies fit, as a measurement needs; three do not.
  const Case half{.type = Type::u8, .n = static_cast<std::size_t>(0.45 * static_cast<double>(available_host_bytes()))};
  EXPECT_EQ(error_of(cpu, half, Purpose::time), "none");
  EXPECT_NE(error_of(cpu, half, Purpose::check).find("host memory"), std::string::npos);
  EXPECT_EQ(error_of(gpu, {.type = Type::u8, .n = 1 << 20}, Purpose::check), "none");
  EXPECT_NE(error_of(gpu, {.type = Type::u8, .n = (1 << 30) + 1}, Purpose::time).find("device memory"),
            std::string::npos);
  Case grid{.type = Type::i32, .n = 1};
  grid.tuning.grid = 0x7fffffff;
  EXPECT_EQ(error_of(gpu, grid, Purpose::time),
            "a grid of 2147483647 blocks needs 8.0 GiB of device memory, 1.0 GiB are availableuse grids up to "
            "268435456");
}

TEST(Stopwatch, ShortRunsGetMoreSamplesForAMinimumTime) {
  ScriptedPlatform platform;
  Script script;  // 250 calls of 2 us per sample
  const Rung good = rung<right>("good");
  const auto results = Stopwatch(platform, std::make_unique<ScriptedClock>(script))
                           .measure(*find_primitive("reduce"), one, {&good}, {.samples = 4, .least_us = 500 * 2 * 20});
  EXPECT_GE(results.at(0).samples, 40);
}

TEST(Stopwatch, WhatCannotFitIsRefusedBeforeItIsAllocated) {
  ScriptedPlatform platform;
  Script script;
  const Rung good = rung<right>("good");
  Stopwatch stopwatch(platform, std::make_unique<ScriptedClock>(script));
  try {
    stopwatch.measure(*find_primitive("reduce"), {.type = Type::i32, .operation = Op::sum, .n = std::size_t{1} << 48},
                      {&good}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::out_of_memory);
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace upsweep::lab
