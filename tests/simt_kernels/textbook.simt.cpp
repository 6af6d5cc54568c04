// Correct kernels whose counters have textbook closed forms, and kernels that exercise the emulator's machinery.
#include "simt/async.h"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

// ---- reductions of 256 elements per block ---------------------------------------------------------------------------

__global__ void reduce_strided(const float* in, float* out) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned d = 1; d < 256; d *= 2) {
    const unsigned i = 2 * d * t;
    if (i < 256) s[i] += s[i + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_sequential(const float* in, float* out) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// ---- Blelloch's scan of 512 elements per block, GPU Gems 3, chapter 39 ----------------------------------------------

template <bool pad>
__device__ __forceinline__ unsigned padded(unsigned i) {
  return pad ? i + (i >> 5) : i;
}

template <bool pad>
__global__ void blelloch(const unsigned* in, unsigned* out) {
  constexpr unsigned n = 512;
  __shared__ unsigned s[n + (pad ? n / 32 : 0)];
  const unsigned t = threadIdx.x, base = blockIdx.x * n;
  s[padded<pad>(t)] = in[base + t];
  s[padded<pad>(t + n / 2)] = in[base + t + n / 2];
  unsigned offset = 1;
  for (unsigned d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      const unsigned a = padded<pad>(offset * (2 * t + 1) - 1), b = padded<pad>(offset * (2 * t + 2) - 1);
      s[b] = s[a] + s[b];
    }
    offset *= 2;
  }
  if (t == 0) s[padded<pad>(n - 1)] = 0;
  for (unsigned d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const unsigned a = padded<pad>(offset * (2 * t + 1) - 1), b = padded<pad>(offset * (2 * t + 2) - 1);
      const unsigned left = s[a], right = s[b];
      s[a] = right;
      s[b] = left + right;
    }
  }
  __syncthreads();
  out[base + t] = s[padded<pad>(t)];
  out[base + t + n / 2] = s[padded<pad>(t + n / 2)];
}

// ---- histogram by atomics in shared memory --------------------------------------------------------------------------

__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// ---- scans of 256 elements per block --------------------------------------------------------------------------------

__device__ __forceinline__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    const unsigned u = __shfl_up_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) >= unsigned(d)) v += u;
  }
  return v;
}

__device__ __forceinline__ unsigned block_scan(unsigned v, unsigned* sums) {
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_scan(v);
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    unsigned x = lane < 8 ? sums[lane] : 0;
    x = warp_scan(x);
    if (lane < 8) sums[lane] = x;
  }
  __syncthreads();
  return warp ? v + sums[warp - 1] : v;
}

__global__ void shuffle_scan(const unsigned* in, unsigned* out) {
  __shared__ unsigned sums[8];
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  out[i] = block_scan(in[i], sums);
}

// Merrill and Garland, 2016. Status in the top two bits: 0 empty, 1 the block's total, 2 its inclusive prefix.
__global__ void lookback_scan(const unsigned* in, unsigned* out, unsigned long long* status, unsigned* ticket) {
  __shared__ unsigned sums[8];
  __shared__ unsigned shared_block, shared_prefix;
  if (threadIdx.x == 0) shared_block = ticket ? atomicAdd(ticket, 1u) : blockIdx.x;
  __syncthreads();
  const unsigned b = shared_block, i = b * 256 + threadIdx.x;
  const unsigned v = block_scan(in[i], sums);
  const unsigned total = sums[7];
  if (threadIdx.x < 32) {
    const int lane = int(threadIdx.x);
    unsigned prefix = 0;
    if (lane == 0) simt::store_release(&status[b], ((b ? 1ull : 2ull) << 62) | total);
    if (b) {
      for (int look = int(b) - 1 - lane;; look -= 32) {
        unsigned long long seen = 2ull << 62;
        if (look >= 0) do {
            seen = simt::load_acquire(&status[look]);
          } while ((seen >> 62) == 0);
        const unsigned complete = __ballot_sync(0xffffffffu, (seen >> 62) == 2);
        const int stop = __ffs(int(complete)) - 1;  // the nearest predecessor with a complete prefix
        unsigned part = stop < 0 || lane <= stop ? unsigned(seen) : 0;
        for (int d = 16; d; d >>= 1) part += __shfl_down_sync(0xffffffffu, part, d);
        prefix += __shfl_sync(0xffffffffu, part, 0);
        if (stop >= 0) break;
      }
      if (lane == 0) simt::store_release(&status[b], (2ull << 62) | (prefix + total));
    }
    if (lane == 0) shared_prefix = prefix;
  }
  __syncthreads();
  out[i] = v + shared_prefix;
}

