// Races on global memory.
//
// Between threads of one launch: a read that does not come after the write (on the emulator it sees it; on a GPU it may
// not), and a write that does not come after a polled read or another write. The rules are those of PTX's memory model,
// by thread. A fence releases what its thread comes after; an atomic or volatile ("strong") write after it publishes
// that at its address; a strong read of the address, and a fence after it, acquire it. In a cluster, order.h has the
// rest. Without fences, strong accesses still tell when something was read: see Relation.
//
// Between launches that may overlap (programmatic dependent launch): a thread touches what an earlier launch wrote, and
// does not come after a wait_for_previous().
//
// Only the last writer of every four bytes is known, and the readers of those that are read by strong accesses: no
// false positives, at the price of false negatives.
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

// Shared by the workers of a launch: the last writers, and what was published where. A cluster is known by its number
// in the grid, a thread by its number in the cluster.
class GlobalWrites {
 public:
  explicit GlobalWrites(const Arena& arena);
  GlobalWrites(const GlobalWrites&) = delete;
  GlobalWrites& operator=(const GlobalWrites&) = delete;
  ~GlobalWrites();

  // Launches of more clusters are not checked: clocks grow with the square of their number.
  static constexpr std::size_t most_clusters = 4096;
  // `overlaps`: the launch may start while the ones before it run.
  void begin_launch(bool overlaps);
  // Forgets who wrote here: the memory is for something else now. Not for copies by the host: one would wait for the
  // launches before it, but the same launches may well follow each other without.
  void forget(const void* memory, std::size_t bytes);

  // The last writer of four bytes, in this launch or an earlier one. `watched`: words_ may hold them.
  struct Cell {
    std::uint64_t launch : 12, cluster : 12, thread : 14, tick : 20, bytes : 4, strong : 1, watched : 1;
  };
  static constexpr Tick most_ticks = (1u << 20) - 1;  // later ones count as this one
  std::atomic<std::uint64_t>& cell(std::uintptr_t address) { return cells_[(address - begin_) / 4]; }
  std::uint32_t launch() const { return launch_; }
  // The launches up to this one are over when the running one starts.
  std::uint32_t settled_at_start() const { return settled_; }

  struct Access {
    std::uint32_t cluster;
    ThreadNumber thread;
    Tick tick;
    std::uint32_t place;
  };
  // The state of a word that is accessed by strong accesses in this launch.
  struct Word {
    OtherClocks published[2];     // [relation]
    std::vector<Access> readers;  // per cluster the first and the last, while there is room
  };
  std::mutex mutex;  // for everything below
  std::unordered_map<std::uintptr_t, Word> words;
  // Adds a release of the cluster, which covers what the thread knows of it; returns its number.
  std::uint32_t release(std::uint32_t cluster, Relation relation, const HappensBefore& order, ThreadNumber thread);
  // True if the release of this number covers the access.
  bool covers(std::uint32_t cluster, Relation relation, std::uint32_t number, ThreadNumber thread, Tick tick) const;

 private:
  // The times at which ticks of a thread were first covered, for one cluster.
  struct Releases {
    struct Step {
      std::uint32_t number;
      Tick tick;
    };
    std::uint32_t count = 0;
    std::uint64_t known_number = 0;        // of the last release's knowledge
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

// The accesses of the cluster that a worker runs.
class GlobalMemoryChecker {
 public:
  GlobalMemoryChecker(Worker& worker, SharedMemoryChecker& shared) : worker_(worker), shared_(shared) {}
  void begin_launch(GlobalWrites& writes, std::size_t clusters);
  void begin_cluster(std::size_t cluster);

  void read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void fence();
  // Must precede every release of the thread to others of its cluster.
  void settle_reads(ThreadNumber thread) {
    if (writes_ && threads_[thread].read) look_up(thread);
  }
  // The lanes of a warp have met in a collective that orders no memory. What they have read, they have: in the relation
  // of what was observed, the other lanes come after it.
  void exchanged(ThreadNumber first, std::uint32_t mask);

 private:
  struct Thread {
    std::uintptr_t read = 0;  // the word of its last strong read. What that acquires is looked up later: by then the
                              // value that was read has been published.
    bool alone = false;       // has made a strong read since it last met its warp
    OtherClocks acquired;     // by strong reads, for the next fence
    OtherClocks released;     // what it came after at its last fence
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
