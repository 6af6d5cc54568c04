// Workspaces: frames of the arena, growth, out of memory, the caller's memory, and measuring.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"

namespace upsweep {
namespace {

// The CPU's platform with limited memory. Counts allocations.
class Pool : public Platform {
 public:
  explicit Pool(std::size_t bytes = std::size_t{1} << 30) : free_(bytes) {}
  std::size_t allocations = 0, held = 0;

  Backend backend() const override { return Backend::cpu; }
  Description describe() const override { return cpu_platform().describe(); }
  Rungs rungs_of(const Contract&) const override { return {}; }
  const Machine& machine() const override { return cpu_platform().machine(); }
  void* allocate(std::size_t bytes) override {
    if (bytes > free_) throw Error(Code::out_of_memory, "the pool is empty");
    ++allocations;
    free_ -= bytes, held += bytes;
    void* const memory = cpu_platform().allocate(bytes);
    blocks_.push_back({memory, bytes});
    return memory;
  }
  void release(void* memory) noexcept override {
    const auto block = std::find_if(blocks_.begin(), blocks_.end(), [=](const Block& b) { return b.memory == memory; });
    if (block == blocks_.end()) return;
    free_ += block->bytes, held -= block->bytes;
    blocks_.erase(block);
    cpu_platform().release(memory);
  }
  void copy_in(void* to, const void* from, std::size_t bytes, Stream) override { std::memcpy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::size_t bytes, Stream) override { std::memcpy(to, from, bytes); }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream) override { std::memset(memory, byte, bytes); }
  void synchronize(Stream) override {}

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  std::size_t free_;
  std::vector<Block> blocks_;
};

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 256 == 0; }

TEST(Workspace, FramesAreAStack) {
  Pool pool;
  Workspace workspace(pool);
  for (int call = 0; call < 3; ++call) {
    Scratch outer(workspace);
    auto* const a = outer.take<std::uint32_t>(100);
    std::fill_n(a, 100, 7u);
    const void* first = nullptr;
    for (int rung = 0; rung < 2; ++rung) {
      Scratch inner(workspace);
      auto* const b = inner.take<std::uint32_t>(1000);
      ASSERT_TRUE(inner);
      EXPECT_TRUE(b + 1000 <= a || b >= a + 100);
      std::fill_n(b, 1000, 8u);
      Scratch innermost(workspace);
      auto* const c = innermost.take<std::uint32_t>(1000);
      EXPECT_TRUE(c + 1000 <= b || c >= b + 1000);
      std::fill_n(c, 1000, 9u);
      EXPECT_EQ(std::count(b, b + 1000, 8u), 1000);
      if (rung == 0) first = b;
      if (call > 0) {
        EXPECT_EQ(b, first) << "what the first rung took is free again";
      }
    }
    EXPECT_EQ(std::count(a, a + 100, 7u), 100);
  }
}

TEST(Workspace, ArraysAreAlignedAndApart) {
  Pool pool;
  Workspace workspace(pool);
  for (int call = 0; call < 2; ++call) {
    Scratch scratch(workspace);
    std::set<const void*> all;
    for (const std::size_t bytes : {0, 1, 0, 255, 256, 257, 0, 3}) {
      const auto* const memory = scratch.take<char>(bytes);
      EXPECT_TRUE(is_aligned(memory)) << bytes;
      EXPECT_TRUE(all.insert(memory).second) << bytes;
    }
  }
}

