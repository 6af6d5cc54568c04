// Tiles that persistent blocks draw.
#pragma once
#include "kernel/cluster.h"

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

// Groups of consecutive tiles, one for each cluster and then as clusters draw them: each once before its first group
// and once for every group that it gets.
struct GroupQueue {
  unsigned* next;  // 0, and left so
  unsigned groups, clusters;

  // By one thread, in two parts.
  __device__ unsigned start_draw() const { return atomicAdd(next, 1u); }
  __device__ unsigned drawn(unsigned number) const {
    if (number == groups + clusters - 1) atomicExch(next, 0u);  // the last draw; keep_pace() may be reading it
    return clusters + number;
  }
  __device__ unsigned count_draws() const { return atomicAdd(next, 0u); }
  // Keeps clusters together that call it late in a group's work, when about half of them have drawn again: it waits
  // until a third have. It does not wait for long, because the others need not be resident. By one thread, which has
  // counted `draws` a while ago.
  __device__ void keep_pace(unsigned group, unsigned draws) const {
    constexpr unsigned most_polls = 8;  // of 0.7 us on an H200, where a group takes 11
    if (group < clusters) return;
    for (unsigned polls = 0; draws - group < clusters + clusters / 3 && draws < groups && polls < most_polls; ++polls)
      draws = count_draws();
  }
};

// The draws of a cluster, of which one thread tells all blocks. It draws a round ahead, so that a barrier of the
// cluster which each round has anyway is enough.
class ClusterDraws {
 public:
  using Memory = unsigned[2];  // groups, in each block's shared memory: that of the next round, and of the one after

  // All `cluster` blocks have begun. A barrier of the cluster is to follow.
  __device__ ClusterDraws(Memory& drawn, const GroupQueue& queue, unsigned cluster)
      : queue_(queue), drawn_(drawn), cluster_(cluster), draws_(threadIdx.x == 0 && cluster_rank() == 0) {
    if (draws_) hand_out(1, queue_.drawn(queue_.start_draw()));
  }
  __device__ unsigned of_round(unsigned round) const { return drawn_[round % 2]; }
  // In this order, in each round: draws, sees how far the other clusters are, and hands out what was drawn, for the
  // round after the next one. Before the round's barrier.
  __device__ void start() {
    if (draws_) number_ = queue_.start_draw();
  }
  __device__ void look() {
    if (cluster_ > 1 && draws_) seen_ = queue_.count_draws();
  }
  __device__ void finish(unsigned round, unsigned group) const {
    if (!draws_) return;
    hand_out(round, queue_.drawn(number_));
    if (cluster_ > 1) queue_.keep_pace(group, seen_);
  }

 private:
  __device__ void hand_out(unsigned round, unsigned group) const {
#pragma unroll
    for (unsigned r = 0; r < cluster_; ++r) store_in_cluster(&drawn_[round % 2], r, group);
  }
  const GroupQueue queue_;
  Memory& drawn_;
  const unsigned cluster_;
  const bool draws_;
  unsigned number_ = 0, seen_ = 0;
};

}  // namespace upsweep::ladders::partition
