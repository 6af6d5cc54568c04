// sort against hand-computed answers, through the library: every type, order, bit range, values of every width,
// indices, in place, rejected calls; and the CPU rungs beyond what `upsweep check` runs: sizes around the ends of
// leaves, threads, instruction sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/unsigned_as.h"
#include "cpu_rungs.h"
#include "error_of.h"
#include "lab/backends.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/parts.h"
#include "lab/primitive.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_cores.h"
#include "ladders/sort/cpu_merged.h"
#include "ladders/sort/lab/oracle.h"
#include "upsweep/sort.h"

namespace upsweep {
namespace {

using U32 = std::vector<std::uint32_t>;
using U64 = std::vector<std::uint64_t>;

const std::vector<std::string> rungs{"serial", "lsd", "msd", "parallel"};

class SortLibrary : public testing::Test {
 protected:
  Device cpu = Device::cpu();
};

template <class T>
class SortOf : public testing::Test {};
using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(SortOf, Types);

// The ends of each type's range, and its middle.
TYPED_TEST(SortOf, Ends) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  Device cpu = Device::cpu();
  const std::vector<T> sorted{Limits::lowest(), static_cast<T>(Limits::lowest() / 2), T{0}, T{1}, T{100},
                              Limits::max()};
  std::vector<T> keys{sorted[3], sorted[5], sorted[0], sorted[4], sorted[2], sorted[1]}, out(6);
  for (const std::string& rung : rungs) {
    sort(cpu, keys, out, {}, {.rung = rung});
    EXPECT_EQ(out, sorted) << rung;
    sort(cpu, keys, out, {.order = Order::descending}, {.rung = rung});
    EXPECT_EQ(out, std::vector<T>(sorted.rbegin(), sorted.rend())) << rung;
    U32 indices(6);
    argsort(cpu, keys, indices, {}, {.rung = rung});
    const U32 expected = std::is_unsigned_v<T> ? U32{2, 4, 5, 0, 3, 1} : U32{2, 5, 4, 0, 3, 1};
    EXPECT_EQ(indices, expected) << rung;
    std::vector<T> again(6);
    argsort(cpu, keys, again, indices, {}, {.rung = rung});
    EXPECT_EQ(again, sorted) << rung;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(keys[indices[i]], sorted[i]) << rung;
  }
}

// Each type by each range of bits, against a comparison of the bits.
TYPED_TEST(SortOf, EveryRangeOfBits) {
  using T = TypeParam;
  Device cpu = Device::cpu();
  constexpr bool floats = std::is_floating_point_v<T>;
  const std::size_t n = 3001, width = 8 * sizeof(T);
  const auto keys = make_input<T>(floats ? "specials" : "uniform", n, 3);
  for (const auto& [first, bits] : {std::pair<std::size_t, std::size_t>{0, 1},
                                    {0, width},
                                    {1, width - 1},
                                    {3, 4},
                                    {width - 1, 1},
                                    {width / 2, width / 2},
                                    {1, width - 2}}) {
    FloatOrder float_order{};
    const auto number = [&, first = first, bits = bits](T key) {
      std::int64_t order;
      if constexpr (floats) {  // converts sign and magnitude to two's complement
        using S = std::make_signed_t<UnsignedAs<T>>;
        if (float_order == FloatOrder::by_value && std::isnan(key))
          key = std::bit_cast<T>(std::numeric_limits<S>::max());
        if (float_order == FloatOrder::by_value && key == 0) key = 0;
        const S word = std::bit_cast<S>(key);
        order = word >= 0 ? word : -static_cast<std::int64_t>(word & std::numeric_limits<S>::max()) - 1;
      } else {
        order = static_cast<std::int64_t>(key);
      }
      const auto from_bottom =
          static_cast<std::uint64_t>(order) + (std::is_signed_v<T> ? std::uint64_t{1} << (width - 1) : 0);
      return from_bottom >> first & ~std::uint64_t{0} >> (64 - bits);
    };
    for (const auto& [order, floats_by] : {std::pair{Order::ascending, FloatOrder::by_value},
                                           {Order::descending, FloatOrder::by_value},
                                           {Order::ascending, FloatOrder::total_order},
                                           {Order::descending, FloatOrder::total_order}}) {
      if (!floats && floats_by == FloatOrder::total_order) continue;
      float_order = floats_by;
      const Sorting sorting{.order = order, .first_bit = first, .bits = bits, .float_order = float_order};
      U32 expected(n);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(expected.begin(), expected.end(), [&, descending = order == Order::descending](auto a, auto b) {
        return descending ? number(keys[a]) > number(keys[b]) : number(keys[a]) < number(keys[b]);
      });
      for (const std::string& rung : rungs) {
        U32 indices(n);
        argsort(cpu, keys, indices, sorting, {.rung = rung});
        ASSERT_EQ(indices, expected) << rung << ' ' << first << ' ' << bits;
        std::vector<T> in_place = keys;
        sort(cpu, in_place, in_place, sorting, {.rung = rung});
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(std::memcmp(&in_place[i], &keys[expected[i]], sizeof(T)), 0) << rung << ' ' << first << ' ' << bits;
      }
    }
  }
}

// IEEE 754's totalOrder. Bits are compared, because a NaN does not equal itself.
TEST_F(SortLibrary, FloatsInTotalOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const float least = std::numeric_limits<float>::denorm_min();
  const auto with_payload = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nan) | 5u);
  const std::vector<float> sorted{-with_payload, -nan, -inf, -1, -least, -0.0f, 0.0f, least, 1, inf, nan, with_payload};
  U32 order(sorted.size());
  std::iota(order.begin(), order.end(), 0u);
  for (int turn = 0; turn < 20; ++turn) {
    std::next_permutation(order.begin(), order.end(), [](auto a, auto b) { return (a * 7) % 12 < (b * 7) % 12; });
    std::vector<float> keys, out(sorted.size());
    std::vector<double> wide, wide_out(sorted.size());
    for (const std::uint32_t i : order) keys.push_back(sorted[i]), wide.push_back(static_cast<double>(sorted[i]));
    for (const std::string& rung : rungs)
      for (const bool descending : {false, true}) {
        const Sorting sorting{.order = descending ? Order::descending : Order::ascending,
                              .float_order = FloatOrder::total_order};
        sort(cpu, keys, out, sorting, {.rung = rung});
        sort(cpu, wide, wide_out, sorting, {.rung = rung});
        for (std::size_t i = 0; i < out.size(); ++i) {
          const float expected = sorted[descending ? out.size() - 1 - i : i];
          ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected)) << rung << ' ' << i;
          ASSERT_EQ(std::bit_cast<std::uint64_t>(wide_out[i]),
                    std::bit_cast<std::uint64_t>(static_cast<double>(expected)));
        }
      }
  }
}

