// Reads a bin's list for a block of 16 x 16 pixels, 256 circles per step, and filters each step for a warp's 8 x 4
// pixels.
#pragma once
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// A warp's 8 x 4 pixels; a block is two warps wide.
struct WarpPixels {
  unsigned i, j;
  bool inside;
  float x, y, left, top, right, bottom;
  __device__ explicit WarpPixels(const Frame& f) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned first_i = blockIdx.x * tile_width + warp % 2 * 8, first_j = blockIdx.y * tile_width + warp / 2 * 4;
    i = first_i + lane % 8, j = first_j + lane / 8;
    inside = i < f.width && j < f.height;
    left = centre_x(f, min(first_i, f.width - 1)), right = centre_x(f, min(first_i + 7, f.width - 1));
    top = centre_y(f, min(first_j, f.height - 1)), bottom = centre_y(f, min(first_j + 3, f.height - 1));
    i = min(i, f.width - 1), j = min(j, f.height - 1);
    x = centre_x(f, i), y = centre_y(f, j);
  }
  // Warp-wide: tests circles [first, first + 32) of `count`, one per lane. Returns the ballot of those that reach the
  // warp's pixels.
  template <class Kept>
  __device__ unsigned reached_by(const Kept* circles, unsigned first, unsigned count) const {
    const unsigned k = first + threadIdx.x % warp_size;
    return __ballot_sync(
        all_lanes, k < count && reaches(circles[k].x, circles[k].y, limit_of(circles[k]), left, top, right, bottom));
  }
};

// The circles that reach a block, read in steps of 256 entries of its bin's list. If the bin has no list, a step reads
// 256 of all circles instead.
template <class Kept>
class BlockList {
 public:
  static constexpr unsigned warps = tile_threads / warp_size;
  static constexpr std::size_t shared_bytes = tile_threads * sizeof(Kept) + warps * sizeof(unsigned);

  __device__ BlockList(const float* all, std::size_t n, const Frame& f, const BinLists& bins)
      : circles(dynamic_shared<Kept>()), all_(all), bounds_(f) {
    const unsigned per_bin = bins.grid.side() / tile_width;
    const BinList list = bins.lists[blockIdx.y / per_bin * bins.grid.columns + blockIdx.x / per_bin];
    listed_ = list.listed();
    indices_ = bins.indices + (listed_ ? list.begin : 0);
    length_ = listed_ ? list.count : n;
  }
  __device__ std::size_t length() const { return length_; }
  __device__ std::size_t steps() const { return (length_ + tile_threads - 1) / tile_threads; }

  // Block-wide: fetches step s of the list, unless it is already loaded, and returns the number of its circles that
  // reach the block.
  __device__ unsigned fetch(std::size_t s) {
    if (s == fetched_) return count_;
    unsigned* const totals = reinterpret_cast<unsigned*>(circles + tile_threads);  // [warps], shared
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const std::size_t at = s * tile_threads + threadIdx.x;
    Circle c{};
    if (at < length_) c = load_circle(all_, listed_ ? indices_[at] : at);
    const unsigned ballot = __ballot_sync(all_lanes, at < length_ && bounds_.reached_by(c));
    if (lane == 0) totals[warp] = unsigned(__popc(ballot));
    __syncthreads();
    unsigned offset = unsigned(__popc(ballot & ((1u << lane) - 1)));
    count_ = 0;
    for (unsigned w = 0; w < warps; ++w) {
      offset += w < warp ? totals[w] : 0;
      count_ += totals[w];
    }
    if (ballot >> lane & 1) keep(circles[offset], c);
    __syncthreads();
    fetched_ = s;
    return count_;
  }

  Kept* const circles;  // [tile_threads], shared

 private:
  const float* all_;
  const TileBounds bounds_;
  bool listed_;
  const unsigned* indices_;
  std::size_t length_, fetched_ = ~std::size_t{0};
  unsigned count_ = 0;
};

// Adds the alphas of a step's circles that cover the pixel to `sum`, in order.
template <class Kept>
__device__ __forceinline__ void cover_step(float& sum, const Kept* circles, unsigned count, const WarpPixels& pixel) {
  for (unsigned group = 0; group < count; group += warp_size)
    for (unsigned reached = pixel.reached_by(circles, group, count); reached; reached &= reached - 1) {
      const Kept c = circles[group + lowest_bit(reached)];
      const float d2 = distance2(pixel.x, pixel.y, c.x, c.y);
      if (d2 <= limit_of(c)) sum = add(sum, paint_at(c, d2).alpha);
    }
}

}  // namespace upsweep::ladders::render
