// saxpy/from_host_pageable: from host memory and back, one step after the other.
//
// Most programs do this with data that is not on the device: copy x and y there, compute, copy the result back. The bus
// is a hundred times slower than the device's memory, only one direction is in use at a time, and pageable memory may
// move, so the driver first copies each page into its own pinned memory. The kernel hardly matters: one_pack, which any
// GPU runs.
//
// Traffic   two arrays to the device and one back, each twice through the host's memory; on the device as one_pack.
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
      .limits = "x and y fit in the device's memory; waits for the device",
      .source = "CUDA Best Practices Guide, Data Transfer, 2009"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    if (a.n == 0) return {};
    const std::size_t bytes = a.n * sizeof(T);
    T* const x = static_cast<T*>(a.workspace->scratch(2 * padded<T>(a.n) * sizeof(T)));
    if (!x) return {Code::out_of_memory, 0, "no device memory for x and y"};
    T* const y = x + padded<T>(a.n);
    if (Status s = copy_queued(x, a.x, bytes, a.stream); !s) return s;
    if (Status s = copy_queued(y, a.y, bytes, a.stream); !s) return s;
    if (Status s = one_pack::map(a.tuning, a.stream, y, a.n, a.f, x, y); !s) return s;
    return copy_queued(a.out, y, bytes, a.stream);
  }
};

}  // namespace upsweep::ladders::saxpy
