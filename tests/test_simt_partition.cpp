// Counters of partition's rungs against theory, and calls that the laboratory's checks do not make.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "base/workspace.h"
#include "lab/few_elements.h"
#include "lab/inputs.h"
#include "ladders/partition/choose.h"
#include "launcher.h"
#include "simt/report.h"
#include "upsweep/parameters/partition.h"

namespace upsweep {
namespace {

struct Result {
  std::vector<std::uint32_t> keys, offsets;
  std::vector<simt::Counters> kernels;  // one entry per kernel, in launch order
};

const Rung& partition_rung(simt::Emulator& emulator, std::string_view name) {
  const Rung* const rung = find_rung(emulator.rungs(), "partition", name);
  if (!rung) throw Error(Code::invalid_argument, std::string(name));
  return *rung;
}

// Returns the number of u32 keys in a rung's largest tile.
std::size_t tile_of(std::string_view name) {
  return partition_rung(plain_emulator(), name).tile_bytes / sizeof(std::uint32_t);
}

// Runs a rung on u32 keys.
Result run(simt::Emulator& emulator, const char* name, const std::vector<std::uint32_t>& keys, std::uint64_t first_bit,
           std::uint64_t bits, Tuning tuning = {}) {
  const std::size_t buckets = std::size_t{1} << bits;
  test::Array<std::uint32_t> in(emulator, keys.size()), out(emulator, keys.size()), offsets(emulator, buckets + 1);
  in.set([&](std::size_t i) { return keys[i]; });
  (void)emulator.take_report();
  Workspace workspace(emulator);
  const Call call{.operation = Bucketing::digit,
                  .in = {input_array(Type::u32, keys.size(), in.data())},
                  .out = {{{Type::u32, keys.size(), out.data()}, {}, {Type::u32, buckets + 1, offsets.data()}}},
                  .scalars = {first_bit, bits},
                  .tuning = tuning,
                  .workspace = &workspace};
  const Status status = partition_rung(emulator, name).find(Type::u32, Bucketing::digit)(call);
  EXPECT_TRUE(status) << name << ": " << (status.message ? status.message : "");
  const simt::Report report = emulator.take_report();
  EXPECT_TRUE(report.issues.empty()) << name << ": " << test::to_string(report);
  EXPECT_TRUE(workspace.counters_are_zero()) << name;
  Result result;
  for (const auto& kernel : report.kernels) result.kernels.push_back(kernel.counters);
  for (std::size_t i = 0; i < keys.size(); ++i) result.keys.push_back(out[i]);
  for (std::size_t b = 0; b <= buckets; ++b) result.offsets.push_back(offsets[b]);
  return result;
}

constexpr unsigned n = 1 << 12, warps = n / 32;

// ---- counters -------------------------------------------------------------------------------------------------------

// One global atomic per key to count and one to get its offset; a shared table needs one per block and bucket.
TEST(PartitionCounters, SharedTablesTakeTheCountingFromL2) {
  const auto keys = make_input<std::uint32_t>("uniform", n, 1);
  const Tuning tuning{.block = 1024, .grid = 2};
  const auto in_l2 = run(traced_emulator(), "baseline", keys, 24, 8, tuning).kernels;
  const auto shared = run(traced_emulator(), "coarsened", keys, 24, 8, tuning).kernels;
  ASSERT_EQ(in_l2.size(), 3u);  // count, add up, scatter
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(in_l2[0].global_atomic_requests, warps);
  EXPECT_EQ(in_l2[2].global_atomic_requests, warps);
  EXPECT_EQ(shared[0].shared_atomic_requests, warps);
  EXPECT_EQ(shared[0].global_atomic_requests, 2 * 256u / 32) << "two blocks merge 256 counters";
  EXPECT_EQ(shared[2].global_atomic_requests, warps);
}

// Each of 16 buckets has about 256 of a tile's 4096 keys, 32 consecutive sectors; scattered, every key takes a sector.
TEST(PartitionCounters, ReorderedTilesAreWrittenInRuns) {
  const auto keys = make_input<std::uint32_t>("uniform", n, 1);
  const auto scattered = run(traced_emulator(), "coarsened", keys, 28, 4, {.block = 256, .grid = 1}).kernels.back();
  const auto in_runs = run(traced_emulator(), "shared_reorder", keys, 28, 4, {.block = 256, .grid = 1}).kernels.back();
  EXPECT_GT(scattered.global_store_sectors, n / 4);
  EXPECT_LT(in_runs.global_store_sectors, n / 8 + 16 * 4 + warps) << "a few more than n * 4 / 32";
  EXPECT_EQ(in_runs.global_atomic_requests, 0u);
}

// Every block counts all keys itself: one launch, and no global atomics.
TEST(PartitionCounters, ReplicatedCountsNeedNoMemory) {
  const auto kernels =
      run(traced_emulator(), "replicated_counts", make_input<std::uint32_t>("uniform", n, 1), 24, 8).kernels;
  ASSERT_EQ(kernels.size(), 1u);
  constexpr unsigned blocks = n / 64;
  EXPECT_EQ(kernels[0].global_atomic_requests, 0u);
  EXPECT_EQ(kernels[0].shared_atomic_requests, blocks * warps);
}

// ---- tiles and block partitions -------------------------------------------------------------------------------------

// More buckets than keys, several tiles per block, and tiles that end anywhere.
TEST(PartitionTiles, AreStableWhateverTheShares) {
  for (const std::size_t size : {511u, 512u, 513u, 5000u, 40'000u})
    for (const std::uint64_t bits : {1u, 5u, 9u, 15u}) {
      auto keys = make_input<std::uint32_t>("uniform", size, 1);
      for (std::size_t i = 0; i < size; ++i) keys[i] = (keys[i] & 0xfffe0000u) | static_cast<std::uint32_t>(i);
      std::vector<std::uint32_t> expected = keys;
      std::stable_sort(expected.begin(), expected.end(),
                       [=](auto a, auto b) { return a >> (32 - bits) < b >> (32 - bits); });
      for (const Tuning tuning :
           {Tuning{.block = 32, .grid = 3}, Tuning{.block = 96, .grid = 1}, Tuning{.block = 512}}) {
        for (const char* const rung : {"shared_reorder", "warp_multisplit"}) {
          if (std::string_view(rung) == "warp_multisplit" && bits > 8) continue;
          const Result result = run(plain_emulator(), rung, keys, 32 - bits, bits, tuning);
          ASSERT_EQ(result.keys, expected) << rung << ' ' << size << ' ' << bits << ' ' << tuning.block;
          EXPECT_EQ(result.offsets.front(), 0u);
          EXPECT_EQ(result.offsets.back(), size);
        }
      }
    }
}

// The two blocks of a cluster have adjacent tiles. The last tile is partial, and in one case its cluster has no other.
// The traced emulator reports writes to the memory of a block that has not begun, and writes past the end.
TEST(PartitionTiles, ClustersWriteOverlappedTiles) {
  const std::size_t tile = tile_of("overlapped_writes");
  for (const std::size_t size : {2 * tile + 77, 3 * tile + 77}) {
    const auto keys = make_input<std::uint32_t>("uniform", size, 1);
    std::vector<std::uint32_t> expected = keys;
    std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return (a & 2047) < (b & 2047); });
    for (simt::Emulator* const emulator : {&plain_emulator(), &traced_emulator()})
      EXPECT_EQ(run(*emulator, "overlapped_writes", keys, 0, 11, {.grid = 2}).keys, expected) << size;
  }
}

// A launch of lookback takes at most three tiles here; the next launch continues.
TEST(PartitionTiles, LookBackOverSeveralLaunches) {
  const lab::FewElements few(plain_emulator());
  const std::size_t tile = tile_of("lookback");
  for (const std::size_t size : {tile, 3 * tile, 3 * tile + 1, 8 * tile + 77}) {
    const auto keys = make_input<std::uint32_t>("zipf", size, 1);
    std::vector<std::uint32_t> expected = keys;
    std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return (a >> 2 & 255) < (b >> 2 & 255); });
    for (const Tuning tuning : {Tuning{}, Tuning{.block = 256, .grid = 1}}) {
      const Result result = run(plain_emulator(), "lookback", keys, 2, 8, tuning);
      ASSERT_EQ(result.keys, expected) << size;
      EXPECT_EQ(result.offsets.front(), 0u);
      EXPECT_EQ(result.offsets.back(), size);
    }
  }
}

