// Draws any list of circles over a block's tile, by a bit for each circle and pixel. Of 8 x 8 pixels and 32 circles, a
// lane per circle finds the bits; transposed, a lane per pixel uses them: no lane waits while others test or blend.
//
// 1. A block fetches a circle for each thread at a time, a batch ahead and past L1, which has no room for so many
//    lines. A ballot for each of 16 patches of 8 x 8 says which of a warp's 32 circles reach it.
// 2. Each warp lists those of its patch, or of both halves of its patch. Each lane tests one of 32 listed against the
//    64 pixels (find_covered): for tiny circles, the more pixels, the more tests in vain.
// 3. Transposed, lane l has the bits of pixel l. It blends one circle after another, from its highest bit down.
#pragma once
#include "kernel/copy_16.h"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

template <unsigned per_lane>
struct BitsMemory {
  static constexpr unsigned threads = patch_threads<per_lane>, warps = patch_warps<per_lane>, eights = 16;
  static constexpr unsigned ahead = 1;  // batches in flight beside the one at hand; two are no faster
  // A circle may wait until the next batch is listed, and a warp may be a batch ahead of another.
  static constexpr unsigned slots = ahead + 3;
  Centres centres;  // first, as in PatchMemory: they stay
  struct alignas(16) Staged {
    Circle circle;
  } staged[slots * threads];
  unsigned reached[2][eights][warps];  // [..][8 x 8 pixels][warp that fetched]: bits of its circles
  unsigned short listed[eights][threads + warp_size];
  // The paints of 32 circles that are blended, consecutive ones in different banks. The last paint changes nothing.
  float paint[warps][4][warp_size + 1];
};

// The circles that a tile may show, in order: its bin's list, a part of it in shared memory, or all circles.
template <unsigned per_lane>
class TileCircles {
  static constexpr unsigned threads = patch_threads<per_lane>;

 public:
  const unsigned count;
  Copies16 copies;
  __device__ TileCircles(const float* circles, const unsigned* listed, std::size_t n)
      : count(unsigned(n)), all_(circles), indices_(listed) {
    fetch_index(0);
  }
  // Part `part` of `parts`.
  __device__ TileCircles(const float* circles, const unsigned* listed, std::size_t n, unsigned part, unsigned parts)
      : TileCircles(listed ? circles : circles + n * part / parts * floats_per_circle,
                    listed ? listed + n * part / parts : nullptr, n * (part + 1) / parts - n * part / parts) {}
  // Starts to fetch batch `batch` of 512, the one after that of the call before.
  __device__ void start(BitsMemory<per_lane>& memory, unsigned batch) {
    const unsigned lane = threadIdx.x % warp_size, first = threadIdx.x - lane;
    typename BitsMemory<per_lane>::Staged* const to = memory.staged + batch % BitsMemory<per_lane>::slots * threads;
    if (reinterpret_cast<std::uintptr_t>(all_) % 16 == 0) {
      // Two lanes for each circle, whose 32 bytes are one sector.
      for (unsigned at = first + lane / 2; at < first + warp_size; at += warp_size / 2) {
        const std::size_t index = shuffle(index_, at - first);
        if (batch * threads + at < count)
          copies.start(reinterpret_cast<char*>(to + at) + lane % 2 * 16,
                       reinterpret_cast<const char*>(all_) + index * sizeof(Circle) + lane % 2 * 16);
      }
    } else if (batch * threads + threadIdx.x < count) {
      to[threadIdx.x].circle = circle_at(all_, index_);
    }
    copies.commit();
    fetch_index(batch + 1);
  }

 private:
  __device__ void fetch_index(unsigned batch) {
    const unsigned at = batch * threads + threadIdx.x;
    if (at < count) index_ = indices_ ? indices_[at] : at;
  }
  const float* const all_;
  const unsigned* const indices_;  // null: all circles
  unsigned index_ = 0;             // of the thread's circle in the next batch to fetch
};

// A warp of the block, which draws its patch. `fused`: alpha is 1/2 everywhere, and blends are fused multiply-adds.
// `through`: a colour's w becomes the transmittance.
template <unsigned per_lane, bool fused, bool through = false>
class WarpBits {
 public:
  Colour colour[per_lane];
  __device__ WarpBits(BitsMemory<per_lane>& memory, const Frame& f)
      : memory_(memory), warp_(threadIdx.x / warp_size), lane_(threadIdx.x % warp_size) {
    for (Colour& c : colour) c = flat_background(f);
    // -0 + 1 * c is c, also where that is 0 or -0.
    if (lane_ < 4) memory.paint[warp_][lane_][warp_size] = lane_ < 3 ? -0.f : 1.f;
  }

  // Draws the circles of a batch that reach the patch: 32 at once, and the rest with the next batch.
  __device__ void draw(unsigned batch, bool last) {
#pragma unroll
    for (unsigned h = 0; h < halves; ++h) draw_half(h, batch, last);
  }

