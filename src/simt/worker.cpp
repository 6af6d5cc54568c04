#include "simt/worker.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "simt/module.h"
#include "simt/session.h"

namespace upsweep::simt {

thread_local Worker* current_worker = nullptr;

namespace {
// Poison for memory that a kernel must not rely on: a large negative float, an integer far out of any range.
constexpr unsigned char poison = 0xCD;
// A worker whose lanes spin yields its core to the OS every 16 yields, and sleeps for 50 us every 1024, because another
// worker may be descheduled.
constexpr std::uint64_t yields_between_os_yields = 16, yields_between_sleeps = 1024;
constexpr timespec short_sleep{0, 50'000};
// A load that may be a poll yields once in 64: polling loops stay responsive, and streaming loads hardly slow down.
constexpr unsigned polls_between_yields = 64;
// A preempted lane has polled for 10 ms, which counts as this many yields, so that an endless loop ends after about 20
// seconds.
constexpr std::uint64_t yields_a_preemption = 8192;
// In an arbitrary schedule:
// - Other lanes run before one in four strong accesses.
// - After one in four stores and atomics to global memory, the cluster is held back until others have published 1 to
//   2048 times, or have published nothing for 4 ms (a traced tile of 256 threads with 16 elements each takes about 2
//   ms).
// - Clusters are held back for at most half the time of a launch.
constexpr unsigned yields_one_in = 4, holds_one_in = 4, held_events_log2 = 12, hold_slices = 20;
constexpr timespec hold_slice{0, 200'000};
constexpr std::chrono::milliseconds hold_at_once{4};
// Bulk copies need at most 128-byte alignment.
constexpr std::size_t shared_alignment = 128;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
}  // namespace

Worker::Worker() : fibers(&Worker::fiber_main) {}
Worker::~Worker() { current_worker = nullptr; }

Worker& Worker::mine() {
  static thread_local std::unique_ptr<Worker> owned;
  if (!owned) owned = std::make_unique<Worker>();
  current_worker = owned.get();
  return *owned;
}

// ---- blocks of a launch ---------------------------------------------------------------------------------------------

void Worker::work(GridRun& grid) {
  run = &grid;
  prepare(grid.launch);
  held_ = {};
  ++grid.workers;
#if !UPSWEEP_SIMT_TRACED
  preemption.arm();
#endif
  for (std::uint64_t i; !grid.failed && (i = grid.next++) < grid.clusters;) {
    run_cluster(grid.reverse ? grid.clusters - 1 - i : i);
    ++grid.finished;
    ++grid.published;
  }
  --grid.workers;
#if UPSWEEP_SIMT_TRACED
  tracer.end_launch();
#else
  preemption.disarm();
#endif
  run = nullptr;
}

void Worker::prepare(const Launch& launch) {
  const Config& config = launch.config;
  blocks.resize(config.cluster);
  // Padding of at least 128 bytes: a kernel that runs slightly past the end is caught before it reaches the next
  // block's memory.
  dynamic_stride = round_up(config.shared_bytes + shared_alignment, shared_alignment);
  if (dynamic_shared_.size() < dynamic_stride * config.cluster + shared_alignment)
    dynamic_shared_.resize(dynamic_stride * config.cluster + shared_alignment);
  const auto start = reinterpret_cast<std::uintptr_t>(dynamic_shared_.data());
  std::byte* const aligned = dynamic_shared_.data() + (round_up(start, shared_alignment) - start);
  for (unsigned rank = 0; rank < config.cluster; ++rank) {
    Block& b = blocks[rank];
    b.rank = rank;
    b.shape(config.block);
    b.dynamic_shared = aligned + rank * dynamic_stride;
  }
  if (config.cluster > 1) {
    const auto image = module().thread_storage();
    fresh_static_shared_.assign(image.begin(), image.end());
  }
#if UPSWEEP_SIMT_TRACED
  tracer.begin_launch();
#endif
}

void Worker::run_cluster(std::uint64_t cluster) {
  const Config& config = run->launch.config;
  const std::uint64_t first = cluster * config.cluster;  // linear index of its first block
  for (unsigned rank = 0; rank < config.cluster; ++rank) {
    const std::uint64_t i = first + rank;
    Block& b = blocks[rank];
    b.start({static_cast<unsigned>(i % config.grid.x), static_cast<unsigned>(i / config.grid.x % config.grid.y),
             static_cast<unsigned>(i / (std::uint64_t{config.grid.x} * config.grid.y))});
    std::memset(b.dynamic_shared, poison, config.shared_bytes);
    if (config.cluster > 1) b.static_shared = fresh_static_shared_;
  }
  if (run->schedule) random_ = (run->schedule + cluster + 1) * 0x9E3779B97F4A7C15u | 1;
  wrote_ = false;
  block = &blocks[0];
  live_blocks_ = config.cluster;
  cluster_arrived_ = 0;
  yields_ = 0;
  failure_ = nullptr;

#if UPSWEEP_SIMT_TRACED
  tracer.begin_cluster();
#endif
  fiber_ = fibers.take();
  enter(block->lanes[0]);
  stack_top = fiber_->top;
  FiberPool::switch_to(fiber_->context, main_);
  finish_cluster();
}

void Worker::finish_cluster() {
#if UPSWEEP_SIMT_TRACED
  tracer.end_cluster();
#endif
  if (failure_ || live_blocks_ > 0) {
    fibers.reset();
    // Only the first failure of a launch is reported, because the others follow from it.
    if (!run->failed.exchange(true)) {
      const Block& b = *block;
      const std::string place = "block " + std::to_string(b.index.x) + " of " + run->kernel_name;
      std::string text;
      for (const Block& each : blocks) {
        const std::string waiting = each.describe_waiting();
        if (waiting.empty()) continue;
        if (!text.empty()) text += "; ";
        if (blocks.size() > 1) text += "cluster rank " + std::to_string(each.rank) + ": ";
        text += waiting;
      }
      if (!failure_text_.empty()) text = failure_text_ + (text.empty() ? "" : "; " + text);
      session().add_issue(failure_ ? failure_ : "deadlock", 0, place + ": " + text);
    }
    failure_text_.clear();
  }
  lane = nullptr;
  block = nullptr;
}

// ---- the scheduler --------------------------------------------------------------------------------------------------

void Worker::fiber_main() { current_worker->run_lanes(); }

// Runs one lane after another on the same fiber as long as they finish without waiting, which needs no context switch.
void Worker::run_lanes() {
  for (;;) {
    try {
      run->launch.enter(run->launch.arguments);
    } catch (const std::exception& e) {
      failure_ = "exception in a kernel";
      failure_text_ = who() + ": " + e.what();
    } catch (...) {
      failure_ = "exception in a kernel";
      failure_text_ = who();
    }
    lane_done();
    Lane* next = failure_ ? nullptr : pick();
    if (next && !next->fiber) {
      enter(*next);
      continue;
    }
    fibers.put(fiber_);
    Fiber* self = fiber_;
    switch_to(next);
    // Resumed for a lane that had not started; the fiber that switched here has entered the lane.
    fiber_ = self;
  }
}

inline void Worker::enter(Lane& next) {
  if (next.block != block) make_current(*next.block);
  lane = &next;
  ++switches_;
#if UPSWEEP_SIMT_TRACED
  tracer.enter(next);
#endif
}

// Static __shared__ variables exist once per OS thread: a cluster's blocks swap their images in and out.
void Worker::make_current(Block& next) {
  const auto image = module().thread_storage();
  std::copy(image.begin(), image.end(), block->static_shared.begin());
  std::copy(next.static_shared.begin(), next.static_shared.end(), image.begin());
  block = &next;
}

void Worker::switch_to(Lane* next) {
#if UPSWEEP_SIMT_TRACED
  tracer.leave();
#endif
  Context& here = fiber_->context;
  if (!next) return FiberPool::switch_to(main_, here);
  fiber_ = next->fiber ? next->fiber : fibers.take();
  next->fiber = nullptr;
  enter(*next);
  stack_top = fiber_->top;
  // The fiber taken for a new lane may be the running one, which belonged to a finished lane.
  if (&fiber_->context != &here) FiberPool::switch_to(fiber_->context, here);
}

// Returns the lane to run next; null if none can run. Stays in the warp while any of its lanes can run, so that a
// warp's lanes stay together; then visits the later warps of the block, the other blocks of the cluster, and the
// block's earlier warps.
Lane* Worker::pick() {
  if (run->schedule) return pick_any();
  Warp& here = *lane->warp;
  const std::uint32_t ready = here.runnable & ~here.yielded;
  if (const std::uint32_t above = ready & ~(lane->bit() | (lane->bit() - 1)))
    return &here.lanes[std::countr_zero(above)];
  if (ready) return &here.lanes[std::countr_zero(ready)];
#if UPSWEEP_SIMT_TRACED
  tracer.align(here);
#endif
  if (const std::uint32_t released = release_active_mask(here)) return &here.lanes[std::countr_zero(released)];
  const unsigned ranks = static_cast<unsigned>(blocks.size());
  for (unsigned r = 0; r <= ranks; ++r) {
    Block& b = blocks[(block->rank + r) % ranks];
    const unsigned count = static_cast<unsigned>(b.warps.size());
    // The current block is visited twice: first the warps after this one, last those up to and including it.
    const unsigned begin = r == 0 ? here.index + 1 : 0, end = r == ranks ? here.index + 1 : count;
    for (unsigned w = begin; w < end; ++w) {
      Warp& warp = b.warps[w];
      warp.yielded = 0;
      if (warp.runnable) return &warp.lanes[std::countr_zero(warp.runnable)];
    }
  }
  return nullptr;
}

// Picks any runnable lane, usually of the running lane's warp, so that some warps run far ahead of the others.
Lane* Worker::pick_any() {
  const auto any = [&](Warp& warp, std::uint32_t lanes) {
    for (unsigned skip = random() % static_cast<unsigned>(std::popcount(lanes)); skip > 0; --skip) lanes &= lanes - 1;
    return &warp.lanes[std::countr_zero(lanes)];
  };
  Warp& here = *lane->warp;
  const std::uint32_t ready = here.runnable & ~here.yielded;
  if (ready && random() % 4) return any(here, ready);
#if UPSWEEP_SIMT_TRACED
  tracer.align(here);
#endif
  if (!ready)
    if (const std::uint32_t released = release_active_mask(here)) return any(here, released);
  const unsigned ranks = static_cast<unsigned>(blocks.size()), first = random();
  for (unsigned r = 0; r < ranks; ++r) {
    Block& b = blocks[(first + r) % ranks];
    const auto count = static_cast<unsigned>(b.warps.size());
    const unsigned start = random();
    for (unsigned w = 0; w < count; ++w) {
      Warp& warp = b.warps[(start + w) % count];
      warp.yielded = 0;
      if (warp.runnable) return any(warp, warp.runnable);
    }
  }
  return nullptr;
}

// xorshift
std::uint32_t Worker::random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<std::uint32_t>(random_ >> 16);
}

void Worker::run_others(bool writes) {
  const std::uint32_t choice = random();
  if (std::exchange(wrote_, writes) && choice / yields_one_in % holds_one_in == 0) hold();
  if (writes) ++run->published;
  if (choice % yields_one_in == 0) yield();
}

void Worker::hold() {
  const auto now = std::chrono::steady_clock::now;
  const auto since = now();
  if (run->most_workers == 1 || held_ > (since - run->began) / 2 + hold_at_once) return;
  std::uint64_t seen = run->published;
  const std::uint64_t until = seen + (1u << random() % held_events_log2);
  for (unsigned idle = 0; idle < hold_slices && seen < until && run->finished + 1 < run->clusters && !run->failed;
       ++idle) {
    nanosleep(&hold_slice, nullptr);
    if (const std::uint64_t published = run->published; published != seen) {
      seen = published;
      idle = 0;
    }
  }
  held_ += now() - since;
}

void Worker::park() {
  Lane* self = lane;
  Lane* next = pick();
  if (next == self) return enter(*self);
  self->fiber = fiber_;
  switch_to(next);
}

void Worker::yield() {
  lane->warp->yielded |= lane->bit();
  if (const std::uint64_t finished = run->finished; finished != finished_seen_) {
    finished_seen_ = finished;
    yields_ = 0;
  }
  if (++yields_ > run->yield_limit) fail("livelock", who() + " and others wait for memory that no thread changes");
  if (run->failed) fail("abandoned", "");
  if (run->workers > 1) {
    if (yields_ % yields_between_sleeps == 0)
      nanosleep(&short_sleep, nullptr);
    else if (yields_ % yields_between_os_yields == 0)
      sched_yield();
  }
  park();
}

// If no lane was entered since the last tick, this one has run for a whole period.
void Worker::preempt() {
  if (std::exchange(switches_at_tick_, switches_) != switches_) return;
  yields_ += yields_a_preemption;
  yield();
}

void Worker::note_poll() {
  if (++polls_ % polls_between_yields == 0) yield();
}

void Worker::fail(const char* kind, std::string text) {
  failure_ = kind;
  failure_text_ = std::move(text);
  switch_to(nullptr);
  __builtin_unreachable();
}

void Worker::lane_done() {
  Warp& warp = *lane->warp;
  Block& b = *lane->block;
  warp.live &= ~lane->bit();
  warp.runnable &= ~lane->bit();
  warp.yielded &= ~lane->bit();
  if (--b.live == 0) {
    --live_blocks_;
#if UPSWEEP_SIMT_TRACED
    tracer.block_done(b);
#endif
  }
  if (b.arrived && b.arrived == b.live) {
    report_early_exit(b);
    release_barrier(b);
  }
  // Lanes that waited for this one in a collective continue without it, as on the device.
  for_each_bit(warp.in_collective, [&](int i) {
    if (warp.in_collective >> i & 1) try_complete(warp, warp.lanes[i].mask);
  });
  release_cluster_barrier();
}

// ---- barriers -------------------------------------------------------------------------------------------------------

int Worker::barrier(Vote vote, int predicate, const Site& site) {
  Block& b = *block;
  lane->site = site;
  if (!b.arrived) {
    b.barrier_site = site;
    b.vote = vote;
    b.votes = vote == Vote::all;
  } else if (!same_place(site, b.barrier_site)) {
    report("barrier divergence", (std::uint64_t{site.line()} << 32) | b.barrier_site.line(),
           who() + " waits at " + to_string(site) + " while others wait at " + to_string(b.barrier_site));
  }
  const int yes = predicate != 0;
  if (vote == Vote::count)
    b.votes += yes;
  else if (vote == Vote::any)
    b.votes |= yes;
  else if (vote == Vote::all)
    b.votes &= yes;
  lane->warp->runnable &= ~lane->bit();
  lane->warp->at_barrier |= lane->bit();
  if (++b.arrived == b.live) {
    if (b.live != b.threads) report_early_exit(b);
    release_barrier(b);  // and continue without a switch: this lane is runnable again
  } else {
    park();
  }
  return b.outcome;
}

void Worker::release_barrier(Block& b) {
#if UPSWEEP_SIMT_TRACED
  tracer.barrier_complete(b);
#endif
  b.outcome = b.votes;
  b.arrived = 0;
  for (Warp& warp : b.warps) {
    warp.runnable |= warp.at_barrier;
    warp.at_barrier = 0;
  }
}

void Worker::report_early_exit(Block& b) {
  if (b.divergence_reported) return;
  b.divergence_reported = true;
  report("barrier divergence", b.barrier_site.line(),
         std::to_string(b.threads - b.live) + " of " + std::to_string(b.threads) + " threads of block " +
             std::to_string(b.index.x) + " of " + run->kernel_name + " returned without reaching the barrier at " +
             to_string(b.barrier_site));
}

void Worker::cluster_barrier(const Site& site) {
  lane->site = site;
  lane->warp->runnable &= ~lane->bit();
  lane->warp->at_cluster_barrier |= lane->bit();
  ++cluster_arrived_;
  release_cluster_barrier();
  if (lane->warp->at_cluster_barrier & lane->bit()) park();
}

void Worker::release_cluster_barrier() {
  if (!cluster_arrived_) return;
  unsigned live = 0;
  for (const Block& b : blocks) live += b.live;
  if (cluster_arrived_ != live) return;
#if UPSWEEP_SIMT_TRACED
  tracer.cluster_barrier_complete();
#endif
  cluster_arrived_ = 0;
  for (Block& b : blocks)
    for (Warp& warp : b.warps) {
      warp.runnable |= warp.at_cluster_barrier;
      warp.at_cluster_barrier = 0;
    }
}

void Worker::wait_for_mbarrier(const Site& site) {
  lane->site = site;
  lane->warp->runnable &= ~lane->bit();
  lane->warp->at_mbarrier |= lane->bit();
  park();
}

void Worker::wake_mbarrier_waiters() {
  for (Block& b : blocks)
    for (Warp& warp : b.warps) {
      warp.runnable |= warp.at_mbarrier;
      warp.at_mbarrier = 0;
    }
}

// While a lane runs, every other block of its cluster is swapped out, so the saved image of a peer's static shared
// memory is up to date.
void* Worker::peer_address(void* shared, unsigned rank) {
  if (rank == block->rank) return shared;
  const auto image = module().thread_storage();
  auto* const at = static_cast<std::byte*>(shared);
  if (at >= image.data() && at < image.data() + image.size())
    return blocks[rank].static_shared.data() + (at - image.data());
  return blocks[rank].dynamic_shared + (at - block->dynamic_shared);
}

// ---- reports --------------------------------------------------------------------------------------------------------

std::string Worker::who() const {
  return "thread " + std::to_string(lane->index) + " of block " + std::to_string(block->index.x) + " of " +
         run->kernel_name;
}

void Worker::report(const char* kind, std::uint64_t key, std::string text) const {
  session().add_issue(kind, key, std::move(text));
}

}  // namespace upsweep::simt
