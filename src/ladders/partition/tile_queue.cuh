// Tiles that persistent blocks draw.
#pragma once
#include "kernel/kernel.h"

namespace upsweep::ladders::partition {

// Tiles in the order in which blocks draw them, so that those in work are close together.
struct TileQueue {
  unsigned* next;  // 0, and left so
  unsigned tiles;
  unsigned first = 0;  // the tile that is drawn first

  // Each block draws until it gets a tile that does not exist. By one thread.
  __device__ unsigned draw() const { return drawn(start_draw()); }
  // The same in two parts, between which the number is on its way.
  __device__ unsigned start_draw() const { return atomicAdd(next, 1u); }
  __device__ unsigned drawn(unsigned number) const {
    if (number == tiles + gridDim.x - 1) atomicExch(next, 0u);  // keep_pace() may be reading it
    return first + number;
  }
  // Keeps blocks together that draw as soon as they have counted a tile: a block whose own is tile t waits until t
  // tiles have been counted, by whichever blocks. It does not wait for long, because the others need not be resident,
  // nor with its first tile, because all begin together. By one thread, which has just drawn `drawn`.
  __device__ void keep_pace(unsigned tile, unsigned drawn) const {
    constexpr unsigned most_polls = 4;  // of 0.7 us on an H200, where a tile takes 9; 8 are no faster
    if (tile - first < gridDim.x) return;
#pragma unroll
    for (unsigned polls = 0; drawn - tile < gridDim.x && polls < most_polls; ++polls)
      drawn = first + atomicAdd(next, 0u);
  }
  // For a block that has drawn once, and has nothing to do, like all others.
  __device__ void leave(unsigned drawn) const {
    if (drawn - first == gridDim.x - 1) *next = 0;
  }
};

}  // namespace upsweep::ladders::partition
