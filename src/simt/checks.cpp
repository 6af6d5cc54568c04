#include "simt/checks.h"

#include <algorithm>
#include <span>

#include "simt/module.h"
#include "simt/symbolize.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {
constexpr unsigned word_bytes = 4;
}  // namespace

void SharedMemoryChecker::begin_launch(unsigned blocks, std::size_t bytes_a_block, unsigned threads_a_block) {
  bytes_a_block_ = (bytes_a_block + word_bytes - 1) / word_bytes * word_bytes;
  threads_a_block_ = threads_a_block;
  if (words_.size() < blocks * bytes_a_block_ / word_bytes) words_.resize(blocks * bytes_a_block_ / word_bytes);
  order.begin_launch(blocks, threads_a_block);
  fenced_.resize(std::size_t{blocks} * threads_a_block);
  to_peers_.resize(blocks > 1 ? blocks * fenced_.size() : 0);
}

void SharedMemoryChecker::begin_cluster(std::uint32_t settled) {
  ++generation_;
  order.begin_cluster(settled);
  std::ranges::fill(fenced_, 0);
  std::ranges::fill(to_peers_, Stamp{});
}

ThreadNumber SharedMemoryChecker::thread() const {
  const Lane& lane = *worker_.lane;
  return static_cast<ThreadNumber>(lane.block->rank * threads_a_block_ + lane.index);
}
ThreadNumber SharedMemoryChecker::first_thread(const Warp& warp) const {
  return static_cast<ThreadNumber>(warp.block->rank * threads_a_block_ + warp.index * 32);
}

SharedMemoryChecker::Stamp SharedMemoryChecker::stamp(std::uint32_t place, bool atomic) const {
  const ThreadNumber me = thread();
  return {order.now(me), place, me, atomic};
}

bool SharedMemoryChecker::conflicts(const Stamp& before, const Stamp& now) const {
  return before.tick && before.thread != now.thread && !order.knows(now.thread, before.thread, before.tick);
}

bool SharedMemoryChecker::same_warp(ThreadNumber a, ThreadNumber b) const {
  return a / threads_a_block_ == b / threads_a_block_ && a % threads_a_block_ / 32 == b % threads_a_block_ / 32;
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
  const Stamp me = stamp(place, kind == Access::atomic);
  if (rank != worker_.block->rank) check_peer(rank, me);
  for_each_cell(rank, offset, bytes, [&](Cell& cell, std::size_t at) { check(cell, kind, me, me, rank, at); });
}

// Reports an access to a peer that may not be running. A block's shared memory exists only while the block runs, which
// its peers know only through synchronisation.
void SharedMemoryChecker::check_peer(unsigned rank, const Stamp& me) {
  const unsigned first = rank * threads_a_block_;
  bool has_begun = false;
  for (unsigned t = 0; t < threads_a_block_ && !has_begun; ++t)
    has_begun = order.knows(me.thread, static_cast<ThreadNumber>(first + t), 1);
  to_peers_[rank * fenced_.size() + me.thread] = me;
  if (has_begun && worker_.blocks[rank].live) return;
  worker_.report("peer not running", me.place,
                 worker_.who() + " accesses the shared memory of cluster rank " + std::to_string(rank) + ", which " +
                     (has_begun ? "has ended, " : "may not have begun, ") + place_text(me.place));
}

void SharedMemoryChecker::block_done(unsigned rank) {
  if (to_peers_.empty()) return;
  const unsigned first = rank * threads_a_block_;
  for (const Stamp& access : std::span(to_peers_).subspan(rank * fenced_.size(), fenced_.size())) {
    if (!access.tick) continue;
    bool known = false;
    for (unsigned t = 0; t < threads_a_block_ && !known; ++t)
      known = order.knows(static_cast<ThreadNumber>(first + t), access.thread, access.tick);
    if (known) continue;
    worker_.report("peer not running", access.place,
                   "cluster rank " + std::to_string(rank) + " of " + worker_.run->kernel_name +
                       " may end before a peer has accessed its shared memory, " + place_text(access.place));
    return;
  }
}

