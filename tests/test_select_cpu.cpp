// The CPU rungs of select: every rung and peer against the oracle, for every operation, type, share and alignment, on
// any number of threads and with every instruction set; and the oracle against answers written by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/cache.h"
#include "base/primitive.h"
#include "cpu_rungs.h"
#include "select/contract.h"
#include "select/cpu_simd.h"
#include "select/oracle.h"

namespace upsweep {
namespace {

using ladders::select::Args, ladders::select::Contract, ladders::select::Found, ladders::select::PartLoops,
    ladders::select::find_mistake, ladders::select::finish_runs, ladders::select::limit_of,
    ladders::select::position_type, ladders::select::simd_loops, ladders::select::visit_operation;

const Primitive& select_cases() { return *find_primitive("select"); }

struct Layout {
  std::size_t in_offset = 0, out_offset = 0;  // elements past a cache line
  int threads = 0;                            // 0: not said
};

// What is wrong with the answer of run(Call), or nothing.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Layout& layout,
                                   auto&& run) {
  std::vector<std::unique_ptr<Framed>> arrays;
  const auto framed = [&](Type type, std::size_t count, std::size_t offset, const void* values) {
    arrays.push_back(std::make_unique<Framed>(count * size_of(type), offset * size_of(type), values));
    return arrays.back()->data();
  };
  Workspace workspace(cpu_platform());
  Call call{.type = c.type, .op = c.op, .n = c.n, .params = c.params, .workspace = &workspace};
  if (layout.threads) call.params.set("threads", layout.threads);
  std::vector<const void*> outputs;
  for (std::size_t k = 0; const Problem::Array& in : problem.inputs())
    call.in[k++] = framed(in.type, in.count, layout.in_offset, in.data);
  for (std::size_t k = 0; const OutputSpec& out : problem.outputs())
    outputs.push_back(call.out[k++] = framed(out.type, out.count, layout.out_offset, nullptr));
  if (!run(call)) return "failed";
  for (const auto& array : arrays)
    if (!array->frame_is_whole()) return "wrote outside its output";
  return problem.verify(rung, outputs);
}

// The same of a rung. One that does not take the case has nothing wrong.
std::optional<std::string> mistake(const Rung& rung, const Case& c, const Problem& problem, const Layout& layout) {
  const RunFn run = rung.find_for(c.type, c.op, c.n);
  return run ? mistake(rung, c, problem, layout, run) : std::nullopt;
}

std::string describe(const Rung& rung, const Case& c) {
  std::string text = std::string(rung.name) + ' ' + std::string(to_string(c.type)) + ' ' +
                     std::string(to_string(c.op)) + ' ' + c.input + " n " + std::to_string(c.n);
  for (const Params::Item& p : c.params) text += ' ' + std::string(p.name) + '=' + std::to_string(p.value);
  return text;
}

// Nothing, few, some, nearly all and all; runs of every length and longer than any block.
std::vector<Params> shares() {
  std::vector<Params> all(1);
  for (const auto& [share, run_length] :
       {std::pair{0.0, 1.0}, {1.0 / 100, 1.5}, {1.0 / 8, 3.0}, {0.5, 20.0}, {0.97, 700.0}, {1.0, 1e9}}) {
    all.emplace_back();
    all.back().set("share", share), all.back().set("run_length", run_length);
  }
  return all;
}

template <class F>
void for_each_case(const std::vector<std::size_t>& sizes, F&& f) {
  for (const Type type : select_cases().types())
    for (const Op op : select_cases().ops())
      for (const std::string& input :
           under_thread_sanitizer ? std::vector<std::string>{"uniform"} : select_cases().inputs(type))
        for (const Params& params : input == "uniform" ? shares() : std::vector<Params>(1))
          for (const std::size_t n : sizes) {
            const Case c{.type = type, .op = op, .n = n, .input = input, .seed = n + 1, .params = params};
            f(c, *select_cases().make(c, {}));
          }
}

// Rows of 64 elements, the vectors of 1 to 64 that they are made of, and pieces of rows at the end.
TEST(SelectCpu, EveryRungAgreesWithTheOracleAtAnyAlignment) {
  for_each_case({0, 1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 66, 127, 128, 129, 191, 255, 1023, 1025, 4097},
                [](const Case& c, const Problem& problem) {
                  for (const Rung* rung : cpu_rungs_of("select")) {
                    const auto wrong = mistake(*rung, c, problem, {c.n % 16, c.n % 7});
                    ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
                  }
                });
}

// Enough for every core and for several rounds of blocks.
TEST(SelectCpu, AllCoresAgreeWithTheOracle) {
  for (const Type type : {Type::u8, Type::u32, Type::f64})
    for (const Op op : select_cases().ops())
      for (const Params& params : shares()) {
        const Case c{.type = type, .op = op, .n = 300007, .params = params};
        const auto problem = select_cases().make(c, {});
        for (const Rung* rung : cpu_rungs_of("select"))
          for (const int threads : {1, 2, 3, 64, 3000}) {
            if (rung->peer || (rung->name == "serial" && threads > 1)) continue;
            const auto wrong = mistake(*rung, c, *problem, {3, 1, threads});
            ASSERT_FALSE(wrong) << describe(*rung, c) << " threads " << threads << ": " << *wrong;
          }
      }
}

// What no cache holds goes around them, from several cores, which write to the same lines where their parts meet.
TEST(SelectCpu, LargerThanTheCaches) {
  Params half;
  half.set("share", 0.5);
  const Case c{
      .type = Type::u8, .op = Op::select_if, .n = last_level_cache_bytes() / 2 + 12345, .seed = 1, .params = half};
  ASSERT_EQ(stores_for(2 * c.n), Stores::around);
  const auto problem = select_cases().make(c, {});
  for (const char* name : {"two_pass", "single_pass", "parallel"})
    for (const int threads : {1, 3}) {
      const Rung& rung = *find_rung(cpu_platform().rungs(), "select", name);
      const auto wrong = mistake(rung, c, *problem, {3, 1, threads});
      ASSERT_FALSE(wrong) << describe(rung, c) << " threads " << threads << ": " << *wrong;
    }
}

// In two parts, so that what one comes to is what the next begins with; with ordinary stores, and with such as go
// around the caches, a page at a time: some cases fill several, some none.
TEST(SelectCpu, EveryInstructionSet) {
  const Rung& simd = *find_rung(cpu_platform().rungs(), "select", "simd");
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    for_each_case({1, 63, 130, 1029, 13000}, [&](const Case& c, const Problem& problem) {
      const PartLoops loops = simd_loops(c.type, c.op);
      for (const Stores stores : {Stores::cached, Stores::around}) {
        const auto wrong = mistake(simd, c, problem, {c.n % 5, c.n % 3}, [&](const Call& call) {
          visit(c.type, [&]<class T>(TypeTag<T>) {
            visit_operation(c.op, [&]<class O>(O) {
              const Args<T, O> a = Contract::args<T, O>(call);
              const std::size_t middle = c.n / 3;
              const Found left = loops.count(&a, 0, middle), total = left + loops.count(&a, middle, c.n);
              const Found selected = loops.select(&a, 0, middle, {}, total.count, stores);
              const Found all = loops.select(&a, middle, c.n, left, total.count, stores);
              EXPECT_EQ(selected.count, left.count);
              if constexpr (O::op == Op::run_length_encode) finish_runs(a, all);
              *a.out.count = all.count;
            });
          });
          return Status{};
        });
        ASSERT_FALSE(wrong) << hwy::TargetName(target) << ' ' << describe(simd, c) << ": " << *wrong;
      }
    });
    hwy::SetSupportedTargetsForTest(0);
  }
}

