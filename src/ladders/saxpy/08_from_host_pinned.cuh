// saxpy/from_host_pinned: the same with pinned memory, whose pages do not move.
//
// Only the memory changes: the device's copy engines read and write pinned pages directly, without an intermediate copy
// by the host.
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
                               .limits = "x and y fit in the device's memory",
                               .source = "CUDA Best Practices Guide, Pinned Memory, 2009"};
  template <class T, class Op>
  static Status run(const Args<T>& a) {
    return from_host_pageable::run<T, Op>(a);
  }
};

}  // namespace upsweep::ladders::saxpy
