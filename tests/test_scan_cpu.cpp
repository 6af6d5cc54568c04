// The CPU rungs of scan beyond what `upsweep check` runs: every alignment, in place, more threads than cores and every
// instruction set; and the guarantees of `reproducible`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "cpu_rungs.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/scan/cpu_rows.h"
#include "ladders/scan/cpu_simd.h"

namespace upsweep {
namespace {

const Primitive& scan_cases() { return *find_primitive("scan"); }

struct Layout {
  std::size_t in_offset = 0, out_offset = 0;  // elements past a cache line
  bool in_place = false;
};

// Returns the mistake in the rung's answer; nullopt if it is right, or if the rung does not take the case or this
// layout.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Layout& layout) {
  const RunFn run = rung.find_for(c.type, c.operation, c.n);
  if (!run) return std::nullopt;
  const Type out_type = problem.outputs()[0].type;
  if (layout.in_place && out_type != c.type) return std::nullopt;
  const std::size_t element = size_of(c.type), out_element = size_of(out_type);
  Framed in(c.n * element, layout.in_offset * element, problem.inputs()[0].data);
  Framed out(c.n * out_element, layout.out_offset * out_element);
  Framed& result = layout.in_place ? in : out;
  Workspace workspace(cpu_platform());
  Call call = call_of(scan_cases(), c);
  call.in[0] = {c.type, c.n, in.data()};
  call.out[0] = {out_type, c.n, result.data()};
  call.workspace = &workspace;
  const Status status = run(call);
  if (status.code == Code::unsupported) return std::nullopt;
  if (!status) return "failed";
  if (!in.guards_stand() || !out.guards_stand()) return "wrote outside its output";
  const void* outputs[] = {result.data()};
  return problem.verify(rung, outputs);
}

std::string describe(const Rung& rung, const Case& c) { return std::string(rung.name) + ' ' + lab::describe(c); }

// Calls f(case, problem) for exclusive and inclusive sums of each type.
template <class F>
void for_each_sum(const std::vector<std::size_t>& sizes, F&& f) {
  for (const Type type : scan_cases().types())
    for (const Settings& settings : scan_cases().variants(scan_cases(), type))
      for (const std::size_t n : sizes) {
        const Case c{.type = type, .operation = Op::sum, .n = n, .seed = n + 1, .settings = settings};
        f(c, *scan_cases().make(c, {}));
      }
}

TEST(ScanCpu, EveryAlignmentInPlaceAndApart) {
  for_each_sum({17, 300, 4097}, [](const Case& c, const Problem& problem) {
    for (const Rung* rung : cpu_rungs_of("scan", c.type, c.operation))
      for (const bool in_place : {false, true}) {
        if (in_place && rung->peer) continue;
        for (std::size_t offset = 0; offset < 16; ++offset) {
          const auto wrong = mistake(*rung, c, problem, {offset, (offset * 5 + c.n) % 16, in_place});
          ASSERT_FALSE(wrong) << describe(*rung, c) << " offset " << offset << (in_place ? " in place: " : ": ")
                              << *wrong;
        }
      }
  });
}

// Several rounds of blocks, with more threads than cores and than any rung uses.
TEST(ScanCpu, MoreThreadsThanCores) {
  for (const Type type : {Type::u8, Type::u32, Type::f64})
    for (const Operation operation : {Op::sum, Op::product, Op::max})
      for (const unsigned threads : {64, 1000}) {
        Case c{.type = type, .operation = operation, .n = 300007};
        if (operation == Operation(Op::product)) c.input = "near_one";
        c.tuning.threads = threads;
        for (const Settings& settings : scan_cases().variants(scan_cases(), type)) {
          if (operation != Operation(Op::sum) && settings.find("out_type")) continue;
          c.settings = settings;
          const auto problem = scan_cases().make(c, {});
          for (const Rung* rung : cpu_rungs_of("scan", c.type, c.operation)) {
            if (rung->peer) continue;
            const auto wrong = mistake(*rung, c, *problem, {3, 1, threads == 64});
            ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
          }
        }
      }
}

// ---- reproducible ------------------------------------------------------------------------------------------

// Scans serially in the order that cpu_reproducible.cpp states: E[t], level by level, one element per step.
template <class T>
std::vector<T> in_stated_order(const std::vector<T>& x, bool inclusive, std::optional<T> initial = {}) {
  std::vector<T> local(x.size()), totals;
  for (std::size_t tile = 0; tile < x.size(); tile += 1024) {
    T c = T(-0.0);
    for (std::size_t row = tile; row < std::min(tile + 1024, x.size()); row += 32) {
      T h[32] = {};  // zero past the end: in no prefix
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(row), std::min<std::size_t>(32, x.size() - row), h);
      for (const int d : {1, 2, 4, 8, 16})
        for (int i = 31; i >= d; --i) h[i] = h[i - d] + h[i];
      for (std::size_t i = 0; i < 32 && row + i < x.size(); ++i)
        local[row + i] = c + (inclusive ? h[i] : i > 0 ? h[i - 1] : T(-0.0));
      c = c + h[31];
    }
    totals.push_back(c);
  }
  if (totals.size() > 1) {
    std::vector<T> before = in_stated_order(totals, false);
    before[0] = T(-0.0);
    for (std::size_t i = 0; i < x.size(); ++i) local[i] = (initial.value_or(T(-0.0)) + before[i / 1024]) + local[i];
  } else {
    for (T& y : local) y = initial.value_or(T(-0.0)) + y;
  }
  if (!inclusive && !x.empty()) local[0] = initial.value_or(T(0));
  return local;
}

