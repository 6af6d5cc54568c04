// The public API: Device, Buffer, reduce, scan, saxpy and select, on the CPU and, if available, on a GPU and on the
// emulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/contract.h"
#include "base/platform.h"
#include "base/workspace.h"
#include "error_of.h"
#include "lab/backends.h"
#include "lab/inputs.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/select.h"
#include "upsweep/transform.h"

#if defined(UPSWEEP_WITH_SIMT)
#include "simt/report.h"
#endif

using namespace upsweep;

namespace {

std::vector<Device> devices() {
  std::vector<Device> all;
  all.push_back(Device::cpu());
  if (cuda_platform()) all.push_back(Device::cuda());
#if defined(UPSWEEP_WITH_SIMT)
  all.push_back(Device(plain_emulator()));
#endif
  return all;
}

// True if a rung of the primitive takes this type and operation. Always, except on the emulators, whose rungs are
// compiled only for some types and operations (base/coverage.h).
bool covers(const Device& device, std::string_view primitive, Type type, Operation operation) {
  if (device.backend() != Backend::simt) return true;
  for (const Rung* rung : device.platform().rungs_of(*find_contract(primitive)))
    if (!rung->expected_wrong && rung->find(type, operation)) return true;
  return false;
}

}  // namespace

TEST(Library, ReducesHostRangesOfEveryTypeAndOperator) {
  for (Device& device : devices()) {
    for (std::size_t n : {0, 1, 1000, 70001}) {
      const auto check = [&]<class T>(T) {
        const auto in = make_input<T>("zipf", n, 3);
        T expected = 0;
        for (T v : in) expected = Sum{}(expected, v);
        EXPECT_EQ(reduce(device, in), expected) << device.name() << ' ' << to_string(type_of<T>()) << ' ' << n;
        if (!covers(device, "reduce", type_of<T>(), Op::max)) return;
        EXPECT_EQ(reduce(device, in, Op::max), n ? *std::max_element(in.begin(), in.end()) : Max::neutral<T>());
        EXPECT_EQ(reduce(device, std::span(in), Op::min),
                  n ? *std::min_element(in.begin(), in.end()) : Min::neutral<T>());
        if (n == 0) return;
        EXPECT_EQ(argmax(device, in), std::max_element(in.begin(), in.end()) - in.begin());
        Buffer<T> buffer(device, in);
        Buffer<std::uint64_t> index(device, 1);
        argmin(device, buffer, index);
        EXPECT_EQ(index.to_vector()[0], std::min_element(in.begin(), in.end()) - in.begin());
      };
      // Sums of 70001 zipf ranks below 2^16 stay below 2^53; in float they may round.
      check(std::int32_t{}), check(std::uint32_t{}), check(std::int64_t{}), check(std::uint64_t{}), check(double{});
      const auto floats = make_input<float>("zipf", n, 3);
      const double exact = std::accumulate(floats.begin(), floats.end(), 0.0);
      EXPECT_NEAR(reduce(device, floats), exact, exact * 1e-3);
    }
    const int odd[] = {3, -5, 7};
    EXPECT_EQ(reduce(device, odd, Op::product), -105);
    EXPECT_EQ(argmin(device, odd), 1u);
    EXPECT_EQ(error_of([&] { (void)argmax(device, std::vector<int>()); }).code(), Code::invalid_argument);
  }
}

TEST(Library, ReducesSegments) {
  for (Device& device : devices()) {
    // Segment lengths from one element to more than the whole input: many segments per tile as well as several blocks
    // per segment. The last segment may be shorter.
    for (const std::size_t n : {0, 1, 1000, 40001})
      for (const std::size_t length : {1, 3, 64, 777, 20000, 1 << 20}) {
        const auto check = [&]<class T, class Out>(T, Out initial) {
          const auto in = make_input<T>("zipf", n, 3);
          std::vector<Out> sums, maxima;
          for (std::size_t begin = 0; begin < n; begin += length) {
            const auto segment = std::span(in).subspan(begin, std::min(length, n - begin));
            sums.push_back(std::accumulate(segment.begin(), segment.end(), initial,
                                           [](Out total, T x) { return Sum{}(total, static_cast<Out>(x)); }));
            maxima.push_back(*std::max_element(segment.begin(), segment.end()));
          }
          Buffer<Out> out(device, sums.size());
          reduce_segments(device, in, length, out, initial);
          EXPECT_EQ(out.to_vector(), sums) << device.name() << ' ' << n << ' ' << length;
          if constexpr (std::is_same_v<T, Out>) {
            if (!covers(device, "reduce", type_of<T>(), Op::max)) return;
            reduce_segments(device, in, length, out, Op::max);
            EXPECT_EQ(out.to_vector(), maxima) << device.name() << ' ' << n << ' ' << length;
          }
        };
        check(std::int32_t{}, std::int32_t{7}), check(std::uint8_t{}, std::uint64_t{1} << 40), check(0.0, -1.0);
      }
    const int pairs[] = {1, 2, 3, 4, 5};
    int sums[3], total[1];
    reduce_segments(device, pairs, 2, sums);
    EXPECT_EQ(std::vector(std::begin(sums), std::end(sums)), (std::vector{3, 7, 5}));
    reduce_segments(device, pairs, 0, total, Op::product);  // no length: one segment
    EXPECT_EQ(total[0], 120);
    EXPECT_EQ(error_of([&] { reduce_segments(device, pairs, 2, std::span(sums, 2)); }).code(), Code::invalid_argument);
  }
}

