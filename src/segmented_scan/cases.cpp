// What the lab has to know of segmented_scan.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/inputs.h"
#include "base/primitive.h"
#include "base/rng.h"
#include "segmented_scan/oracle.h"

namespace upsweep {
namespace {

using ladders::segmented_scan::HeadKind;
using ladders::segmented_scan::Heads;

HeadKind head_kind(const Params& params) {
  const double heads = params.get("heads", 0);
  if (heads != 0 && heads != 1 && heads != 2)
    throw Error(Code::invalid_argument, "heads=" + std::to_string(heads) + " is none of 0, 1 and 2",
                "0 is flags, 1 keys, 2 offsets");
  return static_cast<HeadKind>(static_cast<int>(heads));
}

std::uint64_t mean_length(const Params& params) {
  const double length = params.get("length", 0);
  if (!(length >= 0 && length <= 0x1p53) || length != std::trunc(length))
    throw Error(Code::invalid_argument, "length=" + std::to_string(length) + " is no whole number up to 2^53",
                "it is the mean length of segments; leave it out for lengths of every magnitude");
  return static_cast<std::uint64_t>(length);
}

// Where segments begin. Lengths are 1 to 2^12, small and large ones as likely, so that many lie in one warp and some
// span warps; one in sixteen is 2^16, several tiles; and after one in eight the next begins on a multiple of 1024.
// Parameter `length` instead: 1 to twice that less 1, evenly.
std::vector<std::uint64_t> draw_offsets(const Case& c) {
  constexpr std::uint64_t stream = 0x7365676d656e7473;  // "segments": other numbers than the values'
  const Random random(c.seed, stream);
  const std::uint64_t mean = mean_length(c.params);
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
  SegmentedProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type),
        op_(c.op),
        inclusive_(c.params.get("inclusive", 0) != 0),
        kind_(head_kind(c.params)),
        n_(c.n),
        in_(main_input(c, data)),
        offsets_(draw_offsets(c)) {
    if (kind_ == HeadKind::flags) {
      flags_.assign(n_, 0);
      for (const std::uint64_t i : offsets_) flags_[i] = static_cast<std::uint8_t>(1 + i % 255);
    }
    if (kind_ == HeadKind::keys) {
      keys_.resize(n_);
      for (std::size_t k = 0; k < offsets_.size(); ++k)  // keys come again, but not in neighbouring segments
        std::fill(keys_.begin() + static_cast<std::ptrdiff_t>(offsets_[k]),
                  k + 1 < offsets_.size() ? keys_.begin() + static_cast<std::ptrdiff_t>(offsets_[k + 1]) : keys_.end(),
                  static_cast<std::uint32_t>(k % 1000 * 2654435761u));
    }
  }
  std::vector<Array> inputs() const override {
    const Array values{type_, n_, in_.get()};
    if (kind_ == HeadKind::flags) return {values, {Type::u8, n_, flags_.data()}};
    if (kind_ == HeadKind::keys) return {values, {Type::u32, n_, keys_.data()}};
    return {values, {Type::u64, offsets_.size(), offsets_.data()}};
  }
  std::vector<OutputSpec> outputs() const override { return {{type_, n_}}; }
  // In, heads and out.
  Traffic traffic(const Rung&) const override {
    const Array heads = inputs()[1];
    return {2 * n_ * size_of(type_) + heads.count * size_of(heads.type), "copy"};
  }
  Params params() const override {
    Params params;
    if (kind_ == HeadKind::offsets) params.set("segments", static_cast<double>(offsets_.size()));
    return params;
  }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    const Heads heads{HeadKind::offsets, offsets_.data(), offsets_.size()};
    return ladders::segmented_scan::find_mistake(type_, op_, inclusive_, in_.get(), heads, outputs[0], n_);
  }

 private:
  Type type_;
  Op op_;
  bool inclusive_;
  HeadKind kind_;
  std::size_t n_;
  std::unique_ptr<std::byte[]> in_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> keys_;
};

}  // namespace

extern const Primitive segmented_scan_primitive{
    .name = "segmented_scan",
    .contract = "scan, anew at every head; heads=0: flags, 1: keys (equal neighbours are a segment), 2: offsets",
    .types = &all_types,
    .ops =
        [] {
          return std::vector{Op::sum, Op::min, Op::max};
        },
    .inputs = &input_names,
    .variants =
        [] {
          std::vector<Params> variants(6);
          for (int v = 0; v < 6; ++v) {
            variants[static_cast<std::size_t>(v)].set("heads", v / 2);
            variants[static_cast<std::size_t>(v)].set("inclusive", v % 2);
          }
          return variants;
        },
    .params =
        [] {
          return std::vector<Parameter>{{"heads"}, {"inclusive"}, {"length"}};
        },
    // Around windows of 64, and tiles of 16 KB of every element, one and several.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<SegmentedProblem>(c, data);
    },
    .default_rung_cpu = "parallel",
    .default_rung_gpu = "pipeline",
};

}  // namespace upsweep
