#include "simt/global_checks.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/arena.h"
#include "simt/checks.h"
#include "simt/session.h"
#include "simt/symbolize.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {

constexpr std::uint64_t launches = std::uint64_t{1} << 24,
                        clocks = std::uint64_t{1} << 23;  // that a Cell can represent

void join(FenceClocks& into, const FenceClocks& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t b = 0; b < from.size(); ++b) into[b] = std::max(into[b], from[b]);
}

// Calls f(address of a 4-byte word, mask of its bytes) for every word that [address, address + bytes) touches.
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

// Eight bytes for every four, of address space only: pages are allocated when they are written.
GlobalWrites::GlobalWrites(const Arena& arena) : begin_(arena.begin()), bytes_(2 * arena.size()) {
  cells_ = static_cast<std::atomic<std::uint64_t>*>(reserve_addresses(bytes_));
}
GlobalWrites::~GlobalWrites() { munmap(cells_, bytes_); }

void GlobalWrites::begin_launch(bool overlaps) {
  published_.clear();
  if (++launch_ == launches) {
    madvise(cells_, bytes_, MADV_DONTNEED);  // zero again: no launch
    launch_ = 1;
    settled_ = 0;
  }
  // A launch that may overlap starts when the one before it has started and lets it: nothing more is over than then.
  if (!overlaps) settled_ = launch_ - 1;
}

void GlobalWrites::forget(const void* memory, std::size_t bytes) {
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(memory) - begin_) / 4 * sizeof(Cell),
                       last = first + (bytes + 3) / 4 * sizeof(Cell);
  // Whole pages are given back, not touched: most have never been.
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

void GlobalWrites::publish(std::uintptr_t address, const FenceClocks& released) {
  const std::lock_guard lock(mutex_);
  join(published_[address], released);
}

void GlobalWrites::acquire(const std::unordered_set<std::uintptr_t>& addresses, FenceClocks& known) {
  const std::lock_guard lock(mutex_);
  for (const std::uintptr_t address : addresses)
    if (const auto found = published_.find(address); found != published_.end()) join(known, found->second);
}

GlobalWrites& global_writes() {
  static GlobalWrites writes(session().arena);
  return writes;
}

// ---- one block ------------------------------------------------------------------------------------------------------

void GlobalMemoryChecker::begin_launch(GlobalWrites& writes, std::size_t blocks) {
  writes_ = blocks <= GlobalWrites::most_blocks ? &writes : nullptr;
}

void GlobalMemoryChecker::begin_block(std::size_t block) {
  block_ = block;
  clock_ = 1;
  known_.clear();
  released_.clear();
  strong_reads_.clear();
}

// True if an earlier launch wrote the cell, and may be running still as far as this thread knows.
bool GlobalMemoryChecker::overlaps(const GlobalWrites::Cell& cell) const {
  return cell.launch != writes_->launch() && cell.launch > shared_.order.settled(shared_.thread());
}

void GlobalMemoryChecker::read(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place) {
  if (!writes_) return;
  for_each_cell(address, bytes, [&](std::uintptr_t word, unsigned touched) {
    const auto cell = std::bit_cast<GlobalWrites::Cell>(writes_->cell(word).load(std::memory_order_relaxed));
    if (!(cell.bytes & touched)) return;
    if (overlaps(cell))
      worker_.report("overlap race", place,
                     worker_.who() + " reads what an earlier launch may still write: it has not waited for it, " +
                         place_text(place));
    if (cell.launch != writes_->launch() || cell.block == block_) return;
    if (cell.strong && strong) return;
    if (cell.block < known_.size() && known_[cell.block] >= cell.clock) return;
    worker_.report("global race", place,
                   worker_.who() + " reads what block " + std::to_string(cell.block) +
                       " wrote, and no fence and flag in between order the two, " + place_text(place));
  });
  // What it acquires is looked up at the next fence: by then the value that was read has been published.
  if (strong) strong_reads_.insert(address);
}

void GlobalMemoryChecker::write(std::uintptr_t address, std::size_t bytes, bool strong, std::uint32_t place) {
  if (!writes_) return;
  for_each_cell(address, bytes, [&](std::uintptr_t word, unsigned touched) {
    const auto before = std::bit_cast<GlobalWrites::Cell>(writes_->cell(word).load(std::memory_order_relaxed));
    if ((before.bytes & touched) && overlaps(before))
      worker_.report("overlap race", place,
                     worker_.who() + " overwrites what an earlier launch may still write: it has not waited for it, " +
                         place_text(place));
    const GlobalWrites::Cell cell{
        .launch = writes_->launch(), .block = block_, .clock = clock_, .bytes = touched, .strong = strong};
    writes_->cell(word).store(std::bit_cast<std::uint64_t>(cell), std::memory_order_relaxed);
  });
  if (strong && !released_.empty()) writes_->publish(address, released_);
}

void GlobalMemoryChecker::fence() {
  if (!writes_) return;
  writes_->acquire(strong_reads_, known_);
  strong_reads_.clear();
  if (known_.size() <= block_) known_.resize(block_ + 1);
  known_[block_] = clock_;
  released_ = known_;
  clock_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(clock_ + 1, clocks - 1));
}

}  // namespace upsweep::simt
