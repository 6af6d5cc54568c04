// A circle as a block keeps it in shared memory: with flat shading, what would otherwise be computed for every pixel; a
// snowflake as it is.
#pragma once
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

// Where a circle is, and what it paints: 16 bytes each.
struct alignas(16) Disc {
  float x, y, radius2, alpha;
  float red, green, blue, through;
};
__device__ __forceinline__ void keep(Disc& to, const Circle& c) {
  const Paint p = flat_paint(c);
  to = {c.x, c.y, square(c.radius), p.alpha, p.red, p.green, p.blue, p.through};
}
__device__ __forceinline__ void keep(Circle& to, const Circle& c) { to = c; }
__device__ __forceinline__ float limit_of(const Disc& d) { return d.radius2; }
__device__ __forceinline__ float limit_of(const Circle& c) { return square(c.radius); }
__device__ __forceinline__ Paint paint_at(const Disc& d, float) { return {d.red, d.green, d.blue, d.through, d.alpha}; }
__device__ __forceinline__ Paint paint_at(const Circle& c, float d2) { return snow_paint(c, d2); }

}  // namespace upsweep::ladders::render
