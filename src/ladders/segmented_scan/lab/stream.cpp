// Streams segmented_scan over an input that may exceed memory. If a segment continues from the previous chunk, its
// total so far is prepended to the chunk as one more element. Flags and keys are read chunk by chunk, along with the
// input; offsets are read in full before it.
#include "lab/stream.h"

#include <algorithm>
#include <cstring>

#include "lab/sums.h"
#include "lab/wrapping.h"
#include "ladders/segmented_scan/binding.h"

namespace upsweep {

extern const Contract segmented_scan_contract;

namespace ladders::segmented_scan {
namespace {

// Maximum size of the offsets, which stay in memory throughout; ample for real inputs.
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
  // finish() detects offsets beyond the input, because the number of elements may be unknown until then.
  void take_whole(std::size_t, std::vector<std::byte> bytes, Type) override {
    offsets_.resize(bytes.size() / sizeof(std::uint64_t));
    std::ranges::copy(bytes, reinterpret_cast<std::byte*>(offsets_.data()));  // not memcpy: may be null
    require_offsets(std::max(offsets_.empty() ? 0 : offsets_.back(), std::uint64_t{1}));
  }

  void feed(Chunks chunks, const Sink& sink) override {
    if (type_ != case_.type || initial_) return feed_apart(chunks, sink);
    const std::span<const std::byte> chunk = chunks[0];
    const std::size_t element = size_of(case_.type), before = carry_ ? 1 : 0, n = before + chunk.size() / element;
    const std::byte* const in = in_.fill(chunk, carry_ ? bytes_of(*carry_) : std::span<const std::byte>());
    std::byte* const out = out_.grow(chunk.size());
    run({input_array(case_.type, n, in), heads_of(chunks, before, n)}, {Array{case_.type, n, out - before * element}});
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
  void describe(Call& call, std::uint64_t) const override { call.out[0].type = type_; }

  // Processes a chunk if the carried total cannot be prepended as an element, because it includes the initial value or
  // is wider than an element. The rest of the open segment is then an ordinary scan on the CPU whose initial value is
  // the carried total; the rung scans the segments that begin in this chunk.
  void feed_apart(Chunks chunks, const Sink& sink) {
    const std::size_t element = size_of(case_.type), n = chunks[0].size() / element;
    if (kind_ == HeadKind::offsets) heads_of(chunks, 0, n);  // sets local_, which is_head() reads
    std::size_t begin = 0;
    if (carry_)
      while (begin < n && !is_head(chunks, 0, begin)) ++begin;
    if (begin > 0) {
      ended_.resize(begin * size_of(type_));
      const std::span<const std::byte> in = chunks[0].first(begin * element);
      scan_from_carry(in.data(), begin, ended_.data());
      take(in, ended_, [](std::size_t) { return false; });
      sink(ended_);
    }
    if (begin < n) {
      const std::span<const std::byte> in = chunks[0].subspan(begin * element);
      std::array<std::span<const std::byte>, 2> rest{in};
      if (kind_ != HeadKind::offsets) rest[1] = chunks[1].subspan(begin * size_of(element_of(kind_)));
      done_ += begin;
      std::byte* const out = out_.grow((n - begin) * size_of(type_));
      run({input_array(case_.type, n - begin, in_.fill(in)), heads_of(rest, 0, n - begin)},
          {Array{type_, n - begin, out}});
      const std::span<const std::byte> scanned = fetch(out, (n - begin) * size_of(type_));
      take(in, scanned, [&](std::size_t i) { return i == 0 || is_head(rest, 0, i); });
      done_ += n - begin;
      sink(scanned);
    } else {
      done_ += n;
    }
    if (kind_ == HeadKind::keys) std::memcpy(&last_key_, chunks[1].last(sizeof last_key_).data(), sizeof last_key_);
  }
  void scan_from_carry(const void* in, std::size_t n, void* out) {
    const Rung& scan = *find_rung(cpu_platform().rungs_of(*find_contract("scan")), "scan", "parallel");
    Workspace workspace(cpu_platform());
    const Status status = scan.find(
        case_.type, case_.operation)({.operation = case_.operation,
                                      .in = {input_array(case_.type, n, in)},
                                      .out = {Array{type_, n, out}},
                                      .scalars = scan_scalars.scalars({.inclusive = inclusive_, .initial = *carry_}),
                                      .workspace = &workspace});
    if (!status) throw Error(status.code, "scan/parallel failed");
  }
  // Passes elements and their scan to watch_, and updates the carried total from the last of each.
  void take(std::span<const std::byte> in, std::span<const std::byte> scanned, const ScanWatch::IsHead& begins) {
    watch_.see(in, scanned, begins);
    const std::size_t element = size_of(case_.type), n = in.size() / element;
    carry_ = load_scalar(type_, scanned.last(size_of(type_)).data());
    if (inclusive_) return;
    const Scalar last = load_scalar(type_, Converted(case_.type, in.last(element).data(), 1, type_).data());
    carry_ = begins(n - 1) && !initial_ ? last : combine(op_, *carry_, last);
  }

  void require_offsets(std::uint64_t n) const {
    Call call = call_of(*find_primitive("segmented_scan"), case_);
    call.in[0].count = n;
    call.in[1] = input_array(Type::u64, offsets_.size(), offsets_.data());
    segmented_scan_contract.validate_elements(call);
  }
  // Returns the heads of `before` carried elements (0 or 1) and of a chunk, n in all. Rungs take the first as a head.
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
  // Returns whether element i of a chunk begins a segment.
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
  const Type type_ = out_type_of(*find_primitive("segmented_scan"), case_);
  const Scalar initial_ = initial_value(case_);
  const HeadKind kind_ = case_.settings.get("heads", HeadKind::flags);
  const bool inclusive_ = case_.settings.get("inclusive", false);
  Room in_{*this}, heads_{*this}, out_{*this};
  std::vector<std::byte> ended_;        // the scan of the segment that continues from the previous chunk
  std::optional<Scalar> carry_;         // total so far of the segment that is open at the end of the previous chunk
  std::uint32_t last_key_ = 0;          // last key of the previous chunk
  std::vector<std::uint64_t> offsets_;  // of the whole input
  std::vector<std::uint64_t> local_;    // of the current chunk, relative to the rung's first element
  std::uint64_t done_ = 0;              // elements in the chunks so far
  ScanWatch watch_{case_, type_, inclusive_};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return make_streamer<SegmentedStreamer>(platform, rung, c);
}

}  // namespace ladders::segmented_scan
}  // namespace upsweep
