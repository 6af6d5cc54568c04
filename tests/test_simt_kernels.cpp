// Results of kernels that use the whole CUDA surface, on both emulators.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "base/workspace.h"
#include "launcher.h"

namespace upsweep::test {
namespace {

class Kernels : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    emulator.configure({});
    emulator.take_report();
  }
  void TearDown() override {
    const simt::Report report = emulator.take_report();
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
  }
  bool run(std::string_view kernel, const Arguments& arguments) { return bool(launch(emulator, kernel, arguments)); }
  simt::Emulator& emulator = GetParam() ? test_traced_emulator() : test_plain_emulator();
};
INSTANTIATE_TEST_SUITE_P(Simt, Kernels, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "traced" : "plain"); });

TEST_P(Kernels, ReduceWithAnOperatorOfOnesOwn) {
  const Rung* rung = find_rung(emulator.rungs(), "test", "gcd");
  ASSERT_TRUE(rung);
  Workspace workspace(emulator);
  for (std::size_t n : {0, 1, 1000, 100003}) {
    Array<unsigned> in(emulator, n), out(emulator, 1);
    in.set([](std::size_t i) { return 84 * (i % 1009 + 1); });
    const Call call{
        .in = {input_array(Type::u32, n, in.data())}, .out = {{{Type::u32, 1, out.data()}}}, .workspace = &workspace};
    ASSERT_TRUE(bool(rung->find(Type::u32, {})(call)));
    EXPECT_EQ(out[0], n ? 84u : 0u) << n;
  }
}

TEST_P(Kernels, SelectWithAPredicateOfOnesOwn) {
  struct Point {
    std::int32_t x, y;
    bool operator==(const Point&) const = default;
  };
  constexpr std::int32_t radius = 700;
  const auto inside = [&](Point p) { return p.x * p.x + p.y * p.y < radius * radius; };
  constexpr Point untouched{-1, -1};
  Workspace workspace(emulator);
  for (const std::size_t n : {0, 1, 1000, 1024, 20011})
    for (const std::size_t offset : {0, 1})  // elements past a 16-byte boundary
      // The default, which is vec16 for small n; pipeline; and vec16 as for 2^32 elements and more.
      for (const auto& [grid, wide] : {std::pair{0u, false}, {3u, false}, {0u, true}}) {
        Array<Point> in(emulator, n + offset), out(emulator, n + offset);
        Array<std::uint64_t> count(emulator, 1);
        for (std::size_t i = 0; i < in.size(); ++i)
          in[i] = {std::int32_t(i * 7919 % 2003) - 1001, std::int32_t(i * 104729 % 1999) - 999};
        std::vector<Point> kept, left;
        for (std::size_t i = 0; i < n; ++i) (inside(in[offset + i]) ? kept : left).push_back(in[offset + i]);
        for (const bool all : {false, true}) {
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = untouched;
          const Rung* rung =
              find_rung(emulator.rungs(), "test", std::string(all ? "inside_first" : "inside") + (wide ? "_wide" : ""));
          const Call call{.in = {{{Type::u64, n, in.data() + offset}}},
                          .out = {{{Type::u64, n, out.data() + offset}, {Type::u64, 1, count.data()}}},
                          .scalars = {radius},
                          .tuning = {.grid = grid},
                          .workspace = &workspace};
          ASSERT_TRUE(bool(rung->find(Type::u32, {})(call)));
          ASSERT_EQ(count[0], kept.size());
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_EQ(out[offset + i], i < kept.size() ? kept[i]
                                       : all           ? left[i - kept.size()]
                                                       : untouched)
                << n << ' ' << i;
        }
      }
}

// Words with between 0 and 32 circles, sparse before dense and dense before sparse: the sparser the words, the more of
// them a thread reads at a time.
TEST_P(Kernels, ColumnsFromTheirEnd) {
  const auto bits_of = [](std::size_t kind, std::size_t word, std::size_t words) -> unsigned {
    const bool late = word >= words / 2;
    if (kind < 2) return late == (kind == 0) ? (word % 97 == 5 ? 1u << word % 32 : 0) : ~0u;
    return kind == 2 ? unsigned(word * 2654435769u) & unsigned(word * 40503u) : word % 29 ? 0 : ~0u;
  };
  for (const char* kernel : {"column_end_256", "column_end_512"})
    for (const std::size_t words : {1, 25, 255, 257, 3125, 20'000})
      for (std::size_t kind = 0; kind < 4; ++kind) {
        Array<unsigned> in(emulator, words);
        in.set([&](std::size_t w) { return bits_of(kind, w, words); });
        std::vector<unsigned> expected;
        for (std::size_t w = words; w-- > 0;)
          for (unsigned bit = 32; bit-- > 0;)
            if (in[w] >> bit & 1) expected.push_back(unsigned(32 * w + bit));
        Array<unsigned> out(emulator, expected.size() + 1);
        out.set([](std::size_t) { return 0xCDCDCDCDu; });
        ASSERT_TRUE(
            run(kernel, {.in = {in.data()}, .out = {out.data()}, .n = words, .how = {.k = int(expected.size())}}));
        EXPECT_EQ(out[expected.size()], expected.size()) << kernel << ' ' << words << ' ' << kind;
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.data())) << kernel << ' ' << words << ' ' << kind;
      }
}

