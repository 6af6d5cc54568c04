// The tracer: receives every access, branch and synchronisation of every lane, and checks it. Combines the lanes of a
// warp into the instructions that the hardware would issue, and counts these.
#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "simt/checks.h"
#include "simt/global_checks.h"
#include "simt/model.h"
#include "simt/module.h"
#include "simt/session.h"

namespace upsweep::simt {

struct Block;
struct Lane;
struct Warp;
class Worker;

enum class EventKind : std::uint8_t { load, store, atomic, branch, barrier, warp_sync, shuffle, bulk_copy };
enum class Space : std::uint8_t { none, shared, global };

// One event of a lane. `order` puts the deepest frame first, then the lowest basic block: the lanes with the lowest
// order are executed together next.
struct Event {
  std::uint64_t address;  // of an access; the expected lanes of a synchronisation; the bytes of a bulk copy
  std::uint64_t order;
  std::uint32_t place;
  EventKind kind;
  Space space;
  std::uint8_t bytes;
};

class Tracer {
 public:
  explicit Tracer(Worker& worker)
      : worker_(worker),
        checker_(worker),
        global_checker_(worker, checker_),
        arena_(session().arena),
        module_(module()) {}

  // ---- called by the scheduler --------------------------------------------------------------------------------------
  void begin_launch();
  void end_launch();
  void begin_cluster();
  void end_cluster();
  void enter(Lane& lane);
  void leave();
  // Executes as many of a warp's events as possible.
  void align(Warp& warp, bool all = false);
  void barrier_complete(Block& block);
  void cluster_barrier_complete();
  void block_done(const Block& block);
  void lanes_exchanged(const Warp& warp, std::uint32_t mask);
  // Called for __syncwarp(); other collectives order no memory.
  void lanes_met(const Warp& warp, std::uint32_t mask);

  // ---- called by the kernel: `caller` and `frame` are the called function's return address and frame address --------
  // `strong`: volatile or atomic, so other blocks may access the memory concurrently.
  void access(const void* address, unsigned bytes, Access kind, bool strong, const void* caller, const void* frame);
  // Checks an access without counting it. Returns its memory space; none if it is not traced.
  Space inspect(const void* address, unsigned bytes, Access kind, bool strong, const void* caller);
  void branch(std::uint32_t guard, const void* caller, const void* frame);
  void synchronisation(EventKind kind, std::uint32_t lanes, const void* caller, const void* frame);
  void bulk_copy(void* shared, const void* global, std::size_t bytes, const void* mbarrier, const void* caller,
                 const void* frame);
  void fence_before_bulk_copy();
  void mbarrier_arrived(const void* mbarrier);
  void mbarrier_completed(const void* mbarrier);  // its open phase
  void mbarrier_waited(const void* mbarrier);
  void fence();  // device-wide
  void wait_for_previous();

 private:
  struct Frame {
    std::uint16_t depth;
    std::uint32_t rank;  // of the basic block it is in
  };
  // A step that lanes took together, remembered to detect divergence.
  struct Step {
    std::uint64_t id = 0;
    std::uint32_t mask = 0;
    std::uint32_t place = 0;
    bool split = false;
  };
  struct LaneTrace {
    Event* log = nullptr;
    std::uint32_t size = 0, next = 0;  // events written, and executed
    std::array<Frame, 24> frames;      // enough in practice: deeper calls share the last frame's rank
    std::uint32_t depth = 0;
  };
  // The block and offset of a shared-memory address; rank < 0 for any other address.
  struct SharedPlace {
    int rank = -1;
    std::size_t offset = 0;
  };

  std::size_t lane_number(const Lane& lane) const;
  LaneTrace& trace_of(const Lane& lane) { return lanes_[lane_number(lane)]; }
  SharedPlace find_shared(std::uintptr_t address) const;
  std::uint64_t mbarrier_key(const void* mbarrier) const;
  bool check_shared(const SharedPlace& at, unsigned bytes, std::uint32_t place);
  void check_global(std::uintptr_t address, std::size_t bytes, const char* what, std::uint32_t place);
  std::uint16_t depth_of(const void* frame) const;
  void push(std::uint64_t address, const void* frame, std::uint32_t place, EventKind kind, Space space, unsigned bytes);
  void execute(Warp& warp, std::uint32_t mask, const Event& event, const LaneAddresses& addresses);
  void note_split(std::uint64_t* steps, std::uint32_t mask, std::uint32_t place);
  std::uint32_t place_of(const void* caller) const;
  Counters& at(std::uint32_t place);
  void count_step();

  Worker& worker_;
  SharedMemoryChecker checker_;
  GlobalMemoryChecker global_checker_;
  // Parts of the session and of the library, cached because every event needs them.
  Arena& arena_;
  const Module& module_;
  std::span<const std::uint32_t> ranks_;
  std::vector<Event> events_;  // [lane][log_events]
  std::vector<LaneTrace> lanes_;
  Event* write_ = nullptr;  // next free entry of the running lane's log
  Event* write_end_ = nullptr;
  LaneTrace* current_ = nullptr;
  unsigned steps_ = 0;          // of the running lane since it was entered
  std::uintptr_t storage_ = 0;  // the static shared memory of this OS thread
  std::size_t storage_bytes_ = 0;
  std::uintptr_t dynamic_ = 0;  // the dynamic shared memory of the cluster: one stride per block
  std::size_t dynamic_bytes_ = 0, dynamic_stride_ = 0;
  std::uintptr_t arguments_ = 0;
  std::size_t argument_bytes_ = 0;
  bool checks_ = false, counters_ = false;
  std::set<const Module::Variable*> variables_;  // static shared variables accessed so far
  const Module::Variable* last_variable_ = nullptr;
  SiteCounters sites_;
  struct Known {
    std::uint32_t place = 0;
    Counters* counters = nullptr;
  };
  std::array<Known, 1024> known_{};      // a cache of sites_
  std::vector<std::uint64_t> steps_of_;  // [lane]: the step it last took part in
  std::vector<Step> history_;            // recent steps, by id
  std::uint64_t last_step_ = 0;
};

}  // namespace upsweep::simt
