// The state of one emulator library between launches: its options, its device memory, and the report so far.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/machine.h"
#include "simt/arena.h"
#include "simt/report.h"
#include "simt/runtime.h"

namespace upsweep::simt {

// Counters by place: the return address of an instrumentation call, relative to the library.
using SiteCounters = std::unordered_map<std::uint32_t, Counters>;

class Session {
 public:
  // Returns the machine with only four multiprocessors, so that tests are quick: launchers size their grids by this
  // number.
  static Machine quick(Machine m) {
    m.multiprocessors = 4;
    return m;
  }
  Arena arena;
  Machine machine = quick(emulated_machine("h200"));  // as the launchers and kernels see it
  Options options;
  std::mutex launch_mutex;  // one launch at a time, from any thread
  // Kernels whose limit on shared memory has been raised; guarded by launch_mutex.
  std::unordered_set<const void*> large_shared;

  void add_issue(const char* kind, std::uint64_t key, std::string text);
  void add_launch(const std::string& kernel, std::uint64_t blocks, std::uint64_t threads, std::uint64_t shared_bytes);
  void add_counters(const std::string& kernel, const SiteCounters& sites, std::uint64_t shared_bytes);
  Report take_report();

 private:
  struct Kernel {
    KernelReport report;
    SiteCounters sites;
  };
  Kernel& kernel(const std::string& name);
  mutable std::mutex mutex_;
  std::vector<Kernel> kernels_;                                    // in order of first launch
  std::map<std::pair<std::string, std::uint64_t>, Issue> issues_;  // by kind and place
};

Session& session();

}  // namespace upsweep::simt
