// The SIMD loops of render/simd. A vector is part of a row of a tile.
//
// Compiled once for each instruction set and chosen at run time by Highway.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/render/cpu_simd_loops.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>

#include "ladders/render/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::render::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, tile_side>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr D d;

HWY_INLINE V set(float value) { return hn::Set(d, value); }
HWY_INLINE V clamp01(V a) { return hn::Min(hn::Max(a, hn::Zero(d)), set(1)); }

// Paint for a vector of pixels.
struct Paints {
  V red, green, blue, through, alpha;
};

HWY_INLINE Paints paints_of(V red, V green, V blue, V alpha) {
  return {hn::Mul(alpha, red), hn::Mul(alpha, green), hn::Mul(alpha, blue), hn::Sub(set(1), alpha), alpha};
}

// exp_minus() and snow_paint() of blend.h, operation by operation.
HWY_INLINE V exp_minus(V a) {
  const hn::RebindToSigned<D> di;
  const V power = hn::Mul(a, set(-1.44269504f));
  const auto whole = hn::ConvertTo(di, hn::Sub(power, set(0.5f)));
  const V part = hn::Sub(power, hn::ConvertTo(d, whole));
  V sum = set(1.54035304e-4f);
  for (const float term : {1.33335581e-3f, 9.61812911e-3f, 5.55041087e-2f, 0.240226507f, 0.693147181f, 1.0f})
    sum = hn::Add(hn::Mul(sum, part), set(term));
  return hn::Mul(sum, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(whole, hn::Set(di, 127)))));
}
HWY_INLINE Paints snow_paints(const Circle& c, V d2) {
  const V ratio = hn::Div(d2, set(square(c.radius)));
  const V t = hn::IfThenElse(hn::Le(ratio, set(1)), ratio, hn::Zero(d));
  const V d4 = hn::Mul(set(4), hn::Sqrt(t));
  const V near = clamp01(hn::Sub(d4, set(1))), far = clamp01(hn::Sub(d4, set(3)));
  const float fade = upsweep::ladders::render::clamp01(add(0.6f, mul(0.4f, 1 - c.z)));
  const V alpha = hn::Mul(set(mul(c.alpha, fade)), exp_minus(hn::Mul(set(4), t)));
  return paints_of(hn::Mul(set(c.red), hn::Sub(set(1), hn::Mul(set(0.2f), near))),
                   hn::Mul(set(c.green), hn::Sub(set(1), hn::Mul(set(0.1f), hn::Add(near, far)))), set(c.blue), alpha);
}

// Calls f(row, at, covered, paints) for each vector, in `rows`, that the circle may touch; `at` is the index of the
// vector's first pixel in the tile.
template <Shading shading, class F>
HWY_INLINE void each_row(const TileView& tile, const Circle& c, std::uint32_t rows, F&& f) {
  const Box b = tile.axes.bounds(c.x, c.y, c.radius);
  const int left = HWY_MAX(b.left - tile.box.left, 0), right = HWY_MIN(b.right - tile.box.left, int(tile_side));
  const int top = HWY_MAX(b.top - tile.box.top, 0), bottom = HWY_MIN(b.bottom - tile.box.top, int(tile_side));
  if (left >= right || top >= bottom) return;
  const std::size_t lanes = hn::Lanes(d), first = std::size_t(left) / lanes;
  const std::size_t vectors = (std::size_t(right) + lanes - 1) / lanes - first;
  HWY_ALIGN float dx2[tile_side];
  for (std::size_t v = 0; v < vectors; ++v) {
    const V dx = hn::Sub(hn::Load(d, tile.px + (first + v) * lanes), set(c.x));
    hn::Store(hn::Mul(dx, dx), d, dx2 + v * lanes);
  }
  const float radius2 = square(c.radius);
  const V limit = set(radius2);
  const Paint flat = flat_paint(c);
  const Paints flats{set(flat.red), set(flat.green), set(flat.blue), set(flat.through), set(flat.alpha)};
  rows &= ~0u << top & ~0u >> (int(tile_side) - bottom);
  for (; rows; rows &= rows - 1) {
    const auto row = unsigned(std::countr_zero(rows));
    const float dy2 = square(tile.py[row] - c.y);
    if (!(dy2 <= radius2)) continue;
    for (std::size_t v = 0; v < vectors; ++v) {
      const V d2 = hn::Add(hn::Load(d, dx2 + v * lanes), set(dy2));
      const M covered = hn::Le(d2, limit);
      if constexpr (shading == Shading::snow)
        f(row, row * tile_side + (first + v) * lanes, covered, snow_paints(c, d2));
      else
        f(row, row * tile_side + (first + v) * lanes, covered, flats);
    }
  }
}

