// The traced emulator's counters against closed forms. The expected counts follow the textbook rules for banks and
// sectors, in code that shares nothing with the emulator.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "launcher.h"

namespace upsweep::test {
namespace {

using Words = std::vector<long>;

// Wavefronts of one request: the maximum number of distinct words in any of the 32 banks.
int wavefronts(const Words& words) {
  std::array<std::set<long>, 32> banks;
  for (long word : words) banks[static_cast<std::size_t>(word % 32)].insert(word);
  std::size_t most = 0;
  for (const auto& bank : banks) most = std::max(most, bank.size());
  return static_cast<int>(most);
}

// As above, for wide accesses: 8 bytes per lane are served by half-warps, 16 bytes by quarter-warps. first_words is
// indexed by lane.
int wide_wavefronts(const Words& first_words, int words_each) {
  const std::size_t lanes = words_each == 2 ? 16 : 8;
  int total = 0;
  for (std::size_t begin = 0; begin < first_words.size(); begin += lanes) {
    Words part;
    for (std::size_t i = begin; i < std::min(begin + lanes, first_words.size()); ++i)
      for (int k = 0; k < words_each; ++k) part.push_back(first_words[i] + k);
    total += wavefronts(part);
  }
  return total;
}

// Shared-memory requests of one block, warp by warp: every active thread t accesses word(t).
struct Expected {
  std::uint64_t requests = 0, wavefronts = 0;
  void block(int threads, const std::function<bool(int)>& active, const std::function<long(int)>& word) {
    for (int first = 0; first < threads; first += 32) {
      Words words;
      for (int t = first; t < std::min(first + 32, threads); ++t)
        if (active(t)) words.push_back(word(t));
      if (words.empty()) continue;
      ++requests;
      wavefronts += static_cast<std::uint64_t>(test::wavefronts(words));
    }
  }
};
bool all_threads(int) { return true; }

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    emulator.configure({});
    emulator.take_report();
  }
  // Launches the kernel, expects no issues, and returns the counters.
  simt::Counters count(std::string_view kernel, const Arguments& arguments) {
    EXPECT_TRUE(static_cast<bool>(launch(emulator, kernel, arguments)));
    const simt::Report report = emulator.take_report();
    EXPECT_TRUE(report.issues.empty()) << to_string(report);
    EXPECT_EQ(report.kernels.size(), 1u);
    return report.total();
  }
  template <class T>
  Array<T> array(std::size_t n) {
    return Array<T>(emulator, n);
  }

  simt::Emulator& emulator = test_traced_emulator();
};

TEST_F(Counters, ReduceStrided) {
  constexpr int blocks = 4;
  auto in = array<float>(blocks * 256), out = array<float>(blocks);
  in.set([](std::size_t i) { return i % 7; });
  const auto c = count("reduce_strided", {{in.data()}, {out.data()}, 0, {.grid = blocks, .block = 256}});

  Expected loads, stores;
  stores.block(256, all_threads, [](int t) { return t; });
  for (int d = 1; d < 256; d *= 2) {
    const auto active = [&](int t) { return 2 * d * t < 256; };
    loads.block(256, active, [&](int t) { return 2 * d * t; });
    loads.block(256, active, [&](int t) { return 2 * d * t + d; });
    stores.block(256, active, [&](int t) { return 2 * d * t; });
  }
  loads.block(1, all_threads, [](int) { return 0; });
  EXPECT_EQ(c.shared_load_requests, loads.requests * blocks);
  EXPECT_EQ(c.shared_load_wavefronts, loads.wavefronts * blocks);
  EXPECT_EQ(c.shared_load_ideal, loads.requests * blocks);
  EXPECT_EQ(c.shared_store_requests, stores.requests * blocks);
  EXPECT_EQ(c.shared_store_wavefronts, stores.wavefronts * blocks);
  EXPECT_EQ(c.global_load_requests, 8u * blocks);
  EXPECT_EQ(c.global_load_sectors, 32u * blocks);
  EXPECT_EQ(c.global_store_sectors, 1u * blocks);
  EXPECT_EQ(c.barriers, 9u * 8 * blocks);
  for (int b = 0; b < blocks; ++b) {
    float sum = 0;
    for (int i = 0; i < 256; ++i) sum += in[static_cast<std::size_t>(b * 256 + i)];
    EXPECT_EQ(out[static_cast<std::size_t>(b)], sum);
  }
}