// The traced emulator detects a tile that reads another's counts before they are published, and a warp that reads part
// of its tile before the other lanes have written it.
TEST(PartitionTiles, WaitForEachOther) {
  const auto keys = make_input<std::uint32_t>("uniform", 3 * tile_of("lookback") + 77, 1);
  std::vector<std::uint32_t> expected = keys;
  std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return (a & 255) < (b & 255); });
  EXPECT_EQ(run(traced_emulator(), "lookback", keys, 0, 8).keys, expected);
  EXPECT_EQ(run(traced_emulator(), "warp_multisplit", keys, 0, 8, {.grid = 2}).keys, expected);
  EXPECT_EQ(run(traced_emulator(), "shared_reorder", keys, 0, 8, {.block = 64, .grid = 2}).keys, expected);
}

// The counting kernel has at most two blocks per multiprocessor, so that one of them counts several tiles, with one set
// of counters.
TEST(PartitionTiles, BlocksCountSeveralTiles) {
  const std::size_t blocks = 2 * 4;  // the emulated machine has four multiprocessors
  const auto keys = make_input<std::uint32_t>("uniform", blocks * tile_of("lane_counters") + 77, 1);
  std::vector<std::uint32_t> expected = keys;
  std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return (a & 255) < (b & 255); });
  EXPECT_EQ(run(traced_emulator(), "lane_counters", keys, 0, 8).keys, expected);
}

