// saxpy: out[i] = a * x[i] + y[i]. in[0] is x and in[1] is y, n elements each; out[0] is n elements of memory of its
// own, or y itself (in place), or x. Each array at any alignment of the element.
//
// Parameters of the contract: `a`, 2 unless given; `inplace`, 1 where out is y, which is for the lab to arrange: a rung
// sees it by out == y. Integers wrap. Floats are rounded once (a fused multiply-add) or twice (a product, then a sum),
// whichever the processor does faster.
#pragma once
#include "base/platform.h"
#include "base/typed_rung.h"

namespace upsweep::ladders::saxpy {

// The function that is applied: the kernels take any, of any number of inputs.
template <class T>
struct Axpy {
  T a;
  UPSWEEP_HD constexpr T operator()(T x, T y) const { return Sum{}(Product{}(a, x), y); }
};

// The parameter as the element's type. Integers take its whole part, modulo their width; what no i64 holds counts as 0.
template <class T>
constexpr T scalar(double a) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(a);
  else
    return static_cast<T>(a >= -0x1p63 && a < 0x1p63 ? static_cast<std::int64_t>(a) : 0);
}

inline constexpr double default_a = 2;

// The factor of a call: parameter `a`, and for 64-bit integers, of which a double holds only 53 bits, `a_low` more.
template <class T>
constexpr T factor(const Params& params) {
  return Sum{}(scalar<T>(params.get("a", default_a)), scalar<T>(params.get("a_low", 0)));
}
template <class T>
void set_factor(Params& params, T a) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const auto low = static_cast<std::uint32_t>(a);
    params.set("a_low", low);
    params.set("a", static_cast<double>(static_cast<std::int64_t>(a) - std::int64_t{low}));
  } else {
    params.set("a", static_cast<double>(a));
  }
}

template <class T>
struct Args {
  const T* x;  // [n]
  const T* y;  // [n]
  T* out;      // [n], may be y or x
  std::size_t n;
  Axpy<T> f;
  const Params& params;
  Workspace* workspace;
  Stream stream;
};

struct Contract {
  static constexpr std::string_view primitive = "saxpy";
  template <class T, class Op>
  static constexpr bool takes = std::is_same_v<Op, Sum>;  // operators mean nothing here
  template <class T, class Op>
  static Args<T> args(const Call& c) {
    return {static_cast<const T*>(c.in[0]),
            static_cast<const T*>(c.in[1]),
            static_cast<T*>(c.out[0]),
            c.n,
            {factor<T>(c.params)},
            c.params,
            c.workspace,
            c.stream};
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, Sum>(Args<T>).
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Contract, R>(name, backend);
}

}  // namespace upsweep::ladders::saxpy
