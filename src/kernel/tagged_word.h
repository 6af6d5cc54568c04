// Values that other blocks poll: 32 bits of value and a 32-bit tag in one 64-bit word. A reader that finds the tag has
// the value too, so neither side needs a fence.
//
// Two protocols use them: a mailbox (mailbox.h), emptied by its reader, and tile descriptors (descriptors.h), whose tag
// is the epoch of the call.
#pragma once
#include <cstring>

#include "kernel/ptx.h"

namespace upsweep {

// Words per value: 8-byte values take two, each with the tag.
template <class T>
inline constexpr unsigned words_per = (sizeof(T) + 3) / 4;

template <class T>
__device__ __forceinline__ void store_tagged(unsigned long long* to,  // [words_per<T>]
                                             unsigned tag, T value) {
  unsigned half[words_per<T>] = {};
  memcpy(half, &value, sizeof value);
  for (unsigned k = 0; k < words_per<T>; ++k)
    store_relaxed(to + k, (static_cast<unsigned long long>(half[k]) << 32) | tag);
}

// Loads once; returns false if the words do not (yet) carry the tag.
template <class T>
__device__ __forceinline__ bool try_load_tagged(const unsigned long long* from,  // [words_per<T>]
                                                unsigned tag, T& value) {
  bool found = true;
  unsigned half[words_per<T>];
#pragma unroll
  for (unsigned k = 0; k < words_per<T>; ++k) {
    const unsigned long long word = load_relaxed(from + k);
    found &= static_cast<unsigned>(word) == tag;
    half[k] = static_cast<unsigned>(word >> 32);
  }
  memcpy(&value, half, sizeof(T));
  return found;
}

}  // namespace upsweep
