// The emulators name every mistake that they can detect, report no issue for correct kernels, and keep working
// afterwards.
#include <algorithm>
#include <iterator>
#include <vector>

#include "launcher.h"

namespace upsweep::test {
namespace {

struct Mistake {
  const char* kernel;
  const char* kind;  // empty if the kernel is correct
  bool fails;        // launch() returns an error
  unsigned block;
  bool plain_sees_it = false;  // the plain emulator also reports it
  unsigned grid = 1;
  bool twice = false;  // launched twice, so that the launches may overlap
  unsigned cluster = 1;
};
std::ostream& operator<<(std::ostream& out, const Mistake& m) { return out << m.kernel; }

const Mistake mistakes[] = {
    {"race_no_barrier", "shared race", false, 256},
    {"race_in_warp", "shared race", false, 32},
    {"right_syncwarp", "", false, 32},
    {"right_exchange", "", false, 32},
    {"race_after_syncwarp", "shared race", false, 32},
    {"right_half_syncwarp", "", false, 32},
    {"race_half_syncwarp", "shared race", false, 32},
    {"race_write_after_read", "shared race", false, 64},
    {"right_bytes", "", false, 256},
    {"race_bytes", "shared race", false, 256},
    {"race_bulk_copy", "shared race", false, 64},
    {"right_proxy_fence", "", false, 64},
    {"no_proxy_fence", "missing proxy fence", false, 64},
    {"proxy_fence_before_write", "missing proxy fence", false, 64},
    {"race_shuffle", "shared race", false, 32},
    {"right_release", "", false, 64},
    {"right_release_by_one_lane", "", false, 64},
    {"race_release_before_reading", "shared race", false, 64},
    {"race_release_by_one_lane", "shared race", false, 64},
    {"race_other_mbarrier", "shared race", false, 32},
    {"right_fences", "", false, 1, false, 2},
    {"race_no_fence_before_flag", "global race", false, 1, false, 2},
    {"race_no_fence_after_flag", "global race", false, 1, false, 2},
    {"race_written_after_fence", "global race", false, 1, false, 2},
    {"right_release_acquire", "", false, 1, false, 2},
    {"right_tickets", "", false, 1, false, 3},
    {"right_shared_word", "", false, 1, false, 4},
    {"right_flag_for_all", "", false, 64, false, 2},
    {"race_no_barrier_before_flag", "global race", false, 64, false, 2},
    {"race_no_barrier_after_flag", "global race", false, 64, false, 2},
    {"right_read_then_flag", "", false, 32, false, 2},
    {"race_read_then_flag", "global race", false, 32, false, 2},
    {"right_wait", "", false, 64, false, 1, true},
    {"right_wait_by_one", "", false, 64, false, 1, true},
    {"race_no_wait", "overlap race", false, 64, false, 1, true},
    {"race_read_before_wait", "overlap race", false, 64, false, 1, true},
    {"race_wait_by_one", "overlap race", false, 64, false, 1, true},
    {"right_peer", "", false, 32, false, 2, false, 2},
    {"peer_before_it_begins", "peer not running", false, 32, false, 2, false, 2},
    {"peer_after_it_ends", "peer not running", false, 32, false, 2, false, 2},
    {"past_the_end", "global out of bounds", false, 256},
    {"across_the_end", "global out of bounds", false, 128},
    {"past_the_array", "array index out of bounds", true, 96},
    {"past_dynamic", "shared out of bounds", false, 256},
    {"uninitialised", "uninitialised shared read", false, 64},
    {"misaligned", "misaligned access", true, 32},
    {"bulk_misaligned", "misaligned access", true, 1, true},
    {"barrier_after_exit", "barrier divergence", false, 64, true},
    {"barrier_after_first_exit", "barrier divergence", false, 64, true},
    {"barrier_two_sites", "barrier divergence", false, 64, true},
    {"shuffle_half", "deadlock", true, 32, true},
    {"shuffle_inactive", "shuffle from an inactive lane", false, 32, true},
    {"outside_its_mask", "lane not in its mask", false, 32, true},
    {"mbarrier_never", "deadlock", true, 32, true},
    {"mbarrier_uninitialised", "trap", true, 1, true},
    {"endless_poll", "livelock", true, 32, true},
    {"endless_loop", "livelock", true, 32, true},
    {"throws", "exception in a kernel", true, 64, true},
    {"traps", "trap", true, 64, true},
};

std::vector<Mistake> seen_by_the_plain() {
  std::vector<Mistake> seen;
  std::ranges::copy_if(mistakes, std::back_inserter(seen),
                       [](const Mistake& m) { return !*m.kind || m.plain_sees_it; });
  return seen;
}

class Checks : public ::testing::TestWithParam<Mistake> {
 protected:
  simt::Report run(simt::Emulator& emulator, const Mistake& m, std::uint64_t schedule = 0) {
    // A block may have to wait for as long as the OS keeps another block's thread off its core.
    const bool ends = std::string_view(m.kind) != "livelock" && std::string_view(m.kind) != "deadlock";
    emulator.configure({.schedule = schedule, .yield_limit = ends ? 100'000'000u : 10'000u});
    emulator.take_report();
    Array<float> in(emulator, 255), out(emulator, 256);
    in.set([](std::size_t i) { return i; });
    const Arguments arguments{
        {in.data()},
        {out.data()},
        0,
        {.grid = m.grid, .block = m.block, .cluster = m.cluster, .overlap = m.twice, .shared = 1024}};
    Status status = launch(emulator, m.kernel, arguments);
    if (m.twice) {
      emulator.fill(out.data(), 0, 256 * sizeof(float));  // host writes between launches order no memory
      status = launch(emulator, m.kernel, arguments);
    }
    // Under an arbitrary schedule, a race may change the status, so it is not checked.
    if (!schedule && (emulator.instrumented() || m.plain_sees_it)) {
      EXPECT_EQ(status.code, m.fails ? Code::device_error : Code::ok);
    }
    return emulator.take_report();
  }
  static bool has(const simt::Report& report, std::string_view kind) {
    for (const auto& issue : report.issues)
      if (issue.kind == kind) return true;
    return false;
  }
  // A failed launch must not affect the next one.
  void still_works(simt::Emulator& emulator) {
    Array<unsigned> in(emulator, 256), out(emulator, 256);
    in.set([](std::size_t) { return 1; });
    EXPECT_TRUE(static_cast<bool>(launch(emulator, "shuffle_scan", {{in.data()}, {out.data()}, 0, {.block = 256}})));
    EXPECT_EQ(out[255], 256u);
    const simt::Report report = emulator.take_report();
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
  }
};

class TracedChecks : public Checks {};
class PlainChecks : public Checks {};
class ScheduleChecks : public Checks {};

TEST_P(TracedChecks, NamesTheMistake) {
  const Mistake& m = GetParam();
  const simt::Report report = run(test_traced_emulator(), m);
  if (*m.kind) {
    EXPECT_TRUE(has(report, m.kind)) << "expected: " << m.kind << "\ngot:\n" << to_string(report);
    for (const auto& issue : report.issues) {
      EXPECT_NE(issue.text.find(m.kernel), std::string::npos) << issue.text;
      EXPECT_EQ(issue.text.find("@{"), std::string::npos) << issue.text;
      EXPECT_EQ(issue.text.find('\n'), std::string::npos) << issue.text;
    }
  } else {
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
  }
  still_works(test_traced_emulator());
}

TEST_P(TracedChecks, ArbitrarySchedulesFindIt) {
  const Mistake& m = GetParam();
  for (std::uint64_t schedule = 1; schedule <= 3; ++schedule) {
    const simt::Report report = run(test_traced_emulator(), m, schedule);
    if (*m.kind)
      EXPECT_TRUE(has(report, m.kind)) << "expected: " << m.kind << "\ngot:\n" << to_string(report);
    else
      EXPECT_TRUE(report.issues.empty()) << to_string(report);
  }
  still_works(test_traced_emulator());
}

// The race shows only if a block is held back between its two publications, as in about one schedule in four.
TEST_F(ScheduleChecks, ArbitrarySchedulesHoldABlockBetweenItsPublications) {
  const Mistake right{"right_publish_twice", "", false, 32, false, 2};
  const Mistake race{"race_publish_twice", "", false, 32, false, 2};
  bool found = false;
  for (std::uint64_t schedule = 1; schedule <= 64 && !found; ++schedule) {
    const simt::Report report = run(test_traced_emulator(), right, schedule);
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
    found = has(run(test_traced_emulator(), race, schedule), "global race");
  }
  EXPECT_TRUE(found);
}

TEST_P(PlainChecks, NamesTheMistake) {
  const Mistake& m = GetParam();
  const simt::Report report = run(test_plain_emulator(), m);
  if (*m.kind)
    EXPECT_TRUE(has(report, m.kind)) << "expected: " << m.kind << "\ngot:\n" << to_string(report);
  else
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
  still_works(test_plain_emulator());
}

const auto by_kernel = [](const auto& info) { return std::string(info.param.kernel); };
INSTANTIATE_TEST_SUITE_P(Simt, TracedChecks, ::testing::ValuesIn(mistakes), by_kernel);
INSTANTIATE_TEST_SUITE_P(Simt, PlainChecks, ::testing::ValuesIn(seen_by_the_plain()), by_kernel);

TEST(SimtChecks, HostMemoryIsNotTheDevices) {
  auto& emulator = test_traced_emulator();
  emulator.configure({});
  emulator.take_report();
  std::vector<float> host(64);
  Array<float> out(emulator, 64);
  const Status status = launch(emulator, "global_stride", {{host.data()}, {out.data()}, 0, {.k = 1}});
  EXPECT_EQ(status.code, Code::device_error);
  const simt::Report report = emulator.take_report();
  ASSERT_FALSE(report.issues.empty());
  EXPECT_NE(to_string(report).find("unregistered memory"), std::string::npos);
  EXPECT_NE(to_string(report).find("textbook.simt.cpp:"), std::string::npos) << to_string(report);
}

TEST(SimtChecks, FreedMemoryIsOutOfBounds) {
  auto& emulator = test_traced_emulator();
  emulator.configure({});
  emulator.take_report();
  const float* freed = nullptr;
  { freed = Array<float>(emulator, 64).data(); }
  Array<float> out(emulator, 64);
  EXPECT_TRUE(static_cast<bool>(launch(emulator, "global_stride", {{freed}, {out.data()}, 0, {.k = 1}})));
  EXPECT_NE(to_string(emulator.take_report()).find("global out of bounds"), std::string::npos);
}

TEST(SimtChecks, DeadlockNamesWhoWaitsWhere) {
  auto& emulator = test_plain_emulator();
  emulator.configure({});
  emulator.take_report();
  Array<float> out(emulator, 64);
  EXPECT_FALSE(static_cast<bool>(launch(emulator, "shuffle_half", {{out.data()}, {out.data()}, 0, {.block = 32}})));
  const std::string text = to_string(emulator.take_report());
  EXPECT_NE(text.find("16 threads wait in a warp collective with mask ffffffff, mistakes.simt.cpp:"), std::string::npos)
      << text;
  EXPECT_NE(text.find("16 threads wait at a block barrier, mistakes.simt.cpp:"), std::string::npos) << text;
}

// Both kernels have 1 KiB of static shared memory; the limits are 48 KiB without a request and 227 KiB with one.
constexpr std::size_t kib = 1024, static_part = kib;
Code code_of(simt::Emulator& emulator, std::string_view kernel, std::size_t dynamic_bytes) {
  Array<float> in(emulator, 32), out(emulator, 32);
  in.set([](std::size_t i) { return i; });
  const Status status =
      launch(emulator, kernel, {{in.data()}, {out.data()}, 32, {.block = 32, .shared = dynamic_bytes}});
  if (status) {
    EXPECT_EQ(out[31], 31.f);
  }
  return status.code;
}

TEST(SimtChecks, StaticAndDynamicSharedMemoryTogetherAreRequested) {
  for (auto* emulator : {&test_plain_emulator(), &test_traced_emulator()}) {
    emulator->configure({});
    emulator->take_report();
    EXPECT_EQ(code_of(*emulator, "not_requested", 48 * kib - static_part), Code::ok);
    EXPECT_EQ(code_of(*emulator, "not_requested", 48 * kib - static_part + 16), Code::invalid_argument);
    // launch() makes the request: first for a dynamic part that would not need one by itself.
    constexpr std::string_view requested = "own_and_dynamic<Memory::requested>";
    EXPECT_EQ(code_of(*emulator, requested, 48 * kib - static_part + 16), Code::ok);
    EXPECT_EQ(code_of(*emulator, requested, 227 * kib - static_part), Code::ok);
    EXPECT_EQ(code_of(*emulator, requested, 227 * kib - static_part + 16), Code::invalid_argument);
    EXPECT_EQ(code_of(*emulator, requested, 128), Code::ok);
    // A request applies to one kernel.
    EXPECT_EQ(code_of(*emulator, "not_requested", 48 * kib - static_part + 16), Code::invalid_argument);
    const simt::Report report = emulator->take_report();
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
  }
}

// The static shared memory of a function that the kernel calls is known only once the kernel has run.
TEST(SimtChecks, StaticSharedMemoryOfFunctionsCountsToo) {
  simt::Emulator& emulator = test_traced_emulator();
  emulator.configure({});
  emulator.take_report();
  const auto issues_of = [&](std::string_view kernel, std::size_t dynamic_bytes) {
    EXPECT_EQ(code_of(emulator, kernel, dynamic_bytes), Code::ok);
    std::string kinds;
    for (const auto& issue : emulator.take_report().issues) kinds += issue.kind;
    return kinds;
  };
  EXPECT_EQ(issues_of("of_a_function_not_requested", 48 * kib - static_part), "");
  EXPECT_EQ(issues_of("of_a_function_not_requested", 48 * kib - static_part + 16), "too much shared memory");
  constexpr std::string_view requested = "own_and_dynamic<Memory::of_a_function>";
  EXPECT_EQ(issues_of(requested, 227 * kib - static_part), "");
  EXPECT_EQ(issues_of(requested, 227 * kib - static_part + 16), "too much shared memory");
}

TEST(SimtChecks, LaunchesThatADeviceRefuses) {
  for (auto* emulator : {&test_plain_emulator(), &test_traced_emulator()}) {
    emulator->configure({});
    Array<float> out(*emulator, 64);
    const auto refused = [&](const Launch& how) {
      return launch(*emulator, "global_stride", {{out.data()}, {out.data()}, 0, how}).code == Code::invalid_argument;
    };
    EXPECT_TRUE(refused({.block = 1025}));
    EXPECT_TRUE(refused({.block = 0}));
    EXPECT_TRUE(refused({.grid = 0}));
    EXPECT_TRUE(refused({.grid_y = 65536}));
    EXPECT_TRUE(refused({.shared = 228 * 1024}));
    EXPECT_TRUE(refused({.grid = 3, .cluster = 2}));
    EXPECT_TRUE(emulator->take_report().kernels.empty());
  }
}

}  // namespace
}  // namespace upsweep::test
