// What the lab has to know of the ceilings.
#include <memory>

#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/ceiling/contract.h"

namespace upsweep {

extern const Contract ceiling_contract;

namespace {

class CeilingProblem final : public Problem {
 public:
  CeilingProblem(const Case& c, std::span<const std::byte> data) : n_(c.n), memory_(main_input(c, data)) {}
  std::vector<Array> inputs() const override { return {input_array(Type::u32, n_, in())}; }
  std::vector<Array> outputs() const override { return {{Type::u32, n_ ? n_ : 1}}; }
  Traffic traffic(const Rung& rung) const override {
    const std::size_t array = n_ * sizeof(std::uint32_t);
    if (rung.name == "launch") return {0, "launch"};
    if (rung.name == "triad") return {3 * ladders::ceiling::triad_half(n_) * sizeof(std::uint32_t), "triad"};
    if (rung.name == "link") return {array + n_ / 2 * sizeof(std::uint32_t), "link"};
    return {rung.name == "copy" ? 2 * array : array, rung.name};
  }

  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const auto* out = static_cast<const std::uint32_t*>(outputs[0]);
    if (rung.name == "read") {
      std::uint32_t expected = 0;
      for (std::size_t i = 0; i < n_; ++i) expected ^= in()[i];
      return out[0] == expected ? std::nullopt : difference(0, out[0], expected);
    }
    if (rung.name == "launch") return std::nullopt;
    if (rung.name == "link")
      return all(out, n_ / 2, [&](std::size_t i) { return in()[i % ladders::ceiling::link_chunk(rung.backend)]; });
    if (rung.name == "copy") return all(out, n_, [&](std::size_t i) { return in()[i]; });
    if (rung.name == "write") return all(out, n_, [](std::size_t i) { return ladders::ceiling::pattern(i); });
    const std::size_t half = ladders::ceiling::triad_half(n_);
    return all(out, half, [&](std::size_t i) {
      return ladders::ceiling::triad_of(in()[i], in()[half + ladders::ceiling::triad_gap + i]);
    });
  }

 private:
  // Whether out[i] is should_be(i) for i < n.
  static std::optional<std::string> all(const std::uint32_t* out, std::size_t n, auto should_be) {
    for (std::size_t i = 0; i < n; ++i)
      if (const std::uint32_t expected = should_be(i); out[i] != expected) return difference(i, out[i], expected);
    return std::nullopt;
  }
  static std::optional<std::string> difference(std::size_t i, std::uint32_t is, std::uint32_t should) {
    return "out[" + std::to_string(i) + "] is " + std::to_string(is) + ", should be " + std::to_string(should);
  }
  std::size_t n_;
  const std::uint32_t* in() const { return reinterpret_cast<const std::uint32_t*>(memory_.get()); }
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

extern const Primitive ceiling_primitive{
    .contract = ceiling_contract,
    .types = [] { return std::vector{Type::u32}; },
    .inputs = &input_names,
    // Around the CPU's sizes for one core and for stores that bypass the caches.
    .sizes =
        [](const Rung&) {
          return std::vector<std::size_t>{4095, 16385, 100003};
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<CeilingProblem>(c, data);
    },
};

}  // namespace upsweep
