// saxpy over inputs that need not fit in memory: chunk by chunk, since elements do not meet.
#include "ladders/saxpy/lab/stream.h"

#include <string>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"
#include "ladders/saxpy/contract.h"

namespace upsweep {
extern const Primitive saxpy_primitive;
}

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
    const std::size_t n = bytes / size_of(case_.type);
    Call call = call_of(saxpy_primitive, case_);
    call.in = {input_array(case_.type, n, chunks[0].data()), input_array(case_.type, n, chunks[1].data())};
    call.out[0] = {case_.type, n, memory};
    call.workspace = &workspace_;
    // What works in host memory reads the caller's chunks where they lie; a device gets copies, and the result takes
    // y's place.
    if (!in_host_memory_) {
      call.in[0].data = memory + stride;
      call.in[1].data = memory;
      platform_.copy_in(memory + stride, chunks[0].data(), bytes);
      platform_.copy_in(memory, chunks[1].data(), bytes);
    }
    run_chunk(run_, call, "saxpy");
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
  return std::make_unique<SaxpyStreamer>(platform, rung, streaming_run(rung, c), c);
}

}  // namespace upsweep::ladders::saxpy