// By value, against std::stable_sort with < and isnan: -0 equals +0, all NaNs are equal and come last, or first in
// descending order. Bits are preserved: a key's index identifies it.
template <class T, class Value>
void expect_by_value(Device& cpu, std::size_t n, Order order, const std::string& rung) {
  const auto keys = make_input<T>("specials", n, n);
  U32 expected(n);
  std::iota(expected.begin(), expected.end(), 0u);
  std::stable_sort(expected.begin(), expected.end(), [&](auto i, auto j) {
    const T a = order == Order::ascending ? keys[i] : keys[j], b = order == Order::ascending ? keys[j] : keys[i];
    return !std::isnan(a) && (std::isnan(b) || a < b);
  });
  const auto as_expected = [&](const std::vector<T>& out) {
    for (std::size_t i = 0; i < n; ++i)
      if (std::memcmp(&out[i], &keys[expected[i]], sizeof(T)) != 0) return false;
    return true;
  };
  const Sorting sorting{.order = order};
  const Options options{.rung = rung};
  std::vector<T> out(n), in_place = keys, again(n);
  sort(cpu, keys, out, sorting, options);
  EXPECT_TRUE(as_expected(out)) << rung << ' ' << n;
  sort(cpu, in_place, in_place, sorting, options);
  EXPECT_TRUE(as_expected(in_place)) << rung << ' ' << n;
  U32 indices(n), beside(n);
  argsort(cpu, keys, indices, sorting, options);
  EXPECT_EQ(indices, expected) << rung << ' ' << n;
  argsort(cpu, keys, again, beside, sorting, options);
  EXPECT_TRUE(as_expected(again) && beside == expected) << rung << ' ' << n;
  std::vector<Value> values(n), moved(n);
  for (std::size_t i = 0; i < n; ++i) std::memcpy(&values[i], &i, std::min(sizeof i, sizeof(Value)));
  sort(cpu, keys, values, out, moved, sorting, options);
  in_place = keys;
  auto values_in_place = values;
  sort(cpu, in_place, values_in_place, in_place, values_in_place, sorting, options);
  EXPECT_TRUE(as_expected(out) && as_expected(in_place)) << rung << ' ' << n;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(std::memcmp(&moved[i], &values[expected[i]], sizeof(Value)), 0) << rung << ' ' << n;
    ASSERT_EQ(std::memcmp(&values_in_place[i], &moved[i], sizeof(Value)), 0) << rung << ' ' << n;
  }
}

