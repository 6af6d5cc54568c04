#include "lab/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "files/interrupt.h"
#include "lab/check.h"
#include "lab/default_rung.h"
#include "lab/time.h"

namespace upsweep::lab {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

Case case_at(const Primitive& primitive, const Probe& probe, std::uint64_t x) {
  Case c{.type = probe.type, .operation = probe.operation, .n = probe.n, .input = std::string(probe.input)};
  const auto set = [&](std::string_view name, const std::string& text) {
    const Parameter& parameter = *primitive.parameter(name);
    c.settings.set(parameter, parse_value(parameter, c.type, text));
  };
  for (const auto& [name, text] : probe.parameters) set(name, text);
  if (probe.axis == "n")
    c.n = x;
  else
    set(probe.axis, std::to_string(x));
  return c;
}

// The rungs that choose() picks at a number on a probe's axis, for any value of the threshold. Restores the threshold
// when destroyed.
class Sides {
 public:
  Sides(const Platform& platform, const Primitive& primitive, const Probe& probe)
      : platform_(platform), primitive_(primitive), probe_(probe), before_(probe.threshold) {
    go_to(probe.min);
  }
  Sides(const Sides&) = delete;
  Sides& operator=(const Sides&) = delete;
  ~Sides() { probe_.threshold.set(before_); }

  void go_to(std::uint64_t x) {
    if (probe_.axis != "n" || !choices_)
      choices_ = std::make_unique<Choices>(primitive_, case_at(primitive_, probe_, x));
    x_ = x;
  }
  // Returns null if this program does not contain the rung.
  const Rung* rung(std::uint64_t threshold) {
    probe_.threshold.set(threshold);
    const std::size_t n = probe_.axis == "n" ? x_ : probe_.n;
    return find_rung(platform_.rungs_of(primitive_.contract), primitive_.name(),
                     choices_->of(n, platform_.machine()).rung);
  }
  const Rung* small() { return rung(largest); }
  const Rung* large() { return rung(0); }
  bool differ() { return small() && large() && small() != large(); }
  // Returns the smallest value of the threshold at which the call gets the rung for small numbers.
  std::uint64_t flip() {
    const Rung* const wanted = small();
    return first_true(0, largest, [&](std::uint64_t value) { return rung(value) == wanted; });
  }

  // Binary search: returns the smallest number in [min, max) for which is(number) holds, or max. is() must be
  // monotonic.
  template <class Is>
  static std::uint64_t first_true(std::uint64_t min, std::uint64_t max, Is&& is) {
    while (min < max) {
      const std::uint64_t middle = min + (max - min) / 2;
      if (is(middle))
        max = middle;
      else
        min = middle + 1;
    }
    return max;
  }

 private:
  const Platform& platform_;
  const Primitive& primitive_;
  const Probe& probe_;
  const std::uint64_t before_;
  std::unique_ptr<Choices> choices_;
  std::uint64_t x_ = 0;
};

// Returns the number in [min, max] with the most trailing zero bits.
std::uint64_t roundest(std::uint64_t min, std::uint64_t max) {
  for (int zeros = 63; zeros > 0; --zeros) {
    const std::uint64_t step = std::uint64_t{1} << zeros, number = max / step * step;
    if (number >= min && number > 0) return number;
  }
  return max;
}

}  // namespace

Crossing find_crossing(const Crossing& known, std::uint64_t min, std::uint64_t max,
                       const std::function<Faster(std::uint64_t)>& faster) {
  const std::uint64_t edge = std::clamp(roundest(known.last, known.first), min, max);
  Crossing found{};
  switch (faster(edge)) {
    case Faster::neither:
      return known;
    case Faster::small:
      for (found = {edge, 0}; found.first == 0;) {
        if (found.last >= max) return {max, max + 1};
        const std::uint64_t next = std::min(std::bit_floor(found.last) * 2, max);
        const Faster at = faster(next);
        if (at == Faster::neither) return {next, next + 1};
        (at == Faster::small ? found.last : found.first) = next;
      }
      break;
    case Faster::large:
      for (found = {0, edge}; found.last == 0;) {
        if (found.first <= min) return {min - 1, min};
        const std::uint64_t next = std::max(std::bit_floor(found.first - 1), min);
        const Faster at = faster(next);
        if (at == Faster::neither) return {next, next + 1};
        (at == Faster::small ? found.last : found.first) = next;
      }
      break;
  }
  // The bracket is now at most an octave; narrows it to a quarter of an octave.
  const std::uint64_t octave = std::bit_floor(found.last);
  for (const unsigned quarter : {2, 1, 3}) {
    const std::uint64_t x = octave + octave * quarter / 4;
    if (x <= found.last || x >= found.first) continue;
    const Faster at = faster(x);
    if (at == Faster::neither) return {x, x + 1};
    (at == Faster::small ? found.last : found.first) = x;
  }
  return found;
}

