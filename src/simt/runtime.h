// The runtime's interface to the CUDA surface (cuda.h, async.h). Kernels are compiled separately from the runtime, with
// other flags and perhaps another compiler, and call the runtime only through these functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <source_location>

#include "base/features.h"
#include "simt/vector_types.h"
#include "upsweep/error.h"

// Marks a call at which lanes meet: it must be neither duplicated nor moved across control flow.
#if defined(__clang__)
#define UPSWEEP_SIMT_CONVERGENT __attribute__((convergent, noduplicate))
#define UPSWEEP_SIMT_UNTRACED __attribute__((no_sanitize("coverage", "thread")))
#else
#define UPSWEEP_SIMT_CONVERGENT
#define UPSWEEP_SIMT_UNTRACED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

namespace upsweep::simt {

// A lane's position in the kernel's source; names the place in reports and distinguishes barriers.
using Site = std::source_location;

// Indices are constant for the life of a CUDA thread, so the compiler may keep them in registers: const.
__attribute__((const)) uint3 thread_index() noexcept;
__attribute__((const)) uint3 block_index() noexcept;
__attribute__((const)) uint3 block_shape() noexcept;
__attribute__((const)) uint3 grid_shape() noexcept;

enum class Vote : std::uint8_t { none, count, any, all };
// Waits for every thread of the block that has not returned; returns the vote over `predicate`.
UPSWEEP_SIMT_CONVERGENT int block_barrier(Vote vote, int predicate, const Site& site);

enum class Collective : std::uint8_t {
  sync,
  ballot,
  all,
  any,
  match_any,
  match_all,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,
};
constexpr bool is_shuffle(Collective c) { return c >= Collective::shuffle_index && c <= Collective::shuffle_xor; }

// Synchronises the lanes of `mask` and returns the calling lane's result. `argument` and `width` are the source and the
// segment width of a shuffle.
UPSWEEP_SIMT_CONVERGENT std::uint64_t warp_collective(Collective op, unsigned mask, std::uint64_t value, int argument,
                                                      int width, const Site& site);
UPSWEEP_SIMT_CONVERGENT unsigned active_mask(const Site& site);

// __threadfence(): an observer of this thread's later writes also sees its earlier ones.
void device_fence();
// griddepcontrol.wait: returns when the previous launch of the stream is over and its writes are visible.
void wait_for_previous();
// True if the emulated device has the feature.
bool has(Feature feature);
// Fails the launch if the emulated device lacks the feature.
void require(Feature feature, const Site& site);
// Lets other lanes run. A lane that polls memory must call this, or it polls forever; __nanosleep, atomics, __ldcg and
// load_acquire do so.
void yield_lane();
// Called before a load that may be a poll. Only one in many calls yields, so that streaming loads stay cheap.
void note_poll();
[[noreturn]] void trap(const char* what);

struct Config {
  dim3 grid = 1;
  dim3 block = 1;
  std::size_t shared_bytes = 0;  // dynamic shared memory per block
  unsigned cluster = 1;          // blocks per cluster, along x
  bool overlap = false;          // programmatic dependent launch: may start while the previous launch ends
};

// Returns the block's dynamic shared memory, 128-byte aligned.
void* dynamic_shared();

// cudaFuncAttributeMaxDynamicSharedMemorySize: raises the limit on the kernel's shared memory per block from 48 KiB to
// the device's maximum.
void request_dynamic_shared(const void* kernel);

// One launch as the runtime sees it: enter(arguments) runs the kernel as the current CUDA thread.
struct Launch {
  Config config;
  const void* kernel;  // address of the __global__ function, for its name
  void (*enter)(void*);
  void* arguments;
  std::size_t argument_bytes;
};
// Runs all blocks of a launch; returns when all are done or one has failed.
Status run(const Launch& launch);

}  // namespace upsweep::simt