template <class T>
std::vector<T> reproducible_scan(const std::vector<T>& x, bool inclusive, std::size_t offset, unsigned threads,
                                 bool in_place, const Scalar& initial = {}) {
  const std::size_t bytes = x.size() * sizeof(T);
  Framed in(bytes, offset * sizeof(T), x.data()), out(bytes, (offset + 1) * sizeof(T));
  Framed& result = in_place ? in : out;
  const Call call{.operation = Op::sum,
                  .in = {{{type_of<T>(), x.size(), in.data()}}},
                  .out = {{{type_of<T>(), x.size(), result.data()}}},
                  .scalars = {inclusive, initial},
                  .tuning = {.threads = threads}};
  EXPECT_TRUE(cpu_rung("scan", "reproducible").find(call.type(), Op::sum)(call));
  std::vector<T> values(x.size());
  if (bytes) std::memcpy(values.data(), result.data(), bytes);
  return values;
}

template <class T>
class ScanReproducible : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ScanReproducible, Floats);

// At the largest n, the totals of the tiles fill two tiles of totals.
TYPED_TEST(ScanReproducible, HasTheBitsOfTheStatedOrderWhateverTheThreadsAndTheAlignment) {
  using T = TypeParam;
  for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{1024}, std::size_t{1025},
                              std::size_t{32 * 1024 + 1}, (std::size_t{2} << 20) + 1025})
    for (const char* input : {"wide", "uniform", "cancellation", "denormals", "signed_zeros", "minus_zeros"}) {
      if (under_thread_sanitizer && input[0] != 'w') continue;
      for (const bool inclusive : {false, true}) {
        const auto x = make_input<T>(input, n, 7);
        const auto expected = in_stated_order(x, inclusive);
        for (const unsigned threads : {1, 2, 3}) {
          const auto got = reproducible_scan(x, inclusive, threads, threads, threads == 3);
          ASSERT_EQ(std::memcmp(got.data(), expected.data(), n * sizeof(T)), 0)
              << input << " n " << n << " threads " << threads << (inclusive ? " inclusive" : " exclusive");
        }
      }
    }
}

