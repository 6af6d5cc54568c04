// The CUDA surface for kernels on the emulator: what <cuda_runtime.h> and the compiler's built-ins provide under nvcc.
// Contains plain CUDA C++ only; operations that it cannot express are in async.h.
#pragma once
#include <math.h>

#include <cmath>
#include <concepts>
#include <cstring>
#include <memory>  // before __noinline__ is a macro: libstdc++ uses that name in an attribute
#include <type_traits>
#include <utility>

#include "simt/atomics.h"
#include "simt/runtime.h"
#include "simt/vector_types.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// One copy per OS thread, which runs one block at a time. Aligned to 16 bytes, so that wide accesses to the start of a
// variable are as aligned as on the device. Every instantiation of every kernel adds to the thread-local segment of
// every thread of the program, so arrays larger than about 1 KiB belong in dynamic_shared().
#define __shared__ __attribute__((aligned(16))) thread_local

#define threadIdx (::upsweep::simt::thread_index())
#define blockIdx (::upsweep::simt::block_index())
#define blockDim (::upsweep::simt::block_shape())
#define gridDim (::upsweep::simt::grid_shape())
static constexpr int warpSize = 32;

// ---- launch ---------------------------------------------------------------------------------------------------------
namespace upsweep::simt {

// A tuple without accessor functions, which would be instrumented and therefore not inlined into enter().
template <std::size_t, class T>
struct Argument {
  T value;
};
template <class Indices, class... P>
struct BoundKernel;
template <std::size_t... I, class... P>
struct BoundKernel<std::index_sequence<I...>, P...> : Argument<I, P>... {
  void (*kernel)(P...);

  template <class... A>
  explicit BoundKernel(void (*k)(P...), A&&... args)
      : Argument<I, P>{static_cast<P>(std::forward<A>(args))}..., kernel(k) {}

  // On the device, parameters are in constant memory: reading them is not traced.
  UPSWEEP_SIMT_UNTRACED static void enter(void* self) {
    auto* bound = static_cast<BoundKernel*>(self);
    bound->kernel(bound->Argument<I, P>::value...);
  }
};

// Runs the kernel to completion. Arguments are converted to the kernel's parameter types.
template <class... P, class... A>
Status launch(void (*kernel)(P...), const Config& config, A&&... args) {
  using Bound = BoundKernel<std::index_sequence_for<P...>, P...>;
  Bound bound(kernel, std::forward<A>(args)...);
  return run({config, reinterpret_cast<const void*>(kernel), &Bound::enter, &bound, sizeof bound});
}

template <class T>
concept Word = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

template <Word T>
__forceinline__ std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <Word T>
__forceinline__ T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T, class... Options>
concept OneOf = (std::same_as<T, Options> || ...);

}  // namespace upsweep::simt

// ---- barriers, votes, shuffles: wrappers without memory accesses, so there is nothing to trace ----------------------
#define UPSWEEP_SIMT_SITE const ::upsweep::simt::Site& site = ::upsweep::simt::Site::current()

__forceinline__ void __syncthreads(UPSWEEP_SIMT_SITE) {
  ::upsweep::simt::block_barrier(::upsweep::simt::Vote::none, 0, site);
}
__forceinline__ int __syncthreads_count(int predicate, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::block_barrier(::upsweep::simt::Vote::count, predicate, site);
}
__forceinline__ int __syncthreads_or(int predicate, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::block_barrier(::upsweep::simt::Vote::any, predicate, site);
}
__forceinline__ int __syncthreads_and(int predicate, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::block_barrier(::upsweep::simt::Vote::all, predicate, site);
}

