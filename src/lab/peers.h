// Helpers for the peers of several primitives: other libraries' algorithms as Rungs.
#pragma once
#include <dlfcn.h>
#include <oneapi/tbb/version.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/typed_rung.h"

namespace upsweep::lab {

inline constexpr std::string_view gcc_version = "GCC " __VERSION__, std_version = "libstdc++ " __VERSION__,
                                  tbb_version = "oneTBB " TBB_VERSION_STRING;
#if defined(_OPENMP)
inline constexpr std::string_view openmp_version = "libgomp of GCC " __VERSION__;
#else
inline constexpr std::string_view openmp_version{};
#endif

// Returns a version for records: "CUB 3.0.1".
inline std::string version_text(const std::string& name, int major, int minor, int patch) {
  return name + " " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// By default, CPU peers are compiled only for the types in Compared: for all types, other libraries' templates would
// take longer to compile than our own rungs.
#if defined(UPSWEEP_PEERS_EVERY_TYPE)
inline constexpr bool peers_for_every_type = true;
#else
inline constexpr bool peers_for_every_type = false;
#endif

// A CPU peer R, restricted to the types for which it is compared: i32 and f32, and u32 if the primitive does not take
// f32. A peer with Coverage::widths is not restricted, and none is if the build asks for every type.
template <class Binding, class R>
struct Compared : R {
  static constexpr bool every_type = peers_for_every_type || coverage_of<R>() == Coverage::widths;
  template <class T, class O>
  static constexpr bool usual = sizeof(T) == 4 && (!std::is_unsigned_v<T> || !Binding::template takes<float, O>);
  template <class T, class O>
  static constexpr bool supports = (every_type || usual<T, O>)&&upsweep::supports<R, T, O>();
};

// Makes a peer's Rung from its implementation struct, which has the members of a rung's struct. `version` must outlive
// the Rung.
template <class Binding, class R>
constexpr Rung peer(std::string_view name, std::string_view version) {
#if defined(__CUDACC__)
  Rung rung = make_rung<Binding, R>(name, Backend::cuda);
#else
  Rung rung = make_rung<Binding, Compared<Binding, R> >(name, Backend::cpu);
#endif
  rung.peer = true;
  rung.version = version;
  return rung;
}

// The peers of one file. A peer without a version is skipped, because its library is not installed.
class PeerList {
 public:
  PeerList(std::initializer_list<Rung> rungs) {
    for (const Rung& rung : rungs) add(rung);
  }
  void add(const Rung& rung) {
    if (!rung.version.empty()) all_.push_back(&rungs_.emplace_back(rung));
  }
  PeerList(PeerList&&) = default;
  operator Rungs() const { return all_; }

 private:
  std::deque<Rung> rungs_;  // deque: addresses stay valid when it grows or is moved
  std::vector<const Rung*> all_;
};

// A shared library loaded at run time, so that programs do not depend on it when they are linked.
class OptionalLibrary {
 public:
  explicit OptionalLibrary(const char* file) : handle_(dlopen(file, RTLD_LAZY | RTLD_LOCAL)) {}
  // Returns null if the library or the function is missing.
  template <class F>
  F* function(const char* name) const {
    return handle_ ? reinterpret_cast<F*>(dlsym(handle_, name)) : nullptr;
  }

 private:
  void* handle_;
};

}  // namespace upsweep::lab
