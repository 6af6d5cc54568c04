// For rungs that leave some calls to another rung of their ladder.
#pragma once
#include "upsweep/status.h"

namespace upsweep {

struct Rung;

// Runs another rung with these arguments: run_rung<wave, kernel_wave_rung>(a), after `struct wave; extern const Rung
// kernel_wave_rung;`. Its kernels are then compiled in its own unit alone; but if its file is included, here as well,
// which lets a program run rungs on types of its own. `rung` is auto, because Rung is complete where Rungs are made,
// not here.
template <class Other, const auto& rung, template <class, class> class Args, class T, class O>
Status run_rung(const Args<T, O>& a) {
  if constexpr (requires { Other::template run<T, O>(a); })
    return Other::template run<T, O>(a);
  else
    return rung.template run<T, O>(&a);
}

// The same for a ladder whose arguments have no types: run_rung<other, kernel_other_rung, T, O>(a).
template <class Other, const auto& rung, class T, class O, class Args>
Status run_rung(const Args& a) {
  if constexpr (requires { Other::template run<T, O>(a); })
    return Other::template run<T, O>(a);
  else
    return rung.template run<T, O>(&a);
}

}  // namespace upsweep
