// Emulated sorts of more keys than one launch of a pass takes, for which the laboratory's checks are too small.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/workspace.h"
#include "lab/few_elements.h"
#include "lab/inputs.h"
#include "ladders/sort/choose.h"
#include "launcher.h"
#include "simt/report.h"
#include "upsweep/parameters/sort.h"

namespace upsweep {
namespace {

struct PortionCase {
  const char* rung;
  unsigned block;    // selects the tile; 0: the rung's default
  std::size_t tile;  // keys
  bool indices;      // true if the values are indices
  const char* input;
};

// Portions have at most 2^15 keys here, and the last one has fewer tiles than the others. Their number is odd, so
// launches change parity between passes; one pass is skipped, because all keys agree in its digit.
class SortPortions : public testing::TestWithParam<PortionCase> {};

TEST_P(SortPortions, FollowOnEachOther) {
  const PortionCase c = GetParam();
  constexpr std::size_t n = 4 * (1 << 15) + 9000;
  const auto ceil_div = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
  const std::size_t tiles = ceil_div(n, c.tile), portions = ceil_div(tiles, (1 << 15) / c.tile);
  const std::size_t per_portion = ceil_div(tiles, portions);
  ASSERT_TRUE(portions % 2 == 1 && (tiles % per_portion > 0 || per_portion == 1));
  auto keys = make_input<std::uint32_t>(c.input, n, 1);
  for (std::uint32_t& key : keys) key = (key & 0xff00ffffu) | 0x120000u;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  simt::Emulator& emulator = plain_emulator();
  const lab::FewElements few(emulator);
  test::Array<std::uint32_t> in(emulator, n), out(emulator, n), indices(emulator, n);
  in.set([&](std::size_t i) { return keys[i]; });
  for (auto* written : {&out, &indices}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
  Workspace workspace(emulator);
  (void)Scratch(workspace).take<std::byte>(1 << 22);  // more than the call takes, so that the arena never moves
  const Array none{Type::u32};
  const Call call{.operation = Order::ascending,
                  .in = {input_array(Type::u32, n, in.data()), none},
                  .out = {{{Type::u32, n, out.data()}, c.indices ? Array{Type::u32, n, indices.data()} : none}},
                  .scalars = {std::uint64_t{0}, std::uint64_t{32}},
                  .tuning = {.block = c.block},
                  .workspace = &workspace};
  const Rung* rung = find_rung(emulator.rungs(), "sort", c.rung);
  ASSERT_TRUE(rung);
  (void)emulator.take_report();
  const Status status = rung->find(Type::u32, Order::ascending)(call);
  ASSERT_TRUE(status) << (status.message ? status.message : "");
  const simt::Report report = emulator.take_report();
  EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += out[i] != keys[order[i]] || (c.indices && indices[i] != order[i]);
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(workspace.counters_are_zero());
  // The words that the next launch would use must be 0, including those of tiles that the last launch did not have.
  // Results do not show a failure: a tile takes a stale word for a count only if it reads before the other tile has
  // counted.
  std::uint32_t differing = 0;
  for (const std::uint32_t key : keys) differing |= key ^ keys[0];
  std::size_t passes = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) passes += (differing >> shift & 0xff) != 0;
  const std::size_t words = (per_portion + (c.block == 256 ? ceil_div(per_portion, 16) : 0)) * 256;
  const unsigned* const next = Scratch(workspace).take<unsigned>(0) + passes * portions % 2 * words;
  EXPECT_EQ(std::count(next, next + words, 0u), words);
}

INSTANTIATE_TEST_SUITE_P(Rungs, SortPortions,
                         testing::Values(PortionCase{"onesweep_8bit", 0, 6144, false, "uniform"},
                                         PortionCase{"onesweep_8bit", 0, 6144, true, "zipf"},
                                         PortionCase{"match_sweep", 0, 10240, false, "uniform"},
                                         PortionCase{"match_sweep", 0, 6144, true, "zipf"},
                                         PortionCase{"lane_sweep", 192, 11520, false, "uniform"},
                                         PortionCase{"lane_sweep", 192, 5376, true, "uniform"},
                                         PortionCase{"lane_sweep", 256, 2048, false, "zipf"},
                                         PortionCase{"lane_sweep", 384, 23040, true, "zipf"}));

// Expects floats in order of value: -0 equals +0, and NaNs are equal and come last, in every digit of every rung.
// Padding past the end must come after all keys, although in descending order no key is last in all digits.
void sort_by_value(const char* name, std::size_t n, Order order, std::uint64_t first_bit, std::uint64_t bits) {
  const auto keys = make_input<float>("specials", n, n);
  const auto number = [&](std::uint32_t i) {
    constexpr std::uint32_t sign = 1u << 31;
    std::uint32_t word;
    std::memcpy(&word, &keys[i], sizeof word);
    std::uint32_t whole = word >= sign ? sign - 1 - (word - sign) : sign + word;
    if (std::isnan(keys[i])) whole = ~0u;
    if (keys[i] == 0) whole = sign;
    return (order == Order::descending ? ~whole : whole) >> first_bit & ~std::uint64_t{0} >> (64 - bits);
  };
  std::vector<std::uint32_t> expected(n);
  std::iota(expected.begin(), expected.end(), 0u);
  std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return number(a) < number(b); });
  simt::Emulator& emulator = plain_emulator();
  const lab::FewElements few(emulator);
  test::Array<float> in(emulator, n), out(emulator, n);
  test::Array<std::uint32_t> indices(emulator, n);
  in.set([&](std::size_t i) { return keys[i]; });
  const Rung* rung = find_rung(emulator.rungs(), "sort", name);
  ASSERT_TRUE(rung);
  Workspace workspace(emulator);
  for (const bool with_indices : {true, false}) {
    out.set([](std::size_t) { return 7.0f; });
    indices.set([](std::size_t) { return 0xCDCDCDCDu; });
    const Array none{Type::u32};
    const Call call{.operation = order,
                    .in = {input_array(Type::f32, n, in.data()), none},
                    .out = {{{Type::f32, n, out.data()}, with_indices ? Array{Type::u32, n, indices.data()} : none}},
                    .scalars = {first_bit, bits, FloatOrder::by_value},
                    .workspace = &workspace};
    const Status status = rung->find(Type::f32, order)(call);
    ASSERT_TRUE(status) << name << ": " << (status.message ? status.message : "");
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float key = out[i];
      wrong += std::memcmp(&key, &keys[expected[i]], sizeof key) != 0 || (with_indices && indices[i] != expected[i]);
    }
    EXPECT_EQ(wrong, 0u) << name << " " << n << " " << to_string(order) << " " << first_bit << " " << bits << " "
                         << with_indices;
    EXPECT_TRUE(workspace.counters_are_zero()) << name;
  }
}