// ---- transposes of n x n elements, 32 x 32 per block of 32 x 8 threads ----------------------------------------------

template <int pad>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + pad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + (y + j)] = in[(y + j) * n + x];
}

// ---- wide accesses and strides --------------------------------------------------------------------------------------

__global__ void copy_int4(const int4* in, int4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void sum_int4(const int4* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 v = in[i];
  out[i] = v.x + v.y + v.z + v.w;
}
__global__ void copy_float2(const float2* in, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void shared_int4(const int4* in, int4* out) {
  __shared__ int4 s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void shared_double(const double* in, double* out, int stride) {
  __shared__ double s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x * stride) & 255];
}
__global__ void shared_stride(const float* in, float* out, int stride) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) s[i] = in[i];
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x * stride) & 1023];
}
__global__ void global_stride(const float* in, float* out, int stride) { out[threadIdx.x] = in[threadIdx.x * stride]; }

// ---- divergence and reconvergence -----------------------------------------------------------------------------------

// Unequal trip counts in every round: the lanes' k-th visits to the load are not the same request.
__global__ void ragged(const int* trips, const float* in, float* out, int rounds) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const int m = trips[r * 32 + t];
    for (int k = 0; k < m; ++k) sum += in[(r * 8 + k) * 32 + t];
  }
  out[t] = sum;
}
// A cold path that compilers move out of line, then a load by all lanes.
__global__ void cold_path(const float* in, float* out, int n) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    if (__builtin_expect((t + k) % 7 == 0, 0)) {
      sum += in[1024 + t];
      sum = sum * 2 + sqrtf(sum);
    }
    sum += in[k * 32 + t];
  }
  out[t] = sum;
}
__global__ void branchy(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i];
  if (v & 1)
    out[2 * i] = v * 3;
  else
    atomicAdd(&out[2 * i + 1], v / 3);  // no store, because compilers would merge it with the other one
}
__global__ void binary_search(const int* keys, const int* queries, int* out, int n) {
  const int q = queries[threadIdx.x];
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < q)
      low = middle + 1;
    else
      high = middle;
  }
  out[threadIdx.x] = low;
}

// ---- other CUDA features --------------------------------------------------------------------------------------------

__global__ void dynamic_reverse(const int* in, int* out, int n) {
  int* s = dynamic_shared<int>();
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[n - 1 - i];
}

// Warp-aggregated compaction: __activemask under divergence.
__global__ void compact_odd(const int* in, int* out, int* count) {
  const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (!(v & 1)) return;
  const unsigned active = __activemask();
  const int lane = threadIdx.x & 31, leader = __ffs(int(active)) - 1;
  int base = 0;
  if (lane == leader) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);
  out[base + __popc(active & ((1u << lane) - 1))] = v;
}

// out[lane * 16 + k]: one result of each collective.
__global__ void collectives(const int* in, int* out) {
  const int v = in[threadIdx.x];
  const unsigned all = 0xffffffffu;
  int* o = out + threadIdx.x * 16;
  o[0] = __shfl_sync(all, v, 5);
  o[1] = __shfl_sync(all, v, 1, 8);
  o[2] = __shfl_up_sync(all, v, 3);
  o[3] = __shfl_down_sync(all, v, 3, 16);
  o[4] = __shfl_xor_sync(all, v, 9);
  o[5] = int(__ballot_sync(all, v > 0));
  o[6] = __all_sync(all, v > -1000) * 2 + __any_sync(all, v > 1000);
  o[7] = int(__match_any_sync(all, v & 3));
  o[8] = __reduce_add_sync(all, v);
  o[9] = __reduce_min_sync(all, v);
  o[10] = __reduce_max_sync(all, v);
  o[11] = int(__reduce_min_sync(all, unsigned(v)));
  o[12] = int(__reduce_xor_sync(all, unsigned(v)));
  o[13] = __syncthreads_count(v > 0);
  o[14] = __syncthreads_or(v > 1000);
  o[15] = __syncthreads_and(v > -1000);
}

