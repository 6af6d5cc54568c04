// Warp collectives: the lanes of a mask meet, exchange values, and continue together.
#include <algorithm>
#include <bit>

#include "simt/worker.h"

namespace upsweep::simt {
namespace {

// The result of a shuffle from an inactive lane: undefined on the device, so a value that makes tests fail.
constexpr std::uint64_t undefined_value = 0xBADBADBADBADBADBull;

// Returns the source lane of a lane in a shuffle, with segments as in the PTX manual.
unsigned source_lane(const Lane& lane) {
  const int self = static_cast<int>(lane.number()), segment = self & ~(lane.width - 1);
  int source = self;
  switch (lane.op) {
    case Collective::shuffle_index:
      source = segment | (lane.argument & (lane.width - 1));
      break;
    case Collective::shuffle_up:
      source = self - lane.argument < segment ? self : self - lane.argument;
      break;
    case Collective::shuffle_down:
      source = self + lane.argument >= segment + lane.width ? self : self + lane.argument;
      break;
    case Collective::shuffle_xor:
      source = (self ^ lane.argument) >= segment + lane.width ? self : self ^ lane.argument;
      break;
    default:
      break;
  }
  return static_cast<unsigned>(source) % 32;
}

// Returns the single result of a vote or reduction.
std::uint64_t combine(Collective op, const Lane* lanes, std::uint32_t mask) {
  const auto first = static_cast<std::uint32_t>(lanes[std::countr_zero(mask)].value);
  std::uint32_t all = first;
  std::uint32_t ballot = 0;
  for_each_bit(mask, [&](int i) { ballot |= static_cast<std::uint32_t>(lanes[i].value != 0) << i; });
  const auto fold = [&](auto f) {
    for_each_bit(mask & (mask - 1), [&](int i) { all = f(all, static_cast<std::uint32_t>(lanes[i].value)); });
    return all;
  };
  using U = std::uint32_t;
  using S = std::int32_t;
  switch (op) {
    case Collective::ballot:
      return ballot;
    case Collective::all:
      return ballot == mask;
    case Collective::any:
      return ballot != 0;
    case Collective::add:
      return fold([](U a, U b) { return a + b; });
    case Collective::min_signed:
      return fold([](U a, U b) { return S(b) < S(a) ? b : a; });
    case Collective::max_signed:
      return fold([](U a, U b) { return S(b) > S(a) ? b : a; });
    case Collective::min_unsigned:
      return fold([](U a, U b) { return std::min(a, b); });
    case Collective::max_unsigned:
      return fold([](U a, U b) { return std::max(a, b); });
    case Collective::bit_and:
      return fold([](U a, U b) { return a & b; });
    case Collective::bit_or:
      return fold([](U a, U b) { return a | b; });
    case Collective::bit_xor:
      return fold([](U a, U b) { return a ^ b; });
    default:
      return 0;
  }
}

std::uint32_t lanes_with_value(const Lane* lanes, std::uint32_t mask, std::uint64_t value) {
  std::uint32_t same = 0;
  for_each_bit(mask, [&](int i) { same |= static_cast<std::uint32_t>(lanes[i].value == value) << i; });
  return same;
}

}  // namespace

std::uint64_t Worker::collective(Collective op, unsigned mask, std::uint64_t value, int argument, int width,
                                 const Site& site) {
  Lane& self = *lane;
  Warp& warp = *self.warp;
  self.site = site;
  if (!(mask & self.bit())) {  // no lane waits for it, so it does not wait either
    report("lane not in its mask", site.line(),
           who() + " calls a warp collective whose mask excludes it, " + to_string(site));
    return value;
  }
  self.op = op;
  self.mask = mask;
  self.value = value;
  self.argument = argument;
  self.width = width;
  warp.in_collective |= self.bit();
  warp.runnable &= ~self.bit();
#if UPSWEEP_SIMT_TRACED
  // Every lane of the warp has stopped: align their traces before any continues.
  if (!(warp.runnable & ~warp.yielded)) tracer.align(warp);
#endif
  if (!try_complete(warp, mask)) park();
  return self.result;
}

// Completes the collective of the lanes of `mask` if all live ones have reached it; lanes that have returned are
// excused.
bool Worker::try_complete(Warp& warp, std::uint32_t mask) {
  const std::uint32_t taking_part = mask & warp.live;
  if (!taking_part || (warp.in_collective & taking_part) != taking_part) return false;
  Lane* const lanes = warp.lanes;
  const Collective op = lanes[std::countr_zero(taking_part)].op;
  bool agreed = true;
  for_each_bit(taking_part, [&](int i) { agreed &= lanes[i].mask == mask && lanes[i].op == op; });
  if (!agreed) return false;

  if (is_shuffle(op)) {
    for_each_bit(taking_part, [&](int i) {
      const unsigned source = source_lane(lanes[i]);
      if (taking_part >> source & 1) {
        lanes[i].result = lanes[source].value;
      } else {
        lanes[i].result = undefined_value;
        report("shuffle from an inactive lane", lanes[i].site.line(),
               "lane " + std::to_string(i) + " reads lane " + std::to_string(source) + ", which is inactive, in " +
                   run->kernel_name + ", " + to_string(lanes[i].site));
      }
    });
  } else if (op == Collective::match_any) {
    for_each_bit(taking_part, [&](int i) { lanes[i].result = lanes_with_value(lanes, taking_part, lanes[i].value); });
  } else {
    const std::uint64_t first = lanes[std::countr_zero(taking_part)].value;
    const std::uint64_t result = op == Collective::match_all
                                     ? (lanes_with_value(lanes, taking_part, first) == taking_part ? taking_part : 0)
                                     : combine(op, lanes, taking_part);
    for_each_bit(taking_part, [&](int i) { lanes[i].result = result; });
  }
#if UPSWEEP_SIMT_TRACED
  if (op == Collective::sync)
    tracer.lanes_met(warp, taking_part);
  else
    tracer.lanes_exchanged(warp, taking_part);
#endif
  warp.in_collective &= ~taking_part;
  warp.runnable |= taking_part;
  return true;
}

// __activemask(): the lane waits until no other lane of its warp can run; the lanes at the same place are then the
// active ones.
unsigned Worker::active_mask(const Site& site) {
  lane->site = site;
  lane->warp->at_active_mask |= lane->bit();
  lane->warp->runnable &= ~lane->bit();
  Lane& self = *lane;
  park();
  return static_cast<unsigned>(self.result);
}

std::uint32_t Worker::release_active_mask(Warp& warp) {
  if (!warp.at_active_mask || (warp.runnable & warp.yielded)) return 0;
  const Site site = warp.lanes[std::countr_zero(warp.at_active_mask)].site;
  std::uint32_t together = 0;
  for_each_bit(warp.at_active_mask, [&](int i) {
    if (same_place(warp.lanes[i].site, site)) together |= 1u << i;
  });
  for_each_bit(together, [&](int i) { warp.lanes[i].result = together; });
  warp.at_active_mask &= ~together;
  warp.runnable |= together;
  return together;
}

}  // namespace upsweep::simt