TEST(Library, EveryRungByName) {
  const auto in = make_input<std::int32_t>("uniform", 10007, 1);
  std::int32_t expected = 0;
  for (std::int32_t v : in) expected = Sum{}(expected, v);
  for (Device& device : devices())
    for (const Rung* rung : device.platform().rungs_of(reduce_contract)) {
      if (rung->expected_wrong || !rung->find(Type::i32, Op::sum)) continue;
      EXPECT_EQ(reduce(device, in, Op::sum, {.rung = rung->name}), expected) << rung->name << " on " << device.name();
    }
}

TEST(Library, ScansHostRangesAndBuffersOfEveryType) {
  for (Device& device : devices())
    for (std::size_t n : {0, 1, 1000, 70001}) {
      const auto check = [&]<class T>(T) {
        const auto in = make_input<T>("zipf", n, 3);
        std::vector<T> exclusive(n), inclusive(n), out(n + 1, T(7));
        std::exclusive_scan(in.begin(), in.end(), exclusive.begin(), T(0), Sum{});
        std::inclusive_scan(in.begin(), in.end(), inclusive.begin(), Max{});
        exclusive_scan(device, in, out);
        EXPECT_TRUE(std::equal(exclusive.begin(), exclusive.end(), out.begin())) << device.name() << ' ' << n;
        EXPECT_EQ(out[n], T(7)) << "past the end";
        if (!covers(device, "scan", type_of<T>(), Op::max)) return;
        Buffer<T> buffer(device, in);
        inclusive_scan(device, buffer, buffer, Op::max);
        EXPECT_EQ(buffer.to_vector(), inclusive) << device.name() << ' ' << n << ", in place";
      };
      check(std::int8_t{}), check(std::uint16_t{}), check(std::int32_t{}), check(std::uint64_t{}), check(double{});
    }
}

TEST(Library, SegmentedScansWhicheverWayHeadsAreGiven) {
  using Item = std::int32_t;
  for (Device& device : devices())
    for (const std::size_t n : {0, 1, 1000, 70001}) {
      const auto in = make_input<Item>("zipf", n, 3);
      // Segments of 1, 2, 3, ... elements.
      std::vector<std::uint8_t> flags(n);
      std::vector<std::uint32_t> keys(n);
      std::vector<std::uint64_t> offsets;
      std::vector<Item> exclusive(n), inclusive(n), out(n);
      for (std::size_t begin = 0, length = 1; begin < n; begin += length++) {
        const auto first = static_cast<std::ptrdiff_t>(begin),
                   last = static_cast<std::ptrdiff_t>(std::min(begin + length, n));
        flags[begin] = 255;
        offsets.push_back(begin);
        std::fill(keys.begin() + first, keys.begin() + last, static_cast<std::uint32_t>(length % 3));
        std::exclusive_scan(in.begin() + first, in.begin() + last, exclusive.begin() + first, 0, Sum{});
        std::inclusive_scan(in.begin() + first, in.begin() + last, inclusive.begin() + first, Max{});
      }
      if (n) flags[0] = 0;  // element 0 begins a segment even without a flag
      offsets.push_back(n);
      const auto expect = [&](const char* heads) {
        EXPECT_EQ(out, exclusive) << heads << ' ' << device.name() << ' ' << n;
        out.assign(n, 7);
      };
      segmented_exclusive_scan(device, in, flags, out), expect("flags");
      segmented_exclusive_scan(device, in, offsets, out), expect("offsets");
      exclusive_scan_by_key(device, keys, in, out), expect("keys");
      const auto expect_in_place = [&](const char* heads, auto scan) {
        Buffer<Item> values(device, in);
        scan(values);
        EXPECT_EQ(values.to_vector(), inclusive) << heads << ' ' << device.name() << ' ' << n;
      };
      const Buffer<std::uint8_t> device_flags(device, flags);
      const Buffer<std::uint32_t> device_keys(device, keys);
      const Buffer<std::uint64_t> device_offsets(device, offsets);
      expect_in_place("flags", [&](auto& v) { segmented_inclusive_scan(device, v, device_flags, v, Op::max); });
      expect_in_place("offsets", [&](auto& v) { segmented_inclusive_scan(device, v, device_offsets, v, Op::max); });
      expect_in_place("keys", [&](auto& v) { inclusive_scan_by_key(device, device_keys, v, v, Op::max); });
    }
}

