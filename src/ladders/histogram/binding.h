// Binds a Call to a rung's Args.
#pragma once
#include <concepts>
#include <limits>

#include "base/typed_rung.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/edges.h"

namespace upsweep::ladders::histogram {

inline constexpr ListedOperation operations[] = {
    {.operation = Binning::even, .typical = true}, {.operation = Binning::edges}, {.operation = Binning::direct}};

struct Shape2D {
  std::size_t width, pitch;
  unsigned channels;
};
inline Shape2D shape_of(const Counting& how) {
  return {how.width, how.pitch ? how.pitch : how.width, static_cast<unsigned>(how.channels)};
}

// The smallest and largest value of an integer type in [lower, upper), or in [lower, upper] if the last bin is closed;
// least > greatest if the type has no value there.
template <class T>
struct IntegerRange {
  Int128 least, greatest;
};
template <class T>
constexpr IntegerRange<T> integers_between(double lower, double upper, bool is_closed) {
  using Limits = std::numeric_limits<T>;
  const Int128 from = static_cast<Int128>(lower), to = static_cast<Int128>(upper) - (is_closed ? 0 : 1);
  constexpr Int128 least = Limits::min(), greatest = Limits::max();
  return {from < least ? least : from, to > greatest ? greatest : to};
}

// True if the edges must be converted to the samples' type.
inline bool has_other_edges(const Call& c) {
  return c.operation == Operation(Binning::edges) && c.in[1].type != c.type();
}

struct Binding : EnumeratorChoice<Binning, By, binning_names.size()> {
  static constexpr std::string_view primitive = "histogram";
  static constexpr auto& operations = ladders::histogram::operations;
  template <class T, class O>
  static constexpr bool takes = std::is_integral_v<T> || O::operation != Binning::direct;  // no float is a bin number
  template <class T, class O>
  static Args<Stored<T>, O> args(const Call& c) {
    const Counting how = histogram_scalars.read(c.scalars);
    const Shape2D shape = shape_of(how);
    const std::size_t count = samples_in(c.n(), shape.width, shape.pitch);
    const std::size_t width = shape.width && shape.width < count ? shape.width : count;
    const Samples<Stored<T>> samples{c.in[0].as<const Stored<T>>(), count, width, shape.pitch, shape.channels};
    return {c.execution(),
            {samples, bins<T, O>(c, how, static_cast<unsigned>(c.out[0].count / shape.channels))},
            {c.out[0].data, 8 * static_cast<unsigned>(size_of(c.out[0].type)), c.out[1].as<std::uint64_t>()},
            has_other_edges(c) ? OtherEdges{c.in[1].data, c.in[1].type} : OtherEdges{}};
  }

 private:
  template <class T>
  static constexpr Stored<T> sign_bit() {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return static_cast<Stored<T>>(Stored<T>{1} << (8 * sizeof(T) - 1));
    else
      return 0;
  }
  template <class T, class O>
  static Bins<Stored<T>, O> bins(const Call& c, const Counting& how, unsigned count) {
    using S = Stored<T>;
    constexpr S sign = sign_bit<T>();
    const bool is_closed = how.closed;
    if constexpr (O::operation == Binning::edges) {
      return {has_other_edges(c) ? nullptr : c.in[1].as<const S>(), count, sign, is_closed};
    } else if constexpr (O::operation == Binning::direct) {
      const bool narrow = std::is_signed_v<T> && sizeof(T) < 4 && sign < count;
      return {count, narrow ? static_cast<unsigned>(sign) : count};
    } else {
      const double from = *how.lower, to = *how.upper;
      if constexpr (std::is_integral_v<T>) {
        using Distance = typename Bins<S, O>::Distance;
        const auto [least, greatest] = integers_between<T>(from, to, is_closed);
        const auto all = static_cast<Wide>(static_cast<Int128>(to) - static_cast<Int128>(from));
        return {.first = static_cast<S>(least),
                .sign = sign,
                .last = static_cast<Distance>(greatest - least),
                .skipped = static_cast<Distance>(least - static_cast<Int128>(from)),
                .scale = {count, all},
                .count = count,
                .closed = is_closed};
      } else {
        return {from, to, count, is_closed};
      }
    }
  }
};

// Adapts a rung's struct for make_rung(): its run() takes the stored types, converts edges of another type to the
// samples' and, if the rung declares `largest_part`, calls the rung for parts of at most that many samples.
// Output::adds is true for all parts but the first.
template <class R>
struct OfStored : R {
  template <class T, class O>
  static constexpr bool supports = upsweep::supports<R, Stored<T>, O>();
  template <class T, class O>
  static Status run(const Args<Stored<T>, O>& a) {
    if constexpr (O::operation == Binning::edges)
      if (a.other_edges.data) return with_own_edges(a, [](const Args<Stored<T>, O>& own) { return in_parts(own); });
    return in_parts(a);
  }

 private:
  template <class S, class O>
  static Status in_parts(const Args<S, O>& a) {
    if constexpr (requires { R::largest_part; }) {
      if (a.in.samples.count > R::largest_part) {
        Args<S, O> part = a;
        return for_each_part(a.in.samples, R::largest_part, [&](const Samples<S>& samples) {
          part.in.samples = samples;
          const Status s = R::template run<S, O>(part);
          part.out.adds = true;
          return s;
        });
      }
    }
    return R::template run<S, O>(a);
  }
};

// Hides upsweep::make_rung() in this ladder's translation units, to wrap every rung in OfStored.
template <std::same_as<Binding> B, class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return upsweep::make_rung<B, OfStored<R>>(name, backend);
}

}  // namespace upsweep::ladders::histogram