// Calls with more than 256 buckets are forwarded to passes_in_tile, or with values to two_passes, whose kernels the
// same unit must compile.
TEST_P(Kernels, PartitionWithBucketsOfOnesOwn) {
  Workspace workspace(emulator);
  for (const std::size_t n : {0, 1, 1000, 11520, 11597, 30001})
    for (const unsigned buckets : {10u, 256u, 1000u})
      for (const bool with_values : {false, true}) {
        const auto bucket_of = [&](std::uint32_t key) { return (key * 2654435769u >> 16) % buckets; };
        Array<std::uint32_t> keys(emulator, n), values(emulator, n), out(emulator, n), moved(emulator, n),
            offsets(emulator, buckets + 1);
        std::vector<std::uint32_t> order(n), counts(buckets + 1);
        for (std::size_t i = 0; i < n; ++i) {
          keys[i] = static_cast<std::uint32_t>(i * 7919 % 5003);
          values[i] = order[i] = static_cast<std::uint32_t>(i);
          ++counts[bucket_of(keys[i]) + 1];
        }
        for (auto* written : {&out, &moved, &offsets}) written->set([](std::size_t) { return 0xCDCDCDCDu; });
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return bucket_of(keys[a]) < bucket_of(keys[b]); });
        const Rung* rung = find_rung(emulator.rungs(), "test", "hashed");
        const Call call{.in = {{{Type::u32, n, keys.data()}, {Type::u32, n, with_values ? values.data() : nullptr}}},
                        .out = {{{Type::u32, n, out.data()},
                                 {Type::u32, n, moved.data()},
                                 {Type::u32, buckets + 1, offsets.data()}}},
                        .tuning = {.grid = n > 20'000 ? 1u : 0u},
                        .workspace = &workspace};
        ASSERT_TRUE(bool(rung->find(Type::u32, {})(call)));
        std::partial_sum(counts.begin(), counts.end(), counts.begin());
        for (unsigned b = 0; b <= buckets; ++b) ASSERT_EQ(offsets[b], counts[b]) << n << ' ' << buckets << ' ' << b;
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(out[i], keys[order[i]]) << n << ' ' << buckets << ' ' << i;
          if (with_values) {
            ASSERT_EQ(moved[i], order[i]) << n << ' ' << buckets << ' ' << i;
          }
        }
      }
}

TEST_P(Kernels, TransformWithAFunctionOfOnesOwn) {
  for (const char* const how : {"weighted", "weighted_staged"})
    for (const int inputs : {1, 3, 16})
      for (const std::size_t n : {0, 1, 1000, 1024, 20011}) {  // n decides whether the inputs have equal alignment
        Array<unsigned> in(emulator, static_cast<std::size_t>(inputs) * n), out(emulator, n);
        in.set([](std::size_t i) { return i * 2654435761u; });
        ASSERT_TRUE(run(how, {{in.data()}, {out.data()}, n, {.k = inputs}}));
        for (std::size_t i = 0; i < n; ++i) {
          unsigned sum = 0;
          for (unsigned k = 0; k < unsigned(inputs); ++k) sum += (k + 1) * in[k * n + i];
          ASSERT_EQ(out[i], sum) << how << ", " << inputs << " inputs, n=" << n << ", i=" << i;
        }
      }
  constexpr std::size_t n = 10007;
  Array<unsigned> in(emulator, n), out(emulator, n);
  Array<unsigned char> bytes(emulator, n);
  in.set([](std::size_t i) { return 3 * i; });
  bytes.set([](std::size_t i) { return i; });
  ASSERT_TRUE(run("weighted_mixed", {{in.data(), bytes.data()}, {out.data()}, n, {}}));
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], 3 * i + 2 * (i % 256)) << i;
}

