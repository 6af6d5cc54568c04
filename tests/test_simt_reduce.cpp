// Counters of reduce's six classic rungs against theory; and every launch shape of overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/workspace.h"
#include "lab/inputs.h"
#include "ladders/reduce/exact.h"
#include "simt/report.h"
#include "upsweep/buffer.h"
#include "upsweep/reduce.h"

namespace upsweep {
namespace {

// One launch shape for all rungs: 8 elements per thread, without a remainder.
constexpr unsigned n = 1 << 14, grid = 8, block = 256, warps = block / 32;

// Returns the counters of the rung's first kernel, for an i32 sum.
simt::Counters counters_of(const char* name, unsigned threads = block) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  (void)emulator.take_report();
  const Rung* rung = find_rung(emulator.rungs(), "reduce", name);
  if (!rung) throw Error(Code::invalid_argument, name);
  std::vector<std::int32_t> in(n);
  std::iota(in.begin(), in.end(), 1);
  auto* const device_in = static_cast<std::int32_t*>(emulator.allocate(n * sizeof(std::int32_t)));
  auto* const device_out = static_cast<std::int32_t*>(emulator.allocate(sizeof(std::int32_t)));
  emulator.copy_in(device_in, in.data(), n * sizeof(std::int32_t));
  std::int32_t sum = 0;
  simt::Report report;
  {
    Workspace workspace(emulator);
    const Call call{.operation = Op::sum,
                    .in = {input_array(Type::i32, n, device_in)},
                    .out = {{{Type::i32, 1, device_out}}},
                    .tuning = {.block = threads, .grid = grid},
                    .workspace = &workspace};
    EXPECT_TRUE(rung->find(Type::i32, Op::sum)(call));
    emulator.copy_out(&sum, device_out, sizeof sum);
    report = emulator.take_report();
  }
  emulator.release(device_in);
  emulator.release(device_out);
  EXPECT_EQ(sum, static_cast<std::int32_t>(n / 2 * (n + 1)));
  EXPECT_TRUE(report.issues.empty());
  EXPECT_EQ(report.kernels.size(), 2u);  // the rung's kernel and the final pass
  return report.kernels.at(0).counters;
}

TEST(Classics, Sequential) {  // warps of one lane: a request and a sector per element
  const simt::Counters c = counters_of("sequential", 1);
  EXPECT_EQ(c.global_load_requests, n);
  EXPECT_EQ(c.global_load_sectors, n);
  EXPECT_EQ(c.global_store_requests, grid);
  EXPECT_EQ(c.shared_load_requests + c.shared_store_requests + c.barriers, 0u);
}

TEST(Classics, SequentialCoalesced) {  // the same: one lane has no accesses to coalesce
  const simt::Counters c = counters_of("sequential_coalesced", 1);
  EXPECT_EQ(c.global_load_requests, n);
  EXPECT_EQ(c.global_load_sectors, n);
  EXPECT_EQ(c.global_store_requests, grid);
}

TEST(Classics, Atomic) {  // lanes are 8 elements, one sector, apart; all 32 contend for the block's total
  const simt::Counters c = counters_of("atomic");
  EXPECT_EQ(c.global_load_requests, n / 32);
  EXPECT_EQ(c.global_load_sectors, n);
  EXPECT_EQ(c.global_atomic_requests, n / 32);
  EXPECT_EQ(c.global_atomic_serial, n);
  EXPECT_EQ(c.global_atomic_worst, 32u);
  EXPECT_EQ(c.barriers, grid * warps);
}

TEST(Classics, AtomicCoalesced) {  // 32 adjacent elements of 4 bytes: 4 sectors; the same contention
  const simt::Counters c = counters_of("atomic_coalesced");
  EXPECT_EQ(c.global_load_requests, n / 32);
  EXPECT_EQ(c.global_load_sectors, n / 32 * 4);
  EXPECT_EQ(c.global_atomic_requests, n / 32);
  EXPECT_EQ(c.global_atomic_serial, n);
}

TEST(Classics, Partial) {  // one lane reads the block's partial sums one by one
  const simt::Counters c = counters_of("partial");
  EXPECT_EQ(c.global_load_sectors, n / 32 * 4);
  EXPECT_EQ(c.shared_store_requests, grid * warps);
  EXPECT_EQ(c.shared_load_requests, grid * block);
  EXPECT_EQ(c.shared_load_wavefronts, grid * block);
  EXPECT_EQ(c.barriers, grid * warps);
  EXPECT_EQ(c.global_atomic_requests, 0u);
}

TEST(Classics, Total) {  // a tree over 2 * block sums: two loads and a store per warp with an active lane
  unsigned levels = 0, active = 0;
  for (unsigned half = block; half > 0; half /= 2, ++levels) active += std::max(half / 32, 1u);
  const simt::Counters c = counters_of("total");
  EXPECT_EQ(c.global_load_sectors, n / 32 * 4);
  EXPECT_EQ(c.shared_store_requests, grid * (2 * warps + active));
  EXPECT_EQ(c.shared_load_requests, grid * (2 * active + 1));   // and one for the total
  EXPECT_EQ(c.shared_load_wavefronts, c.shared_load_requests);  // no bank conflicts
  EXPECT_EQ(c.shared_store_wavefronts, c.shared_store_requests);
  EXPECT_EQ(c.barriers, grid * warps * levels);
}

// overlap's launch shape changes at 16 KB, 64 KB, 2, 8, 32 and 64 MB.
TEST(Overlap, AddsUpInEveryShape) {
  Device device(plain_emulator());
  for (const std::size_t kilobytes : {15, 60, 1900, 7000, 30'000, 60'000, 70'000}) {
    const auto check = [&]<class T>(T) {
      const auto in = make_input<T>("uniform", kilobytes * 1024 / sizeof(T) + 3, kilobytes);
      T expected = 0;
      for (const T v : in) expected = Sum{}(expected, v);
      EXPECT_EQ(reduce(device, in, Op::sum, {.rung = "overlap"}), expected) << kilobytes << " KB, width " << sizeof(T);
    };
    check(std::int32_t{}), check(std::int64_t{});
  }
}

// Sizes for which first_extreme launches one block, or a grid whose threads have two packs or more; the last blocks may
// have no share of the input.
// The exact sums of parts add up to that of the whole, word by word after carries, and round to its bits.
template <class T>
void exact_sums_of_parts() {
  Device device(traced_emulator());
  using ladders::reduce::ExactSum;
  std::vector<T> in(3000);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = std::ldexp(static_cast<T>(i % 7) - 3, static_cast<int>(i * 31 % 90) - 40);
  const Buffer<T> all(device, in);
  Buffer<T> rounded(device, 1);
  Buffer<std::int64_t> words(device, ladders::reduce::exact_words(type_of<T>()));
  const auto exact_of = [&](std::size_t first, std::size_t count) {
    invoke(device, {.contract = &reduce_contract,
                    .operation = Op::sum,
                    .in = {view(all).subview(first, count)},
                    .out = {rounded.view(), words.view()}});
    device.synchronize();
    ExactSum<T> sum;
    std::memcpy(&sum, words.to_vector().data(), sizeof sum);
    EXPECT_EQ(sum.round(), rounded.to_vector()[0]);
    return sum;
  };
  const ExactSum<T> whole = exact_of(0, in.size());
  ExactSum<T> parts = exact_of(0, 1);
  parts.add(exact_of(1, 2000));
  parts.add(exact_of(2001, 999));
  parts.carry();
  EXPECT_TRUE(std::equal(whole.limb, whole.limb + ExactSum<T>::limbs, parts.limb));
  EXPECT_EQ(whole.round(), parts.round());
}
TEST(Reproducible, ExactSumsOfPartsAddUp) {
  exact_sums_of_parts<float>();
  exact_sums_of_parts<double>();
}

TEST(FirstExtreme, IsFoundWhereverItIs) {
  Device device(plain_emulator());
  for (const std::size_t kilobytes : {15, 60, 1900, 7000}) {
    const auto check = [&]<class T>(T) {
      const auto in = make_input<T>("two_valued", kilobytes * 1024 / sizeof(T) + 3, kilobytes);
      auto one = std::vector<T>(in.size(), T(1));
      for (const std::size_t first : {std::size_t{0}, in.size() / 2 + 1, in.size() - 1}) {
        one[first] = one.back() = T(2);
        EXPECT_EQ(argmax(device, one), first) << kilobytes << " KB, width " << sizeof(T);
        one[first] = one.back() = T(1);
      }
      EXPECT_EQ(argmin(device, in), std::min_element(in.begin(), in.end()) - in.begin());
    };
    check(std::int32_t{}), check(float{});
  }
}

TEST(FirstExtreme, NotANumberComesFirstAndZerosAreEqual) {
  Device device(plain_emulator());
  const auto check = [&]<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    const std::vector<T> numbers{1, -infinity, infinity, -nan, nan, 0}, zeros{2, -T(0), T(0), -1, T(0), -T(0), -1};
    EXPECT_EQ(argmax(device, numbers), 3u);
    EXPECT_EQ(argmax(device, std::span(zeros).subspan(1, 2)), 0u);
    if (sizeof(T) == 8) return;  // the emulators have no argmin of f64
    EXPECT_EQ(argmin(device, numbers), 3u);
    EXPECT_EQ(argmin(device, std::span(zeros).first(3)), 1u);
    EXPECT_EQ(argmin(device, zeros), 3u);
  };
  check(float{}), check(double{});
}

// A full tile of a misaligned input spans one pack more than its threads load together; the input may end in that pack.
TEST(Segments, TilesMayBeginInsideAPack) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  emulator.take_report();
  Device device(emulator);
  const auto check = [&]<class T, class Out>(T, Out) {
    const std::size_t n = 2 * 16'384 / sizeof(T);  // two full tiles of segments of one element
    const auto in = make_input<T>("uniform", n + 3, 1);
    const Buffer<T> buffer(device, in);
    for (const std::size_t begin : {0, 1, 3})
      for (const std::size_t length : {1, 7}) {
        std::vector<Out> expected;
        for (std::size_t k = 0; k < n; ++k) {
          if (k % length == 0) expected.push_back(0);
          expected.back() = Sum{}(expected.back(), static_cast<Out>(in[begin + k]));
        }
        Buffer<Out> out(device, expected.size());
        reduce_segments(device, buffer.view().subview(begin, n), length, out, Op::sum, {.grid = 1});
        EXPECT_EQ(out.to_vector(), expected) << begin << ' ' << length;
      }
  };
  check(std::int32_t{}, std::int32_t{}), check(std::uint8_t{}, std::uint64_t{});
  for (const simt::Issue& issue : emulator.take_report().issues) ADD_FAILURE() << issue.text;
}

}  // namespace
}  // namespace upsweep
