// Shared-memory checks: races between barriers, and uninitialised reads. One cell per word records its last writer and
// two readers; clocks tell which accesses have been ordered since.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace upsweep::simt {

class Worker;
struct Lane;
struct Warp;

enum class Access : std::uint8_t { load, store, atomic };

class SharedMemoryChecker {
 public:
  explicit SharedMemoryChecker(Worker& worker) : worker_(worker) {}

  // Covers static and dynamic shared memory of every block of a cluster; `warps` per block.
  void begin_launch(unsigned blocks, std::size_t bytes_a_block, unsigned warps);
  void begin_cluster();

  // The running lane accesses `bytes` at `offset` of block `rank`'s shared memory.
  void access(unsigned rank, std::size_t offset, unsigned bytes, Access kind, std::uint32_t place);
  // A bulk copy, issued by the running lane, fills the range at some time before its mbarrier completes.
  void bulk_write(unsigned rank, std::size_t offset, std::size_t bytes, std::uint32_t place);

  // Ordering. A block barrier orders everything before it before everything after it, in that block.
  void barrier(unsigned rank);
  void lanes_met(const Warp& warp, std::uint32_t mask);
  // An arrival publishes what the running lane's warp has seen; `copied` adds the writes of bulk copies. A completed
  // wait acquires all that was published. Tracked per warp, not per lane: no false positives, at the price of false
  // negatives.
  void publish(std::uint64_t mbarrier, bool copied);
  void acquire(std::uint64_t mbarrier);

 private:
  using Clock = std::uint32_t;
  // rank * 1024 + index; the bulk-copy engine has a number of its own.
  using Thread = std::uint16_t;
  struct Stamp {
    Thread thread = 0;
    std::uint32_t epoch = 0;  // of the block; 0: no access yet
    Clock clock = 0;          // of the thread's warp
    std::uint32_t place = 0;
  };
  struct Cell {
    std::uint32_t generation = 0;  // the cluster for which the other fields are valid
    bool written = false, atomic = false, split = false;
    Stamp writer{}, reader{}, other_reader{};
  };
  struct WarpClock {
    Clock now = 1, all_met = 0;
    Clock met[32][32] = {};  // when lanes i and j last synchronised
  };

  void check(Cell& cell, Access kind, const Stamp& me, unsigned rank, std::size_t offset, Thread writer);
  bool conflicts(const Stamp& before, const Stamp& now) const;
  bool ordered(const Stamp& before, const Stamp& now) const;
  Stamp stamp(unsigned rank, std::uint32_t place) const;
  template <class F>
  void for_each_cell(unsigned rank, std::size_t offset, std::size_t bytes, F&& f);
  std::string describe(unsigned rank, std::size_t offset) const;
  void report_race(const char* what, const Stamp& before, const Stamp& now, unsigned rank, std::size_t offset);
  std::size_t warp_of(Thread thread) const;
  Clock& seen(std::size_t warp, std::size_t other) { return seen_[warp * (warps_ + 1) + other]; }

  Worker& worker_;
  std::size_t bytes_a_block_ = 0;
  std::size_t warps_ = 0;  // of the cluster; index warps_ is the bulk-copy engine
  unsigned warps_a_block_ = 0;
  std::uint32_t generation_ = 0;
  std::uint32_t next_epoch_ = 1;
  std::vector<std::uint32_t> epochs_;  // [rank]
  std::vector<Cell> words_;            // [rank][word]
  std::vector<Cell> bytes_;            // [rank][byte], for words that were accessed by the byte
  std::vector<WarpClock> clocks_;      // [warp]
  Clock engine_clock_ = 1;
  std::vector<Clock> seen_;  // [warp][other warp or engine]; empty until the first mbarrier
  std::unordered_map<std::uint64_t, std::vector<Clock>> published_;  // by mbarrier: [warp or engine]
};

}  // namespace upsweep::simt