TEST(Library, SegmentedScansThatCannotBe) {
  Device cpu = Device::cpu();
  const std::vector<int> in(100, 1);
  std::vector<int> out(100);
  const std::vector<std::uint8_t> flags(99);
  const std::vector<std::uint32_t> keys(99);
  EXPECT_EQ(error_of([&] { segmented_exclusive_scan(cpu, in, flags, out); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { exclusive_scan_by_key(cpu, keys, in, out); }).code(), Code::invalid_argument);
  const std::vector<std::uint64_t> none;
  out.resize(99);
  EXPECT_EQ(error_of([&] { segmented_exclusive_scan(cpu, in, none, out); }).code(), Code::invalid_argument);
  out.resize(100);
  segmented_inclusive_scan(cpu, in, none, out);
  EXPECT_EQ(out[99], 100) << "one segment if there are no heads";
}

// Offsets that the host can read must ascend and stay within the input; the last may equal the input's size.
TEST(Library, OffsetsThatCannotBe) {
  Device cpu = Device::cpu();
  const std::vector<int> in(10, 1);
  const std::vector<int> untouched(10, -7);
  std::vector<int> out = untouched;
  const auto message = [&](std::vector<std::uint64_t> offsets) -> std::string {
    const Error error = error_of([&] { segmented_exclusive_scan(cpu, in, offsets, out); });
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_EQ(out, untouched);
    return error.what();
  };
  EXPECT_EQ(message({0, 10, 3, 6}), "segmented_scan: offset 2, 3, is below the one before it, 10");
  EXPECT_EQ(message({1, 0}), "segmented_scan: offset 1, 0, is below the one before it, 1");
  EXPECT_EQ(message({0, 4, 11}), "segmented_scan: offset 2, 11, is beyond the 10 elements");
  EXPECT_EQ(message({~std::uint64_t{0}}), "segmented_scan: offset 0, 18446744073709551615, is beyond the 10 elements");
  segmented_inclusive_scan(cpu, in, std::vector<std::uint64_t>{0, 4, 4, 10}, out);
  EXPECT_EQ(out, (std::vector<int>{1, 2, 3, 4, 1, 2, 3, 4, 5, 6}));

  // The error names the first descent, even among so many offsets that they are checked in parts.
  std::vector<std::uint64_t> many(1'000'000);
  std::iota(many.begin(), many.end(), std::uint64_t{0});
  const std::vector<int> ones(many.size(), 1);
  std::vector<int> sums(many.size());
  segmented_inclusive_scan(cpu, ones, many, sums);
  EXPECT_EQ(sums, ones);
  many[999'998] = 5, many[300'001] = 300'000 - 1;
  const Error error = error_of([&] { segmented_inclusive_scan(cpu, ones, many, sums); });
  EXPECT_STREQ(error.what(), "segmented_scan: offset 300001, 299999, is below the one before it, 300000");
}

TEST(Library, ScansThatCannotBe) {
  Device cpu = Device::cpu();
  const std::vector<int> in(100, 1);
  std::vector<int> out(99);
  EXPECT_EQ(error_of([&] { exclusive_scan(cpu, in, out); }).code(), Code::invalid_argument);
  out.resize(100);
  EXPECT_EQ(
      error_of([&] { segmented_exclusive_scan(cpu, in, std::vector<std::uint8_t>(100), out, Op::product); }).code(),
      Code::unsupported);
  const std::vector<std::int16_t> narrow(100);
  std::vector<std::int16_t> narrow_out(100);
  EXPECT_EQ(error_of([&] { exclusive_scan(cpu, narrow, narrow_out, Op::product); }).code(), Code::unsupported);
  EXPECT_EQ(error_of([&] { inclusive_scan(cpu, in, out, Op::sum, {.rung = "none"}); }).code(), Code::invalid_argument);
}

// The last size is too large for wave on an H200, and on a CPU of several cores for a single core.
TEST(Library, ScansOfProducts) {
  for (Device& device : devices())
    for (const std::size_t n : {0, 1, 1000, 70001, 600'001}) {
      const auto check = [&]<class T>(T initial) {
        if (!covers(device, "scan", type_of<T>(), Op::product)) return;
        const auto in = make_input<T>("near_one", n, 3);  // odd, so that no product of integers becomes 0
        std::vector<T> expected(n), out(n);
        const auto expect = [&](const std::vector<T>& got, const char* what) {
          if constexpr (std::is_integral_v<T>) {
            EXPECT_EQ(got, expected) << what << ' ' << device.name() << ' ' << n;
          } else {
            for (std::size_t i = 0; i < n; ++i) {
              const T most = 4 * static_cast<T>(i) * std::numeric_limits<T>::epsilon() * std::abs(expected[i]);
              ASSERT_NEAR(got[i], expected[i], most) << what << ' ' << device.name() << ' ' << n << " at " << i;
            }
          }
        };
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), T(1), Product{});
        exclusive_scan(device, in, out, Op::product);
        expect(out, "exclusive");
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), initial, Product{});
        exclusive_scan(device, in, out, initial, Op::product);
        expect(out, "exclusive, initial");
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), Product{});
        Buffer<T> buffer(device, in);
        inclusive_scan(device, buffer, buffer, Op::product);
        expect(buffer.to_vector(), "inclusive, in place");
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), Product{}, initial);
        buffer = Buffer<T>(device, in);
        inclusive_scan(device, buffer, buffer, initial, Op::product);
        expect(buffer.to_vector(), "inclusive, initial, in place");
      };
      check(std::int32_t{-77}), check(std::uint32_t{5}), check(std::int64_t{1} << 40 | 1), check(~std::uint64_t{0});
      check(-1.5f), check(0.75);
    }
}

