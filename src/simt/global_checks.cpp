#include "simt/global_checks.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "simt/addresses.h"
#include "simt/arena.h"
#include "simt/block.h"
#include "simt/checks.h"
#include "simt/session.h"
#include "simt/symbolize.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {

constexpr std::uint32_t launches = 1u << 12;  // launch numbers that a Cell can represent
constexpr std::size_t most_readers = 64;      // per word; at most two per cluster
// Not constexpr, because Clang does not yet support bit_cast of bit-fields in constant expressions.
const std::uint64_t watched_bit = std::bit_cast<std::uint64_t>(GlobalWrites::Cell{0, 0, 0, 0, 0, 0, 1});

// Calls f(word, mask) for every 4-byte word that [address, address + bytes) touches: the word's address, and a bit for
// each of its bytes in the range.
template <class F>
void for_each_cell(std::uintptr_t address, std::size_t bytes, F&& f) {
  for (const std::uintptr_t end = address + bytes; address < end;) {
    const std::uintptr_t word = address & ~std::uintptr_t{3}, until = std::min(word + 4, end);
    f(word, (1u << (until - word)) - (1u << (address - word)));
    address = until;
  }
}

}  // namespace

// ---- shared by the workers ------------------------------------------------------------------------------------------

// One 8-byte cell per four bytes of memory; its pages are allocated when first written.
GlobalWrites::GlobalWrites(const Arena& arena) : begin_(arena.begin()), bytes_(2 * arena.size()) {
  cells_ = static_cast<std::atomic<std::uint64_t>*>(reserve_addresses(bytes_));
}
GlobalWrites::~GlobalWrites() { munmap(cells_, bytes_); }

void GlobalWrites::begin_launch(bool overlaps) {
  words.clear();
  for (auto& releases : releases_) releases.clear();
  if (++launch_ == launches) {
    madvise(cells_, bytes_, MADV_DONTNEED);  // all cells are zero again: written by no launch
    launch_ = 1;
    settled_ = 0;
  }
  // A launch that may overlap starts when its predecessor triggers it, so settled_ does not advance.
  if (!overlaps) settled_ = launch_ - 1;
}

void GlobalWrites::forget(const void* memory, std::size_t bytes) {
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(memory) - begin_) / 4 * sizeof(Cell),
                       last = first + (bytes + 3) / 4 * sizeof(Cell);
  // Whole pages are returned to the system rather than cleared, because most have never been touched.
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t begin = (first + page - 1) / page * page, end = last / page * page;
  char* const cells = reinterpret_cast<char*>(cells_);
  if (begin >= end) {
    std::memset(cells + first, 0, last - first);
    return;
  }
  std::memset(cells + first, 0, begin - first);
  madvise(cells + begin, end - begin, MADV_DONTNEED);
  std::memset(cells + end, 0, last - end);
}

std::uint32_t GlobalWrites::release(std::uint32_t cluster, Relation relation, const HappensBefore& order,
                                    ThreadNumber thread) {
  auto& all = releases_[relation];
  if (all.size() <= cluster) all.resize(cluster + 1);
  Releases& releases = all[cluster];
  const auto known = order.known(thread);
  if (releases.steps.size() < known.size()) releases.steps.resize(known.size());
  const std::uint32_t number = ++releases.count;
  const auto cover = [&](std::size_t t, Tick tick) {
    auto& steps = releases.steps[t];
    if (tick > (steps.empty() ? 0 : steps.back().tick)) steps.push_back({number, tick});
  };
  if (releases.known_number != order.known_number(thread))
    for (std::size_t t = 0; t < known.size(); ++t) cover(t, known[t]);
  releases.known_number = order.known_number(thread);
  cover(thread, order.now(thread));
  return number;
}

bool GlobalWrites::covers(std::uint32_t cluster, Relation relation, std::uint32_t number, ThreadNumber thread,
                          Tick tick) const {
  const auto& all = releases_[relation];
  if (cluster >= all.size() || thread >= all[cluster].steps.size()) return false;
  const auto& steps = all[cluster].steps[thread];
  const auto later = std::upper_bound(steps.begin(), steps.end(), number,
                                      [](std::uint32_t n, const Releases::Step& step) { return n < step.number; });
  return later != steps.begin() && std::prev(later)->tick >= tick;
}