TEST_F(Counters, ReduceSequentialHasNoConflicts) {
  constexpr int blocks = 4;
  auto in = array<float>(blocks * 256), out = array<float>(blocks);
  in.set([](std::size_t i) { return i % 7; });
  const auto c = count("reduce_sequential", {{in.data()}, {out.data()}, 0, {.grid = blocks, .block = 256}});
  std::uint64_t loads = 1, stores = 8;
  for (int d = 128; d > 0; d /= 2) {
    const auto warps = static_cast<std::uint64_t>((d + 31) / 32);
    loads += 2 * warps;
    stores += warps;
  }
  EXPECT_EQ(c.shared_load_requests, loads * blocks);
  EXPECT_EQ(c.shared_load_wavefronts, loads * blocks);
  EXPECT_EQ(c.shared_store_requests, stores * blocks);
  EXPECT_EQ(c.shared_store_wavefronts, stores * blocks);
  EXPECT_EQ(c.barriers, 9u * 8 * blocks);
}

class Blelloch : public Counters, public ::testing::WithParamInterface<bool> {};
TEST_P(Blelloch, BankConflicts) {
  const bool pad = GetParam();
  constexpr int blocks = 3, n = 512;
  auto in = array<unsigned>(blocks * n), out = array<unsigned>(blocks * n);
  in.set([](std::size_t i) { return i * 31 % 101; });
  const auto c =
      count(pad ? "blelloch_padded" : "blelloch", {{in.data()}, {out.data()}, 0, {.grid = blocks, .block = 256}});

  const auto at = [&](long i) { return pad ? i + i / 32 : i; };
  Expected loads, stores;
  for (int half = 0; half < 2; ++half) {
    stores.block(256, all_threads, [&](int t) { return at(t + half * 256); });
    loads.block(256, all_threads, [&](int t) { return at(t + half * 256); });
  }
  for (long offset = 1, d = n / 2; d > 0; d /= 2, offset *= 2) {
    const auto active = [&](int t) { return t < d; };
    const auto a = [&](int t) { return at(offset * (2 * t + 1) - 1); };
    const auto b = [&](int t) { return at(offset * (2 * t + 2) - 1); };
    loads.block(256, active, a), loads.block(256, active, b), stores.block(256, active, b);
  }
  stores.block(1, all_threads, [&](int) { return at(n - 1); });
  for (long offset = n / 2, d = 1; d < n; d *= 2, offset /= 2) {
    const auto active = [&](int t) { return t < d; };
    const auto a = [&](int t) { return at(offset * (2 * t + 1) - 1); };
    const auto b = [&](int t) { return at(offset * (2 * t + 2) - 1); };
    loads.block(256, active, a), loads.block(256, active, b);
    stores.block(256, active, a), stores.block(256, active, b);
  }
  EXPECT_EQ(c.shared_load_requests, loads.requests * blocks);
  EXPECT_EQ(c.shared_load_wavefronts, loads.wavefronts * blocks);
  EXPECT_EQ(c.shared_store_requests, stores.requests * blocks);
  EXPECT_EQ(c.shared_store_wavefronts, stores.wavefronts * blocks);
  EXPECT_EQ(c.global_load_sectors, 64u * blocks);
  EXPECT_EQ(c.global_store_sectors, 64u * blocks);
  EXPECT_EQ(c.barriers, (9u + 9 + 1) * 8 * blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < n; sum += in[b * n + i++]) EXPECT_EQ(out[b * n + i], sum);
  }
}
INSTANTIATE_TEST_SUITE_P(Padding, Blelloch, ::testing::Bool());

TEST_F(Counters, HistogramAtomics) {
  constexpr int n = 10000, blocks = 4;
  auto in = array<unsigned char>(n);
  auto out = array<unsigned>(256);
  std::mt19937 random(3);
  in.set([&](std::size_t) { return random() % 16; });
  out.set([](std::size_t) { return 0; });
  const auto c = count("histogram", {{in.data()}, {out.data()}, n, {.grid = blocks, .block = 256}});

  std::uint64_t requests = 0, serial = 0, worst = 0, sectors = 0;
  for (int b = 0; b < blocks; ++b)
    for (int step = b * 256; step < n; step += blocks * 256)
      for (int warp = 0; warp < 256; warp += 32) {
        std::array<std::uint64_t, 256> meet{};
        std::set<int> touched;
        for (int i = step + warp; i < std::min(step + warp + 32, n); ++i) {
          ++meet[in[static_cast<std::size_t>(i)]];
          touched.insert(i / 32);
        }
        if (touched.empty()) continue;
        const std::uint64_t most = *std::max_element(meet.begin(), meet.end());
        ++requests;
        serial += most;
        worst = std::max(worst, most);
        sectors += touched.size();
      }
  EXPECT_EQ(c.shared_atomic_requests, requests);
  EXPECT_EQ(c.shared_atomic_serial, serial);
  EXPECT_EQ(c.shared_atomic_worst, worst);
  EXPECT_EQ(c.global_load_requests, requests);
  EXPECT_EQ(c.global_load_sectors, sectors);
  EXPECT_EQ(c.global_atomic_requests, 8u * blocks);
  EXPECT_EQ(c.global_atomic_serial, 8u * blocks);
  EXPECT_EQ(c.global_atomic_worst, 1u);
  std::array<unsigned, 256> expected{};
  for (std::size_t i = 0; i < n; ++i) ++expected[in[i]];
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], expected[i]);
}