TEST(Library, InitialValuesComeFirst) {
  for (Device& device : devices())
    for (const std::size_t n : {0, 1, 1000, 70001}) {
      const auto check = [&]<class T>(T initial) {
        const auto in = make_input<T>("zipf", n, 3);
        std::vector<T> expected(n), out(n);
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), initial, Sum{});
        exclusive_scan(device, in, out, initial);
        EXPECT_EQ(out, expected) << device.name() << ' ' << n;
        EXPECT_EQ(reduce(device, in, initial), std::accumulate(in.begin(), in.end(), initial, Sum{}));
        if (!covers(device, "scan", type_of<T>(), Op::max)) return;
        Buffer<T> buffer(device, in);
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), Max{}, initial);
        inclusive_scan(device, buffer, buffer, initial, Op::max);
        EXPECT_EQ(buffer.to_vector(), expected) << device.name() << ' ' << n << ", in place";
        EXPECT_EQ(reduce(device, in, initial, Op::max), std::accumulate(in.begin(), in.end(), initial, Max{}));
      };
      check(std::int32_t{-77}), check(std::uint64_t{1} << 40), check(1e6);
      // Segments of 3, 0, 3, 0, ... elements.
      const auto in = make_input<std::int32_t>("zipf", n, 3);
      std::vector<std::uint64_t> offsets;
      std::vector<std::int32_t> expected(n), out(n);
      for (std::size_t i = 0; i < n; ++i) {
        if (i % 3 == 0) offsets.insert(offsets.end(), 2, i);
        expected[i] = i % 3 == 0 ? 5 : Sum{}(expected[i - 1], in[i - 1]);
      }
      segmented_exclusive_scan(device, in, offsets, out, 5);
      EXPECT_EQ(out, expected) << device.name() << ' ' << n;
    }
}

TEST(Library, InitialValuesOfFloatSumsKeepTheirSignAndAreContagious) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> zeros{-0.0f, -0.0f}, ones{1, 1}, none;
  std::vector<float> out(2);
  for (Device& device : devices()) {
    exclusive_scan(device, zeros, out, -0.0f);
    EXPECT_TRUE(std::signbit(out[0]) && std::signbit(out[1])) << device.name();
    exclusive_scan(device, zeros, out);
    EXPECT_TRUE(!std::signbit(out[0]) && std::signbit(out[1])) << device.name();
    inclusive_scan(device, zeros, out, 0.0f);
    EXPECT_TRUE(!std::signbit(out[0]) && !std::signbit(out[1])) << device.name();
    EXPECT_TRUE(std::signbit(reduce(device, zeros, -0.0f))) << device.name();
    EXPECT_FALSE(std::signbit(reduce(device, zeros, 0.0f))) << device.name();
    EXPECT_TRUE(std::signbit(reduce(device, none, -0.0f))) << device.name();
    exclusive_scan(device, ones, out, nan, Op::min);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << device.name();
    inclusive_scan(device, ones, out, inf);
    EXPECT_EQ(out, (std::vector{inf, inf})) << device.name();
    EXPECT_TRUE(std::isnan(reduce(device, ones, nan))) << device.name();
  }
}

