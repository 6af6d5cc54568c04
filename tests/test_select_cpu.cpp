// The CPU rungs of select beyond what `upsweep check` runs: every alignment, more threads than cores, arrays larger
// than the caches, every instruction set, limits at the ends of a type; and the oracle against hand-computed answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/cache.h"
#include "cpu_rungs.h"
#include "lab/check.h"
#include "lab/primitive.h"
#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"
#include "ladders/select/lab/oracle.h"

namespace upsweep {
namespace {

using ladders::select::Found, ladders::select::PartLoops, ladders::select::find_mistake, ladders::select::finish,
    ladders::select::simd_loops;

const Primitive& select_cases() { return *find_primitive("select"); }

struct Layout {
  std::size_t in_offset = 0, out_offset = 0;  // elements past a cache line
};

// Returns the mistake in the answer of run(Call), or nullopt.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Layout& layout,
                                   auto&& run) {
  std::vector<std::unique_ptr<Framed>> arrays;
  const auto framed = [&](const Array& array, std::size_t offset, const void* values) -> Array {
    arrays.push_back(std::make_unique<Framed>(array.bytes(), offset * size_of(array.type), values));
    return {array.type, array.count, arrays.back()->data()};
  };
  Workspace workspace(cpu_platform());
  Call call = call_of(select_cases(), c);
  call.workspace = &workspace;
  std::vector<const void*> outputs;
  for (std::size_t k = 0; const Array& in : problem.inputs()) call.in[k++] = framed(in, layout.in_offset, in.data);
  for (std::size_t k = 0; const Array& out : problem.outputs()) {
    call.out[k] = framed(out, layout.out_offset, nullptr);
    outputs.push_back(call.out[k++].data);
  }
  if (!run(call)) return "failed";
  for (const auto& array : arrays)
    if (!array->guards_stand()) return "wrote outside its output";
  return problem.verify(rung, outputs);
}

// The same for a rung; nullopt if the rung does not take the case.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Layout& layout) {
  const RunFn run = rung.find_for(c.type, c.operation, c.n);
  return run ? mistake(rung, c, problem, layout, run) : std::nullopt;
}

std::string describe(const Rung& rung, const Case& c) { return std::string(rung.name) + ' ' + lab::describe(c); }

// Returns settings: shares of selected elements from none to all, and runs from one element to longer than any block.
std::vector<Settings> shares(Type type) {
  std::vector<Settings> all(1);
  for (const auto& [share, run_length] :
       {std::pair{"0", "1"}, {"0.01", "1.5"}, {"0.125", "3"}, {"0.5", "20"}, {"0.97", "700"}, {"1", "1e9"}})
    all.push_back(select_cases().settings(type, {{"share", share}, {"run_length", run_length}}));
  return all;
}

template <class F>
void for_each_case(const std::vector<std::size_t>& sizes, F&& f) {
  for (const Type type : select_cases().types())
    for (const Operation operation : select_cases().operations())
      for (const std::string& input :
           under_thread_sanitizer ? std::vector<std::string>{"uniform"} : select_cases().inputs(type))
        for (const Settings& settings : input == "uniform" ? shares(type) : std::vector<Settings>(1))
          for (const std::size_t n : sizes) {
            const Case c{
                .type = type, .operation = operation, .n = n, .input = input, .seed = n + 1, .settings = settings};
            f(c, *select_cases().make(c, {}));
          }
}

// Whole rows of 64 elements, and a partial row at the end.
TEST(SelectCpu, EveryAlignment) {
  for (const Type type : select_cases().types())
    for (const Operation operation : select_cases().operations())
      for (const std::size_t n : {17, 129, 1025}) {
        const Case c{.type = type,
                     .operation = operation,
                     .n = n,
                     .settings = select_cases().settings(type, {{"share", "0.5"}, {"run_length", "3"}})};
        const auto problem = select_cases().make(c, {});
        for (const Rung* rung : cpu_rungs_of("select", c.type, c.operation))
          for (std::size_t offset = 0; offset < 16; ++offset) {
            const auto wrong = mistake(*rung, c, *problem, {offset, (offset * 5 + n) % 16});
            ASSERT_FALSE(wrong) << describe(*rung, c) << " offset " << offset << ": " << *wrong;
          }
      }
}