// The checks' inputs are too small for the maximum number of buckets on the traced emulator.
TEST(PartitionTiles, TakeTheMostBucketsWithoutARace) {
  const auto keys = make_input<std::uint32_t>("uniform", 3000, 1);
  auto expected = keys;
  std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return a >> 17 < b >> 17; });
  for (const char* const rung : {"shared_reorder", "baseline", "shared_histogram", "shared_scan"}) {
    auto result = run(traced_emulator(), rung, keys, 17, 15, {.block = 256, .grid = 2}).keys;
    if (std::string_view(rung) != "shared_reorder") {  // the others are not stable
      std::sort(result.begin(), result.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_EQ(result, expected) << rung;
  }
}

// The largest tiles leave space for the maximum number of counters; blocks may be too large, or not whole warps.
TEST(PartitionTiles, FitWithTheMostBuckets) {
  const Rung& rung = partition_rung(plain_emulator(), "shared_reorder");
  Workspace workspace(plain_emulator());
  const auto code = [&](unsigned block, std::uint64_t bits) {
    const Tuning tuning{.block = block};
    std::vector<std::uint32_t> offsets((std::size_t{1} << bits) + 1);
    return rung
        .find(Type::u64, Bucketing::digit)({.operation = Bucketing::digit,
                                            .in = {Array{Type::u64}},
                                            .out = {{{Type::u64}, {}, {Type::u32, offsets.size(), offsets.data()}}},
                                            .scalars = {std::uint64_t{0}, bits},
                                            .tuning = tuning,
                                            .workspace = &workspace})
        .code;
  };
  EXPECT_EQ(code(1024, 8), Code::unsupported);
  EXPECT_EQ(code(48, 8), Code::unsupported);
  EXPECT_EQ(code(512, 15), Code::ok);
}

// ---- two passes -----------------------------------------------------------------------------------------------------

// More buckets than one pass can have: digits of even and odd width, a number of splitters that is not a power of two;
// keys without 16-byte alignment; a partial last tile.
TEST(PartitionPasses, TakeMoreBucketsThanATileCanRank) {
  struct Shape {
    Bucketing bucketing;
    std::size_t buckets;
  };
  for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()})
    for (const Shape shape : {Shape{Bucketing::splitters, 300}, Shape{Bucketing::digit, 512},
                              Shape{Bucketing::digit, 4096}, Shape{Bucketing::digit, 32768}})
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{11'520 + 77}}) {
        const auto keys = make_input<std::uint32_t>("uniform", count, 1);
        test::Array<std::uint32_t> in(*emulator, count + 1), values(*emulator, count), out(*emulator, count + 1),
            moved(*emulator, count), offsets(*emulator, shape.buckets + 1), splitters(*emulator, shape.buckets - 1);
        splitters.set([](std::size_t s) { return (s + 1) * 14'000'000; });
        const auto bucket_of = [&](std::uint32_t key) {
          if (shape.bucketing == Bucketing::digit) return key >> 3 & (shape.buckets - 1);
          return std::min<std::size_t>(key / 14'000'000, shape.buckets - 1);
        };
        std::vector<std::uint32_t> order(count), begins(shape.buckets + 1);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return bucket_of(keys[a]) < bucket_of(keys[b]); });
        for (const std::uint32_t key : keys) ++begins[bucket_of(key) + 1];
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        in.set([&](std::size_t i) { return i ? keys[i - 1] : 0; });
        values.set([](std::size_t i) { return i; });
        for (auto* written : {&out, &moved, &offsets}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
        Workspace workspace(*emulator);
        const bool by_digit = shape.bucketing == Bucketing::digit;
        const Call call{
            .operation = shape.bucketing,
            .in = {input_array(Type::u32, count, in.data() + 1), input_array(Type::u32, count, values.data()),
                   input_array(Type::u32, by_digit ? 0 : shape.buckets - 1, splitters.data())},
            .out = {{{Type::u32, count, out.data() + 1},
                     {Type::u32, count, moved.data()},
                     {Type::u32, shape.buckets + 1, offsets.data()}}},
            .scalars = {std::uint64_t{3}, static_cast<std::uint64_t>(std::bit_width(shape.buckets) - 1)},
            .tuning = {.grid = 1},
            .workspace = &workspace};
        const Rung& rung = partition_rung(*emulator, "two_passes");
        (void)emulator->take_report();
        EXPECT_TRUE(rung.find(Type::u32, shape.bucketing)(call));
        const simt::Report report = emulator->take_report();
        EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) wrong += moved[i] != order[i] || out[i + 1] != keys[order[i]];
        for (std::size_t b = 0; b <= shape.buckets; ++b) wrong += offsets[b] != begins[b];
        EXPECT_EQ(wrong, 0u) << shape.buckets << ' ' << count;
        EXPECT_EQ(out[0], 0xCDCDCDCDu);
        EXPECT_TRUE(workspace.counters_are_zero());
      }
}

