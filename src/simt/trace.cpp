#include "simt/trace.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "simt/control_flow.h"
#include "simt/module.h"
#include "simt/symbolize.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {

// The number of events by which a lane may run ahead of its warp. 512 * 24 bytes * 1024 lanes is 12 MiB per worker,
// touched as needed.
constexpr std::uint32_t log_events = 512;
// Steps after which a lane yields: it may be polling memory that another lane of its block writes.
constexpr unsigned steps_between_yields = 1u << 15;
// Steps remembered to detect divergence; lanes reconverge far sooner.
constexpr std::size_t history_steps = 4096;

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

// ---- called by the scheduler ----------------------------------------------------------------------------------------

void Tracer::begin_launch() {
  ranks_ = block_ranks();
  const Launch& launch = worker_.run->launch;
  checks_ = worker_.run->checks;
  counters_ = worker_.run->counters;
  const auto storage = module_.thread_storage();
  storage_ = number(storage.data());
  storage_bytes_ = storage.size();
  const auto& blocks = worker_.blocks;
  dynamic_ = number(blocks[0].dynamic_shared);
  dynamic_stride_ = worker_.dynamic_stride;
  dynamic_bytes_ = dynamic_stride_ * blocks.size();
  arguments_ = number(launch.arguments);
  argument_bytes_ = launch.argument_bytes;
  const std::size_t lanes = blocks.size() * blocks[0].warps.size() * 32;
  lanes_.assign(lanes, {});
  if (events_.size() < lanes * log_events) events_.resize(lanes * log_events);
  for (std::size_t i = 0; i < lanes; ++i) lanes_[i].log = &events_[i * log_events];
  steps_of_.assign(lanes, 0);
  history_.assign(history_steps, {});
  if (!checks_) return;
  checker_.begin_launch(static_cast<unsigned>(blocks.size()), storage_bytes_ + launch.config.shared_bytes,
                        blocks[0].threads);
  global_checker_.begin_launch(*worker_.run->writes, worker_.run->clusters);
}

void Tracer::end_launch() {
  std::size_t static_bytes = 0;
  for (const Module::Variable* variable : variables_) static_bytes += variable->size;
  const std::size_t shared_bytes = static_bytes + worker_.run->launch.config.shared_bytes;
  session().add_counters(worker_.run->kernel_name, sites_, shared_bytes);
  // run() does not know the static memory of the functions that the kernel calls.
  if (const std::size_t limit = worker_.run->shared_limit; checks_ && shared_bytes > limit)
    session().add_issue("too much shared memory", 0,
                        worker_.run->kernel_name + ": " + std::to_string(shared_bytes) +
                            " bytes per block, more than its limit of " + std::to_string(limit));
  sites_.clear();
  variables_.clear();
  last_variable_ = nullptr;
  known_.fill({});
}

void Tracer::begin_cluster() {
  for (LaneTrace& lane : lanes_) lane.size = lane.next = lane.depth = 0;
  std::fill(steps_of_.begin(), steps_of_.end(), 0);
  if (!checks_) return;
  checker_.begin_cluster(worker_.run->writes->settled_at_start());
  const Config& config = worker_.run->launch.config;
  const uint3 first = worker_.blocks[0].index;
  global_checker_.begin_cluster((first.x + (first.y + std::size_t{first.z} * config.grid.y) * config.grid.x) /
                                config.cluster);
}

void Tracer::end_cluster() {
  leave();
  for (Block& block : worker_.blocks)
    for (Warp& warp : block.warps) align(warp, true);
  current_ = nullptr;
}

std::size_t Tracer::lane_number(const Lane& lane) const {
  return std::size_t{lane.block->rank} * lane.block->warps.size() * 32 + lane.index;
}

void Tracer::enter(Lane& lane) {
  leave();
  current_ = &trace_of(lane);
  write_ = current_->log + current_->size;
  write_end_ = current_->log + log_events;
  steps_ = 0;
}

void Tracer::leave() {
  if (current_) current_->size = static_cast<std::uint32_t>(write_ - current_->log);
}

