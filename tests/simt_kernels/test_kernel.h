// A test reaches a kernel through a rung of the same name. The Call carries the pointers, n as the count of in[0], and
// the launch in in[3].
#pragma once
#include "base/rung.h"
#include "kernel/kernel.h"
#include "test_launch.h"

namespace upsweep::test {

inline Shape shape_of(const Call& c) {
  const Launch& how = launch_of(c);
  return {.grid = dim3(how.grid, how.grid_y),
          .block = dim3(how.block, how.block_y),
          .shared_bytes = how.shared,
          .cluster = how.cluster,
          .overlap = how.overlap};
}

template <class T>
const T* in(const Call& c, int i = 0) {
  return c.in[static_cast<std::size_t>(i)].as<const T>();
}
template <class T>
T* out(const Call& c, int i = 0) {
  return c.out[static_cast<std::size_t>(i)].as<T>();
}
inline int number(const Call& c) { return launch_of(c).k; }

template <RunFn run>
constexpr Rung make_rung(std::string_view name) {
  return {.primitive = "test", .name = name, .backend = Backend::simt, .story = {}, .find = [](Type, Operation) {
            return run;
          }};
}

// The kernels of each unit; table.cpp concatenates them.
Rungs textbook_kernels();
Rungs mistake_kernels();
Rungs own_operator_kernels();
Rungs own_function_kernels();
Rungs own_predicate_kernels();
Rungs own_bucket_kernels();
Rungs ordered_scan_kernels();
Rungs column_end_kernels();
Rungs warp_reduction_kernels();
Rungs wide_select_kernels();

}  // namespace upsweep::test
