#include "ladders/select/lab/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "lab/oracle.h"
#include "ladders/select/binding.h"

namespace upsweep::ladders::select {
namespace {

// Calls f(Args<T, O>) with the arguments that a rung would get.
auto visit_args(const Call& c, auto&& f) {
  return upsweep::visit(c.type(), [&]<class T>(TypeTag<T>) {
    return Binding::visit(c.operation, [&]<class O>(O) { return f(Binding::args<T, O>(c)); });
  });
}

// ---- the condition, from the contract, independent of Input::selects() ----

// Maps floats to integers of the same order, and both zeros to 0. Not for NaN.
template <class T>
auto ordered(T x) {
  if constexpr (!std::is_floating_point_v<T>) {
    return x;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const auto magnitude = std::bit_cast<Bits>(std::fabs(x));
    return std::signbit(x) ? -magnitude : magnitude;
  }
}
template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}
template <class T>
bool equal(T a, T b) {
  return !is_nan(a) && !is_nan(b) && ordered(a) == ordered(b);
}
template <class T>
bool below(T a, T b) {
  return !is_nan(a) && !is_nan(b) && ordered(a) < ordered(b);
}

// True if the operation selects element i.
template <class T, class O>
bool is_selected(const Input<T, O>& in, std::size_t i) {
  const T* const x = in.values;
  switch (O::operation) {
    case Selection::find_repeats:
      return i + 1 < in.n && equal(x[i], x[i + 1]);
    case Selection::nonzero:
      return is_nan(x[i]) || ordered(x[i]) != 0;
    case Selection::unique:
    case Selection::run_length_encode:
      return i == 0 || !equal(x[i - 1], x[i]);
    case Selection::select_flagged:
      return in.flags[i] > 0;
    case Selection::select_if:
    case Selection::partition_if:
      break;
  }
  if constexpr (O::operation == Selection::select_if || O::operation == Selection::partition_if)
    return below(x[i], in.predicate.limit);
  return false;
}

// ---- the outputs ----

// Compares bit for bit, including the sign of a zero and the payload of a NaN, because elements are copied, not
// computed. Returns nullopt if the two are the same.
template <class T>
std::optional<std::string> difference(const char* array, std::size_t i, T is, T should) {
  if (std::memcmp(&is, &should, sizeof(T)) == 0) return std::nullopt;
  return wrong_element(i, is, show(should), 0, array);
}
std::optional<std::string> difference(const char* array, const Positions& is, std::size_t i, std::size_t should) {
  return is.visit([=]<class P>(const P* all) { return difference(array, i, all[i], static_cast<P>(should)); });
}

std::optional<std::string> written_past(const char* array, const void* out, std::size_t count, std::size_t n,
                                        std::size_t element, std::byte untouched) {
  const auto* const past = static_cast<const std::byte*>(out) + count * element;
  return first_mistake(
      (n - count) * element, [&](std::size_t, std::size_t begin, std::size_t end) -> std::optional<std::string> {
        const auto* const at = std::find_if(past + begin, past + end, [&](std::byte b) { return b != untouched; });
        if (at == past + end) return std::nullopt;
        return std::string(array) + "[" + std::to_string(count + static_cast<std::size_t>(at - past) / element) +
               "] was written, beyond the " + std::to_string(count) + " that are selected";
      });
}

// The selection before an element: the number of selected elements, and the position of the last.
struct Before {
  std::size_t count = 0, last = 0;
};
// Returns the selection before the first element of each part, and the whole selection last.
template <class T, class O>
std::vector<Before> before_parts(const Input<T, O>& in) {
  std::vector<Before> before(parts_of(in.n) + 1);
  for_each_part(in.n, [&](std::size_t p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (is_selected(in, i)) before[p + 1] = {before[p + 1].count + 1, i};
  });
  for (std::size_t p = 1; p < before.size(); ++p) {
    if (before[p].count == 0) before[p].last = before[p - 1].last;
    before[p].count += before[p - 1].count;
  }
  return before;
}

template <class T, class O>
std::optional<std::string> mistake(const Args<T, O>& a, std::byte untouched) {
  const auto& in = a.in;
  const auto& [values, positions, counted] = a.out;
  const std::vector<Before> before_part = before_parts(in);
  const auto [all, last_of_all] = before_part.back();
  if (auto wrong = difference("out[1]", 0, *counted, std::uint64_t{all})) return wrong;
  auto wrong =
      first_mistake(in.n, [&](std::size_t p, std::size_t begin, std::size_t end) -> std::optional<std::string> {
        auto [count, last] = before_part[p];
        for (std::size_t i = begin; i < end; ++i) {
          if (!is_selected(in, i)) {
            if constexpr (writes_rest<O>)
              if (auto wrong = difference("out[0]", all + i - count, values[all + i - count], in.values[i]))
                return wrong;
            continue;
          }
          if constexpr (writes_positions<O>) {
            if (auto wrong = difference("out[0]", positions, count, i)) return wrong;
          } else {
            if (auto wrong = difference("out[0]", count, values[count], in.values[i])) return wrong;
          }
          if constexpr (writes_lengths<O>) {
            if (count > 0)
              if (auto wrong = difference("out[2]", positions, count - 1, i - last)) return wrong;
            last = i;
          }
          ++count;
        }
        return std::nullopt;
      });
  if (wrong || writes_rest<O>) return wrong;
  const std::size_t position = positions.wide ? 8 : 4;
  if constexpr (writes_lengths<O>) {
    if (all > 0)
      if (auto wrong = difference("out[2]", positions, all - 1, in.n - last_of_all)) return wrong;
    if (auto wrong = written_past("out[2]", positions.array, all, in.n, position, untouched)) return wrong;
  }
  if constexpr (writes_positions<O>) return written_past("out[0]", positions.array, all, in.n, position, untouched);
  return written_past("out[0]", values, all, in.n, sizeof(T), untouched);
}

}  // namespace

std::size_t count_selected(const Call& call) {
  return visit_args(call, [](const auto& a) { return before_parts(a.in).back().count; });
}

std::optional<std::string> find_mistake(const Call& call, std::byte untouched) {
  return visit_args(call, [&](const auto& a) { return mistake(a, untouched); });
}

}  // namespace upsweep::ladders::select
