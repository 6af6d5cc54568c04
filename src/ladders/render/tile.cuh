// One block per tile of 16 x 16 pixels, one thread per pixel.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

// A warp covers two rows of the tile.
inline constexpr unsigned tile_width = 16, tile_threads = tile_width * tile_width;

// Like circle_at(), but with two 16-byte loads if the array is aligned to 16 bytes.
__device__ __forceinline__ Circle load_circle(const float* circles,  // [n][8]
                                              std::size_t i) {
  if (reinterpret_cast<std::uintptr_t>(circles) % 16) return circle_at(circles, i);
  const float4 a = reinterpret_cast<const float4*>(circles)[2 * i];
  const float4 b = reinterpret_cast<const float4*>(circles)[2 * i + 1];
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}

// Like put(), but with one 16-byte store if a pixel has four channels and the image is aligned to 16 bytes.
__device__ __forceinline__ void store_pixel(float* image, const Frame& f, std::size_t pixel, const Colour& c) {
  if (f.channels == Channels::rgb || reinterpret_cast<std::uintptr_t>(image) % 16) return put(image, f, pixel, c);
  reinterpret_cast<float4*>(image)[pixel] = float4{c.red, c.green, c.blue, f.channels == Channels::rgbw ? c.w : 1.f};
}

// A flat-shaded circle in shared memory, with everything precomputed that does not depend on the pixel: geometry and
// alpha in the first 16 bytes, the rest of the paint in the second. A snowflake is stored as a Circle.
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

// Blends the circle over the pixel if it covers (px, py); returns whether it does.
__device__ __forceinline__ bool draw_over(Colour& pixel, const Frame& f, const Circle& c, float px, float py) {
  const float d2 = distance2(px, py, c.x, c.y);
  if (!(d2 <= square(c.radius))) return false;
  const Paint paint = f.shading == Shading::snow ? snow_paint(c, d2) : flat_paint(c);
  blend(pixel, paint);
  pixel.w = add(pixel.w, paint.alpha);
  return true;
}

// The thread's pixel. Threads past the image's edge are clamped to the edge pixel and do not store.
struct TilePixel {
  unsigned i, j;
  bool inside;
  float x, y;
  __device__ explicit TilePixel(const Frame& f) {
    i = blockIdx.x * tile_width + threadIdx.x % tile_width;
    j = blockIdx.y * tile_width + threadIdx.x / tile_width;
    inside = i < f.width && j < f.height;
    i = min(i, f.width - 1), j = min(j, f.height - 1);
    x = centre_x(f, i), y = centre_y(f, j);
  }
  __device__ void put(float* image, const Frame& f, const Colour& colour) const {
    if (inside) store_pixel(image, f, f.pixel(i, j), colour);
  }
};

// The bounding rectangle of a tile's pixel centres.
struct TileBounds {
  float left, top, right, bottom;
  __device__ explicit TileBounds(const Frame& f) {
    const unsigned i = blockIdx.x * tile_width, j = blockIdx.y * tile_width;
    left = centre_x(f, i), right = centre_x(f, min(i + tile_width, f.width) - 1);
    top = centre_y(f, j), bottom = centre_y(f, min(j + tile_width, f.height) - 1);
  }
  __device__ bool reached_by(const Circle& c) const {
    return reaches(c.x, c.y, square(c.radius), left, top, right, bottom);
  }
};

inline dim3 tile_grid(const Frame& f) {
  return {unsigned(ceil_div(f.width, tile_width)), unsigned(ceil_div(f.height, tile_width)), 1};
}

}  // namespace upsweep::ladders::render
