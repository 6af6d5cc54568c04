// The array arguments of a call: memory that the caller owns, on the host or on a device. Every function of the library
// takes a View, a Buffer, or any contiguous range in host memory (std::vector, std::span, std::array):
//
//   float* x;  cudaMalloc(&x, n * sizeof(float));
//   upsweep::exclusive_scan(gpu, upsweep::device_view(x, n), upsweep::device_view(y, n));
//   upsweep::exclusive_scan(gpu, upsweep::view(buffer).subview(3, 1000), out);
//
// Before any launch, a call checks that each view is not null unless empty, is aligned to its element (any offset of
// whole elements is valid), and, in device memory, belongs to the device that runs the call. A Buffer knows its device;
// for other pointers the call asks the driver, which takes 0.1 us per array (H200, CUDA 13.0).
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include "upsweep/error.h"
#include "upsweep/types.h"

namespace upsweep {

class Platform;
template <class T>
class Buffer;

enum class Place : std::uint8_t { host, device };

// A non-owning view of size() elements in host or device memory. A View<const T> is read-only.
template <class T>
class View {
 public:
  View() = default;
  View(T* data, std::size_t size, Place place, const Platform* owner = nullptr)
      : data_(data), size_(size), place_(place), owner_(owner) {}

  // Converts to a read-only view.
  template <class U>
  requires(std::same_as<const U, T>) View(const View<U>& v)
      : View(v.data(), v.size(), v.place(), v.owner()) {}  // NOLINT: implicit, as T* to const T*

  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }  // elements
  Place place() const noexcept { return place_; }
  const Platform* owner() const noexcept { return owner_; }  // the platform that owns the memory; null if unknown

  // Returns elements [first, first + count). Throws Error(invalid_argument) if the view is too short.
  View subview(std::size_t first, std::size_t count) const {
    if (first > size_ || count > size_ - first)
      throw Error(Code::invalid_argument, "subview: the elements extend past the end of the view");
    return {data_ + first, count, place_, owner_};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Place place_ = Place::host;
  const Platform* owner_ = nullptr;
};

// Returns a view of n elements in device memory from any allocator: cudaMalloc, Thrust, a DLPack tensor. On the CPU,
// the same as host_view().
template <class T>
View<T> device_view(T* data, std::size_t n) {
  return {data, n, Place::device};
}
// Returns a view of n elements in host memory, pinned or not.
template <class T>
View<T> host_view(T* data, std::size_t n) {
  return {data, n, Place::host};
}

// Returns the view of any array argument, which must outlive the view.
template <class T>
View<T> view(const View<T>& v) {
  return v;
}
template <class T>
View<T> view(Buffer<T>& b) {
  return b.view();
}
template <class T>
View<const T> view(const Buffer<T>& b) {
  return b.view();
}
template <std::ranges::contiguous_range Range>
auto view(Range&& range) {
  return host_view(std::ranges::data(range), std::ranges::size(range));
}

// Element types and concepts for the array arguments that a call reads and writes.
template <class A>
using element_of = std::remove_pointer_t<decltype(view(std::declval<A&>()).data())>;
template <class A>
concept ArrayLike = requires(A& a) {
  {view(a).data()};
  { view(a).size() } -> std::same_as<std::size_t>;
};
template <class A>
concept InputArray = ArrayLike<A> && Element<std::remove_const_t<element_of<A>>>;
template <class A>
using input_element = std::remove_const_t<element_of<A>>;
template <class A, class T>
concept InputOf = InputArray<A> && std::same_as<input_element<A>, T>;
template <class A>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<View<T>> = true;
// Rejects a temporary that owns its elements, because the result would be lost with it.
template <class A, class T>
concept OutputOf = ArrayLike<A> && std::same_as<element_of<A>, T> &&
    (std::is_lvalue_reference_v<A> || is_view<A> || std::ranges::borrowed_range<A>);

// An output of sums, which may be wider than their elements (widens_sums in upsweep/types.h).
template <class A, class T>
concept SumOutputOf = OutputOf<A, T> ||
    (OutputOf<A, element_of<A>>&& Element<element_of<A>>&& widens_sums(type_of<T>(), type_of<element_of<A>>()));

namespace detail {
// An output of indices, offsets or lengths. The call checks that its type can hold the number of elements.
template <class A>
concept IndexArray =
    OutputOf<A, std::uint32_t> || OutputOf<A, std::uint64_t> || OutputOf<A, std::int32_t> || OutputOf<A, std::int64_t>;
}  // namespace detail

}  // namespace upsweep
