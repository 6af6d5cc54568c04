// Draws any list of circles over a block's tile. Of each warp's 8 x 8 pixels and 32 circles, the bits that say what
// covers what are found by circles, transposed, and used by pixels: no lane waits while others test or blend.
//
// 1. A block fetches 512 circles. A ballot for each patch says which of a warp's 32 circles reach it.
// 2. Each warp lists those of its patch. Of 32 listed, each lane tests one against the 64 pixels; dx^2 and dy^2 are
//    eight each, so that a test is a sum and a comparison.
// 3. Transposed, lane l has the bits of pixel l. It blends one circle after another, from its highest bit down.
#pragma once
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

struct BitsMemory {
  // A circle waits at most until the next batch has been listed, and a warp may be a batch ahead of another.
  Disc staged[3 * patch_threads];
  unsigned reached[2][patch_warps][patch_warps];  // [..][patch][warp that fetched]: bits of its circles
  unsigned short listed[patch_warps][patch_threads + warp_size];
  float paint[patch_warps][4][warp_size];  // of the 32 circles that are blended: each a bank, so that no two conflict
  struct alignas(16) Centres {
    float at[8];
  } x[4], y[4];  // of the tile's patches
};

// The circles that a tile may show, in order: its bin's list, or all circles.
class TileCircles {
 public:
  const std::size_t count;
  __device__ TileCircles(const float* circles, const unsigned* listed, std::size_t n)
      : count(n), all_(circles), indices_(listed) {
    if (indices_ && threadIdx.x < count) index_ = indices_[threadIdx.x];
    fetch(0);
  }
  // The thread's circle of 512 from `first` on. Fetches that of the next 512 meanwhile.
  __device__ Circle take(std::size_t first) {
    const Circle c = next_;
    fetch(first + patch_threads);
    return c;
  }

 private:
  // Fetches the thread's circle of 512, and its index in the next 512.
  __device__ void fetch(std::size_t first) {
    const std::size_t at = first + threadIdx.x;
    if (at < count) next_ = load_circle(all_, indices_ ? index_ : at);
    if (indices_ && at + patch_threads < count) index_ = indices_[at + patch_threads];
  }
  const float* const all_;
  const unsigned* const indices_;  // null: all circles
  Circle next_{};
  unsigned index_ = 0;
};

// Bit j of lane i becomes bit i of lane j.
__device__ __forceinline__ unsigned transposed(unsigned bits) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned d = warp_size / 2; d > 0; d /= 2) {
    const unsigned low = all_lanes / ((1u << d) + 1);  // d of every 2 d bits
    const unsigned kept = lane & d ? ~low : low, shift = lane & d ? warp_size - d : d;
    const unsigned other = __shfl_xor_sync(all_lanes, bits, int(d));
    bits = (bits & kept) | ((other << shift | other >> (warp_size - shift)) & ~kept);
  }
  return bits;
}

// A warp of the block, which draws its patch. `fused`: alpha is 1/2 everywhere, and blends are fused multiply-adds.
template <bool fused>
class WarpBits {
 public:
  Colour colour[2];
  __device__ WarpBits(BitsMemory& memory, const Frame& f, const Patch& patch)
      : colour{background(f, patch.j[0]), background(f, patch.j[1])},
        memory_(memory),
        warp_(threadIdx.x / warp_size),
        lane_(threadIdx.x % warp_size) {}

  // Lists the circles of a batch of 512 that reach the patch, which are staged; draws as many as can be 32 at once.
  __device__ void draw(unsigned batch) {
    unsigned left = lane_ < patch_warps ? memory_.reached[batch % 2][warp_][lane_] : 0;
    if (waiting_ == 0 && !__any_sync(all_lanes, left)) return;
    const unsigned upto = warp_scan(unsigned(__popc(left)), Sum{}), waited = waiting_;
    unsigned place = waiting_ + upto - unsigned(__popc(left));
    const unsigned first = batch % 3 * patch_threads + lane_ * warp_size;
    for (; left; left &= left - 1)
      memory_.listed[warp_][place++] = static_cast<unsigned short>(first + unsigned(__ffs(int(left))) - 1);
    waiting_ += shuffle(upto, warp_size - 1);
    __syncwarp();
    unsigned at = 0;
    for (; waiting_ >= warp_size; waiting_ -= warp_size, at += warp_size) draw_32(at, warp_size);
    if (at == 0 && waited > 0) draw_rest();  // some of the batch before, whose place is needed
    if (at == 0) return;
    const unsigned short kept = lane_ < waiting_ ? memory_.listed[warp_][at + lane_] : 0;
    __syncwarp();
    if (lane_ < waiting_) memory_.listed[warp_][lane_] = kept;
  }
  __device__ void draw_rest() {
    __syncwarp();
    if (waiting_ > 0) draw_32(0, waiting_);
    waiting_ = 0;
  }

