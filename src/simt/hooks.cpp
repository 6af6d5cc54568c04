// Implements the compilers' instrumentation: the ThreadSanitizer and SanitizerCoverage functions that traced kernels
// call. The real runtimes are not linked, and these symbols are not exported.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "simt/control_flow.h"
#include "simt/entered_blocks.h"
#include "simt/worker.h"

namespace {

using namespace upsweep::simt;

// Traces an access of the running lane. Does nothing without one: launchers, the host code of the same units, are
// instrumented too.
void access(const void* address, std::size_t bytes, Access kind, const void* caller, const void* frame,
            bool strong = false) {
  Worker* worker = current_worker;
  if (worker && worker->lane) worker->tracer.access(address, static_cast<unsigned>(bytes), kind, strong, caller, frame);
}

// The fences that the memory order of an atomic access implies: before it, after it, or both.
void fence_before(int order) {
  if (current_worker && current_worker->lane && order >= __ATOMIC_RELEASE) current_worker->tracer.fence();
}
void fence_after(int order) {
  if (current_worker && current_worker->lane && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE)
    current_worker->tracer.fence();
}

// Returns the width in bytes, at most 16, at which nvcc would access a range: the largest power of two that divides
// `operands`, the bitwise OR of all addresses and the size. Each chunk of this width is traced as a separate access.
unsigned chunk_of(std::uintptr_t operands) {
  unsigned bytes = 16;
  while (bytes > 1 && operands % bytes) bytes /= 2;
  return bytes;
}
std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

void access_range(const void* address, std::size_t bytes, Access kind, const void* caller, const void* frame) {
  const unsigned chunk = chunk_of(number(address) | bytes);
  const auto* at = static_cast<const char*>(address);
  for (std::size_t i = 0; i < bytes; i += chunk) access(at + i, chunk, kind, caller, frame);
}

}  // namespace

// Macros, because they must be evaluated in the called function itself.
#define CALLER __builtin_return_address(0)
#define FRAME __builtin_frame_address(0)

extern "C" {

#define UPSWEEP_ACCESS_HOOKS(N)                                                                          \
  void __tsan_read##N(void* p) { access(p, N, Access::load, CALLER, FRAME); }                            \
  void __tsan_write##N(void* p) { access(p, N, Access::store, CALLER, FRAME); }                          \
  void __tsan_unaligned_read##N(void* p) { access(p, N, Access::load, CALLER, FRAME); }                  \
  void __tsan_unaligned_write##N(void* p) { access(p, N, Access::store, CALLER, FRAME); }                \
  void __tsan_volatile_read##N(void* p) { access(p, N, Access::load, CALLER, FRAME, true); }             \
  void __tsan_volatile_write##N(void* p) { access(p, N, Access::store, CALLER, FRAME, true); }           \
  void __tsan_unaligned_volatile_read##N(void* p) { access(p, N, Access::load, CALLER, FRAME, true); }   \
  void __tsan_unaligned_volatile_write##N(void* p) { access(p, N, Access::store, CALLER, FRAME, true); } \
  void __tsan_read_write##N(void* p) {                                                                   \
    access(p, N, Access::load, CALLER, FRAME);                                                           \
    access(p, N, Access::store, CALLER, FRAME);                                                          \
  }                                                                                                      \
  void __tsan_unaligned_read_write##N(void* p) {                                                         \
    access(p, N, Access::load, CALLER, FRAME);                                                           \
    access(p, N, Access::store, CALLER, FRAME);                                                          \
  }
UPSWEEP_ACCESS_HOOKS(1)
UPSWEEP_ACCESS_HOOKS(2)
UPSWEEP_ACCESS_HOOKS(4)
UPSWEEP_ACCESS_HOOKS(8)
UPSWEEP_ACCESS_HOOKS(16)

void __tsan_read_range(void* p, std::size_t n) { access_range(p, n, Access::load, CALLER, FRAME); }
void __tsan_write_range(void* p, std::size_t n) { access_range(p, n, Access::store, CALLER, FRAME); }