GlobalWrites& global_writes() {
  session().arena.reserve();
  static GlobalWrites writes(session().arena);
  return writes;
}

// ---- one cluster ----------------------------------------------------------------------------------------------------

void GlobalMemoryChecker::begin_launch(GlobalWrites& writes, std::size_t clusters) {
  writes_ = clusters <= GlobalWrites::most_clusters ? &writes : nullptr;
}

void GlobalMemoryChecker::begin_cluster(std::size_t cluster) {
  cluster_ = static_cast<std::uint32_t>(cluster);
  threads_.assign(shared_.order.known(0).size(), {});
}

// True if the cell was written by an earlier launch that, as far as this thread knows, may still be running.
bool GlobalMemoryChecker::overlaps(const GlobalWrites::Cell& cell) const {
  return cell.launch != writes_->launch() && cell.launch > shared_.order.settled(shared_.thread());
}

// True if the access is ordered before the thread's next step.
bool GlobalMemoryChecker::after(const GlobalWrites::Access& access, Relation relation, ThreadNumber thread) const {
  const HappensBefore& order = shared_.order;
  if (access.cluster == cluster_ && (access.thread == thread || order.knows(thread, access.thread, access.tick)))
    return true;
  const OtherClocks& others = order.others(thread, relation);
  return others && access.cluster < others->size() && (*others)[access.cluster] &&
         writes_->covers(access.cluster, relation, (*others)[access.cluster], access.thread, access.tick);
}

void GlobalMemoryChecker::report(const char* what, std::uint32_t cluster, ThreadNumber thread,
                                 std::uint32_t place) const {
  const std::string block = cluster == cluster_ ? "the same block" : "block " + std::to_string(cluster);
  worker_.report("global race", place,
                 worker_.who() + " " + what + " thread " + std::to_string(thread) + " of " + block +
                     " in this launch, and nothing orders the two accesses, " + place_text(place));
}

void GlobalMemoryChecker::read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place) {
  if (!writes_) return;
  const ThreadNumber me = shared_.thread();
  if (strong) {
    if (threads_[me].read != address) settle_reads(me);
    threads_[me].read = address;
    threads_[me].alone = true;
  }
  for_each_cell(address, bytes, [&](std::uintptr_t word, unsigned touched) {
    std::atomic<std::uint64_t>& at = writes_->cell(word);
    const std::uint64_t bits = at.load(std::memory_order_relaxed);
    const auto cell = std::bit_cast<GlobalWrites::Cell>(bits);
    if (strong) {
      if (!cell.watched) at.fetch_or(watched_bit, std::memory_order_relaxed);
      note_reader(word, place, me);
    }
    if (!(cell.bytes & touched)) return;
    if (overlaps(cell))
      worker_.report("overlap race", place,
                     worker_.who() + " reads memory that an earlier launch may still write, without waiting for it, " +
                         place_text(place));
    if (cell.launch != writes_->launch() || (cell.strong && strong)) return;
    const auto cluster = static_cast<std::uint32_t>(cell.cluster);
    const auto thread = static_cast<ThreadNumber>(cell.thread);
    if (cluster == cluster_ && thread == me) return;
    const std::lock_guard lock(writes_->mutex);
    if (!after({cluster, thread, static_cast<Tick>(cell.tick), 0}, fenced, me))
      report("reads memory written by", cluster, thread, place);
  });
}

