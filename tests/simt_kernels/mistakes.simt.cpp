// Wrong kernels, each with one mistake that the checks must name, and right kernels that look alike.
#include <stdexcept>

#include "kernel/ptx.h"
#include "simt/async.h"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

// ---- races ----------------------------------------------------------------------------------------------------------

__global__ void race_no_barrier(const float* in, float* out) {
  __shared__ float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void race_in_warp(const float* in, float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void right_syncwarp(const float* in, float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
// Lanes exchange values in pairs, twice. The second exchange is also ordered, although it overwrites values already
// read.
__global__ void right_exchange(const float* in, float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const float a = s[threadIdx.x ^ 1], own = s[threadIdx.x];
  __syncwarp();
  s[threadIdx.x] = a + own;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 2];
}
__global__ void race_after_syncwarp(const float* in, float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const float a = s[31 - threadIdx.x];
  s[threadIdx.x] = a;  // the other lane of the pair may not have read it yet
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void right_half_syncwarp(const float* in, float* out) {
  __shared__ float s[32];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  if (t < 16)
    __syncwarp(0x0000ffffu);
  else
    __syncwarp(0xffff0000u);
  out[t] = s[t ^ 15];
}
__global__ void race_half_syncwarp(const float* in, float* out) {
  __shared__ float s[32];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  if (t < 16)
    __syncwarp(0x0000ffffu);
  else
    __syncwarp(0xffff0000u);
  out[t] = s[t ^ 31];
}
__global__ void race_write_after_read(const float*, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  const float v = s[(threadIdx.x + 1) & 63];
  s[threadIdx.x] = v;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
// Each thread has a separate byte, several per word: not a race.
__global__ void right_bytes(const float*, float* out) {
  __shared__ unsigned char s[256];
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void race_bytes(const float*, float* out) {
  __shared__ unsigned char s[256];
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void race_bulk_copy(const float* in, float* out) {
  float* const s = dynamic_shared<float>();
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) simt::mbarrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    simt::mbarrier_arrive_expect(&full, 256);
    simt::bulk_copy(s, in, 256, &full);
  }
  __syncthreads();  // does not wait for the copy
  out[threadIdx.x] = s[threadIdx.x];
}
// Every thread writes to memory that a bulk copy overwrites after a barrier; only a fence orders these writes before
// the copy engine's.
enum class Fence { none, before_write, after_write };
template <Fence fence>
__device__ void overwrite_by_copy(const float* in, float* out) {
  float* const s = dynamic_shared<float>();
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) simt::mbarrier_init(&full, 1);
  if (fence == Fence::before_write) simt::fence_before_bulk_copy();
  s[threadIdx.x] = 0;
  if (fence == Fence::after_write) simt::fence_before_bulk_copy();
  __syncthreads();
  if (threadIdx.x == 0) {
    simt::mbarrier_arrive_expect(&full, 256);
    simt::bulk_copy(s, in, 256, &full);
  }
  simt::mbarrier_wait(&full, 0);
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void right_proxy_fence(const float* in, float* out) { overwrite_by_copy<Fence::after_write>(in, out); }
__global__ void no_proxy_fence(const float* in, float* out) { overwrite_by_copy<Fence::none>(in, out); }
__global__ void proxy_fence_before_write(const float* in, float* out) {
  overwrite_by_copy<Fence::before_write>(in, out);
}

// Each block of a cluster writes to its peer's shared memory, then reads what the peer wrote to this block's.
enum class Peer { right, before_it_begins, after_it_ends };
template <Peer mistake>
__device__ void write_to_peer(const float* in, float* out) {
  __shared__ float s[32];
  if (mistake != Peer::before_it_begins) simt::cluster_sync();
  simt::map_shared(s, 1 - simt::cluster_rank())[threadIdx.x] = in[threadIdx.x];
  if (mistake != Peer::after_it_ends) {
    simt::cluster_sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
  }
}
__global__ void right_peer(const float* in, float* out) { write_to_peer<Peer::right>(in, out); }
__global__ void peer_before_it_begins(const float* in, float* out) { write_to_peer<Peer::before_it_begins>(in, out); }
__global__ void peer_after_it_ends(const float* in, float* out) { write_to_peer<Peer::after_it_ends>(in, out); }

// A shuffle synchronises lanes, but does not order memory.
__global__ void race_shuffle(const float* in, float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  const float v = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 1);
  out[threadIdx.x] = v + s[31 - threadIdx.x];
}
// Warp 0 copies two chunks to the same memory in sequence; warp 1 reads both. The mistakes are in how warp 1 releases
// the first chunk.
enum class Release { right, before_reading, by_one_lane, by_one_lane_synchronised };
template <Release release>
__device__ void two_chunks(const float* in, float* out) {
  float* const s = dynamic_shared<float>();
  __shared__ std::uint64_t full, empty;
  const unsigned lane = threadIdx.x % 32;
  constexpr bool one_lane = release == Release::by_one_lane || release == Release::by_one_lane_synchronised;
  if (threadIdx.x == 0) {
    simt::mbarrier_init(&full, 1);
    simt::mbarrier_init(&empty, one_lane ? 1 : 32);
  }
  __syncthreads();
  for (unsigned chunk = 0; chunk < 2; ++chunk) {
    if (threadIdx.x == 0) {
      if (chunk > 0) simt::mbarrier_wait(&empty, 0);
      simt::mbarrier_arrive_expect(&full, 128);
      simt::bulk_copy(s, in + 32 * chunk, 128, &full);
    } else if (threadIdx.x >= 32) {
      simt::mbarrier_wait(&full, chunk);
      if (release == Release::before_reading && chunk == 0) simt::mbarrier_arrive(&empty);
      out[32 * chunk + lane] = s[lane];
      if (release == Release::by_one_lane_synchronised) __syncwarp();
      if (release != Release::before_reading && chunk == 0 && (!one_lane || lane == 0)) simt::mbarrier_arrive(&empty);
    }
  }
}
__global__ void right_release(const float* in, float* out) { two_chunks<Release::right>(in, out); }
__global__ void right_release_by_one_lane(const float* in, float* out) {
  two_chunks<Release::by_one_lane_synchronised>(in, out);
}
__global__ void race_release_before_reading(const float* in, float* out) {
  two_chunks<Release::before_reading>(in, out);
}
__global__ void race_release_by_one_lane(const float* in, float* out) { two_chunks<Release::by_one_lane>(in, out); }
// Two copies in flight, and the wait is on the wrong mbarrier.
__global__ void race_other_mbarrier(const float* in, float* out) {
  float* const s = dynamic_shared<float>();
  __shared__ std::uint64_t full[2];
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < 2; ++i) {
      simt::mbarrier_init(&full[i], 1);
      simt::mbarrier_arrive_expect(&full[i], 128);
      simt::bulk_copy(s + 32 * i, in + 32 * i, 128, &full[i]);
    }
  }
  __syncthreads();
  simt::mbarrier_wait(&full[1], 0);
  out[threadIdx.x] = s[threadIdx.x];
}

// ---- races between blocks: block 0 publishes a value for block 1 ----------------------------------------------------

__device__ void raise_flag(float* out) { *static_cast<volatile float*>(out + 1) = 1.f; }
__device__ void await_flag(float* out) {
  while (*static_cast<volatile float*>(out + 1) != 1.f) __nanosleep(0);
}

__global__ void right_fences(const float*, float* out) {
  if (blockIdx.x == 0) {
    out[0] = 1.f;
    __threadfence();
    raise_flag(out);
  } else {
    await_flag(out);
    __threadfence();
    out[2] = out[0];
  }
}
__global__ void race_no_fence_before_flag(const float*, float* out) {
  if (blockIdx.x == 0) {
    out[0] = 1.f;
    raise_flag(out);
  } else {
    await_flag(out);
    __threadfence();
    out[2] = out[0];
  }
}
__global__ void race_no_fence_after_flag(const float*, float* out) {
  if (blockIdx.x == 0) {
    out[0] = 1.f;
    __threadfence();
    raise_flag(out);
  } else {
    await_flag(out);
    out[2] = out[0];
  }
}
__global__ void race_written_after_fence(const float*, float* out) {
  if (blockIdx.x == 0) {
    __threadfence();
    out[0] = 1.f;
    raise_flag(out);
  } else {
    await_flag(out);
    __threadfence();
    out[2] = out[0];
  }
}
__global__ void right_release_acquire(const float*, float* out) {
  if (blockIdx.x == 0) {
    out[0] = 1.f;
    simt::store_release(out + 1, 1.f);
  } else {
    while (simt::load_acquire(out + 1) != 1.f) {
    }
    out[2] = out[0];
  }
}
// The block with the last ticket reads what all others wrote: the tickets in between make the order transitive.
__global__ void right_tickets(const float*, float* out) {
  auto* const counter = reinterpret_cast<unsigned*>(out + 255);
  if (blockIdx.x == 0) {
    *counter = 0;
    __threadfence();
    raise_flag(out);
  } else {
    await_flag(out);
  }
  out[2 + blockIdx.x] = 1.f;
  if (take_ticket(counter) != gridDim.x - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b) out[100 + b] = out[2 + b];
}
// Each block has a separate byte of a shared word: not a race.
__global__ void right_shared_word(const float*, float* out) {
  auto* const bytes = reinterpret_cast<unsigned char*>(out);
  bytes[blockIdx.x] = 1;
  bytes[100 + blockIdx.x] = bytes[blockIdx.x];
}

// Thread 0 of each block raises or awaits the flag for its whole block, so barriers must order it with the other
// threads. In place of a missing barrier, threads poll without a fence. This orders no memory, but keeps the read after
// the write in every schedule; otherwise the emulator, which does not record plain reads, would miss the race.
template <bool barrier_before, bool barrier_after>
__device__ void flag_for_all(float* out) {
  if (blockIdx.x == 0) {
    auto* const last_has_written = static_cast<volatile float*>(out + 2);
    out[32 + threadIdx.x] = 1.f;
    if (barrier_before) {
      __syncthreads();
    } else if (threadIdx.x == blockDim.x - 1) {
      *last_has_written = 1.f;
    }
    if (threadIdx.x == 0) {
      while (!barrier_before && *last_has_written != 1.f) __nanosleep(0);
      __threadfence();
      raise_flag(out);
    }
  } else {
    if (threadIdx.x == 0) {
      await_flag(out);
      __threadfence();
    }
    if (barrier_after)
      __syncthreads();
    else
      await_flag(out);
    out[128 + threadIdx.x] = out[32 + (threadIdx.x ^ 1)];
  }
}
__global__ void right_flag_for_all(const float*, float* out) { flag_for_all<true, true>(out); }
__global__ void race_no_barrier_before_flag(const float*, float* out) { flag_for_all<false, true>(out); }
__global__ void race_no_barrier_after_flag(const float*, float* out) { flag_for_all<true, false>(out); }
// All lanes of block 0 read a word that block 1 overwrites once lane 0 has raised the flag.
template <bool synchronised>
__device__ void read_then_flag(float* out) {
  if (blockIdx.x == 0) {
    const float v = *static_cast<volatile float*>(out);
    if (synchronised) __syncwarp();
    if (threadIdx.x == 0) raise_flag(out);
    out[32 + threadIdx.x] = v;
  } else if (threadIdx.x == 0) {
    await_flag(out);
    out[0] = 2.f;
  }
}
__global__ void right_read_then_flag(const float*, float* out) { read_then_flag<true>(out); }
__global__ void race_read_then_flag(const float*, float* out) { read_then_flag<false>(out); }
// Block 0 publishes twice, like a tile of a look-back, and its lanes synchronise in between. Block 1 arrives late,
// takes the second publication if it is there, and overwrites what block 0 has read.
template <bool synchronised>
__device__ void publish_twice(const float* in, float* out) {
  auto* const total = static_cast<volatile float*>(out + 1);
  auto* const prefix = static_cast<volatile float*>(out + 2);
  if (blockIdx.x == 0) {
    const float v = *static_cast<volatile float*>(out);
    if (synchronised) __syncwarp();
    if (threadIdx.x == 0) *total = 1.f;
    __syncwarp();
    if (threadIdx.x == 0) *prefix = 1.f;
    out[32 + threadIdx.x] = v;
  } else if (threadIdx.x == 0) {
    float sum = 0.f;
    for (unsigned i = 0; i < 2000; ++i) sum += in[i % 32];
    out[64] = sum;
    while (*prefix != 1.f && *total != 1.f) __nanosleep(0);
    out[0] = 2.f;
  }
}
__global__ void right_publish_twice(const float* in, float* out) { publish_twice<true>(in, out); }
__global__ void race_publish_twice(const float* in, float* out) { publish_twice<false>(in, out); }

// ---- races between launches that may overlap: each is launched twice ------------------------------------------------

__global__ void right_wait(const float* in, float* out) {
  const float v = in[threadIdx.x];  // earlier launches do not write it
  wait_for_previous();
  out[threadIdx.x] = v + out[threadIdx.x];
}
__global__ void right_wait_by_one(const float* in, float* out) {
  if (threadIdx.x == 0) wait_for_previous();
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void race_no_wait(const float*, float* out) { out[threadIdx.x] = 1.f; }
__global__ void race_read_before_wait(const float*, float* out) {
  const float v = out[0];
  wait_for_previous();
  if (threadIdx.x == 0) out[0] = v;
}
__global__ void race_wait_by_one(const float*, float* out) {
  if (threadIdx.x == 0) wait_for_previous();
  out[threadIdx.x] = 1.f;
}

// ---- bounds, initialisation, alignment ------------------------------------------------------------------------------

__global__ void past_the_end(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }
// The buffer ends inside the last of 128 pairs of floats.
__global__ void across_the_end(const float* in, float* out) {
  const float2 v = reinterpret_cast<const float2*>(in)[threadIdx.x];
  out[threadIdx.x] = v.x + v.y;
}
__global__ void past_the_array(const float*, float* out) {
  __shared__ float s[100];
  s[threadIdx.x + 8] = 1.f;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 8];
}
__global__ void past_dynamic(const float*, float* out) {
  float* const s = dynamic_shared<float>();
  s[threadIdx.x + 1] = 1.f;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void uninitialised(const float*, float* out) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1.f;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void misaligned(const float* in, float* out) {
  reinterpret_cast<int4*>(out)[threadIdx.x] = *reinterpret_cast<const int4*>(in + 1 + 4 * threadIdx.x);
}
__global__ void bulk_misaligned(const float* in, float* out) {
  float* const s = dynamic_shared<float>();
  __shared__ std::uint64_t full;
  simt::mbarrier_init(&full, 1);
  simt::bulk_copy(s, in + 1, 16, &full);
  out[0] = s[0];
}

// ---- synchronisation ------------------------------------------------------------------------------------------------

__global__ void barrier_after_exit(const float*, float* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1.f;
}
// The first 40 threads exit before the others reach the barrier.
__global__ void barrier_after_first_exit(const float*, float* out) {
  if (threadIdx.x < 40) return;
  __syncthreads();
  out[threadIdx.x] = 1.f;
}
__global__ void barrier_two_sites(const float*, float* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1.f;
    __syncthreads();
  } else {
    out[threadIdx.x] = 2.f;
    __syncthreads();
  }
}
__global__ void shuffle_half(const float*, float* out) {
  float v = float(threadIdx.x);
  if (threadIdx.x < 16) v = __shfl_down_sync(0xffffffffu, v, 1);
  __syncthreads();
  out[threadIdx.x] = v;
}
__global__ void shuffle_inactive(const float*, float* out) {
  float v = float(threadIdx.x);
  if (threadIdx.x < 16) v = __shfl_sync(0x0000ffffu, v, 20);
  out[threadIdx.x] = v;
}
__global__ void outside_its_mask(const float*, float* out) {
  unsigned v = 0;
  if (threadIdx.x == 3)
    v = __ballot_sync(0x1u, 1);
  else if (threadIdx.x == 0)
    v = __ballot_sync(0x1u, 1);
  out[threadIdx.x] = float(v);
}
__global__ void mbarrier_never(const float*, float* out) {
  __shared__ std::uint64_t word;
  if (threadIdx.x == 0) simt::mbarrier_init(&word, 33);
  __syncthreads();
  simt::mbarrier_arrive(&word);
  simt::mbarrier_wait(&word, 0);
  out[threadIdx.x] = 1.f;
}
__global__ void mbarrier_uninitialised(const float*, float* out) {
  auto* const word = dynamic_shared<std::uint64_t>();
  simt::mbarrier_arrive(word);
  out[threadIdx.x] = 1.f;
}
__global__ void endless_poll(const float*, float* out) {
  while (simt::load_acquire(out) != 42.f) {
  }
}
// An endless loop that never calls the emulator's runtime.
__global__ void endless_loop(const float*, float* out) {
  volatile int stop = 0;
  while (!stop) {
  }
  out[threadIdx.x] = 1.f;
}

// ---- exceptions and traps -------------------------------------------------------------------------------------------

__global__ void throws(const float*, float* out) {
  __syncthreads();
  if (threadIdx.x == 17) throw std::runtime_error("thrown in a lane");
  __syncthreads();
  out[threadIdx.x] = 1.f;
}
__global__ void traps(const float*, float* out) {
  if (threadIdx.x == 17) __trap();
  out[threadIdx.x] = 1.f;
}

// ---- shared memory: of the kernel, and of a function that it calls --------------------------------------------------

// Distinguishes kernels with the same body, because a shared-memory request belongs to one kernel.
enum class Memory { requested, not_requested, of_a_function };
template <Memory memory>
__global__ void own_and_dynamic(const float* in, float* out) {
  __shared__ float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // a compiler may drop an array of which every thread reads only what it has written
  const unsigned neighbour = threadIdx.x ^ 1;
  dynamic_shared<float>()[neighbour] = s[neighbour];
  out[neighbour] = dynamic_shared<float>()[neighbour];
}
__device__ float through_shared(float value) {
  __shared__ float s[256];
  s[threadIdx.x] = value;
  return s[threadIdx.x];
}
template <>
__global__ void own_and_dynamic<Memory::of_a_function>(const float* in, float* out) {
  dynamic_shared<float>()[threadIdx.x] = through_shared(in[threadIdx.x]);
  out[threadIdx.x] = dynamic_shared<float>()[threadIdx.x];
}
// Launches without the request for dynamic shared memory that launch() makes.
template <Memory memory>
Status start_without_request(const Call& c) {
  return start(own_and_dynamic<memory>, shape_of(c), in<float>(c), out<float>(c));
}

#define MISTAKE(name) \
  make_rung<[](const Call& c) { return launch(name, shape_of(c), in<float>(c), out<float>(c)); }>(#name)

constexpr Rung rungs[] = {
    MISTAKE(race_no_barrier),
    MISTAKE(race_in_warp),
    MISTAKE(right_syncwarp),
    MISTAKE(right_exchange),
    MISTAKE(race_after_syncwarp),
    MISTAKE(right_half_syncwarp),
    MISTAKE(race_half_syncwarp),
    MISTAKE(race_write_after_read),
    MISTAKE(right_bytes),
    MISTAKE(race_bytes),
    MISTAKE(race_bulk_copy),
    MISTAKE(right_proxy_fence),
    MISTAKE(no_proxy_fence),
    MISTAKE(proxy_fence_before_write),
    MISTAKE(race_shuffle),
    MISTAKE(right_release),
    MISTAKE(right_release_by_one_lane),
    MISTAKE(race_release_before_reading),
    MISTAKE(race_release_by_one_lane),
    MISTAKE(race_other_mbarrier),
    MISTAKE(right_fences),
    MISTAKE(race_no_fence_before_flag),
    MISTAKE(race_no_fence_after_flag),
    MISTAKE(race_written_after_fence),
    MISTAKE(right_release_acquire),
    MISTAKE(right_tickets),
    MISTAKE(right_shared_word),
    MISTAKE(right_flag_for_all),
    MISTAKE(race_no_barrier_before_flag),
    MISTAKE(race_no_barrier_after_flag),
    MISTAKE(right_read_then_flag),
    MISTAKE(race_read_then_flag),
    MISTAKE(right_publish_twice),
    MISTAKE(race_publish_twice),
    MISTAKE(right_wait),
    MISTAKE(right_wait_by_one),
    MISTAKE(race_no_wait),
    MISTAKE(race_read_before_wait),
    MISTAKE(race_wait_by_one),
    MISTAKE(right_peer),
    MISTAKE(peer_before_it_begins),
    MISTAKE(peer_after_it_ends),
    MISTAKE(past_the_end),
    MISTAKE(across_the_end),
    MISTAKE(past_the_array),
    MISTAKE(past_dynamic),
    MISTAKE(uninitialised),
    MISTAKE(misaligned),
    MISTAKE(bulk_misaligned),
    MISTAKE(barrier_after_exit),
    MISTAKE(barrier_after_first_exit),
    MISTAKE(barrier_two_sites),
    MISTAKE(shuffle_half),
    MISTAKE(shuffle_inactive),
    MISTAKE(outside_its_mask),
    MISTAKE(mbarrier_never),
    MISTAKE(mbarrier_uninitialised),
    MISTAKE(endless_poll),
    MISTAKE(endless_loop),
    MISTAKE(throws),
    MISTAKE(traps),
    MISTAKE(own_and_dynamic<Memory::requested>),
    MISTAKE(own_and_dynamic<Memory::of_a_function>),
    make_rung<start_without_request<Memory::not_requested>>("not_requested"),
    make_rung<start_without_request<Memory::of_a_function>>("of_a_function_not_requested"),
};

}  // namespace

Rungs mistake_kernels() {
  static const auto all = [] {
    std::array<const Rung*, std::size(rungs)> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = &rungs[i];
    return list;
  }();
  return all;
}

}  // namespace upsweep::test
