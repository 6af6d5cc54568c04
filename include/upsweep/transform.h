// saxpy: out[i] = a * x[i] + y[i]. The general transform, out[i] = f(in[i]...), is in upsweep/transform.cuh.
#pragma once
#include <type_traits>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"

namespace upsweep {

extern const Contract saxpy_contract;

// x and y must have equal sizes, and `out` at least as many elements. `out` may be x or y; otherwise it must overlap
// neither. Integers wrap; floats are rounded once (fused multiply-add) or twice, whichever is faster on the processor.
// Host arrays are copied to a GPU whole, or in chunks if x and y do not fit in its memory (rung from_host_pipelined,
// also the fastest for pinned arrays). For arrays, waiting and errors, see upsweep/view.h and invoke().
template <InputArray X, InputOf<input_element<X>> Y, OutputOf<input_element<X>> Out>
requires std::is_arithmetic_v<input_element<X>>
void saxpy(Device& device, std::type_identity_t<input_element<X>> a, const X& x, const Y& y, Out&& out,
           const Options& options = {}) {
  invoke(device, {.contract = &saxpy_contract, .in = {view(x), view(y)}, .out = {view(out)}, .scalars = {a}}, options);
}
// In place: y[i] = a * x[i] + y[i].
template <InputArray X, OutputOf<input_element<X>> Y>
requires std::is_arithmetic_v<input_element<X>>
void saxpy(Device& device, std::type_identity_t<input_element<X>> a, const X& x, Y&& y, const Options& options = {}) {
  saxpy(device, a, x, y, y, options);
}

}  // namespace upsweep