// Limits beyond what the type holds, and between its values.
TEST(SelectCpu, LimitsOfEveryKind) {
  for (const Type type : select_cases().types())
    for (const double below : {-1e30, -1.0, 0.0, 0.5, 100.0, 127.0, 128.0, 1e30,
                               std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      for (const Op op : {Op::select_if, Op::partition_if}) {
        Case c{.type = type, .op = op, .n = 777};
        c.params.set("below", below);
        const auto problem = select_cases().make(c, {});
        for (const Rung* rung : cpu_rungs_of("select")) {
          const auto wrong = mistake(*rung, c, *problem, {});
          ASSERT_FALSE(wrong) << describe(*rung, c) << ": " << *wrong;
        }
      }
  Params params;
  params.set("below", 99.5);
  EXPECT_EQ(limit_of<std::int8_t>(params), 100);
  EXPECT_EQ(limit_of<float>(params), 99.5f);
  params.set("below", 300);
  EXPECT_EQ(limit_of<std::int8_t>(params), 127);
  EXPECT_EQ(limit_of<std::uint8_t>(params), 255);
  EXPECT_EQ(limit_of<std::int8_t>({}), 0);
  EXPECT_EQ(limit_of<std::uint8_t>({}), 128);
}

// ---- positions beyond 32 bits ---------------------------------------------------------------------------------------

TEST(SelectPositions, AreAsWideAsTheyHaveToBe) {
  using namespace ladders::select;
  constexpr std::size_t largest = std::size_t{1} << 32;
  EXPECT_EQ(position_type(largest - 1), Type::u32);
  EXPECT_EQ(position_type(largest), Type::u64);  // a run of all of them is 2^32 long
  std::uint32_t narrow[2] = {};
  std::uint64_t wide[2] = {};
  Positions{narrow, false}.put(1, largest - 1);
  Positions{wide, true}.put(1, largest + 5);
  EXPECT_EQ(narrow[1], 0xffffffffu);
  EXPECT_EQ(wide[1], largest + 5);
}

// A part of an array so large that its positions need 64 bits: the rest of it is never looked at.
TEST(SelectPositions, OfPartsBeyond32Bits) {
  using namespace ladders::select;
  constexpr std::size_t far = (std::size_t{1} << 33) + 5, n = 3000;
  std::vector<std::int32_t> values(n), heads(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(i / 3 * 3 % 500);
  std::vector<std::uint64_t> positions(n + 1, 7);
  const auto* const front = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(values.data()) -
                                                                  far * sizeof(std::int32_t));
  const Params none;
  for (const std::int64_t target : instruction_sets()) {
    hwy::SetSupportedTargetsForTest(target);
    const Args<std::int32_t, FindRepeats> repeats{
        {front, nullptr, far + n, {}}, {nullptr, {positions.data(), true}, nullptr}, none, nullptr, {}};
    const PartLoops find = simd_loops(Type::i32, Op::find_repeats);
    ASSERT_EQ(find.count(&repeats, far, far + n).count, n / 3 * 2) << hwy::TargetName(target);
    EXPECT_EQ(find.select(&repeats, far, far + n, {}, 0, Stores::cached).count, n / 3 * 2);
    for (std::size_t k = 0; k < n / 3 * 2; ++k) ASSERT_EQ(positions[k], far + k / 2 * 3 + k % 2) << k;
    EXPECT_EQ(positions[n / 3 * 2], 7u);

    // Its first element begins a run, which ends one that began at 11.
    const Args<std::int32_t, RunLengthEncode> runs{
        {front, nullptr, far + n, {}}, {heads.data(), {positions.data(), true}, nullptr}, none, nullptr, {}};
    const PartLoops encode = simd_loops(Type::i32, Op::run_length_encode);
    std::fill(positions.begin(), positions.end(), 7);
    const Found all = encode.select(&runs, far + 3, far + n, {1, 11}, 0, Stores::cached);
    EXPECT_EQ(all.count, n / 3);
    EXPECT_EQ(all.last, far + n - 3);
    finish_runs(runs, all);
    EXPECT_EQ(positions[0], far + 3 - 11);
    for (std::size_t k = 1; k < n / 3; ++k) ASSERT_EQ(positions[k], 3u) << k;
    EXPECT_EQ(positions[n / 3], 7u);
    hwy::SetSupportedTargetsForTest(0);
  }
}

// ---- the oracle -----------------------------------------------------------------------------------------------------

// What the oracle says of an answer: the elements or positions, how many, and lengths; nothing written behind.
template <class T, class Out = T>
std::optional<std::string> verdict(Op op, const std::vector<T>& in, std::vector<Out> out, std::uint64_t count,
                                   std::vector<std::uint32_t> lengths = {}, const std::vector<std::uint8_t>& flags = {},
                                   const Params& params = {}) {
  const auto pad = [&](auto& values) {
    const std::size_t used = values.size();
    values.resize(in.size());
    if (used < in.size())
      std::memset(values.data() + used, static_cast<int>(poison), (in.size() - used) * sizeof values[0]);
  };
  pad(out), pad(lengths);
  const void* outputs[] = {out.data(), &count, lengths.data()};
  return find_mistake({type_of<T>(), op, in.size(), in.data(), flags.data(), params}, outputs, poison);
}

using Positions32 = std::vector<std::uint32_t>;

TEST(SelectOracle, RepeatsAreThePositionsOfTheFirstOfTwo) {
  const std::vector<int> in{7, 7, 7, 1, 2, 2};
  EXPECT_FALSE(verdict(Op::find_repeats, in, Positions32{0, 1, 4}, 3));
  EXPECT_TRUE(verdict(Op::find_repeats, in, Positions32{1, 2, 5}, 3)) << "the second of two";
  EXPECT_TRUE(verdict(Op::find_repeats, in, Positions32{0, 4, 1}, 3)) << "another order";
  EXPECT_TRUE(verdict(Op::find_repeats, in, Positions32{0, 1, 4}, 2)) << "another count";
  EXPECT_TRUE(verdict(Op::find_repeats, in, Positions32{0, 1, 4, 5}, 3)) << "written behind";
}

TEST(SelectOracle, ElementsBelowTheLimit) {
  const std::vector<std::uint8_t> in{200, 3, 128, 127};
  EXPECT_FALSE(verdict(Op::select_if, in, std::vector<std::uint8_t>{3, 127}, 2));
  EXPECT_TRUE(verdict(Op::select_if, in, std::vector<std::uint8_t>{3, 128}, 2));
  Params params;
  params.set("below", 3.5);
  EXPECT_FALSE(verdict(Op::select_if, in, std::vector<std::uint8_t>{3}, 1, {}, {}, params));
  EXPECT_FALSE(verdict(Op::partition_if, in, std::vector<std::uint8_t>{3, 127, 200, 128}, 2));
  EXPECT_TRUE(verdict(Op::partition_if, in, std::vector<std::uint8_t>{3, 127, 128, 200}, 2)) << "the rest's order";
}

TEST(SelectOracle, FlaggedElements) {
  const std::vector<short> in{5, 6, 7};
  EXPECT_FALSE(verdict(Op::select_flagged, in, std::vector<short>{5, 7}, 2, {}, {1, 0, 255}));
  EXPECT_TRUE(verdict(Op::select_flagged, in, std::vector<short>{5, 6}, 2, {}, {1, 0, 255}));
}

TEST(SelectOracle, RunsAndTheirLengths) {
  const std::vector<std::int64_t> in{4, 4, 9, 4, 4, 4};
  EXPECT_FALSE(verdict(Op::unique, in, std::vector<std::int64_t>{4, 9, 4}, 3));
  EXPECT_TRUE(verdict(Op::unique, in, std::vector<std::int64_t>{4, 9}, 2));
  EXPECT_FALSE(verdict(Op::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 3}));
  EXPECT_TRUE(verdict(Op::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 2}));
  EXPECT_TRUE(verdict(Op::run_length_encode, in, std::vector<std::int64_t>{4, 9, 4}, 3, {2, 1, 3, 0}));
}

TEST(SelectOracle, ZerosAreEqualAndNotANumberIsNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{0.f, -0.f, nan, nan, -1.f};
  EXPECT_FALSE(verdict(Op::find_repeats, in, Positions32{0}, 1));
  EXPECT_FALSE(verdict(Op::unique, in, std::vector<float>{0.f, nan, nan, -1.f}, 4));
  EXPECT_TRUE(verdict(Op::unique, in, std::vector<float>{-0.f, nan, nan, -1.f}, 4)) << "the run's other zero";
  EXPECT_FALSE(verdict(Op::select_if, in, std::vector<float>{-1.f}, 1)) << "-0 is not below 0, and neither is NaN";
  EXPECT_FALSE(verdict(Op::partition_if, in, std::vector<float>{-1.f, 0.f, -0.f, nan, nan}, 1));
}

TEST(SelectOracle, NothingToSelectFrom) {
  for (const Op op : select_cases().ops()) {
    EXPECT_FALSE(verdict(op, std::vector<int>{}, std::vector<int>{}, 0));
    EXPECT_TRUE(verdict(op, std::vector<int>{}, std::vector<int>{}, 1));
  }
}

}  // namespace
}  // namespace upsweep
