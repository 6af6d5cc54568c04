#include "simt/async.h"

#include <bit>
#include <cstring>

#include "simt/session.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {

// The emulator's layout of an mbarrier's 64-bit word. The hardware's layout differs, so kernels must not interpret the
// word.
struct Mbarrier {
  std::uint64_t phase : 1;  // parity of the open phase
  std::uint64_t valid : 1;
  std::uint64_t count : 20;    // arrivals per phase
  std::uint64_t pending : 20;  // arrivals still missing in the open phase
  std::int64_t bytes : 22;     // expected and not yet copied; negative if the copy came first
};
static_assert(sizeof(Mbarrier) == sizeof(std::uint64_t));

// Checks the running lane's access to an mbarrier. It is not counted, because on the device it is neither a load nor a
// store.
void touch([[maybe_unused]] const void* mbarrier, [[maybe_unused]] bool initialises,
           [[maybe_unused]] const void* caller) {
  current_worker->explore(false);
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.inspect(mbarrier, sizeof(Mbarrier), initialises ? Access::store : Access::atomic, true,
                                 caller);
#endif
}
// Record the ordering that an arrival, the completion of a phase and a wait for that phase establish.
void arrived([[maybe_unused]] const void* mbarrier) {
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.mbarrier_arrived(mbarrier);
#endif
}
void completed([[maybe_unused]] const void* mbarrier) {
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.mbarrier_completed(mbarrier);
#endif
}
void waited([[maybe_unused]] const void* mbarrier) {
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.mbarrier_waited(mbarrier);
#endif
}

Mbarrier read(const std::uint64_t* word) {
  const auto mbarrier = std::bit_cast<Mbarrier>(*word);
  // Poisoned shared memory (0xCD) and zero both fail, because their valid bit is 0.
  if (!mbarrier.valid || !mbarrier.count || mbarrier.pending > mbarrier.count)
    current_worker->fail("trap", current_worker->who() + ": use of an uninitialised mbarrier");
  return mbarrier;
}

void write(std::uint64_t* word, Mbarrier mbarrier) {
  if (mbarrier.pending == 0 && mbarrier.bytes == 0) {
    mbarrier.phase ^= 1;
    mbarrier.pending = mbarrier.count;
    completed(word);
    current_worker->wake_mbarrier_waiters();
  }
  *word = std::bit_cast<std::uint64_t>(mbarrier);
}

void arrive(std::uint64_t* word, unsigned count, unsigned bytes) {
  Mbarrier mbarrier = read(word);
  if (mbarrier.pending < count)
    current_worker->fail("trap", current_worker->who() + ": more arrivals at an mbarrier than its count");
  arrived(word);
  mbarrier.pending -= count;
  mbarrier.bytes += bytes;
  write(word, mbarrier);
}

bool is_over(const std::uint64_t* word, unsigned parity) { return read(word).phase != (parity & 1); }

}  // namespace

void mbarrier_init(std::uint64_t* word, unsigned count, const Site& site) {
  require(Feature::bulk_copy, site);
  if (count == 0 || count >= 1u << 20) trap("an mbarrier counts 1 to 2^20 - 1 arrivals");
  touch(word, true, __builtin_return_address(0));
  *word = std::bit_cast<std::uint64_t>(Mbarrier{.phase = 0, .valid = 1, .count = count, .pending = count, .bytes = 0});
}

void mbarrier_arrive(std::uint64_t* word, unsigned count) {
  touch(word, false, __builtin_return_address(0));
  arrive(word, count, 0);
}

void mbarrier_arrive_expect(std::uint64_t* word, unsigned bytes) {
  touch(word, false, __builtin_return_address(0));
  arrive(word, 1, bytes);
}

bool mbarrier_test(std::uint64_t* word, unsigned parity) {
  touch(word, false, __builtin_return_address(0));
  if (!is_over(word, parity)) current_worker->yield();
  const bool over = is_over(word, parity);
  if (over) waited(word);
  return over;
}

void mbarrier_wait(std::uint64_t* word, unsigned parity, const Site& site) {
  touch(word, false, __builtin_return_address(0));
  while (!is_over(word, parity)) current_worker->wait_for_mbarrier(site);
  waited(word);
}

void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* word, const Site& site) {
  require(Feature::bulk_copy, site);
  Worker& worker = *current_worker;
  const auto from = reinterpret_cast<std::uintptr_t>(global), to = reinterpret_cast<std::uintptr_t>(shared);
  constexpr unsigned unit = 16;
  if (from % unit || to % unit || bytes % unit) {
    worker.report("misaligned access", bytes,
                  worker.who() + ": a bulk copy of " + std::to_string(bytes) +
                      " bytes; addresses and size must be multiples of 16");
    worker.fail("misaligned address", worker.who() + ": bulk copy");
  }
  const Arena& arena = session().arena;
  if (bytes && !(arena.contains(from) && arena.contains(from + bytes - 1)))
    worker.fail("illegal address", worker.who() + ": a bulk copy from an address outside device memory");
  touch(word, false, __builtin_return_address(0));
#if UPSWEEP_SIMT_TRACED
  worker.tracer.bulk_copy(shared, global, bytes, word, __builtin_return_address(0), __builtin_frame_address(0));
#endif
  std::memcpy(shared, global, bytes);
  Mbarrier mbarrier = read(word);
  mbarrier.bytes -= bytes;
  write(word, mbarrier);
}

void fence_before_bulk_copy(const Site& site) {  // only checked: the emulator copies in program order
  require(Feature::bulk_copy, site);
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.fence_before_bulk_copy();
#endif
}

unsigned cluster_rank() { return current_worker->block->rank; }
unsigned cluster_size() { return static_cast<unsigned>(current_worker->blocks.size()); }

void cluster_sync(const Site& site) {
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.synchronisation(EventKind::barrier, current_worker->lane->warp->live,
                                         __builtin_return_address(0), __builtin_frame_address(0));
#endif
  current_worker->cluster_barrier(site);
}

void* map_shared_address(void* shared, unsigned rank, const Site& site) {
  require(Feature::cluster, site);
  if (rank >= cluster_size()) trap("a cluster has no block of this rank");
  return current_worker->peer_address(shared, rank);
}

}  // namespace upsweep::simt
