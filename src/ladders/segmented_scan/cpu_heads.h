// Heads on the CPU: one bit per element, for every kind of heads.
#pragma once
#include <algorithm>
#include <cstring>

#include "ladders/segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// Packs eight bytes, each 0 or 1, into bits; the first byte becomes the lowest bit.
inline unsigned gather_bits(const std::uint8_t (&bytes)[8]) {
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
  return static_cast<unsigned>(word * 0x0102040810204080u >> 56);
}

// Iterates over the heads of elements [begin, end), 64 elements at a time.
class HeadWindows {
 public:
  static constexpr std::size_t width = 64;
  HeadWindows(const Heads& heads, std::size_t begin, std::size_t end) : heads_(heads), i_(begin), end_(end) {
    if (heads.kind != HeadKind::offsets) return;
    const auto* const offsets = static_cast<const std::uint64_t*>(heads.data);
    next_ = std::lower_bound(offsets, offsets + heads.segments, begin);
  }
  // Returns the next window's bits. Bit k is set if the window's element k begins a segment, and clear past the end.
  std::uint64_t next() {
    const std::size_t count = std::min(width, end_ - i_);
    std::uint64_t bits = 0;
    if (heads_.kind == HeadKind::offsets) {
      const auto* const last = static_cast<const std::uint64_t*>(heads_.data) + heads_.segments;
      for (; next_ != last && *next_ < i_ + count; ++next_) bits |= std::uint64_t{1} << (*next_ - i_);
    } else {
      std::uint8_t is_head[width] = {};
      if (heads_.kind == HeadKind::flags) {
        const auto* const flags = static_cast<const std::uint8_t*>(heads_.data) + i_;
        for (std::size_t k = 0; k < count; ++k) is_head[k] = flags[k] != 0;
      } else {
        const auto* const keys = static_cast<const std::uint32_t*>(heads_.data) + i_;
        is_head[0] = i_ == 0 || keys[0] != keys[-1];
        for (std::size_t k = 1; k < count; ++k) is_head[k] = keys[k] != keys[k - 1];
      }
      for (unsigned byte = 0; byte < 8; ++byte)
        bits |= std::uint64_t{gather_bits(*reinterpret_cast<const std::uint8_t(*)[8]>(is_head + 8 * byte))} << 8 * byte;
    }
    if (i_ == 0 && count) bits |= 1;
    i_ += count;
    return bits;
  }

 private:
  Heads heads_;
  std::size_t i_, end_;
  const std::uint64_t* next_ = nullptr;  // the first offset not yet returned
};

// Returns whether element i begins a segment.
inline bool is_head(const Heads& heads, std::size_t i) { return HeadWindows(heads, i, i + 1).next() & 1; }

}  // namespace upsweep::ladders::segmented_scan
