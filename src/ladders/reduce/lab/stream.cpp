// Streams an input that may exceed memory through reduce.
#include "lab/stream.h"

#include "lab/sums.h"
#include "lab/wrapping.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_exact.h"

namespace upsweep::ladders::reduce {
namespace {

// Combines the rung's results for the chunks with the operator, left to right.
class ChunkStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  void feed(Chunks chunks, const Sink&) override {
    const Scalar of_chunk = reduce(chunks[0]);
    set_scalars({});  // the first total includes the initial value
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
    std::byte* const out = out_.grow(size_of(type_));
    run({input_array(case_.type, chunk.size() / size_of(case_.type), reachable(chunk, in_))}, {Array{type_, 1, out}});
    return load_scalar(type_, fetch(out, size_of(type_)).data());
  }
  void describe(Call& call, std::uint64_t) const override { call.out[0].type = type_; }

  const Op op_ = case_.operation.as<Op>();
  const Type type_ = out_type_of(*find_primitive("reduce"), case_);
  Room in_{*this}, out_{*this};
  std::optional<Scalar> total_;  // of all chunks so far
  ReduceWatch watch_{case_};
};

// Streams a reduction of segments, which may begin in one chunk and end in another.
class SegmentStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override {
    if (!n) return std::nullopt;
    return segments_of(*n, length_);
  }
  void feed(Chunks chunks, const Sink& sink) override {
    std::span<const std::byte> rest = chunks[0];
    const auto take = [&](std::size_t elements) {
      const std::size_t bytes = std::min(elements * size_of(case_.type), rest.size());
      const std::span<const std::byte> taken = rest.first(bytes);
      rest = rest.subspan(bytes);
      return taken;
    };
    if (total_) add(take(length_ - seen_), sink);
    const std::size_t whole = rest.size() / size_of(case_.type) / length_;
    if (whole > 0) sink(reduce(take(whole * length_), {.initial = initial_, .segment_length = length_}, whole));
    if (!rest.empty()) add(rest, sink);
  }
  void finish(const Sink& sink) override {
    if (total_) sink(bytes_of(*total_));
  }

 private:
  // Adds elements to the open segment, and outputs its total once it is complete.
  void add(std::span<const std::byte> elements, const Sink& sink) {
    const std::span<const std::byte> out = reduce(elements, {.initial = total_ ? Scalar() : initial_}, 1);
    const Scalar part = load_scalar(type_, out.data());
    total_ = total_ ? combine(op_, *total_, part) : part;
    seen_ += elements.size() / size_of(case_.type);
    if (seen_ < length_) return;
    sink(bytes_of(*total_));
    total_.reset();
    seen_ = 0;
  }
  std::span<const std::byte> reduce(std::span<const std::byte> elements, const Reducing& scalars, std::size_t count) {
    set_scalars(reduce_scalars.scalars(scalars));
    std::byte* const out = out_.grow(count * size_of(type_));
    run({input_array(case_.type, elements.size() / size_of(case_.type), reachable(elements, in_))},
        {Array{type_, count, out}});
    return fetch(out, count * size_of(type_));
  }
  void describe(Call& call, std::uint64_t) const override { call.out[0].type = type_; }

  const Op op_ = case_.operation.as<Op>();
  const Type type_ = out_type_of(*find_primitive("reduce"), case_);
  const Scalar initial_ = initial_value(case_);
  const std::size_t length_ = case_.settings.get("segment_length", std::uint64_t{0});
  Room in_{*this}, out_{*this};
  std::optional<Scalar> total_;  // of the open segment; empty if none is open
  std::size_t seen_ = 0;         // elements of the open segment so far
};

// Streams argmin or argmax: keeps the best element so far and its index. The best element of a later chunk replaces it
// only if it beats() the earlier one.
class IndexStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  void feed(Chunks chunks, const Sink&) override {
    const std::size_t bytes = size_of(case_.type), n = chunks[0].size() / bytes;
    if (n == 0) return;
    std::byte* const out = out_.grow(sizeof(std::uint64_t));
    run({input_array(case_.type, n, reachable(chunks[0], in_))}, {Array{Type::u64, 1, out}});
    const auto index = load_scalar(Type::u64, fetch(out, sizeof(std::uint64_t)).data()).as<std::uint64_t>();
    const Scalar value = load_scalar(case_.type, chunks[0].data() + index * bytes);
    if (!best_ || beats(value, best_)) best_ = value, index_ = seen_ + index;
    seen_ += n;
  }
  void finish(const Sink& sink) override {
    if (!best_)
      throw Error(Code::invalid_argument, "reduce: " + std::string(case_.operation.name()) + " of an empty array");
    sink(bytes_of(Scalar(index_)));
  }

 private:
  bool beats(const Scalar& a, const Scalar& b) const {
    return visit_any(case_.type, [&]<class T>(TypeTag<T>) {
      return Binding::visit(case_.operation, [&]<class O>(O) {
        if constexpr (is_index_of<O>)
          return O::beats(a.as<T>(), b.as<T>());
        else
          return false;
      });
    });
  }

  Room in_{*this}, out_{*this};
  Scalar best_;
  std::uint64_t index_ = 0, seen_ = 0;  // index of best_; elements so far
};

// A float sum that is rounded only at the end, so that its bits do not depend on the chunks.
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
    if (const Scalar initial = initial_value(case_)) sum_.deposit(initial.as<T>());
    const T total = sum_.round();
    sink(std::as_bytes(std::span(&total, 1)));
  }

 private:
  ExactSum<T> sum_{};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  streaming_run(rung, c);
  // Every platform keeps the exact sum on the CPU: the bits are the same, and one core sums faster than a file is read.
  const bool exact = rung.reproducible && c.operation == Operation(Op::sum);
  if (exact && c.type == Type::f32) return std::make_unique<ExactStreamer<float>>(c);
  if (exact && c.type == Type::f64) return std::make_unique<ExactStreamer<double>>(c);
  if (c.settings.get("segment_length", std::uint64_t{0})) return std::make_unique<SegmentStreamer>(platform, rung, c);
  if (is_index(c.operation)) return std::make_unique<IndexStreamer>(platform, rung, c);
  return std::make_unique<ChunkStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::reduce