void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  const unsigned chunk = chunk_of(number(to) | number(from) | n);
  for (std::size_t i = 0; i < n; i += chunk) {
    access(static_cast<const char*>(from) + i, chunk, Access::load, CALLER, FRAME);
    access(static_cast<char*>(to) + i, chunk, Access::store, CALLER, FRAME);
  }
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  const unsigned chunk = chunk_of(number(to) | number(from) | n);
  for (std::size_t i = 0; i < n; i += chunk) {
    access(static_cast<const char*>(from) + i, chunk, Access::load, CALLER, FRAME);
    access(static_cast<char*>(to) + i, chunk, Access::store, CALLER, FRAME);
  }
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int byte, std::size_t n) {
  access_range(to, n, Access::store, CALLER, FRAME);
  return std::memset(to, byte, n);
}

// std::atomic and the __atomic built-ins, for kernels that use them instead of CUDA's atomics.
#define UPSWEEP_ATOMIC_HOOKS(N, T)                                                                               \
  T __tsan_atomic##N##_load(const volatile T* p, int order) {                                                    \
    access(const_cast<const T*>(p), sizeof(T), Access::load, CALLER, FRAME, true);                               \
    const T value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                        \
    fence_after(order);                                                                                          \
    return value;                                                                                                \
  }                                                                                                              \
  void __tsan_atomic##N##_store(volatile T* p, T v, int order) {                                                 \
    fence_before(order);                                                                                         \
    access(const_cast<T*>(p), sizeof(T), Access::store, CALLER, FRAME, true);                                    \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                    \
  }                                                                                                              \
  T __tsan_atomic##N##_exchange(volatile T* p, T v, int order) {                                                 \
    fence_before(order);                                                                                         \
    access(const_cast<T*>(p), sizeof(T), Access::atomic, CALLER, FRAME, true);                                   \
    const T before = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                \
    fence_after(order);                                                                                          \
    return before;                                                                                               \
  }                                                                                                              \
  T __tsan_atomic##N##_fetch_add(volatile T* p, T v, int order) {                                                \
    fence_before(order);                                                                                         \
    access(const_cast<T*>(p), sizeof(T), Access::atomic, CALLER, FRAME, true);                                   \
    const T before = __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                 \
    fence_after(order);                                                                                          \
    return before;                                                                                               \
  }                                                                                                              \
  int __tsan_atomic##N##_compare_exchange_strong(volatile T* p, T* expected, T v, int order, int) {              \
    fence_before(order);                                                                                         \
    access(const_cast<T*>(p), sizeof(T), Access::atomic, CALLER, FRAME, true);                                   \
    const bool swapped = __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    fence_after(order);                                                                                          \
    return swapped;                                                                                              \
  }
UPSWEEP_ATOMIC_HOOKS(8, std::uint8_t)
UPSWEEP_ATOMIC_HOOKS(16, std::uint16_t)
UPSWEEP_ATOMIC_HOOKS(32, std::uint32_t)
UPSWEEP_ATOMIC_HOOKS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { fence_before(__ATOMIC_SEQ_CST); }

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* begin, std::uint32_t* end) { number_guards(begin, end); }
void __sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end) {
  add_block_table(begin, end);
  record_entered_blocks(begin, end);
}
void __sanitizer_cov_cfs_init(const std::uintptr_t* begin, const std::uintptr_t* end) { add_flow_table(begin, end); }
void __sanitizer_cov_trace_pc_guard(std::uint32_t* guard) {
  enter_block(*guard);
  Worker* worker = current_worker;
  if (worker && worker->lane) worker->tracer.branch(*guard, CALLER, FRAME);
}
void __sanitizer_cov_trace_pc() {
  Worker* worker = current_worker;
  if (worker && worker->lane) worker->tracer.branch(0, CALLER, FRAME);
}

// Reports an index outside an array of known size. Must not return, because the compiler assumes that it does not.
void __ubsan_handle_out_of_bounds(void* data, void* index) {
  struct Location {
    const char* file;
    std::uint32_t line, column;
  };
  const auto* location = static_cast<const Location*>(data);
  const char* slash = std::strrchr(location->file, '/');
  const std::string text = "index " + std::to_string(static_cast<std::ptrdiff_t>(number(index))) + ", " +
                           (slash ? slash + 1 : location->file) + ":" + std::to_string(location->line);
  Worker* worker = current_worker;
  if (!worker || !worker->lane) {
    std::fprintf(stderr, "array index out of bounds in a launcher: %s\n", text.c_str());
    std::abort();
  }
  worker->report("array index out of bounds", location->line, worker->who() + ": " + text);
  worker->fail("array index out of bounds", worker->who() + ": " + text);
}
void __ubsan_handle_out_of_bounds_abort(void* data, void* index) { __ubsan_handle_out_of_bounds(data, index); }
}
