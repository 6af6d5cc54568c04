// Wrong on purpose: select/pipeline releases a slot when all but one of the warps that read it are done. The copy
// engine may overwrite data that the last warp is still reading.
//
// Must be caught: a race in shared memory, as soon as the ring wraps.
#pragma once
#include "ladders/select/06_pipeline.cuh"

namespace upsweep::ladders::select {

template <class T, class O>
struct OneReaderFewer : SelectShape<T, O> {
  using Base = SelectShape<T, O>;
  using Pipeline = WarpPipeline<PipelineShape{
      .stages = Base::stages, .consumers = Base::parts - 1, .ends = Base::groups, .records = Base::records}>;
};

struct early_release {
  static constexpr bool expected_wrong = true;
  static constexpr std::size_t ring_bytes = pipeline::ring_bytes;
  static constexpr Story story{.idea = "a slot of the ring released before its last reader is done",
                               .prediction = "a shared race once the ring wraps, even if the value is right"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) {
      return pipeline::start<OneReaderFewer<T, P>>(a, in, to);
    });
  }
};

}  // namespace upsweep::ladders::select
