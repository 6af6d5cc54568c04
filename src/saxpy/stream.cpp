// saxpy over inputs that need not fit in memory: chunk by chunk, since elements do not meet.
#include "saxpy/stream.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/platform.h"
#include "saxpy/contract.h"

namespace upsweep::ladders::saxpy {
namespace {

class SaxpyStreamer final : public Streamer {
 public:
  SaxpyStreamer(Platform& platform, const Rung& rung, RunFn run, const Case& c)
      : platform_(platform),
        run_(run),
        case_(c),
        in_host_memory_(platform.backend() == Backend::cpu || rung.from_host()),
        workspace_(platform),
        arrays_(in_host_memory_ ? cpu_platform() : platform) {}
  std::vector<Beside> other_inputs() const override { return {{"y", case_.type}}; }
  Type output_type() const override { return case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override { return n; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::size_t bytes = chunks[0].size(), stride = (bytes + 255) / 256 * 256;
    auto* const memory = static_cast<std::byte*>(arrays_.scratch(2 * stride));
    if (!memory) throw Error(Code::out_of_memory, "no memory for the chunks of x and y");
    Call call{.type = case_.type,
              .n = bytes / size_of(case_.type),
              .in = {chunks[0].data(), chunks[1].data()},
              .out = {memory},
              .params = case_.params,
              .workspace = &workspace_};
    // What works in host memory reads the caller's chunks where they lie; a device gets copies, and the result takes
    // y's place.
    if (!in_host_memory_) {
      call.in = {memory + stride, memory};
      platform_.copy_in(memory + stride, chunks[0].data(), bytes);
      platform_.copy_in(memory, chunks[1].data(), bytes);
    }
    if (const Status s = run_(call); !s)
      throw Error(s.code, std::string("saxpy failed: ") + (s.message ? s.message : "no message"));
    std::span<const std::byte> result(memory, bytes);
    if (!in_host_memory_) {
      host_.resize(bytes);
      platform_.copy_out(host_.data(), memory, bytes);
      result = host_;
    }
    platform_.synchronize();
    sink(result);
  }
  void finish(const Sink&) override {}

 private:
  Platform& platform_;
  RunFn run_;
  Case case_;
  bool in_host_memory_;
  Workspace workspace_, arrays_;
  std::vector<std::byte> host_;
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  const RunFn run = rung.find(c.type, Op::sum);
  if (!run)
    throw Error(Code::unsupported,
                "saxpy/" + std::string(rung.name) + " does not take " + std::string(to_string(c.type)),
                "name another rung");
  if (const double a = c.params.get("a", default_a); !is_float(c.type) && std::abs(a) > 0x1p53)
    throw Error(Code::invalid_argument, "a=" + std::to_string(a) + " may have been rounded already",
                "parameters hold integers of up to 2^53 exactly; upsweep::saxpy takes larger ones");
  return std::make_unique<SaxpyStreamer>(platform, rung, run, c);
}

}  // namespace upsweep::ladders::saxpy