void GlobalMemoryChecker::write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place) {
  if (!writes_) return;
  const ThreadNumber me = shared_.thread();
  HappensBefore& order = shared_.order;
  if (strong && threads_[me].read != address) settle_reads(me);
  for_each_cell(address, bytes, [&](std::uintptr_t word, unsigned touched) {
    const auto before = std::bit_cast<GlobalWrites::Cell>(writes_->cell(word).load(std::memory_order_relaxed));
    if ((before.bytes & touched) && overlaps(before))
      worker_.report("overlap race", place,
                     worker_.who() + " writes memory that an earlier launch may still write, without waiting for it, " +
                         place_text(place));
    if (before.watched && !strong) {
      settle_reads(me);
      const std::lock_guard lock(writes_->mutex);
      if (const auto found = writes_->words.find(word); found != writes_->words.end())
        for (const GlobalWrites::Access& reader : found->second.readers)
          if (!after(reader, observed, me)) {
            report("overwrites memory that may not have been read yet by", reader.cluster, reader.thread, place);
            break;
          }
    }
    const GlobalWrites::Cell cell{.launch = writes_->launch(),
                                  .cluster = cluster_,
                                  .thread = me,
                                  .tick = std::min(order.now(me), GlobalWrites::most_ticks),
                                  .bytes = touched,
                                  .strong = strong,
                                  .watched = before.watched};
    writes_->cell(word).store(std::bit_cast<std::uint64_t>(cell), std::memory_order_relaxed);
  });
  if (!strong) return;
  const std::lock_guard lock(writes_->mutex);
  GlobalWrites::Word& word = writes_->words[address];
  Clocks own(cluster_ + 1);
  own[cluster_] = writes_->release(cluster_, observed, order, me);
  order.release(me);
  if (const OtherClocks& others = order.others(me, observed)) join(word.published[observed], *others);
  join(word.published[observed], own);
  if (threads_[me].released) join(word.published[fenced], *threads_[me].released);
}

void GlobalMemoryChecker::note_reader(std::uintptr_t address, std::uint32_t place, ThreadNumber thread) {
  const GlobalWrites::Access me{cluster_, thread, std::min(shared_.order.now(thread), GlobalWrites::most_ticks), place};
  const std::lock_guard lock(writes_->mutex);
  auto& readers = writes_->words[address].readers;
  unsigned mine = 0;
  for (std::size_t i = readers.size(); i-- > 0;) {
    if (readers[i].cluster != cluster_) continue;
    if (readers[i].thread == thread || ++mine == 2) {
      readers[i] = me;
      return;
    }
  }
  if (readers.size() < most_readers) readers.push_back(me);
}

void GlobalMemoryChecker::exchanged(ThreadNumber first, std::uint32_t mask) {
  if (!writes_) return;
  OtherClocks all;
  for_each_bit(mask, [&](int i) {
    const auto t = static_cast<ThreadNumber>(first + i);
    if (!std::exchange(threads_[t].alone, false)) return;
    settle_reads(t);
    Clocks own(cluster_ + 1);
    {
      const std::lock_guard lock(writes_->mutex);
      own[cluster_] = writes_->release(cluster_, observed, shared_.order, t);
    }
    shared_.order.release(t);
    if (const OtherClocks& others = shared_.order.others(t, observed)) join(all, *others);
    join(all, own);
  });
  if (all) shared_.order.learn(first, mask, observed, *all);
}

void GlobalMemoryChecker::look_up(ThreadNumber thread) {
  Thread& t = threads_[thread];
  const std::uintptr_t address = std::exchange(t.read, 0);
  const std::lock_guard lock(writes_->mutex);
  const auto found = writes_->words.find(address);
  if (found == writes_->words.end()) return;
  const auto& published = found->second.published;
  if (published[observed]) shared_.order.learn(thread, observed, *published[observed]);
  if (published[fenced]) join(t.acquired, *published[fenced]);
}

void GlobalMemoryChecker::fence() {
  if (!writes_) return;
  const ThreadNumber me = shared_.thread();
  settle_reads(me);
  Thread& t = threads_[me];
  HappensBefore& order = shared_.order;
  if (t.acquired) order.learn(me, fenced, *t.acquired);
  t.acquired = nullptr;
  const std::lock_guard lock(writes_->mutex);
  Clocks own(cluster_ + 1);
  own[cluster_] = writes_->release(cluster_, fenced, order, me);
  order.release(me);
  t.released = order.others(me, fenced);
  join(t.released, own);
}

}  // namespace upsweep::simt
