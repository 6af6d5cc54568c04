// Tests which changes count as regressions.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "lab/compare.h"

namespace upsweep::lab {
namespace {

Record record(const std::string& rung, double median, double spread = 0.01) {
  Record r;
  r.primitive = "reduce";
  r.rung = rung;
  r.backend = "cpu";
  r.op = "sum";
  r.type = "f32";
  r.n = 1024;
  r.input = "uniform";
  r.median_us = median;
  r.q1_us = median * 0.99;
  r.q3_us = median * 1.01;
  r.aa_spread = spread;
  r.checked = true;
  r.device = "a machine";
  return r;
}

Change change(const std::vector<Record>& before, const std::vector<Record>& after) {
  const auto all = compare(before, after, false);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0).change;
}

TEST(Compare, SameWithinNoise) {
  EXPECT_EQ(change({record("simd", 10)}, {record("simd", 10.1)}), Change::same);
  EXPECT_EQ(change({record("simd", 10, 0.1)}, {record("simd", 11.5, 0.1)}), Change::same);
}

TEST(Compare, SlowerAndFaster) {
  EXPECT_EQ(change({record("simd", 10)}, {record("simd", 11)}), Change::slower);
  EXPECT_EQ(change({record("simd", 11)}, {record("simd", 10)}), Change::faster);
}

TEST(Compare, BrokenIsARegression) {
  Record failed = record("simd", 10);
  failed.median_us = failed.q1_us = failed.q3_us = failed.aa_spread = std::nullopt;
  failed.checked = false;
  const auto all = compare({record("simd", 10)}, {failed}, false);
  EXPECT_EQ(all.at(0).change, Change::broken);
  EXPECT_TRUE(all.at(0).regression());
  EXPECT_EQ(change({failed}, {record("simd", 10)}), Change::repaired);
}

TEST(Compare, CasesOfOneRunOnly) {
  const auto all = compare({record("old", 1), record("both", 1)}, {record("new", 1), record("both", 1)}, false);
  ASSERT_EQ(all.size(), 3u);
  int missing = 0, added = 0;
  for (const Comparison& c : all) {
    EXPECT_FALSE(c.regression());
    missing += c.change == Change::missing;
    added += c.change == Change::added;
  }
  EXPECT_EQ(missing, 1);
  EXPECT_EQ(added, 1);
}

TEST(Compare, ParametersAndPeersMakeACase) {
  Record with_block = record("simd", 20);
  with_block.params.emplace_back("block", "64");
  Record peer = record("simd", 30);
  peer.peer = std::exchange(peer.rung, std::nullopt);
  EXPECT_EQ(compare({record("simd", 10)}, {with_block, peer}, false).size(), 3u);
}

TEST(Compare, ASituationMakesACase) {
  Record warm = record("simd", 20);
  warm.situation = to_string(Situation::warm);
  EXPECT_EQ(compare({record("simd", 10)}, {record("simd", 10), warm}, false).size(), 2u);
}

TEST(Compare, TheLaterOfTwoEqualRecordsCounts) {
  EXPECT_EQ(change({record("simd", 10)}, {record("simd", 99), record("simd", 10)}), Change::same);
}

TEST(Compare, OtherEnvironmentsAreRefusedUnlessAsked) {
  const char* names[] = {"device", "driver", "compiler", "flags"};
  std::string Record::*fields[] = {&Record::device, &Record::driver, &Record::compiler, &Record::flags};
  for (int k = 0; k < 4; ++k) {
    Record other = record("simd", 10);
    other.*fields[k] = "another";
    try {
      compare({record("simd", 10)}, {other}, false);
      ADD_FAILURE() << names[k];
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(names[k]), std::string::npos) << error.what();
      EXPECT_NE(error.hint().find("--across"), std::string::npos);
    }
    EXPECT_EQ(compare({record("simd", 10)}, {other}, true).size(), 1u);
  }
}

TEST(Compare, ADeviceMakesACase) {
  Record other = record("simd", 1);
  other.device = "another";
  // Ten times slower on one of two machines.
  const auto all = compare({record("simd", 10), other}, {record("simd", 100), other}, false);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(std::ranges::count_if(all, &Comparison::regression), 1);
  try {
    compare({record("simd", 10), other}, {other}, true);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("two devices, 'a machine' and 'another'"), std::string::npos)
        << error.what();
  }
}

TEST(Compare, ASlowerCeilingIsNoRegression) {
  Record before = record("copy", 10), after = record("copy", 20);
  before.primitive = after.primitive = "ceiling";
  const auto all = compare({before}, {after}, false);
  EXPECT_EQ(all.at(0).change, Change::slower);
  EXPECT_FALSE(all.at(0).regression());
}

TEST(Compare, TableShowsChangesAndTotals) {
  const auto all = compare({record("a", 10), record("b", 10)}, {record("a", 12), record("b", 10)}, false);
  const std::string table = comparison_table(all, false, {});
  EXPECT_NE(table.find("reduce/a"), std::string::npos);
  EXPECT_EQ(table.find("reduce/b"), std::string::npos);
  EXPECT_NE(table.find("+20.0 %"), std::string::npos) << table;
  EXPECT_NE(table.find("1 same, 1 slower"), std::string::npos) << table;
  EXPECT_NE(comparison_table(all, true, {}).find("reduce/b"), std::string::npos);
}

}  // namespace
}  // namespace upsweep::lab
