// reduce over an input that need not fit in memory.
#include "lab/stream.h"

#include "lab/wrapping.h"
#include "ladders/reduce/cpu_exact.h"

namespace upsweep::ladders::reduce {
namespace {

// Combines the rung's results with the operator, left to right over the chunks.
class ChunkStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  void feed(Chunks chunks, const Sink&) override {
    const Scalar of_chunk = reduce(chunks[0]);
    total_ = total_ ? combine(op_, *total_, of_chunk) : of_chunk;
    watch_.see(chunks[0]);
  }
  void finish(const Sink& sink) override {
    if (!total_) total_ = reduce({});
    sink(bytes_of(*total_));
  }
  std::string warning() const override { return watch_.warning(*total_); }

 private:
  Scalar reduce(std::span<const std::byte> chunk) {
    const std::size_t element = size_of(case_.type);
    std::byte* const out = out_.grow(element);
    run({input_array(case_.type, chunk.size() / element, reachable(chunk, in_))}, {Array{case_.type, 1, out}});
    return load_scalar(case_.type, fetch(out, element).data());
  }

  const Op op_ = case_.operation.as<Op>();
  Room in_{*this}, out_{*this};
  std::optional<Scalar> total_;  // of all chunks so far
  ReduceWatch watch_{case_};
};

// A float sum without rounding until the end, so that its bits do not depend on the chunks.
template <class T>
class ExactStreamer final : public Streamer {
 public:
  using Streamer::Streamer;
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return 1; }
  bool any_order() const override { return true; }
  void feed(Chunks chunks, const Sink&) override {
    deposit_all(reinterpret_cast<const T*>(chunks[0].data()), chunks[0].size() / sizeof(T), sum_);
  }
  void finish(const Sink& sink) override {
    const T total = sum_.round();
    sink(std::as_bytes(std::span(&total, 1)));
  }

 private:
  ExactSum<T> sum_{};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  streaming_run(rung, c);
  // The exact state is on the CPU for every platform: the bits are the same, and one core sums faster than a file is
  // read.
  const bool exact = rung.reproducible && c.operation == Operation(Op::sum);
  if (exact && c.type == Type::f32) return std::make_unique<ExactStreamer<float>>(c);
  if (exact && c.type == Type::f64) return std::make_unique<ExactStreamer<double>>(c);
  return std::make_unique<ChunkStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::reduce