TEST(Library, SumsMayBeWiderThanTheirElements) {
  const auto check = [&]<class T, class Out>(Device& device, T value, Out) {
    if (!covers(device, "scan", type_of<T>(), Op::sum)) return;
    for (const std::size_t n : {0, 1, 5, 1 << 20}) {
      std::vector<T> in(n, value);
      if (n > 2) in[2] = T(value - 1);
      std::vector<Out> expected(n), out(n);
      std::vector<std::uint64_t> rows(n / 7);  // some rows are empty
      for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = k / 2 * 14;
      const auto where = [&] { return device.name() + ' ' + std::string(to_string(type_of<Out>())); };
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), Out(0));
      exclusive_scan(device, in, out);
      EXPECT_EQ(out, expected) << where() << ' ' << n;
      std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, Out(9));
      inclusive_scan(device, in, out, Out(9));
      EXPECT_EQ(out, expected) << where() << ' ' << n;
      EXPECT_EQ(reduce(device, in, Out(9)), n ? expected.back() : Out(9)) << where() << ' ' << n;
      Out total[1] = {Out(1)};
      reduce(device, in, total);
      EXPECT_EQ(total[0], n ? Out(expected.back() - 9) : Out(0)) << where() << ' ' << n;
      segmented_inclusive_scan(device, in, rows, out, Out(2));
      Out sum = 2;
      for (std::size_t i = 0; i < n; ++i) {
        if (i % 14 == 0 && i / 14 * 2 < rows.size()) sum = 2;
        expected[i] = sum = static_cast<Out>(sum + static_cast<Out>(in[i]));
      }
      EXPECT_EQ(out, expected) << where() << ' ' << n << " segmented";
    }
  };
  // Integers whose sums overflow their type; floats whose sums round in f32 but not in f64.
  for (Device& device : devices()) {
    check(device, std::uint8_t{255}, std::uint32_t{}), check(device, std::uint8_t{255}, std::uint64_t{});
    check(device, std::uint32_t{0xffffffff}, std::uint64_t{}), check(device, std::int32_t{-0x7ffffff0}, std::int64_t{});
    check(device, 16777215.0f, double{});
  }
}

TEST(Library, InitialValuesAndWiderSumsThatCannotBe) {
  Device cpu = Device::cpu();
  const std::vector<std::uint32_t> in(100, 1);
  std::vector<std::uint64_t> out(100);
  const Request wide{.contract = &scan_contract, .operation = Op::max, .in = {view(in)}, .out = {view(out)}};
  EXPECT_EQ(error_of([&] { invoke(cpu, wide); }).code(), Code::invalid_argument) << "maxima have the elements' type";
  const Request narrow{.contract = &scan_contract,
                       .operation = Op::sum,
                       .in = {view(out)},
                       .out = {host_view(reinterpret_cast<std::uint32_t*>(out.data()), 200)}};
  EXPECT_EQ(error_of([&] { invoke(cpu, narrow); }).code(), Code::invalid_argument);
  const Error in_place =
      error_of([&] { exclusive_scan(cpu, host_view(reinterpret_cast<const std::uint32_t*>(out.data()), 100), out); });
  EXPECT_STREQ(in_place.what(), "scan: the output overlaps the input");
  EXPECT_NE(in_place.hint().find("only an output of the input's type"), std::string::npos) << in_place.hint();

  Request request{.contract = &scan_contract, .operation = Op::sum, .in = {view(in)}, .out = {view(out)}};
  request.scalars = scan_scalars.scalars({.initial = std::uint32_t{3}});
  EXPECT_STREQ(error_of([&] { invoke(cpu, request); }).what(), "scan: initial is u32, the output is u64");
  EXPECT_EQ(error_of([&] { exclusive_scan(cpu, in, out, Op::sum, {.rung = "simd"}); }).code(), Code::unsupported);
#if defined(UPSWEEP_WITH_SIMT)
  Device simt(plain_emulator());
  const std::vector<std::int32_t> ints(100, 1);
  std::vector<std::int32_t> sums(100);
  std::vector<std::int64_t> wide_sums(100);
  const Error initial = error_of([&] { exclusive_scan(simt, ints, sums, 3, Op::sum, {.rung = "recursive"}); });
  EXPECT_EQ(initial.code(), Code::unsupported);
  EXPECT_NE(std::string(initial.what()).find("takes no initial value"), std::string::npos) << initial.what();
  const Error wider = error_of([&] { exclusive_scan(simt, ints, wide_sums, Op::sum, {.rung = "recursive"}); });
  EXPECT_NE(std::string(wider.what()).find("no output wider"), std::string::npos) << wider.what();
#endif
}

