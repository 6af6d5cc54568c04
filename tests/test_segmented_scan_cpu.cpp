// The CPU rungs of segmented_scan beyond what `upsweep check` runs: every alignment, in place, more threads than cores,
// and segments that end at the boundaries of windows and of threads' blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "cpu_rungs.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/segmented_scan/lab/oracle.h"
#include "upsweep/parameters/scan.h"

namespace upsweep {
namespace {

// The same segments as flags, keys and offsets.
struct Segments {
  std::size_t n;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint32_t> keys;

  // `heads` ascends; element 0 is always a head.
  Segments(std::size_t elements, const std::vector<std::size_t>& heads) : n(elements), flags(elements), keys(elements) {
    for (const std::size_t head : heads)
      if (head < n) {
        offsets.push_back(head);
        flags[head] = 0x80;
      }
    std::uint32_t key = 0;
    for (std::size_t i = 0; i < n; ++i) keys[i] = key ^= flags[i] ? 1u : 0u;
  }
  Array array(HeadKind kind) const {
    switch (kind) {
      case HeadKind::flags:
        return input_array(Type::u8, n, flags.data());
      case HeadKind::keys:
        return input_array(Type::u32, n, keys.data());
      case HeadKind::offsets:
        break;
    }
    return input_array(Type::u64, offsets.size(), offsets.data());
  }
};

struct Layout {
  std::size_t in_offset = 0, heads_offset = 0, out_offset = 0;  // elements past a cache line
  bool in_place = false;
  unsigned threads = 0;
};

// Expects the right answer from every CPU rung for these segments: every kind of heads, exclusive and inclusive.
void expect_right(Type type, Op op, const Segments& segments, const Layout& layout, const std::string& what,
                  std::string_view input = "uniform") {
  const std::size_t n = segments.n, element = size_of(type);
  std::vector<std::byte> values(n * element);
  fill_input(input, type, n, n + 1, values.data());
  for (const Rung* rung : cpu_rungs_of("segmented_scan", type, op))
    for (const HeadKind kind : {HeadKind::flags, HeadKind::keys, HeadKind::offsets})
      for (const bool inclusive : {false, true}) {
        if (layout.in_place && rung->peer) continue;
        const Array given = segments.array(kind);
        Framed in(values.size(), layout.in_offset * element, values.data());
        Framed heads(given.bytes(), layout.heads_offset * size_of(given.type), given.data);
        Framed out(values.size(), layout.out_offset * element);
        Framed& result = layout.in_place ? in : out;
        Workspace workspace(cpu_platform());
        const Call call{.operation = op,
                        .in = {Array{type, n, in.data()}, Array{given.type, given.count, heads.data()}},
                        .out = {Array{type, n, result.data()}},
                        .scalars = {inclusive, kind},
                        .tuning = {.threads = layout.threads},
                        .workspace = &workspace};
        const std::string name = std::string(rung->name) + ' ' + std::string(to_string(type)) + ' ' +
                                 std::string(to_string(kind)) + (inclusive ? " inclusive " : " exclusive ") + what;
        ASSERT_TRUE(rung->find(type, op)(call)) << name;
        ASSERT_TRUE(in.guards_stand() && heads.guards_stand() && out.guards_stand()) << name;
        using ladders::scan::Zeros;
        const auto wrong =
            ladders::segmented_scan::find_mistake(type, op, inclusive, values.data(), segments.offsets, result.data(),
                                                  n, rung->peer ? Zeros::are_equal : Zeros::differ);
        ASSERT_FALSE(wrong) << name << ": " << *wrong;
      }
}

std::vector<Type> all_or_one_type() { return under_thread_sanitizer ? std::vector{Type::i32} : arithmetic_types(); }

TEST(SegmentedScanCpu, EveryAlignmentInPlaceAndApart) {
  for (const Type type : all_or_one_type())
    for (const std::size_t n : {17, 300})
      for (std::size_t offset = 0; offset < 16; ++offset)
        for (const bool in_place : {false, true})
          expect_right(type, Op::sum, {n, {0, 5, 16, 63, 64, 200}},
                       {.in_offset = offset,
                        .heads_offset = (offset * 3 + 1) % 16,
                        .out_offset = (offset * 5 + n) % 16,
                        .in_place = in_place},
                       "n " + std::to_string(n) + " offset " + std::to_string(offset));
}

// The rungs' blocks have at most 2^15 elements, windows of heads 64. Heads on, before and after such boundaries make
// segments end where a thread's work does.
TEST(SegmentedScanCpu, SegmentsThatEndAtABoundary) {
  constexpr std::size_t n = (3 << 15) + 7;
  for (const std::size_t boundary : {std::size_t{64}, std::size_t{1} << 15})
    for (const std::size_t shift : {boundary - 1, boundary, boundary + 1}) {
      std::vector<std::size_t> heads{0};
      for (std::size_t head = shift; head < n; head += boundary) heads.push_back(head);
      for (const Op op : {Op::sum, Op::max})
        for (const unsigned threads : {1, 2, 64})
          expect_right(Type::i32, op, {n, heads}, {.threads = threads},
                       "heads every " + std::to_string(boundary) + " from " + std::to_string(shift) + ", threads " +
                           std::to_string(threads));
    }
}

TEST(SegmentedScanCpu, SumsKeepTheSignOfZeroInEverySegment) {
  constexpr std::size_t n = (2 << 15) + 7;
  for (const Type type : {Type::f32, Type::f64})
    for (const char* input : {"minus_zeros", "signed_zeros"})
      for (const std::vector<std::size_t>& heads :
           {std::vector<std::size_t>{0}, {0, 1, 2, 40, 63, 64, 700}, {0, 1 << 15, n - 1}})
        expect_right(type, Op::sum, {n, heads}, {.in_offset = 1}, std::string(input), input);
}

TEST(SegmentedScanCpu, OneSegmentAndAsManyAsElements) {
  constexpr std::size_t n = 300'007;
  std::vector<std::size_t> every(n);
  for (std::size_t i = 0; i < n; ++i) every[i] = i;
  for (const Type type : {Type::u8, Type::u32, Type::f64})
    for (const unsigned threads : {1, 3, 64}) {
      if (under_thread_sanitizer && type != Type::u32) continue;
      const Layout layout{.in_offset = 3, .out_offset = 1, .in_place = threads == 3, .threads = threads};
      expect_right(type, Op::sum, {n, {0}}, layout, "one segment");
      expect_right(type, Op::min, {n, {}}, layout, "no head at all");
      expect_right(type, Op::sum, {n, {0, n - 1}}, layout, "a last segment of one element");
      expect_right(type, Op::max, {n, every}, layout, "a segment per element");
    }
}

}  // namespace
}  // namespace upsweep
