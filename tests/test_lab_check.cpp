// The checker catches wrong rungs: each test contains one kind of mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/workspace.h"
#include "lab/check.h"
#include "lab/default_rung.h"

namespace upsweep::lab {
namespace {

using Element = std::int32_t;

Element right_sum(const Call& c) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < c.n(); ++i) total += static_cast<std::uint32_t>(c.in[0].as<const Element>()[i]);
  return static_cast<Element>(total);
}
Element& out(const Call& c) { return *c.out[0].as<Element>(); }

// Returns the checker's failures for an i32 sum whose function is `run`.
template <RunFn run>
std::vector<std::string> failures_of(std::vector<std::size_t> sizes = {}, bool expected_wrong = false) {
  const Rung rung{.primitive = "reduce",
                  .name = "under_test",
                  .backend = Backend::cpu,
                  .expected_wrong = expected_wrong,
                  .find = [](Type type, Operation op) { return type == Type::i32 && op == Op::sum ? run : nullptr; }};
  CheckOptions options;
  options.depth.largest = 2000;
  options.types = {Type::i32};
  options.operations = {Op::sum};
  options.inputs = {"uniform"};
  options.sizes = std::move(sizes);
  const auto results = check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options);
  EXPECT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].passed(), expected_wrong ? !results[0].failures.empty() : results[0].failures.empty());
  EXPECT_GT(results[0].runs, 0u);
  return results[0].failures;
}

bool any_says(const std::vector<std::string>& failures, const std::string& words) {
  return std::any_of(failures.begin(), failures.end(), [&](const auto& f) { return f.find(words) != f.npos; });
}

Status right(const Call& c) {
  out(c) = right_sum(c);
  return {};
}
TEST(Check, RightRungPasses) { EXPECT_TRUE(failures_of<right>().empty()); }

// Wrong only for inclusive scans.
Status wrong_when_inclusive(const Call& c) {
  const bool inclusive = c.scalars[0].as<bool>();
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < c.n(); ++i) {
    const auto x = static_cast<std::uint32_t>(c.in[0].as<const Element>()[i]);
    c.out[0].as<Element>()[i] = static_cast<Element>(total + inclusive);
    total += x;
  }
  return {};
}
TEST(Check, ScalarsOfTheContractAreVariedInEveryLaunchShape) {
  const Rung rung{.primitive = "scan", .name = "under_test", .find = [](Type type, Operation op) -> RunFn {
                    return type == Type::i32 && op == Op::sum ? wrong_when_inclusive : nullptr;
                  }};
  CheckOptions options;
  options.sizes = {10};
  const auto failures = check(cpu_platform(), nullptr, *find_primitive("scan"), {&rung}, options)[0].failures;
  ASSERT_FALSE(failures.empty());
  for (const std::string& failure : failures) EXPECT_NE(failure.find(" inclusive=true"), std::string::npos) << failure;
  EXPECT_TRUE(any_says(failures, "threads="));
}

Status unwritten(const Call&) { return {}; }
TEST(Check, UnwrittenOutput) {
  const auto failures = failures_of<unwritten>();
  // The checker stops after a few failures, so that output stays readable when everything is wrong.
  EXPECT_EQ(failures.size(), CheckOptions{}.most_failures);
  EXPECT_TRUE(failures.front().starts_with("reduce/under_test cpu i32 sum n=0 input=uniform")) << failures.front();
}

Status off_by_one(const Call& c) {
  Call shorter = c;
  if (c.n() > 0) --shorter.in[0].count;
  return right(shorter);
}
TEST(Check, DroppedLastElement) { EXPECT_FALSE(failures_of<off_by_one>().empty()); }

Status only_wrong_at_257(const Call& c) { return c.n() == 257 ? off_by_one(c) : right(c); }
TEST(Check, OneWrongSizeIsFound) {
  const auto failures = failures_of<only_wrong_at_257>();
  EXPECT_TRUE(any_says(failures, "n=257"));
  EXPECT_FALSE(any_says(failures, "n=256 "));
}

Status reads_too_far(const Call& c) {
  Call longer = c;
  ++longer.in[0].count;
  return right(longer);
}
TEST(Check, ReadPastTheEndMeetsPoison) { EXPECT_FALSE(failures_of<reads_too_far>().empty()); }

Status writes_too_far(const Call& c) {
  (&out(c))[1] = 7;
  return right(c);
}
TEST(Check, WritePastTheEnd) { EXPECT_TRUE(any_says(failures_of<writes_too_far>(), "past the end of out[0]")); }

