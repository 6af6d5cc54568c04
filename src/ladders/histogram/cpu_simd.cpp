// histogram/simd: one core; bins are computed in vectors and counted in up to four tables.
//
// Counters are incremented one by one, but vectors find the bins and detect samples that need little counting. A vector
// whose lanes are all in one bin is one addition. Once most samples belong to full saturating counters, a single test
// of four vectors finds whether any of their samples still counts (cpu_cores.h decides when). Byte samples are counted
// by value, and need no bins until the end.
//
// The loops are compiled once per instruction set; Highway chooses one at run time. They are in three translation
// units, which compile in parallel.
#include "ladders/histogram/cpu_simd.h"

#include "cpu/each.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/cpu_cores.h"

namespace upsweep::ladders::histogram {

RowLoops simd_loops(Type type, Binning binning) {
  if (size_of(type) == 8) return wide_loops(type, binning);
  return binning == Binning::even ? even_loops(type) : other_loops(type, binning);
}

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{
      .idea = "bins in vectors, four tables; a run is one addition, four vectors of full counters one test",
      .prediction = "one store per cycle, 3 G samples/s; equal neighbours count in different tables, without waiting",
      .guarantees = "counts are exact; u8 and u16 stop at their largest value",
      .limits = "any n, any counter; one core",
      .source = "Intel, Optimization Reference Manual, store forwarding; Polychroniou, Ross, Rethinking SIMD, 2015"};
  static constexpr bool takes_scratch = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return count_on_cores(a, 1);
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::histogram
