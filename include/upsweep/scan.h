// Scans: out[i] = in[0] op ... op in[i-1] (exclusive) or in[0] op ... op in[i] (inclusive). Segmented scans restart at
// every segment. The first element of an exclusive scan, or of each of its segments, is 0 for sums, 1 for products, and
// the largest (lowest) value of the type for minima (maxima).
//
// An initial value, passed after the output as in std::exclusive_scan, precedes in[0], or the first element of every
// segment: out[0] is the initial value (exclusive) or initial op in[0] (inclusive).
//
// Sums may be wider than their elements, so that they do not wrap or round at the elements' width: u8 as u32 or u64,
// u32 as u64, i32 as i64, f32 as f64, f16 and bf16 as f32. The output's element type selects this; it is also the type
// of every addition and of the initial value. Sums of f16 and bf16, which have no other scans, are always computed in
// float. Products, minima and maxima have the type of their elements.
//
//   upsweep::exclusive_scan(gpu, counts, offsets);             // std::uint32_t counts, std::uint64_t row offsets
//   upsweep::inclusive_scan(gpu, in, out, 100, upsweep::Op::max);
//
// `out` must have at least as many elements as `in`. It may be the same array as `in` if the types are equal; otherwise
// it must not overlap `in`. Operators: sum, min and max; product only for types of 4 or 8 bytes, and not in segmented
// scans. Integer sums and products wrap. The last bits of float sums and products depend on the rung and the device,
// and so does whether a partial product overflows or vanishes; except for the rung "reproducible", which takes sums and
// adds the initial value last, on the left. A zero float sum of one or more elements is -0 if all of them and the
// initial value are -0, otherwise +0; without an initial value, the exclusive scan of {-0, -0} is therefore {+0, -0}.
// Rungs other than the default may refuse products, an initial value or a wider output (unsupported). For arrays,
// waiting and errors, see upsweep/view.h and invoke(); the rung host_totals always waits.
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/scan.h"

namespace upsweep {

extern const Contract scan_contract, segmented_scan_contract;

namespace detail {
inline void scan(Device& device, const AnyView& in, const AnyView& out, Op op, const Scanning& how,
                 const Options& options) {
  invoke(device,
         {.contract = &scan_contract, .operation = op, .in = {in}, .out = {out}, .scalars = scan_scalars.scalars(how)},
         options);
}
}  // namespace detail

template <InputArray In, SumOutputOf<input_element<In>> Out>
void exclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  detail::scan(device, view(in), view(out), op, {.inclusive = false}, options);
}
template <InputArray In, SumOutputOf<input_element<In>> Out>
void exclusive_scan(Device& device, const In& in, Out&& out, std::type_identity_t<element_of<Out>> initial,
                    Op op = Op::sum, const Options& options = {}) {
  detail::scan(device, view(in), view(out), op, {.inclusive = false, .initial = initial}, options);
}
template <InputArray In, SumOutputOf<input_element<In>> Out>
void inclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  detail::scan(device, view(in), view(out), op, {.inclusive = true}, options);
}
template <InputArray In, SumOutputOf<input_element<In>> Out>
void inclusive_scan(Device& device, const In& in, Out&& out, std::type_identity_t<element_of<Out>> initial,
                    Op op = Op::sum, const Options& options = {}) {
  detail::scan(device, view(in), view(out), op, {.inclusive = true, .initial = initial}, options);
}

// ---- segmented ------------------------------------------------------------------------------------------------------

namespace detail {
template <class A>
concept HeadArray = InputOf<A, std::uint8_t> || InputOf<A, std::uint64_t>;
template <HeadArray A>
inline constexpr HeadKind kind_of = InputOf<A, std::uint8_t> ? HeadKind::flags : HeadKind::offsets;

inline void segmented_scan(Device& device, const AnyView& in, const AnyView& heads, const AnyView& out, Op op,
                           const SegmentedScanning& how, const Options& options) {
  invoke(device,
         {.contract = &segmented_scan_contract,
          .operation = op,
          .in = {in, heads},
          .out = {out},
          .scalars = segmented_scan_scalars.scalars(how)},
         options);
}
}  // namespace detail

// Scans each segment separately. The element type of `heads` selects the encoding. std::uint8_t: flags, at least one
// per element of `in`, nonzero at the start of a segment. std::uint64_t: ascending offsets; segment k is in[heads[k]]
// up to but not including in[heads[k + 1]]. An offset of n starts no segment, so the row offsets of a sparse matrix can
// be passed unchanged. Element 0 always starts a segment. Offsets that descend or exceed n throw
// Error(invalid_argument) if they are in host memory; in GPU memory they are not validated, and the output is
// unspecified. options.rung names a rung of the ladder segmented_scan.
template <InputArray In, detail::HeadArray Heads, SumOutputOf<input_element<In>> Out>
void segmented_exclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(heads), view(out), op,
                         {.inclusive = false, .heads = detail::kind_of<Heads>}, options);
}
template <InputArray In, detail::HeadArray Heads, SumOutputOf<input_element<In>> Out>
void segmented_exclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out,
                              std::type_identity_t<element_of<Out>> initial, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(heads), view(out), op,
                         {.inclusive = false, .heads = detail::kind_of<Heads>, .initial = initial}, options);
}
template <InputArray In, detail::HeadArray Heads, SumOutputOf<input_element<In>> Out>
void segmented_inclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(heads), view(out), op,
                         {.inclusive = true, .heads = detail::kind_of<Heads>}, options);
}
template <InputArray In, detail::HeadArray Heads, SumOutputOf<input_element<In>> Out>
void segmented_inclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out,
                              std::type_identity_t<element_of<Out>> initial, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(heads), view(out), op,
                         {.inclusive = true, .heads = detail::kind_of<Heads>, .initial = initial}, options);
}

// As the segmented scans above, with a segment per run of equal keys. `keys` must have at least one key per element.
template <InputArray In, InputOf<std::uint32_t> Keys, SumOutputOf<input_element<In>> Out>
void exclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(keys), view(out), op, {.inclusive = false, .heads = HeadKind::keys},
                         options);
}
template <InputArray In, InputOf<std::uint32_t> Keys, SumOutputOf<input_element<In>> Out>
void exclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out,
                           std::type_identity_t<element_of<Out>> initial, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(keys), view(out), op,
                         {.inclusive = false, .heads = HeadKind::keys, .initial = initial}, options);
}
template <InputArray In, InputOf<std::uint32_t> Keys, SumOutputOf<input_element<In>> Out>
void inclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(keys), view(out), op, {.inclusive = true, .heads = HeadKind::keys},
                         options);
}
template <InputArray In, InputOf<std::uint32_t> Keys, SumOutputOf<input_element<In>> Out>
void inclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out,
                           std::type_identity_t<element_of<Out>> initial, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, view(in), view(keys), view(out), op,
                         {.inclusive = true, .heads = HeadKind::keys, .initial = initial}, options);
}

}  // namespace upsweep