Status writes_before(const Call& c) {
  (&out(c))[-1] = 7;
  return right(c);
}
TEST(Check, WriteBeforeTheBeginning) { EXPECT_TRUE(any_says(failures_of<writes_before>(), "before out[0]")); }

Status spoils_input(const Call& c) {
  const Status s = right(c);
  if (c.n() > 4) c.in[0].as<Element>()[4] ^= 1;
  return s;
}
TEST(Check, ChangedInput) { EXPECT_TRUE(any_says(failures_of<spoils_input>(), "changed in[0]")); }

Status needs_alignment(const Call& c) {
  return reinterpret_cast<std::uintptr_t>(c.in[0].data) % 16 && c.n() > 8 ? off_by_one(c) : right(c);
}
TEST(Check, MisalignedInput) {
  const auto failures = failures_of<needs_alignment>();
  EXPECT_TRUE(any_says(failures, "misaligned"));
}

Status only_some_thread_counts(const Call& c) { return c.tuning.threads == 3 ? off_by_one(c) : right(c); }
TEST(Check, LaunchShapesAreSwept) { EXPECT_TRUE(any_says(failures_of<only_some_thread_counts>(), "threads=3")); }

TEST(Check, AskedForParametersTakeThePlaceOfTheSweep) {
  const Primitive& scan = *find_primitive("scan");
  static std::set<std::pair<bool, unsigned>> seen;  // inclusive; number of threads
  const Rung rung{.primitive = "scan", .name = "under_test", .find = [](Type, Operation) -> RunFn {
                    return [](const Call& c) -> Status {
                      seen.emplace(c.scalars[0].as<bool>(), c.tuning.threads);
                      if (c.tuning.threads == 9) return {Code::unsupported, 0, "at most 8 threads"};
                      return {};
                    };
                  }};
  CheckOptions options{.types = {Type::i32}, .sizes = {0}, .settings = Settings{}, .tuning = {.threads = 7}};
  options.settings->set(*scan.parameter("inclusive"), true);
  EXPECT_GT(check(cpu_platform(), nullptr, scan, {&rung}, options)[0].runs, 0u);
  EXPECT_EQ(seen, (std::set<std::pair<bool, unsigned>>{{true, 7}}));
  options.tuning = {.threads = 9};
  EXPECT_EQ(check(cpu_platform(), nullptr, scan, {&rung}, options)[0].runs, 0u) << "no other shape in its place";
}

// Right on the first call and wrong on the next, like a kernel that does not reset its ticket.
Status leaves_state(const Call& c) {
  unsigned* ticket = c.workspace->counters(1);
  return (*ticket)++ ? off_by_one(c) : right(c);
}
TEST(Check, CountersLeftBehind) { EXPECT_TRUE(any_says(failures_of<leaves_state>(), "counters nonzero")); }

Status wrong_every_other_time(const Call& c) {
  static int calls = 0;
  return ++calls % 2 == 0 && c.n() > 0 ? off_by_one(c) : right(c);
}
TEST(Check, SecondCallDiffers) { EXPECT_TRUE(any_says(failures_of<wrong_every_other_time>({100}), "second call")); }

Status error(const Call&) { return {Code::device_error, 1, "out of luck"}; }
TEST(Check, ErrorIsAFailure) { EXPECT_TRUE(any_says(failures_of<error>(), "out of luck")); }

Status declines_shapes(const Call& c) {
  if (c.tuning != Tuning{}) return {Code::unsupported, 0, "one thread only"};
  return right(c);
}
TEST(Check, DecliningAShapeIsNoFailure) { EXPECT_TRUE(failures_of<declines_shapes>().empty()); }

Status declines_everything(const Call&) { return {Code::unsupported, 0, "never"}; }
// A rung may reject cases that it does not support, but not all of them; the default may reject none.
TEST(Check, DecliningEverythingDoesNotPass) {
  for (const std::string_view name : {std::string_view("picky"), default_name}) {
    const Rung rung{.primitive = "reduce", .name = name, .find = [](Type, Operation) { return &declines_everything; }};
    CheckOptions options;
    options.sizes = {100};
    const RungCheck result = check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options)[0];
    EXPECT_FALSE(result.passed());
    EXPECT_EQ(any_says(result.failures, "never"), name == default_name);
  }
}

TEST(Check, DeliberateBugPassesOnlyWhenCaught) {
  EXPECT_FALSE(failures_of<off_by_one>({}, true).empty());
  const Rung harmless{.primitive = "reduce", .name = "harmless", .expected_wrong = true};
  EXPECT_FALSE((RungCheck{.rung = &harmless}).passed());
}

