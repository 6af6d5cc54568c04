// saxpy/from_host_pipelined: chunk by chunk, so that copies in both directions overlap with the kernel.
//
// While one chunk of x and y is copied to the device, the kernel processes the previous chunk, and the result of the
// chunk before that is copied back. The steps of a chunk are queued on one stream; chunks are assigned to streams
// round-robin. The device holds only one chunk per stream, so arrays may be larger than device memory.
//
// Traffic   as from_host_pinned; the copies back overlap with the copies to the device.
// Order     none.
// Source    Harris, How to Overlap Data Transfers in CUDA C/C++, 2012.
#pragma once
#include "base/threshold.h"
#include "kernel/host.h"
#include "ladders/saxpy/06_one_pack.cuh"

namespace upsweep::ladders::saxpy {

// Bytes of each array per chunk: 8 MiB take 150 us at 55 GB/s, against a few microseconds to start a copy or the
// kernel. Two streams keep both directions of the link busy; a third hides the gaps between copies. On an H200, chunks
// of this size on three streams reach 0.93 of the link ceiling; no other values have been measured.
inline constinit Threshold chunk_bytes{"chunk_bytes", 8 << 20, 4096, {.min = 8}};

struct from_host_pipelined {
  static constexpr MemoryKind arrays = MemoryKind::pinned;
  static constexpr Story story{.idea = "chunks on several streams: copies in both directions overlap with the kernel",
                               .prediction = "the full link speed, except for the first copy in and the last one out",
                               .guarantees = "rounded once",
                               .limits = "any n; params: chunk (elements), streams",
                               .source = "Harris, Overlap Data Transfers, 2012"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr Threshold* thresholds[] = {&chunk_bytes};
  static constexpr unsigned default_streams = 3;

  template <class T, class>
  static Status run(const Args<T>& a) {
    const std::size_t chunk = a.tuning.chunk.value_or(chunk_bytes / sizeof(T));
    const unsigned streams = a.tuning.streams.value_or(default_streams);
    if (streams > Fork::most) return {Code::invalid_argument, 0, "from_host_pipelined takes 1 to 8 streams"};
    if (a.n == 0) return {};

    const std::size_t room = padded<T>(std::min(chunk, a.n));  // elements
    Scratch scratch(*a.workspace);
    T* const memory = scratch.take<T>(2 * streams * room);
    if (!scratch) return {Code::out_of_memory, 0, "no device memory for a chunk of x and y per stream"};
    Fork fork(a.stream, streams);
    unsigned slot = 0;
    for (std::size_t at = 0; at < a.n; at += chunk, slot = (slot + 1) % streams) {
      const std::size_t n = std::min(chunk, a.n - at), bytes = n * sizeof(T);
      const Stream stream = fork[slot];
      T* const x = memory + 2 * slot * room;
      T* const y = x + room;
      if (Status s = copy_queued(x, a.x + at, bytes, stream); !s) return s;
      if (Status s = copy_queued(y, a.y + at, bytes, stream); !s) return s;
      if (Status s = one_pack::map(a.tuning, stream, y, n, a.f, x, y); !s) return s;
      if (Status s = copy_queued(a.out + at, y, bytes, stream); !s) return s;
    }
    return fork.join();
  }
};

}  // namespace upsweep::ladders::saxpy
