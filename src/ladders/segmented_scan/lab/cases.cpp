// The laboratory's cases of segmented_scan: inputs, heads, parameters, verification.
#include <algorithm>

#include "lab/primitive.h"
#include "lab/rng.h"
#include "lab/sums.h"
#include "ladders/segmented_scan/lab/oracle.h"
#include "ladders/segmented_scan/lab/probes.h"
#include "upsweep/parameters/scan.h"

namespace upsweep {

extern const Contract segmented_scan_contract;

namespace ladders::segmented_scan {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

// Returns the offsets at which segments begin. Lengths are 2^k to 1.5 * 2^k with k uniform in [0, 12], so that a warp
// has many segments, or a segment spans many warps. For one segment in sixteen, k is 16, which spans several tiles.
// After one segment in eight, the next begins at a multiple of 1024. If the parameter `length` sets a mean, lengths are
// instead uniform from 1 to 2 * mean - 1.
std::vector<std::uint64_t> draw_offsets(const Case& c) {
  constexpr std::uint64_t stream = 0x7365676d656e7473;  // "segments": independent of the values' stream
  const Random random(c.seed, stream);
  const auto mean = c.settings.get<std::uint64_t>("length", 0);
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0, k = 0; i < c.n; ++k) {
    offsets.push_back(i);
    const std::uint64_t word = random(k), magnitude = word % 16 == 0 ? 16 : (word >> 8) % 13;
    if (mean)
      i += 1 + scale(word, 2 * mean - 1);
    else
      i += (std::uint64_t{1} << magnitude) + scale(word, std::uint64_t{1} << magnitude) / 2;
    if (!mean && (word >> 16) % 8 == 0) i = (i + 1023) / 1024 * 1024;
  }
  return offsets;
}

class SegmentedProblem final : public Problem {
 public:
  SegmentedProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data),
        type_(out_type_of(primitive, c)),
        in_(c.type, values(), c.n, type_),
        offsets_(draw_offsets(c)) {
    if (kind_ == HeadKind::flags) {
      flags_.assign(c.n, 0);
      for (const std::uint64_t i : offsets_) flags_[i] = static_cast<std::uint8_t>(1 + i % 255);
    }
    if (kind_ == HeadKind::keys)  // keys recur, but not in adjacent segments
      for (std::size_t k = 0; k < offsets_.size(); ++k)
        keys_.resize(k + 1 < offsets_.size() ? offsets_[k + 1] : c.n,
                     static_cast<std::uint32_t>(k % 1000 * 2654435761u));
  }
  std::vector<Array> inputs() const override {
    const Array in = input_array(case_.type, case_.n, values());
    if (kind_ == HeadKind::flags) return {in, input_array(Type::u8, case_.n, flags_.data())};
    if (kind_ == HeadKind::keys) return {in, input_array(Type::u32, case_.n, keys_.data())};
    return {in, input_array(Type::u64, offsets_.size(), offsets_.data())};
  }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    return find_mistake(type_, case_.operation.as<Op>(), case_.settings.get("inclusive", false), in_.data(), offsets_,
                        outputs[0], case_.n, rung.peer ? scan::Zeros::are_equal : scan::Zeros::differ,
                        initial_value(case_));
  }

 private:
  const Type type_;  // the output's type
  const Converted in_;
  const HeadKind kind_ = case_.settings.get("heads", HeadKind::flags);
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> keys_;
};

constexpr Parameter shapes[] = {{.name = "length",
                                 .meaning = "mean length of segments; 0: lengths of every magnitude",
                                 .most = 0x1p53,
                                 .initial = std::uint64_t{0}},
                                out_type_shape};

}  // namespace
}  // namespace ladders::segmented_scan

extern const Primitive segmented_scan_primitive{
    .contract = segmented_scan_contract,
    .shapes = ladders::segmented_scan::shapes,
    .streamed = sum_shapes_streamed,
    .variants = &sum_variants,
    .probes = ladders::segmented_scan::probes,
    .problem = &make_problem<ladders::segmented_scan::SegmentedProblem>,
    .sums_in_type = true,
    .stream = &ladders::segmented_scan::stream,
};

}  // namespace upsweep
