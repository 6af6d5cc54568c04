// Happens-before among the threads of one cluster, by vector clocks.
//
// Ordering comes from __syncwarp(), from barriers of a block or a cluster, and from mbarriers, where an arrival
// releases and a completed wait acquires. Shuffles and votes exchange values and order no memory. The bulk copies that
// complete on an mbarrier count as a separate thread, which writes at any time between a copy's issue and the end of
// its phase: only threads that have waited for the phase are ordered after the copies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace upsweep::simt {

// A thread's logical time: the number of its releases so far, plus one.
using Tick = std::uint32_t;
// A thread's number in its cluster: block rank * threads per block + index in the block. The bulk copies of mbarriers
// have the numbers after the last thread's.
using ThreadNumber = std::uint16_t;

// [cluster]: the number of the cluster's latest release that is known. OtherClocks are shared and immutable; null: no
// release is known.
using Clocks = std::vector<std::uint32_t>;
using OtherClocks = std::shared_ptr<const Clocks>;
void join(OtherClocks& into, const Clocks& from);

// The two relations in which a thread can be ordered after another cluster's accesses. `fenced` is the memory model's
// happens-before, the only relation in which a read is sure to see a write. `observed` needs no fences: a thread that
// has seen a value by a relaxed access is ordered after everything that the value's writer had seen, because it can no
// longer change what was read before the value was stored.
enum Relation : unsigned { fenced, observed };

class HappensBefore {
 public:
  HappensBefore() = default;
  HappensBefore(const HappensBefore&) = delete;
  HappensBefore& operator=(const HappensBefore&) = delete;
  ~HappensBefore() { forget(); }

  void begin_launch(unsigned blocks, unsigned threads_a_block);
  // Starts a cluster, all of whose threads are ordered after the launches up to `settled`.
  void begin_cluster(std::uint32_t settled);

  Tick now(ThreadNumber thread) const { return now_[thread]; }
  // True if what `other` did at `tick` happened before what `thread` does next.
  bool knows(ThreadNumber thread, ThreadNumber other, Tick tick) const { return view_[thread]->known[other] >= tick; }
  // Returns the last launch that the thread knows to be over; settle() raises this number.
  std::uint32_t settled(ThreadNumber thread) const { return view_[thread]->settled; }
  void settle(ThreadNumber thread, std::uint32_t launch);
  bool is_copy(ThreadNumber thread) const { return thread >= threads_; }

  // ---- other clusters: the numbers of their releases that a thread comes after, see global_checks.h ----
  const OtherClocks& others(ThreadNumber thread, Relation relation) const { return view_[thread]->others[relation]; }
  void learn(ThreadNumber thread, Relation relation, const Clocks& clocks) { learn(thread, 1, relation, clocks); }
  // As above, for the lanes of `mask`; `first` is the first thread of their warp.
  void learn(ThreadNumber first, std::uint32_t mask, Relation relation, const Clocks& clocks);
  // All ticks that a thread knows, and an identifier: equal identifiers mean equal ticks.
  std::span<const Tick> known(ThreadNumber thread) const { return {view_[thread]->known.get(), threads_}; }
  std::uint64_t known_number(ThreadNumber thread) const { return view_[thread]->number; }
  void release(ThreadNumber thread) { ++now_[thread]; }

  // Called when the lanes of `mask` have met; `first` is the first thread of their warp.
  void meet(ThreadNumber first, std::uint32_t mask);
  // Called when `count` threads from `first` on have met at a barrier.
  void meet_all(ThreadNumber first, unsigned count);

  // ---- mbarriers, by a number that is the same for every block of the cluster ----
  void arrive(std::uint64_t mbarrier, ThreadNumber thread);
  void complete(std::uint64_t mbarrier);  // a phase
  void wait(std::uint64_t mbarrier, ThreadNumber thread);
  // Returns the thread number and the tick of the copies that complete on the open phase.
  std::pair<ThreadNumber, Tick> copy(std::uint64_t mbarrier);

 private:
  // A thread's knowledge of the others. Threads with the same knowledge share a view, which then never changes.
  struct View {
    unsigned users = 0;
    std::uint32_t joined = 0;  // the last join that included it
    std::uint32_t settled = 0;
    std::uint64_t number = 0;
    std::unique_ptr<Tick[]> known;
    OtherClocks others[2];  // [relation]
  };
  struct Mbarrier {
    View* arrived = nullptr;       // the join of all arrivals so far; not shared
    View* arrived_from = nullptr;  // the view that `arrived` joined last
    View* complete = nullptr;      // the view after the last completed phase
    ThreadNumber copies = 0;       // thread number of its bulk copies; 0: none yet
    Tick phase = 1;
  };

  View* make(const View* like);
  void set(View*& at, View* view);
  void join(View& into, const View& from) const;
  template <class Each>
  void meet_each(Each&& each);
  void forget();

  std::size_t width_ = 0, room_ = 0;  // ticks per view: in use, rounded up; and allocated
  ThreadNumber threads_ = 0, next_copies_ = 0;
  std::uint32_t joins_ = 0;
  std::uint64_t made_ = 0;   // views made
  std::vector<Tick> now_;    // [thread]
  std::vector<View*> view_;  // [thread]
  std::vector<View*> free_;
  std::vector<std::unique_ptr<View>> views_;
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;
  // Caches the last join, because the lanes of a warp wait one after another with the same knowledge.
  View *waited_ = nullptr, *waited_for_ = nullptr, *wait_result_ = nullptr;
  View *unsettled_ = nullptr, *settled_ = nullptr;  // likewise
};

}  // namespace upsweep::simt