void Tracer::barrier_complete(Block& block) {
  for (Warp& warp : block.warps) align(warp);
  if (!checks_) return;
  const ThreadNumber first = checker_.first_thread(block.warps[0]);
  for (unsigned t = 0; t < block.threads; ++t) global_checker_.settle_reads(static_cast<ThreadNumber>(first + t));
  checker_.order.meet_all(first, block.threads);
}

void Tracer::cluster_barrier_complete() {
  for (Block& block : worker_.blocks)
    for (Warp& warp : block.warps) align(warp);
  if (!checks_) return;
  const unsigned threads = static_cast<unsigned>(worker_.blocks.size()) * worker_.blocks[0].threads;
  for (unsigned t = 0; t < threads; ++t) global_checker_.settle_reads(static_cast<ThreadNumber>(t));
  checker_.order.meet_all(0, threads);
}
void Tracer::block_done(const Block& block) {
  if (checks_) checker_.block_done(block.rank);
}

void Tracer::lanes_met(const Warp& warp, std::uint32_t mask) {
  if (!checks_) return;
  const ThreadNumber first = checker_.first_thread(warp);
  for_each_bit(mask, [&](int i) { global_checker_.settle_reads(static_cast<ThreadNumber>(first + i)); });
  checker_.order.meet(first, mask);
}

void Tracer::lanes_exchanged(const Warp& warp, std::uint32_t mask) {
  if (checks_) global_checker_.exchanged(checker_.first_thread(warp), mask);
}

// ---- called by the kernel -------------------------------------------------------------------------------------------

inline std::uint32_t Tracer::place_of(const void* caller) const {
  return static_cast<std::uint32_t>(number(caller) - module_.load_address());
}

// Yields after a long run, because the lane may be polling for another lane's write.
inline void Tracer::count_step() {
  if (++steps_ > steps_between_yields) worker_.yield();
}

inline std::uint16_t Tracer::depth_of(const void* frame) const {
  return static_cast<std::uint16_t>(std::min<std::uintptr_t>((worker_.stack_top - number(frame)) / 16, 0xFFFF));
}

inline void Tracer::push(std::uint64_t address, const void* frame, std::uint32_t place, EventKind kind, Space space,
                         unsigned bytes) {
  if (write_ == write_end_) {
    worker_.yield();                                             // other lanes catch up, and the log is drained
    if (write_ == write_end_) align(*worker_.lane->warp, true);  // they wait for this lane: proceed without them
  }
  const std::uint16_t depth = depth_of(frame);
  LaneTrace& lane = *current_;
  while (lane.depth && lane.frames[lane.depth - 1].depth > depth) --lane.depth;  // calls that have returned
  const bool known = lane.depth && lane.frames[lane.depth - 1].depth == depth;
  const std::uint64_t rank = known ? lane.frames[lane.depth - 1].rank : 0;
  const std::uint64_t order = std::uint64_t{0xFFFFu - depth} << 48 | rank << 24 | (place & 0xFFFFFF);
  *write_++ = {address, order, place, kind, space, static_cast<std::uint8_t>(bytes)};
}

void Tracer::branch(std::uint32_t guard, const void* caller, const void* frame) {
  if (!counters_) return count_step();
  count_step();
  const std::uint16_t depth = depth_of(frame);
  LaneTrace& lane = *current_;
  while (lane.depth && lane.frames[lane.depth - 1].depth > depth) --lane.depth;
  const bool known = lane.depth && lane.frames[lane.depth - 1].depth == depth;
  if (!known && lane.depth < lane.frames.size()) lane.frames[lane.depth++].depth = depth;
  lane.frames[lane.depth - 1].rank = guard < ranks_.size() ? ranks_[guard] : 0;
  push(0, frame, place_of(caller), EventKind::branch, Space::none, 0);
}

void Tracer::synchronisation(EventKind kind, std::uint32_t lanes, const void* caller, const void* frame) {
  if (counters_) push(lanes, frame, place_of(caller), kind, Space::none, 0);
}

Tracer::SharedPlace Tracer::find_shared(std::uintptr_t address) const {
  const unsigned own = worker_.block->rank;
  if (address - storage_ < storage_bytes_) return {static_cast<int>(own), address - storage_};
  if (address - dynamic_ < dynamic_bytes_) {
    const std::size_t at = address - dynamic_;
    return {static_cast<int>(at / dynamic_stride_), storage_bytes_ + at % dynamic_stride_};
  }
  if (worker_.blocks.size() > 1)
    for (const Block& block : worker_.blocks)
      if (address - number(block.static_shared.data()) < block.static_shared.size())
        return {static_cast<int>(block.rank), address - number(block.static_shared.data())};
  return {};
}

