// The emulator's report on the kernels it ran: counters per kernel and per source line, and the mistakes it found.
// Everything here is predicted from the accesses as written, never measured on hardware.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/platform.h"

namespace upsweep::simt {

// Warp-level counts, summed over all warps of all blocks. A request is one warp instruction; a wavefront is one pass
// through the 32 shared-memory banks; a sector is 32 bytes of global memory; "ideal" is the count for the same bytes
// with the lanes perfectly arranged.
struct Counters {
  std::uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_ideal = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_ideal = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_ideal = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_ideal = 0;
  // Atomics: `serial` sums, over all requests, the maximum number of lanes on one address; `worst` is the largest of
  // these maxima.
  std::uint64_t global_atomic_requests = 0, global_atomic_serial = 0, global_atomic_worst = 0;
  std::uint64_t shared_atomic_requests = 0, shared_atomic_serial = 0, shared_atomic_worst = 0;
  std::uint64_t barriers = 0;    // warps arriving at __syncthreads
  std::uint64_t warp_syncs = 0;  // __syncwarp, votes and shuffles
  std::uint64_t shuffles = 0;
  std::uint64_t branches = 0,
                branch_lanes = 0;        // basic blocks executed, by warps, and by lanes (at most 32 * branches)
  std::uint64_t divergent_branches = 0;  // a warp's lanes went to different basic blocks
  std::uint64_t bulk_copies = 0, bulk_bytes = 0;  // emulated bulk (TMA) copies
  Counters& operator+=(const Counters&);
};

struct LineCounters {
  std::string file;  // base name
  unsigned line = 0;
  Counters counters;
};

struct KernelReport {
  std::string name;  // demangled, without its parameter list
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  std::uint64_t shared_bytes = 0;  // per block: dynamic and, if instrumented, the static variables accessed
  Counters counters;
  std::vector<LineCounters> lines;  // by file and line; filled if Options::lines is set
};

// A mistake in a kernel: a race, an access out of bounds, ... Repeats at the same place are counted, not listed.
struct Issue {
  std::string kind;  // "shared race", "global out of bounds", "uninitialised shared read", "barrier divergence", ...
  std::string text;  // kernel, source line, thread, block, address: one line
  std::uint64_t count = 0;
};

struct Report {
  std::vector<KernelReport> kernels;  // in order of first launch
  std::vector<Issue> issues;
  Counters total() const;
};

struct Options {
  int threads = 0;       // OS threads that run blocks; 0: one per core
  bool checks = true;    // races, bounds, uninitialised reads (the instrumented emulator only)
  bool counters = true;  // likewise
  bool lines = false;    // per-line counters; needs debug information
  // Seed of an arbitrary schedule, which runs a warp's lanes out of step and delays clusters; 0: the default schedule.
  std::uint64_t schedule = 0;
  bool reverse_blocks = false;    // dispatch the last block first: finds kernels that depend on block order
  std::uint64_t yield_limit = 0;  // yields without progress before a launch counts as a livelock; 0: the default
  unsigned refused_launch = 0;    // the launch with this number, counted from configure(), fails; 0: none
};

// A Platform whose kernels run on fibers. A launch that deadlocks, traps or livelocks returns device_error and leaves
// an Issue that says which threads wait where; it never hangs.
class Emulator : public Platform {
 public:
  virtual bool instrumented() const = 0;
  virtual Rungs rungs() const = 0;  // all rungs in its library, ladder by ladder
  // Emulates this device from now on, instead of the default, an H200. The number of multiprocessors is always four.
  virtual void emulate(const Machine&) = 0;
  virtual void configure(const Options&) = 0;
  virtual const Options& options() const = 0;
  virtual Report take_report() = 0;  // also starts a new one
};

}  // namespace upsweep::simt

namespace upsweep {
// The emulators of this program. The plain one is fast and checks only what costs nothing (deadlocks, barrier
// divergence); the traced one counts and checks everything. Both are built from the same kernel files.
simt::Emulator& plain_emulator();
simt::Emulator& traced_emulator();
}  // namespace upsweep
