// Launchers of every kernel rung: calls of any size on any GPU, calls with too little scratch memory, launches that
// fail, and launch shapes that a rung may refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/workspace.h"
#include "lab/check.h"
#include "lab/few_elements.h"
#include "lab/primitive.h"
#include "lab/stage.h"
#include "lab/sums.h"
#include "simt/report.h"

namespace upsweep {
namespace {

class Refusals : public testing::Test {
 protected:
  ~Refusals() override {
    for (const simt::Issue& issue : emulator_.take_report().issues) ADD_FAILURE() << issue.kind << ": " << issue.text;
    emulator_.emulate(emulated_machine("h200"));
  }

  // Calls f(rung, run) for every rung, each type of `narrowest` to `widest` bytes, each operation, and up to `max_sets`
  // parameter sets, with the case loaded on the stage.
  template <class F>
  void for_each_case(std::size_t elements, std::size_t narrowest, std::size_t widest, std::size_t max_sets, F&& f) {
    for (const Primitive* const primitive : primitives())
      for (const Type type : primitive->types()) {
        if (size_of(type) < narrowest || size_of(type) > widest) continue;
        for (const Settings& settings : sets(*primitive, type, max_sets))
          for (const Operation operation : primitive->operations()) {
            const Case c{.type = type,
                         .operation = operation,
                         .n = std::min(elements, primitive->largest_checked),
                         .input = primitive->inputs(type)[0],
                         .settings = settings};
            std::unique_ptr<Problem> problem;
            for (const Rung* const rung : emulator_.rungs_of(primitive->contract)) {
              const RunFn run = rung->find(type, operation);
              if (!run || rung->expected_wrong || rung->gpu_only || !takes_sum(*rung, c)) continue;
              if (!problem) {
                problem = make(*primitive, c);
                if (!problem) break;
                stage_.load(*primitive, *problem, c, {.guard_bytes = 0});
              }
              SCOPED_TRACE(std::string(rung->primitive) + "/" + std::string(rung->name) + " " + lab::describe(c));
              f(*rung, run);
            }
          }
      }
  }

  static constexpr std::size_t n = 1009;  // no other array of a case has this many elements
  // Returns a dry call of the loaded case, whose arrays of n elements claim to have `larger`.
  Call dry_call(std::size_t larger, Workspace& workspace) {
    Call call = stage_.call({});
    call.stream.dry = true;
    call.workspace = &workspace;
    for (auto* const arrays : {&call.in, &call.out})
      for (Array& array : *arrays)
        if (array.count == n) array.count = larger;
    return call;
  }

  simt::Emulator& emulator_ = traced_emulator();
  lab::Stage stage_{emulator_};

 private:
  // Returns the parameter sets of a check; for histogram, also more bins than fit in a block's, a cluster's or any
  // GPU's shared memory.
  static std::vector<Settings> sets(const Primitive& primitive, Type type, std::size_t max_sets) {
    std::vector<Settings> all = primitive.variants(primitive, type);
    if (primitive.name() == "histogram" && (type == Type::i32 || type == Type::u8))
      for (const char* const bins : {"30000", "300000", "1048576"})
        all.push_back(primitive.settings(type, {{"bins", bins}, {"channels", "2"}, {"counter", "u8"}}));
    all.resize(std::min(all.size(), max_sets));
    return all;
  }
  // Returns null if the case cannot exist for its type and operation.
  static std::unique_ptr<Problem> make(const Primitive& primitive, const Case& c) {
    try {
      return primitive.make(c, {});
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      return nullptr;
    }
  }
};

bool refused(const Status& status) { return status.code == Code::unsupported || status.code == Code::invalid_argument; }

// Dry calls, whose arrays of n elements claim to have more, because nothing reads them.
TEST_F(Refusals, CallsOfAnySizeOnAnyGpu) {
  for_each_case(n, 1, 8, ~std::size_t{0}, [&](const Rung& rung, RunFn run) {
    for (const Machine& machine : emulated_machines()) {
      emulator_.emulate(machine);
      for (const std::size_t larger : {n, n << 5, n << 10, n << 14, n << 20, n << 23}) {
        Workspace measured = Workspace::measuring();
        const Status status = run(dry_call(larger, measured));
        EXPECT_TRUE(status || refused(status))
            << machine.name << ' ' << rung.name << ' ' << larger << ": " << status.message;
      }
    }
    emulator_.emulate(emulated_machine("h200"));
  });
}

// Dry calls in which each area of the workspace in turn is too small.
TEST_F(Refusals, TooLittleScratch) {
  std::size_t short_calls = 0;
  const auto call_all = [&] {
    for_each_case(n, 1, 8, ~std::size_t{0}, [&](const Rung& rung, RunFn run) {
      for (const std::size_t larger : {n, n << 5}) {
        Workspace measured = Workspace::measuring();
        if (!run(dry_call(larger, measured))) continue;
        const WorkspaceBytes needed = measured.bytes();
        for (std::size_t WorkspaceBytes::*const area :
             {&WorkspaceBytes::counters, &WorkspaceBytes::kept, &WorkspaceBytes::arena})
          for (const std::size_t bytes : {std::size_t{0}, needed.*area / 2, needed.*area - 1}) {
            if (needed.*area == 0) continue;
            WorkspaceBytes less = needed;
            less.*area = bytes;
            std::byte* const memory = static_cast<std::byte*>(emulator_.allocate(less.total() + 1));
            Workspace workspace(emulator_, memory, less);
            const Status without = run(dry_call(larger, workspace));
            short_calls += without.code == Code::out_of_memory;
            // A rung whose scratch has no fixed size may manage with less.
            EXPECT_TRUE(without || without.code == Code::out_of_memory) << rung.name << ": " << without.message;
            emulator_.release(memory);
          }
      }
    });
  };
  call_all();
  const lab::FewElements few(emulator_);
  call_all();
  EXPECT_GT(short_calls, 1000u);
}

// A launcher that starts several kernels stops at the first that fails, and reports the failure.
TEST_F(Refusals, FailedLaunches) {
  const lab::FewElements few(emulator_);
  std::size_t failed = 0;
  for_each_case(100, 4, 4, 4, [&](const Rung& rung, RunFn run) {
    if (rung.largest_emulated && rung.largest_emulated < 100) return;
    // Sorts launch the same kernels for each digit: the first of them suffice.
    for (unsigned launch = 1; launch <= 8; ++launch) {
      emulator_.configure({.refused_launch = launch});
      const Status status = stage_.run(run, {.grid = 2});
      emulator_.configure({});
      if (status.code != Code::device_error) break;
      ++failed;
      stage_.renew_workspace();  // its counters may be nonzero
    }
  });
  EXPECT_GT(failed, 1000u);
}

// Blocks of partial warps, blocks with more threads than any GPU allows, and more streams than any rung uses: a rung
// refuses the shape or is right.
TEST_F(Refusals, ShapesOfBlocks) {
  for_each_case(257, 1, 8, 1, [&](const Rung& rung, RunFn run) {
    for (const Tuning& shape :
         {Tuning{.block = 48, .grid = 2}, Tuning{.block = 2048, .grid = 2}, Tuning{.streams = 100}}) {
      SCOPED_TRACE(shape.block.peek());
      const Status status = stage_.run(run, shape);
      if (refused(status)) {
        EXPECT_TRUE(stage_.call({}).workspace->counters_are_zero());
        continue;
      }
      EXPECT_TRUE(status) << status.message;
      EXPECT_EQ(stage_.verify(rung), std::nullopt);
    }
  });
}

}  // namespace
}  // namespace upsweep
