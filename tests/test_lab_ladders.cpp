// Every rung of every ladder on every available backend: rungs must be right, mutants must be caught. The depths are
// chosen so that each test takes seconds; `upsweep check` goes further.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lab/backends.h"
#include "lab/check.h"
#include "lab/default_rung.h"
#include "lab/stream.h"

namespace upsweep::lab {
namespace {

// Expects that mutants are caught and that all other rungs are right.
void check_rungs(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                 const std::vector<const Rung*>& rungs, const Depth& depth) {
  CheckOptions options;
  options.depth = depth;
  for (const RungCheck& result : check(platform, emulator, primitive, rungs, options)) {
    EXPECT_GT(result.runs, 0u) << primitive.name() << "/" << result.rung->name;
    if (result.rung->expected_wrong) {
      EXPECT_TRUE(result.passed()) << primitive.name() << "/" << result.rung->name
                                   << " is a deliberate bug that was not caught";
      continue;
    }
    for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
  }
}

// Checks the rungs of all primitives. Peers run one case per size, because only the calls of them are our code.
void check_all(Platform& platform, simt::Emulator* emulator, bool mutants, const Depth& depth, bool in_order = true) {
  Depth of_peers = depth;
  of_peers.every_combination_to = 0;
  of_peers.combinations = 1;
  for (const Primitive* primitive : primitives()) {
    std::vector<const Rung*> rungs, peers;
    for (const Rung* rung : rungs_and_peers(platform))
      if (rung->primitive == primitive->name() && (mutants || !rung->expected_wrong) && !(emulator && rung->gpu_only) &&
          (in_order || !rung->blocks_in_order))
        (rung->peer ? peers : rungs).push_back(rung);
    const Rung* const chosen = default_rung(platform, *primitive);
    if (chosen && !mutants && (in_order || !chosen->blocks_in_order)) rungs.push_back(chosen);
    check_rungs(platform, emulator, *primitive, rungs, depth);
    check_rungs(platform, emulator, *primitive, peers, of_peers);
  }
}

TEST(Ladders, Cpu) {
#if defined(UPSWEEP_SANITIZE_THREAD)  // 100 times slower; data sharing between threads does not depend on the values
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 0,
             .combinations = 1,
             .largest = 1'100'000,
             .own_shape_every = 4,
             .elements_of_size = 200'000});
#elif defined(UPSWEEP_SANITIZE_ADDRESS)  // 6 times slower
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 10,
             .combinations = 4,
             .largest = 1'100'000,
             .own_shape_every = 1,
             .elements_of_size = 200'000});
#else
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 20, .combinations = 4, .largest = 1'100'000, .own_shape_every = 1});
#endif
}

#if defined(UPSWEEP_WITH_CUDA)
TEST(Ladders, Cuda) {
  if (!cuda_platform()) GTEST_SKIP() << why_no_cuda();
  check_all(*cuda_platform(), nullptr, false,
            {.every_combination_to = 0, .combinations = 24, .largest = 5'000'000, .own_shape_every = 1});
}
#endif

#if defined(UPSWEEP_WITH_SIMT)
TEST(Ladders, Emulated) {
  check_all(open_plain(), &open_plain(), false,
            {.every_combination_to = 0, .combinations = 2, .largest = 17'000, .own_shape_every = 64});
}

// The users' configuration: the ladders' choices with their measured thresholds.
TEST(Ladders, EmulatedWithTheUsualThresholds) {
  for (const Primitive* primitive : primitives()) {
    const Rung* const chosen = default_rung(open_plain(), *primitive);
    if (!chosen) continue;
    const CheckOptions options{
        .depth = {.every_combination_to = 0, .combinations = 2, .largest = usual_sizes.back(), .own_shape_every = 4},
        .thresholds = Thresholds::usual,
        .sizes = usual_sizes_of(*primitive)};
    for (const RungCheck& result : check(open_plain(), &open_plain(), *primitive, {chosen}, options)) {
      EXPECT_GT(result.runs, 0u) << primitive->name();
      for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
    }
  }
}

// Dispatches blocks in reverse order, four at a time. Skips rungs that wait for lower-numbered blocks; the others draw
// block numbers from a counter, or wait for no block.
TEST(Ladders, EmulatedBlocksInAnyOrder) {
  open_plain().configure({.threads = 4, .reverse_blocks = true});
  check_all(open_plain(), &open_plain(), false,
            {.every_combination_to = 0, .combinations = 1, .largest = 17'000, .own_shape_every = 64},
            /*in_order=*/false);
  open_plain().configure({});
}

TEST(Ladders, TracedAndMutants) {
  EXPECT_TRUE(std::ranges::any_of(open_traced().rungs(), &Rung::expected_wrong))
      << "configure with -DUPSWEEP_MUTANTS=ON";
  check_all(open_traced(), &open_traced(), true,
            {.every_combination_to = 0, .combinations = 3, .largest = 5'000, .own_shape_every = 64});
}
#endif

// In a container with 256 MiB, chunks of 32 MiB would use most of the memory.
TEST(Streaming, ChunksAreSmallWhereMemoryIs) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  EXPECT_EQ(chunk_for(std::size_t{16} << 30), 32 * mib);
  EXPECT_EQ(chunk_for(1024 * mib), 32 * mib);
  EXPECT_EQ(chunk_for(200 * mib), 4 * mib);
  EXPECT_EQ(chunk_for(1), mib);
}

}  // namespace
}  // namespace upsweep::lab