HWY_INLINE void fetch_ahead(const TileView& tile, const std::uint32_t* index) {
  hwy::Prefetch(tile.circles + std::size_t{*index} * floats_per_circle);
}
constexpr std::size_t ahead = 8;  // prefetch distance in circles, which are scattered in memory

template <Shading shading>
void saturate(const TileView& tile, const Listed& list, TileState& state) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t e = list.count; e-- > 0 && state.open;) {
    if (e >= ahead) fetch_ahead(tile, list.index + e - ahead);
    const auto depth = std::uint32_t(list.after + (list.count - 1 - e));
    std::uint32_t rows = state.open;
    // Reopened rows have processed more circles than the others.
    if (HWY_UNLIKELY(depth < state.listed))
      for (std::uint32_t left = rows; left; left &= left - 1)
        if (state.seen[std::countr_zero(left)] > depth) rows &= ~(left & -left);
    std::uint32_t touched = 0;
    each_row<shading>(tile, circle_at(tile.circles, list.index[e]), rows,
                      [&](unsigned row, std::size_t at, M covered, const Paints& paint) HWY_ATTR {
                        const V through = hn::Load(d, state.through + at);
                        const V less = hn::IfThenElse(covered, hn::Mul(through, paint.through), through);
                        hn::Store(less, d, state.through + at);
                        if (hn::AllTrue(d, hn::Le(less, set(state.threshold[row])))) touched |= 1u << row;
                      });
    for (; touched; touched &= touched - 1) {
      const auto row = unsigned(std::countr_zero(touched));
      V most = hn::Load(d, state.through + row * tile_side);
      for (std::size_t i = lanes; i < tile_side; i += lanes)
        most = hn::Max(most, hn::Load(d, state.through + row * tile_side + i));
      if (!hn::AllTrue(d, hn::Le(most, set(state.threshold[row])))) continue;
      state.open &= ~(1u << row);
      state.seen[row] = depth + 1;
    }
  }
  const auto all = std::uint32_t(list.after + list.count);
  for (std::uint32_t rows = state.open; rows; rows &= rows - 1) {
    std::uint32_t& seen = state.seen[std::countr_zero(rows)];
    seen = HWY_MAX(seen, all);
  }
}

template <Shading shading, int sides, bool halves>
void draw(const TileView& tile, const Listed& list, const TileState& state, std::uint32_t rows, float* colours) {
  std::uint32_t most = 0;  // circles seen by the row that has seen the most
  for (std::uint32_t left = rows; left; left &= left - 1) most = HWY_MAX(most, state.seen[std::countr_zero(left)]);
  const std::size_t unseen = list.after + list.count > most ? list.after + list.count - most : 0;
  std::uint32_t in = 0, joins = most;  // in: rows that have seen the circle; joins: depth below which a row joins
  for (std::size_t e = unseen; e < list.count; ++e) {
    if (e + ahead < list.count) fetch_ahead(tile, list.index + e + ahead);
    const auto depth = std::uint32_t(list.after + (list.count - 1 - e));
    if (HWY_UNLIKELY(depth < joins)) {
      in = joins = 0;
      for (std::uint32_t left = rows; left; left &= left - 1) {
        const std::uint32_t seen = state.seen[std::countr_zero(left)];
        if (seen > depth)
          in |= left & -left;
        else
          joins = HWY_MAX(joins, seen);
      }
    }
    each_row<shading>(tile, circle_at(tile.circles, list.index[e]), in,
                      [&](unsigned, std::size_t at, M covered, const Paints& paint) HWY_ATTR {
                        const V over[] = {paint.red, paint.green, paint.blue};
                        for (int k = 0; k < 3 * sides; ++k) {
                          float* const colour = colours + k * int(tile_pixels) + at;
                          const V under = hn::Load(d, colour);
                          const V blended = halves ? hn::MulAdd(paint.through, under, over[k % 3])
                                                   : hn::Add(over[k % 3], hn::Mul(paint.through, under));
                          hn::Store(hn::IfThenElse(covered, blended, under), d, colour);
                        }
                      });
  }
}

