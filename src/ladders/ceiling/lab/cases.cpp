// The laboratory's problem for the ceilings: traffic and verification.
#include "lab/oracle.h"
#include "lab/primitive.h"
#include "ladders/ceiling/contract.h"

namespace upsweep {

extern const Contract ceiling_contract;

namespace {

using namespace ladders::ceiling;

class CeilingProblem final : public Problem {
 public:
  using Problem::Problem;
  Traffic traffic(const Rung& rung) const override {
    const std::size_t array = n_ * sizeof(std::uint32_t);
    if (rung.name == "launch") return {0, "launch"};
    if (rung.name == "triad") return {3 * triad_half(n_) * sizeof(std::uint32_t), "triad"};
    if (rung.name == "link") return {array + n_ / 2 * sizeof(std::uint32_t), "link"};
    return {rung.name == "copy" ? 2 * array : array, rung.name};
  }

  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const auto* out = static_cast<const std::uint32_t*>(outputs[0]);
    if (rung.name == "read") {
      std::uint32_t expected = 0;
      for (std::size_t i = 0; i < n_; ++i) expected ^= in()[i];
      if (out[0] == expected) return std::nullopt;
      return wrong_element(0, out[0], show(expected));
    }
    if (rung.name == "launch") return std::nullopt;
    if (rung.name == "link")
      return all(out, n_ / 2, [&, chunk = std::size_t{*rung.thresholds[0]}](std::size_t i) { return in()[i % chunk]; });
    if (rung.name == "copy") return all(out, n_, [&](std::size_t i) { return in()[i]; });
    if (rung.name == "write") return all(out, n_, [](std::size_t i) { return pattern(i); });
    const std::size_t half = triad_half(n_);
    return all(out, half, [&](std::size_t i) { return triad_of(in()[i], in()[half + triad_gap + i]); });
  }

 private:
  // Returns nullopt if out[i] is should_be(i) for every i < n, otherwise a message about the first wrong element.
  static std::optional<std::string> all(const std::uint32_t* out, std::size_t n, auto should_be) {
    for (std::size_t i = 0; i < n; ++i)
      if (const std::uint32_t expected = should_be(i); out[i] != expected)
        return wrong_element(i, out[i], show(expected));
    return std::nullopt;
  }
  const std::uint32_t* in() const { return static_cast<const std::uint32_t*>(values()); }
  const std::size_t n_ = case_.n;
};

}  // namespace

extern const Primitive ceiling_primitive{
    .contract = ceiling_contract,
    .types = [] { return std::vector{Type::u32}; },
    .problem = &make_problem<CeilingProblem>,
};

}  // namespace upsweep
