// A grid of square bins over the image, and the bins that a circle reaches.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

// A circle's bins in 16 bits, if they span at most two columns and two rows: 12 bits for the first bin, one bit each
// for a second column and a second row. The scatter reads these two bytes instead of the circle.
class BinKey {
 public:
  static constexpr unsigned max_few = 4, first_bits = 12;
  BinKey() = default;
  __device__ BinKey(unsigned first, unsigned wide, unsigned high)
      : bits_(static_cast<unsigned short>(
            max(wide, high) > 2 ? many_bins : first | (wide - 1) * two_wide | (high - 1) * two_high)) {}
  __device__ bool many() const { return bits_ == many_bins; }
  // Calls f(bin) for each bin, unless many().
  template <class F>
  __device__ __forceinline__ void each(unsigned columns, F&& f) const {
    if (bits_ >= no_bins) return;
    const unsigned first = bits_ & ((1u << first_bits) - 1);
    const bool wide = bits_ & two_wide, high = bits_ & two_high;
    f(first);
    if (wide) f(first + 1);
    if (high) f(first + columns);
    if (wide && high) f(first + columns + 1);
  }

 private:
  static constexpr unsigned two_wide = 1u << first_bits, two_high = two_wide << 1, no_bins = two_high << 1,
                            many_bins = no_bins + 1;
  unsigned short bits_ = no_bins;
};

inline constexpr unsigned bin_threads = 256, bin_warps = bin_threads / warp_size;

// Bins of 2^shift x 2^shift pixels.
struct BinGrid {
  // Maximum number of bins that a key can address.
  static constexpr unsigned max_bins = 1u << BinKey::first_bits;
  unsigned shift, columns, rows;
  Axes axes;
  BinGrid(const Frame& f, unsigned bin_shift)
      : shift(bin_shift),
        columns(unsigned(ceil_div(f.width, side()))),
        rows(unsigned(ceil_div(f.height, side()))),
        axes(f) {}
  UPSWEEP_HD unsigned side() const { return 1u << shift; }
  UPSWEEP_HD unsigned count() const { return columns * rows; }
  __device__ unsigned bin_at(unsigned i, unsigned j) const { return (j >> shift) * columns + (i >> shift); }

  // Warp-wide: calls f(bin, lane) for every bin in which that lane's circle covers a pixel, and possibly for more bins,
  // the same ones in every call. Each of the first `lanes` lanes passes a circle, its box of pixels and key_of(box).
  // Circle and box are read only if key.many().
  template <class F>
  __device__ void each(const Frame& frame, unsigned lanes, BinKey key, const Circle& c, const Box& b, F&& f) const {
    const unsigned lane = threadIdx.x % warp_size;
    key.each(columns, [&](unsigned bin) { f(bin, lane); });
    Extent mine{};
    if (key.many()) {
      const unsigned left = unsigned(b.left) >> shift, right = (unsigned(b.right - 1) >> shift) + 1;
      const unsigned top = unsigned(b.top) >> shift, bottom = (unsigned(b.bottom - 1) >> shift) + 1;
      mine = {c.x, c.y, c.radius, left, right, top, bottom};
    }
    if (!__any_sync(all_lanes, key.many())) return;
    // A team of 32 / `lanes` lanes shares each circle, one row of bins per lane. The whole warp shares the largest
    // circles, one circle after another.
    const unsigned team = warp_size / lanes, large = 64 * team;
    const bool shared = mine.rows() * mine.columns() > large;
    const Extent of_team = shuffle(mine, lane / team);
    if (of_team.rows() * of_team.columns() <= large)
      for (unsigned row = of_team.top + lane % team; row < of_team.bottom; row += team)
        each_of_row(frame, of_team, row, lane / team, f);
    for (unsigned left = __ballot_sync(all_lanes, shared); left; left &= left - 1) {
      const unsigned owner = lowest_bit(left);
      const Extent p = shuffle(mine, owner);
      for (unsigned row = p.top + lane; row < p.bottom; row += warp_size) each_of_row(frame, p, row, owner, f);
    }
  }
  // Returns the key of the bins that a box of pixels overlaps.
  __device__ BinKey key_of(const Box& b) const {
    if (b.empty()) return {};
    const unsigned column = unsigned(b.left) >> shift, row = unsigned(b.top) >> shift;
    return {row * columns + column, (unsigned(b.right - 1) >> shift) + 1 - column,
            (unsigned(b.bottom - 1) >> shift) + 1 - row};
  }

 private:
  struct Extent {
    float x, y, radius;
    unsigned left, right, top, bottom;  // bins
    __device__ unsigned columns() const { return right - left; }
    __device__ unsigned rows() const { return bottom - top; }
  };
  // Visits those bins of a row that the circle's chord spans. The chord is taken where it is longest: as near to the
  // circle's centre as the row's pixel centres reach.
  template <class F>
  __device__ void each_of_row(const Frame& f, const Extent& p, unsigned row, unsigned owner, F&& visit) const {
    const float above = centre_y(f, row << shift), below = centre_y(f, min((row + 1) << shift, f.height) - 1);
    const float radius2 = square(p.radius), dy2 = square(outside(p.y, above, below));
    if (!(dy2 <= radius2)) return;
    // Rounding margin: the slack of Axis::bounds(), and 2^-10 of the radius, because a relative error of 2^-21 in the
    // squares moves the end of the chord that far.
    const float slack = axes.x.slack(p.x, p.radius) + p.radius * 0x1p-10f, size = axes.x.size();
    const float chord = radius2 > 3e38f ? radius2 : sqrtf(radius2 - dy2) + slack;
    const float first = axes.x.position(p.x - chord), last = axes.x.position(p.x + chord);
    const unsigned left = max(p.left, unsigned(min(max(first, 0.f), size)) >> shift);
    const unsigned right = min(p.right, (unsigned(min(max(last, 0.f), size)) >> shift) + 1);
    for (unsigned column = left; column < right; ++column) visit(row * columns + column, owner);
  }
};

}  // namespace upsweep::ladders::render