// Several rounds of blocks, with more threads than cores and, for one share, than any rung uses.
TEST(SelectCpu, MoreThreadsThanCores) {
#if defined(UPSWEEP_SANITIZE_THREAD)  // data sharing between threads does not depend on the type
  constexpr Type types[] = {Type::u32};
#else
  constexpr Type types[] = {Type::u8, Type::u32, Type::f64};
#endif
  for (const Type type : types)
    for (const Operation operation : select_cases().operations())
      for (const unsigned threads : {64, 1000}) {
        std::vector<Settings> all = shares(type);
        if (threads > 64) {  // starting the threads dominates: under ThreadSanitizer, a thousand take a second
          if (type != Type::u32 || (under_thread_sanitizer && operation != Selection::find_repeats)) continue;
          all.resize(1);
        }
        for (const Settings& settings : all) {
          Case c{.type = type, .operation = operation, .n = 300007, .settings = settings};
          c.tuning.threads = threads;
          const auto problem = select_cases().make(c, {});
          for (const Rung* rung : cpu_rungs_of("select", c.type, c.operation)) {
            if (rung->peer || rung->name == "serial") continue;
            const auto wrong = mistake(*rung, c, *problem, {3, 1});
            ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
          }
        }
      }
}

// Outputs larger than the caches use non-temporal stores, also from several cores, which share lines at part
// boundaries.
TEST(SelectCpu, LargerThanTheCaches) {
  Case c{.type = Type::u8,
         .operation = Selection::select_if,
         .n = last_level_cache_bytes() / 2 + 12345,
         .settings = select_cases().settings(Type::u8, {{"share", "0.5"}})};
  ASSERT_EQ(stores_for(2 * c.n), Stores::around);
  const auto problem = select_cases().make(c, {});
  for (const char* name : {"two_pass", "single_pass", "parallel"})
    for (const unsigned threads : {1, 3}) {
      if (under_thread_sanitizer && threads == 1) continue;
      const Rung& rung = cpu_rung("select", name);
      c.tuning.threads = threads;
      const auto wrong = mistake(rung, c, *problem, {3, 1});
      ASSERT_FALSE(wrong) << describe(rung, c) << ": " << *wrong;
    }
}

// Two parts, where the second continues from the first one's result; with ordinary stores, and with non-temporal stores
// of a page at a time. Some cases fill several pages, some none.
TEST(SelectCpu, EveryInstructionSet) {
  const Rung& simd = cpu_rung("select", "simd");
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for_each_case({1, 63, 130, 1029, 13000}, [&](const Case& c, const Problem& problem) {
      const PartLoops loops = simd_loops(c.type, c.operation.as<Selection>());
      for (const Stores stores : {Stores::cached, Stores::around}) {
        const auto wrong = mistake(simd, c, problem, {c.n % 5, c.n % 3}, [&](const Call& call) {
          const std::size_t middle = c.n / 3;
          const Found left = loops.count(call, 0, middle), total = left + loops.count(call, middle, c.n);
          EXPECT_EQ(loops.select(call, 0, middle, {}, total.count, stores).count, left.count);
          finish(call, loops.select(call, middle, c.n, left, total.count, stores));
          return Status{};
        });
        ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << describe(simd, c) << ": " << *wrong;
      }
    });
    hwy::SetSupportedTargetsForTest(0);
  }
}

// Limits at and next to both ends of the type.
TEST(SelectCpu, LimitsAtTheEndsOfTheType) {
  for (const Type type : select_cases().types())
    visit(type, [&]<class T>(TypeTag<T>) {
      using L = std::numeric_limits<T>;
      std::vector<T> limits{L::lowest(), T(0), T(1), T(L::max() - T(1)), L::max()};
      if constexpr (std::is_floating_point_v<T>) limits.insert(limits.end(), {L::infinity(), L::quiet_NaN(), -T(0)});
      for (const T below : limits)
        for (const Operation operation : {Selection::select_if, Selection::partition_if}) {
          Case c{.type = type, .operation = operation, .n = 777};
          c.settings.set(*select_cases().parameter("below"), below);
          const auto problem = select_cases().make(c, {});
          for (const Rung* rung : cpu_rungs_of("select", c.type, c.operation)) {
            const auto wrong = mistake(*rung, c, *problem, {});
            ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
          }
        }
    });
}

// ---- positions beyond 32 bits ---------------------------------------------------------------------------------------

TEST(SelectPositions, AreAsWideAsTheyHaveToBe) {
  using namespace ladders::select;
  constexpr std::size_t largest = std::size_t{1} << 32;
  EXPECT_EQ(index_type({}, largest - 1), Type::u32);
  EXPECT_EQ(index_type({}, largest), Type::u64);  // one run of all elements has length 2^32
  for (const Type type : {Type::u32, Type::i32, Type::u64, Type::i64})
    EXPECT_EQ(index_type(type, largest / 2 - 1), type);
  EXPECT_EQ(index_type(Type::i32, largest / 2), Type::u32) << "a call with i32 is refused";
  EXPECT_EQ(index_type(Type::u32, largest), Type::u64) << "a call with u32 is refused";
  EXPECT_EQ(index_type(Type::i64, largest), Type::i64);
  std::uint32_t narrow[2] = {};
  std::uint64_t wide[2] = {};
  Positions{narrow, false}.put(1, largest - 1);
  Positions{wide, true}.put(1, largest + 5);
  EXPECT_EQ(narrow[1], 0xffffffffu);
  EXPECT_EQ(wide[1], largest + 5);
}

