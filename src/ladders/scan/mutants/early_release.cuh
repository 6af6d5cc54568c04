// Wrong on purpose: scan/pipeline, whose slots are given back when all but one of the warps that read them are done.
// The copy engine may overwrite what the last one still reads.
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
  static constexpr Story story{.idea = "a slot of the ring given back before its last reader has read it",
                               .prediction = "a shared race once the ring wraps, whatever the value"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return pipeline::start<OneReaderFewer>(a);
  }
};

}  // namespace upsweep::ladders::scan
