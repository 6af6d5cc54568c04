// render/tiles: tiles of 32 x 32 pixels with a list of circles each, drawn on all cores.
//
// Idea      a tile's pixels stay in a core's cache while all its circles are drawn; no two cores write the same pixel,
//           and each tile's list is in input order, so no sorting or locking is needed.
// Traffic   every circle twice, for the count and the scatter; four bytes per circle and tile; the image once.
// Source    Molnar, Cox, Ellsworth, Fuchs, A Sorting Classification of Parallel Rendering, 1994: sort-middle.
#include "cpu/parallel.h"
#include "ladders/render/binding.h"
#include "ladders/render/cpu_bins.h"

namespace upsweep::ladders::render {

namespace {  // a rung of the same name may exist on the GPU

template <Shading shading>
void draw_tile(const Args& a, const Box& tile, CircleBins::Entries entries) {
  const Frame& f = a.frame;
  Colour pixels[tile_side][tile_side];
  float px[tile_side];
  for (int i = tile.left; i < tile.right; ++i) px[i - tile.left] = centre_x(f, unsigned(i));
  for (int j = tile.top; j < tile.bottom; ++j)
    for (int i = tile.left; i < tile.right; ++i) pixels[j - tile.top][i - tile.left] = background(f, unsigned(j));
  const Axes axes(f);
  for (std::size_t e = 0; e < entries.count; ++e) {
    const Circle c = circle_at(a.circles, entries.index[e]);
    const Box b = axes.bounds(c.x, c.y, c.radius);
    const float radius2 = square(c.radius);
    Paint paint = flat_paint(c);
    for (int j = std::max(b.top, tile.top); j < std::min(b.bottom, tile.bottom); ++j) {
      const float dy2 = square(centre_y(f, unsigned(j)) - c.y);
      for (int i = std::max(b.left, tile.left); i < std::min(b.right, tile.right); ++i) {
        const float d2 = add(square(px[i - tile.left] - c.x), dy2);
        if (!(d2 <= radius2)) continue;
        if constexpr (shading == Shading::snow) paint = snow_paint(c, d2);
        Colour& pixel = pixels[j - tile.top][i - tile.left];
        blend(pixel, paint);
        pixel.w = add(pixel.w, paint.alpha);
      }
    }
  }
  for (int j = tile.top; j < tile.bottom; ++j)
    for (int i = tile.left; i < tile.right; ++i)
      put(a.image, f, std::size_t(j) * f.width + unsigned(i), pixels[j - tile.top][i - tile.left]);
}

struct tiles {
  static constexpr Story story{.idea = "tiles of 32 x 32 pixels with a list of circles each, on all cores",
                               .prediction = "with 10,000 circles, 8x serial on one core, twice that on two",
                               .guarantees = "exact",
                               .limits = "below 2^32 circles; params: threads",
                               .source = "Molnar et al. 1994"};
  static constexpr bool takes_scratch = true;
  static constexpr bool reproducible_bits = true;

  template <class, class>
  static Status run(const Args& a) {
    const int threads = threads_of(a.tuning);
    const Tiles tiles(a.frame);
    if (a.stream.dry) return depends_on_circles;
    Scratch scratch(*a.workspace);
    CircleBins bins(tiles, a.circles, a.frame, threads, scratch);
    const std::vector<std::uint8_t> closed(tiles.count());
    if (!bins.add(0, a.n, closed.data())) return {Code::out_of_memory, 0, "no memory for the tiles' lists"};
    parallel(int(tiles.count()), threads, [&](int t) {
      const Box box = tiles.box(std::size_t(t));
      const CircleBins::Entries entries = bins.entries(0, std::size_t(t));
      a.frame.shading == Shading::snow ? draw_tile<Shading::snow>(a, box, entries)
                                       : draw_tile<Shading::flat>(a, box, entries);
    });
    return {};
  }
};

}  // namespace

extern const Rung cpu_tiles_rung = make_rung<Binding, tiles>("tiles", Backend::cpu);

}  // namespace upsweep::ladders::render
