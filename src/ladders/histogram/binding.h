// Binds a Call to a rung's Args.
#pragma once
#include <limits>

#include "base/typed_rung.h"
#include "ladders/histogram/contract.h"

namespace upsweep::ladders::histogram {

// Call::scalars
enum ScalarIndex : std::size_t { lower, upper, channels, width, pitch };

struct Shape2D {
  std::size_t width, pitch;
  unsigned channels;
};
inline Shape2D shape_of(const Call& c) {
  const auto w = c.scalars[width].as<std::uint64_t>(), p = c.scalars[pitch].as<std::uint64_t>();
  const auto ch = c.scalars[channels].as<std::uint64_t>();
  return {w, p ? p : w, static_cast<unsigned>(ch ? ch : 1)};
}

// The least and the greatest value of an integer type in [lower, upper); least > greatest if there is none.
template <class T>
struct Values {
  std::int64_t least, greatest;
};
template <class T>
constexpr Values<T> values_between(double lower, double upper) {
  using Limits = std::numeric_limits<T>;
  const double least = Limits::min(), greatest = Limits::max();
  return {static_cast<std::int64_t>(lower < least ? least : lower),
          static_cast<std::int64_t>(upper - 1 > greatest ? greatest : upper - 1)};
}

struct Binding : EnumeratorChoice<Binning, By, binning_names.size()> {
  static constexpr std::string_view primitive = "histogram";
  // u8 u16 u32 i32 f32; no sample of a float type is its own bin
  template <class T, class O>
  static constexpr bool takes = (std::is_unsigned_v<T> && sizeof(T) <= 4) || std::is_same_v<T, std::int32_t> ||
                                (std::is_same_v<T, float> && O::binning != Binning::direct);
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    const Shape2D shape = shape_of(c);
    const std::size_t count = samples_in(c.n(), shape.width, shape.pitch);
    const std::size_t width = shape.width && shape.width < count ? shape.width : count;
    const Samples<T> samples{c.in[0].as<const T>(), count, width, shape.pitch, shape.channels};
    return {c.execution(),
            {samples, bins<T, O>(c, static_cast<unsigned>(c.out[0].count / shape.channels))},
            {c.out[0].data, 8 * static_cast<unsigned>(size_of(c.out[0].type)), c.out[1].as<std::uint64_t>()}};
  }

 private:
  template <class T, class O>
  static Bins<T, O> bins(const Call& c, unsigned count) {
    if constexpr (O::binning == Binning::edges) {
      return {c.in[1].as<const T>(), count};
    } else if constexpr (O::binning == Binning::direct) {
      return {count};
    } else {
      const double from = c.scalars[lower].as<double>(), to = c.scalars[upper].as<double>();
      if constexpr (std::is_integral_v<T>) {
        const auto [first, last] = values_between<T>(from, to);
        const auto least = static_cast<std::int64_t>(from);
        return {.first = static_cast<std::uint32_t>(first),
                .last = static_cast<std::uint32_t>(last - first),
                .skipped = static_cast<std::uint32_t>(first - least),
                .scale = {count, static_cast<std::uint64_t>(static_cast<std::int64_t>(to) - least)},
                .count = count};
      } else {
        return {from, to, count};
      }
    }
  }
};

}  // namespace upsweep::ladders::histogram
