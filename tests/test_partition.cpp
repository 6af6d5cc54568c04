// partition against hand-computed answers, through the library: buckets, order, values of every width, rejected calls;
// and the CPU rungs beyond what `upsweep check` runs: every alignment, block ends, threads, instruction sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "cpu_rungs.h"
#include "error_of.h"
#include "lab/backends.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"
#include "upsweep/partition.h"

namespace upsweep {
namespace {

using U32 = std::vector<std::uint32_t>;
using U64 = std::vector<std::uint64_t>;

constexpr std::uint64_t top32 = std::numeric_limits<std::uint32_t>::max();
const std::vector<std::string> rungs{"serial", "write_combining", "blocks", "parallel"};

class Partition : public testing::Test {
 protected:
  Device cpu = Device::cpu();
};

TEST_F(Partition, BucketsAreDigits) {
  const U32 keys{0x13, 0x21, 0x03, 0x11, 0x23, 0x01};
  for (const std::string& rung : rungs) {
    U32 out(6), offsets(5);
    partition_by_digit(cpu, keys, {.first_bit = 4, .bits = 2}, out, offsets, {.rung = rung});
    EXPECT_EQ(out, (U32{0x03, 0x01, 0x13, 0x11, 0x21, 0x23})) << rung;
    EXPECT_EQ(offsets, (U32{0, 2, 4, 6, 6})) << rung;
    offsets.resize(3);
    partition_by_digit(cpu, keys, {.first_bit = 1, .bits = 1}, out, offsets, {.rung = rung});
    EXPECT_EQ(out, (U32{0x21, 0x11, 0x01, 0x13, 0x03, 0x23})) << rung;
    EXPECT_EQ(offsets, (U32{0, 3, 6})) << rung;
  }
  // By default, the lowest byte determines the bucket.
  U32 out(6), offsets(257);
  partition_by_digit(cpu, keys, {}, out, offsets);
  EXPECT_EQ(out, (U32{0x01, 0x03, 0x11, 0x13, 0x21, 0x23}));
  EXPECT_EQ(offsets[0x12], 3u);
  EXPECT_EQ(offsets[256], 6u);
}

TEST_F(Partition, BucketsAreBetweenSplitters) {
  // A key that equals a splitter belongs to the bucket above it.
  const U32 keys{9, 5, 4, 0, 10, 5, static_cast<std::uint32_t>(top32)};
  for (const std::string& rung : rungs) {
    U32 out(7), offsets(4);
    partition_by_splitters(cpu, keys, U32{5, 10}, out, offsets = U32(4), {.rung = rung});
    EXPECT_EQ(out, (U32{4, 0, 9, 5, 5, 10, static_cast<std::uint32_t>(top32)})) << rung;
    EXPECT_EQ(offsets, (U32{0, 2, 5, 7})) << rung;
  }
}

TEST_F(Partition, SixtyFourBits) {
  const std::uint64_t high = std::uint64_t{1} << 63;
  const U64 keys{high | 1, 2, high, ~std::uint64_t{0}, 1};
  U64 out(5);
  U32 offsets(3);
  partition_by_digit(cpu, keys, {.first_bit = 63, .bits = 1}, out, offsets);
  EXPECT_EQ(out, (U64{2, 1, high | 1, high, ~std::uint64_t{0}}));
  partition_by_splitters(cpu, keys, U64{~std::uint64_t{0}}, out, offsets);
  EXPECT_EQ(out, (U64{high | 1, 2, high, 1, ~std::uint64_t{0}}));
  EXPECT_EQ(offsets, (U32{0, 4, 5}));
}

// The outputs of move(), whose arrays of values are aligned only to their elements.
template <class Value>
struct Moved {
  std::vector<Value> values;
  U32 out, offsets;
};
template <class Value, class Make>
Moved<Value> move(Device& device, const U32& keys, Digit digit, std::string_view rung, Make&& make) {
  std::vector<Value> in(keys.size() + 1), out(keys.size() + 1);
  for (std::size_t i = 0; i < keys.size(); ++i) in[i + 1] = make(i);
  Moved<Value> moved{{}, U32(keys.size()), U32((std::size_t{1} << digit.bits) + 1)};
  const auto tail = [](auto& all) { return host_view(all.data() + 1, all.size() - 1); };
  partition_by_digit(device, keys, tail(in), digit, moved.out, tail(out), moved.offsets, {.rung = rung});
  moved.values.assign(out.begin() + 1, out.end());
  return moved;
}

TEST_F(Partition, ValuesGoWithTheirKeysInOrder) {
  struct Pair {
    std::uint64_t low, high;
  };
  struct Point {  // 4-byte alignment
    float x, y;
  };
  for (const std::size_t n : {0u, 1u, 2u, 31u, 1000u, 70'001u}) {
    const auto keys = make_input<std::uint32_t>("zipf", n, 1);
    for (const std::size_t bits : {1u, 4u, 15u}) {
      std::vector<std::uint32_t> order(n);  // indices, stably sorted by bucket
      std::iota(order.begin(), order.end(), 0u);
      const auto bucket = [&](std::size_t i) { return keys[i] >> 1 & ((1u << bits) - 1); };
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bucket(a) < bucket(b); });
      for (const std::string& rung : rungs) {
        const Digit digit{.first_bit = 1, .bits = bits};
        const auto four = move<float>(cpu, keys, digit, rung, [](std::size_t i) { return static_cast<float>(i); });
        const auto eight = move<Point>(cpu, keys, digit, rung, [](std::size_t i) { return Point{float(i), -1}; });
        const auto sixteen = move<Pair>(cpu, keys, digit, rung, [](std::size_t i) { return Pair{i, ~i}; });
        std::size_t offset = 0;
        for (std::size_t p = 0; p < n; ++p) {
          const std::size_t i = order[p];
          ASSERT_EQ(four.out[p], keys[i]) << n << ' ' << bits << ' ' << rung;
          ASSERT_EQ(four.values[p], static_cast<float>(i));
          ASSERT_EQ(eight.values[p].x, static_cast<float>(i));
          ASSERT_EQ(sixteen.values[p].low, i);
          ASSERT_EQ(sixteen.values[p].high, ~i);
        }
        for (std::size_t b = 0; b <= std::size_t{1} << bits; ++b) {
          while (offset < n && bucket(order[offset]) < b) ++offset;
          ASSERT_EQ(four.offsets[b], offset) << n << ' ' << bits << ' ' << rung;
        }
      }
    }
  }
}

TEST_F(Partition, NoKeys) {
  for (const std::string& rung : rungs) {
    U32 out, offsets(3, 7);
    partition_by_digit(cpu, U32{}, {.bits = 1}, out, offsets, {.rung = rung});
    EXPECT_EQ(offsets, U32(3, 0));
    std::vector<double> values, moved(4);  // larger than needed
    partition_by_splitters(cpu, U32{}, values, U32{3}, out, moved, offsets = U32(3, 7), {.rung = rung});
    EXPECT_EQ(offsets, U32(3, 0));
  }
}

// The maximum number of buckets, nearly all of them empty.
TEST_F(Partition, MostBuckets) {
  U32 splitters(32'767), out(3), offsets(32'769);
  std::iota(splitters.begin(), splitters.end(), 1u);
  partition_by_splitters(cpu, U32{40'000, 32'766, 0}, splitters, out, offsets);
  EXPECT_EQ(out, (U32{0, 32'766, 40'000}));
  EXPECT_EQ(offsets[0], 0u);
  EXPECT_EQ(offsets[1], 1u);
  EXPECT_EQ(offsets[32'766], 1u);
  EXPECT_EQ(offsets[32'767], 2u);
  EXPECT_EQ(offsets[32'768], 3u);
}

// The default rungs, on copies of host arrays and on device arrays.
TEST(PartitionLibrary, OnEveryDevice) {
  struct Wide {
    std::uint64_t low, high;
  };
  std::vector<Device> devices;
  devices.push_back(Device::cpu());
  if (cuda_platform()) devices.push_back(Device::cuda());
#if defined(UPSWEEP_WITH_SIMT)
  devices.push_back(Device(lab::open_plain()));
#endif
  for (Device& device : devices) {
    const std::size_t n = 10'007;
    const auto keys = make_input<std::uint32_t>("zipf", n, 1);
    const U32 splitters{1, 5, 100, 20'000};
    std::vector<Wide> values(n), moved(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = {i, ~i};
    U32 out(n), offsets(5 + 1);
    partition_by_splitters(device, keys, values, splitters, out, moved, offsets);
    EXPECT_EQ(offsets[5], n) << device.name();
    std::size_t p = 0;
    for (std::size_t b = 0; b < 5; ++b) {
      ASSERT_EQ(offsets[b], p) << device.name();
      for (std::size_t i = 0; i < n; ++i) {
        if (static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), keys[i]) -
                                     splitters.begin()) != b)
          continue;
        ASSERT_EQ(out[p], keys[i]) << device.name();
        ASSERT_EQ(moved[p].low, i) << device.name();
        ASSERT_EQ(moved[p++].high, ~i) << device.name();
      }
    }
    Buffer<std::uint32_t> in(device, keys), result(device, n), begins(device, 3);
    partition_by_digit(device, in, {.first_bit = 3, .bits = 1}, result, begins);
    U32 expected = keys;
    const auto zeros =
        std::stable_partition(expected.begin(), expected.end(), [](std::uint32_t k) { return !(k & 8); });
    EXPECT_EQ(result.to_vector(), expected) << device.name();
    EXPECT_EQ(begins.to_vector(),
              (U32{0, static_cast<std::uint32_t>(zeros - expected.begin()), static_cast<std::uint32_t>(n)}));
  }
}

// ---- the CPU rungs --------------------------------------------------------------------------------------------------

using ladders::partition::Args, ladders::partition::Binding, ladders::partition::PassOnCores, ladders::partition::Plan,
    ladders::partition::Way;

const Primitive& partition_cases() { return *find_primitive("partition"); }

// Offsets in elements past a cache line. 16-byte values have 8-byte elements.
struct Layout {
  std::size_t keys = 0, values = 0, out_keys = 0, out_values = 0;
};

// Returns the mistake in the answer of run(Call), or nullopt.
std::optional<std::string> mistake(const Case& c, const Problem& problem, const Layout& layout, auto&& run) {
  std::vector<std::unique_ptr<Framed>> arrays;
  const auto framed = [&](const Array& array, std::size_t offset, const void* values) -> Array {
    arrays.push_back(std::make_unique<Framed>(array.bytes(), offset * size_of(array.type), values));
    return {array.type, array.count, arrays.back()->data()};
  };
  const std::size_t in_offsets[]{layout.keys, layout.values, 1}, out_offsets[]{layout.out_keys, layout.out_values, 1};
  Workspace workspace(cpu_platform());
  Call call = call_of(partition_cases(), c);
  call.workspace = &workspace;
  std::vector<const void*> outputs;
  for (std::size_t k = 0; const Array& in : problem.inputs()) {
    call.in[k] = framed(in, in_offsets[k], in.data);
    ++k;
  }
  for (std::size_t k = 0; const Array& out : problem.outputs()) {
    call.out[k] = framed(out, out_offsets[k], nullptr);
    outputs.push_back(call.out[k++].data);
  }
  if (!run(call)) return "failed";
  for (const auto& array : arrays)
    if (!array->guards_stand()) return "wrote outside its output";
  return problem.verify(cpu_rung("partition", "serial"), outputs);
}
std::optional<std::string> mistake(const std::string& rung, const Case& c, const Problem& problem,
                                   const Layout& layout) {
  return mistake(c, problem, layout, cpu_rung("partition", rung).find_for(c.type, c.operation, c.n));
}

Case case_of(Type type, Bucketing bucketing, std::size_t n, unsigned bits, unsigned value_bytes) {
  const std::string buckets = std::to_string(1u << bits);
  return {.type = type,
          .operation = bucketing,
          .n = n,
          .seed = n + bits,
          .settings = partition_cases().settings(type, {{"bits", std::to_string(bits)},
                                                        {"first_bit", "3"},
                                                        {"buckets", buckets},
                                                        {"value_bytes", std::to_string(value_bytes)}})};
}

// Keys and values whose cache lines begin at the same elements, and at different ones.
TEST(PartitionCpu, EveryAlignment) {
  for (const Type type : {Type::u32, Type::u64})
    for (const Bucketing bucketing : {Bucketing::digit, Bucketing::splitters})
      for (const unsigned value_bytes : {0u, 4u, 8u, 16u}) {
        const Case c = case_of(type, bucketing, 3001, 4, value_bytes);
        const auto problem = partition_cases().make(c, {});
        for (const std::string& rung : rungs)
          for (std::size_t offset = 0; offset < 16; ++offset)
            for (const std::size_t values : {offset, std::size_t{3}}) {
              const auto wrong = mistake(rung, c, *problem, {offset % 5, offset % 3, offset, values});
              ASSERT_FALSE(wrong) << rung << ' ' << lab::describe(c) << " offset " << offset << ": " << *wrong;
            }
      }
}

// Sizes around block ends, from the fewest buckets to the most, with more threads than cores.
TEST(PartitionCpu, BlockEndsAndThreads) {
  for (const unsigned bits : {1u, 4u, 8u, 12u, 15u})
    for (const unsigned value_bytes : {0u, 4u, 16u}) {
      if (under_thread_sanitizer && (bits != 8 || value_bytes == 16)) continue;
      const std::size_t block = ladders::partition::block_for(1u << bits, 4 + value_bytes);
      for (const std::size_t n : {block - 1, block, block + 1, 2 * block + 1}) {
        if (bits == 15 && n < 2 * block) continue;  // half a second each
        Case c = case_of(Type::u32, Bucketing::digit, n, bits, value_bytes);
        const auto problem = partition_cases().make(c, {});
        for (const std::string& rung : rungs)
          for (const unsigned threads : {1u, 2u, 3u, 7u}) {
            if (rung != "parallel" && (threads > 1 || under_thread_sanitizer)) continue;
            c.tuning.threads = threads;
            const auto wrong = mistake(rung, c, *problem, {0, 0, 3, 3});
            ASSERT_FALSE(wrong) << rung << ' ' << lab::describe(c) << ": " << *wrong;
          }
      }
    }
}

// Every implementation of the scatter, with both kinds of stores, in several chunks of several blocks.
TEST(PartitionCpu, EveryInstructionSet) {
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const Type type : {Type::u32, Type::u64})
      for (const Bucketing bucketing : {Bucketing::digit, Bucketing::splitters})
        for (const unsigned value_bytes : {0u, 4u, 8u, 16u})
          for (const unsigned bits : {1u, 6u, 11u})
            for (const std::size_t n : {1u, 63u, 1029u, 13'000u}) {
              if (under_sanitizer && (bits != 6 || n == 1029)) continue;  // 6 or 100 times slower
              const Case c = case_of(type, bucketing, n, bits, value_bytes);
              const auto problem = partition_cases().make(c, {});
              for (const Plan& plan : {Plan{.way = Way::scatter, .cores = 3, .chunk = 1000},
                                       Plan{.way = Way::combine, .cores = 3, .chunk = 1000},
                                       Plan{.way = Way::blocks, .cores = 3, .chunk = 1500, .block = 500},
                                       Plan{.way = Way::blocks, .chunk = 20'000, .block = 20'000}})
                for (const Stores stores : {Stores::cached, Stores::around}) {
                  Plan with_stores = plan;
                  with_stores.stores = stores;
                  const auto wrong = mistake(c, *problem, {0, 0, n % 7, n % 7}, [&](const Call& call) {
                    Status status;
                    visit(type, [&]<class T>(TypeTag<T>) {
                      if constexpr (Binding::takes<T, void>)
                        Binding::visit(bucketing, [&]<class O>(O) {
                          const Args<T, O> a = Binding::args<T, O>(call);
                          status = PassOnCores<T, O>(a, with_stores).run();
                        });
                    });
                    return status;
                  });
                  ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << lab::describe(c) << " way "
                                      << static_cast<int>(plan.way) << ": " << *wrong;
                }
            }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// A part of an output of more than 2^32 elements; the rest is never written.
TEST(PartitionCpu, OutputIndicesBeyond32Bits) {
  using namespace ladders::partition;
  constexpr std::size_t far = (std::size_t{1} << 33) + 5, n = 3000, block = 1000;
  constexpr unsigned buckets = 16;
  const auto keys = make_input<std::uint32_t>("uniform", n, 1);
  U32 expected = keys;
  std::stable_sort(expected.begin(), expected.end(), [](auto a, auto b) { return a % buckets < b % buckets; });
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    const Loops loops = simd_loops(4, 0, false);
    for (const bool in_blocks : {false, true}) {
      U32 out(n);
      void* const front =
          reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(out.data()) - far * sizeof(std::uint32_t));
      Workspace workspace(cpu_platform());
      Scratch frame(workspace);
      void* const scratch = frame.take<std::byte>(blocks_bytes(block, buckets, 4, 0));
      alignas(64) std::uint32_t counts[n / block][in_lines(buckets)] = {}, tables[table_words(buckets)];
      U64 next(buckets, 0);
      Part part{keys.data(), nullptr, front, nullptr, 0, buckets, nullptr, nullptr, 0, n};
      for (std::size_t k = 0; k < n / block; ++k) {
        part.begin = k * block;
        part.end = part.begin + block;
        loops.count(part, counts[k], tables);
      }
      std::uint64_t before = far;
      for (unsigned b = 0; b < buckets; ++b) {
        next[b] = before;
        for (const auto& of_block : counts) before += of_block[b];
      }
      part.begin = 0;
      if (in_blocks)
        loops.blocks(part, next.data(), counts[0], block, Stores::around, scratch);
      else
        loops.combine(part, next.data(), Stores::around, scratch);
      EXPECT_EQ(out, expected) << hwy::TargetName(target) << ' ' << in_blocks;
      EXPECT_EQ(next.back(), far + n);
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- rejected calls -------------------------------------------------------------------------------------------------

std::string message_of(auto&& action) { return error_of(action).what(); }

class PartitionRefuses : public Partition {
 protected:
  const U32 keys{1, 2, 3};
  U32 out = U32(3, 7), offsets = U32(257, 7);

  void expect(const std::string& words, auto&& action) {
    EXPECT_NE(message_of(action).find(words), std::string::npos) << message_of(action);
    EXPECT_EQ(out, U32(3, 7)) << "nothing is written";
  }
  void digit(const std::string& words, Digit digit) {
    expect(words, [&] { partition_by_digit(cpu, keys, digit, out, offsets); });
  }
};

TEST_F(PartitionRefuses, DigitsBeyondTheKey) {
  digit("bits is 0, which is not in [1, 15]", {.bits = 0});
  digit("bits is 16, which is not in [1, 15]", {.bits = 16});
  digit("8 bits from bit 25 on are beyond a key of 32 bits", {.first_bit = 25});
  digit("8 bits from bit 63 on are beyond a key", {.first_bit = 63});
  digit("first_bit is 64, which is not in [0, 63]", {.first_bit = 64});
  U64 out64(1);
  expect("beyond a key of 64 bits", [&] { partition_by_digit(cpu, U64{1}, {.first_bit = 57}, out64, offsets); });
  partition_by_digit(cpu, U64{1}, {.first_bit = 56}, out64, offsets);
}

TEST_F(PartitionRefuses, SplittersThatDoNotAscend) {
  const auto refused = [&](const std::string& words, const U32& splitters, std::size_t buckets) {
    offsets.resize(buckets + 1);
    expect(words, [&] { partition_by_splitters(cpu, keys, splitters, out, offsets); });
  };
  refused("there are no splitters", {}, 1);
  refused("32768 splitters", U32(32'768), 32'769);
  refused("splitter 0, 0, leaves no key for the first bucket", {0, 1}, 3);
  refused("splitter 2, 5, is not above the one before it, 5", {1, 5, 5}, 4);
  refused("splitter 1, 1, is not above the one before it, 2", {2, 1}, 3);
}

TEST_F(PartitionRefuses, OffsetsThatDoNotFit) {
  for (const std::size_t count : {0u, 256u, 258u}) {
    offsets.resize(count);
    digit(std::to_string(count) + " offsets for 256 buckets", {});
  }
  offsets.resize(257);
  // Calls that the typed functions cannot express.
  std::vector<float> floats(257);
  expect("the array of offsets is f32, not u32", [&] {
    invoke(cpu, {.contract = &partition_contract,
                 .operation = Bucketing::digit,
                 .in = {view(keys)},
                 .out = {view(out), AnyView(), view(floats)}});
  });
  expect("overlaps", [&] { partition_by_digit(cpu, out, {}, out, offsets); });
}

TEST_F(PartitionRefuses, ValuesThatDoNotFit) {
  std::vector<double> values(3), moved(3), few(2);
  const auto refused = [&](const std::string& words, const std::vector<double>& in, std::vector<double>& to) {
    offsets.resize(257);
    expect(words, [&] { partition_by_digit(cpu, keys, in, {}, out, to, offsets); });
  };
  refused("2 values for 3 keys", few, moved);
  refused("0 values for 3 keys", {}, moved);
  refused("the output of values has 2 elements, 3 are needed", values, few);
  refused("overlaps", values, values);
  // Calls that the typed functions cannot express.
  const auto request = [&](AnyView in, AnyView to) {
    return [=, this] {
      invoke(cpu, {.contract = &partition_contract,
                   .operation = Bucketing::digit,
                   .in = {view(keys), in},
                   .out = {view(out), to, view(offsets)},
                   .scalars = {std::uint64_t{0}, std::uint64_t{8}}});
    };
  };
  std::vector<std::uint8_t> bytes(6), other_bytes(6);
  U32 words(6), other_words(6);
  expect("the values are u8", request(view(bytes), view(other_bytes)));
  expect("6 u32 values for 3 keys", request(view(words), view(other_words)));
  expect("there is an output of values, but no value", request({}, view(other_words)));
}

}  // namespace
}  // namespace upsweep