TEST_F(Counters, ShuffleScan) {
  constexpr std::size_t blocks = 5;
  auto in = array<unsigned>(blocks * 256), out = array<unsigned>(blocks * 256);
  in.set([](std::size_t i) { return i * 7 % 13; });
  const auto c = count("shuffle_scan", {{in.data()}, {out.data()}, 0, {.grid = blocks, .block = 256}});
  EXPECT_EQ(c.shuffles, (8 * 5 + 5) * blocks);
  EXPECT_EQ(c.warp_syncs, c.shuffles);
  EXPECT_EQ(c.barriers, 16 * blocks);
  EXPECT_EQ(c.shared_load_requests, (1 + 7) * blocks);
  EXPECT_EQ(c.shared_load_wavefronts, 8 * blocks);
  EXPECT_EQ(c.shared_store_requests, 9 * blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    unsigned sum = 0;
    for (std::size_t i = b * 256; i < (b + 1) * 256; ++i) EXPECT_EQ(out[i], sum += in[i]);
  }
}

TEST_F(Counters, Transposes) {
  constexpr std::size_t n = 128, blocks = 16;
  auto in = array<float>(n * n), out = array<float>(n * n);
  in.set([](std::size_t i) { return i; });
  const auto run = [&](const char* kernel) {
    const auto c = count(kernel, {{in.data()}, {out.data()}, n, {.grid = 4, .grid_y = 4, .block = 32, .block_y = 8}});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(out[i * n + j], in[j * n + i]);
    EXPECT_EQ(c.global_load_sectors, 4 * 32 * blocks);
    EXPECT_EQ(c.global_load_ideal, c.global_load_sectors);
    return c;
  };
  const auto plain = run("transpose"), padded = run("transpose_padded"), naive = run("transpose_naive");
  EXPECT_EQ(plain.shared_load_wavefronts, 32 * 32 * blocks);
  EXPECT_EQ(plain.shared_store_wavefronts, 32 * blocks);
  EXPECT_EQ(padded.shared_load_wavefronts, 32 * blocks);
  EXPECT_EQ(padded.shared_store_wavefronts, 32 * blocks);
  EXPECT_EQ(plain.global_store_sectors, 4 * 32 * blocks);
  EXPECT_EQ(naive.global_store_sectors, 32 * 32 * blocks);
  EXPECT_EQ(naive.global_store_ideal, 4 * 32 * blocks);
}

TEST_F(Counters, WideAccessesAreOneRequest) {
  constexpr std::size_t n = 1024;
  auto in = array<int>(4 * n), out = array<int>(4 * n);
  in.set([](std::size_t i) { return i; });
  auto c = count("copy_int4", {{in.data()}, {out.data()}, n, {.grid = 4, .block = 256}});
  EXPECT_EQ(c.global_load_requests, 32u);
  EXPECT_EQ(c.global_load_sectors, 512u);
  EXPECT_EQ(c.global_store_requests, 32u);
  EXPECT_EQ(c.global_store_sectors, 512u);
  EXPECT_EQ(out[4 * n - 1], int(4 * n - 1));
  c = count("sum_int4", {{in.data()}, {out.data()}, n, {.grid = 4, .block = 256}});
  EXPECT_EQ(c.global_load_requests, 32u);
  EXPECT_EQ(c.global_load_sectors, 512u);
  EXPECT_EQ(out[77], 4 * 308 + 6);
  c = count("copy_float2", {{in.data()}, {out.data()}, n, {.grid = 4, .block = 256}});
  EXPECT_EQ(c.global_load_requests, 32u);
  EXPECT_EQ(c.global_load_sectors, 256u);
  EXPECT_EQ(c.global_store_requests, 32u);
  c = count("shared_int4", {{in.data()}, {out.data()}, 0, {.block = 256}});
  EXPECT_EQ(c.shared_load_requests, 8u);
  EXPECT_EQ(c.shared_load_wavefronts, 32u);
  EXPECT_EQ(c.shared_load_ideal, 32u);
}

