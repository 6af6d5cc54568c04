// Counters of histogram's rungs against theory; and cases larger than the laboratory's checks: counters beyond one
// block's shared memory, flushes of 16-bit counters, and the end of a call whose counters are full.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/workspace.h"
#include "lab/inputs.h"
#include "launcher.h"
#include "simt/report.h"
#include "upsweep/parameters/histogram.h"

namespace upsweep {
namespace {

struct Result {
  std::vector<std::uint32_t> counts;
  std::uint64_t outside = 0;
  simt::Counters counters;  // the first kernel's
};

// Runs a rung on i32 samples with counters of type C.
template <class C = std::uint32_t>
Result run(simt::Emulator& emulator, const char* name, Binning binning, const std::vector<std::int32_t>& samples,
           std::size_t bins, Tuning tuning = {}, bool with_outside = true, Code expected = Code::ok) {
  const Rung* rung = find_rung(emulator.rungs(), "histogram", name);
  if (!rung) throw Error(Code::invalid_argument, name);
  test::Array<std::int32_t> in(emulator, samples.size());
  in.set([&](std::size_t i) { return samples[i]; });
  test::Array<C> counts(emulator, bins);
  test::Array<std::uint64_t> outside(emulator, 1);
  counts.set([](std::size_t) { return 0xCD; });
  (void)emulator.take_report();
  Result result;
  Workspace workspace(emulator);
  const Call call{
      .operation = binning,
      .in = {input_array(Type::i32, samples.size(), in.data())},
      .out = {{{type_of<C>(), bins, counts.data()}, {Type::u64, 1, with_outside ? outside.data() : nullptr}}},
      .scalars = {-0x1p31, 0x1p31, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}},
      .tuning = tuning,
      .workspace = &workspace};
  const Status status = rung->find(Type::i32, binning)(call);
  EXPECT_EQ(status.code, expected) << name << ": " << (status.message ? status.message : "");
  const simt::Report report = emulator.take_report();
  EXPECT_TRUE(report.issues.empty()) << name << ": " << test::to_string(report);
  if (!report.kernels.empty()) result.counters = report.kernels.front().counters;
  EXPECT_TRUE(workspace.counters_are_zero()) << name;
  for (std::size_t k = 0; k < bins; ++k) result.counts.push_back(counts[k]);
  if (with_outside) result.outside = outside[0];
  return result;
}

constexpr unsigned n = 1 << 12, warps = n / 32;
const std::vector<std::int32_t> all_same(n, 7);

// ---- counters -------------------------------------------------------------------------------------------------------

TEST(HistogramCounters, SharedAtomicsMeetInOneCounter) {
  for (const char* name : {"one_block", "padded"}) {
    const auto c = run(traced_emulator(), name, Binning::direct, all_same, 256).counters;
    EXPECT_EQ(c.shared_atomic_requests, warps) << name;
    EXPECT_EQ(c.shared_atomic_serial, warps * 32) << name;
    EXPECT_EQ(c.global_atomic_requests, 0u) << name << ": one block merges with nobody";
  }
}

TEST(HistogramCounters, OrderedBlocksMergeWithoutAtomics) {
  const auto c = run(traced_emulator(), "ordered_writeback", Binning::direct, all_same, 256).counters;
  EXPECT_EQ(c.shared_atomic_requests, warps);
  EXPECT_EQ(c.global_atomic_requests, 0u);
}

TEST(HistogramCounters, LanesWithABankEachNeverMeet) {
  const auto c = run(traced_emulator(), "lane_banks", Binning::direct, all_same, 256, {.grid = 1}).counters;
  EXPECT_EQ(c.shared_atomic_requests, warps);
  EXPECT_EQ(c.shared_atomic_serial, warps);
  EXPECT_EQ(c.global_load_sectors, n * sizeof(std::int32_t) / 32) << "every sector once";
}

// word_columns has a column per lane if the table is small compared with the samples: 2 counters, but not 257.
TEST(HistogramCounters, ColumnsWhereTheyCostLittle) {
  const auto few = run(traced_emulator(), "word_columns", Binning::direct, all_same, 1, {.grid = 1}).counters;
  EXPECT_EQ(few.shared_atomic_requests, warps);
  EXPECT_EQ(few.shared_atomic_serial, warps);
  EXPECT_EQ(few.global_load_sectors, n * sizeof(std::int32_t) / 32) << "every sector once";
  const auto many = run(traced_emulator(), "word_columns", Binning::direct, all_same, 256, {.grid = 1}).counters;
  EXPECT_EQ(many.shared_atomic_serial, warps * 32) << "which the hardware merges, as all add 1";
}

TEST(HistogramCounters, OneAdditionForAllLanesThatAgree) {
  const auto c =
      run(traced_emulator(), "aggregated", Binning::direct, all_same, 256, {.block = 128, .grid = 2}).counters;
  EXPECT_EQ(c.global_atomic_requests, warps);
  EXPECT_EQ(c.global_atomic_serial, warps);
}

// ---- large and long -------------------------------------------------------------------------------------------------

std::vector<std::uint32_t> expected_of(const std::vector<std::int32_t>& samples, std::size_t bins,
                                       std::uint64_t& outside) {
  std::vector<std::uint32_t> counts(bins);
  outside = 0;
  for (const std::int32_t x : samples)
    if (x >= 0 && static_cast<std::size_t>(x) < bins)
      ++counts[static_cast<std::size_t>(x)];
    else
      ++outside;
  return counts;
}

// Numbers of bins around the limits of one and of two slices, and above.
TEST(HistogramLarge, CountersBeyondOneBlocksMemory) {
  std::uint64_t outside = 0;
  for (const std::size_t bins : {58'110u, 58'111u, 58'112u, 116'223u, 116'224u, 200'000u, 1u << 20}) {
    std::vector<std::int32_t> samples(3000);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::int32_t>(i % 3 ? i * 2654435761u % (bins + 9) : bins - 1 - i % 2);
    const auto expected = expected_of(samples, bins, outside);
    for (const char* name : {"aggregated", "slices", "cluster", "partitioned", "word_columns"}) {
      if (name == std::string_view("cluster") && bins >= 1 << 18) continue;
      if (name == std::string_view("word_columns") && bins > 58'111) continue;
      const Result result = run(plain_emulator(), name, Binning::direct, samples, bins, {.block = 64, .grid = 5});
      EXPECT_EQ(result.counts, expected) << name << ' ' << bins;
      EXPECT_EQ(result.outside, outside) << name << ' ' << bins;
    }
  }
}

// A rung that rejects a call writes no output.
TEST(HistogramLarge, RungsRefuseWhatTheyCannotTake) {
  for (const auto& [name, bins] : {std::pair{"padded", 58'112u},
                                   {"lane_banks", 4'000u},
                                   {"word_columns", 58'112u},
                                   {"cluster", 1u << 18},
                                   {"partitioned", (1u << 20) + 1}}) {
    const Result result = run(plain_emulator(), name, Binning::direct, all_same, bins, {}, true, Code::unsupported);
    EXPECT_EQ(result.counts, std::vector<std::uint32_t>(bins, 0xCD)) << name;
  }
}

// Whole tiles and a partial one, sorted by threads whose samples all fall into one bucket, or into many.
TEST(HistogramLarge, TilesAreSortedByBucket) {
  constexpr std::size_t bins = 1 << 20;
  for (const char* input : {"uniform", "all_same", "sorted", "two_valued"}) {
    auto samples = make_input<std::int32_t>(input, 3 * 16'384 + 5'000, 1);
    for (auto& x : samples) x = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) % (bins + 1000));
    std::uint64_t outside = 0;
    const auto expected = expected_of(samples, bins, outside);
    const Result result = run(traced_emulator(), "partitioned", Binning::direct, samples, bins, {.grid = 2});
    EXPECT_EQ(result.counts, expected) << input;
    EXPECT_EQ(result.outside, outside) << input;
    // Each thread counts in a separate column, and equal samples are written to different banks.
    EXPECT_LT(result.counters.shared_store_wavefronts, 2 * result.counters.shared_store_requests) << input;
  }
}

// A block whose only tile is partial copies whole lines of it, and no uninitialised memory.
TEST(HistogramLarge, APartOfATileAlone) {
  std::vector<std::int32_t> samples(5'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int32_t>(i * 997 % (1 << 20));
  std::uint64_t outside = 0;
  const auto expected = expected_of(samples, 1 << 20, outside);
  EXPECT_EQ(run(traced_emulator(), "partitioned", Binning::direct, samples, 1 << 20, {.grid = 2}).counts, expected);
}

// Samples are sorted in smaller parts if there is no memory for all of them at once. Nothing is read in a dry call.
TEST(HistogramLarge, PartsShrinkWithTheScratchMemory) {
  simt::Emulator& emulator = traced_emulator();
  constexpr std::size_t samples = 1 << 22, bins = 1000;
  test::Array<std::int32_t> in(emulator, 1);
  test::Array<std::uint32_t> counts(emulator, bins);
  Workspace measured = Workspace::measuring();
  Call call{.operation = Binning::direct,
            .in = {input_array(Type::i32, samples, in.data())},
            .out = {{{Type::u32, bins, counts.data()}, {Type::u64}}},
            .scalars = {-0x1p31, 0x1p31, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}},
            .workspace = &measured,
            .stream = {.dry = true}};
  const RunFn partitioned = find_rung(emulator.rungs(), "histogram", "partitioned")->find(Type::i32, Binning::direct);
  EXPECT_TRUE(partitioned(call));
  WorkspaceBytes bytes = measured.bytes();
  for (const auto& [part, expected] : {std::pair{2, Code::ok}, {100, Code::out_of_memory}}) {
    WorkspaceBytes less = bytes;
    less.arena /= part;
    less.counters *= part;  // each part has its own counters
    test::Array<std::byte> memory(emulator, less.total());
    Workspace workspace(emulator, memory.data(), less);
    call.workspace = &workspace;
    EXPECT_EQ(partitioned(call).code, expected) << part;
  }
}

// One lane's counter would reach 65'536 after 2'048 steps of eight warps.
TEST(HistogramLarge, NarrowCountersAreFlushedInTime) {
  const std::vector<std::int32_t> samples(2'048 * 1024 + 77, 3);
  const Result result = run(plain_emulator(), "lane_banks", Binning::direct, samples, 4, {.grid = 1});
  EXPECT_EQ(result.counts, (std::vector<std::uint32_t>{0, 0, 0, static_cast<std::uint32_t>(samples.size())}));
}

TEST(HistogramFull, ReadingStopsOnceEveryCounterIsFull) {
  // When a block stops depends on the other one's progress: after 16 or 64 of 512 tiles.
  const auto samples = make_input<std::int32_t>("uniform", 1 << 18, 1);
  const Tuning tuning{.block = 32, .grid = 2};
  const Result early = run<std::uint8_t>(traced_emulator(), "until_full", Binning::even, samples, 16, tuning);
  EXPECT_EQ(early.counts, std::vector<std::uint32_t>(16, 255));
  EXPECT_LT(early.counters.global_load_sectors, samples.size() * 4 / 32 / 4) << "16 * 255 samples and some are enough";
  // If one counter stays below its maximum, everything is read.
  auto one_missing = samples;
  for (auto& x : one_missing)
    if (x < -0x70000000) x += 0x20000000;
  const Result late = run<std::uint8_t>(traced_emulator(), "until_full", Binning::even, one_missing, 16, tuning);
  EXPECT_EQ(late.counts[0], 0u);
  EXPECT_EQ(late.counts[1], 255u);
  EXPECT_GE(late.counters.global_load_sectors, samples.size() * 4 / 32);
}

// If samples outside are requested and possible, full counters do not stop the rung.
TEST(HistogramFull, SamplesOutsideAreNotLeftOut) {
  std::vector<std::int32_t> samples(1 << 14);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int32_t>(i % 5);
  const Tuning tuning{.block = 32, .grid = 2};
  run<std::uint8_t>(plain_emulator(), "until_full", Binning::direct, samples, 4, tuning, true, Code::unsupported);
  run<std::uint32_t>(plain_emulator(), "until_full", Binning::direct, samples, 4, tuning, false, Code::unsupported);
  const Result some = run<std::uint8_t>(plain_emulator(), "until_full", Binning::direct, samples, 4, tuning, false);
  EXPECT_EQ(some.counts, std::vector<std::uint32_t>(4, 255));
}

}  // namespace
}  // namespace upsweep
