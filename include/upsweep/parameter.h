// The scalars of a primitive, described once: the struct that a caller fills in, and a table of its members with their
// names, bounds and meanings. Contracts, bindings and the public functions all read this table.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "upsweep/scalar.h"

namespace upsweep {

// A scalar argument, or a number that shapes a benchmark's input. An `element` has the main input's type, a `result`
// the first output's; a `choice` is an enumerator, given by name.
struct Parameter {
  enum class Kind : std::uint8_t { element, result, integer, real, flag, choice };
  std::string_view name;
  Kind kind = Kind::integer;
  std::string_view meaning{};  // one line, without the default
  std::span<const std::string_view> choices{};
  double least = 0, most = std::numeric_limits<double>::infinity();  // bounds of an integer or a real
  // The default. For an `element` it is a double, truncated for integer types. Empty if initial_for computes it, and
  // for a `result`, which is optional.
  Scalar initial{};
  // Computes a default that depends on the main input's type or on the scalars before this one.
  Scalar (*initial_for)(Type element, std::span<const Scalar> before) = nullptr;
  std::string_view initial_in_words{};  // describes a default that initial_for or the input determines
};

// Converts between a member of S and a scalar of a call.
template <class S>
struct Member {
  Parameter parameter;
  Scalar (*get)(const S&);
  void (*set)(S&, const Scalar&);
};

namespace detail {
template <class>
struct MemberOf;
template <class S, class T>
struct MemberOf<T S::*> {
  using Struct = S;
  using Value = T;
};
// The type that represents a member in a Scalar.
template <class T>
struct StoredScalar {
  using type = std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t, T>;
};
template <class T>
struct StoredScalar<std::optional<T>> : StoredScalar<T> {};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
}  // namespace detail

// Describes one member of a struct of scalars. The member's type determines the parameter's kind, its initialiser the
// default. An empty std::optional takes the default from parameter.initial_for. A member of type Scalar is a `result`,
// and stays empty if a call omits it.
template <auto member>
constexpr auto scalar(Parameter parameter) {
  using S = typename detail::MemberOf<decltype(member)>::Struct;
  using T = typename detail::MemberOf<decltype(member)>::Value;
  using Stored = typename detail::StoredScalar<T>::type;
  using Kind = Parameter::Kind;
  parameter.kind = std::is_same_v<Stored, Scalar>   ? Kind::result
                   : std::is_same_v<Stored, bool>   ? Kind::flag
                   : std::is_enum_v<Stored>         ? Kind::choice
                   : std::is_same_v<Stored, double> ? Kind::real
                                                    : Kind::integer;
  const auto get = [](const S& from) -> Scalar {
    if constexpr (detail::is_optional<T>)
      return from.*member ? Scalar(Stored{*(from.*member)}) : Scalar();
    else
      return Stored{from.*member};
  };
  parameter.initial = get(S{});
  const auto set = [](S& to, const Scalar& from) {
    if constexpr (std::is_same_v<T, Scalar>)
      to.*member = from;
    else if constexpr (detail::is_optional<T>)
      to.*member = from.template as<Stored>();
    else
      to.*member = static_cast<T>(from.template as<Stored>());
  };
  return Member<S>{parameter, get, set};
}

// Converts between S and the scalars of a call, in the contract's order.
template <class S, std::size_t n>
struct ScalarTable {
  std::array<Parameter, n> parameters;
  std::array<Member<S>, n> members;

  template <class... M>
  constexpr ScalarTable(const Member<S>& first, const M&... more)
      : parameters{first.parameter, more.parameter...}, members{first, more...} {}

  constexpr Scalars scalars(const S& from) const {
    Scalars all;
    for (std::size_t k = 0; k < n; ++k) all[k] = members[k].get(from);
    return all;
  }
  // The inverse of scalars(); members whose scalar is empty keep their defaults.
  constexpr S read(const Scalars& all) const {
    S to{};
    for (std::size_t k = 0; k < n; ++k)
      if (all[k]) members[k].set(to, all[k]);
    return to;
  }
};
template <class S, class... M>
ScalarTable(const Member<S>&, const M&...) -> ScalarTable<S, 1 + sizeof...(M)>;

}  // namespace upsweep