// Checks the bounds of an access. Returns false if the access must not be traced: to a constructor guard, or past the
// end of dynamic shared memory.
bool Tracer::check_shared(const SharedPlace& at, unsigned bytes, std::uint32_t place) {
  const bool is_static = at.offset < storage_bytes_;
  const std::size_t dynamic_end = storage_bytes_ + worker_.run->launch.config.shared_bytes;
  if (is_static && module_.has_symbols()) {
    const auto* first = module_.variable_at(at.offset);
    if (first && first->guard) return false;
    if (first && first != last_variable_) {
      last_variable_ = first;
      variables_.insert(first);
    }
    if (checks_ && (!first || first != module_.variable_at(at.offset + bytes - 1)))
      worker_.report("shared out of bounds", place,
                     worker_.who() + " accesses shared memory outside any variable, " + place_text(place));
  } else if (checks_ && !is_static && at.offset + bytes > dynamic_end) {
    worker_.report("shared out of bounds", place,
                   worker_.who() + " accesses byte " + std::to_string(at.offset - storage_bytes_) + " of " +
                       std::to_string(dynamic_end - storage_bytes_) + " bytes of dynamic shared memory, " +
                       place_text(place));
    return false;
  }
  return true;
}

void Tracer::check_global(std::uintptr_t address, std::size_t bytes, const char* what, std::uint32_t place) {
  if (!checks_ || arena_.valid(address, bytes)) return;
  worker_.report("global out of bounds", place,
                 worker_.who() + ": " + what + " of " + std::to_string(bytes) + " bytes, " + arena_.describe(address) +
                     ", " + place_text(place));
}

Space Tracer::inspect(const void* pointer, unsigned bytes, Access kind, bool strong, const void* caller) {
  const std::uintptr_t address = number(pointer);
  // On the device, locals are registers and parameters are constant memory.
  if (address - worker_.fibers.stacks_begin() < worker_.fibers.stacks_bytes()) return Space::none;
  if (address - arguments_ < argument_bytes_) return Space::none;
  const std::uint32_t place = place_of(caller);
  Space space = Space::global;
  if (arena_.contains(address)) {
    check_global(address, bytes, kind == Access::load ? "load" : kind == Access::store ? "store" : "atomic", place);
    if (checks_ && kind != Access::store) global_checker_.read(address, bytes, strong, place);
    if (checks_ && kind != Access::load) global_checker_.write(address, bytes, strong, place);
  } else if (const SharedPlace shared = find_shared(address); shared.rank >= 0) {
    space = Space::shared;
    if (!check_shared(shared, bytes, place)) return Space::none;
    if (checks_) checker_.access(static_cast<unsigned>(shared.rank), shared.offset, bytes, kind, place);
  } else if (module_.contains(address)) {
    return Space::none;  // constants and __device__ variables: not counted
  } else {
    // An illegal address on a device. Continuing would read the host's memory, or crash.
    const std::string text = worker_.who() + " accesses an address outside device memory, " + place_text(place);
    worker_.report("unregistered memory", place, text);
    worker_.fail("illegal address", text);
  }
  if (address % bytes) {
    const std::string text = worker_.who() + ": " + std::to_string(bytes) + "-byte access at an address " +
                             std::to_string(address % bytes) + " bytes past its alignment, " + place_text(place);
    worker_.report("misaligned access", place, text);
    worker_.fail("misaligned address", text);
  }
  return space;
}

void Tracer::access(const void* address, unsigned bytes, Access kind, bool strong, const void* caller,
                    const void* frame) {
  if (strong) worker_.explore(kind != Access::load && arena_.contains(number(address)));
  const Space space = inspect(address, bytes, kind, strong, caller);
  if (space == Space::none) return;
  count_step();
  if (counters_) push(number(address), frame, place_of(caller), static_cast<EventKind>(kind), space, bytes);
}

