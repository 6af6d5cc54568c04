// CPU peers with the same contract, compiled for the host CPU. Only the plain loop saturates while it counts; the
// others count in 32 bits and clamp at the end.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/combinable.h>
#include <oneapi/tbb/parallel_for.h>

#include <vector>

#include "cpu/each.h"
#include "ladders/histogram/binding.h"

#if defined(UPSWEEP_WITH_OPENCV)
#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace upsweep::ladders::histogram {
namespace {

// Calls increment(k) for every sample in [begin, end), where k is its counter, or counters() for samples in no bin.
template <class T, class O>
void plain_loop_over(const Input<T, O>& in, std::size_t begin, std::size_t end, auto&& increment) {
  const bool simple = in.samples.channels == 1 && in.samples.width == in.samples.count;
  if (simple)
    for (std::size_t i = begin; i < end; ++i) increment(in.bins(in.samples.data[i]));
  else
    for (std::size_t i = begin; i < end; ++i) increment(in.counter_of(i));
}

// Writes the result from counts of 32 bits or more.
template <class T, class O>
void put_all(const Args<T, O>& a, const auto& counts) {
  const unsigned counters = a.in.counters();
  for (unsigned k = 0; k < counters; ++k) a.out.put(k, counts[k]);
  a.out.put_outside(counts[counters]);
}

struct plain_loop {
  static constexpr Story story{.idea = "one loop, one core", .limits = "any n", .source = "a compiler"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    a.out.visit([&]<class C>(C* caller_counts) {
      const unsigned counters = a.in.counters();
      std::vector<C> counts(counters + 1);  // the caller's array has no counter for samples in no bin
      std::uint64_t outside = 0;
      plain_loop_over(a.in, 0, a.in.samples.count, [&, table = counts.data()](unsigned k) {
        if constexpr (sizeof(C) > 2)
          ++table[k];
        else if (table[k] != static_cast<C>(-1))
          ++table[k];
        if (sizeof(C) <= 2 && k == counters) ++outside;
      });
      std::copy_n(counts.data(), counters, caller_counts);
      a.out.put_outside(sizeof(C) <= 2 ? outside : counts[counters]);
    });
    return {};
  }
};

struct tbb_private {
  static constexpr Story story{.idea = "oneapi::tbb::parallel_for, a plain loop inside; tables in a combinable",
                               .limits = "n below 2^32",
                               .source = "oneTBB"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 0xffffffffu;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Table = std::vector<std::uint32_t>;
    const std::size_t slots = a.in.counters() + 1;
    oneapi::tbb::combinable<Table> tables([&] { return Table(slots); });
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, a.in.samples.count, 1 << 14), [&](auto& r) {
      plain_loop_over(a.in, r.begin(), r.end(), [table = tables.local().data()](unsigned k) { ++table[k]; });
    });
    Table sums(slots);
    tables.combine_each([&](const Table& table) {
      for (std::size_t k = 0; k < slots; ++k) sums[k] += table[k];
    });
    put_all(a, sums);
    return {};
  }
};

struct openmp {
  static constexpr Story story{.idea = "#pragma omp parallel for reduction(+) of the table over a plain loop",
                               .limits = "n below 2^32; tables that fit on the threads' stacks",
                               .source = "OpenMP 4.5"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest = 0xffffffffu;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Input<T, O> in = a.in;
    const std::size_t slots = in.counters() + 1;
    if (slots > 1 << 18) return {Code::unsupported, 0, "too many counters for a thread's stack"};
    std::vector<std::uint32_t> sums(slots);
    std::uint32_t* const table = sums.data();
#pragma omp parallel for schedule(static) reduction(+ : table[:slots])
    for (std::size_t i = 0; i < in.samples.count; ++i) ++table[in.counter_of(i)];
    put_all(a, sums);
    return {};
  }
};

#if defined(UPSWEEP_WITH_OPENCV)
struct opencv {
  static constexpr Story story{.idea = "cv::calcHist; its counts are floats, exact below 2^24",
                               .limits = "u8, u16; one channel, rows without gaps; it rounds floats to other bins",
                               .source = "OpenCV"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static constexpr bool supports = std::is_same_v<O, By<Binning::even>> && sizeof(T) <= 2;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Samples<T>& samples = a.in.samples;
    if (samples.channels > 1 || samples.width != samples.count || samples.count > 0x7fffffff)
      return {Code::unsupported, 0, "this peer takes rows without gaps and one channel"};
    if (a.in.bins.sign || a.in.bins.closed)
      return {Code::unsupported, 0, "this peer takes u8 and u16, and half-open bins"};
    const int type = sizeof(T) == 1 ? CV_8U : CV_16U;
    const cv::Mat image(1, static_cast<int>(samples.count), type, const_cast<T*>(samples.data));
    float range[2];
    range[0] = static_cast<float>(a.in.bins.first) - static_cast<float>(a.in.bins.skipped);
    range[1] = range[0] + static_cast<float>(a.in.bins.scale.width);
    const float* ranges[] = {range};
    const int channel = 0, bins = static_cast<int>(a.in.bins.count);
    cv::Mat counts;
    cv::calcHist(&image, 1, &channel, cv::Mat(), counts, 1, &bins, ranges);
    std::uint64_t inside = 0;
    for (int k = 0; k < bins; ++k) {
      const auto count = static_cast<std::uint64_t>(counts.at<float>(k));
      a.out.put(static_cast<std::size_t>(k), count);
      inside += count;
    }
    a.out.put_outside(samples.count - inside);
    return {};
  }
};
#endif

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers {
    lab::peer<Binding, OfStored<plain_loop>>("plain loop", lab::gcc_version),
        lab::peer<Binding, OfStored<tbb_private>>("tbb::parallel_for", lab::tbb_version),
        lab::peer<Binding, OfStored<openmp>>("openmp", lab::openmp_version),
#if defined(UPSWEEP_WITH_OPENCV)
        lab::peer<Binding, OfStored<opencv>>("cv::calcHist", "OpenCV " CV_VERSION),
#endif
  };
  return peers;
}

}  // namespace upsweep::ladders::histogram
