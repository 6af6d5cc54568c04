// Scratch memory of rungs.
#pragma once
#include <cstddef>
#include <limits>
#include <vector>

namespace upsweep {

class Platform;
class Scratch;

// The bytes of a workspace, by area.
struct WorkspaceBytes {
  std::size_t counters = 0, kept = 0, arena = 0;
  // Returns the size of one buffer that holds the areas in this order, each aligned like an allocation.
  std::size_t total() const;
};

// Memory that grows and is then reused, so that steady-state calls never allocate; used by one stream at a time.
// Areas:
//   arena     a stack of frames (Scratch) with arbitrary contents
//   counters  zero at the start of every call; each kernel that uses them zeroes them again, which saves a memset per
//             call
//   kept      persistent: keeps its contents between calls
class Workspace {
 public:
  static constexpr std::size_t alignment = 256;  // bytes; of every array handed out, like an allocation

  // Allocates on demand.
  explicit Workspace(Platform& platform) : platform_(&platform) {}
  // Uses the caller's memory and never allocates. `memory`: [bytes.total()], aligned, with counters and kept words
  // zero.
  Workspace(Platform& platform, void* memory, const WorkspaceBytes& bytes);
  // Returns a workspace that hands out addresses with no memory behind them, for calls on a dry stream; its bytes()
  // then returns what the calls would take.
  static Workspace measuring() { return {}; }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Returns at least `count` counters, all zero, or null if allocation failed.
  unsigned* counters(std::size_t count) noexcept {
    return static_cast<unsigned*>(get(counters_, count * sizeof(unsigned)));
  }
  struct Kept {
    unsigned long long* words;
    std::size_t count;
  };
  // Returns at least `count` words, zero when first handed out; `words` is null if allocation failed. For
  // kernel/descriptors.h.
  Kept kept(std::size_t count) noexcept {
    void* const words = get(kept_, count * sizeof(unsigned long long));
    return {static_cast<unsigned long long*>(words), kept_.bytes / sizeof(unsigned long long)};
  }
  // Returns the bytes allocated now, in all areas. A call that is captured into a graph must not change this.
  std::size_t held() const;
  // Returns the peak use of each area so far.
  WorkspaceBytes bytes() const { return {counters_.asked, kept_.asked, peak_}; }
  // True if every counter is zero, as the contract requires. Synchronises; for checks.
  bool counters_are_zero();

 private:
  friend Scratch;
  enum class Source : unsigned char { platform, caller, none };
  struct Area {
    void* memory = nullptr;
    std::size_t bytes = 0, asked = 0;  // size, and the largest request so far
  };
  struct Chunk {
    std::byte* memory;
    std::size_t bytes;
    std::size_t used;  // bytes in use when a later chunk became the current one
  };
  struct Mark {
    std::size_t chunk, used;
  };

  Workspace();
  void* get(Area& area, std::size_t bytes) noexcept;
  void* take(std::size_t bytes) noexcept;
  void* take_from_new_chunk(std::size_t bytes) noexcept;
  bool add_chunk(std::size_t bytes) noexcept;
  void drop_chunk() noexcept;
  void use(std::size_t chunk, std::size_t used) noexcept;
  std::size_t used() const { return chunks_.empty() ? 0 : static_cast<std::size_t>(top_ - chunks_[current_].memory); }
  Mark open(std::size_t most) noexcept;
  void close(Mark mark) noexcept;
  void merge_chunks() noexcept;

  Platform* platform_ = nullptr;
  Source source_ = Source::platform;
  Area counters_, kept_;
  // The arena: one chunk in steady state, more while a call outgrows it, because the arrays of open frames must not
  // move.
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;                    // the chunk that frames take from
  std::byte *top_ = nullptr, *end_ = nullptr;  // the free part of that chunk
  std::size_t peak_ = 0;                       // maximum bytes in open frames so far
  std::size_t steady_bytes_ = 0;               // size of the single chunk when all frames were last closed
  std::size_t most_ = 0;                       // maximum bytes of all open frames together; 0: unlimited
  unsigned frames_ = 0;                        // open frames
};

// A frame of a workspace's arena. Its arrays are freed when it ends. Frames nest to any depth, so a rung that calls
// another keeps its arrays meanwhile. A frame may end while its kernels still run, because the kernels that reuse its
// memory run after them on the same stream; streams forked from the call's must have been joined by then.
class Scratch {
 public:
  // `most`: the size, in bytes, to which the frame may grow the arena; 0: unlimited.
  explicit Scratch(Workspace& workspace, std::size_t most = 0) noexcept
      : workspace_(workspace), mark_(workspace.open(most)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { workspace_.close(mark_); }

  // Returns n uninitialised elements, aligned; null if out of memory. Even empty arrays have distinct addresses.
  template <class T>
  T* take(std::size_t n) noexcept {
    constexpr std::size_t max = std::numeric_limits<std::size_t>::max() / sizeof(T);
    void* const memory = n <= max ? workspace_.take(n * sizeof(T)) : nullptr;
    complete_ &= memory != nullptr;
    return static_cast<T*>(memory);
  }
  // False if any take() failed; the launcher then returns out_of_memory.
  explicit operator bool() const { return complete_; }

 private:
  Workspace& workspace_;
  const Workspace::Mark mark_;
  bool complete_ = true;
};

}  // namespace upsweep