TEST_F(SortLibrary, FloatsByValue) {
  struct Two {
    std::uint64_t low, high;
  };
  for (const std::string& rung : rungs)
    for (const Order order : {Order::ascending, Order::descending})
      for (const std::size_t n : {1u, 2u, 20u, 1000u, 70'001u}) {
        expect_by_value<float, std::uint32_t>(cpu, n, order, rung);
        expect_by_value<double, Two>(cpu, n, order, rung);
        expect_by_value<float, double>(cpu, n, order, rung);
      }
}

TEST_F(SortLibrary, NanOfArithmeticIsLast) {
  const float zero = 0, nan = -std::numeric_limits<float>::quiet_NaN();  // like 0 / 0 on x86: its sign is set
  const std::vector<float> keys{5, 9, nan, 5, zero, -zero};
  U32 indices(6);
  argsort(cpu, keys, indices);
  EXPECT_EQ(indices, (U32{4, 5, 0, 3, 1, 2}));
  argsort(cpu, keys, indices, {.order = Order::descending});
  EXPECT_EQ(indices, (U32{2, 1, 0, 3, 4, 5}));
  argsort(cpu, keys, indices, {.float_order = FloatOrder::total_order});
  EXPECT_EQ(indices, (U32{2, 5, 4, 0, 3, 1}));
}

TEST_F(SortLibrary, EqualKeysKeepTheirOrder) {
  const std::vector<std::int32_t> keys{5, -1, 5, -1, 3, 5};
  std::vector<std::int32_t> out(6);
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  std::vector<float> moved(6);
  for (const std::string& rung : rungs) {
    sort(cpu, keys, values, out, moved, {}, {.rung = rung});
    EXPECT_EQ(out, (std::vector<std::int32_t>{-1, -1, 3, 5, 5, 5})) << rung;
    EXPECT_EQ(moved, (std::vector<float>{1, 3, 4, 0, 2, 5})) << rung;
    sort(cpu, keys, values, out, moved, {.order = Order::descending}, {.rung = rung});
    EXPECT_EQ(out, (std::vector<std::int32_t>{5, 5, 5, 3, -1, -1})) << rung;
    EXPECT_EQ(moved, (std::vector<float>{0, 2, 5, 4, 1, 3})) << rung;
    // By the highest bit only, the sign.
    sort(cpu, keys, values, out, moved, {.first_bit = 31}, {.rung = rung});
    EXPECT_EQ(moved, (std::vector<float>{1, 3, 0, 2, 4, 5})) << rung;
  }
}

// Values of every width, in place and not, aligned only to their element.
template <class Key, class Value>
void expect_moved(Device& cpu, std::size_t n, std::string_view rung, auto&& make) {
  const auto input = make_input<Key>("zipf", n, 1);
  std::vector<Key> keys(n + 1), out(n + 1);
  std::copy(input.begin(), input.end(), keys.begin() + 1);
  std::vector<Value> values(n + 1), moved(n + 1);
  for (std::size_t i = 0; i < n; ++i) values[i + 1] = make(i);
  U32 order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return input[a] < input[b]; });
  const auto tail = [](auto& all) { return host_view(all.data() + 1, all.size() - 1); };
  for (const bool in_place : {false, true}) {
    auto& to = in_place ? keys : out;
    auto& to_values = in_place ? values : moved;
    sort(cpu, tail(keys), tail(values), tail(to), tail(to_values), {}, {.rung = rung});
    for (std::size_t i = 0; i < n; ++i) {
      const Value expected = make(order[i]);
      ASSERT_EQ(to[i + 1], input[order[i]]) << rung << ' ' << n << ' ' << in_place;
      ASSERT_EQ(std::memcmp(&to_values[i + 1], &expected, sizeof expected), 0) << rung << ' ' << n << ' ' << in_place;
    }
  }
}