TEST_P(Kernels, DynamicSharedMemory) {
  constexpr int n = 3000;
  Array<int> in(emulator, n), out(emulator, n);
  in.set([](std::size_t i) { return i; });
  ASSERT_TRUE(run("dynamic_reverse", {{in.data()}, {out.data()}, n, {.block = 128, .shared = n * 4}}));
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], int(n - 1 - i));
}

TEST_P(Kernels, ActiveMask) {
  Array<int> in(emulator, 256), out(emulator, 256), count(emulator, 1);
  in.set([](std::size_t i) { return i * i % 11; });
  count[0] = 0;
  ASSERT_TRUE(run("compact_odd", {{in.data()}, {out.data(), count.data()}, 0, {.grid = 2, .block = 128}}));
  std::multiset<int> expected;
  for (std::size_t i = 0; i < 256; ++i)
    if (in[i] & 1) expected.insert(in[i]);
  EXPECT_EQ(std::multiset<int>(out.data(), out.data() + count[0]), expected);
}

TEST_P(Kernels, Collectives) {
  Array<int> in(emulator, 32), out(emulator, 32 * 16);
  in.set([](std::size_t i) { return int(i * 7 % 19) - 9; });
  ASSERT_TRUE(run("collectives", {{in.data()}, {out.data()}, 0, {}}));
  unsigned ballot = 0, all_xor = 0, least = ~0u;
  int sum = 0, low = in[0], high = in[0];
  for (std::size_t i = 0; i < 32; ++i) {
    ballot |= unsigned(in[i] > 0) << i;
    all_xor ^= unsigned(in[i]);
    least = std::min(least, unsigned(in[i]));
    sum += in[i], low = std::min(low, in[i]), high = std::max(high, in[i]);
  }
  for (std::size_t t = 0; t < 32; ++t) {
    const int* o = out.data() + t * 16;
    unsigned same = 0;
    for (std::size_t i = 0; i < 32; ++i) same |= unsigned((in[i] & 3) == (in[t] & 3)) << i;
    EXPECT_EQ(o[0], in[5]);
    EXPECT_EQ(o[1], in[t / 8 * 8 + 1]);
    EXPECT_EQ(o[2], in[t >= 3 ? t - 3 : t]);
    EXPECT_EQ(o[3], in[t % 16 + 3 < 16 ? t + 3 : t]);
    EXPECT_EQ(o[4], in[t ^ 9]);
    EXPECT_EQ(unsigned(o[5]), ballot);
    EXPECT_EQ(o[6], 2);
    EXPECT_EQ(unsigned(o[7]), same);
    EXPECT_EQ(o[8], sum);
    EXPECT_EQ(o[9], low);
    EXPECT_EQ(o[10], high);
    EXPECT_EQ(unsigned(o[11]), least);
    EXPECT_EQ(unsigned(o[12]), all_xor);
    EXPECT_EQ(o[13], std::popcount(ballot));
    EXPECT_EQ(o[14], 0);
    EXPECT_EQ(o[15], 1);
  }
}

TEST_P(Kernels, WarpReductions) {
  Array<int> in(emulator, 32);
  Array<long long> first(emulator, 7), all(emulator, 32 * 7);
  in.set([](std::size_t i) { return int(i * 7 % 19) - 9; });
  ASSERT_TRUE(run("warp_reductions", {{in.data()}, {first.data(), all.data()}, 0, {}}));
  long long sum = 0, low = in[0], high = in[0];
  unsigned any = 0, most = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    sum += in[i], low = std::min<long long>(low, in[i]), high = std::max<long long>(high, in[i]);
    any |= unsigned(in[i]), most = std::max(most, unsigned(in[i]));
  }
  const std::vector<long long> expected{sum, low, high, most, any, sum, high};
  EXPECT_EQ(std::vector<long long>(first.data(), first.data() + 7), expected);
  for (std::size_t t = 0; t < 32; ++t)
    EXPECT_EQ(std::vector<long long>(all.data() + t * 7, all.data() + t * 7 + 7), expected) << "lane " << t;
}

