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
  unsigned block;  // which tiles; 0: the rung's
  bool indices;    // as values
  const char* input;
};

// Portions have 2^15 keys on the emulators; the last one has fewer tiles than the others. A pass by a digit in which
// all keys agree is skipped, so that launches change parity between passes.
class SortPortions : public testing::TestWithParam<PortionCase> {};

TEST_P(SortPortions, FollowOnEachOther) {
  const PortionCase c = GetParam();
  constexpr std::size_t n = 4 * (1 << 15) + 1234;
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
}

INSTANTIATE_TEST_SUITE_P(
    Rungs, SortPortions,
    testing::Values(PortionCase{"onesweep_8bit", 0, false, "uniform"}, PortionCase{"onesweep_8bit", 0, true, "zipf"},
                    PortionCase{"lane_sweep", 192, false, "uniform"}, PortionCase{"lane_sweep", 192, true, "uniform"},
                    PortionCase{"lane_sweep", 256, false, "zipf"}, PortionCase{"lane_sweep", 384, true, "zipf"}));

}  // namespace
}  // namespace upsweep
