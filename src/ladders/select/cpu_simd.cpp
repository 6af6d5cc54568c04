// select/simd: one core; compresses a vector's selected elements in the register and stores only those.
//
// Idea      compare a vector, compress it by the mask, store popcount(mask) lanes. No branch depends on the data.
//           Positions are computed for 64 elements at a time: a word of mask bits compresses the bytes 0 to 63, which
//           are then widened in groups of 16 while any are left. That takes one compress per 64 elements instead of per
//           16. Neighbours are shifted in from adjacent vectors, because every load offset by one lane would cross a
//           cache line: marking i32 in cache, 26 G elements/s shifted, 17 loaded.
// Traffic   n read, selected elements written; partition_if reads n twice, because the rest begins where the selected
//           elements end.
// Order     the input's.
// Source    Polychroniou, Raghavan, Ross, Rethinking SIMD Vectorization for In-Memory Databases, 2015 (selective
//           stores).
//
// Compiled once per instruction set; Highway selects one at run time. Three units compile in parallel: this one
// selects by value or flag, cpu_simd_partition.cpp also moves the other elements, cpu_simd_runs.cpp compares
// neighbours.
#include "cpu/skipped_targets.h"
#define HWY_WANT_AVX3_DL  // compresses bytes and 16-bit words in one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/select/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS_OF_COMPRESSION
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ladders/select/cpu_select-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::select::HWY_NAMESPACE {
PartLoops find_selecting(Type type, Selection selection) {
  if (selection == Selection::nonzero) return loops_of<Selection::nonzero>(type);
  if (selection == Selection::select_if) return loops_of<Selection::select_if>(type);
  return loops_of<Selection::select_flagged>(type);
}
}  // namespace upsweep::ladders::select::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::select {

HWY_EXPORT(find_selecting);
PartLoops simd_loops(Type type, Selection selection) {
  switch (selection) {
    case Selection::nonzero:
    case Selection::select_if:
    case Selection::select_flagged:
      return HWY_DYNAMIC_DISPATCH(find_selecting)(type, selection);
    case Selection::partition_if:
      return partition_loops(type);
    default:
      return run_loops(type, selection);
  }
}

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{.idea = "compare, compress in the register, store only the selected lanes",
                               .prediction = "16 elements in 5 cycles in cache, however many are selected",
                               .limits = "any n",
                               .source = "Polychroniou, Raghavan, Ross, Rethinking SIMD Vectorization, 2015"};

  static Status run(const Call& c) {
    select_on_one_core(c);
    return {};
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::select
#endif  // HWY_ONCE