// Every atomic, with all threads on one word.
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  const int t = int(threadIdx.x);
  atomicAdd(i + 0, t);
  atomicSub(i + 1, t);
  atomicMin(i + 2, t);
  atomicMax(i + 3, t);
  atomicXor(i + 4, t);
  atomicAdd(u + 0, 1u);
  atomicInc(u + 1, 9u);
  atomicOr(u + 2, 1u << (t % 32));
  atomicAnd(u + 3, ~(1u << (t % 32)));
  while (atomicCAS(u + 4, unsigned(t), unsigned(t) + 1) != unsigned(t)) {
  }  // threads alternate
  atomicAdd(l, 1ull << 33);
  atomicMax(l + 1, 1ull << (t % 60));
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

// Warp 0 polls a plain volatile variable until warp 1 sets it. The emulator cannot tell that the loop polls.
__global__ void volatile_flag(int* out) {
  __shared__ int word;
  volatile int& flag = word;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    out[0] = 1;
  }
  if (threadIdx.x == 32) flag = 1;
}

// ---- mbarriers and bulk copies --------------------------------------------------------------------------------------

// Sums n floats (a multiple of 256) in stages of 256, two stages in flight: the classic double buffer.
__global__ void pipelined_sum(const float* in, float* out, int n) {
  constexpr int stage = 256, stages = 2;
  float* const buffers = dynamic_shared<float>();  // [stages][stage]
  __shared__ std::uint64_t full[stages], empty[stages];
  const int tiles = n / stage;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      simt::mbarrier_init(&full[s], 1);
      simt::mbarrier_init(&empty[s], blockDim.x);
    }
  }
  __syncthreads();
  const auto fetch = [&](int tile) {
    const int s = tile % stages;
    simt::mbarrier_arrive_expect(&full[s], stage * sizeof(float));
    simt::bulk_copy(buffers + s * stage, in + tile * stage, stage * sizeof(float), &full[s]);
  };
  if (threadIdx.x == 0)
    for (int tile = 0; tile < stages && tile < tiles; ++tile) fetch(tile);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int s = tile % stages;
    const unsigned parity = unsigned(tile / stages) & 1;
    simt::mbarrier_wait(&full[s], parity);
    for (int i = threadIdx.x; i < stage; i += blockDim.x) sum += buffers[s * stage + i];
    simt::mbarrier_arrive(&empty[s]);
    if (threadIdx.x == 0 && tile + stages < tiles) {
      simt::mbarrier_wait(&empty[s], parity);
      fetch(tile + stages);
    }
  }
  atomicAdd(out, sum);
}

// ---- clusters -------------------------------------------------------------------------------------------------------

// Every block sums its threads' elements in shared memory; rank 0 gathers the peers' sums through mapped memory.
__global__ void cluster_sum(const int* in, int* out) {
  __shared__ int total;
  int* const dynamic_total = dynamic_shared<int>();
  if (threadIdx.x == 0) total = dynamic_total[0] = 0;
  __syncthreads();
  atomicAdd(&total, in[blockIdx.x * blockDim.x + threadIdx.x]);
  atomicAdd(dynamic_total, 1);
  simt::cluster_sync();
  if (simt::cluster_rank() == 0 && threadIdx.x < simt::cluster_size()) {
    atomicAdd(&out[blockIdx.x / simt::cluster_size()], *simt::map_shared(&total, threadIdx.x));
    atomicAdd(&out[gridDim.x], *simt::map_shared(dynamic_total, threadIdx.x));
  }
  simt::cluster_sync();
}

template <RunFn run>
constexpr Rung kernel(std::string_view name) {
  return make_rung<run>(name);
}

