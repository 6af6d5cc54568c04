// partition/parallel: every core has a share of the keys, and its own next place in every bucket.
//
// Idea      each core counts its share; the counts are added up bucket by bucket, and within a bucket share by share,
//           so that each core knows where its keys of a bucket go; each moves its share.
// Traffic   keys read twice, values once, both written once; a count per core and bucket.
// Order     the input's: shares are in order, and so are the keys of a share.
// Source    Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991.
#include <algorithm>
#include <utility>

#include "cpu/parallel.h"
#include "ladders/partition/binding.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "counts of each core's share, added up bucket by bucket; each core moves its share",
      .prediction = "cores times serial, as long as the memory is not the limit",
      .guarantees = "stable",
      .limits = "any n; params: threads",
      .source = "Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Input<T, O> in = a.in;
    const unsigned buckets = in.buckets.count;
    const int shares = one_core(in.n * sizeof(T)) ? 1 : threads_of(a.tuning);
    const std::size_t share = in.n / static_cast<std::size_t>(shares) + 1;
    const auto begin = [&](int s) { return std::min(static_cast<std::size_t>(s) * share, in.n); };
    // Of a share, buckets times: its count, then its next place.
    auto* const places = static_cast<std::size_t*>(
        a.workspace->scratch(std::size_t(buckets) * static_cast<std::size_t>(shares) * sizeof(std::size_t)));
    if (!places) return no_memory;
    const auto of_share = [&](int s) { return places + std::size_t(buckets) * static_cast<std::size_t>(s); };
    upsweep::parallel(shares, shares, [&](int s) {
      std::size_t* const count = of_share(s);
      std::fill_n(count, buckets, std::size_t{0});
      for (std::size_t i = begin(s); i < begin(s + 1); ++i) ++count[in.bucket_of(i)];
    });
    std::size_t before = 0;
    for (unsigned b = 0; b < buckets; ++b) {
      a.offsets.put(b, before);
      for (int s = 0; s < shares; ++s) before += std::exchange(of_share(s)[b], before);
    }
    a.offsets.put(buckets, in.n);
    upsweep::parallel(shares, shares, [&](int s) {
      std::size_t* const next = of_share(s);
      for (std::size_t i = begin(s); i < begin(s + 1); ++i) {
        const std::size_t place = next[in.bucket_of(i)]++;
        a.keys[place] = in.keys[i];
        a.values.move(i, place);
      }
    });
    return {};
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::partition
