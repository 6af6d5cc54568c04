// saxpy/from_host_pinned: the copies of from_host_pageable, but from and to pinned memory.
//
// Pinned pages never move, so the GPU's copy engines read and write them directly, without staging by the host.
//
// Traffic   two arrays to the device and one back; on the device as one_pack.
// Order     none.
// Source    NVIDIA CUDA Best Practices Guide, Pinned Memory, 2009.
#pragma once
#include "ladders/saxpy/07_from_host_pageable.cuh"

namespace upsweep::ladders::saxpy {

struct from_host_pinned {
  static constexpr MemoryKind arrays = MemoryKind::pinned;
  static constexpr Story story{.idea = "the same copies, from and to pinned memory",
                               .prediction = "two thirds of the link: the copy back waits for the copies to the device",
                               .guarantees = "rounded once",
                               .limits = "x and y must fit in device memory",
                               .source = "CUDA Best Practices Guide, Pinned Memory, 2009"};
  template <class T, class Op>
  static Status run(const Args<T>& a) {
    return from_host_pageable::run<T, Op>(a);
  }
};

}  // namespace upsweep::ladders::saxpy