 private:
  // The first circle listed is the last lane's, so that its bit is the highest.
  __device__ void draw_32(unsigned first, unsigned size) {
    unsigned bits[2] = {0, 0};
    auto& paint = memory_.paint[warp_];
    const unsigned own = warp_size - 1 - lane_;
    if (own < size) {
      const Disc c = memory_.staged[memory_.listed[warp_][first + own]];
      paint[0][lane_] = c.red, paint[1][lane_] = c.green, paint[2][lane_] = c.blue, paint[3][lane_] = c.through;
      const BitsMemory::Centres x = memory_.x[warp_ % 4], y = memory_.y[warp_ / 4];
      float dx2[8];
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) dx2[i] = square(x.at[i] - c.x);
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) {
        const float dy2 = square(y.at[j] - c.y);
#pragma unroll
        for (unsigned i = 0; i < 8; ++i)
          if (add(dx2[i], dy2) <= c.radius2) bits[j / 4] |= 1u << (j % 4 * 8 + i);
      }
    }
    for (unsigned& word : bits) word = transposed(word);
    __syncwarp();
    while (bits[0] | bits[1])
#pragma unroll
      for (unsigned k = 0; k < 2; ++k) {
        if (bits[k] == 0) continue;
        const unsigned c = warp_size - 1 - unsigned(__clz(int(bits[k])));
        bits[k] ^= 1u << c;
        if constexpr (fused)
          colour[k] = {fmaf(0.5f, colour[k].red, paint[0][c]), fmaf(0.5f, colour[k].green, paint[1][c]),
                       fmaf(0.5f, colour[k].blue, paint[2][c]), 1};
        else
          blend(colour[k], {paint[0][c], paint[1][c], paint[2][c], paint[3][c], 0});
      }
    __syncwarp();
  }

  BitsMemory& memory_;
  const unsigned warp_, lane_;
  unsigned waiting_ = 0;  // listed circles that are not drawn yet
};

// How far a circle's centre is on one axis from the pixels of each patch, squared.
__device__ __forceinline__ void distances(float (&to)[4], const BitsMemory::Centres (&patches)[4], float centre) {
#pragma unroll
  for (unsigned p = 0; p < 4; ++p) to[p] = square(max(max(patches[p].at[0] - centre, centre - patches[p].at[7]), 0.f));
}

// Draws all circles of the tile over the background. For all threads of the block.
template <bool fused>
__device__ void draw_all(TileCircles circles, BitsMemory& memory, const Patch& patch, float* image, const Frame& f) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (threadIdx.x < patch_tile) {
    memory.x[threadIdx.x / 8].at[threadIdx.x % 8] = centre_x(f, patch.tile_i + threadIdx.x);
    memory.y[threadIdx.x / 8].at[threadIdx.x % 8] = centre_y(f, patch.tile_j + threadIdx.x);
  }
  __syncthreads();
  WarpBits<fused> bits(memory, f, patch);
  unsigned batch = 0;
  for (std::size_t first = 0; first < circles.count; first += patch_threads, ++batch) {
    const Circle c = circles.take(first);
    const bool there = first + threadIdx.x < circles.count;
    if (there) keep(memory.staged[batch % 3 * patch_threads + threadIdx.x], c);
    const bool reaches_tile = there && reaches(c.x, c.y, square(c.radius), memory.x[0].at[0], memory.y[0].at[0],
                                               memory.x[3].at[7], memory.y[3].at[7]);
    unsigned(*const reached)[patch_warps] = memory.reached[batch % 2];
    if (!__any_sync(all_lanes, reaches_tile)) {
      if (lane < patch_warps) reached[lane][warp] = 0;
    } else {
      // As in `reaches`, the nearest pixel decides exactly.
      float dx2[4], dy2[4];
      distances(dx2, memory.x, c.x);
      distances(dy2, memory.y, c.y);
      const float radius2 = there ? square(c.radius) : -1;
#pragma unroll
      for (unsigned p = 0; p < patch_warps; ++p) {
        const unsigned some = __ballot_sync(all_lanes, add(dx2[p % 4], dy2[p / 4]) <= radius2);
        if (lane == 0) reached[p][warp] = some;
      }
    }
    __syncthreads();
    bits.draw(batch);
  }
  bits.draw_rest();
  patch.store(image, f, bits.colour);
}

}  // namespace upsweep::ladders::render
