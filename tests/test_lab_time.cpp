// The statistics that decide what is a tie, on made-up samples; and that a measurement has the parts it should. No
// clock is asked: nothing here depends on how fast anything is.
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
  EXPECT_FALSE(slower(before, {{10.0, 12, 14}, 0.02})) << "the middle halves overlap";
  EXPECT_FALSE(slower({{11.9, 12, 12.1}, 0.02}, before)) << "faster is not slower";
}

// A platform whose clock is a script: batches are counted, times are invented.
class ScriptedPlatform final : public Platform {
 public:
  Backend backend() const override { return Backend::cpu; }
  Description describe() const override { return {.device = "scripted", .cache_bytes = 1 << 16}; }
  Rungs rungs() const override { return {}; }
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
  std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream) override {
    std::vector<double> times;
    before_sample();
    for (int i = 0; i < samples; ++i) {
      for (int k = 0; k < batch; ++k) enqueue(k);
      times.push_back(microseconds);
    }
    largest_batch = std::max(largest_batch, batch);
    return times;
  }
  std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) override {
    ++timed_by_calls;
    return time_us(enqueue, samples, batch, stream);
  }
  double microseconds = 2;
  int timed_by_calls = 0;
  std::set<MemoryKind> kinds;  // that were asked for
  int largest_batch = 0;
  std::function<void()> before_sample = [] {};
};

std::set<const void*> inputs_seen;

Status right(const Call& c) {
  inputs_seen.insert(c.in[0]);
  std::int32_t total = 0;
  for (std::size_t i = 0; i < c.n; ++i) total ^= static_cast<const std::int32_t*>(c.in[0])[i];
  *static_cast<std::int32_t*>(c.out[0]) = 1;  // the sum of one element of "constant"
  return {};
}
Status wrong(const Call& c) {
  *static_cast<std::int32_t*>(c.out[0]) = 2;
  return {};
}
template <RunFn run>
Rung rung(std::string_view name) {
  return {.primitive = "reduce", .name = name, .find = [](Type type, Op) { return type == Type::i32 ? run : nullptr; }};
}
const Case one{.type = Type::i32, .n = 1, .input = "constant"};

TEST(Stopwatch, MeasuresRightRungsAndRefusesWrongOnes) {
  ScriptedPlatform platform;
  const Rung good = rung<right>("good"), bad = rung<wrong>("bad");
  Stopwatch stopwatch(platform);
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

TEST(Stopwatch, WhatSynchronisesIsTimedByItsCalls) {
  ScriptedPlatform platform;
  const Rung good = rung<right>("good");
  Rung waits = good;
  waits.synchronises = true;
  Stopwatch stopwatch(platform);
  stopwatch.measure(*find_primitive("reduce"), one, {&good}, {});
  EXPECT_EQ(platform.timed_by_calls, 0);
  const auto results = stopwatch.measure(*find_primitive("reduce"), one, {&waits}, {.samples = 10});
  EXPECT_EQ(platform.timed_by_calls, 2 + 10) << "two to find the batch";
  EXPECT_EQ(results.at(0).samples, 10);
}

TEST(Stopwatch, RungsFromHostHaveTheirArraysThereAndAreTimedByTheirCalls) {
  ScriptedPlatform platform;
  const Rung good = rung<right>("good");
  Rung pinned = good, never = rung<right>("never");
  pinned.arrays = MemoryKind::pinned;
  never.arrays = MemoryKind::pageable;
  never.find = [](Type, Op) -> RunFn { return nullptr; };
  Stopwatch stopwatch(platform);
  const auto results = stopwatch.measure(*find_primitive("reduce"), one, {&pinned, &never}, {.samples = 10});
  EXPECT_EQ(platform.kinds, (std::set{MemoryKind::pinned})) << "and no arrays that no rung takes";
  EXPECT_EQ(platform.timed_by_calls, 2 + 10);
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
  int beside_others = 0;
  platform.before_sample = [&] { beside_others += working; };
  const Rung restless = rung<leaves_a_thread_working>("restless"), good = rung<right>("good");
  {
    Stopwatch stopwatch(platform);
    stopwatch.measure(*find_primitive("reduce"), one, {&restless, &good}, {.samples = 4});
  }
  EXPECT_EQ(beside_others, 0);
  while (working) std::this_thread::yield();
}

TEST(Stopwatch, SamplesLastLongEnough) {
  ScriptedPlatform platform;
  const Rung good = rung<right>("good");
  Stopwatch(platform).measure(*find_primitive("reduce"), one, {&good}, {});
  EXPECT_EQ(platform.largest_batch, 250) << "500 us of 2 us calls";
}

TEST(Stopwatch, ColdRunsRotateBeyondTheCacheAndHotRunsDoNot) {
  ScriptedPlatform platform;
  platform.microseconds = 0.01;  // many calls a sample
  const Rung good = rung<right>("good");
  Stopwatch stopwatch(platform);
  inputs_seen.clear();
  stopwatch.measure(*find_primitive("reduce"), one, {&good}, {.cold = true});
  EXPECT_GT(inputs_seen.size() * 256, 2u << 16) << "copies are 256 bytes apart";
  inputs_seen.clear();
  stopwatch.measure(*find_primitive("reduce"), one, {&good}, {.cold = false});
  EXPECT_EQ(inputs_seen.size(), 1u);
}

TEST(Stopwatch, LongRunsGetFewerSamples) {
  ScriptedPlatform platform;
  platform.microseconds = 3e6;
  const Rung good = rung<right>("good");
  const auto results =
      Stopwatch(platform).measure(*find_primitive("reduce"), one, {&good}, {.samples = 20, .budget_us = 1e6});
  EXPECT_EQ(results.at(0).samples, 4);
}

TEST(Stopwatch, WhatCannotFitIsRefusedBeforeItIsAllocated) {
  ScriptedPlatform platform;
  const Rung good = rung<right>("good");
  Stopwatch stopwatch(platform);
  try {
    stopwatch.measure(*find_primitive("reduce"), {.type = Type::i32, .n = std::size_t{1} << 48}, {&good}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::out_of_memory);
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace upsweep::lab
