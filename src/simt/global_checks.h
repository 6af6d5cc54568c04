// Races on global memory between the blocks of a launch: one block writes, another reads, and nothing in between
// guarantees that the reader sees the write. On the emulator it always does; on a GPU it may not. And between launches
// that may overlap (programmatic dependent launch): a thread touches what the previous launch wrote, and has not come
// after a wait_for_previous().
//
// The rules are those of PTX's memory model, at block granularity. A fence releases what the block has written and what
// it knows of other blocks; an atomic or volatile ("strong") write after it publishes that at its address; a strong
// read of the address, and a fence after it, acquire it. Nothing else orders anything. Tracked per block, not per
// thread, and only for the last writer of every four bytes: no false positives, at the price of false negatives.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace upsweep::simt {

class Arena;
class SharedMemoryChecker;
class Worker;

// The writes that a block has released so far, by block: up to and including this number of its fences.
using FenceClocks = std::vector<std::uint32_t>;

// Shared by the workers of a launch: the last writers, and what was published where.
class GlobalWrites {
 public:
  explicit GlobalWrites(const Arena& arena);
  GlobalWrites(const GlobalWrites&) = delete;
  GlobalWrites& operator=(const GlobalWrites&) = delete;
  ~GlobalWrites();

  // Launches of more blocks (or clusters, if used) are not checked: clocks grow with the square of their number.
  static constexpr std::size_t most_blocks = 4096;
  // `overlaps`: the launch may start while the ones before it run.
  void begin_launch(bool overlaps);
  // Forgets who wrote here: the host has, or has got the memory for something else. A copy by the host would also wait
  // for the launches before it; that is not modelled, because the same launches may well follow each other without.
  void forget(const void* memory, std::size_t bytes);

  // The last writer of four bytes, in this launch or an earlier one.
  struct Cell {
    std::uint64_t launch : 24, block : 12, clock : 23, bytes : 4, strong : 1;
  };
  std::atomic<std::uint64_t>& cell(std::uintptr_t address) { return cells_[(address - begin_) / 4]; }
  std::uint32_t launch() const { return launch_; }
  // The launches up to this one are over when the running one starts.
  std::uint32_t settled_at_start() const { return settled_; }

  void publish(std::uintptr_t address, const FenceClocks& released);
  void acquire(const std::unordered_set<std::uintptr_t>& addresses, FenceClocks& known);

 private:
  std::uintptr_t begin_;
  std::size_t bytes_;  // of the cells
  std::atomic<std::uint64_t>* cells_;
  std::uint32_t launch_ = 0, settled_ = 0;
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, FenceClocks> published_;  // by address
};

// Of the session's memory.
GlobalWrites& global_writes();

// The writes and the knowledge of the block that a worker runs.
class GlobalMemoryChecker {
 public:
  GlobalMemoryChecker(Worker& worker, const SharedMemoryChecker& shared) : worker_(worker), shared_(shared) {}
  void begin_launch(GlobalWrites& writes, std::size_t blocks);
  void begin_block(std::size_t block);

  void read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void fence();

 private:
  bool overlaps(const GlobalWrites::Cell& cell) const;

  Worker& worker_;
  const SharedMemoryChecker& shared_;  // knows what the running thread comes after
  GlobalWrites* writes_ = nullptr;     // null: this launch is not checked
  std::size_t block_ = 0;
  std::uint32_t clock_ = 1;                          // of this block: its fences so far, plus one
  FenceClocks known_;                                // [block], acquired so far; empty before the first fence
  FenceClocks released_;                             // known_ as of the last fence; empty before the first
  std::unordered_set<std::uintptr_t> strong_reads_;  // since the last fence
};

}  // namespace upsweep::simt
