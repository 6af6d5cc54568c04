// What the lab has to know of the ceilings.
#include <cstring>
#include <memory>

#include "base/inputs.h"
#include "base/primitive.h"
#include "ceiling/contract.h"

namespace upsweep {
namespace {

class CeilingProblem final : public Problem {
 public:
  CeilingProblem(const Case& c, std::span<const std::byte> data)
      : n_(c.n), in_(std::make_unique_for_overwrite<std::uint32_t[]>(c.n)) {
    if (data.empty())
      fill_input(c.input, Type::u32, n_, c.seed, in_.get());
    else if (data.size() == n_ * sizeof(std::uint32_t))
      std::memcpy(in_.get(), data.data(), data.size());
    else
      throw Error(Code::invalid_argument, "ceiling: the data and the case's n disagree about the size");
  }
  std::vector<Array> inputs() const override { return {{Type::u32, n_, in_.get()}}; }
  std::vector<OutputSpec> outputs() const override { return {{Type::u32, n_ ? n_ : 1}}; }

  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const auto* out = static_cast<const std::uint32_t*>(outputs[0]);
    if (rung.name == "read") {
      std::uint32_t expected = 0;
      for (std::size_t i = 0; i < n_; ++i) expected ^= in_[i];
      return out[0] == expected ? std::nullopt : difference(0, out[0], expected);
    }
    if (rung.name == "launch") return std::nullopt;
    const bool copy = rung.name == "copy";
    for (std::size_t i = 0; i < n_; ++i)
      if (const std::uint32_t expected = copy ? in_[i] : ladders::ceiling::pattern(i); out[i] != expected)
        return difference(i, out[i], expected);
    return std::nullopt;
  }

 private:
  static std::optional<std::string> difference(std::size_t i, std::uint32_t is, std::uint32_t should) {
    return "out[" + std::to_string(i) + "] is " + std::to_string(is) + ", should be " + std::to_string(should);
  }
  std::size_t n_;
  std::unique_ptr<std::uint32_t[]> in_;
};

Traffic traffic(const Case& c, const Rung& rung) {
  const std::size_t array = c.n * sizeof(std::uint32_t);
  if (rung.name == "launch") return {0, "launch"};
  return {rung.name == "copy" ? 2 * array : array, rung.name};
}

}  // namespace

extern const Primitive ceiling_primitive{
    .name = "ceiling",
    .contract = "read: out[0] = xor of in; write: out[i] = pattern(i); copy: out[i] = in[i]; launch: nothing",
    .types = [] { return std::vector{Type::u32}; },
    .ops = [] { return std::vector{Op::sum}; },
    .inputs = &input_names,
    // Around the CPU's sizes for one core and for stores that bypass the caches.
    .sizes =
        [](const Rung&) {
          return std::vector<std::size_t>{4095, 16385, 100003};
        },
    .traffic = &traffic,
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<CeilingProblem>(c, data);
    },
    .default_rung_cpu = "read",
    .default_rung_gpu = "read",
};

}  // namespace upsweep