namespace upsweep::simt {
__forceinline__ unsigned vote(Collective op, unsigned mask, int predicate, const Site& site) {
  return static_cast<unsigned>(warp_collective(op, mask, predicate != 0, 0, 32, site));
}
template <Word T>
__forceinline__ T shuffle(Collective op, unsigned mask, T value, int argument, int width, const Site& site) {
  return from_bits<T>(warp_collective(op, mask, to_bits(value), argument, width, site));
}
template <class T>
__forceinline__ T reduce(Collective op, unsigned mask, T value, const Site& site) {
  return static_cast<T>(warp_collective(op, mask, static_cast<std::uint32_t>(value), 0, 32, site));
}
}  // namespace upsweep::simt

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu, UPSWEEP_SIMT_SITE) {
  ::upsweep::simt::warp_collective(::upsweep::simt::Collective::sync, mask, 0, 0, 32, site);
}
__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::vote(::upsweep::simt::Collective::ballot, mask, predicate, site);
}
__forceinline__ int __all_sync(unsigned mask, int predicate, UPSWEEP_SIMT_SITE) {
  return int(::upsweep::simt::vote(::upsweep::simt::Collective::all, mask, predicate, site));
}
__forceinline__ int __any_sync(unsigned mask, int predicate, UPSWEEP_SIMT_SITE) {
  return int(::upsweep::simt::vote(::upsweep::simt::Collective::any, mask, predicate, site));
}
__forceinline__ unsigned __activemask(UPSWEEP_SIMT_SITE) { return ::upsweep::simt::active_mask(site); }

template <::upsweep::simt::Word T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::shuffle(::upsweep::simt::Collective::shuffle_index, mask, value, lane, width, site);
}
template <::upsweep::simt::Word T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::shuffle(::upsweep::simt::Collective::shuffle_up, mask, value, int(delta), width, site);
}
template <::upsweep::simt::Word T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::shuffle(::upsweep::simt::Collective::shuffle_down, mask, value, int(delta), width, site);
}
template <::upsweep::simt::Word T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::shuffle(::upsweep::simt::Collective::shuffle_xor, mask, value, lanes, width, site);
}
template <::upsweep::simt::Word T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value, UPSWEEP_SIMT_SITE) {
  const std::uint64_t bits = ::upsweep::simt::to_bits(value);
  return unsigned(::upsweep::simt::warp_collective(::upsweep::simt::Collective::match_any, mask, bits, 0, 32, site));
}
template <::upsweep::simt::Word T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* predicate, UPSWEEP_SIMT_SITE) {
  const std::uint64_t bits = ::upsweep::simt::to_bits(value);
  const auto same = ::upsweep::simt::warp_collective(::upsweep::simt::Collective::match_all, mask, bits, 0, 32, site);
  *predicate = same != 0;
  return unsigned(same);
}

template <::upsweep::simt::OneOf<int, unsigned> T>
__forceinline__ T __reduce_add_sync(unsigned mask, T value, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::reduce(::upsweep::simt::Collective::add, mask, value, site);
}
template <::upsweep::simt::OneOf<int, unsigned> T>
__forceinline__ T __reduce_min_sync(unsigned mask, T value, UPSWEEP_SIMT_SITE) {
  using enum ::upsweep::simt::Collective;
  return ::upsweep::simt::reduce(std::is_signed_v<T> ? min_signed : min_unsigned, mask, value, site);
}
template <::upsweep::simt::OneOf<int, unsigned> T>
__forceinline__ T __reduce_max_sync(unsigned mask, T value, UPSWEEP_SIMT_SITE) {
  using enum ::upsweep::simt::Collective;
  return ::upsweep::simt::reduce(std::is_signed_v<T> ? max_signed : max_unsigned, mask, value, site);
}
__forceinline__ unsigned __reduce_and_sync(unsigned mask, unsigned value, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::reduce(::upsweep::simt::Collective::bit_and, mask, value, site);
}
__forceinline__ unsigned __reduce_or_sync(unsigned mask, unsigned value, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::reduce(::upsweep::simt::Collective::bit_or, mask, value, site);
}
__forceinline__ unsigned __reduce_xor_sync(unsigned mask, unsigned value, UPSWEEP_SIMT_SITE) {
  return ::upsweep::simt::reduce(::upsweep::simt::Collective::bit_xor, mask, value, site);
}
#undef UPSWEEP_SIMT_SITE

