// Scans: out[i] = in[0] op ... op in[i-1] (exclusive) or with in[i] (inclusive); and segmented scans, which restart at
// every segment. The first element of an exclusive scan, or of its segment, is 0 for sums, and the largest (lowest)
// value of the type for minima (maxima).
//
// `out` has at least as many elements as `in`, and is either the same memory or does not overlap it. Operators: sum,
// min, max. Integer sums wrap; the last bits of float sums depend on the rung and the device, unless the rung is
// "reproducible". A float sum of one or more elements that is zero is -0 if all of them are -0, otherwise +0; so the
// exclusive scan of {-0, -0} is {+0, -0}. For arrays, waiting and errors see upsweep/view.h and invoke(); the rung
// host_totals always waits.
#pragma once
#include <cstdint>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/scan.h"

namespace upsweep {

extern const Contract scan_contract, segmented_scan_contract;

template <InputArray In, OutputOf<input_element<In>> Out>
void exclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  invoke(device,
         {.contract = &scan_contract,
          .operation = op,
          .in = {view(in)},
          .out = {view(out)},
          .scalars = scan_scalars.scalars({.inclusive = false})},
         options);
}
template <InputArray In, OutputOf<input_element<In>> Out>
void inclusive_scan(Device& device, const In& in, Out&& out, Op op = Op::sum, const Options& options = {}) {
  invoke(device,
         {.contract = &scan_contract,
          .operation = op,
          .in = {view(in)},
          .out = {view(out)},
          .scalars = scan_scalars.scalars({.inclusive = true})},
         options);
}

// ---- segmented ------------------------------------------------------------------------------------------------------

namespace detail {
template <class A>
concept HeadArray = InputOf<A, std::uint8_t> || InputOf<A, std::uint64_t>;
template <HeadArray A>
inline constexpr HeadKind kind_of = InputOf<A, std::uint8_t> ? HeadKind::flags : HeadKind::offsets;

inline void segmented_scan(Device& device, bool inclusive, const AnyView& in, const AnyView& heads, HeadKind kind,
                           const AnyView& out, Op op, const Options& options) {
  invoke(device,
         {.contract = &segmented_scan_contract,
          .operation = op,
          .in = {in, heads},
          .out = {out},
          .scalars = segmented_scan_scalars.scalars({inclusive, kind})},
         options);
}
}  // namespace detail

// Scans each segment separately. The element type of `heads` says how segments are given: std::uint8_t are flags, at
// least one per element of `in`, nonzero where a segment begins; std::uint64_t are ascending offsets: segment k is
// in[heads[k]] up to but not including in[heads[k + 1]], and an offset of n begins nothing, so the row offsets of a
// sparse matrix will do. Element 0 always begins a segment. Offsets that descend or exceed n are a mistake: in host
// memory they are refused (invalid_argument); in a GPU's, where they are not looked at, the output is then unspecified.
// options.rung is a rung of the ladder segmented_scan.
template <InputArray In, detail::HeadArray Heads, OutputOf<input_element<In>> Out>
void segmented_exclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, false, view(in), view(heads), detail::kind_of<Heads>, view(out), op, options);
}
template <InputArray In, detail::HeadArray Heads, OutputOf<input_element<In>> Out>
void segmented_inclusive_scan(Device& device, const In& in, const Heads& heads, Out&& out, Op op = Op::sum,
                              const Options& options = {}) {
  detail::segmented_scan(device, true, view(in), view(heads), detail::kind_of<Heads>, view(out), op, options);
}

// The same with segments given by keys: neighbours of equal key form a segment. At least one key per element.
template <InputArray In, InputOf<std::uint32_t> Keys, OutputOf<input_element<In>> Out>
void exclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, false, view(in), view(keys), HeadKind::keys, view(out), op, options);
}
template <InputArray In, InputOf<std::uint32_t> Keys, OutputOf<input_element<In>> Out>
void inclusive_scan_by_key(Device& device, const Keys& keys, const In& in, Out&& out, Op op = Op::sum,
                           const Options& options = {}) {
  detail::segmented_scan(device, true, view(in), view(keys), HeadKind::keys, view(out), op, options);
}

}  // namespace upsweep
