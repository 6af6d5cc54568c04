// The SIMD loops of the CPU ceilings. Compiled once for each instruction set and chosen at run time by Highway.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/ceiling/cpu_loops.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/ceiling/contract.h"
#include "ladders/ceiling/cpu_loops.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::ceiling::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<std::uint32_t>;

// Returns the number of words from p to the next vector boundary, at most n.
HWY_INLINE std::size_t to_boundary(const std::uint32_t* p, std::size_t n) {
  const std::size_t width = hn::Lanes(D());
  const std::size_t past = reinterpret_cast<std::uintptr_t>(p) / sizeof(*p) % width;
  return past ? HWY_MIN(width - past, n) : 0;
}

template <class D>
HWY_INLINE std::uint32_t read_vectors(D d, const std::uint32_t* in, std::size_t n) {
  const std::size_t width = hn::Lanes(d);
  std::uint32_t total = 0;
  std::size_t i = 0;
  for (const std::size_t head = to_boundary(in, n); i < head; ++i) total ^= in[i];
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (; n - i >= 4 * width; i += 4 * width) {
    a = hn::Xor(a, hn::LoadU(d, in + i));
    b = hn::Xor(b, hn::LoadU(d, in + i + width));
    c = hn::Xor(c, hn::LoadU(d, in + i + 2 * width));
    e = hn::Xor(e, hn::LoadU(d, in + i + 3 * width));
  }
  HWY_ALIGN std::uint32_t lanes[hn::MaxLanes(d)];
  hn::Store(hn::Xor(hn::Xor(a, b), hn::Xor(c, e)), d, lanes);
  for (std::size_t k = 0; k < width; ++k) total ^= lanes[k];
  for (; i < n; ++i) total ^= in[i];
  return total;
}

std::uint32_t read(const std::uint32_t* in, std::size_t n, bool from_memory) {
  // Main memory is read faster with 32-byte vectors: with wider ones, the core runs so far ahead that its own misses
  // crowd out the hardware prefetches (2^27 words on two Zen 4 cores: 63 GB/s instead of 60).
  if (from_memory) return read_vectors(hn::CappedTag<std::uint32_t, 8>(), in, n);
  return read_vectors(D(), in, n);
}

void write(std::uint32_t* out, std::size_t n, std::size_t first, bool bypass) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (const std::size_t head = to_boundary(out, n); i < head; ++i) out[i] = pattern(first + i);
  const auto rise = [&](std::size_t words) { return hn::Set(d, pattern(words)); };
  auto value = hn::Add(hn::Mul(hn::Iota(d, 0), rise(1)), rise(first + i));
  const auto step = rise(width);
  if (bypass) {
    for (; n - i >= width; i += width, value = hn::Add(value, step)) hn::Stream(value, d, out + i);
    hwy::FlushStream();
  } else {
    for (; n - i >= width; i += width, value = hn::Add(value, step)) hn::Store(value, d, out + i);
  }
  for (; i < n; ++i) out[i] = pattern(first + i);
}

void copy(const std::uint32_t* in, std::uint32_t* out, std::size_t n, bool bypass) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (const std::size_t head = to_boundary(out, n); i < head; ++i) out[i] = in[i];
  if (bypass) {
    for (; n - i >= width; i += width) hn::Stream(hn::LoadU(d, in + i), d, out + i);
    hwy::FlushStream();
  } else {
    for (; n - i >= width; i += width) hn::Store(hn::LoadU(d, in + i), d, out + i);
  }
  for (; i < n; ++i) out[i] = in[i];
}

void triad(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out, std::size_t n, bool bypass) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  const auto at = [&](std::size_t i) HWY_ATTR {
    const auto y = hn::LoadU(d, b + i);
    return hn::Add(hn::LoadU(d, a + i), hn::Add(y, hn::Add(y, y)));
  };
  std::size_t i = 0;
  for (const std::size_t head = to_boundary(out, n); i < head; ++i) out[i] = triad_of(a[i], b[i]);
  if (bypass) {
    for (; n - i >= width; i += width) hn::Stream(at(i), d, out + i);
    hwy::FlushStream();
  } else {
    for (; n - i >= width; i += width) hn::Store(at(i), d, out + i);
  }
  for (; i < n; ++i) out[i] = triad_of(a[i], b[i]);
}

Loops find_loops() { return {&read, &write, &copy, &triad}; }

}  // namespace upsweep::ladders::ceiling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::ceiling {

HWY_EXPORT(find_loops);
const Loops& loops() {
  static const Loops found = HWY_DYNAMIC_DISPATCH(find_loops)();
  return found;
}

}  // namespace upsweep::ladders::ceiling
#endif  // HWY_ONCE