// Tiles that are sorted by two sub-digits. Whole and partial last tiles, sorted by two blocks or by clusters of two, of
// which the last may be incomplete; few distinct keys, no keys, and fewer keys than a tile has lanes.
TEST(PartitionPasses, InTheTileKeepTheOrder) {
  struct Input {
    const char* rung;
    const char* name;
    std::size_t tiles, rest;  // elements past the whole tiles
    unsigned bits;
    bool has_values;
    std::size_t shift = 0;  // of the keys, in elements past a 16-byte boundary; threads then stage them
  };
  const char *const passes = "passes_in_tile", *const writes = "overlapped_writes";
  for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()})
    for (const Input input : {Input{passes, "uniform", 2, 77, 11, false}, Input{passes, "zipf", 2, 77, 9, true},
                              Input{passes, "uniform", 2, 77, 9, true, 1}, Input{passes, "uniform", 0, 0, 11, true},
                              Input{passes, "uniform", 0, 100, 10, true}, Input{writes, "uniform", 4, 77, 11, false},
                              Input{writes, "zipf", 3, 77, 11, false}, Input{writes, "uniform", 4, 0, 10, false},
                              Input{writes, "uniform", 0, 100, 11, false}}) {
      const std::size_t count = input.tiles * tile_of(input.rung) + input.rest, buckets = std::size_t{1} << input.bits;
      const auto keys = make_input<std::uint32_t>(input.name, count, 1);
      std::vector<std::uint32_t> order(count), begins(buckets + 1);
      std::iota(order.begin(), order.end(), 0u);
      const auto bucket_of = [&](std::uint32_t key) { return key >> 3 & (buckets - 1); };
      std::stable_sort(order.begin(), order.end(),
                       [&](auto a, auto b) { return bucket_of(keys[a]) < bucket_of(keys[b]); });
      for (const std::uint32_t key : keys) ++begins[bucket_of(key) + 1];
      std::partial_sum(begins.begin(), begins.end(), begins.begin());
      const std::size_t moving = input.has_values ? count : 0;
      test::Array<std::uint32_t> in(*emulator, count + input.shift), values(*emulator, moving), out(*emulator, count),
          moved(*emulator, moving), offsets(*emulator, buckets + 1);
      in.set([&](std::size_t i) { return i < input.shift ? 0 : keys[i - input.shift]; });
      values.set([](std::size_t i) { return static_cast<std::uint32_t>(i); });
      for (auto* written : {&out, &moved, &offsets}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
      Workspace workspace(*emulator);
      const Call call{
          .operation = Bucketing::digit,
          .in = {input_array(Type::u32, count, in.data() + input.shift), input_array(Type::u32, moving, values.data())},
          .out = {{{Type::u32, count, out.data()},
                   {Type::u32, moving, moved.data()},
                   {Type::u32, buckets + 1, offsets.data()}}},
          .scalars = {std::uint64_t{3}, std::uint64_t{input.bits}},
          .tuning = {.grid = 2},
          .workspace = &workspace};
      const Rung& rung = partition_rung(*emulator, input.rung);
      (void)emulator->take_report();
      EXPECT_TRUE(rung.find(Type::u32, Bucketing::digit)(call));
      const simt::Report report = emulator->take_report();
      EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) wrong += out[i] != keys[order[i]];
      for (std::size_t i = 0; i < moving; ++i) wrong += moved[i] != order[i];
      for (std::size_t b = 0; b <= buckets; ++b) wrong += offsets[b] != begins[b];
      EXPECT_EQ(wrong, 0u) << input.rung << ' ' << input.name << ' ' << count << ' ' << input.bits;
      EXPECT_TRUE(workspace.counters_are_zero());
    }
}

