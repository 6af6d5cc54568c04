// reduce over an input that need not fit in memory: each chunk is reduced by the rung, and the chunks' results are
// combined on the host in the order of the chunks.
#include "ladders/reduce/lab/stream.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/platform.h"
#include "base/workspace.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/cpu_exact.h"

namespace upsweep::ladders::reduce {

namespace {

// The rung's results, combined with the operator: left to right over the chunks.
class ChunkStreamer final : public Streamer {
 public:
  ChunkStreamer(Platform& platform, const Rung& rung, const Case& c)
      : platform_(platform), run_(streaming_run(rung, c)), case_(c), workspace_(platform) {
    visit(c.type, [&]<class T>(TypeTag<T>) {
      visit(c.operation.as<Op>(), [&](auto op) {
        const T neutral = op.template neutral<T>();
        std::memcpy(total_, &neutral, sizeof(T));
      });
    });
    out_ = platform_.allocate(sizeof total_);
  }
  ~ChunkStreamer() override {
    platform_.release(out_);
    if (in_) platform_.release(in_);
  }
  Type output_type() const override { return case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return 1; }

  void feed(Chunks chunks, const Sink&) override {
    const std::span<const std::byte> chunk = chunks[0];
    // The CPU reads the caller's chunk where it lies; a device gets a copy.
    const void* in = chunk.data();
    if (platform_.backend() != Backend::cpu) {
      if (chunk.size() > capacity_) {
        platform_.release(std::exchange(in_, nullptr));
        in_ = platform_.allocate(chunk.size());
        capacity_ = chunk.size();
      }
      platform_.copy_in(in_, chunk.data(), chunk.size());
      in = in_;
    }
    run_chunk(run_,
              {.operation = case_.operation,
               .in = {input_array(case_.type, chunk.size() / size_of(case_.type), in)},
               .out = {Array{case_.type, 1, out_}},
               .tuning = case_.tuning,
               .workspace = &workspace_},
              "reduce");
    alignas(8) std::byte part[8];
    platform_.copy_out(part, out_, size_of(case_.type));
    platform_.synchronize();
    visit(case_.type, [&]<class T>(TypeTag<T>) {
      visit(case_.operation.as<Op>(), [&](auto op) {
        T a, b;
        std::memcpy(&a, total_, sizeof(T));
        std::memcpy(&b, part, sizeof(T));
        a = op(a, b);
        std::memcpy(total_, &a, sizeof(T));
      });
    });
  }
  void finish(const Sink& sink) override { sink({total_, size_of(case_.type)}); }

 private:
  Platform& platform_;
  RunFn run_;
  Case case_;
  Workspace workspace_;
  void* in_ = nullptr;
  void* out_ = nullptr;
  std::size_t capacity_ = 0;  // bytes of in_
  alignas(8) std::byte total_[8] = {};
};

// A float sum without rounding until the end, so that the chunks cannot be told from the bits of the whole.
template <class T>
class ExactStreamer final : public Streamer {
 public:
  Type output_type() const override { return type_of<T>(); }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return 1; }
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
  // The exact state lives on the CPU, whatever platform was asked for: the bits are the same, and a file is read more
  // slowly than one core sums.
  if (rung.reproducible && c.operation == Operation(Op::sum) && rung.find(c.type, c.operation)) {
    if (c.type == Type::f32) return std::make_unique<ExactStreamer<float>>();
    if (c.type == Type::f64) return std::make_unique<ExactStreamer<double>>();
  }
  return std::make_unique<ChunkStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::reduce
