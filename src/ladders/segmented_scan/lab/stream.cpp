// segmented_scan over an input that need not fit in memory: each chunk is scanned after one more element, the total of
// the segment that goes on from the chunk before it. The heads are read beside the input (flags, keys) or before it
// (offsets).
#include "lab/stream.h"

#include <algorithm>
#include <cstring>

#include "lab/wrapping.h"
#include "ladders/segmented_scan/binding.h"

namespace upsweep {

extern const Contract segmented_scan_contract;

namespace ladders::segmented_scan {
namespace {

// As many segments as anybody has; they are in memory throughout.
constexpr std::size_t most_offset_bytes = std::size_t{16} << 30;

class SegmentedStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;

  std::vector<Beside> other_inputs() const override {
    if (kind_ == HeadKind::offsets) return {};
    return {{.name = to_string(kind_), .type = element_of(kind_)}};
  }
  std::vector<Beside> whole_inputs() const override {
    if (kind_ != HeadKind::offsets) return {};
    return {{.name = to_string(kind_), .type = element_of(kind_), .largest = most_offset_bytes}};
  }
  // Offsets beyond the input are found in finish(): until then the number of elements may be unknown.
  void take_whole(std::size_t, std::vector<std::byte> bytes, Type) override {
    offsets_.resize(bytes.size() / sizeof(std::uint64_t));
    std::ranges::copy(bytes, reinterpret_cast<std::byte*>(offsets_.data()));  // both may be null: no offsets
    require_offsets(std::max(offsets_.empty() ? 0 : offsets_.back(), std::uint64_t{1}));
  }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type), before = carry_ ? 1 : 0, n = before + chunk.size() / element;
    const std::byte* const in = in_.fill(chunk, carry_ ? bytes_of(*carry_) : std::span<const std::byte>());
    std::byte* const out = out_.grow(chunk.size());
    run({input_array(case_.type, n, in), heads_of(chunks, before, n)},
        {Array{case_.type, n, out - before * element}});
    const std::span<const std::byte> scanned = fetch(out, chunk.size());
    const auto begins = [&](std::size_t i) { return is_head(chunks, before, i); };
    watch_.see(chunk, scanned, begins);
    const Scalar last = load_scalar(case_.type, chunk.last(element).data());
    carry_ = load_scalar(case_.type, scanned.last(element).data());
    if (!inclusive_) carry_ = begins(n - before - 1) ? last : combine(op_, *carry_, last);
    done_ += n - before;
    if (kind_ == HeadKind::keys) std::memcpy(&last_key_, chunks[1].last(sizeof last_key_).data(), sizeof last_key_);
    sink(scanned);
  }
  void finish(const Sink&) override {
    if (kind_ == HeadKind::offsets) require_offsets(done_);
  }
  std::string warning() const override { return watch_.warning(); }

 private:
  void require_offsets(std::uint64_t n) const {
    Call call = call_of(*find_primitive("segmented_scan"), case_);
    call.in[0].count = n;
    call.in[1] = input_array(Type::u64, offsets_.size(), offsets_.data());
    segmented_scan_contract.validate_elements(call);
  }
  // The heads of the carried element, if there is one, and of a chunk. The first element is a head whatever they say.
  Array heads_of(Chunks chunks, std::size_t before, std::size_t n) {
    if (kind_ != HeadKind::offsets) {
      const Type type = element_of(kind_);
      const auto carried = std::as_bytes(std::span(&last_key_, 1)).first(before * size_of(type));
      return input_array(type, n, heads_.fill(chunks[1], carried));
    }
    const auto first = std::lower_bound(offsets_.begin(), offsets_.end(), done_);
    const auto last = std::lower_bound(first, offsets_.end(), done_ + n - before);
    local_.assign(first, last);
    for (std::uint64_t& offset : local_) offset += before - done_;
    return input_array(Type::u64, local_.size(), heads_.fill(std::as_bytes(std::span(local_))));
  }
  // True if element i of a chunk begins a segment.
  bool is_head(Chunks chunks, std::size_t before, std::size_t i) const {
    if (i + done_ == 0) return true;
    if (kind_ == HeadKind::offsets) return std::binary_search(local_.begin(), local_.end(), i + before);
    if (kind_ == HeadKind::flags) return chunks[1][i] != std::byte{0};
    const auto key = [&](std::size_t k) {
      std::uint32_t value;
      std::memcpy(&value, chunks[1].data() + k * sizeof value, sizeof value);
      return value;
    };
    return key(i) != (i > 0 ? key(i - 1) : last_key_);
  }

  const Op op_ = case_.operation.as<Op>();
  const HeadKind kind_ = case_.settings.get("heads", HeadKind::flags);
  const bool inclusive_ = case_.settings.get("inclusive", false);
  Room in_{*this}, heads_{*this}, out_{*this};
  std::optional<Scalar> carry_;         // op over the segment that the last chunk ended in
  std::uint32_t last_key_ = 0;          // of the last chunk
  std::vector<std::uint64_t> offsets_;  // all of them
  std::vector<std::uint64_t> local_;    // those of a chunk, from its first element on
  std::uint64_t done_ = 0;              // elements of the chunks so far
  ScanWatch watch_{case_, inclusive_};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return make_streamer<SegmentedStreamer>(platform, rung, c);
}

}  // namespace ladders::segmented_scan
}  // namespace upsweep
