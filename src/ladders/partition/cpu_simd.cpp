// partition/cpu_simd: the loops of cpu_simd.h. Moving is bound by scattered stores, which vectors cannot speed up;
// vectors extract the digits to count, and copy lines.
//
// Compiled once for each instruction set and chosen at run time by Highway.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/partition/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/partition/contract.h"
#include "ladders/partition/cpu_moves-inl.h"
#include "ladders/partition/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::partition::HWY_NAMESPACE {

// ---- splitters ------------------------------------------------------------------------------------------------------

template <class K>
void find_ids(const Search& search, const void* memory, size_t begin, size_t end, u16* ids) {
  const K* const keys = static_cast<const K*>(memory);
  const K* const splitters = static_cast<const K*>(search.splitters);
  const auto find = [&](size_t i, auto together) HWY_ATTR {
    constexpr size_t n = together();
    u32 first[n] = {};  // all splitters before first[j] are <= key[j]
    K key[n];
    for (size_t j = 0; j < n; ++j) key[j] = keys[i + j];
    for (unsigned h = search.halvings; h-- > 0;)
#pragma GCC unroll 16
      for (size_t j = 0; j < n; ++j) first[j] += static_cast<u32>(splitters[first[j] + (1u << h) - 1] <= key[j]) << h;
    for (size_t j = 0; j < n; ++j) ids[i + j] = static_cast<u16>(std::min(first[j], search.last_bucket));
  };
  constexpr size_t most = 16;  // searches interleaved, so that their loads overlap
  size_t i = begin;
  for (; end - i >= most; i += most) find(i, std::integral_constant<size_t, most>());
  for (; i < end; ++i) find(i, std::integral_constant<size_t, 1>());
}

// ---- dispatch -------------------------------------------------------------------------------------------------------

template <class K, class V>
Loops loops_by(bool by_ids) {
  using Source = InMemory<K, V>;
  return by_ids ? loops_of<Source, IdOf<K>>() : loops_of<Source, DigitOf<K>>();
}
template <class K>
Loops loops_with(unsigned value_bytes, bool by_ids) {
  switch (value_bytes) {
    case 0:
      return loops_by<K, None>(by_ids);
    case 4:
      return loops_by<K, u32>(by_ids);
    case 8:
      return loops_by<K, u64>(by_ids);
    default:
      return loops_by<K, Wide>(by_ids);
  }
}
Loops find_loops(unsigned key_bytes, unsigned value_bytes, bool by_ids) {
  return key_bytes == 4 ? loops_with<u32>(value_bytes, by_ids) : loops_with<u64>(value_bytes, by_ids);
}
FindIds find_search(unsigned key_bytes) { return key_bytes == 4 ? &find_ids<u32> : &find_ids<u64>; }

}  // namespace upsweep::ladders::partition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::partition {
HWY_EXPORT(find_loops);
HWY_EXPORT(find_search);

Loops simd_loops(unsigned key_bytes, unsigned value_bytes, bool by_ids) {
  return HWY_DYNAMIC_DISPATCH(find_loops)(key_bytes, value_bytes, by_ids);
}
FindIds simd_search(unsigned key_bytes) { return HWY_DYNAMIC_DISPATCH(find_search)(key_bytes); }

}  // namespace upsweep::ladders::partition
#endif
