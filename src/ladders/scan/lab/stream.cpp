// scan over an input that need not fit in memory: each chunk is scanned after one more element, the total of all chunks
// before it; or, if the bits must not depend on the chunks, by what keeps the state of the reproducible order.
#include "lab/stream.h"

#include <algorithm>

#include "cpu/parallel.h"
#include "lab/wrapping.h"
#include "ladders/scan/cpu_reproducible.h"

namespace upsweep::ladders::scan {
namespace {

bool is_inclusive(const Case& c) { return c.settings.get("inclusive", false); }

class ScanStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type);
    // The first chunk has no total before it, not even the operator's neutral element.
    const auto before = carry_ ? bytes_of(*carry_) : std::span<const std::byte>();
    const std::size_t n = (before.size() + chunk.size()) / element;
    const std::byte* const in = in_.fill(chunk, before);
    std::byte* const out = out_.grow(chunk.size());
    run({input_array(case_.type, n, in)}, {Array{case_.type, n, out - before.size()}});
    const std::span<const std::byte> scanned = fetch(out, chunk.size());
    const Scalar last = load_scalar(case_.type, chunk.last(element).data());
    carry_ = load_scalar(case_.type, scanned.last(element).data());
    if (!is_inclusive(case_)) carry_ = n == 1 ? last : combine(op_, *carry_, last);
    watch_.see(chunk, scanned);
    sink(scanned);
  }
  std::string warning() const override { return watch_.warning(); }

 private:
  const Op op_ = case_.operation.as<Op>();
  Room in_{*this}, out_{*this};
  std::optional<Scalar> carry_;  // op over all chunks so far
  ScanWatch watch_{case_, is_inclusive(case_)};
};

// Scans whole blocks of the reproducible order as they come; the rest of a chunk waits for the next chunk.
template <class T>
class ReproducibleStreamer final : public Streamer {
 public:
  using Streamer::Streamer;
  bool elementwise() const override { return true; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::size_t old = waiting_.size();
    waiting_.resize(old + chunks[0].size() / sizeof(T));
    std::ranges::copy(chunks[0], reinterpret_cast<std::byte*>(waiting_.data() + old));
    scan(waiting_.size() / scan_.block * scan_.block, More::follow, sink);
  }
  void finish(const Sink& sink) override { scan(waiting_.size(), More::none, sink); }

 private:
  // Scans the first n of the waiting elements.
  void scan(std::size_t n, More more, const Sink& sink) {
    if (n == 0) return;
    scan_.next(waiting_.data(), waiting_.data(), n, more, is_inclusive(case_), threads_of(case_.tuning));
    sink(std::as_bytes(std::span(waiting_).first(n)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  std::vector<T> waiting_;  // less than a block between chunks
  ReproducibleScan<T> scan_;
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  streaming_run(rung, c);
  // The state is on the CPU for every platform: the bits are the same, and a scan is faster than reading a file.
  if (rung.reproducible && c.type == Type::f32) return std::make_unique<ReproducibleStreamer<float>>(c);
  if (rung.reproducible && c.type == Type::f64) return std::make_unique<ReproducibleStreamer<double>>(c);
  return std::make_unique<ScanStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::scan