TEST(Library, SaxpyOfHostRangesAndBuffersOfEveryType) {
  for (Device& device : devices())
    for (std::size_t n : {0, 1, 1000, 70001}) {
      const auto check = [&]<class T>(T a) {
        const auto x = make_input<T>("zipf", n, 3), y = make_input<T>("zipf", n, 4);
        std::vector<T> expected(n), out(n + 1, T(7)), in_place = y;
        for (std::size_t i = 0; i < n; ++i) expected[i] = Sum{}(Product{}(a, x[i]), y[i]);
        saxpy(device, a, x, y, out);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << device.name() << ' ' << n;
        EXPECT_EQ(out[n], T(7)) << "past the end";
        saxpy(device, a, x, in_place);
        EXPECT_EQ(in_place, expected) << device.name() << ' ' << n << ", in place";

        Buffer<T> bx(device, x), by(device, y), apart(device, n);
        saxpy(device, a, bx, by, apart);
        EXPECT_EQ(apart.to_vector(), expected) << device.name() << ' ' << n;
        saxpy(device, a, bx, by);
        EXPECT_EQ(by.to_vector(), expected) << device.name() << ' ' << n << ", in place";
        saxpy(device, a, bx, Buffer<T>(device, y), bx);
        EXPECT_EQ(bx.to_vector(), expected) << device.name() << ' ' << n << ", onto x";
      };
      // Ranks are integers below 2^16, so nothing rounds; some factors have more bits than a double's mantissa.
      check(std::int8_t{-3}), check(std::uint16_t{65521}), check(std::int32_t{-77}), check(2.0f), check(-3.0);
      check(std::int64_t{0x7edcba9876543211}), check(std::numeric_limits<std::int64_t>::min() + 1);
      check(std::uint64_t{0xfedcba9876543211});
    }
}

TEST(Library, SaxpysThatCannotBe) {
  for (Device& device : devices()) {
    const std::vector<int> x(100, 1), y(100, 1), longer(101, 1);
    std::vector<int> shorter(99), out(100);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, x, y, shorter); }).code(), Code::invalid_argument);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, x, longer, out); }).code(), Code::invalid_argument);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, longer, out); }).code(), Code::invalid_argument);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, x, out, {.rung = "none"}); }).code(), Code::invalid_argument);
    Buffer<int> few(device, 99), many(device, 100);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, few, many); }).code(), Code::invalid_argument);
    EXPECT_EQ(error_of([&] { saxpy(device, 2, many, many, few); }).code(), Code::invalid_argument);
  }
}

template <class Out, class In = std::vector<int>>
concept TakesUnique = requires(Device& device, const In& in, Out& out) {
  unique(device, in, out);
};
static_assert(TakesUnique<std::vector<int>> && TakesUnique<const std::span<int>> &&
              TakesUnique<Buffer<int>, Buffer<int>>);
static_assert(!TakesUnique<const std::vector<int>> && !TakesUnique<std::span<const int>> &&
              !TakesUnique<const Buffer<int>, Buffer<int>>);

// Compares each operation on `in`, from host ranges and from buffers, with the standard library.
template <class T>
void expect_selections(Device& device, const std::vector<T>& in) {
  const std::size_t n = in.size();
  const T below = 40;
  const auto is_below = [&](T x) { return x < below; };
  std::vector<std::uint32_t> repeats, nonzeros, lengths;
  std::vector<std::uint8_t> flags(n);
  std::vector<T> chosen, flagged, runs, parted = in;
  for (std::size_t i = 0; i < n; ++i) {
    flags[i] = i % 3 == 0;
    if (i + 1 < n && in[i] == in[i + 1]) repeats.push_back(static_cast<std::uint32_t>(i));
    if (in[i] != 0) nonzeros.push_back(static_cast<std::uint32_t>(i));
    if (is_below(in[i])) chosen.push_back(in[i]);
    if (flags[i]) flagged.push_back(in[i]);
    if (i == 0 || in[i] != in[i - 1])
      runs.push_back(in[i]), lengths.push_back(1);
    else
      ++lengths.back();
  }
  std::stable_partition(parted.begin(), parted.end(), is_below);

  const T untouched = 77;
  const auto holds = [&](const auto& out, const auto& expected) {
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << device.name() << ' ' << n;
    for (std::size_t i = expected.size(); i < out.size(); ++i) ASSERT_EQ(out[i], untouched) << "past the end";
  };
  std::vector<T> out(n + 1, untouched);
  std::vector<std::uint32_t> numbers(n + 1, 77);
  std::array<std::uint64_t, 1> count{};
  const auto expect = [&](std::uint64_t selected, const auto& expected) {
    EXPECT_EQ(selected, expected.size());
    holds(out, expected);
    std::fill(out.begin(), out.end(), untouched);
  };
  EXPECT_EQ(find_repeats(device, in, numbers), repeats.size());
  holds(numbers, repeats);
  std::fill(numbers.begin(), numbers.end(), 77);
  expect(run_length_encode(device, in, out, numbers), runs);
  holds(numbers, lengths);
  if (!covers(device, "select", type_of<T>(), Selection::select_if)) return;
  std::fill(numbers.begin(), numbers.end(), 77);
  EXPECT_EQ(nonzero(device, in, numbers), nonzeros.size());
  holds(numbers, nonzeros);
  expect(select_if(device, std::span(in), below, out), chosen);
  expect(select_flagged(device, in, flags, out), flagged);
  unique(device, in, std::span(out), count);
  expect(count[0], runs);
  EXPECT_EQ(partition_if(device, in, below, out), chosen.size());
  holds(out, parted);

  const Buffer<T> in_buffer(device, in);
  const Buffer<std::uint8_t> flags_buffer(device, flags);
  Buffer<T> out_buffer(device, n);
  Buffer<std::uint32_t> numbers_buffer(device, n);
  Buffer<std::uint64_t> count_buffer(device, 1);
  const auto expect_buffer = [&](const auto& buffer, std::uint64_t selected, const auto& expected) {
    ASSERT_EQ(selected, expected.size());
    const auto got = buffer.to_vector();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin())) << device.name() << ' ' << n;
  };
  expect_buffer(numbers_buffer, find_repeats(device, in_buffer, numbers_buffer), repeats);
  nonzero(device, in_buffer, numbers_buffer, count_buffer);
  expect_buffer(numbers_buffer, count_buffer.to_vector()[0], nonzeros);
  select_if(device, in_buffer, below, out_buffer, count_buffer);
  expect_buffer(out_buffer, count_buffer.to_vector()[0], chosen);
  select_flagged(device, in_buffer, flags_buffer, out_buffer, count_buffer);
  expect_buffer(out_buffer, count_buffer.to_vector()[0], flagged);
  expect_buffer(out_buffer, unique(device, in_buffer, out_buffer), runs);
  run_length_encode(device, in_buffer, out_buffer, numbers_buffer, count_buffer);
  expect_buffer(out_buffer, count_buffer.to_vector()[0], runs);
  expect_buffer(numbers_buffer, count_buffer.to_vector()[0], lengths);
  EXPECT_EQ(partition_if(device, in_buffer, below, out_buffer), chosen.size());
  expect_buffer(out_buffer, n, parted);
}

