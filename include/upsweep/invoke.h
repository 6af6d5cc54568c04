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

// A type-erased View. Inputs lose their const here, but calls never write to them.
struct AnyView {
  AnyView() = default;
  template <class T>
  AnyView(const View<T>& v)  // NOLINT: implicit, so that any typed view can be passed
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

// Execution options. They do not change a call's results, except for the last bits of float sums and, with the unstable
// rungs of partition (upsweep/partition.h), the order of keys within a bucket. 0 or empty leaves the choice to the
// library, which picks a stable rung.
struct Options {
  std::string_view rung = {};  // a rung of the primitive's ladder, by name
  unsigned block = 0;          // threads per block of a GPU rung, 1 to 1024
  unsigned grid = 0;           // blocks per grid of a GPU rung
  unsigned threads = 0;        // threads of a CPU rung
  // Scratch memory on the device: at least scratch_bytes() bytes of any element type, such as a Buffer. It must be
  // aligned to 256 bytes, must not overlap the call's arrays, and must not be used by other work until the call's work
  // is done. The device then allocates and keeps no memory for the call. The contents may be uninitialised: a memset in
  // the device's queue clears the part that must be zero. Every call computes the required size anew.
  AnyView scratch = {};
};

struct Request {
  const Contract* contract = nullptr;  // find_contract("scan")
  Operation operation{};               // Op::max; empty if the contract has no operations
  // In the contract's order; arrays that the operation does not use stay empty.
  std::array<AnyView, 4> in{}, out{};
  Scalars scalars{};  // an empty Scalar takes the contract's default
};

// Runs a call. If every array is in the device's memory, the call is queued on the device's stream: kernel errors
// surface at the next synchronize(). After the first call of a size, calls allocate nothing and never wait, so they can
// be captured into a CUDA graph. Host arrays are copied to a GPU and back, and the call waits; the CPU uses them in
// place.
//
// Throws Error before any launch: invalid_argument (no rung of that name; an array that is null, misaligned, too small,
// of the wrong type, on another device, or overlaps one that it must not; a scalar out of bounds; a block of more than
// 1024 threads; scratch that the device cannot use), unsupported (the rung does not take the type, operation or n),
// out_of_memory; and device_error if a launch fails.
void invoke(Device& device, const Request& request, const Options& options = {});

// Returns the size in bytes of the device memory that this call needs in addition to its arrays, including copies of
// host arrays on a GPU. Launches and allocates nothing. Options::scratch of this size is sufficient; without it, the
// device allocates this much in its first call and keeps it. If a rung's need depends on the contents of its arrays or
// the speed of earlier calls, returns the maximum. Throws as invoke() does, and Error(unsupported) for the CPU rungs of
// render, whose lists are unbounded.
std::size_t scratch_bytes(Device& device, const Request& request, const Options& options = {});

namespace detail {
// Throws Error(invalid_argument) unless the device can access this device memory; `name` names the array.
void require_on(const Device& device, const void* data, const Platform* owner, std::string_view name);
}  // namespace detail

// Returns the contract of a primitive by name, such as "reduce"; null if there is none.
const Contract* find_contract(std::string_view name);

}  // namespace upsweep