 private:
  static constexpr unsigned halves = per_lane / 2;
  __device__ void draw_half(unsigned h, unsigned batch, bool last) {
    const unsigned column = warp_ % Patch<per_lane>::across * halves + h, row = warp_ / Patch<per_lane>::across;
    unsigned short* const listed = memory_.listed[row * 4 + column];
    unsigned& waiting = waiting_[h];
    unsigned left = lane_ < patch_warps<per_lane> ? memory_.reached[batch % 2][row * 4 + column][lane_] : 0;
    if (waiting == 0 && !__any_sync(all_lanes, left)) return;
    const unsigned upto = warp_scan(unsigned(__popc(left)), Sum{});
    unsigned offset = waiting + upto - unsigned(__popc(left));
    const unsigned first = batch % BitsMemory<per_lane>::slots * patch_threads<per_lane> + lane_ * warp_size;
    for (; left; left &= left - 1) listed[offset++] = static_cast<unsigned short>(first + lowest_bit(left));
    bool rest = last || waiting > 0;  // there is no next batch, or what waited from the batch before must not go on
    waiting += shuffle(upto, warp_size - 1);
    __syncwarp();
    unsigned at = 0;
    while (waiting >= warp_size || (rest && waiting > 0)) {
      draw_32(colour + 2 * h, memory_.centres.x[column], memory_.centres.y[row], listed + at, min(waiting, warp_size));
      at += warp_size, waiting -= min(waiting, warp_size);
      rest = last;
    }
    if (at == 0 || waiting == 0) return;
    // Fewer than 32, and `at` is 32 or more: none of them is where another lane puts its own.
    if (lane_ < waiting) listed[lane_] = listed[at + lane_];
  }
  // The first circle listed is the last lane's, so that its bit is the highest.
  __device__ __forceinline__ void draw_32(Colour* pixels,  // [2]
                                          const Centres::Eight& x, const Centres::Eight& y,
                                          const unsigned short* listed, unsigned size) {
    auto& paint = memory_.paint[warp_];
    const unsigned at = warp_size - 1 - lane_;
    Circle c{};
    float radius2 = -1;
    if (at < size) {
      c = memory_.staged[listed[at]].circle;
      radius2 = square(c.radius);
      const Paint p = flat_paint(c);
      paint[0][at] = p.red, paint[1][at] = p.green, paint[2][at] = p.blue, paint[3][at] = p.through;
    }
    unsigned bits[2];
    find_covered(bits, &x, y, c.x, c.y, radius2);
    __syncwarp();
    while (bits[0] | bits[1])
#pragma unroll
      for (unsigned k = 0; k < 2; ++k) {
        const unsigned c = unsigned(__clz(int(bits[k])));  // 32, the paint that changes nothing, if there is none
        bits[k] &= ~__funnelshift_r(1u << 31, 0, c);
        const Paint p{paint[0][c], paint[1][c], paint[2][c], paint[3][c], 0};
        if constexpr (fused)
          pixels[k] = {fmaf(p.through, pixels[k].red, p.red), fmaf(p.through, pixels[k].green, p.green),
                       fmaf(p.through, pixels[k].blue, p.blue), pixels[k].w};
        else
          blend(pixels[k], p);
        if constexpr (through) pixels[k].w *= p.through;
      }
    __syncwarp();
  }

  BitsMemory<per_lane>& memory_;
  const unsigned warp_, lane_;
  unsigned waiting_[halves]{};  // listed circles that are not drawn yet
};

// Draws all of these circles. For all threads of the block, which has the tile's centres in memory.
template <unsigned per_lane, bool fused, bool through>
__device__ void draw_all(TileCircles<per_lane> circles, BitsMemory<per_lane>& memory,
                         WarpBits<per_lane, fused, through>& bits) {
  constexpr unsigned threads = patch_threads<per_lane>, warps = patch_warps<per_lane>,
                     ahead = BitsMemory<per_lane>::ahead;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (unsigned batch = 0; batch < ahead; ++batch) circles.start(memory, batch);
  __syncthreads();
  const unsigned batches = (circles.count + threads - 1) / threads;
  for (unsigned batch = 0; batch < batches; ++batch) {
    circles.start(memory, batch + ahead);
    circles.copies.template wait<ahead>();
    __syncwarp();
    Circle c{};
    float radius2 = -1;
    if (batch * threads + threadIdx.x < circles.count) {
      c = memory.staged[batch % BitsMemory<per_lane>::slots * threads + threadIdx.x].circle;
      radius2 = square(c.radius);
    }
    unsigned(*const reached)[warps] = memory.reached[batch % 2];
    const auto &x = memory.centres.x, &y = memory.centres.y;
    if (!__any_sync(all_lanes, memory.centres.reached_by(c.x, c.y, radius2))) {
      if (lane < BitsMemory<per_lane>::eights) reached[lane][warp] = 0;
    } else {
      // As in `reaches`, the nearest pixel decides exactly.
      float dx2[4], dy2[4];
#pragma unroll
      for (unsigned p = 0; p < 4; ++p) {
        dx2[p] = square(outside(c.x, x[p].at[0], x[p].at[7]));
        dy2[p] = square(outside(c.y, y[p].at[0], y[p].at[7]));
      }
#pragma unroll
      for (unsigned p = 0; p < BitsMemory<per_lane>::eights; ++p) {
        const unsigned ballot = __ballot_sync(all_lanes, add(dx2[p % 4], dy2[p / 4]) <= radius2);
        if (lane == 0) reached[p][warp] = ballot;
      }
    }
    __syncthreads();
    bits.draw(batch, batch + 1 == batches);
  }
}

}  // namespace upsweep::ladders::render