TEST(Library, SelectsFromHostRangesAndBuffersOfEveryType) {
  for (Device& device : devices()) {
    for (const std::size_t n : {0, 1, 1000, 70001}) {
      const auto check = [&]<class T>(T) {
        std::vector<T> in = make_input<T>("zipf", n, 3);
        for (T& x : in) x = static_cast<T>(std::fmod(static_cast<double>(x), 100.0));
        expect_selections(device, in);
      };
      check(std::int8_t{}), check(std::uint16_t{}), check(std::int32_t{}), check(std::uint64_t{}), check(double{});
    }
  }
}

TEST(Library, SelectionsThatCannotBe) {
  Device cpu = Device::cpu();
  const std::vector<std::int64_t> in(100, 1);
  std::vector<std::int64_t> out(99);
  std::vector<std::uint32_t> positions(100);
  std::vector<std::uint64_t> none;
  const auto refused = [](auto&& call) { return error_of(call).code() == Code::invalid_argument; };
  EXPECT_TRUE(refused([&] { select_if(cpu, in, 3, out); })) << "output too small";
  EXPECT_TRUE(refused([&] { run_length_encode(cpu, in, std::span(out).first(99), std::span(positions).first(99)); }))
      << "output too small";
  out.resize(100);
  EXPECT_TRUE(refused([&] { select_flagged(cpu, in, std::vector<std::uint8_t>(99), out); })) << "a flag is missing";
  EXPECT_TRUE(refused([&] { unique(cpu, in, out, none); })) << "no room for the count";
  EXPECT_TRUE(refused([&] { unique(cpu, in, out, {}, {.rung = "none"}); }));
  EXPECT_EQ(error_of([&] { partition_if(cpu, in, 3, out, {}, {.rung = "single_pass"}); }).code(), Code::unsupported);
  EXPECT_EQ(select_if(cpu, in, std::numeric_limits<std::int64_t>::max(), out), 100u) << "no double has this value";
}

TEST(Library, BuffersGoThereAndBack) {
  for (Device& device : devices()) {
    const auto values = make_input<double>("uniform", 1001, 1);
    Buffer<double> buffer(device, values);
    EXPECT_EQ(buffer.to_vector(), values);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
    Buffer<double> moved = std::move(buffer);
    EXPECT_EQ(moved.to_vector(), values);
    std::vector<double> shorter(1000);
    EXPECT_EQ(error_of([&] { moved.copy_to(shorter); }).code(), Code::invalid_argument);
    EXPECT_EQ(error_of([&] { moved.copy_from(shorter); }).code(), Code::invalid_argument);
    Buffer<int> empty(device, 0);
    EXPECT_TRUE(empty.to_vector().empty());
  }
}

TEST(Library, ABufferOutlivesItsDevice) {
  Buffer<int> buffer = [] {
    Device device = Device::cpu();
    return Buffer<int>(device, std::vector{1, 2, 3});
  }();
  EXPECT_EQ(buffer.to_vector(), (std::vector{1, 2, 3}));
}