// ---- atomics: see atomics.h -----------------------------------------------------------------------------------------
// The scoped forms differ in cost on the device, but not in effect here, because the emulator is coherent.
template <class T>
__forceinline__ T atomicAdd_block(T* at, std::type_identity_t<T> value) {
  return atomicAdd(at, value);
}
template <class T>
__forceinline__ T atomicAdd_system(T* at, std::type_identity_t<T> value) {
  return atomicAdd(at, value);
}

__forceinline__ void __threadfence() { ::upsweep::simt::device_fence(); }
__forceinline__ void __threadfence_block() {}  // one OS thread runs the whole block
__forceinline__ void __threadfence_system() { ::upsweep::simt::device_fence(); }
__forceinline__ void __nanosleep(unsigned) { ::upsweep::simt::yield_lane(); }
[[noreturn]] __forceinline__ void __trap() { ::upsweep::simt::trap("__trap()"); }

// ---- cache-hinted loads and stores: the hints have no effect here; the accesses are counted like any other ----------
template <class T>
__forceinline__ T __ldg(const T* at) {
  return *at;
}
template <class T>
__forceinline__ T __ldcs(const T* at) {
  return *at;
}
template <class T>
__forceinline__ T __ldca(const T* at) {
  return *at;
}
template <class T>
__forceinline__ T __ldlu(const T* at) {
  return *at;
}
// These two bypass the first-level cache, so polling loops use them.
template <class T>
__forceinline__ T __ldcg(const T* at) {
  ::upsweep::simt::note_poll();
  return *at;
}
template <class T>
__forceinline__ T __ldcv(const T* at) {
  ::upsweep::simt::note_poll();
  return *at;
}
template <class T>
__forceinline__ void __stwb(T* at, std::type_identity_t<T> value) {
  *at = value;
}
template <class T>
__forceinline__ void __stcg(T* at, std::type_identity_t<T> value) {
  *at = value;
}
template <class T>
__forceinline__ void __stcs(T* at, std::type_identity_t<T> value) {
  *at = value;
}
template <class T>
__forceinline__ void __stwt(T* at, std::type_identity_t<T> value) {
  *at = value;
}

// ---- integer and float intrinsics -----------------------------------------------------------------------------------
__forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }
__forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__forceinline__ int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
__forceinline__ int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
__forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__forceinline__ unsigned __brev(unsigned x) {
  x = ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
  x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
  x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31)) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31));
}
__forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((static_cast<unsigned long long>(a) * b) >> 32);
}
__forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}

__forceinline__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__forceinline__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__forceinline__ float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__forceinline__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__forceinline__ long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__forceinline__ double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

// _rn rounds to nearest even, the host's default mode; _rz truncates.
__forceinline__ float __double2float_rn(double x) { return static_cast<float>(x); }
__forceinline__ int __float2int_rn(float x) { return static_cast<int>(__builtin_rintf(x)); }
__forceinline__ int __float2int_rz(float x) { return static_cast<int>(x); }
__forceinline__ float __int2float_rn(int x) { return static_cast<float>(x); }
__forceinline__ float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
__forceinline__ double __ll2double_rn(long long x) { return static_cast<double>(x); }
__forceinline__ long long __double2ll_rn(double x) { return static_cast<long long>(__builtin_rint(x)); }
__forceinline__ float __fadd_rn(float a, float b) { return a + b; }
__forceinline__ float __fsub_rn(float a, float b) { return a - b; }
__forceinline__ float __fmul_rn(float a, float b) { return a * b; }
__forceinline__ float __fdiv_rn(float a, float b) { return a / b; }
__forceinline__ float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__forceinline__ double __dadd_rn(double a, double b) { return a + b; }
__forceinline__ double __dsub_rn(double a, double b) { return a - b; }
__forceinline__ double __dmul_rn(double a, double b) { return a * b; }
__forceinline__ double __ddiv_rn(double a, double b) { return a / b; }
__forceinline__ double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

// CUDA's min and max: integers in their common type, floats by fmin and fmax (which drop a NaN).
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> __forceinline__ constexpr auto min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::fmin(T(a), T(b)));
  else
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> __forceinline__ constexpr auto max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::fmax(T(a), T(b)));
  else
    return T(a) < T(b) ? T(b) : T(a);
}
