// Shared-memory checks: races, uninitialised reads, and accesses to a cluster peer that may not be running. A cell per
// word records the last writer and up to four readers since; order.h tells whether these accesses happened before the
// current one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "simt/order.h"

namespace upsweep::simt {

class Worker;
struct Lane;
struct Warp;

enum class Access : std::uint8_t { load, store, atomic };

class SharedMemoryChecker {
 public:
  explicit SharedMemoryChecker(Worker& worker) : worker_(worker) {}

  // Prepares for clusters of `blocks` blocks with `bytes_a_block` bytes of static and dynamic shared memory each.
  void begin_launch(unsigned blocks, std::size_t bytes_a_block, unsigned threads_a_block);
  void begin_cluster(std::uint32_t settled);  // see order.h

  // Checks an access by the running lane to `bytes` bytes at `offset` in the shared memory of block `rank`.
  void access(unsigned rank, std::size_t offset, unsigned bytes, Access kind, std::uint32_t place);
  // Checks a bulk copy issued by the running lane. The copy may write at any time before the mbarrier's open phase
  // ends.
  void bulk_write(unsigned rank, std::size_t offset, std::size_t bytes, std::uint64_t mbarrier, std::uint32_t place);

  // Called when the last thread of block `rank` has returned.
  void block_done(unsigned rank);

  // Orders the running lane's earlier writes before later bulk copies.
  void fence_before_bulk_copy();

  // Returns the running lane's number in `order`.
  ThreadNumber thread() const;
  ThreadNumber first_thread(const Warp& warp) const;

  HappensBefore order;

 private:
  struct Stamp {
    Tick tick = 0;  // 0: no access yet
    std::uint32_t place = 0;
    ThreadNumber thread = 0;
    bool atomic = false;
  };
  // Maximum number of readers per cell; further readers replace earlier ones. Of each warp, the first and the latest
  // reader are kept, because a faulty synchronisation most likely misses one of these.
  static constexpr unsigned most_readers = 4;
  struct Cell {
    std::uint32_t generation = 0;  // the cluster for which the other fields are valid
    bool written = false, split = false;
    std::uint8_t readers = 0;
    Stamp writer{}, reader[most_readers]{};  // atomics are readers, because other atomics are not ordered after them
  };

  void check_peer(unsigned rank, const Stamp& me);
  void check(Cell& cell, Access kind, const Stamp& me, const Stamp& writer, unsigned rank, std::size_t offset);
  void check_fenced(const Cell& cell, const Stamp& me, unsigned rank, std::size_t offset);
  void note_reader(Cell& cell, const Stamp& me) const;
  bool conflicts(const Stamp& before, const Stamp& now) const;
  Stamp stamp(std::uint32_t place, bool atomic = false) const;
  template <class F>
  void for_each_cell(unsigned rank, std::size_t offset, std::size_t bytes, F&& f);
  std::string describe(unsigned rank, std::size_t offset) const;
  void report_race(const char* what, const Stamp& before, const Stamp& now, unsigned rank, std::size_t offset);
  bool same_warp(ThreadNumber a, ThreadNumber b) const;

  Worker& worker_;
  std::size_t bytes_a_block_ = 0;
  unsigned threads_a_block_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<Tick> fenced_;     // [thread]: its writes up to this tick are ordered before later bulk copies
  std::vector<Stamp> to_peers_;  // [rank][thread]: the thread's last access to the block's memory
  std::vector<Cell> words_;      // [rank][word]
  std::vector<Cell> bytes_;      // [rank][byte], for words with accesses narrower than a word
};

}  // namespace upsweep::simt
