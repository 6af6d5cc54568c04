// scan over an input that need not fit in memory: each chunk is scanned by the rung, after one element more, which is
// what all chunks before it come to; or, where the bits must not depend on the chunks, by what keeps the state of its
// order.
#include "ladders/scan/lab/stream.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"
#include "cpu/parallel.h"
#include "lab/chunk_room.h"
#include "ladders/scan/contract.h"
#include "ladders/scan/cpu_reproducible.h"

namespace upsweep::ladders::scan {
namespace {

class ScanStreamer final : public Streamer {
 public:
  ScanStreamer(Platform& platform, RunFn run, const Case& c)
      : platform_(platform), run_(run), case_(c), workspace_(platform), in_(platform), out_(platform) {
    visit(c.type, [&]<class T>(TypeTag<T>) {
      visit(c.operation.as<Op>(), [&](auto op) {
        const T neutral = op.template neutral<T>();
        std::memcpy(carry_, &neutral, sizeof(T));
      });
    });
  }
  Type output_type() const override { return case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override { return n; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type);
    in_.grow(chunk.size());
    out_.grow(chunk.size());
    platform_.copy_in(in_.chunk() - element, carry_, element);
    platform_.copy_in(in_.chunk(), chunk.data(), chunk.size());
    const std::size_t n = chunk.size() / element + 1;
    run_chunk(run_,
              {.operation = case_.operation,
               .in = {Array{case_.type, n, in_.chunk() - element}},
               .out = {Array{case_.type, n, out_.chunk() - element}},
               .scalars = {case_.settings.get("inclusive", false)},
               .tuning = case_.tuning,
               .workspace = &workspace_},
              "scan");
    std::span<const std::byte> scanned(out_.chunk(), chunk.size());
    if (platform_.backend() != Backend::cpu) {
      host_.resize(chunk.size());
      platform_.copy_out(host_.data(), out_.chunk(), chunk.size());
      platform_.synchronize();
      scanned = host_;
    }
    carry(chunk.last(element), scanned.last(element));
    sink(scanned);
  }
  void finish(const Sink&) override {}

 private:
  // What everything so far comes to.
  void carry(std::span<const std::byte> last_in, std::span<const std::byte> last_out) {
    visit(case_.type, [&]<class T>(TypeTag<T>) {
      visit(case_.operation.as<Op>(), [&](auto op) {
        T in, out;
        std::memcpy(&in, last_in.data(), sizeof(T));
        std::memcpy(&out, last_out.data(), sizeof(T));
        if (!case_.settings.get("inclusive", false)) out = op(out, in);
        std::memcpy(carry_, &out, sizeof(T));
      });
    });
  }

  Platform& platform_;
  RunFn run_;
  Case case_;
  Workspace workspace_;
  ChunkRoom in_, out_;
  std::vector<std::byte> host_;
  alignas(8) std::byte carry_[8] = {};
};

// Whole blocks of the order as they come, and what is left of a chunk with the next.
template <class T>
class ReproducibleStreamer final : public Streamer {
 public:
  explicit ReproducibleStreamer(const Case& c)
      : inclusive_(c.settings.get("inclusive", false)), threads_(threads_of(c.tuning)) {}
  Type output_type() const override { return type_of<T>(); }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override { return n; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t old = waiting_.size();
    waiting_.resize(old + chunk.size() / sizeof(T));
    std::memcpy(waiting_.data() + old, chunk.data(), chunk.size());
    scan(waiting_.size() / scan_.block * scan_.block, More::follow, sink);
  }
  void finish(const Sink& sink) override { scan(waiting_.size(), More::none, sink); }

 private:
  // The first n of those that wait.
  void scan(std::size_t n, More more, const Sink& sink) {
    if (n == 0) return;
    scan_.next(waiting_.data(), waiting_.data(), n, more, inclusive_, threads_);
    sink(std::as_bytes(std::span(waiting_).first(n)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  bool inclusive_;
  int threads_;
  std::vector<T> waiting_;  // between chunks less than a block
  ReproducibleScan<T> scan_;
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  const RunFn run = streaming_run(rung, c);
  // Its state lives on the CPU, whatever platform was asked for: the bits are the same, and a file is read more slowly
  // than that scans.
  if (rung.reproducible && c.type == Type::f32) return std::make_unique<ReproducibleStreamer<float>>(c);
  if (rung.reproducible && c.type == Type::f64) return std::make_unique<ReproducibleStreamer<double>>(c);
  return std::make_unique<ScanStreamer>(platform, run, c);
}

}  // namespace upsweep::ladders::scan