TEST_F(SortLibrary, ValuesGoWithTheirKeys) {
  struct Point {  // 4-byte alignment
    float x, y;
  };
  struct Two {
    std::uint64_t low, high;
  };
  for (const std::string& rung : rungs)
    for (const std::size_t n : {0u, 1u, 2u, 24u, 25u, 1000u, 70'001u}) {
      expect_moved<std::uint32_t, float>(cpu, n, rung, [](std::size_t i) { return static_cast<float>(i); });
      expect_moved<std::int16_t, Point>(cpu, n, rung, [](std::size_t i) { return Point{static_cast<float>(i), -1}; });
      expect_moved<std::uint64_t, std::uint32_t>(cpu, n, rung,
                                                 [](std::size_t i) { return static_cast<std::uint32_t>(i); });
      expect_moved<double, double>(cpu, n, rung, [](std::size_t i) { return static_cast<double>(i); });
      expect_moved<std::uint8_t, Two>(cpu, n, rung, [](std::size_t i) { return Two{i, ~i}; });
      expect_moved<std::int64_t, Two>(cpu, n, rung, [](std::size_t i) { return Two{i, ~i}; });
    }
}

// Empty input, as from a filter that kept no elements.
TEST_F(SortLibrary, NoKeys) {
  const auto sorts = [&]<class T>(T) {
    std::vector<T> none, room(3, T{7});
    const std::vector<double> no_values;
    std::vector<double> moved(3, 7);
    U32 indices, more(3, 7);
    for (const std::string& rung : rungs) {
      const Options options{.rung = rung};
      argsort(cpu, none, indices, {}, options);
      argsort(cpu, none, more, {}, options);
      argsort(cpu, none, room, more, {}, options);
      sort(cpu, none, none, {}, options);
      sort(cpu, none, room, {}, options);
      sort(cpu, none, no_values, room, moved, {}, options);
    }
    EXPECT_EQ(room, std::vector<T>(3, T{7}));
    EXPECT_EQ(moved, std::vector<double>(3, 7));
    EXPECT_EQ(more, U32(3, 7));
  };
  sorts(std::uint8_t{});
  sorts(std::int32_t{});
  sorts(1.0f);
  sorts(1.0);
}

// Outputs larger than needed keep the elements past the end.
TEST_F(SortLibrary, MoreRoomThanNeeded) {
  U32 out{9, 9, 9, 9}, indices{9, 9, 9, 9};
  for (const std::string& rung : rungs) {
    argsort(cpu, U32{7, 5, 6}, out, indices, {}, {.rung = rung});
    EXPECT_EQ(out, (U32{5, 6, 7, 9})) << rung;
    EXPECT_EQ(indices, (U32{1, 2, 0, 9})) << rung;
  }
}

// The default rungs, on copies of host arrays and on device arrays.
TEST_F(SortLibrary, OnEveryDevice) {
  std::vector<Device> devices;
  devices.push_back(Device::cpu());
  if (cuda_platform()) devices.push_back(Device::cuda());
  for (Device& device : devices) {
    const std::size_t n = 10'007;
    const auto keys = make_input<float>("uniform", n, 1);
    std::vector<float> expected = keys, out(n);
    std::sort(expected.begin(), expected.end());
    sort(device, keys, out);
    EXPECT_EQ(out, expected) << device.name();
    U32 indices(n);
    argsort(device, keys, indices);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(keys[indices[i]], expected[i]) << device.name();
    std::fill(indices.begin(), indices.end(), 0u);
    argsort(device, keys, out, indices);
    EXPECT_EQ(out, expected) << device.name();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(keys[indices[i]], expected[i]) << device.name();
    Buffer<float> in(device, keys);
    Buffer<double> values(device, std::vector<double>(keys.begin(), keys.end()));
    sort(device, in, values, in, values, {.order = Order::descending});
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(in.to_vector(), expected) << device.name();
    EXPECT_EQ(values.to_vector(), std::vector<double>(expected.begin(), expected.end())) << device.name();
  }
}

// ---- the CPU rungs --------------------------------------------------------------------------------------------------

using ladders::sort::Args, ladders::sort::Binding, ladders::sort::Caller, ladders::sort::Limits;

const Primitive& sort_cases() { return *find_primitive("sort"); }

// Returns the mistake of the passes within these limits, or nullopt.
std::optional<std::string> mistake(const Case& c, const Problem& problem, const Limits& limits, unsigned threads) {
  Workspace workspace(cpu_platform());
  Call call = call_of(sort_cases(), c);
  call.workspace = &workspace;
  std::vector<std::unique_ptr<Framed>> arrays;
  std::size_t k = 0;
  for (const Array& in : problem.inputs()) {
    arrays.push_back(std::make_unique<Framed>(in.bytes(), c.n % 5 * size_of(in.type), in.data));
    call.in[k++] = {in.type, in.count, arrays.back()->data()};
  }
  k = 0;
  std::vector<const void*> outputs;
  for (const Array& out : problem.outputs()) {
    call.out[k] = {out.type, out.count, call.in[k].data};
    if (!out.data) {
      arrays.push_back(std::make_unique<Framed>(out.bytes(), c.n % 3 * size_of(out.type)));
      call.out[k].data = arrays.back()->data();
    }
    outputs.push_back(call.out[k++].data);
  }
  Status status;
  visit_any(c.type, [&]<class T>(TypeTag<T>) {
    const auto a = Binding::args<T, NoOperation>(call);
    const int cores = static_cast<int>(threads);
    status = ladders::sort::sort_by_numbers(a, cores, [&](const Caller& caller) {
      return ladders::sort::sort_on_cores(caller, a.n, a.first_bit, a.bits, cores, limits, a);
    });
  });
  if (!status) return "failed";
  for (const auto& array : arrays)
    if (!array->guards_stand()) return "wrote outside its output";
  return problem.verify(cpu_rung("sort", "serial"), outputs);
}

// Passes of several depths, leaves of all sizes, on more threads than cores: every parameter set of the check, with
// every instruction set.
TEST(SortCpu, EveryInstructionSet) {
  constexpr Limits several[]{{.leaf = 64, .most = 512, .alone = 600, .widest = 8},
                             {.leaf = 500, .most = 3000, .alone = 100, .widest = 5}};
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const Type type : all_types())
      for (const Settings& settings : sort_cases().variants(sort_cases(), type))
        for (const Order order : {Order::ascending, Order::descending})
          for (const std::size_t n : {1u, 25u, 599u, 1029u, 20'001u}) {
            if (under_sanitizer && (n == 1029 || order == Order::descending)) continue;  // 6 or 100 times slower
            for (const char* input : {"uniform", "zipf", "two_valued", "specials"}) {
              if (input == std::string_view("specials") && !is_float(type)) continue;
              if (under_thread_sanitizer && input != std::string_view("uniform")) continue;
              const Case c{.type = type, .operation = order, .n = n, .input = input, .seed = n, .settings = settings};
              const auto problem = sort_cases().make(c, {});
              for (const Limits& limits : several) {
                const auto wrong = mistake(c, *problem, limits, n % 2 ? 3 : 1);
                ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << lab::describe(c) << " leaf " << limits.leaf
                                    << ": " << *wrong;
              }
            }
          }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// Adversarial keys: they agree in the bits that would separate random keys, so that insertion sort gives up.
TEST(SortCpu, KeysThatDifferInLowBitsOnly) {
  Device cpu = Device::cpu();
  for (const std::size_t n : {100u, 5'000u, 40'000u, 300'000u}) {
    U64 keys(n);
    for (std::size_t i = 0; i < n; ++i)
      keys[i] = (i % 3 == 0 ? 0xffull << 56 : 0) | (i * 0x9e3779b97f4a7c15u >> 60 << 40) | (i * 2654435761u & 0xfff);
    U64 expected = keys, out(n);
    std::sort(expected.begin(), expected.end());
    for (const unsigned threads : {1u, 2u}) {
      sort(cpu, keys, out, {}, {.threads = threads});
      ASSERT_EQ(out, expected) << n << ' ' << threads;
    }
  }
}

// ---- the oracles ----------------------------------------------------------------------------------------------------

// Returns the verdict of the oracles; the one that sorts all keys again and the one that does not must agree.
bool accepted(const Call& call) {
  using namespace ladders::sort;
  EXPECT_TRUE(proves_itself(call, /*any_order=*/false));
  const bool sorted = !find_mistake(truth_of(call), call, /*any_order=*/false);
  const bool unsorted = !find_disorder(call, /*any_order=*/false);
  EXPECT_EQ(sorted, unsorted);
  return unsorted;
}

template <class T>
bool accepts_keys(const std::vector<T>& keys, const std::vector<T>& out, Order order = Order::ascending) {
  return accepted({.operation = order,
                   .in = {input_array(type_of<T>(), keys.size(), keys.data())},
                   .out = {input_array(type_of<T>(), out.size(), out.data())},
                   .scalars = {std::uint64_t{0}, std::uint64_t{8 * sizeof(T)}}});
}

TEST(SortOracle, KeysAlone) {
  const std::vector<float> keys{2, -0.0f, 1, 0.0f, 2};
  EXPECT_TRUE(accepts_keys(keys, {-0.0f, 0.0f, 1, 2, 2}));
  EXPECT_TRUE(accepts_keys(keys, {2, 2, 1, -0.0f, 0.0f}, Order::descending));
  EXPECT_FALSE(accepts_keys(keys, {0.0f, -0.0f, 1, 2, 2})) << "equal keys exchanged";
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(accepts_keys<float>({nan, inf, -nan, 1}, {1, inf, nan, -nan}));
  EXPECT_TRUE(accepts_keys<float>({nan, inf, -nan, 1}, {nan, -nan, inf, 1}, Order::descending));
  EXPECT_FALSE(accepts_keys<float>({nan, inf, -nan, 1}, {1, inf, -nan, nan})) << "equal keys exchanged";
  EXPECT_FALSE(accepts_keys<float>({nan, inf, -nan, 1}, {-nan, 1, inf, nan})) << "NaN is last";
  EXPECT_FALSE(accepts_keys<float>({nan, inf, -nan, 1}, {1, nan, -nan, inf})) << "NaN is last";
  EXPECT_FALSE(accepts_keys(keys, {-0.0f, 0.0f, 2, 1, 2})) << "two exchanged";
  EXPECT_FALSE(accepts_keys(keys, {-0.0f, 0.0f, 1, 1, 2})) << "one instead of another";
  EXPECT_FALSE(accepts_keys(keys, {2, 2, 1, -0.0f, 0.0f})) << "descending";
}

TEST(SortOracle, Indices) {
  const std::vector<std::uint8_t> keys{7, 5, 7, 0xf5};
  const auto accepts = [&](const U32& indices, unsigned bits, Order order = Order::ascending) {
    return accepted({.operation = order,
                     .in = {input_array(Type::u8, keys.size(), keys.data())},
                     .out = {Array{Type::u8}, input_array(Type::u32, indices.size(), indices.data())},
                     .scalars = {std::uint64_t{0}, std::uint64_t{bits}}});
  };
  EXPECT_TRUE(accepts({1, 0, 2, 3}, 8));
  EXPECT_TRUE(accepts({3, 0, 2, 1}, 8, Order::descending));
  EXPECT_TRUE(accepts({1, 3, 0, 2}, 4));
  EXPECT_FALSE(accepts({1, 2, 0, 3}, 8)) << "equal keys exchanged";
  EXPECT_FALSE(accepts({1, 0, 0, 3}, 8)) << "one twice";
  EXPECT_FALSE(accepts({0, 1, 2, 3}, 8)) << "keys out of order";
  EXPECT_FALSE(accepts({1, 0, 2, 4}, 8)) << "beyond the input";
}

// A mistake at the border between two of the oracle's parts.
TEST(SortOracle, AcrossParts) {
  U32 keys(part_size + 100), out(keys.size());
  std::iota(out.begin(), out.end(), 0u);
  std::reverse_copy(out.begin(), out.end(), keys.begin());
  EXPECT_TRUE(accepts_keys(keys, out));
  std::swap(out[part_size - 1], out[part_size]);
  EXPECT_FALSE(accepts_keys(keys, out));
}

// ---- rejected calls -------------------------------------------------------------------------------------------------

class SortRefuses : public SortLibrary {
 protected:
  const U32 keys{3, 1, 2};
  U32 out = U32(3, 7);

  void expect(const std::string& words, auto&& action) {
    const std::string message = error_of(action).what();
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(out, U32(3, 7)) << "nothing is written";
  }
};

TEST_F(SortRefuses, BitsBeyondTheKey) {
  const auto refused = [&](const std::string& words, const Sorting& sorting) {
    expect(words, [&] { sort(cpu, keys, out, sorting); });
  };
  refused("bits is 0, which is not in [1, 64]", {.bits = 0});
  refused("33 bits from bit 0 on are beyond a key of 32 bits", {.bits = 33});
  refused("25 bits from bit 8 on are beyond", {.first_bit = 8, .bits = 25});
  refused("1 bits from bit 32 on are beyond", {.first_bit = 32});
  refused("first_bit is 64, which is not in [0, 63]", {.first_bit = 64});
  refused("bits is 65, which is not in [1, 64]", {.bits = 65});
}

TEST_F(SortRefuses, ArraysThatDoNotFit) {
  std::vector<double> values(3), moved(3), few(2);
  expect("2 values for 3 keys", [&] { sort(cpu, keys, few, out, moved); });
  expect("the output of values has 2 elements, 3 are needed", [&] { sort(cpu, keys, values, out, few); });
  U32 short_out(2), indices(2);
  expect("the output of keys has 2 elements, 3 are needed", [&] { sort(cpu, keys, short_out); });
  expect("the output of values has 2 elements, 3 are needed", [&] { argsort(cpu, keys, indices); });
  U32 all(5, 7);
  expect("overlaps", [&] { sort(cpu, host_view(all.data(), 3), host_view(all.data() + 1, 3)); });
  expect("overlaps", [&] { argsort(cpu, out, out); });
  // Calls that the typed functions cannot express.
  const auto request = [&](AnyView in, AnyView to) {
    return [=, this] {
      invoke(cpu, {.contract = &sort_contract,
                   .operation = Order::ascending,
                   .in = {view(keys), in},
                   .out = {view(out), to},
                   .scalars = {std::uint64_t{0}, std::uint64_t{32}}});
    };
  };
  std::vector<std::uint8_t> bytes(6), other_bytes(6);
  U32 words(6), other_words(6);
  expect("the values are u8", request(view(bytes), view(other_bytes)));
  expect("the output of values is u8, not u32", request(AnyView(), view(bytes)));
  expect("6 u32 values for 3 keys", request(view(words), view(other_words)));
}

}  // namespace
}  // namespace upsweep
