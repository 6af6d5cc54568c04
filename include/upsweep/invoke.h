// Calls any primitive by name, with array types given at run time. The typed functions of the other headers build on
// it, and so can bindings to other languages.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "upsweep/device.h"
#include "upsweep/scalar.h"
#include "upsweep/view.h"

namespace upsweep {

struct Contract;

// Options of how a call runs. They never change what it returns, except for the last bits of float sums, and for the
// order of keys within a bucket by those rungs of partition that are not stable (upsweep/partition.h). 0 or empty: the
// library's choice, which is stable.
struct Options {
  std::string_view rung = {};  // a rung of the primitive's ladder, by name
  unsigned block = 0;          // threads per block of a GPU rung, 1 to 1024
  unsigned grid = 0;           // blocks of a GPU rung
  unsigned threads = 0;        // of a CPU rung
};

// A view whose element type is a value. Calls do not write to their inputs.
struct AnyView {
  AnyView() = default;
  template <class T>
  AnyView(const View<T>& v)  // NOLINT: implicit, because any typed view will do
      : type(type_of<std::remove_const_t<T>>()),
        count(v.size()),
        data(const_cast<std::remove_const_t<T>*>(v.data())),
        place(v.place()),
        owner(v.owner()) {}
  Type type = Type::u8;
  std::size_t count = 0;  // elements
  void* data = nullptr;
  Place place = Place::host;
  const Platform* owner = nullptr;
};

struct Request {
  const Contract* contract = nullptr;  // find_contract("scan")
  Operation operation{};               // Op::max; one of the contract's, or empty if it has none
  // In the contract's order; arrays that the operation does not use stay empty.
  std::array<AnyView, 4> in{}, out{};
  Scalars scalars{};  // an empty one: the contract's default
};

// Runs a call. If every array is in the device's memory, the call is queued on the device's stream: kernel errors
// appear at the next synchronize(), and after the first call of a size nothing is allocated and nothing waits, so it
// can be captured into a CUDA graph. Host arrays are copied to a GPU and back, and the call waits; the CPU uses them in
// place.
//
// Throws Error before anything is launched: invalid_argument (no rung of that name; an array that is null, misaligned,
// too small, of the wrong type, of another device, or that overlaps one it must not; a scalar beyond its bounds; a
// block of more than 1024 threads), unsupported (the rung does not take the type, operation or n), out_of_memory; and
// device_error.
void invoke(Device& device, const Request& request, const Options& options = {});

namespace detail {
// Throws Error(invalid_argument) unless the device can access this device memory; `name` names the array.
void require_on(const Device& device, const void* data, const Platform* owner, std::string_view name);
}  // namespace detail

// The contract of a primitive by name, as "reduce"; null if there is none.
const Contract* find_contract(std::string_view name);

}  // namespace upsweep
