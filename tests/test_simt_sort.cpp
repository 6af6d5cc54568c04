// Sorts on the emulators of more keys than one launch of a pass takes, which the laboratory's checks are too small for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/workspace.h"
#include "lab/inputs.h"
#include "launcher.h"
#include "simt/report.h"
#include "upsweep/operations.h"

namespace upsweep {
namespace {

struct PortionCase {
  const char* rung;
  unsigned block;    // which tiles; 0: the rung's
  std::size_t tile;  // keys
  bool indices;      // as values
  const char* input;
};

// Portions have at most 2^15 keys on the emulators, and the last one has fewer tiles than the others. They are odd in
// number, so that launches change parity between passes; one pass is skipped, because all keys agree in its digit.
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
  test::Array<std::uint32_t> in(emulator, n), out(emulator, n), indices(emulator, n);
  in.set([&](std::size_t i) { return keys[i]; });
  for (auto* written : {&out, &indices}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
  Workspace workspace(emulator);
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
  // The words that a further launch would use are 0, also those of tiles that the last launch did not have. Results do
  // not show it: a tile takes what was left there for another's count only if it looks before the other has counted.
  std::uint32_t differing = 0;
  for (const std::uint32_t key : keys) differing |= key ^ keys[0];
  std::size_t passes = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) passes += (differing >> shift & 0xff) != 0;
  const std::size_t words = (per_portion + (c.block == 256 ? ceil_div(per_portion, 16) : 0)) * 256;
  const unsigned* const next = static_cast<const unsigned*>(workspace.scratch(0)) + passes * portions % 2 * words;
  EXPECT_EQ(std::count(next, next + words, 0u), words);
}

INSTANTIATE_TEST_SUITE_P(Rungs, SortPortions,
                         testing::Values(PortionCase{"onesweep_8bit", 0, 6144, false, "uniform"},
                                         PortionCase{"onesweep_8bit", 0, 6144, true, "zipf"},
                                         PortionCase{"lane_sweep", 192, 11520, false, "uniform"},
                                         PortionCase{"lane_sweep", 192, 5376, true, "uniform"},
                                         PortionCase{"lane_sweep", 256, 2048, false, "zipf"},
                                         PortionCase{"lane_sweep", 384, 23040, true, "zipf"}));

}  // namespace
}  // namespace upsweep
