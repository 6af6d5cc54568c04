// The choice between one core and all, based on the duration of calls.
#include <gtest/gtest.h>

#include <set>

#include "cpu/one_or_all.h"

namespace upsweep {
namespace {

struct Calls {
  int on_one = 0, on_all = 0;
  double us = 0;
};
// Simulates n calls that take one_us on one core and all_us on all cores.
Calls take(OneOrAll& way, int n, double one_us, double all_us) {
  Calls calls;
  for (int i = 0; i < n; ++i) {
    const double us = way.all() ? all_us : one_us;
    ++(way.all() ? calls.on_all : calls.on_one);
    calls.us += us;
    way.took(us);
  }
  return calls;
}

TEST(OneOrAll, TakesTheFasterWay) {
  OneOrAll one, all;
  take(one, 10'000, 10, 25);
  take(all, 10'000, 10, 6);
  const Calls mostly_one = take(one, 100'000, 10, 25), mostly_all = take(all, 100'000, 10, 6);
  EXPECT_LE(mostly_one.us, 1.011 * 100'000 * 10);
  EXPECT_LE(mostly_all.us, 1.011 * 100'000 * 6);
  EXPECT_GT(mostly_one.on_all, 0);  // the slower way is retried
  EXPECT_GT(mostly_all.on_one, 0);
}

TEST(OneOrAll, NoticesThatTheOtherHasBecomeFaster) {
  OneOrAll way;
  take(way, 1000, 10, 25);
  take(way, 4000, 10, 6);  // a way that was over twice as slow is retried after at most 200 trials of 16 calls
  EXPECT_GT(take(way, 1000, 10, 6).on_all, 950);
  take(way, 20, 10, 25);  // the current way itself has become slower
  EXPECT_GT(take(way, 1000, 10, 25).on_one, 900);
}

TEST(OneOrAll, DoesNotGiveUpAWayThatWasFarSlower) {
  OneOrAll way;
  take(way, 100'000, 10, 10'000);
  take(way, 4000, 10, 6);
  EXPECT_GT(take(way, 1000, 10, 6).on_all, 950);
}

// The call that wakes the cores is slow and those after it are fast, which matters for isolated calls but not in a
// loop.
TEST(OneOrAll, JudgesSeveralCallsInARow) {
  const auto first_is_slow = [](OneOrAll& way, int calls_in_a_row, int n) {
    int on_all = 0;
    for (int i = 0; i < n; ++i) {
      on_all += way.all();
      way.took(!way.all() ? 14 : i % calls_in_a_row == 0 ? 54 : 10);
    }
    return on_all;
  };
  OneOrAll rare, often;
  EXPECT_LT(first_is_slow(rare, 1, 1000), 100);
  EXPECT_GT(first_is_slow(often, 16, 1000), 850);
}

TEST(OneOrAll, LongCallsAreTrialsByThemselves) {
  OneOrAll way;
  take(way, 2, 600, 900);
  EXPECT_EQ(take(way, 1, 600, 900).on_one, 1);
}

TEST(OneOrAll, CallsInsideACallTakeAll) {
  OneOrAll way;
  take(way, 40, 10, 25);
  ASSERT_FALSE(way.all());
  way.call([&](bool all) {
    EXPECT_FALSE(all);
    EXPECT_TRUE(way.call([](bool inner) { return inner; }));
    return true;
  });
}

TEST(OneOrAll, CallsThatFailAreNotTimed) {
  OneOrAll way;
  take(way, 40, 10, 25);
  ASSERT_FALSE(way.all());
  for (int i = 0; i < 1000; ++i) {
    way.call([](bool all) {
      EXPECT_FALSE(all);
      return false;
    });
  }
}

TEST(AlikeCalls, AreAlikeInEachNumber) {
  static AlikeCalls<1000, 16> alike("test", "n", "k");
  EXPECT_EQ(&alike(512u, 4u), &alike(std::size_t{1000}, 7u));
  EXPECT_NE(&alike(512u, 4u), &alike(511u, 4u));
  EXPECT_NE(&alike(512u, 4u), &alike(512u, 0u));
  std::set<const OneOrAll*> all;
  for (unsigned n = 0; n <= 1000; ++n)
    for (unsigned k = 0; k <= 16; ++k) all.insert(&alike(n, k));
  EXPECT_EQ(all.size(), 11u * 6);
  EXPECT_EQ(*all.rbegin() - *all.begin(), 11 * 6 - 1);
}

}  // namespace
}  // namespace upsweep
