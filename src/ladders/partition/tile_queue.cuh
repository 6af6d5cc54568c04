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
  __device__ unsigned draw() const {
    const unsigned drawn = atomicAdd(next, 1u);
    if (drawn == tiles + gridDim.x - 1) *next = 0;
    return first + drawn;
  }
  // For a block that has drawn once, and has nothing to do, like all others.
  __device__ void leave(unsigned drawn) const {
    if (drawn - first == gridDim.x - 1) *next = 0;
  }
};

}  // namespace upsweep::ladders::partition
