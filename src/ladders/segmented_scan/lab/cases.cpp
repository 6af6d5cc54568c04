// What the lab has to know of segmented_scan.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "lab/inputs.h"
#include "lab/primitive.h"
#include "lab/rng.h"
#include "ladders/segmented_scan/lab/oracle.h"

namespace upsweep {

extern const Contract segmented_scan_contract;

namespace {

using ladders::segmented_scan::Heads;

// Where segments begin. Lengths are 1 to 2^12, small and large ones as likely, so that many lie in one warp and some
// span warps; one in sixteen is 2^16, several tiles; and after one in eight the next begins on a multiple of 1024.
// Parameter `length` instead: 1 to twice that less 1, evenly.
std::vector<std::uint64_t> draw_offsets(const Case& c) {
  constexpr std::uint64_t stream = 0x7365676d656e7473;  // "segments": other numbers than the values'
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
  SegmentedProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type),
        op_(c.operation.as<Op>()),
        inclusive_(c.settings.get("inclusive", false)),
        kind_(c.settings.get("heads", HeadKind::flags)),
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
    const Array values = input_array(type_, n_, in_.get());
    if (kind_ == HeadKind::flags) return {values, input_array(Type::u8, n_, flags_.data())};
    if (kind_ == HeadKind::keys) return {values, input_array(Type::u32, n_, keys_.data())};
    return {values, input_array(Type::u64, offsets_.size(), offsets_.data())};
  }
  std::vector<Array> outputs() const override { return {{type_, n_}}; }
  // In, heads and out.
  Traffic traffic(const Rung&) const override {
    const Array heads = inputs()[1];
    return {2 * n_ * size_of(type_) + heads.bytes(), "copy"};
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

constexpr Parameter shapes[] = {
    {.name = "length", .meaning = "mean length of segments (0: lengths of every magnitude)", .most = 0x1p53}};

}  // namespace

extern const Primitive segmented_scan_primitive{
    .contract = segmented_scan_contract,
    .types = &all_types,
    .inputs = &input_names,
    .shapes = shapes,
    .variants =
        [](const Primitive& p, Type type) {
          std::vector<Settings> variants;
          for (const std::string_view heads : head_kind_names)
            for (const char* inclusive : {"false", "true"})
              variants.push_back(p.settings(type, {{"heads", std::string(heads)}, {"inclusive", inclusive}}));
          return variants;
        },
    // Around windows of 64, and tiles of 16 KB of every element, one and several.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<SegmentedProblem>(c, data);
    },
};

}  // namespace upsweep
