#include "simt/checks.h"

#include <algorithm>

#include "simt/module.h"
#include "simt/symbolize.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {
constexpr unsigned threads_a_block = 1024, word_bytes = 4;
constexpr std::uint16_t engine = 0xFFFF;  // thread number of the bulk-copy engine
}  // namespace

void SharedMemoryChecker::begin_launch(unsigned blocks, std::size_t bytes_a_block, unsigned warps) {
  bytes_a_block_ = (bytes_a_block + word_bytes - 1) / word_bytes * word_bytes;
  warps_a_block_ = warps;
  warps_ = std::size_t{blocks} * warps;
  epochs_.assign(blocks, 0);
  if (words_.size() < blocks * bytes_a_block_ / word_bytes) words_.resize(blocks * bytes_a_block_ / word_bytes);
  if (clocks_.size() < warps_) clocks_.resize(warps_);
}

void SharedMemoryChecker::begin_cluster() {
  ++generation_;
  for (auto& epoch : epochs_) epoch = next_epoch_++;
  seen_.clear();
  published_.clear();
}

std::size_t SharedMemoryChecker::warp_of(Thread thread) const {
  return thread == engine ? warps_
                          : std::size_t{thread / threads_a_block} * warps_a_block_ + thread % threads_a_block / 32;
}

SharedMemoryChecker::Stamp SharedMemoryChecker::stamp(unsigned rank, std::uint32_t place) const {
  const Lane& lane = *worker_.lane;
  const auto thread = static_cast<Thread>(lane.block->rank * threads_a_block + lane.index);
  return {thread, epochs_[rank], clocks_[warp_of(thread)].now, place};
}

bool SharedMemoryChecker::ordered(const Stamp& before, const Stamp& now) const {
  const std::size_t there = warp_of(before.thread), here = warp_of(now.thread);
  if (there == here) {
    const WarpClock& clock = clocks_[here];
    if (clock.all_met > before.clock || clock.met[before.thread % 32][now.thread % 32] > before.clock) return true;
  }
  return !seen_.empty() && seen_[here * (warps_ + 1) + there] > before.clock;
}

bool SharedMemoryChecker::conflicts(const Stamp& before, const Stamp& now) const {
  if (!before.epoch || before.thread == now.thread) return false;
  // A block barrier does not wait for a bulk copy: only an mbarrier orders it.
  if (before.epoch != now.epoch && before.thread != engine) return false;
  return !ordered(before, now);
}

template <class F>
void SharedMemoryChecker::for_each_cell(unsigned rank, std::size_t offset, std::size_t bytes, F&& f) {
  const std::size_t base = rank * bytes_a_block_;
  const std::size_t end = std::min(offset + bytes, bytes_a_block_);
  while (offset < end) {
    const std::size_t in_word = offset % word_bytes, step = std::min(word_bytes - in_word, end - offset);
    Cell& word = words_[(base + offset) / word_bytes];
    if (word.generation != generation_) word = {.generation = generation_};
    if (step < word_bytes && !word.split) {
      if (bytes_.empty()) bytes_.resize(words_.size() * word_bytes);
      if (bytes_.size() < words_.size() * word_bytes) bytes_.resize(words_.size() * word_bytes);
      std::fill_n(&bytes_[base + offset - in_word], word_bytes, word);
      word.split = true;
    }
    if (!word.split)
      f(word, offset);
    else
      for (std::size_t i = 0; i < step; ++i) f(bytes_[base + offset + i], offset + i);
    offset += step;
  }
}

void SharedMemoryChecker::access(unsigned rank, std::size_t offset, unsigned bytes, Access kind, std::uint32_t place) {
  const Stamp me = stamp(rank, place);
  for_each_cell(rank, offset, bytes, [&](Cell& cell, std::size_t at) { check(cell, kind, me, rank, at, me.thread); });
}

void SharedMemoryChecker::bulk_write(unsigned rank, std::size_t offset, std::size_t bytes, std::uint32_t place) {
  const Stamp me = stamp(rank, place);
  for_each_cell(rank, offset, bytes,
                [&](Cell& cell, std::size_t at) { check(cell, Access::store, me, rank, at, engine); });
}

