// Every rung of every ladder on every backend that is there: right where it claims to be, caught where it is wrong on
// purpose. The depths are chosen so that each test takes seconds; `upsweep check` goes further.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lab/backends.h"
#include "lab/check.h"

namespace upsweep::lab {
namespace {

// Checks the rungs of all primitives, and expects the verdict that each should have.
void check_all(Platform& platform, simt::Emulator* emulator, bool mutants, const Depth& depth,
               const std::set<std::string>& without = {}) {
  for (const Primitive* primitive : primitives()) {
    std::vector<const Rung*> rungs;
    for (const Rung* rung : rungs_and_peers(platform))
      if (rung->primitive == primitive->name() && (mutants || !rung->expected_wrong) && !(emulator && rung->gpu_only) &&
          !without.contains(std::string(rung->primitive) + '/' + std::string(rung->name)))
        rungs.push_back(rung);
    CheckOptions options;
    options.depth = depth;
    for (const RungCheck& result : check(platform, emulator, *primitive, rungs, options)) {
      EXPECT_GT(result.runs, 0u) << primitive->name() << "/" << result.rung->name;
      if (result.rung->expected_wrong) {
        EXPECT_TRUE(result.passed()) << primitive->name() << "/" << result.rung->name
                                     << " is wrong on purpose and was not caught";
        continue;
      }
      for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
    }
  }
}

TEST(Ladders, Cpu) {
#if defined(__SANITIZE_THREAD__)  // a hundred times as slow; which threads meet where does not depend on the values
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 0, .combinations = 6, .largest = 1'100'000, .own_shape_every = 4});
#elif defined(__SANITIZE_ADDRESS__)  // six times as slow
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 40, .combinations = 8, .largest = 1'100'000, .own_shape_every = 1});
#else
  check_all(cpu_platform(), nullptr, false,
            {.every_combination_to = 300, .combinations = 24, .largest = 1'100'000, .own_shape_every = 1});
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
            {.every_combination_to = 0, .combinations = 6, .largest = 17'000, .own_shape_every = 64});
}

// Blocks dispatched last first, one at a time or four. Hardware dispatches them in order, and some rungs lean on that:
// a block of theirs waits for those of lower numbers. All others draw their numbers, or wait for nobody.
TEST(Ladders, EmulatedBlocksInAnyOrder) {
  const std::set<std::string> lean{"ceiling/read",   "reduce/mailbox", "reduce/bulk_copy", "reduce/shares",
                                   "reduce/overlap", "scan/wave",      "scan/pipeline"};  // the last: where it is wave
  for (const int threads : {1, 4}) {
    open_plain().configure({.threads = threads, .reverse_blocks = true});
    check_all(open_plain(), &open_plain(), false,
              {.every_combination_to = 0, .combinations = 2, .largest = 70'000, .own_shape_every = 8}, lean);
  }
  open_plain().configure({});
}

TEST(Ladders, TracedAndMutants) {
  check_all(open_traced(), &open_traced(), true,
            {.every_combination_to = 0, .combinations = 3, .largest = 5'000, .own_shape_every = 64});
}
#endif

}  // namespace
}  // namespace upsweep::lab