void Tracer::bulk_copy(void* shared, const void* global, std::size_t bytes, const void* mbarrier, const void* caller,
                       const void* frame) {
  const std::uint32_t place = place_of(caller);
  if (bytes) check_global(number(global), bytes, "bulk copy", place);
  if (checks_) global_checker_.read(number(global), bytes, false, place);
  const SharedPlace to = find_shared(number(shared));
  if (checks_ && bytes && to.rank >= 0)
    checker_.bulk_write(static_cast<unsigned>(to.rank), to.offset, bytes, mbarrier_key(mbarrier), place);
  if (counters_) push(bytes, frame, place, EventKind::bulk_copy, Space::none, 0);
}

void Tracer::fence_before_bulk_copy() {
  if (!checks_) return;
  global_checker_.settle_reads(checker_.thread());
  checker_.fence_before_bulk_copy();
}

// Returns a number that identifies an mbarrier in every block of the cluster.
std::uint64_t Tracer::mbarrier_key(const void* mbarrier) const {
  const SharedPlace at = find_shared(number(mbarrier));
  return static_cast<std::uint64_t>(at.rank) << 32 | at.offset;
}

void Tracer::mbarrier_arrived(const void* mbarrier) {
  if (!checks_) return;
  global_checker_.settle_reads(checker_.thread());
  checker_.order.arrive(mbarrier_key(mbarrier), checker_.thread());
}
void Tracer::mbarrier_completed(const void* mbarrier) {
  if (checks_) checker_.order.complete(mbarrier_key(mbarrier));
}
void Tracer::mbarrier_waited(const void* mbarrier) {
  if (checks_) checker_.order.wait(mbarrier_key(mbarrier), checker_.thread());
}

void Tracer::wait_for_previous() {
  if (checks_) checker_.order.settle(checker_.thread(), worker_.run->writes->launch() - 1);
}
void Tracer::fence() {
  if (checks_) global_checker_.fence();
}

// ---- from lanes to warp instructions --------------------------------------------------------------------------------

// Repeatedly executes, as one instruction, the lanes whose next event comes first: deepest frame, then lowest basic
// block, like a warp that reconverges as early as possible. Stops when a runnable lane has no event yet, because its
// next event might come first; if `all` is true, continues without that lane.
void Tracer::align(Warp& warp, bool all) {
  if (!counters_) return;
  leave();
  LaneTrace* const lanes = &trace_of(warp.lanes[0]);
  // The order of each lane's next event; `nothing` for a lane without an event, and for a lane stalled at a
  // synchronisation that lanes with earlier events have not reached.
  constexpr std::uint64_t nothing = ~std::uint64_t{0};
  std::array<std::uint64_t, 32> orders;
  orders.fill(nothing);
  std::uint32_t have = 0, stalled = 0;
  const auto next = [&](int i) -> const Event& { return lanes[i].log[lanes[i].next]; };
  const auto look = [&](int i) {
    const bool more = lanes[i].next < lanes[i].size;
    if (!more) have &= ~(1u << i);
    orders[static_cast<std::size_t>(i)] = more ? next(i).order : nothing;
  };
  have = warp.members;
  for_each_bit(warp.members, look);

  LaneAddresses addresses;
  while (have & ~stalled) {
    if (!all && ((warp.runnable | warp.at_mbarrier) & ~have)) break;
    const std::uint64_t first = *std::min_element(orders.begin(), orders.end());
    std::uint32_t together = 0;
    for (std::size_t i = 0; i < orders.size(); ++i) together |= static_cast<std::uint32_t>(orders[i] == first) << i;
    const Event& event = next(std::countr_zero(together));
    if (event.kind >= EventKind::barrier && event.kind <= EventKind::shuffle) {
      std::uint32_t expected = 0;
      for_each_bit(together, [&](int i) { expected |= static_cast<std::uint32_t>(next(i).address); });
      if (expected & have & ~together & ~stalled) {
        stalled |= together;
        for_each_bit(together, [&](int i) { orders[static_cast<std::size_t>(i)] = nothing; });
        continue;
      }
    } else if (event.kind != EventKind::branch) {
      // Executes only the lanes that match the first: it is one instruction, but a generic pointer may point to shared
      // memory in one lane and to global memory in another.
      std::uint32_t alike = 0;
      for_each_bit(together, [&](int i) {
        const Event& other = next(i);
        if (other.kind != event.kind || other.space != event.space || other.bytes != event.bytes) return;
        alike |= 1u << i;
        addresses[static_cast<std::size_t>(i)] = other.address;
      });
      together = alike;
    }
    execute(warp, together, event, addresses);
    for_each_bit(together, [&](int i) {
      ++lanes[i].next;
      look(i);
    });
    if (stalled) for_each_bit(std::exchange(stalled, 0), look);  // a lane has advanced: look again
  }
  for_each_bit(warp.members, [&](int i) {
    LaneTrace& lane = lanes[i];
    if (!lane.next) return;
    if (lane.next < lane.size) std::memmove(lane.log, lane.log + lane.next, (lane.size - lane.next) * sizeof(Event));
    lane.size -= lane.next;
    lane.next = 0;
  });
  if (current_) write_ = current_->log + current_->size;
}

