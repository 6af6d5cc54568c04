// CUDA's atomic functions, for exactly the types that CUDA supports. They are defined in the runtime, which is not
// instrumented, so that each is traced as one access. Overloads rather than templates, because the compilers of kernels
// and runtime may mangle constrained templates differently.
#pragma once

namespace upsweep::simt {
using u64 = unsigned long long;  // CUDA's 64-bit type, which is not std::uint64_t
}

// The functions that atomics.h declares and atomics.cpp defines: ATOMIC(name, type, new value from `old` and `value`).
#define UPSWEEP_SIMT_ATOMICS(ATOMIC)                                     \
  ATOMIC(atomicAdd, int, wrapping_add(old, value))                       \
  ATOMIC(atomicAdd, unsigned, old + value)                               \
  ATOMIC(atomicAdd, ::upsweep::simt::u64, old + value)                   \
  ATOMIC(atomicAdd, float, old + value)                                  \
  ATOMIC(atomicAdd, double, old + value)                                 \
  ATOMIC(atomicSub, int, wrapping_add(old, wrapping_negate(value)))      \
  ATOMIC(atomicSub, unsigned, old - value)                               \
  ATOMIC(atomicMin, int, std::min(old, value))                           \
  ATOMIC(atomicMin, unsigned, std::min(old, value))                      \
  ATOMIC(atomicMin, long long, std::min(old, value))                     \
  ATOMIC(atomicMin, ::upsweep::simt::u64, std::min(old, value))          \
  ATOMIC(atomicMax, int, std::max(old, value))                           \
  ATOMIC(atomicMax, unsigned, std::max(old, value))                      \
  ATOMIC(atomicMax, long long, std::max(old, value))                     \
  ATOMIC(atomicMax, ::upsweep::simt::u64, std::max(old, value))          \
  ATOMIC(atomicAnd, int, old& value)                                     \
  ATOMIC(atomicAnd, unsigned, old& value)                                \
  ATOMIC(atomicAnd, ::upsweep::simt::u64, old& value)                    \
  ATOMIC(atomicOr, int, old | value)                                     \
  ATOMIC(atomicOr, unsigned, old | value)                                \
  ATOMIC(atomicOr, ::upsweep::simt::u64, old | value)                    \
  ATOMIC(atomicXor, int, old ^ value)                                    \
  ATOMIC(atomicXor, unsigned, old ^ value)                               \
  ATOMIC(atomicXor, ::upsweep::simt::u64, old ^ value)                   \
  ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)                \
  ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1) \
  ATOMIC(atomicExch, int, value)                                         \
  ATOMIC(atomicExch, unsigned, value)                                    \
  ATOMIC(atomicExch, ::upsweep::simt::u64, value)                        \
  ATOMIC(atomicExch, float, value)

#define UPSWEEP_SIMT_DECLARE(name, T, after) T name(T* at, T value);
UPSWEEP_SIMT_ATOMICS(UPSWEEP_SIMT_DECLARE)
#undef UPSWEEP_SIMT_DECLARE

int atomicCAS(int* at, int expected, int value);
unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value);
unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short value);
upsweep::simt::u64 atomicCAS(upsweep::simt::u64* at, upsweep::simt::u64 expected, upsweep::simt::u64 value);