TEST_F(Counters, SharedStrides) {
  auto in = array<double>(1024), out = array<double>(256);
  in.set([](std::size_t i) { return i; });
  for (const int stride : {1, 2, 3, 8, 16, 17}) {
    std::uint64_t expected = 0;
    for (int warp = 0; warp < 256; warp += 32) {
      Words words;
      for (int t = warp; t < warp + 32; ++t) words.push_back(2 * ((t * stride) & 255));
      expected += static_cast<std::uint64_t>(wide_wavefronts(words, 2));
    }
    const auto c = count("shared_double", {{in.data()}, {out.data()}, 0, {.block = 256, .k = stride}});
    EXPECT_EQ(c.shared_load_wavefronts, expected) << "8-byte stride " << stride;
  }
  for (int stride = 0; stride <= 33; ++stride) {
    Expected loads;
    loads.block(256, all_threads, [&](int t) { return (t * stride) & 1023; });
    const auto c = count("shared_stride", {{in.data()}, {out.data()}, 0, {.block = 256, .k = stride}});
    EXPECT_EQ(c.shared_load_wavefronts, loads.wavefronts) << "stride " << stride;
    EXPECT_EQ(c.shared_load_requests, 8u);
    EXPECT_EQ(c.shared_store_requests, 32u);
  }
}

TEST_F(Counters, GlobalStrides) {
  auto in = array<float>(32 * 33 + 1), out = array<float>(32);
  in.set([](std::size_t i) { return i; });
  for (int stride = 0; stride <= 33; ++stride) {
    std::set<int> sectors;
    for (int t = 0; t < 32; ++t) sectors.insert(t * stride * 4 / 32);
    const auto c = count("global_stride", {{in.data()}, {out.data()}, 0, {.k = stride}});
    EXPECT_EQ(c.global_load_requests, 1u);
    EXPECT_EQ(c.global_load_sectors, sectors.size()) << "stride " << stride;
    EXPECT_EQ(c.global_load_ideal, stride == 0 ? 1u : 4u);
  }
  // Misaligned by one element: one more sector.
  const auto c = count("global_stride", {{in.data() + 1}, {out.data()}, 0, {.k = 1}});
  EXPECT_EQ(c.global_load_sectors, 5u);
}

// ---- divergence and reconvergence -----------------------------------------------------------------------------------

TEST_F(Counters, RaggedLoopsComeTogetherEachRound) {
  constexpr std::size_t rounds = 6;
  auto trips = array<int>(rounds * 32);
  auto in = array<float>((rounds * 8 + 8) * 32), out = array<float>(32);
  std::mt19937 random(5);
  trips.set([&](std::size_t) { return random() % 8; });
  in.set([](std::size_t) { return 1; });
  std::uint64_t requests = rounds, sectors = 4 * rounds;
  for (std::size_t r = 0; r < rounds; ++r)
    for (int k = 0; k < 8; ++k) {
      std::set<std::size_t> touched;
      for (std::size_t t = 0; t < 32; ++t)
        if (k < trips[r * 32 + t]) touched.insert(t / 8);
      requests += !touched.empty();
      sectors += touched.size();
    }
  const auto c = count("ragged", {{trips.data(), in.data()}, {out.data()}, 0, {.k = rounds}});
  EXPECT_EQ(c.global_load_requests, requests);
  EXPECT_EQ(c.global_load_sectors, sectors);
}

TEST_F(Counters, AColdPathDoesNotSplitWhatFollowsIt) {
  constexpr int n = 14;
  auto in = array<float>(2048), out = array<float>(32);
  in.set([](std::size_t i) { return i % 3; });
  const auto c = count("cold_path", {{in.data()}, {out.data()}, 0, {.k = n}});
  // Per iteration: one request by the lanes on the cold path (at least one of a warp's 32), and one by all lanes.
  EXPECT_EQ(c.global_load_requests, 2u * n);
}

