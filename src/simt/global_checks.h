// Races on global memory.
//
// Within one launch, reports a read that is not ordered after the write (the emulator returns the value written; a GPU
// may not), and a plain write that is not ordered after a strong read. The rules are those of PTX's memory model, per
// thread. A fence releases everything ordered before it. A later strong write (atomic or volatile) publishes this
// release at its address. A strong read of that address, followed by a fence, acquires it. order.h has the rules within
// a cluster. Even without fences, strong accesses order later writes after earlier reads: see Relation.
//
// Between launches that may overlap (programmatic dependent launch), reports an access to memory that an earlier launch
// wrote, unless the access is ordered after a wait_for_previous().
//
// For every four bytes, only the last writer is recorded, and of each cluster at most two strong readers. Some races
// are therefore missed, but there are no false positives.
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

// State shared by the workers of a launch: the last writers, and the releases published at each address. A cluster is
// identified by its number in the grid, a thread by its number in the cluster.
class GlobalWrites {
 public:
  explicit GlobalWrites(const Arena& arena);
  GlobalWrites(const GlobalWrites&) = delete;
  GlobalWrites& operator=(const GlobalWrites&) = delete;
  ~GlobalWrites();

  // Launches with more clusters are not checked, because the size of the clocks is quadratic in the number of clusters.
  static constexpr std::size_t most_clusters = 4096;
  // `overlaps`: the launch may start while earlier launches run.
  void begin_launch(bool overlaps);
  // Forgets the writers of newly allocated memory. Not to be called for copies by the host: a copy waits for earlier
  // launches, and forgetting them would hide a race that the same launches have without the copy.
  void forget(const void* memory, std::size_t bytes);

  // The last writer of four bytes, in this launch or an earlier one. `watched`: `words` may have an entry for these
  // bytes.
  struct Cell {
    std::uint64_t launch : 12, cluster : 12, thread : 14, tick : 20, bytes : 4, strong : 1, watched : 1;
  };
  static constexpr Tick most_ticks = (1u << 20) - 1;  // later ticks are clamped to this
  std::atomic<std::uint64_t>& cell(std::uintptr_t address) { return cells_[(address - begin_) / 4]; }
  std::uint32_t launch() const { return launch_; }
  // Returns the last launch that is over when the current one starts; all launches before it are over too.
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
    std::vector<Access> readers;  // the first and the last of each cluster, up to a maximum
  };
  std::mutex mutex;  // guards `words` and the releases
  std::unordered_map<std::uintptr_t, Word> words;
  // Adds a release by a thread of the cluster, which covers the ticks of the cluster's threads that this thread knows.
  // Returns the number of the release.
  std::uint32_t release(std::uint32_t cluster, Relation relation, const HappensBefore& order, ThreadNumber thread);
  // True if release `number` of the cluster covers the thread's accesses up to `tick`.
  bool covers(std::uint32_t cluster, Relation relation, std::uint32_t number, ThreadNumber thread, Tick tick) const;

 private:
  // The releases of one cluster. steps[thread] lists the releases that raised the last covered tick of that thread.
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

// Returns the recorded writes to the session's memory.
GlobalWrites& global_writes();

// Checks the global-memory accesses of the cluster that a worker runs.
class GlobalMemoryChecker {
 public:
  GlobalMemoryChecker(Worker& worker, SharedMemoryChecker& shared) : worker_(worker), shared_(shared) {}
  void begin_launch(GlobalWrites& writes, std::size_t clusters);
  void begin_cluster(std::size_t cluster);

  void read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place);
  void fence();
  // Acquires what the thread's last strong read has seen. Called before every release by the thread to other threads of
  // its cluster.
  void settle_reads(ThreadNumber thread) {
    if (writes_ && threads_[thread].read) look_up(thread);
  }
  // Called when lanes of a warp have met in a collective that orders no memory. The reads of each lane are then
  // complete, so the other lanes are ordered after them in the relation `observed`.
  void exchanged(ThreadNumber first, std::uint32_t mask);

 private:
  struct Thread {
    std::uintptr_t read = 0;  // the address of its last strong read; what this acquires is looked up later, when the
                              // writer has certainly published it
    bool alone = false;       // has made a strong read since it last met its warp
    OtherClocks acquired;     // by its strong reads; takes effect at its next fence
    OtherClocks released;     // everything ordered before its last fence
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