TEST(Workspace, GrowsWithoutMovingWhatIsTaken) {
  Pool pool;
  Workspace workspace(pool);
  {
    Scratch outer(workspace);
    auto* const a = outer.take<char>(1000);
    std::fill_n(a, 1000, 'a');
    {
      Scratch inner(workspace);
      std::fill_n(inner.take<char>(100'000), 100'000, 'b');
    }
    Scratch inner(workspace);
    std::fill_n(inner.take<char>(50'000), 50'000, 'c');
    std::fill_n(inner.take<char>(70'000), 70'000, 'd');
    ASSERT_TRUE(inner);
    EXPECT_EQ(std::count(a, a + 1000, 'a'), 1000);
  }
  // The peak: 1000, 50,000 and 70,000 bytes, the first two padded.
  EXPECT_EQ(workspace.held(), 1024 + 50'176 + 70'000);
  EXPECT_EQ(pool.held, workspace.held());
  EXPECT_EQ(workspace.bytes().arena, workspace.held());
}

TEST(Workspace, AllocatesNothingInSteadyState) {
  Pool pool;
  Workspace workspace(pool);
  const auto call = [&] {
    workspace.counters(300);
    workspace.kept(70);
    Scratch outer(workspace);
    outer.take<std::uint64_t>(1000);
    for (const std::size_t n : {3000, 20, 5000}) {
      Scratch inner(workspace);
      inner.take<std::uint64_t>(n);
      inner.take<std::uint64_t>(n / 2);
      EXPECT_TRUE(inner);
    }
  };
  call();
  const std::size_t held = workspace.held(), allocations = pool.allocations;
  for (int k = 0; k < 3; ++k) call();
  EXPECT_EQ(workspace.held(), held);
  EXPECT_EQ(pool.allocations, allocations);
  EXPECT_EQ(pool.held, held);
}

// A sweep over 100 ascending sizes allocates about log(100) / log(1.5) times, in one chunk or in several.
TEST(Workspace, GrowsByHalfOrMore) {
  for (const int arrays : {1, 3}) {
    Pool pool;
    Workspace workspace(pool);
    for (std::size_t n = 1000; n <= 100'000; n += 1000) {
      Scratch scratch(workspace);
      for (int k = 0; k < arrays; ++k) scratch.take<char>(n);
      EXPECT_TRUE(scratch);
    }
    EXPECT_LE(pool.allocations, arrays == 1 ? 14u : 3u * 14u);
    EXPECT_LE(workspace.held(), static_cast<std::size_t>(arrays) * 150'000);
  }
}

TEST(Workspace, StaysWithinALimit) {
  Pool pool;
  Workspace workspace(pool);
  Scratch(workspace).take<char>(1000);
  Scratch(workspace, 1200).take<char>(1100);
  EXPECT_EQ(workspace.held(), 1200u);
  Scratch(workspace).take<char>(1300);
  EXPECT_EQ(workspace.held(), 1800u) << "the limit was that of one frame";
}

TEST(Workspace, SaysWhenMemoryIsLacking) {
  Pool pool(1'000'000);
  Workspace workspace(pool);
  {
    Scratch outer(workspace);
    auto* const a = outer.take<char>(600'000);
    std::fill_n(a, 600'000, 'a');
    {
      Scratch inner(workspace);
      EXPECT_TRUE(inner.take<char>(300'000));
      EXPECT_FALSE(inner.take<char>(300'000));
      EXPECT_FALSE(inner);
      EXPECT_TRUE(inner.take<char>(1)) << "smaller ones still have room";
      EXPECT_FALSE(inner) << "and a frame that lacks one is not whole";
    }
    EXPECT_TRUE(outer);
    EXPECT_EQ(std::count(a, a + 600'000, 'a'), 600'000);
  }
  EXPECT_EQ(pool.held, workspace.held());
  Scratch again(workspace);
  EXPECT_FALSE(again.take<char>(1'000'001));
  EXPECT_TRUE(again.take<char>(1'000'000)) << "memory that nobody uses makes way";
}

TEST(Workspace, SizesDoNotWrap) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  Pool pool;
  const auto refuses = [](Workspace& workspace) {
    Scratch scratch(workspace);
    EXPECT_TRUE(scratch.take<char>(100));
    EXPECT_TRUE(scratch);
    EXPECT_FALSE(scratch.take<std::uint64_t>(all / 8 + 1)) << "8 bytes, if the product wrapped";
    EXPECT_FALSE(scratch.take<char>(all));
    EXPECT_FALSE(scratch.take<char>(all - 100));
    EXPECT_FALSE(scratch);
  };
  Workspace workspace(pool), measuring = Workspace::measuring();
  refuses(workspace);
  refuses(measuring);
}

// Takes scratch of several kinds.
void take_some(Workspace& workspace, bool& complete) {
  complete = workspace.counters(77) && workspace.kept(33).words;
  Scratch outer(workspace);
  outer.take<char>(1001);
  {
    Scratch inner(workspace);
    inner.take<char>(5000);
    complete &= bool(inner);
  }
  outer.take<char>(3);
  complete &= bool(outer);
}

TEST(Workspace, MeasuresWhatAnotherTakes) {
  Workspace measuring = Workspace::measuring();
  bool complete = false;
  take_some(measuring, complete);
  EXPECT_TRUE(complete);
  const WorkspaceBytes bytes = measuring.bytes();
  EXPECT_EQ(bytes.counters, 77 * 4u);
  EXPECT_EQ(bytes.kept, 33 * 8u);
  EXPECT_EQ(bytes.arena, 1024u + 5000u);
  EXPECT_EQ(bytes.total(), 512u + 512u + 1024u + 5000u);
  Pool pool;
  Workspace workspace(pool);
  take_some(workspace, complete);
  EXPECT_TRUE(complete);
  EXPECT_EQ(workspace.held(), bytes.counters + bytes.kept + bytes.arena);
}

TEST(Workspace, NeedsNoMoreThanItMeasures) {
  Workspace measuring = Workspace::measuring();
  bool complete = false;
  take_some(measuring, complete);
  Pool pool;
  const WorkspaceBytes bytes = measuring.bytes();
  void* const memory = pool.allocate(bytes.total());
  pool.fill(memory, 0, bytes.total(), {});
  for (const bool less : {false, true}) {
    WorkspaceBytes given = bytes;
    given.arena -= less;
    Workspace workspace(pool, memory, given);
    take_some(workspace, complete);
    EXPECT_EQ(complete, !less);
    EXPECT_TRUE(workspace.counters_are_zero());
  }
  EXPECT_EQ(pool.allocations, 1u);
  pool.release(memory);
}

}  // namespace
}  // namespace upsweep
