// Rings of bulk copies: while a warp works on one chunk of its arrays, the copy engine fetches the next chunks. Every
// warp has its own ring, so no block-wide barrier is needed, and data in flight occupies no registers.
#pragma once
#include "kernel/async.h"
#include "kernel/vector.h"

namespace upsweep {

// The shape of a block's rings: one ring of `Stages` stages for each of `Warps` warps. A stage has one chunk of each of
// `Arrays` arrays.
template <unsigned Warps, unsigned Stages, unsigned ChunkBytes, unsigned Arrays>
struct WarpRingShape {
  static constexpr unsigned warps = Warps, stages = Stages, chunk_bytes = ChunkBytes, arrays = Arrays;
  static constexpr unsigned block = warps * warp_size;  // threads
  static constexpr unsigned stage_bytes = arrays * chunk_bytes, shared_bytes = warps * stages * stage_bytes;

  // Returns the grid for arrays of n elements: one block per multiprocessor, because a block's rings take most of the
  // shared memory; fewer if there are fewer chunks.
  template <class T>
  static unsigned blocks_for(std::size_t n) {
    return persistent_grid(ceil_div(n * sizeof(T), chunk_bytes));
  }
};

// This warp's ring, in a kernel of Shape::block threads per block and Shape::shared_bytes of dynamic shared memory.
template <class Shape, class T>
class WarpRing {
 public:
  static constexpr unsigned chunk = Shape::chunk_bytes / sizeof(T);  // elements

  // Warp-wide: starts filling the ring. Every array has `packs` whole packs and is 16-byte aligned.
  template <class... Arrays>
  __device__ __forceinline__ explicit WarpRing(std::size_t packs, const Arrays*... from)
      : from_{from...}, packs_(packs) {
    static_assert(sizeof...(Arrays) == Shape::arrays);
    __shared__ std::uint64_t arrived[Shape::warps][Shape::stages];  // mbarriers
    const unsigned warp = threadIdx.x / warp_size;
    arrived_ = arrived[warp];
    ring_ = dynamic_shared<T>() + std::size_t(warp) * Shape::stages * stage_size;
    first_ = std::size_t(blockIdx.x) + std::size_t(warp) * gridDim.x;
    if (lane_ == 0) {
      for (unsigned s = 0; s < Shape::stages; ++s) mbarrier_init(&arrived_[s], 1);
      for (unsigned s = 0; s < Shape::stages; ++s) fetch(first_ + s * step(), s);
    }
    __syncwarp();
  }

  // Warp-wide: calls work(position, packs, staged) for every chunk of this warp. The chunk begins at element `position`
  // and has `packs` packs of each array; those of array k are in shared memory at staged + k * chunk. Callable once.
  template <class Work>
  __device__ __forceinline__ void for_each_chunk(Work work) {
    unsigned stage = 0, parity = 0;
    for (std::size_t c = first_; c < chunks_; c += step()) {
      mbarrier_wait(&arrived_[stage], parity);
      work(c * chunk, packs_of(c), static_cast<const T*>(ring_ + stage * stage_size));
      __syncwarp();  // all lanes have read the stage before the copy engine overwrites it
      if (lane_ == 0) fetch(c + Shape::stages * step(), stage);
      if (++stage == Shape::stages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }

 private:
  static constexpr unsigned chunk_packs = Shape::chunk_bytes / 16, stage_size = Shape::arrays * chunk;

  // Chunks are dealt round-robin, to blocks and then to warps.
  static __device__ __forceinline__ std::size_t step() { return std::size_t(gridDim.x) * Shape::warps; }
  __device__ __forceinline__ unsigned packs_of(std::size_t c) const {
    const std::size_t left = packs_ - c * chunk_packs;
    return unsigned(left < chunk_packs ? left : chunk_packs);
  }
  // Starts the copies of chunk c, unless it is past the end; by one lane.
  __device__ __forceinline__ void fetch(std::size_t c, unsigned stage) {
    if (c >= chunks_) return;
    const unsigned bytes = 16 * packs_of(c);
    mbarrier_arrive_expect(&arrived_[stage], Shape::arrays * bytes);
#pragma unroll
    for (unsigned k = 0; k < Shape::arrays; ++k)
      bulk_copy(ring_ + stage * stage_size + k * chunk, from_[k] + c * chunk, bytes, &arrived_[stage]);
  }

  const T* from_[Shape::arrays];
  std::size_t packs_, chunks_ = ceil_div(packs_, chunk_packs), first_;
  std::uint64_t* arrived_;
  T* ring_;
  unsigned lane_ = threadIdx.x % warp_size;
};

}  // namespace upsweep
