// CUB's histograms with the same contract. CUB neither saturates nor counts samples in no bin: a separate kernel does
// both afterwards, from CUB's 32-bit counts.
#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include "kernel/warp.h"
#include "lab/cub.h"
#include "ladders/histogram/binding.cuh"

namespace upsweep::ladders::histogram {
namespace {

// Writes the caller's counters from CUB's. *out.outside must be zero on entry, and becomes `samples` minus the sum of
// all counts.
__global__ void finish_kernel(const unsigned* counts,  // [counters]
                              Output out, unsigned counters, std::uint64_t samples) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned count = k < counters ? counts[k] : 0;
  if (k < counters) out.put(k, count);
  if (!out.outside) return;
  const unsigned sum = warp_reduce(count, Sum{});
  const unsigned long long left = k == 0 ? samples - sum : 0ull - sum;
  if (threadIdx.x % warp_size == 0) atomicAdd(reinterpret_cast<unsigned long long*>(out.outside), left);
}

// Arguments that all of CUB's functions share.
struct Layout {
  int row_pixels, rows;
  std::size_t row_bytes;
};

// Calls CUB's histogram of `channels` channels. Sample is T, or the signed type that T stands for.
template <int channels, class Sample, class T, class O>
cudaError_t multi(void* scratch, std::size_t& bytes, const Args<T, O>& a, unsigned* counts, Layout layout,
                  cudaStream_t stream) {
  cuda::std::array<unsigned*, channels> of_channel;
  cuda::std::array<int, channels> levels;
  for (int c = 0; c < channels; ++c) {
    of_channel[c] = counts + c * a.in.bins.count;
    levels[c] = static_cast<int>(a.in.bins.count) + 1;
  }
  const auto* const samples = reinterpret_cast<const Sample*>(a.in.samples.data);
  const auto even = [&](auto lower, auto upper) {
    using Level = decltype(lower);
    cuda::std::array<Level, channels> lowers, uppers;
    for (int c = 0; c < channels; ++c) lowers[c] = lower, uppers[c] = upper;
    return cub::DeviceHistogram::MultiHistogramEven<channels, channels>(scratch, bytes, samples, of_channel, levels,
                                                                        lowers, uppers, layout.row_pixels, layout.rows,
                                                                        layout.row_bytes, stream);
  };
  if constexpr (O::operation == Binning::edges) {
    cuda::std::array<const Sample*, channels> edges;
    for (int c = 0; c < channels; ++c) edges[c] = reinterpret_cast<const Sample*>(a.in.bins.edges);
    return cub::DeviceHistogram::MultiHistogramRange<channels, channels>(
        scratch, bytes, samples, of_channel, levels, edges, layout.row_pixels, layout.rows, layout.row_bytes, stream);
  } else if constexpr (O::operation == Binning::direct) {
    return even(std::int64_t{0}, static_cast<std::int64_t>(a.in.bins.count));
  } else if constexpr (std::is_floating_point_v<T>) {
    return even(a.in.bins.lower, a.in.bins.upper);
  } else {
    const auto lower = static_cast<std::int64_t>(static_cast<Sample>(a.in.bins.first)) - a.in.bins.skipped;
    return even(lower, lower + static_cast<std::int64_t>(a.in.bins.scale.width));
  }
}

struct cub_histogram {
  static constexpr Story story{.idea = "cub::DeviceHistogram: MultiHistogramEven, MultiHistogramRange",
                               .guarantees = "floats may round to another bin than the contract's formula",
                               .limits = "n below 2^31; rows of whole pixels, all of them complete",
                               .source = "NVIDIA CCCL"};
  static constexpr std::size_t largest = 0x7fffffff;
  template <class T, class O>
  static constexpr bool supports = std::is_floating_point_v<T> || sizeof(T) <= 4;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (O::operation != Binning::direct)
      if (is_closed(a.in.bins)) return {Code::unsupported, 0, "CUB's bins are half-open"};
    if constexpr (std::is_integral_v<T> && O::operation != Binning::direct)
      if (a.in.bins.sign) {
        if constexpr (sizeof(T) == 4) return run_on<std::int32_t>(a);
        return {Code::unsupported, 0, "i32 is the only signed type that this peer takes"};
      }
    return run_on<T>(a);
  }

 private:
  static bool is_closed(const auto& bins) {
    if constexpr (requires { bins.included; })
      return bins.included == bins.upper;
    else
      return bins.closed;
  }
  template <class Sample, class T, class O>
  static Status run_on(const Args<T, O>& a) {
    const Samples<T>& s = a.in.samples;
    const unsigned counters = a.in.counters();
    if (s.count % s.width || s.width % s.channels)
      return {Code::unsupported, 0, "CUB takes complete rows of whole pixels"};
    const Layout layout{.row_pixels = static_cast<int>(s.width / s.channels),
                        .rows = static_cast<int>(s.count / s.width),
                        .row_bytes = (s.pitch ? s.pitch : s.width) * sizeof(T)};
    Scratch scratch(*a.workspace);
    auto* const counts = scratch.take<unsigned>(counters);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for CUB's counts"};
    const auto histogram = [&](void* scratch, std::size_t& bytes, cudaStream_t stream) {
      switch (s.channels) {
        case 1:
          return multi<1, Sample>(scratch, bytes, a, counts, layout, stream);
        case 2:
          return multi<2, Sample>(scratch, bytes, a, counts, layout, stream);
        case 3:
          return multi<3, Sample>(scratch, bytes, a, counts, layout, stream);
        default:
          return multi<4, Sample>(scratch, bytes, a, counts, layout, stream);
      }
    };
    if (Status status = lab::run_cub(*a.workspace, a.stream, histogram); !status) return status;
    const auto stream = static_cast<cudaStream_t>(a.stream.handle);
    if (a.out.outside)
      if (auto e = cudaMemsetAsync(a.out.outside, 0, sizeof *a.out.outside, stream)) return status_of(e);
    constexpr unsigned block = 256;
    return launch(finish_kernel, {.grid = counters / block + 1, .block = block, .stream = a.stream}, counts, a.out,
                  counters, s.count);
  }
};

}  // namespace

Rungs cuda_peers() {
  static const lab::PeerList peers{lab::peer<Binding, OfStored<cub_histogram>>("cub", lab::cub_version())};
  return peers;
}

}  // namespace upsweep::ladders::histogram