// ---- values ---------------------------------------------------------------------------------------------------------

// Returns the number of keys in buckets below `bucket`, where a key's lowest bits select its bucket.
std::size_t keys_below(std::span<const std::uint32_t> keys, std::size_t bucket, std::size_t buckets) {
  return static_cast<std::size_t>(std::ranges::count_if(keys, [&](auto key) { return key % buckets < bucket; }));
}

// With 384 threads per block, tiles are twice as large as with half as many threads: here two whole tiles and a partial
// one.
TEST(PartitionValues, LargeTilesKeepThemBesideTheirKeys) {
  const std::size_t count = 2 * 2 * tile_of("lane_counters") + 77;
  const auto keys = make_input<std::uint32_t>("zipf", count, 1);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return (keys[a] & 255) < (keys[b] & 255); });
  for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()}) {
    test::Array<std::uint32_t> in(*emulator, count), values(*emulator, count), out(*emulator, count),
        moved(*emulator, count), offsets(*emulator, 257);
    in.set([&](std::size_t i) { return keys[i]; });
    values.set([&](std::size_t i) { return static_cast<std::uint32_t>(i); });
    for (auto* written : {&out, &moved, &offsets}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
    Workspace workspace(*emulator);
    const Call call{
        .operation = Bucketing::digit,
        .in = {input_array(Type::u32, count, in.data()), input_array(Type::u32, count, values.data())},
        .out = {{{Type::u32, count, out.data()}, {Type::u32, count, moved.data()}, {Type::u32, 257, offsets.data()}}},
        .scalars = {std::uint64_t{0}, std::uint64_t{8}},
        .tuning = {.block = 384, .grid = 1},
        .workspace = &workspace};
    const Rung& rung = partition_rung(*emulator, "lane_counters");
    (void)emulator->take_report();
    EXPECT_TRUE(rung.find(Type::u32, Bucketing::digit)(call));
    const simt::Report report = emulator->take_report();
    EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += moved[i] != order[i] || out[i] != keys[order[i]];
    for (std::size_t b = 0; b <= 256; ++b) wrong += offsets[b] != keys_below(keys, b, 256);
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(workspace.counters_are_zero());
  }
}

// 16-byte values as two elements of 8 bytes: tiles of 5760, the last one partial. The values begin at a multiple of 16
// bytes, or 8 bytes later.
TEST(PartitionValues, OfSixteenBytesGoWithTheirKeys) {
  constexpr std::size_t count = 5760 + 77;
  const auto keys = make_input<std::uint32_t>("zipf", count, 1);
  for (const std::uint64_t bits : {std::uint64_t{8}, std::uint64_t{11}})
    for (const std::size_t shift : {0u, 1u})
      for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()}) {
        const std::size_t buckets = std::size_t{1} << bits;
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return keys[a] % buckets < keys[b] % buckets; });
        test::Array<std::uint32_t> in(*emulator, count), out(*emulator, count), offsets(*emulator, buckets + 1);
        test::Array<std::uint64_t> values(*emulator, 2 * count + 2), moved(*emulator, 2 * count + 2);
        in.set([&](std::size_t i) { return keys[i]; });
        values.set([&](std::size_t i) { return i - shift; });
        moved.set([](std::size_t) { return 0xCDCDCDCDCDCDCDCDull; });
        for (auto* written : {&out, &offsets}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
        Workspace workspace(*emulator);
        const Call call{
            .operation = Bucketing::digit,
            .in = {input_array(Type::u32, count, in.data()), input_array(Type::u64, 2 * count, values.data() + shift)},
            .out = {{{Type::u32, count, out.data()},
                     {Type::u64, 2 * count, moved.data() + shift},
                     {Type::u32, buckets + 1, offsets.data()}}},
            .scalars = {std::uint64_t{0}, bits},
            .workspace = &workspace};
        const Rung& rung = partition_rung(*emulator, bits > 8 ? "two_passes" : "lane_counters");
        (void)emulator->take_report();
        EXPECT_TRUE(rung.find(Type::u32, Bucketing::digit)(call));
        const simt::Report report = emulator->take_report();
        EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < 2 * count; ++i) wrong += moved[i + shift] != 2 * order[i / 2] + i % 2;
        for (std::size_t i = 0; i < count; ++i) wrong += out[i] != keys[order[i]];
        for (std::size_t b = 0; b <= buckets; ++b) wrong += offsets[b] != keys_below(keys, b, buckets);
        EXPECT_EQ(wrong, 0u) << bits << ' ' << shift;
        EXPECT_EQ(moved[2 * count + shift], 0xCDCDCDCDCDCDCDCDu) << "values past the end are not touched";
      }
}

