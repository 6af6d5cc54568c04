#include "simt/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "simt/addresses.h"
#include "simt/worker.h"
#include "upsweep/error.h"

namespace upsweep::simt {
namespace {
constexpr std::size_t alignment = 256;  // as Platform promises
constexpr std::size_t red_zone = 256;   // on each side of an allocation: two between neighbours
constexpr unsigned char poison = 0xCD;
// Maximum size of the region, which is address space only. reservable() also limits it to half of the machine's memory,
// because poisoning touches every page.
constexpr std::size_t most_bytes = std::size_t{64} << 30;
// Minimum size of the region; if less is available, reserve() fails.
constexpr std::size_t least_bytes = std::size_t{1} << 20;
// Minimum size of a released buffer whose pages are returned to the system.
constexpr std::size_t worth_returning = std::size_t{1} << 20;
constexpr std::size_t page_bytes = 4096;
// Maximum bytes in quarantine: small, so that a loop of small cases stays in cache.
constexpr std::size_t most_quarantined = std::size_t{1} << 20;

std::size_t round_up(std::size_t n) { return (n + alignment - 1) / alignment * alignment; }
}  // namespace

// Returns the size of the region to reserve: with its shadow and the traced emulator's cells (twice the region's size),
// at most half of the address space that a limit leaves. The other half is for stacks and the rest of the program.
std::size_t Arena::reservable() {
  const std::size_t memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t sixteenths = 16 + 1 + (traced ? 32 : 0);
  const std::size_t room = available_addresses() / 2 / sixteenths * 16;
  return std::min({most_bytes, memory / 2, room}) / page_bytes * page_bytes;
}

void Arena::reserve() {
  const std::lock_guard lock(mutex_);
  reserve_locked();
}

// Halves the size until a reservation succeeds, because some limits cannot be queried, such as that of a system without
// overcommit.
void Arena::reserve_locked() {
  if (size_) return;
  for (std::size_t bytes = reservable();; bytes = bytes / 2 / page_bytes * page_bytes) {
    if (bytes < least_bytes) reserve_addresses(least_bytes);  // throws
    void* const region = try_reserve(bytes);
    void* const shadow = region ? try_reserve(bytes / granule) : nullptr;
    if (shadow) {
      begin_ = reinterpret_cast<std::uintptr_t>(region);
      shadow_ = static_cast<std::uint8_t*>(shadow);
      size_ = bytes;
      free_[begin_] = size_;
      return;
    }
    if (region) munmap(region, bytes);
  }
}

Arena::~Arena() {
  if (!size_) return;
  munmap(reinterpret_cast<void*>(begin_), size_);
  munmap(shadow_, size_ / granule);
}

void Arena::set_shadow(std::uintptr_t from, std::size_t bytes, bool valid) {
  std::uint8_t* const first = shadow_ + (from - begin_) / granule;
  std::memset(first, valid ? granule : 0, bytes / granule);
  if (bytes % granule) first[bytes / granule] = valid ? bytes % granule : 0;
}

std::uintptr_t Arena::take_free(std::size_t need) {
  const auto place = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= need; });
  if (place == free_.end()) return 0;
  const auto [at, room] = *place;
  free_.erase(place);
  if (room > need) free_[at + need] = room - need;
  return at;
}

// Marks a range as free and merges it with its free neighbours.
void Arena::give_back(std::uintptr_t begin, std::size_t bytes) {
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == begin + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  free_[begin] = bytes;
}

void* Arena::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  reserve_locked();
  const std::size_t need = bytes > size_ ? bytes : round_up(bytes) + 2 * red_zone;
  std::uintptr_t at = take_free(need);
  while (!at && !quarantine_.empty()) {
    const auto [begin, size] = quarantine_.front();
    quarantine_.pop_front();
    quarantined_ -= size;
    give_back(begin, size);
    at = take_free(need);
  }
  if (!at)
    throw Error(
        Code::out_of_memory,
        "cannot allocate " + std::to_string(bytes) + " bytes of the emulator's " + std::to_string(size_ >> 20) + " MiB",
        "use a smaller n");
  const std::uintptr_t memory = at + red_zone;
  allocations_[memory] = bytes;
  std::memset(reinterpret_cast<void*>(memory), poison, bytes);
  set_shadow(memory, bytes, true);
  return reinterpret_cast<void*>(memory);
}

void Arena::release(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) return;
  const auto [at, bytes] = *found;
  allocations_.erase(found);
  set_shadow(at, bytes, false);
  if (bytes >= worth_returning) {
    const std::uintptr_t first = (at + page_bytes - 1) / page_bytes * page_bytes;
    madvise(reinterpret_cast<void*>(first), (at + bytes - first) / page_bytes * page_bytes, MADV_DONTNEED);
  }
  const std::size_t size = round_up(bytes) + 2 * red_zone;
  quarantine_.emplace_back(at - red_zone, size);
  quarantined_ += size;
  while (quarantined_ > most_quarantined) {
    const auto [begin, oldest] = quarantine_.front();
    quarantine_.pop_front();
    quarantined_ -= oldest;
    give_back(begin, oldest);
  }
}

std::string Arena::describe(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const auto buffer = [](std::size_t bytes) { return " of a buffer of " + std::to_string(bytes) + " bytes"; };
  const auto after = allocations_.upper_bound(address);
  std::size_t best = ~std::size_t{0};
  std::string text = "near no buffer";
  if (after != allocations_.begin()) {
    const auto before = std::prev(after);
    best = address - std::min(address, before->first + before->second);
    text = address < before->first + before->second
               ? "across the end" + buffer(before->second)
               : std::to_string(best) + " bytes past the end" + buffer(before->second);
  }
  if (after != allocations_.end() && after->first - address < best)
    text = std::to_string(after->first - address) + " bytes before the start" + buffer(after->second);
  return text;
}

}  // namespace upsweep::simt
