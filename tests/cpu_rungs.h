// Shared by the tests of CPU rungs: the rungs, guarded arrays and instruction sets.
#pragma once
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/contract.h"
#include "base/workspace.h"
#include "lab/backends.h"

namespace upsweep {

// ThreadSanitizer reports false races in oneTBB unless that is built with it too, so peers are skipped. Programs run
// 100 times slower under it, and which data threads share does not depend on values, so one input is enough.
#if defined(UPSWEEP_SANITIZE_THREAD)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#if defined(UPSWEEP_SANITIZE_ADDRESS) || defined(UPSWEEP_SANITIZE_THREAD)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif
inline constexpr bool with_peers = !under_thread_sanitizer;

// Returns the CPU rungs and peers that support this type and operation. Peers may be compiled for some types only.
inline std::vector<const Rung*> cpu_rungs_of(std::string_view primitive, Type type, Operation operation) {
  std::vector<const Rung*> rungs;
  for (const Rung* rung : lab::rungs_and_peers(cpu_platform()))
    if (rung->primitive == primitive && (with_peers || !rung->peer) && rung->find(type, operation))
      rungs.push_back(rung);
  return rungs;
}

// Throws Error(invalid_argument) if the ladder has no CPU rung of that name.
inline const Rung& cpu_rung(std::string_view primitive, std::string_view name) {
  const Rung* rung = find_rung(cpu_platform().rungs_of(*find_contract(primitive)), primitive, name);
  if (!rung) throw Error(Code::invalid_argument, "no rung " + std::string(name));
  return *rung;
}

// Returns the instruction sets that this processor supports; under ThreadSanitizer only the best one, because which
// data threads share does not depend on it.
inline std::vector<std::int64_t> instruction_sets() {
  std::vector<std::int64_t> all;
  for (const std::int64_t target : {HWY_AVX3_DL, HWY_AVX3, HWY_AVX2, HWY_STATIC_TARGET})
    if (hwy::SupportedTargets() & target) all.push_back(target);
  if (under_thread_sanitizer) all.resize(1);
  return all;
}

// An array of bytes, `offset` bytes past a cache line, between two guards of one cache line.
class Framed {
 public:
  static constexpr unsigned char pattern = 0xcd;
  Framed(std::size_t bytes, std::size_t offset, const void* values = nullptr)
      : bytes_(bytes), memory_(line + line + offset + bytes + line, pattern) {
    const auto past = reinterpret_cast<std::uintptr_t>(memory_.data()) % line;
    data_ = memory_.data() + (line - past) + line + offset;
    if (bytes) values ? std::memcpy(data_, values, bytes) : std::memset(data_, pattern, bytes);
  }
  Framed(const Framed&) = delete;
  Framed& operator=(const Framed&) = delete;
  unsigned char* data() { return data_; }
  bool guards_stand() const {
    const auto untouched = [](unsigned char byte) { return byte == pattern; };
    const unsigned char *begin = data_, *end = begin + bytes_;
    return std::all_of(begin - line, begin, untouched) && std::all_of(end, end + line, untouched);
  }

 private:
  static constexpr std::size_t line = 64;
  std::size_t bytes_;
  std::vector<unsigned char> memory_;
  unsigned char* data_;
};

}  // namespace upsweep