// ---- the choice -----------------------------------------------------------------------------------------------------

std::string_view chosen(const char* machine, std::size_t keys, std::size_t key_bytes, unsigned value_bytes,
                        unsigned buckets, bool searched = false) {
  return ladders::partition::choose(keys, key_bytes, value_bytes, buckets, searched, emulated_machine(machine)).rung;
}

TEST(PartitionChoice, FollowsWhatWasMeasured) {
  EXPECT_EQ(chosen("h200", 1 << 15, 4, 16, 32768, true), "replicated_counts");
  EXPECT_EQ(chosen("h200", (1 << 15) + 1, 8, 16, 256, true), "lane_counters");
  EXPECT_EQ(chosen("h200", 1 << 17, 4, 0, 2048), "two_passes");
  EXPECT_EQ(chosen("h200", (1 << 17) + 1, 4, 0, 2048), "overlapped_writes");
  EXPECT_EQ(chosen("h200", 1 << 28, 4, 0, 2048, true), "two_passes") << "splitters";
  EXPECT_EQ(chosen("h200", 1 << 28, 4, 0, 2049), "two_passes");
  EXPECT_EQ(chosen("h200", std::size_t{1} << 32, 4, 0, 2048), "two_passes");
  EXPECT_EQ(chosen("h200", 1 << 28, 4, 4, 1024), "passes_in_tile");
  EXPECT_EQ(chosen("h200", 1 << 24, 4, 4, 2048), "passes_in_tile");
  EXPECT_EQ(chosen("h200", (1 << 24) + 1, 4, 4, 2048), "two_passes");
  EXPECT_EQ(chosen("h200", 1 << 22, 4, 8, 512), "two_passes");
  EXPECT_EQ(chosen("a100", 1 << 28, 8, 16, 256), "lookback");
  EXPECT_EQ(chosen("rtx5090", 1 << 28, 4, 0, 257), "two_passes");
  EXPECT_EQ(chosen("t4", 1000, 4, 4, 4096), "replicated_counts");
  EXPECT_EQ(chosen("t4", 1000, 4, 4, 32768), "two_passes") << "no room for so many counters";
}

// The choice is a rung that the device can run, for every emulated device.
TEST(PartitionChoice, IsARungThatTheMachineRuns) {
  for (const Machine& machine : emulated_machines())
    for (const std::size_t keys : {std::size_t{0}, std::size_t{1} << 14, std::size_t{1} << 20, std::size_t{1} << 33})
      for (const unsigned buckets : {2u, 256u, 257u, 2048u, 16'000u, 32'768u})
        for (const unsigned value_bytes : {0u, 4u, 8u, 16u})
          for (const std::size_t key_bytes : {4u, 8u}) {
            const auto name = chosen(machine.name.data(), keys, key_bytes, value_bytes, buckets);
            const Rung& rung = partition_rung(plain_emulator(), name);
            EXPECT_TRUE(machine.meets(rung.needs)) << machine.name << ' ' << name;
            EXPECT_TRUE(rung.find_for(key_bytes == 4 ? Type::u32 : Type::u64, Bucketing::digit, keys)) << name;
          }
}

}  // namespace
}  // namespace upsweep