// A part of an array whose positions need 64 bits; the rest of the array is never read.
TEST(SelectPositions, OfPartsBeyond32Bits) {
  using namespace ladders::select;
  constexpr std::size_t far = (std::size_t{1} << 33) + 5, n = 3000;
  std::vector<std::int32_t> values(n), heads(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(i / 3 * 3 % 500);
  std::vector<std::uint64_t> positions(n + 1, 7);
  const auto* const front = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(values.data()) -
                                                                  far * sizeof(std::int32_t));
  std::uint64_t count = 0;
  const auto call_of = [&](Selection selection) {
    Call call{.operation = selection, .in = {input_array(Type::i32, far + n, front)}};
    call.out[1] = {Type::u64, 1, &count};
    call.out[traits(selection).positions ? 0 : 2] = {Type::u64, far + n, positions.data()};
    if (traits(selection).values) call.out[0] = {Type::i32, far + n, heads.data()};
    return call;
  };
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    const Call repeats = call_of(Selection::find_repeats);
    const PartLoops find = simd_loops(Type::i32, Selection::find_repeats);
    ASSERT_EQ(find.count(repeats, far, far + n).count, n / 3 * 2) << hwy::TargetName(target);
    EXPECT_EQ(find.select(repeats, far, far + n, {}, 0, Stores::cached).count, n / 3 * 2);
    for (std::size_t k = 0; k < n / 3 * 2; ++k) ASSERT_EQ(positions[k], far + k / 2 * 3 + k % 2) << k;
    EXPECT_EQ(positions[n / 3 * 2], 7u);

    const Call nonzeros = call_of(Selection::nonzero);
    const PartLoops find_nonzeros = simd_loops(Type::i32, Selection::nonzero);
    std::fill(positions.begin(), positions.end(), 7);
    const auto zeros = static_cast<std::size_t>(std::count(values.begin(), values.end(), 0));
    ASSERT_GT(zeros, 0u);
    ASSERT_EQ(find_nonzeros.count(nonzeros, far, far + n).count, n - zeros);
    EXPECT_EQ(find_nonzeros.select(nonzeros, far, far + n, {}, 0, Stores::cached).count, n - zeros);
    for (std::size_t i = 0, k = 0; i < n; ++i)
      if (values[i] != 0) {
        ASSERT_EQ(positions[k++], far + i) << i;
      }
    EXPECT_EQ(positions[n - zeros], 7u);

    // The part's first element begins a run and ends one that began at position 11.
    const Call runs = call_of(Selection::run_length_encode);
    const PartLoops encode = simd_loops(Type::i32, Selection::run_length_encode);
    std::fill(positions.begin(), positions.end(), 7);
    const Found all = encode.select(runs, far + 3, far + n, {1, 11}, 0, Stores::cached);
    EXPECT_EQ(all.count, n / 3);
    EXPECT_EQ(all.last, far + n - 3);
    finish(runs, all);
    EXPECT_EQ(count, n / 3);
    EXPECT_EQ(positions[0], far + 3 - 11);
    for (std::size_t k = 1; k < n / 3; ++k) ASSERT_EQ(positions[k], 3u) << k;
    EXPECT_EQ(positions[n / 3], 7u);
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- the oracle -----------------------------------------------------------------------------------------------------

// Returns the oracle's verdict on elements or positions, their count, and lengths, with poison past the end.
template <class T, class Out = T>
std::optional<std::string> verdict(Selection selection, const std::vector<T>& in, std::vector<Out> out,
                                   std::uint64_t count, std::vector<std::uint32_t> lengths = {},
                                   const std::vector<std::uint8_t>& flags = {}, T below = 0) {
  const auto pad = [&](auto& values) {
    const std::size_t used = values.size();
    values.resize(in.size());
    if (used < in.size())
      std::memset(values.data() + used, static_cast<int>(poison), (in.size() - used) * sizeof values[0]);
  };
  pad(out), pad(lengths);
  const Call call{
      .operation = selection,
      .in = {input_array(type_of<T>(), in.size(), in.data()), input_array(Type::u8, flags.size(), flags.data())},
      .out = {Array{type_of<Out>(), out.size(), out.data()}, Array{Type::u64, 1, &count},
              Array{Type::u32, lengths.size(), lengths.data()}},
      .scalars = {below}};
  return find_mistake(call, poison);
}

using Positions32 = std::vector<std::uint32_t>;

TEST(SelectOracle, RepeatsAreThePositionsOfTheFirstOfTwo) {
  const std::vector<int> in{7, 7, 7, 1, 2, 2};
  EXPECT_FALSE(verdict(Selection::find_repeats, in, Positions32{0, 1, 4}, 3));
  EXPECT_TRUE(verdict(Selection::find_repeats, in, Positions32{1, 2, 5}, 3)) << "the second of two";
  EXPECT_TRUE(verdict(Selection::find_repeats, in, Positions32{0, 4, 1}, 3)) << "wrong order";
  EXPECT_TRUE(verdict(Selection::find_repeats, in, Positions32{0, 1, 4}, 2)) << "wrong count";
  EXPECT_TRUE(verdict(Selection::find_repeats, in, Positions32{0, 1, 4, 5}, 3)) << "written past the end";
}

TEST(SelectOracle, NonzeroElementsAreGivenByPosition) {
  const std::vector<short> in{0, 5, -1, 0, 256};
  EXPECT_FALSE(verdict(Selection::nonzero, in, Positions32{1, 2, 4}, 3));
  EXPECT_FALSE(verdict(Selection::nonzero, in, std::vector<std::int64_t>{1, 2, 4}, 3));
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{0, 1, 3}, 3)) << "each one too small";
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{0, 3}, 2)) << "the zeros";
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{1, 2}, 2)) << "the low byte of 256 is 0";
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{1, 2, 4, 0}, 3)) << "written past the end";
}

