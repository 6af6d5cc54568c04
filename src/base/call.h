// One call of a rung: what every primitive on every backend takes. Plain data, built without allocating.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "upsweep/error.h"
#include "upsweep/types.h"

namespace upsweep {

class Workspace;

// A queue of device work. The CPU runs at once and ignores it; on CUDA it is a cudaStream_t (null: the default stream).
struct Stream {
  void* handle = nullptr;
};

// Named numbers that tune or complete a call: "block" (threads a block), "grid" (blocks), "threads" (CPU threads), and
// whatever a primitive defines ("bins", "a", ...). Integers are exact up to 2^53. Names must outlive the object
// (they are literals).
class Params {
 public:
  struct Item {
    std::string_view name;
    double value;
  };
  double get(std::string_view name, double otherwise) const {
    for (const Item& item : *this)
      if (item.name == name) return item.value;
    return otherwise;
  }
  // False when there is no room for another name.
  bool set(std::string_view name, double value) {
    for (std::size_t i = 0; i < count_; ++i)
      if (items_[i].name == name) return items_[i].value = value, true;
    if (count_ == items_.size()) return false;
    items_[count_++] = {name, value};
    return true;
  }
  // These and `more`, which wins where both have a name.
  Params with(const Params& more) const {
    Params all = *this;
    for (const Item& item : more) all.set(item.name, item.value);
    return all;
  }
  const Item* begin() const { return items_.data(); }
  const Item* end() const { return items_.data() + count_; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<Item, 8> items_{};  // 8: no primitive has more than five parameters, and two are for tuning
  std::size_t count_ = 0;
};

// in[k] and out[k] are the primitive's arrays in the order its README gives, in the backend's own memory.
struct Call {
  Type type = Type::f32;
  Op op = Op::sum;
  std::size_t n = 0;  // elements of the main input
  std::array<const void*, 4> in{};
  std::array<void*, 4> out{};
  Params params{};
  Workspace* workspace = nullptr;  // scratch; one stream's at a time
  Stream stream{};
};

using RunFn = Status (*)(const Call&);

}  // namespace upsweep
