#include "simt/atomics.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "simt/worker.h"

namespace {

// Atomically replaces *at by f(*at) and returns the old value. Sequentially consistent, which is stronger than CUDA's
// relaxed atomics: an algorithm that lacks a fence still gives the right result, but global_checks.h reports the
// missing fence.
template <class T, class F>
T update(T* at, F f) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto* const bits = reinterpret_cast<Bits*>(at);
  Bits seen = __atomic_load_n(bits, __ATOMIC_SEQ_CST);
  for (;;) {
    const T before = __builtin_bit_cast(T, seen);
    const auto after = __builtin_bit_cast(Bits, static_cast<T>(f(before)));
    if (__atomic_compare_exchange_n(bits, &seen, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return before;
  }
}

template <class T>
T compare_and_swap(T* at, T expected, T value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

int wrapping_add(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
int wrapping_negate(int a) { return static_cast<int>(0u - static_cast<unsigned>(a)); }

// Called before every atomic: traces it, and counts it as a poll, because polling loops use atomics.
void before_atomic([[maybe_unused]] void* at, [[maybe_unused]] unsigned bytes, [[maybe_unused]] const void* caller,
                   [[maybe_unused]] const void* frame) {
  using upsweep::simt::current_worker;
  current_worker->note_poll();
#if UPSWEEP_SIMT_TRACED
  current_worker->tracer.access(at, bytes, upsweep::simt::Access::atomic, true, caller, frame);
#endif
}

}  // namespace

// A macro, because only the called function itself knows its return address and frame.
#define UPSWEEP_SIMT_BEFORE(at) before_atomic(at, sizeof *(at), __builtin_return_address(0), __builtin_frame_address(0))

#define UPSWEEP_SIMT_DEFINE(name, T, after)                           \
  T name(T* at, [[maybe_unused]] T value) {                           \
    UPSWEEP_SIMT_BEFORE(at);                                          \
    return update(at, [&]([[maybe_unused]] T old) { return after; }); \
  }
UPSWEEP_SIMT_ATOMICS(UPSWEEP_SIMT_DEFINE)
#undef UPSWEEP_SIMT_DEFINE

int atomicCAS(int* at, int expected, int value) {
  UPSWEEP_SIMT_BEFORE(at);
  return compare_and_swap(at, expected, value);
}
unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
  UPSWEEP_SIMT_BEFORE(at);
  return compare_and_swap(at, expected, value);
}
unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short value) {
  UPSWEEP_SIMT_BEFORE(at);
  return compare_and_swap(at, expected, value);
}
upsweep::simt::u64 atomicCAS(upsweep::simt::u64* at, upsweep::simt::u64 expected, upsweep::simt::u64 value) {
  UPSWEEP_SIMT_BEFORE(at);
  return compare_and_swap(at, expected, value);
}
