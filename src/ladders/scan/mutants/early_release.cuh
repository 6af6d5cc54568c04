// Wrong on purpose: scan/pipeline releases a slot when all but one of the warps that read it are done. The copy engine
// may overwrite data that the last warp still reads.
//
// Must be caught: a race in shared memory, as soon as the ring wraps.
#pragma once
#include "ladders/scan/13_pipeline.cuh"

namespace upsweep::ladders::scan {

struct OneReaderFewer : PipelineTiles {
  static constexpr unsigned consumers = PipelineTiles::consumers - 1;
};

struct early_release {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t ring_bytes = PipelineTiles::ring_bytes;
  static constexpr Story story{.idea = "a slot of the ring released before its last reader is done",
                               .prediction = "a shared race once the ring wraps, even if the value is right"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return pipeline::start<OneReaderFewer>(a);
  }
};

}  // namespace upsweep::ladders::scan
