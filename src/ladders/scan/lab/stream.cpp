// Streams an input that may exceed memory through scan. The total of all earlier chunks is prepended to each chunk as
// one more element, or becomes the chunk's initial value. If the bits must not depend on the chunks, the CPU scans them
// and keeps the state of the reproducible order.
#include "lab/stream.h"

#include <algorithm>

#include "cpu/parallel.h"
#include "lab/sums.h"
#include "lab/wrapping.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_reproducible.h"

namespace upsweep::ladders::scan {
namespace {

bool is_inclusive(const Case& c) { return c.settings.get("inclusive", false); }

class ScanStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type), out_element = size_of(type_);
    const bool first = !carry_ && !initial_value(case_);
    // A wider total does not fit in an element, so it becomes the next chunk's initial value. The first chunk has no
    // total before it, not even the neutral element.
    const std::size_t before = carry_ && type_ == case_.type ? 1 : 0, n = chunk.size() / element;
    if (carry_) set_scalars(scan_scalars.scalars({is_inclusive(case_), before ? Scalar() : *carry_}));
    const std::byte* const in = in_.fill(chunk, before ? bytes_of(*carry_) : std::span<const std::byte>());
    std::byte* const out = out_.grow(n * out_element);
    run({input_array(case_.type, before + n, in)}, {Array{type_, before + n, out - before * out_element}});
    const std::span<const std::byte> scanned = fetch(out, n * out_element);
    const Scalar last = load_scalar(type_, Converted(case_.type, chunk.last(element).data(), 1, type_).data());
    carry_ = load_scalar(type_, scanned.last(out_element).data());
    if (!is_inclusive(case_)) carry_ = first && n == 1 ? last : combine(op_, *carry_, last);
    watch_.see(chunk, scanned);
    sink(scanned);
  }
  std::string warning() const override { return watch_.warning(); }

 private:
  void describe(Call& call, std::uint64_t) const override { call.out[0].type = type_; }

  const Op op_ = case_.operation.as<Op>();
  const Type type_ = out_type_of(*find_primitive("scan"), case_);
  Room in_{*this}, out_{*this};
  std::optional<Scalar> carry_;  // op over the initial value and all chunks so far
  ScanWatch watch_{case_, type_, is_inclusive(case_)};
};

// Scans whole blocks of the reproducible order as they arrive; the rest of a chunk waits for the next chunk.
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
    scan_.next(waiting_.data(), waiting_.data(), n, more, is_inclusive(case_), start_, threads_of(case_.tuning));
    sink(std::as_bytes(std::span(waiting_).first(n)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  std::vector<T> waiting_;  // less than a block between chunks
  const Initial<T, Sum> start_ = initial_of<T, Sum>(initial_value(case_));
  ReproducibleScan<T> scan_;
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  streaming_run(rung, c);
  // Every platform keeps the state on the CPU: the bits are the same, and scanning is faster than reading a file.
  if (rung.reproducible && c.type == Type::f32) return std::make_unique<ReproducibleStreamer<float>>(c);
  if (rung.reproducible && c.type == Type::f64) return std::make_unique<ReproducibleStreamer<double>>(c);
  return std::make_unique<ScanStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::scan