std::optional<Tuned> tune(Platform& platform, const Primitive& primitive, const Probe& probe, const RunRace& race) {
  Threshold& threshold = probe.threshold;
  const std::uint64_t measured = threshold.measured();
  std::uint64_t here = measured;
  Tuned tuned{.threshold = fmt::format("{}.{}", primitive.name(), threshold.name()), .measured = measured};
  {
    Sides sides(platform, primitive, probe);
    // [min, max] becomes the part of the axis on which the threshold separates two rungs.
    std::uint64_t min = std::max<std::uint64_t>(probe.min, 1), max = probe.max;
    for (sides.go_to(min); !sides.differ(); sides.go_to(min))
      if ((min *= 2) > max) return std::nullopt;
    max = Sides::first_true(min, max + 1,
                            [&](std::uint64_t x) {
                              sides.go_to(x);
                              return !sides.differ();
                            }) -
          1;
    const std::uint64_t first = Sides::first_true(min, max + 1, [&](std::uint64_t x) {
      sides.go_to(x);
      return sides.rung(measured) == sides.large();
    });

    std::optional<Race> at_edge;
    const Crossing known{first - 1, first};
    const Crossing found = find_crossing(known, min, max, [&](std::uint64_t x) {
      throw_if_interrupted();
      sides.go_to(x);
      const Rung &small = *sides.small(), &large = *sides.large();
      const Race times = race(primitive, case_at(primitive, probe, x), small, large);
      if (!at_edge) {
        at_edge = times;
        tuned.small = small.name, tuned.large = large.name, tuned.edge = x;
      }
      return times.tied ? Faster::neither : times.small_us < times.large_us ? Faster::small : Faster::large;
    });
    if (!at_edge->tied)
      tuned.gain = std::max(at_edge->small_us, at_edge->large_us) / std::min(at_edge->small_us, at_edge->large_us) - 1;

    // All thresholds in [least, most] separate found.last from found.first: from the flip at found.last to just below
    // the flip at found.first. If the measured value is among them, it stays.
    const auto flip_at = [&](std::uint64_t x) {
      sides.go_to(x);
      return sides.flip();
    };
    const std::uint64_t least = found.last < min ? 0 : flip_at(found.last);
    const std::uint64_t most = found.first > max ? std::max(least, flip_at(max)) : flip_at(found.first) - 1;
    const Bounds& bounds = threshold.bounds();
    here = std::clamp(measured >= least && measured <= most ? measured : roundest(least, most), bounds.min, bounds.max);
  }
  threshold.set(here);
  tuned.here = here;
  return tuned;
}

RunRace race_on(Platform& platform) {
  const auto stopwatch = std::make_shared<Stopwatch>(platform);
  return [stopwatch](const Primitive& primitive, const Case& c, const Rung& small, const Rung& large) {
    // Short calls get more samples; a difference below 1% counts as a tie on any machine.
    const auto measured = stopwatch->measure(primitive, c, {&small, &large}, {.samples = 20, .least_us = 20'000});
    for (const Measurement& m : measured)
      if (m.failure || m.refused)
        throw Error(m.failure ? Code::wrong_result : Code::unsupported,
                    fmt::format("{}/{} {}: {}", primitive.name(), m.rung->name, describe(c),
                                m.failure ? *m.failure : *m.refused));
    if (measured.size() != 2)
      throw Error(Code::unsupported, fmt::format("{} {}: {} or {} does not take this type here", primitive.name(),
                                                 describe(c), small.name, large.name));
    const Timing &a = measured[0].time, &b = measured[1].time;
    const double ratio = a.us.median / b.us.median;
    return Race{a.us.median, b.us.median, tied(a, b) || std::abs(ratio - 1) < 0.01};
  };
}

}  // namespace upsweep::lab
