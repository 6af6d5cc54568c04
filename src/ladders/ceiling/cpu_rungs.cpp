// The CPU ceilings, on all cores, or on one if fork and join cost more than they gain.
#include <algorithm>

#include "cpu/cache.h"
#include "cpu/parallel.h"
#include "ladders/ceiling/binding.h"
#include "ladders/ceiling/cpu_loops.h"

namespace upsweep::ladders::ceiling {
namespace {  // the GPU rungs have types of the same names

// Non-temporal stores are faster once the data no longer fits in the last-level cache. GB/s on two Zen 4 cores with 32
// MiB of L3:
//
//                  non-temporal   ordinary
//   write 32 MiB             53         68
//   write 64 MiB             51         45
//   copy   8 MiB             97        135
//   copy  16 MiB             99         71
bool write_around(std::size_t bytes) { return bytes > last_level_cache_bytes(); }
bool copy_around(std::size_t bytes) { return 2 * bytes >= last_level_cache_bytes(); }
bool triad_around(std::size_t bytes) { return 3 * bytes >= last_level_cache_bytes(); }

constexpr std::string_view params = "any n; params: threads";

struct read {
  static constexpr Story story{.idea = "load everything, on every core", .limits = params};
  static Status run(const Call& c) {
    const auto* in = c.in[0].as<const std::uint32_t>();
    auto* out = c.out[0].as<std::uint32_t>();
    const Parts parts = cut(c.n(), sizeof *in, threads_of(c.tuning));
    if (parts.count == 1) {
      out[0] = loops().read(in, c.n(), false);
      return {};
    }
    struct alignas(64) Total {  // one cache line each
      std::uint32_t value;
    };
    Total totals[Parts::most];
    parallel(parts.count, threads_of(c.tuning), [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      totals[i].value = loops().read(in + begin, std::min(parts.size, c.n() - begin), true);
    });
    std::uint32_t total = 0;
    for (int i = 0; i < parts.count; ++i) total ^= totals[i].value;
    out[0] = total;
    return {};
  }
};

struct write {
  static constexpr Story story{.idea = "store everything, on every core; non-temporal stores when large",
                               .limits = params};
  static Status run(const Call& c) {
    auto* out = c.out[0].as<std::uint32_t>();
    const bool bypass = write_around(c.n() * sizeof *out);
    const Parts parts = cut(c.n(), sizeof *out, threads_of(c.tuning));
    parallel(parts.count, threads_of(c.tuning), [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      loops().write(out + begin, std::min(parts.size, c.n() - begin), begin, bypass);
    });
    return {};
  }
};

struct copy {
  static constexpr Story story{.idea = "load and store everything, on every core; non-temporal stores when large",
                               .limits = params};
  static Status run(const Call& c) {
    const auto* in = c.in[0].as<const std::uint32_t>();
    auto* out = c.out[0].as<std::uint32_t>();
    const bool bypass = copy_around(c.n() * sizeof *out);
    const Parts parts = cut(c.n(), sizeof *out, threads_of(c.tuning));
    parallel(parts.count, threads_of(c.tuning), [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      loops().copy(in + begin, out + begin, std::min(parts.size, c.n() - begin), bypass);
    });
    return {};
  }
};

struct triad {
  static constexpr Story story{.idea = "load two, store one, on every core; non-temporal stores when large",
                               .limits = params};
  static Status run(const Call& c) {
    const auto* in = c.in[0].as<const std::uint32_t>();
    auto* out = c.out[0].as<std::uint32_t>();
    const std::size_t half = triad_half(c.n());
    if (half == 0) return {};  // the second array would begin past the end
    const bool bypass = triad_around(half * sizeof *out);
    const Parts parts = cut(half, sizeof *out, threads_of(c.tuning));
    parallel(parts.count, threads_of(c.tuning), [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      loops().triad(in + begin, in + half + triad_gap + begin, out + begin, std::min(parts.size, half - begin), bypass);
    });
    return {};
  }
};

struct launch {
  static constexpr Story story{.idea = "a call that does nothing", .limits = "any n"};
  static Status run(const Call&) { return {}; }
};

}  // namespace

extern const Rung cpu_read_rung = make_rung<Binding, read>("read", Backend::cpu);
extern const Rung cpu_write_rung = make_rung<Binding, write>("write", Backend::cpu);
extern const Rung cpu_copy_rung = make_rung<Binding, copy>("copy", Backend::cpu);
extern const Rung cpu_triad_rung = make_rung<Binding, triad>("triad", Backend::cpu);
extern const Rung cpu_launch_rung = make_rung<Binding, launch>("launch", Backend::cpu);

}  // namespace upsweep::ladders::ceiling
