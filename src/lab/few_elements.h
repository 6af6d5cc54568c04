// Lowers thresholds, so that a few elements suffice to reach the code beyond them.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "base/platform.h"

namespace upsweep::lab {

// RAII: gives the thresholds of a platform's rungs, and those of a contract's choose() if there is a contract, their
// small values, and restores them.
class FewElements {
 public:
  explicit FewElements(const Platform& platform, const Contract* contract = nullptr) {
    for (const Rung* rung : all_rungs(platform)) lower(rung->thresholds);
    if (contract) lower(contract->thresholds);
  }
  FewElements(const FewElements&) = delete;
  FewElements& operator=(const FewElements&) = delete;
  // Restores in reverse order: rungs share thresholds, and only the first entry of a threshold holds its original
  // value.
  ~FewElements() {
    while (!before_.empty()) {
      before_.back().first->set(before_.back().second);
      before_.pop_back();
    }
  }

 private:
  void lower(std::span<Threshold* const> thresholds) {
    for (Threshold* t : thresholds) {
      before_.emplace_back(t, *t);
      t->set(t->few());
    }
  }
  std::vector<std::pair<Threshold*, std::uint64_t>> before_;
};

}  // namespace upsweep::lab