TEST_F(Counters, BinarySearchTakesAsManyRequestsAsItsSlowestLane) {
  constexpr int n = 1000;
  auto keys = array<int>(n), queries = array<int>(32), out = array<int>(32);
  keys.set([](std::size_t i) { return 3 * i; });
  queries.set([](std::size_t t) { return t * 977 % 3001; });
  std::uint64_t slowest = 0;
  for (std::size_t t = 0; t < 32; ++t) {
    std::uint64_t steps = 0;
    for (int low = 0, high = n; low < high; ++steps) {
      const int middle = (low + high) / 2;
      if (keys[static_cast<std::size_t>(middle)] < queries[t])
        low = middle + 1;
      else
        high = middle;
    }
    slowest = std::max(slowest, steps);
  }
  const auto c = count("binary_search", {{keys.data(), queries.data()}, {out.data()}, n, {}});
  EXPECT_EQ(c.global_load_requests, 1 + slowest);
}

TEST_F(Counters, Divergence) {
  auto in = array<int>(64), out = array<int>(128);
  in.set([](std::size_t i) { return i; });
  auto c = count("branchy", {{in.data()}, {out.data()}, 0, {.block = 64}});
  EXPECT_EQ(c.divergent_branches, 2u);  // one per warp
  EXPECT_EQ(c.global_store_requests, 2u);
  EXPECT_EQ(c.global_atomic_requests, 2u);
  EXPECT_LT(c.branch_lanes, 32 * c.branches);
  in.set([](std::size_t i) { return 2 * i; });
  c = count("branchy", {{in.data()}, {out.data()}, 0, {.block = 64}});
  EXPECT_EQ(c.divergent_branches, 0u);
  EXPECT_EQ(c.global_atomic_requests, 2u);
  EXPECT_EQ(c.branch_lanes, 32 * c.branches);
}

// ---- bulk copies, source lines, host threads ------------------------------------------------------------------------

TEST_F(Counters, BulkCopies) {
  constexpr std::size_t n = 256 * 7;
  auto in = array<float>(n), out = array<float>(1);
  in.set([](std::size_t i) { return i % 5; });
  out[0] = 0;
  const auto c = count("pipelined_sum", {{in.data()}, {out.data()}, n, {.block = 64, .shared = 2 * 256 * 4}});
  EXPECT_EQ(c.bulk_copies, 7u);
  EXPECT_EQ(c.bulk_bytes, n * 4);
  EXPECT_EQ(c.global_load_requests, 0u);
  EXPECT_EQ(c.shared_load_requests, n / 32);
  EXPECT_EQ(out[0], std::accumulate(in.data(), in.data() + n, 0.f));
}

TEST_F(Counters, LinesAddUpToTheKernel) {
  auto in = array<float>(256), out = array<float>(1);
  in.set([](std::size_t i) { return i; });
  emulator.configure({.lines = true});
  ASSERT_TRUE(static_cast<bool>(launch(emulator, "reduce_sequential", {{in.data()}, {out.data()}, 0, {.block = 256}})));
  const simt::Report report = emulator.take_report();
  ASSERT_EQ(report.kernels.size(), 1u);
  const simt::KernelReport& kernel = report.kernels[0];
  EXPECT_NE(kernel.name.find("reduce_sequential"), std::string::npos) << kernel.name;
  EXPECT_EQ(kernel.name.find('('), kernel.name.find("(anonymous")) << kernel.name;
  EXPECT_EQ(kernel.launches, 1u);
  EXPECT_EQ(kernel.threads, 256u);
  EXPECT_EQ(kernel.shared_bytes, 1024u);
  simt::Counters sum;
  for (const simt::LineCounters& line : kernel.lines) {
    sum += line.counters;
    if (line.counters.shared_load_requests) {
      EXPECT_EQ(line.file, "textbook.simt.cpp");
    }
  }
  EXPECT_EQ(sum.shared_load_requests, kernel.counters.shared_load_requests);
  EXPECT_EQ(sum.branches, kernel.counters.branches);
  EXPECT_EQ(sum.barriers, 9u * 8);
}

TEST_F(Counters, DoNotDependOnTheNumberOfThreads) {
  constexpr int blocks = 64;
  auto in = array<float>(blocks * 256), out = array<float>(blocks);
  in.set([](std::size_t i) { return i % 7; });
  const Arguments arguments{{in.data()}, {out.data()}, 0, {.grid = blocks, .block = 256}};
  emulator.configure({.threads = 1});
  const auto one = count("reduce_strided", arguments);
  emulator.configure({.threads = 4});
  const auto four = count("reduce_strided", arguments);
  EXPECT_EQ(one.shared_load_wavefronts, four.shared_load_wavefronts);
  EXPECT_EQ(one.branches, four.branches);
  EXPECT_EQ(one.divergent_branches, four.divergent_branches);
}

}  // namespace
}  // namespace upsweep::test
