// How a test reaches a kernel: as a rung named like it, whose Call carries pointers, n, and the launch in "grid",
// "grid_y", "block", "block_y", "shared", "cluster" and "k", the kernel's one free number.
#pragma once
#include "base/rung.h"
#include "kernel/kernel.h"

namespace upsweep::test {

inline Shape shape_of(const Call& c) {
  const auto get = [&](const char* name, double otherwise) {
    return static_cast<unsigned>(c.params.get(name, otherwise));
  };
  return {.grid = dim3(get("grid", 1), get("grid_y", 1)),
          .block = dim3(get("block", 32), get("block_y", 1)),
          .shared_bytes = get("shared", 0),
          .cluster = get("cluster", 1)};
}

template <class T>
const T* in(const Call& c, int i = 0) {
  return static_cast<const T*>(c.in[static_cast<std::size_t>(i)]);
}
template <class T>
T* out(const Call& c, int i = 0) {
  return static_cast<T*>(c.out[static_cast<std::size_t>(i)]);
}
inline int number(const Call& c) { return static_cast<int>(c.params.get("k", 0)); }

template <RunFn run>
constexpr Rung make_rung(std::string_view name) {
  return {.primitive = "test", .name = name, .backend = Backend::simt, .story = {}, .find = [](Type, Op) -> RunFn {
            return run;
          }};
}

// The kernels of each unit, for the table.
Rungs textbook_kernels();
Rungs mistake_kernels();
Rungs own_operator_kernels();
Rungs own_function_kernels();
Rungs own_predicate_kernels();
Rungs ordered_scan_kernels();

}  // namespace upsweep::test
