// The values of key-value pairs in upsweep/partition.h and upsweep/sort.h: any trivially copyable type of 4, 8 or 16
// bytes. Values of 8 and 16 bytes are moved as one and two std::uint64_t, and must be aligned to 8 bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "upsweep/invoke.h"

namespace upsweep::detail {

template <class V>
concept Movable = std::is_trivially_copyable_v<V> &&(sizeof(V) == 4 || sizeof(V) == 8 || sizeof(V) == 16);
template <class A>
concept ValueArray = ArrayLike<A> && Movable<std::remove_const_t<element_of<A>>>;

// Reinterprets values as the integers that the library moves.
template <class V>
AnyView as_words(const View<V>& values) {
  using Word = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
  auto* const words = reinterpret_cast<Word*>(const_cast<std::remove_const_t<V>*>(values.data()));
  return View<Word>(words, values.size() * (sizeof(V) / sizeof(Word)), values.place(), values.owner());
}

// Adds the values and their output to a request, as in[1] and out[1]. Throws Error(invalid_argument) unless there is
// one value per key.
template <class Values, class OutValues>
void take_values(Request& request, std::string_view who, std::size_t keys, const Values& values,
                 OutValues& out_values) {
  if (view(values).size() != keys)
    throw Error(Code::invalid_argument, std::string(who) + ": " + std::to_string(view(values).size()) + " values for " +
                                            std::to_string(keys) + " keys");
  request.in[1] = as_words(view(values));
  request.out[1] = as_words(view(out_values));
}

}  // namespace upsweep::detail
