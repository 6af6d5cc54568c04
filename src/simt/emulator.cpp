// The emulator as a Platform.
#include <sys/utsname.h>

#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "cpu/parallel.h"
#include "simt/report.h"
#include "simt/session.h"
#include "simt/worker.h"

namespace upsweep {

Rungs kernel_rungs();  // generated: every kernel rung of every ladder

namespace simt {
namespace {

class FiberEmulator final : public Emulator {
 public:
  Backend backend() const override { return Backend::simt; }
  bool instrumented() const override { return traced; }
  Rungs rungs() const override { return kernel_rungs(); }
  Rungs rungs_of(const Contract& contract) const override {
    const Rungs all = kernel_rungs();
    const auto is_its = [&](const Rung* rung) { return rung->primitive == contract.name; };
    const auto first = std::find_if(all.begin(), all.end(), is_its);
    return {first, std::find_if_not(first, all.end(), is_its)};
  }
  const Machine& machine() const override { return session().machine; }

  Description describe() const override {
    utsname system{};
    uname(&system);
    const std::string_view name = session().machine.name;
    return {.device = (traced ? "simt traced" : "simt") + (name == "h200" ? "" : " " + std::string(name)),
            .driver = std::string(system.sysname) + " " + system.release,
            .compiler = UPSWEEP_SIMT_COMPILER,
            .flags = UPSWEEP_SIMT_FLAGS,
            .memory_bytes = session().arena.size(),
            .cache_bytes = 0,
            .units = session().options.threads > 0 ? session().options.threads : hardware_threads()};
  }

  void* allocate(std::size_t bytes) override {
    void* const memory = session().arena.allocate(bytes);
#if UPSWEEP_SIMT_TRACED
    if (memory && bytes) global_writes().forget(memory, bytes);
#endif
    return memory;
  }
  void release(void* memory) noexcept override { session().arena.release(memory); }
  // Launches run to completion before they return, so everything is in order and there is nothing to wait for.
  void copy_in(void* to, const void* from, std::size_t bytes, Stream) override { copy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::size_t bytes, Stream) override { copy(to, from, bytes); }
  void fill(void* memory, unsigned char byte, std::size_t bytes, Stream) override {
    if (bytes) std::memset(memory, byte, bytes);
  }
  void synchronize(Stream) override {}

  void emulate(const Machine& machine) override { session().machine = Session::quick(machine); }
  void configure(const Options& options) override { session().options = options; }
  const Options& options() const override { return session().options; }
  Report take_report() override { return session().take_report(); }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);  // null with 0 bytes is allowed here, not in memcpy
  }
};

}  // namespace
}  // namespace simt

// The only symbol that the library exports; its name differs for each library.
simt::Emulator& UPSWEEP_SIMT_ENTRY() {
  static simt::FiberEmulator emulator;
  return emulator;
}

}  // namespace upsweep
