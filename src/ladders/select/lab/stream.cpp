// Streams select over an input that may exceed memory. For an operation that compares neighbours, the last element of
// the previous chunk is carried over: it is prepended to the next chunk.
//
// Positions and lengths are u64 for any input, so that a file's type does not depend on its length. Besides the main
// output, run_length_encode writes the lengths, and partition_if the elements that are not selected, whose offset after
// the selected ones is known only at the end.
#include "lab/stream.h"

#include <cstring>

#include "ladders/select/binding.h"

namespace upsweep::ladders::select {
namespace {

class SelectStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;
  std::vector<Beside> other_inputs() const override {
    if (does_.flags) return {{"flags", Type::u8}};
    return {};
  }
  std::vector<Beside> other_outputs() const override {
    if (does_.rest) return {{"rest", case_.type}};
    return RungStreamer::other_outputs();
  }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type), carried = begin_ > 0 && carries_;
    const std::size_t n = carried + chunk.size() / element;
    const std::byte* const in = carried ? in_.fill(chunk, bytes_of(last_)) : reachable(chunk, in_);
    const std::byte* const flags = does_.flags ? reachable(chunks[1], flags_) : nullptr;
    const bool shifted = join_of(0) == Join::shifted;
    const Type type = shifted ? in_chunk : case_.type;
    const Array out{type, n, out_.grow(n * size_of(type))};
    const Array lengths{in_chunk, n, does_.lengths ? lengths_.grow(n * size_of(in_chunk)) : nullptr};
    std::byte* const count = count_.grow(sizeof(std::uint64_t));
    run({input_array(case_.type, n, in), input_array(Type::u8, n, flags)}, {out, Array{Type::u64, 1, count}, lengths});
    const std::size_t selected = load_scalar(Type::u64, fetch(count, sizeof(std::uint64_t)).data()).as<std::uint64_t>();

    // As the first of its call, the carried element counts as the start of a run, but its run has already been written.
    const std::size_t known = does_.starts_runs ? carried : 0;
    if (shifted)
      sink(widened(out, selected, begin_ - carried));
    else
      sink(fetch(out_.data(), selected * element).subspan(known * element));
    if (does_.rest) sink(fetch(out_.data() + selected * element, (n - selected) * element), 1);
    if (does_.lengths) put_lengths(lengths, selected, carried, sink);
    begin_ += chunk.size() / element;
    last_ = load_scalar(case_.type, chunk.last(element).data());
  }
  void finish(const Sink& sink) override {
    if (open_ > 0) sink(std::as_bytes(std::span(&open_, 1)), 1);
  }

 private:
  // Emits the lengths of the chunk's runs except the last, which may continue in the next chunk. If an element was
  // carried over, the first run is the one that was open.
  void put_lengths(const Array& lengths, std::size_t runs, std::size_t carried, const Sink& sink) {
    widened(lengths, runs, 0);
    if (carried) wide_[0] += open_ - carried;
    open_ = wide_.back();
    sink(std::as_bytes(std::span(wide_).first(runs - 1)), 1);
  }

  // Returns the positions or lengths of a chunk, plus `begin`, as u64.
  std::span<const std::byte> widened(const Array& array, std::size_t count, std::uint64_t begin) {
    const auto* const from = reinterpret_cast<const std::uint32_t*>(
        fetch(array.as<const std::byte>(), count * sizeof(std::uint32_t)).data());
    wide_.resize(count);
    for (std::size_t k = 0; k < count; ++k) wide_[k] = begin + from[k];
    return std::as_bytes(std::span(wide_));
  }

  static constexpr Type in_chunk = Type::u32;  // of positions and lengths within a chunk
  const Traits does_ = traits(case_.operation.as<Selection>());
  const bool carries_ = carry() == Carry::last_element;
  Room in_{*this}, flags_{*this}, out_{*this}, lengths_{*this}, count_{*this};
  std::vector<std::uint64_t> wide_;
  std::uint64_t begin_ = 0;  // elements before the chunk
  std::uint64_t open_ = 0;   // elements so far in the run that may continue
  Scalar last_;              // last element of the previous chunk
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<SelectStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::select
