// Happens-before among the threads of one cluster, by vector clocks.
//
// Ordering comes from __syncwarp(), from barriers of a block or a cluster, and from mbarriers, where an arrival
// releases and a completed wait acquires. Shuffles and votes exchange values and order no memory. The bulk copies that
// complete on an mbarrier are a thread of their own, which writes at any time between a copy's issue and the end of its
// phase: only who has waited for the phase comes after it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace upsweep::simt {

// A thread's time: the number of times that it has released, plus one.
using Tick = std::uint32_t;
// rank in the cluster * threads per block + index in the block; the copies of an mbarrier have a number after those.
using ThreadNumber = std::uint16_t;

// By cluster: the number of its last release that someone comes after. Shared and never changed; null: none.
using Clocks = std::vector<std::uint32_t>;
using OtherClocks = std::shared_ptr<const Clocks>;
void join(OtherClocks& into, const Clocks& from);

// The ways in which a thread can come after another cluster's accesses. `fenced` is what the memory model calls
// happens-before, and all that lets a read see a write. `observed` takes no fences: a value seen by relaxed accesses,
// and what its writer had seen before. What was read before a value was stored cannot be changed by those who have seen
// the value.
enum Relation : unsigned { fenced, observed };

class HappensBefore {
 public:
  HappensBefore() = default;
  HappensBefore(const HappensBefore&) = delete;
  HappensBefore& operator=(const HappensBefore&) = delete;
  ~HappensBefore() { forget(); }

  void begin_launch(unsigned blocks, unsigned threads_a_block);
  // All of its threads come after the launches up to `settled`.
  void begin_cluster(std::uint32_t settled);

  Tick now(ThreadNumber thread) const { return now_[thread]; }
  // True if what `other` did at `tick` happened before what `thread` does next.
  bool knows(ThreadNumber thread, ThreadNumber other, Tick tick) const { return view_[thread]->known[other] >= tick; }
  // The launches up to this one are over for the thread; `settle` makes it so.
  std::uint32_t settled(ThreadNumber thread) const { return view_[thread]->settled; }
  void settle(ThreadNumber thread, std::uint32_t launch);
  bool is_copy(ThreadNumber thread) const { return thread >= threads_; }

  // ---- other clusters: the numbers of their releases that a thread comes after, see global_checks.h ----
  const OtherClocks& others(ThreadNumber thread, Relation relation) const { return view_[thread]->others[relation]; }
  void learn(ThreadNumber thread, Relation relation, const Clocks& clocks) { learn(thread, 1, relation, clocks); }
  // The lanes of a mask, from the warp's first thread on.
  void learn(ThreadNumber first, std::uint32_t mask, Relation relation, const Clocks& clocks);
  // All ticks that a thread knows, and a number for them: the same number, the same ticks.
  std::span<const Tick> known(ThreadNumber thread) const { return {view_[thread]->known.get(), threads_}; }
  std::uint64_t known_number(ThreadNumber thread) const { return view_[thread]->number; }
  void release(ThreadNumber thread) { ++now_[thread]; }

  // These lanes of the warp whose first thread is `first` have met.
  void meet(ThreadNumber first, std::uint32_t mask);
  // `count` threads from `first` on have met at a barrier.
  void meet_all(ThreadNumber first, unsigned count);

  // ---- mbarriers, by a number that is the same for every block of the cluster ----
  void arrive(std::uint64_t mbarrier, ThreadNumber thread);
  void complete(std::uint64_t mbarrier);  // a phase
  void wait(std::uint64_t mbarrier, ThreadNumber thread);
  // The thread and the time of the copies that complete on the open phase.
  std::pair<ThreadNumber, Tick> copy(std::uint64_t mbarrier);

 private:
  // A thread's knowledge of the others. Shared by threads that know the same, and then never changed.
  struct View {
    unsigned users = 0;
    std::uint32_t joined = 0;  // the join that it was last a part of
    std::uint32_t settled = 0;
    std::uint64_t number = 0;
    std::unique_ptr<Tick[]> known;
    OtherClocks others[2];  // [relation]
  };
  struct Mbarrier {
    View* arrived = nullptr;       // of all arrivals so far; nobody else's
    View* arrived_from = nullptr;  // the last view that was joined to it
    View* complete = nullptr;      // as of the last completed phase
    ThreadNumber copies = 0;       // 0: none yet
    Tick phase = 1;
  };

  View* make(const View* like);
  void set(View*& at, View* view);
  void join(View& into, const View& from) const;
  template <class Each>
  void meet_each(Each&& each);
  void forget();

  std::size_t width_ = 0, room_ = 0;  // of a view: threads and copies, rounded up; and as allocated
  ThreadNumber threads_ = 0, next_copies_ = 0;
  std::uint32_t joins_ = 0;
  std::uint64_t made_ = 0;   // views
  std::vector<Tick> now_;    // [thread]
  std::vector<View*> view_;  // [thread]
  std::vector<View*> free_;
  std::vector<std::unique_ptr<View>> views_;
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;
  // Lanes of a warp wait one after another with the same knowledge: the last join is mostly the next one too.
  View *waited_ = nullptr, *waited_for_ = nullptr, *wait_result_ = nullptr;
  View *unsettled_ = nullptr, *settled_ = nullptr;  // likewise
};

}  // namespace upsweep::simt