Counters& Tracer::at(std::uint32_t place) {
  Known& known = known_[place % known_.size()];
  if (known.place != place || !known.counters) known = {place, &sites_[place]};  // nodes of the map do not move
  return *known.counters;
}

void Tracer::execute(Warp& warp, std::uint32_t mask, const Event& event, const LaneAddresses& addresses) {
  Counters& c = at(event.place);
  switch (event.kind) {
    case EventKind::branch:
      ++c.branches;
      c.branch_lanes += static_cast<std::uint64_t>(std::popcount(mask));
      note_split(&steps_of_[lane_number(warp.lanes[0])], mask, event.place);
      return;
    case EventKind::barrier:
      ++c.barriers;
      return;
    case EventKind::shuffle:
      ++c.shuffles;
      [[fallthrough]];
    case EventKind::warp_sync:
      ++c.warp_syncs;
      return;
    case EventKind::bulk_copy:
      for_each_bit(mask, [&](int i) {
        ++c.bulk_copies;
        c.bulk_bytes += addresses[static_cast<std::size_t>(i)];
      });
      return;
    case EventKind::atomic: {
      const std::uint64_t most = most_on_one_address(mask, addresses);
      const bool shared = event.space == Space::shared;
      ++(shared ? c.shared_atomic_requests : c.global_atomic_requests);
      (shared ? c.shared_atomic_serial : c.global_atomic_serial) += most;
      std::uint64_t& worst = shared ? c.shared_atomic_worst : c.global_atomic_worst;
      worst = std::max(worst, most);
      return;
    }
    case EventKind::load:
    case EventKind::store:
      break;
  }
  const bool load = event.kind == EventKind::load;
  if (event.space == Space::shared) {
    ++(load ? c.shared_load_requests : c.shared_store_requests);
    (load ? c.shared_load_wavefronts : c.shared_store_wavefronts) += shared_wavefronts(mask, addresses, event.bytes);
    (load ? c.shared_load_ideal : c.shared_store_ideal) += ideal_wavefronts(mask, event.bytes);
  } else {
    const unsigned sectors = global_sectors(mask, addresses, event.bytes);
    ++(load ? c.global_load_requests : c.global_store_requests);
    (load ? c.global_load_sectors : c.global_store_sectors) += sectors;
    (load ? c.global_load_ideal : c.global_store_ideal) += ideal_sectors(mask, event.bytes, sectors);
  }
}

// Records a step of the lanes in `mask`. The warp diverged at their last common step if only some of that step's lanes
// take this one together.
void Tracer::note_split(std::uint64_t* steps, std::uint32_t mask, std::uint32_t place) {
  const std::uint64_t before = steps[std::countr_zero(mask)];
  bool same = before != 0;
  for_each_bit(mask, [&](int i) { same &= steps[i] == before; });
  if (same) {
    Step& step = history_[before % history_steps];
    if (step.id == before && step.mask != mask && !step.split) {
      step.split = true;
      ++at(step.place).divergent_branches;
    }
  }
  const std::uint64_t id = ++last_step_;
  history_[id % history_steps] = {id, mask, place, false};
  for_each_bit(mask, [&](int i) { steps[i] = id; });
}

}  // namespace upsweep::simt
