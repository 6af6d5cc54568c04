#include "base/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "upsweep/error.h"

namespace upsweep {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

constexpr Machine gpu(std::string_view name, int capability, int multiprocessors, std::size_t block_kib,
                      std::size_t multiprocessor_kib, std::size_t l2_mib) {
  return {.name = name,
          .capability = capability,
          .code = capability,
          .multiprocessors = multiprocessors,
          .threads_per_multiprocessor = most_resident_threads(capability),
          .shared_per_block = block_kib * KiB,
          .shared_per_multiprocessor = multiprocessor_kib * KiB,
          .l2_bytes = l2_mib * MiB};
}

// Shared memory, in KiB per block and per multiprocessor, from the CUDA Programming Guide's table of technical
// specifications by compute capability; multiprocessors and L2, in MiB, from NVIDIA's data sheets.
constexpr Machine known[] = {gpu("t4", 75, 40, 64, 64, 4),         gpu("a100", 80, 108, 163, 164, 40),
                             gpu("rtx4090", 89, 128, 99, 100, 72), gpu("h200", 90, 132, 227, 228, 50),
                             gpu("b200", 100, 148, 227, 228, 126), gpu("rtx5090", 120, 170, 99, 100, 96)};

std::string kibibytes(std::size_t bytes) { return std::to_string((bytes + KiB - 1) / KiB) + " KiB"; }

std::string plural_of(Feature f) {
  switch (f) {
    case Feature::warp_reduce:
      return "warp-wide reductions";
    case Feature::copy_16:
      return "asynchronous copies";
    case Feature::bulk_copy:
      return "bulk copies";
    case Feature::cluster:
      return "clusters of blocks";
    default:
      return "programmatic launches";
  }
}

}  // namespace

std::span<const Machine> emulated_machines() { return known; }

const Machine& emulated_machine(std::string_view name) {
  std::string hint = "there are:";
  for (const Machine& m : known) {
    if (m.name == name) return m;
    hint.append(" ").append(m.name);
  }
  throw Error(Code::invalid_argument, "no emulated device is called '" + std::string(name) + "'", hint);
}

Machine Machine::as(int older) const {
  // 8.6 has the limits of 8.9. Capabilities that are not in the table are refused.
  const int like = older == 86 ? 89 : older;
  const auto* const found = std::ranges::find(known, like, &Machine::capability);
  if (found == std::end(known))
    throw Error(Code::invalid_argument, "unknown compute capability " + std::to_string(older),
                "75, 80, 86, 89, 90, 100 or 120");
  Machine m = *this;
  m.capability = std::min(capability, older);
  m.code = std::min(code, older);
  m.threads_per_multiprocessor = std::min(threads_per_multiprocessor, found->threads_per_multiprocessor);
  m.shared_per_block = std::min(shared_per_block, found->shared_per_block);
  m.shared_per_multiprocessor = std::min(shared_per_multiprocessor, found->shared_per_multiprocessor);
  return m;
}

Machine as_environment_says(const Machine& machine) {
  const char* const value = std::getenv("UPSWEEP_CAPABILITY");
  if (!value || !*value) return machine;
  std::string digits = value;  // 8.0, or 80 as compilers write it
  if (digits.size() >= 3 && digits[digits.size() - 2] == '.') digits.erase(digits.size() - 2, 1);
  int older = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), older);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Error(Code::invalid_argument, "UPSWEEP_CAPABILITY is '" + std::string(value) + "'",
                "a compute capability: 7.5, 8.0, ...");
  return machine.as(older);
}

std::string to_string(const Needs& needs) {
  std::vector<std::string> parts;
  for (const Feature f : all_features)
    if (needs.includes(f)) parts.push_back(plural_of(f));
  if (needs.shared_bytes) parts.push_back(kibibytes(needs.shared_bytes) + " of shared memory per block");
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k)
    text += (k == 0 ? "" : k + 1 == parts.size() ? " and " : ", ") + parts[k];
  return text.empty() ? "nothing special" : text;
}

std::string to_string(const Machine& m) {
  if (m.capability == 0) return std::string(m.name);
  const auto version = [](int c) { return std::to_string(c / 10) + "." + std::to_string(c % 10); };
  std::string text = std::string(m.name) + " (compute capability " + version(m.capability);
  if (m.code < m.capability) text += ", kernels compiled for " + version(m.code);
  return text + ", " + kibibytes(m.shared_per_block) + " of shared memory per block)";
}

}  // namespace upsweep