// `writer` is recorded as the writer: the lane, or the bulk-copy engine that it started.
void SharedMemoryChecker::check(Cell& cell, Access kind, const Stamp& me, unsigned rank, std::size_t offset,
                                Thread writer) {
  if (kind != Access::store && !cell.written)
    worker_.report("uninitialised shared read", me.place,
                   worker_.who() + " reads " + describe(rank, offset) + " before any write, " + place_text(me.place));
  const bool both_atomic = kind == Access::atomic && cell.atomic;
  if (cell.written && !both_atomic && conflicts(cell.writer, me))
    report_race(kind == Access::load ? "read after write" : "write after write", cell.writer, me, rank, offset);
  if (kind == Access::load) {
    // Keep the readers that a later write can still conflict with.
    if (cell.reader.thread == me.thread || !conflicts(cell.reader, me))
      cell.reader = me;
    else
      cell.other_reader = me;
    return;
  }
  if (conflicts(cell.reader, me))
    report_race("write after read", cell.reader, me, rank, offset);
  else if (conflicts(cell.other_reader, me))
    report_race("write after read", cell.other_reader, me, rank, offset);
  cell.written = true;
  cell.atomic = kind == Access::atomic;
  cell.writer = me;
  if (writer == engine) {
    cell.writer.thread = engine;
    cell.writer.clock = engine_clock_;
  }
}

void SharedMemoryChecker::report_race(const char* what, const Stamp& before, const Stamp& now, unsigned rank,
                                      std::size_t offset) {
  const std::uint64_t low = std::min(before.place, now.place), high = std::max(before.place, now.place);
  const std::string other = before.thread == engine
                                ? "a bulk copy whose mbarrier has not been waited for"
                                : "thread " + std::to_string(before.thread % threads_a_block) +
                                      (warp_of(before.thread) == warp_of(now.thread) ? " of the same warp" : "");
  worker_.report("shared race", (high << 32) | low,
                 std::string(what) + " of " + describe(rank, offset) + ": " + worker_.who() + ", " +
                     place_text(now.place) + ", and " + other + ", " + place_text(before.place));
}

std::string SharedMemoryChecker::describe(unsigned rank, std::size_t offset) const {
  const std::size_t static_bytes = module().thread_storage().size();
  const std::string whose = rank == worker_.block->rank ? "" : " of cluster rank " + std::to_string(rank);
  if (offset >= static_bytes)
    return "byte " + std::to_string(offset - static_bytes) + " of dynamic shared memory" + whose;
  const Module::Variable* variable = module().variable_at(offset);
  if (!variable) return "shared memory" + whose;
  // The name alone: the text before it is the kernel's signature.
  const std::size_t colon = variable->name.rfind("::");
  return variable->name.substr(colon == std::string::npos ? 0 : colon + 2) + " + " +
         std::to_string(offset - variable->offset) + whose;
}

// ---- ordering -------------------------------------------------------------------------------------------------------

void SharedMemoryChecker::barrier(unsigned rank) {
  epochs_[rank] = next_epoch_++;
  if (seen_.empty()) return;
  // The whole block has now seen what any of its warps has seen of other warps and of bulk copies.
  const std::size_t first = std::size_t{rank} * warps_a_block_;
  for (std::size_t other = 0; other <= warps_; ++other) {
    Clock most = 0;
    for (std::size_t w = first; w < first + warps_a_block_; ++w) most = std::max(most, seen(w, other));
    for (std::size_t w = first; w < first + warps_a_block_; ++w) seen(w, other) = most;
  }
}

void SharedMemoryChecker::lanes_met(const Warp& warp, std::uint32_t mask) {
  WarpClock& clock = clocks_[std::size_t{warp.block->rank} * warps_a_block_ + warp.index];
  ++clock.now;
  if (mask == warp.live) {
    clock.all_met = clock.now;
    return;
  }
  for_each_bit(mask, [&](int i) { for_each_bit(mask, [&](int j) { clock.met[i][j] = clock.now; }); });
}

void SharedMemoryChecker::publish(std::uint64_t mbarrier, bool copied) {
  if (seen_.empty()) seen_.assign(warps_ * (warps_ + 1), 0);
  auto& published = published_[mbarrier];
  published.resize(warps_ + 1, 0);
  const std::size_t here = warp_of(stamp(worker_.block->rank, 0).thread);
  for (std::size_t w = 0; w <= warps_; ++w) published[w] = std::max(published[w], seen(here, w));
  published[here] = ++clocks_[here].now;
  if (copied) published[warps_] = ++engine_clock_;
}

void SharedMemoryChecker::acquire(std::uint64_t mbarrier) {
  const auto found = published_.find(mbarrier);
  if (found == published_.end()) return;
  const std::size_t here = warp_of(stamp(worker_.block->rank, 0).thread);
  for (std::size_t w = 0; w <= warps_; ++w) seen(here, w) = std::max(seen(here, w), found->second[w]);
}

}  // namespace upsweep::simt