TEST(Library, BuffersAreReducedWithoutAllocationInSteadyState) {
  for (Device& device : devices()) {
    const Buffer<int> in(device, std::vector<int>(5000, 2));
    Buffer<int> out(device, 1);
    reduce(device, in, out);
    const std::size_t held = device.workspace().held();
    for (int k = 0; k < 3; ++k) reduce(device, in, out);
    device.synchronize();
    EXPECT_EQ(device.workspace().held(), held);
    EXPECT_EQ(out.to_vector()[0], 10000);
    EXPECT_TRUE(device.workspace().counters_are_zero());
  }
}

TEST(Library, MistakesAreFoundBeforeAnythingRuns) {
  Device cpu = Device::cpu();
  const std::vector<int> in(100, 1);
  const Error unknown = error_of([&] { reduce(cpu, in, Op::sum, {.rung = "fastest"}); });
  EXPECT_EQ(unknown.code(), Code::invalid_argument);
  EXPECT_NE(unknown.hint().find("serial"), std::string::npos);
  for (const Rung* peer : lab::peers_of(Backend::cpu)) {
    EXPECT_EQ(unknown.hint().find(peer->name), std::string::npos) << "a peer is not a rung";
    EXPECT_EQ(error_of([&] { reduce(cpu, in, Op::sum, {.rung = peer->name}); }).code(), Code::invalid_argument);
  }
  EXPECT_EQ(error_of([&] { reduce(cpu, in, Op::sum, {.block = 2048}); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { reduce(cpu, std::span<const int>(static_cast<int*>(nullptr), 3)); }).code(),
            Code::invalid_argument);
  const Buffer<int> buffer(cpu, in);
  Buffer<int> none(cpu, 0);
  EXPECT_EQ(error_of([&] { reduce(cpu, buffer, none); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { Buffer<double> huge(cpu, std::size_t{1} << 61); }).code(), Code::out_of_memory);
  EXPECT_EQ(error_of([] { Device::cuda(1000); }).code(), Code::no_device);
  if (!cuda_platform()) {
    EXPECT_EQ(Device::best().backend(), Backend::cpu);
    EXPECT_EQ(error_of([] { Device::cuda(); }).code(), Code::no_device);
  }
}

#if defined(UPSWEEP_WITH_SIMT)
TEST(Library, DevicesDoNotTakeEachOthersBuffers) {
  Device cpu = Device::cpu(), simt(plain_emulator());
  const Buffer<int> in(cpu, std::vector{1});
  Buffer<int> out(simt, 1);
  EXPECT_EQ(error_of([&] { reduce(simt, in, out); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { reduce(cpu, in, out); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { reduce(simt, std::vector{1}, 0, std::plus<>{}); }).code(), Code::unsupported);
}
#endif

// ---- user-defined operators -------------------------------------------------------------------------------

namespace {

// x -> a*x + b modulo 2^32; composition is associative but not commutative.
struct Affine {
  std::uint32_t a = 1, b = 0;
  bool operator==(const Affine&) const = default;
};
Affine after(Affine first, Affine second) { return {first.a * second.a, first.b * second.a + second.b}; }

}  // namespace

TEST(OwnOperator, KeepsTheOrder) {
  Device cpu = Device::cpu();
  for (std::size_t n : {0, 1, 2, 511, 512, 513, 514, 1025, 16384, 100003, 1 << 18}) {
    std::vector<Affine> maps(n);
    for (std::size_t i = 0; i < n; ++i)
      maps[i] = {static_cast<std::uint32_t>(2 * i + 3), static_cast<std::uint32_t>(i)};
    Affine expected;
    for (const Affine& map : maps) expected = after(expected, map);
    EXPECT_EQ(reduce(cpu, maps, Affine{}, after), expected) << n;
  }
}

TEST(OwnOperator, TakesTypesWithoutADefault) {
  struct Interval {
    explicit Interval(int l, int h) : low(l), high(h) {}
    int low, high;
  };
  Device cpu = Device::cpu();
  std::vector<Interval> in;
  for (int i = 0; i < 100000; ++i) in.emplace_back(-i, 2 * i);
  const Interval hull = reduce(cpu, in, Interval(0, 0), [](const Interval& a, const Interval& b) {
    return Interval(std::min(a.low, b.low), std::max(a.high, b.high));
  });
  EXPECT_EQ(hull.low, -99999);
  EXPECT_EQ(hull.high, 199998);
}

TEST(OwnOperator, WhatItThrowsArrives) {
  Device cpu = Device::cpu();
  std::vector<int> in(1 << 18, 1);
  in[200000] = -1;
  const auto refuse_negative = [](int a, int b) { return b >= 0 ? a + b : throw std::domain_error("negative"); };
  EXPECT_THROW(reduce(cpu, in, 0, refuse_negative), std::domain_error);
  in[200000] = 1;
  EXPECT_EQ(reduce(cpu, in, 0, refuse_negative), 1 << 18);
}