template <Shading shading>
void cover(const TileView& tile, const Listed& list, float* sums) {
  for (std::size_t e = 0; e < list.count; ++e)
    each_row<shading>(tile, circle_at(tile.circles, list.index[e]), tile.rows(),
                      [&](unsigned, std::size_t at, M covered, const Paints& paint) HWY_ATTR {
                        const V sum = hn::Load(d, sums + at);
                        hn::Store(hn::IfThenElse(covered, hn::Add(sum, paint.alpha), sum), d, sums + at);
                      });
}

bool snowy(const TileView& tile) { return tile.frame.shading == Shading::snow; }

void saturate_any(const TileView& tile, const Listed& list, TileState& state) {
  snowy(tile) ? saturate<Shading::snow>(tile, list, state) : saturate<Shading::flat>(tile, list, state);
}
template <int sides>
void draw_sides(const TileView& tile, const Listed& list, const TileState& state, std::uint32_t rows, bool halves,
                float* colours) {
  const auto loop = snowy(tile) ? &draw<Shading::snow, sides, false>
                    : halves    ? &draw<Shading::flat, sides, true>
                                : &draw<Shading::flat, sides, false>;
  loop(tile, list, state, rows, colours);
}
void draw_any(const TileView& tile, const Listed& list, const TileState& state, std::uint32_t rows, int sides,
              bool halves, float* colours) {
  (sides == 2 ? draw_sides<2> : draw_sides<1>)(tile, list, state, rows, halves, colours);
}
void cover_any(const TileView& tile, const Listed& list, float* sums) {
  snowy(tile) ? cover<Shading::snow>(tile, list, sums) : cover<Shading::flat>(tile, list, sums);
}

void write(const TileView& tile, std::uint32_t rows, const float* colours, const float* sums, float* image) {
  const std::size_t lanes = hn::Lanes(d);
  const unsigned channels = count_of(tile.frame.channels);
  const auto columns = std::size_t(tile.columns());
  for (; rows; rows &= rows - 1) {
    const auto row = std::size_t(std::countr_zero(rows));
    const std::size_t pixel = (std::size_t(tile.box.top) + row) * tile.frame.width + std::size_t(tile.box.left);
    const float* const red = colours + row * tile_side;
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      const V r = hn::LoadU(d, red + i), g = hn::LoadU(d, red + tile_pixels + i);
      const V b = hn::LoadU(d, red + 2 * tile_pixels + i);
      float* const to = image + (pixel + i) * channels;
      if (channels == 3)
        hn::StoreInterleaved3(r, g, b, d, to);
      else
        hn::StoreInterleaved4(r, g, b, hn::LoadU(d, sums + row * tile_side + i), d, to);
    }
    for (; i < columns; ++i)
      put(image, tile.frame, pixel + i,
          {red[i], red[tile_pixels + i], red[2 * tile_pixels + i], sums[row * tile_side + i]});
  }
}

SimdLoops loops() { return {&saturate_any, &draw_any, &cover_any, &write}; }

}  // namespace upsweep::ladders::render::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::render {

HWY_EXPORT(loops);

SimdLoops simd_loops() { return HWY_DYNAMIC_DISPATCH(loops)(); }

}  // namespace upsweep::ladders::render
#endif  // HWY_ONCE
