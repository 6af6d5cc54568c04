// Cases that reach code which the sweep of Ladders.TracedAndMutants does not, on the traced emulator: long inputs for
// one block, parameters that matter to a few rungs, and every rung on a GPU without the newer instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threshold.h"
#include "lab/check.h"
#include "lab/primitive.h"
#include "simt/report.h"

namespace upsweep {
namespace {

using Texts = std::initializer_list<std::pair<std::string_view, std::string>>;

struct Path {
  const char* reaches;
  const char *primitive, *rung;
  Type type;
  std::size_t n;
  const char* input;
  Texts settings = {};
  Tuning shape = {};  // by default as in a check
  lab::Thresholds thresholds = lab::Thresholds::few;
};

void expect_right(const Path& path) {
  SCOPED_TRACE(path.reaches);
  simt::Emulator& emulator = traced_emulator();
  const Primitive& primitive = *find_primitive(path.primitive);
  const Rung* const rung = find_rung(emulator.rungs(), path.primitive, path.rung);
  ASSERT_TRUE(rung);
  const std::size_t operations = primitive.operations().size();
  lab::CheckOptions options{
      .depth = {.every_combination_to = 0, .combinations = operations, .largest = path.n, .own_shape_every = 64},
      .thresholds = path.thresholds,
      .types = {path.type},
      .inputs = {path.input},
      .sizes = {path.n}};
  options.settings = primitive.settings(path.type, path.settings);
  options.tuning = path.shape;
  for (const lab::RungCheck& result : lab::check(emulator, &emulator, primitive, {rung}, options)) {
    EXPECT_GT(result.runs, 0u);
    for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
  }
}

TEST(Paths, OneBlockForMuchInput) {
  expect_right({"a counter of 16 bits that is half full, and warps whose keys are all equal",
                "sort",
                "counting",
                Type::i16,
                40'000,
                "constant",
                {},
                {.grid = 1}});
  expect_right({"rounds of whole packs when digits are counted",
                "sort",
                "onesweep_8bit",
                Type::i32,
                50'000,
                "uniform",
                {},
                {.grid = 1}});
  expect_right({"several whole steps at once",
                "histogram",
                "aggregated",
                Type::f64,
                40'003,
                "uniform",
                {{"bins", "7"}, {"lower", "-0.25"}, {"upper", "0.3"}},
                {.grid = 1}});
  expect_right({"the same with more edges than numbers",
                "histogram",
                "aggregated",
                Type::f64,
                40'003,
                "uniform",
                {{"bins", "1024"}, {"lower", "1e15"}, {"upper", "1000000000000001"}},
                {.grid = 1}});
  expect_right({"whole packs of selected elements",
                "select",
                "pipeline",
                Type::i32,
                40'003,
                "uniform",
                {{"share", "1"}, {"run_length", "5000"}},
                {.grid = 1}});
}

// More totals than one poll of a warp reads, or than one tile of totals has.
TEST(Paths, ManyTiles) {
  expect_right({"several tiles per range", "segmented_scan", "pairs", Type::i32, 5'000, "uniform", {}, {.grid = 1}});
  expect_right({"up to 160 totals", "scan", "wave", Type::f32, 300'000, "uniform"});
  expect_right({"totals of totals", "scan", "reproducible", Type::f32, 1'100'000, "uniform", {}, {.grid = 4}});
  expect_right({"whole rounds of loads in every block", "ceiling", "read", Type::u32, 2'200'000, "uniform"});
  expect_right({"large tiles", "select", "vec16", Type::i32, 40'003, "uniform"});
}

// Arbitrary schedules hold up a block between its publications, so that other blocks wait for them.
TEST(Paths, TilesWaitForEachOther) {
  for (const std::uint64_t schedule : {1, 2}) {
    traced_emulator().configure({.threads = 4, .schedule = schedule});
    expect_right({"tiles and groups of tiles that are not counted yet",
                  "sort",
                  "lane_sweep",
                  Type::i32,
                  50'000,
                  "uniform",
                  {{"bits", "8"}},
                  {.block = 256},
                  lab::Thresholds::usual});
  }
  traced_emulator().configure({});
}

// Edges of a type other than the samples' are converted.
TEST(Paths, EdgesOfEveryType) {
  for (const char* const edges : {"i8", "u8", "i16", "u16", "u32", "i64", "u64", "f32", "f64"})
    expect_right(
        {edges, "histogram", "single_thread", Type::i32, 300, "uniform", {{"bins", "20"}, {"edge_type", edges}}});
}

TEST(Paths, EvenBinsOfFloats) {
  for (const char* const closed : {"false", "true"}) {
    expect_right({"exact edges",
                  "histogram",
                  "word_columns",
                  Type::f32,
                  1025,
                  "uniform",
                  {{"bins", "16"}, {"lower", "0"}, {"upper", "1"}, {"closed", closed}}});
    expect_right(
        {"more edges than numbers",
         "histogram",
         "word_columns",
         Type::f32,
         1025,
         "uniform",
         {{"bins", "1024"}, {"lower", "1000000"}, {"upper", "1000001"}, {"closed", closed}, {"on_edge", "0.5"}}});
  }
}

TEST(Paths, ListsOfCircles) {
  expect_right({"more circles than a list holds",
                "render",
                "tile_atomic",
                Type::f32,
                2'100,
                "everywhere",
                {{"width", "16"}, {"height", "16"}}});
  expect_right({"more entries than are sorted at once",
                "render",
                "binned",
                Type::f32,
                1'100,
                "everywhere",
                {{"width", "64"}, {"height", "64"}}});
  // A warp with a circle per lane lists the largest ones together.
  const Rung& binned = *find_rung(traced_emulator().rungs(), "render", "binned");
  Threshold& blocks = **std::ranges::find(binned.thresholds, "bin_blocks", [](auto* t) { return t->name(); });
  blocks.set(1);
  expect_right({"more bins than one lane lists",
                "render",
                "binned",
                Type::f32,
                200,
                "huge",
                {{"width", "2080"}, {"height", "1"}},
                {},
                lab::Thresholds::usual});
  blocks.reset();
}

// Alphas other than 1/2, which has a path of its own; images deep enough that each list is drawn from its end, and a
// shallow one.
TEST(Paths, DeepAndShallowImages) {
  expect_right({"shallow", "render", "bit_columns", Type::f32, 33, "opaque", {{"width", "33"}, {"height", "32"}}});
  for (const char* const rung : {"bit_columns", "list_ends"})
    for (const char* const eps : {"0", "0.0000152587890625"})
      expect_right(
          {eps, "render", rung, Type::f32, 300, "everywhere", {{"width", "33"}, {"height", "32"}, {"eps", eps}}});
  expect_right({"an end that begins in a block whose counts another thread scans",
                "render",
                "list_ends",
                Type::f32,
                1'600,
                "everywhere",
                {{"width", "33"}, {"height", "32"}},
                {},
                lab::Thresholds::usual});
  expect_right({"scratch memory for not even one bin",
                "render",
                "list_ends",
                Type::f32,
                40,
                "everywhere",
                {{"width", "40"}, {"height", "40"}, {"scratch_bytes", "1"}}});
}

// A T4 has no instruction for warp-wide reductions and no asynchronous copies.
TEST(Paths, EveryRungThatAnOldGpuRuns) {
  simt::Emulator& emulator = traced_emulator();
  emulator.emulate(emulated_machine("t4"));
  lab::CheckOptions options;
  options.depth = {.every_combination_to = 0, .combinations = 1, .largest = 5'000, .own_shape_every = 64};
  options.sizes = {33, 1025, 4099};
  for (const Primitive* const primitive : primitives()) {
    std::vector<const Rung*> rungs;
    for (const Rung* rung : emulator.rungs_of(primitive->contract))
      if (!rung->expected_wrong && !rung->gpu_only && emulator.machine().meets(rung->needs)) rungs.push_back(rung);
    for (const lab::RungCheck& result : lab::check(emulator, &emulator, *primitive, rungs, options))
      for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
  }
  emulator.emulate(emulated_machine("h200"));
}

}  // namespace
}  // namespace upsweep
