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
    if (number == tiles + gridDim.x - 1) *next = 0;
    return first + number;
  }
  // For a block that has drawn once, and has nothing to do, like all others.
  __device__ void leave(unsigned drawn) const {
    if (drawn - first == gridDim.x - 1) *next = 0;
  }
};

}  // namespace upsweep::ladders::partition