// The copy is ordered after everything that precedes its issue, and before only those accesses that follow a wait for
// its mbarrier.
void SharedMemoryChecker::bulk_write(unsigned rank, std::size_t offset, std::size_t bytes, std::uint64_t mbarrier,
                                     std::uint32_t place) {
  const Stamp me = stamp(place);
  const auto [copy, tick] = order.copy(mbarrier);
  const Stamp writer{tick, place, copy, false};
  for_each_cell(rank, offset, bytes, [&](Cell& cell, std::size_t at) {
    check_fenced(cell, me, rank, at);
    check(cell, Access::store, me, writer, rank, at);
  });
}

void SharedMemoryChecker::fence_before_bulk_copy() {
  const ThreadNumber me = thread();
  fenced_[me] = order.now(me);
  order.release(me);  // later writes have a later tick
}

// Reports unfenced writes that a bulk copy overwrites. Reads need no fence, because their values are in registers.
void SharedMemoryChecker::check_fenced(const Cell& cell, const Stamp& me, unsigned rank, std::size_t offset) {
  const auto unfenced = [&](const Stamp& s) { return !order.is_copy(s.thread) && s.tick > fenced_[s.thread]; };
  const Stamp* found = unfenced(cell.writer) ? &cell.writer : nullptr;
  for (unsigned i = 0; i < cell.readers; ++i)
    if (cell.reader[i].atomic && unfenced(cell.reader[i])) found = &cell.reader[i];
  if (!found) return;
  worker_.report("missing proxy fence", std::uint64_t{me.place} << 32 | found->place,
                 describe(rank, offset) + ", written by thread " + std::to_string(found->thread % threads_a_block_) +
                     ", " + place_text(found->place) + ", without fence_before_bulk_copy() before a bulk copy of " +
                     worker_.who() + ", " + place_text(me.place));
}

// Checks an access of thread `me` against a cell, and records it. A store records `writer` as the cell's writer: the
// thread itself, or the bulk copy that it started.
void SharedMemoryChecker::check(Cell& cell, Access kind, const Stamp& me, const Stamp& writer, unsigned rank,
                                std::size_t offset) {
  if (kind != Access::store && !cell.written)
    worker_.report("uninitialised shared read", me.place,
                   worker_.who() + " reads " + describe(rank, offset) + " before any write, " + place_text(me.place));
  if (cell.written && conflicts(cell.writer, me))
    report_race(kind == Access::load ? "read after write" : "write after write", cell.writer, me, rank, offset);
  for (unsigned i = 0; i < cell.readers; ++i) {
    const Stamp& reader = cell.reader[i];
    if (kind == Access::load ? !reader.atomic : me.atomic && reader.atomic) continue;
    if (!conflicts(reader, me)) continue;
    report_race(kind == Access::load ? "read after write" : "write after read", reader, me, rank, offset);
    break;
  }
  if (kind != Access::load) cell.written = true;
  if (kind != Access::store) return note_reader(cell, me);
  cell.readers = 0;  // an access ordered after this write is also ordered after these reads
  cell.writer = writer;
}

void SharedMemoryChecker::note_reader(Cell& cell, const Stamp& me) const {
  unsigned of_my_warp = 0, last_of_my_warp = 0;
  for (unsigned i = 0; i < cell.readers; ++i) {
    Stamp& reader = cell.reader[i];
    if (reader.atomic == me.atomic && !conflicts(reader, me)) {
      reader = me;
      return;
    }
    if (same_warp(reader.thread, me.thread)) {
      ++of_my_warp;
      last_of_my_warp = i;
    }
  }
  if (of_my_warp < 2 && cell.readers < most_readers)
    cell.reader[cell.readers++] = me;
  else
    cell.reader[of_my_warp ? last_of_my_warp : 1 + me.thread / 32 % (most_readers - 1)] = me;
}

void SharedMemoryChecker::report_race(const char* what, const Stamp& before, const Stamp& now, unsigned rank,
                                      std::size_t offset) {
  const std::uint64_t low = std::min(before.place, now.place), high = std::max(before.place, now.place);
  const std::string other = order.is_copy(before.thread)
                                ? "a bulk copy whose mbarrier has not been waited for"
                                : "thread " + std::to_string(before.thread % threads_a_block_) +
                                      (same_warp(before.thread, now.thread) ? " of the same warp" : "");
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
  // Drops the kernel's signature, which precedes the variable's name.
  const std::size_t colon = variable->name.rfind("::");
  return variable->name.substr(colon == std::string::npos ? 0 : colon + 2) + " + " +
         std::to_string(offset - variable->offset) + whose;
}

}  // namespace upsweep::simt
