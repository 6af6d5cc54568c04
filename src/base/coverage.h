// The types and operations for which the emulators compile each rung.
//
// For a GPU or a CPU, a rung is compiled for everything that its primitive supports. For the emulators, it is compiled
// only for the types in its Coverage, because a kernel's behaviour hardly depends on the type; find() returns null for
// the other types.
//
//             plain                                       traced
//   kinds     i32 and f32 with every operation            i32 with every operation, f32 with typical ones
//   widths    also all other types, with typical ones     also u8, i16 and f64, with typical ones: each width once
//
// A primitive of keys, which takes neither i32 nor f32, is compiled for u32 and u64 instead; a primitive of f32 alone,
// for f32.
//
// The binding of a ladder lists its operations and marks the typical ones; if a primitive has only one operation, it is
// typical. -DUPSWEEP_SIMT_EVERY_TYPE=ON compiles everything, which takes several times as long.
//
// -DUPSWEEP_GPU_ONE_TYPE=ON compiles GPU kernels only for the first of these types, usually i32, with every operation.
// That takes a tenth of the time, and checks that the kernels compile for an architecture.
#pragma once
#include "base/implementation.h"
#include "base/listed_operation.h"
#include "upsweep/types.h"

namespace upsweep {

namespace detail {

// Only the emulators' kernels define UPSWEEP_SIMT_TRACED: 0 for the plain emulator, 1 for the traced one.
#if defined(UPSWEEP_SIMT_TRACED) && !defined(UPSWEEP_SIMT_EVERY_TYPE)
inline constexpr bool restricted = true, traced = UPSWEEP_SIMT_TRACED;
#else
inline constexpr bool restricted = false, traced = false;
#endif
#if defined(UPSWEEP_GPU_ONE_TYPE) && defined(__CUDACC__)
inline constexpr bool one_type = true;
#else
inline constexpr bool one_type = false;
#endif

}  // namespace detail

template <class R>
constexpr Coverage coverage_of() {
  if constexpr (requires { R::coverage; })
    return R::coverage;
  else
    return Coverage::kinds;
}

// True if rung R of the primitive with this Binding is compiled here for type T and operation O.
template <class Binding, class R, class T, class O>
constexpr bool covers() {
  constexpr Type type = type_of<T>();
  constexpr bool traced = detail::traced, all = Binding::template takes<std::int32_t, O>;
  constexpr bool keys = !all && Binding::template takes<std::uint32_t, O>;
  constexpr Type first = all ? Type::i32 : keys ? Type::u32 : Type::f32, second = keys ? Type::u64 : Type::f32;
  if (detail::one_type) return type == first;
  if (!detail::restricted || type == first || (type == second && !traced)) return true;
  if (!is_typical<Binding, O>()) return false;
  if (type == second) return true;
  return coverage_of<R>() == Coverage::widths &&
         (!traced || type == Type::u8 || type == Type::i16 || type == Type::f64);
}

}  // namespace upsweep