constexpr Rung rungs[] = {
    kernel<[](const Call& c) { return launch(reduce_strided, shape_of(c), in<float>(c), out<float>(c)); }>(
        "reduce_strided"),
    kernel<[](const Call& c) { return launch(reduce_sequential, shape_of(c), in<float>(c), out<float>(c)); }>(
        "reduce_sequential"),
    kernel<[](const Call& c) { return launch(blelloch<false>, shape_of(c), in<unsigned>(c), out<unsigned>(c)); }>(
        "blelloch"),
    kernel<[](const Call& c) { return launch(blelloch<true>, shape_of(c), in<unsigned>(c), out<unsigned>(c)); }>(
        "blelloch_padded"),
    kernel<[](const Call& c) { return launch(histogram, shape_of(c), in<unsigned char>(c), out<unsigned>(c), c.n()); }>(
        "histogram"),
    kernel<[](const Call& c) { return launch(shuffle_scan, shape_of(c), in<unsigned>(c), out<unsigned>(c)); }>(
        "shuffle_scan"),
    kernel<[](const Call& c) {
      return launch(lookback_scan, shape_of(c), in<unsigned>(c), out<unsigned>(c), out<unsigned long long>(c, 1),
                    out<unsigned>(c, 2));
    }>("lookback_scan"),
    kernel<[](const Call& c) { return launch(transpose<0>, shape_of(c), in<float>(c), out<float>(c), c.n()); }>(
        "transpose"),
    kernel<[](const Call& c) { return launch(transpose<1>, shape_of(c), in<float>(c), out<float>(c), c.n()); }>(
        "transpose_padded"),
    kernel<[](const Call& c) { return launch(transpose_naive, shape_of(c), in<float>(c), out<float>(c), c.n()); }>(
        "transpose_naive"),
    kernel<[](const Call& c) { return launch(copy_int4, shape_of(c), in<int4>(c), out<int4>(c), c.n()); }>("copy_int4"),
    kernel<[](const Call& c) { return launch(sum_int4, shape_of(c), in<int4>(c), out<int>(c), c.n()); }>("sum_int4"),
    kernel<[](const Call& c) { return launch(copy_float2, shape_of(c), in<float2>(c), out<float2>(c), c.n()); }>(
        "copy_float2"),
    kernel<[](const Call& c) { return launch(shared_int4, shape_of(c), in<int4>(c), out<int4>(c)); }>("shared_int4"),
    kernel<[](const Call& c) { return launch(shared_double, shape_of(c), in<double>(c), out<double>(c), number(c)); }>(
        "shared_double"),
    kernel<[](const Call& c) { return launch(shared_stride, shape_of(c), in<float>(c), out<float>(c), number(c)); }>(
        "shared_stride"),
    kernel<[](const Call& c) { return launch(global_stride, shape_of(c), in<float>(c), out<float>(c), number(c)); }>(
        "global_stride"),
    kernel<[](const Call& c) {
      return launch(ragged, shape_of(c), in<int>(c), in<float>(c, 1), out<float>(c), number(c));
    }>("ragged"),
    kernel<[](const Call& c) { return launch(cold_path, shape_of(c), in<float>(c), out<float>(c), number(c)); }>(
        "cold_path"),
    kernel<[](const Call& c) { return launch(branchy, shape_of(c), in<int>(c), out<int>(c)); }>("branchy"),
    kernel<[](const Call& c) {
      return launch(binary_search, shape_of(c), in<int>(c), in<int>(c, 1), out<int>(c), c.n());
    }>("binary_search"),
    kernel<[](const Call& c) { return launch(dynamic_reverse, shape_of(c), in<int>(c), out<int>(c), c.n()); }>(
        "dynamic_reverse"),
    kernel<[](const Call& c) { return launch(compact_odd, shape_of(c), in<int>(c), out<int>(c), out<int>(c, 1)); }>(
        "compact_odd"),
    kernel<[](const Call& c) { return launch(collectives, shape_of(c), in<int>(c), out<int>(c)); }>("collectives"),
    kernel<[](const Call& c) {
      return launch(atomics, shape_of(c), out<int>(c), out<unsigned>(c, 1), out<unsigned long long>(c, 2),
                    out<float>(c, 3), reinterpret_cast<double*>(out<float>(c, 3) + 2));
    }>("atomics"),
    kernel<[](const Call& c) { return launch(volatile_flag, shape_of(c), out<int>(c)); }>("volatile_flag"),
    kernel<[](const Call& c) { return launch(pipelined_sum, shape_of(c), in<float>(c), out<float>(c), c.n()); }>(
        "pipelined_sum"),
    kernel<[](const Call& c) { return launch(cluster_sum, shape_of(c), in<int>(c), out<int>(c)); }>("cluster_sum"),
};

}  // namespace

Rungs textbook_kernels() {
  static const auto all = [] {
    std::array<const Rung*, std::size(rungs)> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = &rungs[i];
    return list;
  }();
  return all;
}

}  // namespace upsweep::test