TEST(SelectOracle, ElementsBelowTheLimit) {
  const std::vector<std::uint8_t> in{200, 3, 128, 127};
  const auto below = [&](Selection selection, std::vector<std::uint8_t> out, std::uint64_t count, std::uint8_t limit) {
    return verdict(selection, in, out, count, {}, {}, limit);
  };
  EXPECT_FALSE(below(Selection::select_if, {3, 127}, 2, 128));
  EXPECT_TRUE(below(Selection::select_if, {3, 128}, 2, 128));
  EXPECT_FALSE(below(Selection::select_if, {3}, 1, 4));
  EXPECT_FALSE(below(Selection::partition_if, {3, 127, 200, 128}, 2, 128));
  EXPECT_TRUE(below(Selection::partition_if, {3, 127, 128, 200}, 2, 128)) << "wrong order of the rest";
}

TEST(SelectOracle, FlaggedElements) {
  const std::vector<short> in{5, 6, 7};
  EXPECT_FALSE(verdict(Selection::select_flagged, in, std::vector<short>{5, 7}, 2, {}, {1, 0, 255}));
  EXPECT_TRUE(verdict(Selection::select_flagged, in, std::vector<short>{5, 6}, 2, {}, {1, 0, 255}));
}

TEST(SelectOracle, RunsAndTheirLengths) {
  const std::vector<std::int64_t> in{4, 4, 9, 4, 4, 4};
  EXPECT_FALSE(verdict(Selection::unique, in, std::vector<std::int64_t>{4, 9, 4}, 3));
  EXPECT_TRUE(verdict(Selection::unique, in, std::vector<std::int64_t>{4, 9}, 2));
  EXPECT_FALSE(verdict(Selection::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 3}));
  EXPECT_TRUE(verdict(Selection::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 2}));
  EXPECT_TRUE(verdict(Selection::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 3, 0}));
}

TEST(SelectOracle, ZerosAreEqualAndNotANumberIsNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{0.f, -0.f, nan, nan, -1.f};
  EXPECT_FALSE(verdict(Selection::find_repeats, in, Positions32{0}, 1));
  EXPECT_FALSE(verdict(Selection::nonzero, in, Positions32{2, 3, 4}, 3));
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{4}, 1)) << "NaN is not 0";
  EXPECT_TRUE(verdict(Selection::nonzero, in, Positions32{1, 2, 3, 4}, 4)) << "-0 is 0";
  EXPECT_FALSE(verdict(Selection::unique, in, std::vector<float>{0.f, nan, nan, -1.f}, 4));
  EXPECT_TRUE(verdict(Selection::unique, in, std::vector<float>{-0.f, nan, nan, -1.f}, 4)) << "not the first zero";
  EXPECT_FALSE(verdict(Selection::select_if, in, std::vector<float>{-1.f}, 1))
      << "-0 is not below 0, and neither is NaN";
  EXPECT_FALSE(verdict(Selection::partition_if, in, std::vector<float>{-1.f, 0.f, -0.f, nan, nan}, 1));
}

TEST(SelectOracle, NothingToSelectFrom) {
  for (const Operation operation : select_cases().operations()) {
    const auto selection = operation.as<Selection>();
    EXPECT_FALSE(verdict(selection, std::vector<int>{}, std::vector<int>{}, 0));
    EXPECT_TRUE(verdict(selection, std::vector<int>{}, std::vector<int>{}, 1));
  }
}

}  // namespace
}  // namespace upsweep
