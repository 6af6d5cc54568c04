// Draws any list of circles over a block's tile, using one bit per circle and pixel. For 32 circles and 8 x 8 pixels,
// one lane per circle finds the bits; after a transposition, each lane uses the bits of its pixels. No lane idles while
// others test or blend.
//
// 1. A block fetches batches of one circle per thread, one batch ahead and bypassing L1, which is too small for that
//    many lines. A ballot per 8 x 8 patch, 16 in all, finds which of a warp's 32 circles reach the patch.
// 2. Each warp lists the circles of its patch, separately for each 8 x 8 half of a 16 x 8 patch. Each lane tests one of
//    32 listed circles against the 64 pixels (find_covered): more pixels would waste more tests on tiny circles.
// 3. After the transposition, each lane has the bits of its pixels and blends their circles from the highest bit down.
#pragma once
#include "kernel/copy_16.h"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

template <unsigned per_lane>
struct BitsMemory {
  static constexpr unsigned threads = patch_threads<per_lane>, warps = patch_warps<per_lane>, eights = 16;
  static constexpr unsigned ahead = 1;  // batches in flight besides the current one; two are no faster
  // A circle may wait until the next batch is listed, and a warp may be a batch ahead of another.
  static constexpr unsigned slots = ahead + 3;
  Centres centres;  // first, as in PatchMemory, whose centres stay valid here
  struct alignas(16) StagedCircle {
    Circle circle;
  } staged[slots * threads];
  unsigned reached[2][eights][warps];  // [batch % 2][8 x 8 patch][fetching warp]: ballots
  unsigned short listed[eights][threads + warp_size];
  // Per warp, the paints of the 32 circles being blended; consecutive paints are in different banks. The last paint is
  // neutral: it leaves a colour unchanged.
  float paint[warps][4][warp_size + 1];
};

// The candidate circles of a tile, in order: its bin's list, part of its column in shared memory, or all circles.
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
  // Takes only part `part` of `parts`.
  __device__ TileCircles(const float* circles, const unsigned* listed, std::size_t n, unsigned part, unsigned parts)
      : TileCircles(listed ? circles : circles + n * part / parts * floats_per_circle,
                    listed ? listed + n * part / parts : nullptr, n * (part + 1) / parts - n * part / parts) {}
  // Starts fetching batch `batch`, one circle per thread. Batches must be fetched in order, without gaps.
  __device__ void start(BitsMemory<per_lane>& memory, unsigned batch) {
    const unsigned lane = threadIdx.x % warp_size, first = threadIdx.x - lane;
    typename BitsMemory<per_lane>::StagedCircle* const to =
        memory.staged + batch % BitsMemory<per_lane>::slots * threads;
    if (reinterpret_cast<std::uintptr_t>(all_) % 16 == 0) {
      // Two lanes per circle, whose 32 bytes are one sector.
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

// A warp that draws its patch. If `fused`, every alpha is 1/2, and blends are fused multiply-adds. If `through`, a
// colour's w accumulates the transmittance.
template <unsigned per_lane, bool fused, bool through = false>
class WarpBits {
 public:
  Colour colour[per_lane];
  __device__ WarpBits(BitsMemory<per_lane>& memory, const Frame& f)
      : memory_(memory), warp_(threadIdx.x / warp_size), lane_(threadIdx.x % warp_size) {
    for (Colour& c : colour) c = flat_background(f);
    // -0 + 1 * c is c, even if c is 0 or -0.
    if (lane_ < 4) memory.paint[warp_][lane_][warp_size] = lane_ < 3 ? -0.f : 1.f;
  }

  // Draws the circles of a batch that reach the patch, 32 at a time. Up to 31 circles are left for the next batch, but
  // no circle waits longer than that.
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
    bool rest = last || waiting > 0;  // no batch follows, or circles have already waited for one batch
    waiting += shuffle(upto, warp_size - 1);
    __syncwarp();
    unsigned at = 0;
    while (waiting >= warp_size || (rest && waiting > 0)) {
      draw_32(colour + 2 * h, memory_.centres.x[column], memory_.centres.y[row], listed + at, min(waiting, warp_size));
      at += warp_size, waiting -= min(waiting, warp_size);
      rest = last;
    }
    if (at == 0 || waiting == 0) return;
    // Fewer than 32 are left and `at` is at least 32, so no lane overwrites an entry that another lane reads.
    if (lane_ < waiting) listed[lane_] = listed[at + lane_];
  }
  // The first listed circle goes to the last lane, so that its bit is the highest.
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
        const unsigned c = unsigned(__clz(int(bits[k])));  // 32, the neutral paint, if no bit is set
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
  unsigned waiting_[halves]{};  // listed circles not yet drawn
};

// Block-wide: draws all circles. The tile's centres are already in shared memory.
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
      // As in reaches(), the test of the nearest point is exact.
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
