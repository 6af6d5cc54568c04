// Implements runtime.h: forwards the free functions that kernels call to this thread's worker.
#include "simt/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/machine.h"
#include "cpu/parallel.h"
#include "simt/module.h"
#include "simt/session.h"
#include "simt/worker.h"

namespace upsweep {

const Machine& machine() { return simt::session().machine; }

namespace simt {

bool has(Feature feature) { return machine().has(feature); }

uint3 thread_index() noexcept { return current_worker->lane->thread; }
uint3 block_index() noexcept { return current_worker->block->index; }
uint3 block_shape() noexcept {
  const dim3& block = current_worker->run->launch.config.block;
  return {block.x, block.y, block.z};
}
uint3 grid_shape() noexcept {
  const dim3& grid = current_worker->run->launch.config.grid;
  return {grid.x, grid.y, grid.z};
}

#if UPSWEEP_SIMT_TRACED
// Traces a synchronisation with its call site. A macro, because only the called function itself knows its return
// address and frame.
#define UPSWEEP_SIMT_TRACE_SYNC(kind, lanes) \
  current_worker->tracer.synchronisation(kind, lanes, __builtin_return_address(0), __builtin_frame_address(0))
#else
#define UPSWEEP_SIMT_TRACE_SYNC(kind, lanes) static_cast<void>(0)
#endif

int block_barrier(Vote vote, int predicate, const Site& site) {
  UPSWEEP_SIMT_TRACE_SYNC(EventKind::barrier, current_worker->lane->warp->live);
  return current_worker->barrier(vote, predicate, site);
}

std::uint64_t warp_collective(Collective op, unsigned mask, std::uint64_t value, int argument, int width,
                              const Site& site) {
  if (op >= Collective::add) require(Feature::warp_reduce, site);
  UPSWEEP_SIMT_TRACE_SYNC(is_shuffle(op) ? EventKind::shuffle : EventKind::warp_sync,
                          mask & current_worker->lane->warp->live);
  return current_worker->collective(op, mask, value, argument, width, site);
}

unsigned active_mask(const Site& site) { return current_worker->active_mask(site); }

void device_fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.fence();
#endif
}
// Launches run one after another, so only the checks need this.
void wait_for_previous() {
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.wait_for_previous();
#endif
}
void yield_lane() { current_worker->yield(); }
void note_poll() { current_worker->note_poll(); }
void trap(const char* what) { current_worker->fail("trap", current_worker->who() + ": " + what); }
void require(Feature feature, const Site& site) {
  if (has(feature)) return;
  current_worker->fail("missing feature", current_worker->who() + ": " + to_string(Needs{feature}) + ", which " +
                                              to_string(machine()) + " does not have, at " + to_string(site));
}
void* dynamic_shared() { return current_worker->block->dynamic_shared; }

void request_dynamic_shared(const void* kernel) {
  Session& s = session();
  const std::lock_guard lock(s.launch_mutex);
  s.large_shared.insert(kernel);
}

namespace {

// The driver's limit for a kernel that has not requested more.
constexpr std::size_t default_shared_limit = 48 * 1024;

// Returns why a device, with the same limits, would refuse the launch; null if it would run.
const char* refusal(const Config& c, std::size_t static_shared, std::size_t shared_limit) {
  const std::uint64_t threads = std::uint64_t{c.block.x} * c.block.y * c.block.z;
  if (threads == 0 || threads > 1024 || c.block.z > 64) return "a block must have 1 to 1024 threads";
  if (!c.grid.x || !c.grid.y || !c.grid.z) return "a grid must have at least one block";
  if (c.grid.x > 0x7fffffffu || c.grid.y > 65535 || c.grid.z > 65535)
    return "the grid exceeds 2^31-1 by 65535 by 65535";
  const std::size_t shared = static_shared + c.shared_bytes;
  if (shared > machine().shared_per_block) return "more shared memory than this device allows per block";
  if (shared > shared_limit) return "more than 48 KiB of static and dynamic shared memory, without requesting it first";
  if (c.cluster < 1 || c.cluster > 16) return "a cluster must have 1 to 16 blocks";
  if (c.cluster > 1 && !has(Feature::cluster)) return "this device does not support clusters";
  if (c.grid.x % c.cluster) return "the grid is not a whole number of clusters";
  return nullptr;
}

// Maximum yields of one worker while the launch finishes no cluster: about ten seconds of pure polling. A look-back
// yields a few thousand times at most.
constexpr std::uint64_t default_yield_limit = std::uint64_t{1} << 24;

}  // namespace

Status run(const Launch& launch) {
  const Config& config = launch.config;
  Session& s = session();
  const std::lock_guard lock(s.launch_mutex);
  const std::size_t shared_limit =
      s.large_shared.contains(launch.kernel) ? machine().shared_per_block : default_shared_limit;
  if (const char* reason = refusal(config, module().static_shared(launch.kernel), shared_limit))
    return {Code::invalid_argument, 0, reason};
  if (s.options.refused_launch && --s.options.refused_launch == 0)
    return {Code::device_error, 0, "the emulator was told to refuse this launch"};
  if (std::uint64_t{config.cluster} * config.block.x * config.block.y * config.block.z > FiberPool::most())
    return {Code::out_of_memory, 0, "the emulator lacks address space for the threads' stacks (see ulimit -v)"};
  GridRun grid{.launch = launch, .kernel_name = module().function_name(launch.kernel), .shared_limit = shared_limit};
  const std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  grid.clusters = blocks / config.cluster;
  grid.reverse = s.options.reverse_blocks;
  static std::uint64_t launches = 0;
  if (s.options.schedule) grid.schedule = (s.options.schedule << 32) + ++launches;  // a different seed per launch
  grid.checks = traced && s.options.checks;
  grid.counters = traced && s.options.counters;
  grid.yield_limit = s.options.yield_limit ? s.options.yield_limit : default_yield_limit;
#if UPSWEEP_SIMT_TRACED
  grid.writes = &global_writes();
  grid.writes->begin_launch(config.overlap && has(Feature::overlap));
#endif
  const int most = s.options.threads > 0 ? s.options.threads : hardware_threads();
  const int workers = static_cast<int>(std::min<std::uint64_t>(grid.clusters, static_cast<std::uint64_t>(most)));
  grid.most_workers = workers;
  if (workers == 1)
    Worker::mine().work(grid);
  else
    parallel(workers, workers, [&](int) { Worker::mine().work(grid); });

  const std::uint64_t threads = blocks * config.block.x * config.block.y * config.block.z;
  s.add_launch(grid.kernel_name, blocks, threads, config.shared_bytes);
  if (grid.failed) return {Code::device_error, 0, "a kernel failed on the emulator; its report says where"};
  return {};
}

}  // namespace simt
}  // namespace upsweep

// assert() in a kernel ends the launch, not the process. Elsewhere it aborts, as in the C library.
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                           const char*) noexcept(true) {
  using namespace upsweep::simt;
  if (current_worker && current_worker->lane)
    current_worker->fail("assertion",
                         current_worker->who() + ": " + expression + ", " + file + ":" + std::to_string(line));
  std::fprintf(stderr, "%s:%u: assertion failed: %s\n", file, line, expression);
  std::abort();
}
