// Races on global memory.
//
// Between threads of one launch: a read that is not ordered after the write (on the emulator it sees the value; on a
// GPU it may not), and a plain write that is not ordered after a polled read. The rules are those of PTX's memory
// model, per thread. A fence releases everything ordered before it; a later atomic or volatile ("strong") write
// publishes that at its address; a strong read of the address, followed by a fence, acquires it. order.h has the rules
// within a cluster. Without fences, strong accesses still tell when something was read: see Relation.
//
// Between launches that may overlap (programmatic dependent launch): an access to memory that an earlier launch wrote,
// not ordered after a wait_for_previous().
//
// Only the last writer of every four bytes is recorded, and the readers of words that are read by strong accesses. Some
// races are therefore missed, but there are no false positives.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "simt/order.h"

namespace upsweep::simt {

class Arena;
class SharedMemoryChecker;
class Worker;

// State shared by the workers of a launch: the last writers, and what was published at each address. A cluster is
// identified by its number in the grid, a thread by its number in the cluster.
class GlobalWrites {
 public:
  explicit GlobalWrites(const Arena& arena);
  GlobalWrites(const GlobalWrites&) = delete;
  GlobalWrites& operator=(const GlobalWrites&) = delete;
  ~GlobalWrites();

  // Launches of more clusters are not checked, because the size of the clocks is quadratic in their number.
  static constexpr std::size_t most_clusters = 4096;
  // `overlaps`: the launch may start while earlier launches run.
  void begin_launch(bool overlaps);
  // Forgets the writers of memory that has been allocated anew. Not for copies by the host: a copy waits for earlier
  // launches, and would hide a race that the same launches have without it.
  void forget(const void* memory, std::size_t bytes);

  // The last writer of four bytes, in this launch or an earlier one. `watched`: `words` may have an entry for them.
  struct Cell {
    std::uint64_t launch : 12, cluster : 12, thread : 14, tick : 20, bytes : 4, strong : 1, watched : 1;
  };
  static constexpr Tick most_ticks = (1u << 20) - 1;  // later ticks are clamped to this
  std::atomic<std::uint64_t>& cell(std::uintptr_t address) { return cells_[(address - begin_) / 4]; }
  std::uint32_t launch() const { return launch_; }
  // Launches up to this one are over when the current one starts.
  std::uint32_t settled_at_start() const { return settled_; }

  struct Access {
    std::uint32_t cluster;
    ThreadNumber thread;
    Tick tick;
    std::uint32_t place;
  };
  // The state of a word that has strong accesses in this launch.
  struct Word {
    OtherClocks published[2];     // [relation]
    std::vector<Access> readers;  // the first and the last of each cluster, up to a limit
  };
  std::mutex mutex;  // for everything below
  std::unordered_map<std::uintptr_t, Word> words;
  // Adds a release of the cluster, which covers the cluster's ticks that the thread knows; returns its number.
  std::uint32_t release(std::uint32_t cluster, Relation relation, const HappensBefore& order, ThreadNumber thread);
  // True if the release of this number covers the access.
  bool covers(std::uint32_t cluster, Relation relation, std::uint32_t number, ThreadNumber thread, Tick tick) const;

 private:
  // For one cluster, the releases that first covered each thread's ticks.
  struct Releases {
    struct Step {
      std::uint32_t number;
      Tick tick;
    };
    std::uint32_t count = 0;
    std::uint64_t known_number = 0;        // HappensBefore::known_number() at the last release
    std::vector<std::vector<Step>> steps;  // [thread]
  };
  std::uintptr_t begin_;
  std::size_t bytes_;  // of the cells
  std::atomic<std::uint64_t>* cells_;
  std::uint32_t launch_ = 0, settled_ = 0;
  std::vector<Releases> releases_[2];  // [relation][cluster]
};

// The writes to the session's memory.
GlobalWrites& global_writes();

// Checks the accesses of the cluster that a worker runs.
class GlobalMemoryChecker {
 public:
  GlobalMemoryChecker(Worker& worker, SharedMemoryChecker& shared) : worker_(worker), shared_(shared) {}
  void begin_launch(GlobalWrites& writes, std::size_t clusters);
  void begin_cluster(std::size_t cluster);

  void read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void fence();
  // Called before every release by the thread to others of its cluster.
  void settle_reads(ThreadNumber thread) {
    if (writes_ && threads_[thread].read) look_up(thread);
  }
  // Called when lanes of a warp have met in a collective that orders no memory. Their reads are complete, so the other
  // lanes are ordered after these reads in the relation `observed`.
  void exchanged(ThreadNumber first, std::uint32_t mask);

 private:
  struct Thread {
    std::uintptr_t read = 0;  // the word of its last strong read; what that acquires is looked up later, when the value
                              // has certainly been published
    bool alone = false;       // has made a strong read since it last met its warp
    OtherClocks acquired;     // by strong reads, for the next fence
    OtherClocks released;     // what was ordered before its last fence
  };
  void look_up(ThreadNumber thread);
  bool overlaps(const GlobalWrites::Cell& cell) const;
  bool after(const GlobalWrites::Access& access, Relation relation, ThreadNumber thread) const;
  void note_reader(std::uintptr_t word, std::uint32_t place, ThreadNumber thread);
  void report(const char* what, std::uint32_t cluster, ThreadNumber thread, std::uint32_t place) const;

  Worker& worker_;
  SharedMemoryChecker& shared_;
  GlobalWrites* writes_ = nullptr;  // null: this launch is not checked
  std::uint32_t cluster_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace upsweep::simt
