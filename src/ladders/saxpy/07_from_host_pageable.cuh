// saxpy/from_host_pageable: copy in, compute, copy out, one step after another.
//
// Most programs process host data this way. The bus is a hundred times slower than device memory, and only one
// direction is in use at a time. The driver cannot copy from pageable memory directly, because the operating system may
// move the pages, so it stages every page in a pinned buffer. The choice of kernel hardly matters; one_pack runs on any
// GPU.
//
// Traffic   two arrays to the device and one back, each staged by one more copy in host memory; on the device as
//           one_pack.
// Order     none.
// Source    NVIDIA CUDA Best Practices Guide, Data Transfer Between Host and Device, 2009.
#pragma once
#include "kernel/host.h"
#include "ladders/saxpy/06_one_pack.cuh"

namespace upsweep::ladders::saxpy {

struct from_host_pageable {
  static constexpr MemoryKind arrays = MemoryKind::pageable;
  static constexpr bool synchronises = true;
  static constexpr Story story{
      .idea = "copy x and y to the device, compute, copy the result back",
      .prediction = "a quarter of the link: one direction at a time, and every byte copied twice",
      .guarantees = "rounded once",
      .limits = "x and y must fit in device memory; waits for the device",
      .source = "CUDA Best Practices Guide, Data Transfer, 2009"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    if (a.n == 0) return {};
    const std::size_t bytes = a.n * sizeof(T);
    Scratch scratch(*a.workspace);
    T* const x = scratch.take<T>(a.n);
    T* const y = scratch.take<T>(a.n);
    if (!scratch) return {Code::out_of_memory, 0, "no device memory for x and y"};
    if (Status s = copy_queued(x, a.x, bytes, a.stream); !s) return s;
    if (Status s = copy_queued(y, a.y, bytes, a.stream); !s) return s;
    if (Status s = one_pack::map(a.tuning, a.stream, y, a.n, a.f, x, y); !s) return s;
    return copy_queued(a.out, y, bytes, a.stream);
  }
};

}  // namespace upsweep::ladders::saxpy