TEST(SortFloats, ByValue) {
  constexpr struct {
    const char* rung;
    std::size_t n;
  } cases[] = {{"split_1bit", 500},   {"lsd_4bit", 1500},     {"onesweep_8bit", 7001}, {"lane_sweep", 3001},
               {"lane_sweep", 9001},  {"lane_sweep", 40'001}, {"one_block", 1001},     {"cluster", 5001},
               {"enumeration", 2001}, {"hybrid", 9001}};
  for (const auto& [rung, n] : cases)
    for (const Order order : {Order::ascending, Order::descending}) {
      sort_by_value(rung, n, order, 0, 32);
      sort_by_value(rung, n, order, 0, 21);
      sort_by_value(rung, n, order, 19, 13);
    }
}

// After a pass by the highest digit in which keys differ, buckets that fit a block are sorted in shared memory; if one
// does not fit, all are sorted in passes. `large` keys have equal highest bytes.
void sort_by_bucket(std::size_t n, std::size_t large, bool expect_buckets) {
  auto keys = make_input<std::int32_t>("uniform", n, 1);
  for (std::int32_t& key : keys) key &= 0x00ffffff;  // the second byte becomes the highest one that differs
  for (std::size_t i = 0; i < large; ++i) keys[i] &= 0xffff;
  simt::Emulator& emulator = traced_emulator();
  test::Array<std::int32_t> in(emulator, n), out(emulator, n);
  in.set([&](std::size_t i) { return keys[i]; });
  out.set([](std::size_t) { return -1; });
  Workspace workspace(emulator);
  const Call call{.operation = Order::ascending,
                  .in = {input_array(Type::i32, n, in.data()), Array{Type::i32}},
                  .out = {{{Type::i32, n, out.data()}, Array{Type::i32}}},
                  .scalars = {std::uint64_t{0}, std::uint64_t{32}},
                  .workspace = &workspace};
  const Rung* rung = find_rung(emulator.rungs(), "sort", "hybrid");
  ASSERT_TRUE(rung);
  (void)emulator.take_report();
  const Status status = rung->find(Type::i32, Order::ascending)(call);
  ASSERT_TRUE(status) << (status.message ? status.message : "");
  const simt::Report report = emulator.take_report();
  EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
  std::uint64_t stores = 0, launches = 0;
  for (const auto& kernel : report.kernels)
    if (kernel.name.find("bucket_sort_kernel") != std::string::npos)
      stores += kernel.counters.global_store_requests, launches += kernel.launches;
  EXPECT_EQ(launches, 1u);
  EXPECT_EQ(stores > 0, expect_buckets);
  std::sort(keys.begin(), keys.end());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += out[i] != keys[i];
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(workspace.counters_are_zero());
}

TEST(SortBuckets, FitABlock) { sort_by_bucket(9001, 0, true); }
TEST(SortBuckets, FillABlock) { sort_by_bucket(9001, 6000, true); }
TEST(SortBuckets, AreSortedInPassesIfOneDoesNotFit) { sort_by_bucket(9001, 6145, false); }

// ---- the choice -----------------------------------------------------------------------------------------------------

std::string_view chosen(const char* machine, std::size_t keys, std::size_t key_bytes, unsigned value_bytes = 0,
                        bool all_bits = true) {
  return ladders::sort::choose(keys, key_bytes, value_bytes, all_bits, emulated_machine(machine)).rung;
}

TEST(SortChoice, FollowsWhatWasMeasured) {
  EXPECT_EQ(chosen("h200", 1 << 22, 2), "counting");
  EXPECT_EQ(chosen("h200", 1 << 22, 2, 0, false), "lane_sweep");
  EXPECT_EQ(chosen("h200", 1 << 18, 1), "counting");
  EXPECT_EQ(chosen("h200", 1 << 18, 1, 4), "onesweep_8bit");
  EXPECT_EQ(chosen("h200", 1 << 13, 8, 16), "enumeration");
  EXPECT_EQ(chosen("h200", 1 << 14, 4), "cluster");
  EXPECT_EQ(chosen("h200", 1 << 14, 4, 4), "hybrid");
  EXPECT_EQ(chosen("h200", 1 << 14, 8), "hybrid");
  EXPECT_EQ(chosen("h200", 5 << 18, 4, 16), "hybrid");
  EXPECT_EQ(chosen("h200", (5 << 18) + 1, 4), "lane_sweep");
  EXPECT_EQ(chosen("h200", (5 << 18) + 1, 4, 16), "onesweep_8bit");
  EXPECT_EQ(chosen("h200", std::size_t{1} << 32, 4), "onesweep_8bit");
  EXPECT_EQ(chosen("a100", 1 << 14, 4), "hybrid");
  EXPECT_EQ(chosen("a100", 1 << 28, 4, 8), "match_sweep");
  EXPECT_EQ(chosen("a100", 1 << 28, 4, 16), "onesweep_8bit");
  EXPECT_EQ(chosen("a100", 1 << 22, 2), "counting");
  EXPECT_EQ(chosen("rtx4090", 1 << 22, 2), "match_sweep");
  EXPECT_EQ(chosen("rtx4090", 1 << 20, 8, 8), "hybrid");
  EXPECT_EQ(chosen("rtx4090", 1 << 22, 4), "match_sweep");
  EXPECT_EQ(chosen("rtx5090", 1 << 14, 4), "cluster");
  EXPECT_EQ(chosen("t4", 1 << 13, 4), "enumeration");
  EXPECT_EQ(chosen("t4", 1 << 13, 8), "match_sweep") << "no room for so many keys, nor for a bucket";
  EXPECT_EQ(chosen("t4", 1 << 20, 4), "hybrid");
  EXPECT_EQ(chosen("t4", 1 << 20, 4, 4), "match_sweep");
  EXPECT_EQ(chosen("t4", 1 << 22, 8, 16), "onesweep_8bit");
  EXPECT_EQ(chosen("t4", 1 << 22, 1), "counting");
}

// The choice is a rung that the device can run, for every emulated device.
TEST(SortChoice, IsARungThatTheMachineRuns) {
  for (const Machine& machine : emulated_machines())
    for (const std::size_t keys : {std::size_t{0}, std::size_t{1} << 13, std::size_t{1} << 14, std::size_t{1} << 20,
                                   std::size_t{1} << 24, std::size_t{1} << 33})
      for (const Type type : {Type::u8, Type::i16, Type::f32, Type::i64})
        for (const unsigned value_bytes : {0u, 4u, 8u, 16u})
          for (const bool all_bits : {false, true}) {
            const auto name = chosen(machine.name.data(), keys, size_of(type), value_bytes, all_bits);
            const Rung* rung = find_rung(plain_emulator().rungs(), "sort", name);
            ASSERT_TRUE(rung) << name;
            EXPECT_TRUE(machine.meets(rung->needs)) << machine.name << ' ' << name;
            EXPECT_TRUE(rung->find_for(type, Order::ascending, keys)) << name;
          }
}

}  // namespace
}  // namespace upsweep