TEST(Check, InputsThatATypeDoesNotHaveAreLeftOut) {
  const Rung rung{.primitive = "reduce", .name = "r", .find = [](Type type, Operation) {
                    return type == Type::i32 ? &right : nullptr;
                  }};
  CheckOptions options;
  options.sizes = {1, 33};
  options.inputs = {"nan"};
  EXPECT_EQ(check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options).at(0).runs, 0u);
}

// Like a kernel whose launch fails for a band of sizes, unless an earlier, larger call requested more shared memory.
bool larger_before = false;
Status refused_at_first(const Call& c) {
  larger_before |= c.n() > 6144;
  if (c.n() >= 5104 && !larger_before) return {Code::device_error, 0, "invalid argument"};
  return right(c);
}
TEST(Check, RandomSizesFindWhatALargerCallHides) {
  const Rung rung{.primitive = "reduce", .name = "r", .find = [](Type type, Operation op) {
                    return type == Type::i32 && op == Op::sum ? &refused_at_first : nullptr;
                  }};
  CheckOptions options{.types = {Type::i32}, .operations = {Op::sum}, .inputs = {"uniform"}};
  options.depth.largest = 1 << 17;
  const auto is_found = [&] {
    larger_before = false;
    const auto result = check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options).at(0);
    return any_says(result.failures, "invalid argument");
  };
  int found = 0;
  for (options.seed = 1; options.seed <= 20; ++options.seed) found += is_found();
  EXPECT_GE(found, 13) << "of 20: three in four, on average";
  options.depth.random_sizes = 0;
  EXPECT_FALSE(is_found()) << "no fixed size shows it";
}

// Wrong after a larger call. Only sizes in random order follow a larger one.
std::size_t largest_before = 0;
Status wrong_after_larger(const Call& c) {
  const bool smaller = c.n() > 0 && c.n() < largest_before;
  largest_before = std::max(largest_before, c.n());
  return smaller ? off_by_one(c) : right(c);
}
TEST(Check, SomeSizesComeInRandomOrder) {
  const Rung rung{.primitive = "reduce", .name = "r", .find = [](Type type, Operation op) {
                    return type == Type::i32 && op == Op::sum ? &wrong_after_larger : nullptr;
                  }};
  CheckOptions options{.types = {Type::i32}, .operations = {Op::sum}, .inputs = {"all_same"}};
  largest_before = 0;
  EXPECT_FALSE(check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options).at(0).failures.empty());
  options.depth.random_sizes = 0;
  largest_before = 0;
  EXPECT_TRUE(check(cpu_platform(), nullptr, *find_primitive("reduce"), {&rung}, options).at(0).failures.empty());
}

TEST(Check, RandomSizesAreOfEveryMagnitude) {
  const Primitive& reduce = *find_primitive("reduce");
  const auto sizes = random_sizes(reduce, full_depth, 7);
  EXPECT_EQ(sizes, random_sizes(reduce, full_depth, 7));
  EXPECT_NE(sizes, random_sizes(reduce, full_depth, 8));
  EXPECT_EQ(sizes.size(), full_depth.random_sizes);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_GE(sizes.front(), 1u);
  EXPECT_GT(sizes.back(), 100'000u);
  EXPECT_LT(random_sizes(reduce, traced_depth, 7).back(), traced_depth.largest);
}

TEST(Check, DrawnCasesAreOnesThatTheRungTakes) {
  const Primitive& scan = *find_primitive("scan");
  const Rungs all = cpu_platform().rungs_of(scan.contract);
  const std::vector<const Rung*> rungs(all.begin(), all.end());
  const auto cases = draw_cases(scan, rungs, {.seed = 3}, 50);
  EXPECT_GT(cases.size(), 35u);  // fewer than 50, because only sums have wider outputs
  std::set<const Rung*> drawn;
  for (const DrawnCase& one : cases) {
    EXPECT_TRUE(one.rung->find_for(one.c.type, one.c.operation, one.c.n)) << one.rung->name << " " << describe(one.c);
    drawn.insert(one.rung);
  }
  EXPECT_GT(drawn.size(), 2u);
  EXPECT_TRUE(draw_cases(scan, {}, {}, 5).empty());
}

TEST(Check, SizesCoverTheEdges) {
  const Primitive& reduce = *find_primitive("reduce");
  const auto sizes = check_sizes(reduce, full_depth);
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025})
    EXPECT_TRUE(std::binary_search(sizes.begin(), sizes.end(), n)) << n;
  EXPECT_GT(sizes.back(), 1'000'000u);
  EXPECT_LE(check_sizes(reduce, traced_depth).back(), traced_depth.largest);
}

}  // namespace
}  // namespace upsweep::lab