TEST_P(Kernels, Atomics) {
  Array<int> i(emulator, 5);
  Array<unsigned> u(emulator, 5);
  Array<unsigned long long> l(emulator, 2);
  Array<double> f(emulator, 2);  // a float, then a double
  i.set([](std::size_t k) { return k == 2 ? 1000 : 0; });
  u.set([](std::size_t k) { return k == 3 ? ~0u : 0u; });
  l.set([](std::size_t) { return 0; });
  auto* const as_float = reinterpret_cast<float*>(f.data());
  f[1] = 0;
  *as_float = 0;
  ASSERT_TRUE(run("atomics", {{}, {i.data(), u.data(), l.data(), as_float}, 0, {.block = 64}}));
  EXPECT_EQ(i[0], 63 * 32);
  EXPECT_EQ(i[1], -63 * 32);
  EXPECT_EQ(i[2], 0);
  EXPECT_EQ(i[3], 63);
  EXPECT_EQ(i[4], 0);  // 0 ^ 1 ^ ... ^ 63
  EXPECT_EQ(u[0], 64u);
  EXPECT_EQ(u[1], 64u % 10);
  EXPECT_EQ(u[2], ~0u);
  EXPECT_EQ(u[3], 0u);
  EXPECT_EQ(u[4], 64u);
  EXPECT_EQ(l[0], 64ull << 33);
  EXPECT_EQ(l[1], 1ull << 59);
  EXPECT_EQ(*as_float, 32.f);
  EXPECT_EQ(f[1], 16.);
}

// A lane that polls a plain variable must be preempted. (The checks would report a race, as it is one in CUDA.)
TEST_P(Kernels, PollingAVolatileVariable) {
  emulator.configure({.checks = false});
  Array<int> out(emulator, 1);
  out[0] = 0;
  ASSERT_TRUE(run("volatile_flag", {{}, {out.data()}, 0, {.block = 64}}));
  EXPECT_EQ(out[0], 1);
}

TEST_P(Kernels, PipelineOfBulkCopies) {
  for (const std::size_t tiles : {0u, 1u, 2u, 3u, 20u}) {
    const std::size_t n = 256 * tiles;
    Array<float> in(emulator, n), out(emulator, 1);
    in.set([](std::size_t i) { return i % 5; });
    out[0] = 0;
    ASSERT_TRUE(run("pipelined_sum", {{in.data()}, {out.data()}, n, {.block = 96, .shared = 2048}}));
    EXPECT_EQ(out[0], std::accumulate(in.data(), in.data() + n, 0.f));
  }
}

TEST_P(Kernels, Clusters) {
  constexpr std::size_t blocks = 8, threads = 64;
  for (const unsigned cluster : {1u, 2u, 4u, 8u}) {
    Array<int> in(emulator, blocks * threads), out(emulator, blocks + 1);
    in.set([](std::size_t i) { return i; });
    out.set([](std::size_t) { return 0; });
    ASSERT_TRUE(
        run("cluster_sum",
            {{in.data()}, {out.data()}, 0, {.grid = blocks, .block = threads, .cluster = cluster, .shared = 4}}));
    const std::size_t each = cluster * threads;
    for (std::size_t c = 0; c < blocks / cluster; ++c) {
      const int* first = in.data() + c * each;
      EXPECT_EQ(out[c], std::accumulate(first, first + each, 0)) << "clusters of " << cluster;
    }
    EXPECT_EQ(out[blocks], int(blocks * threads));
  }
}

// Blocks wait for their predecessors: on one and on several OS threads, and with tickets in any dispatch order.
TEST_P(Kernels, DecoupledLookback) {
  constexpr std::size_t blocks = 200, n = blocks * 256;
  Array<unsigned> in(emulator, n), out(emulator, n), ticket(emulator, 1);
  Array<unsigned long long> status(emulator, blocks);
  in.set([](std::size_t i) { return i * 31 % 17; });
  const auto scan = [&](const simt::Options& options, bool tickets) {
    emulator.configure(options);
    status.set([](std::size_t) { return 0; });
    ticket[0] = 0;
    return run("lookback_scan", {{in.data()},
                                 {out.data(), status.data(), tickets ? ticket.data() : nullptr},
                                 0,
                                 {.grid = blocks, .block = 256}});
  };
  const auto expect_prefix_sums = [&] {
    unsigned sum = 0;
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], sum += in[i]) << "at " << i;
  };
  ASSERT_TRUE(scan({.threads = 1}, false));
  expect_prefix_sums();
  ASSERT_TRUE(scan({.threads = 4}, false));
  expect_prefix_sums();
  ASSERT_TRUE(scan({.threads = 4, .reverse_blocks = true}, true));
  expect_prefix_sums();
  // In reverse order and without tickets, the first block to run waits for all others.
  EXPECT_FALSE(scan({.threads = 1, .reverse_blocks = true, .yield_limit = 10'000}, false));
  const simt::Report report = emulator.take_report();
  ASSERT_EQ(report.issues.size(), 1u) << to_string(report);
  EXPECT_EQ(report.issues[0].kind, "livelock");
}

}  // namespace
}  // namespace upsweep::test