TYPED_TEST(ScanReproducible, AddsTheInitialValueOnTheLeftOfEachTilesPrefix) {
  using T = TypeParam;
  for (const std::size_t n : {std::size_t{1}, std::size_t{1025}, std::size_t{70'001}})
    for (const T initial : {T(0.1), T(-0.0), T(0)})
      for (const bool inclusive : {false, true})
        for (const char* input : {"wide", "minus_zeros"}) {
          const auto x = make_input<T>(input, n, 7);
          const auto expected = in_stated_order<T>(x, inclusive, initial);
          const auto got = reproducible_scan(x, inclusive, 1, 2, false, initial);
          ASSERT_EQ(std::memcmp(got.data(), expected.data(), n * sizeof(T)), 0)
              << input << " n " << n << " initial " << initial << (inclusive ? " inclusive" : " exclusive");
        }
}

TYPED_TEST(ScanReproducible, HasTheSameBitsWithEveryInstructionSet) {
  using namespace ladders::scan;
  using T = TypeParam;
  const std::size_t n = 5 * tile_elements + 77;
  const auto x = make_input<T>("wide", n, 3);
  for (const bool inclusive : {false, true}) {
    const auto expected = in_stated_order(x, inclusive);
    for (const std::int64_t target : instruction_sets()) {
      hwy::SetSupportedTargetsForTest(target);
      const TileSums<T>& sums = tile_sums<T>();
      T totals[5], zero = T(-0.0);
      std::vector<T> before(6, zero), out(n);
      sums.total(x.data(), 5, totals);
      sums.scan(totals, before.data() + 1, 5, &zero, {.inclusive = true, .stores = Stores::cached});
      sums.scan(x.data(), out.data(), n, before.data(), {.inclusive = inclusive, .stores = Stores::cached});
      if (!inclusive) out[0] = T(0);
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), n * sizeof(T)), 0) << hwy::TargetName(target);
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

// Chunks of any size: within a tile, within a block, across several blocks.
TYPED_TEST(ScanReproducible, HasTheBitsOfTheWholeWhateverTheChunks) {
  using T = TypeParam;
  const std::size_t n = (std::size_t{1} << 20) + 70'001;
  const auto x = make_input<T>("wide", n, 9);
  const Rung& rung = cpu_rung("scan", "reproducible");
  for (const bool inclusive : {false, true}) {
    const auto expected = reproducible_scan(x, inclusive, 0, 1, false);
    for (const std::size_t chunk : {std::size_t{999}, std::size_t{32 * 1024}, std::size_t{300'001}, n}) {
      Case c{.type = type_of<T>(), .operation = Op::sum};
      c.settings.set(*scan_cases().parameter("inclusive"), inclusive);
      const auto streamer = scan_cases().stream(cpu_platform(), rung, c);
      std::vector<T> got;
      const Streamer::Sink sink{[&](std::span<const std::byte> bytes, std::size_t) {
        const std::size_t old = got.size();
        got.resize(old + bytes.size() / sizeof(T));
        std::memcpy(got.data() + old, bytes.data(), bytes.size());
      }};
      for (std::size_t i = 0; i < n; i += chunk) {
        const auto bytes = std::as_bytes(std::span(x).subspan(i, std::min(chunk, n - i)));
        streamer->feed({&bytes, 1}, sink);
      }
      streamer->finish(sink);
      ASSERT_EQ(got.size(), n);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), n * sizeof(T)), 0) << "chunks of " << chunk;
    }
  }
}

// ---- the sign of zero --------------------------------------------------------------------------------------

// Every rung, at a size for each code path; and in chunks, by the streamers.
TEST(ScanCpu, SumsKeepTheSignOfZero) {
  for (const Type type : {Type::f32, Type::f64})
    for (const char* input : {"minus_zeros", "signed_zeros"})
      for (const Settings& settings : scan_cases().variants(scan_cases(), type))
        for (const std::size_t n : {1, 2, 40, 1025, 1 << 18}) {
          const Case c{.type = type, .operation = Op::sum, .n = n, .input = input, .settings = settings};
          const auto problem = scan_cases().make(c, {});
          for (const Rung* rung : cpu_rungs_of("scan", type, Op::sum))
            for (const bool in_place : {false, true}) {
              if (rung->peer) continue;
              const auto wrong = mistake(*rung, c, *problem, {1, 2, in_place});
              ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
            }
        }
}

TEST(ScanCpu, StreamsKeepTheSignOfZero) {
  for (const Rung* rung : cpu_rungs_of("scan", Type::f32, Op::sum))
    for (const bool inclusive : {false, true})
      for (const std::size_t chunk : {1, 2, 5}) {
        if (rung->peer) continue;
        Case c{.type = Type::f32, .operation = Op::sum};
        c.settings.set(*scan_cases().parameter("inclusive"), inclusive);
        const auto streamer = scan_cases().stream(cpu_platform(), *rung, c);
        const std::vector<float> x{-0.0f, -0.0f, -0.0f, 0.0f, -0.0f};
        std::vector<float> got;
        const Streamer::Sink sink{[&](std::span<const std::byte> bytes, std::size_t) {
          const std::size_t old = got.size();
          got.resize(old + bytes.size() / sizeof(float));
          std::memcpy(got.data() + old, bytes.data(), bytes.size());
        }};
        for (std::size_t i = 0; i < x.size(); i += chunk) {
          const auto bytes = std::as_bytes(std::span(x).subspan(i, std::min(chunk, x.size() - i)));
          streamer->feed({&bytes, 1}, sink);
        }
        streamer->finish(sink);
        const std::vector<bool> minus = inclusive ? std::vector<bool>{true, true, true, false, false}
                                                  : std::vector<bool>{false, true, true, true, false};
        ASSERT_EQ(got.size(), x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
          EXPECT_TRUE(got[i] == 0 && std::signbit(got[i]) == minus[i])
              << rung->name << (inclusive ? " inclusive " : " exclusive ") << i << " chunks of " << chunk;
      }
}

// ---- every instruction set of this processor ----------------------------------------------------------------

// Calls f(case, problem) for every type, operator, input and kind of scan.
template <class F>
void for_each_case(const std::vector<std::size_t>& sizes, F&& f) {
  for (const Type type : scan_cases().types())
    for (const Operation operation : scan_cases().operations())
      for (const std::string& input :
           under_thread_sanitizer ? std::vector<std::string>{"uniform"} : scan_cases().inputs(type))
        for (const Settings& settings : every_choice(scan_cases(), type))
          for (const std::size_t n : sizes) {
            if (settings.find("out_type")) continue;
            const Case c{
                .type = type, .operation = operation, .n = n, .input = input, .seed = n + 1, .settings = settings};
            f(c, *scan_cases().make(c, {}));
          }
}

TEST(ScanCpu, EveryInstructionSetAndBothKindsOfStores) {
  using namespace ladders::scan;
  const Rung& simd = cpu_rung("scan", "simd");
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for_each_case({1, 7, 63, 130, 1029}, [&](const Case& c, const Problem& problem) {
      if (!simd.find(c.type, c.operation)) return;
      const bool inclusive = c.settings.get("inclusive", false);
      const Op op = c.operation.as<Op>();
      for (const Stores stores : {Stores::cached, Stores::around}) {
        const std::size_t element = size_of(c.type), bytes = c.n * element;
        Framed in(bytes, c.n % 5 * element, problem.inputs()[0].data), out(bytes, c.n % 3 * element);
        // Two spans: the second begins with the first one's carry.
        std::uint64_t carry = visit(c.type, [&]<class Tag>(Tag) {
          using T = typename Tag::type;
          const T neutral = visit(op, []<class O>(O) { return O::template neutral<T>(); });
          std::uint64_t bits = 0;
          std::memcpy(&bits, &neutral, sizeof neutral);
          return bits;
        });
        const std::size_t half = c.n / 2;
        const SpanScan scan = simd_scan(c.type, op);
        scan(in.data(), out.data(), half, &carry, {inclusive, stores});
        scan(in.data() + half * element, out.data() + half * element, c.n - half, &carry, {inclusive, stores});
        ASSERT_TRUE(in.guards_stand() && out.guards_stand()) << hwy::TargetName(target) << describe(simd, c);
        if (!inclusive && op == Op::sum) std::memset(out.data(), 0, element);  // holds the carry
        const void* outputs[] = {out.data()};
        const auto wrong = problem.verify(simd, outputs);
        ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << describe(simd, c) << ": " << *wrong;
      }
    });
    hwy::SetSupportedTargetsForTest(0);
  }
}

}  // namespace
}  // namespace upsweep
