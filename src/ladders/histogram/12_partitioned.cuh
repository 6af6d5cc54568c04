// histogram/partitioned: samples are first sorted into buckets whose counters fit in a block's shared memory.
//
// With many slices, the samples would be read too often. Here they are read once and reduced to two bytes each: the
// index of the counter in its bucket. The first kernel sorts each tile by bucket, in shared memory, with per-thread
// counters, so that its time does not depend on the skew. The second kernel counts one bucket after another. Its warps
// claim groups of tiles dynamically, and a block that has finished a bucket moves on to the one with the most groups
// left.
//
// Traffic   n reads; 2 n bytes written and read again; 4 bytes per tile and bucket; an atomic addition per nonzero
//           counter and block that counted its bucket; totals read once.
// Order     any.
// Source    Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009 (tiles sorted in
//           shared memory); Merrill, Grimshaw, High Performance and Scalable Radix Sorting, 2011 (per-thread counters).
#pragma once
#include <algorithm>
#include <optional>

#include "ladders/histogram/bucket_counts.cuh"
#include "ladders/histogram/totals.cuh"

namespace upsweep::ladders::histogram {

struct partitioned {
  static constexpr Story story{
      .idea = "samples sorted into 32 buckets by counter, two bytes each; buckets counted in shared memory",
      .prediction = "0.45 of the read ceiling up to 2^20 counters, whatever the skew: 8 bytes of traffic instead of 4",
      .guarantees = "counts are exact",
      .limits = "any n; up to 2^20 counters; up to 1 GB of scratch",
      .source = "Satish, Harris, Garland, 2009; Merrill, Grimshaw, 2011"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t largest_part = most_at_once;
  static constexpr Needs needs = partitioned_needs;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.in.counters() > most_partitioned) return {Code::unsupported, 0, "partitioned takes up to 2^20 counters"};
    const Samples<T>& all = a.in.samples;
    // Maximum samples per part: 2^29, whose sorted form takes 1 GB of scratch. Halved until the allocation succeeds,
    // down to 2^20 (2 MB).
    constexpr std::size_t most = std::size_t(1) << 29, least = std::size_t(1) << 20;
    const auto tiles_of = [](std::size_t n) { return static_cast<unsigned>(ceil_div(n, Partition::tile)); };
    std::size_t at_once = std::clamp<std::size_t>(all.count, 1, most);
    std::optional<Scratch> scratch;
    std::uint16_t* places = nullptr;
    unsigned* runs = nullptr;
    for (;; at_once /= 2) {
      scratch.emplace(*a.workspace);
      places = scratch->take<std::uint16_t>(std::size_t{tiles_of(at_once)} * Partition::tile);
      runs = scratch->take<unsigned>(std::size_t{tiles_of(at_once)} * Partition::buckets);
      if (*scratch || at_once < 2 * least) break;
    }
    if (!*scratch) return {Code::out_of_memory, 0, "no memory for the sorted samples"};
    const unsigned slots = a.in.counters() + 1;
    if (all.count > at_once) at_once -= at_once % all.channels;
    // A part of whole rows may have little more than at_once / 2 samples, so there may be twice as many parts.
    const auto most_parts = static_cast<unsigned>(2 * all.count / at_once + 1);
    return by_totals(
        a,
        [&](unsigned* totals) {
          unsigned* zeros = totals + slots;
          return for_each_part(all, at_once, [&](const Samples<T>& samples) -> Status {
            const unsigned part_tiles = tiles_of(samples.count);
            const Partition part{places, runs, part_tiles, zeros, zeros + Partition::buckets};
            zeros += 2 * Partition::buckets;
            if (Status s = sort_tiles(a, {samples, a.in.bins}, part); !s) return s;
            const Shape shape{.grid = a.tuning.grid_or(persistent_grid(part_tiles)),
                              .block = 1024,
                              .shared_bytes = Partition::largest_bucket * sizeof(unsigned),
                              .overlap = true,
                              .stream = a.stream};
            return launch(count_buckets, shape, part, slots, totals);
          });
        },
        most_parts * 2 * Partition::buckets);
  }

 private:
  template <class T, class O>
  static Status sort_tiles(const Args<T, O>& a, const Input<T, O>& in, const Partition& to) {
    constexpr unsigned shared_bytes =
        Partition::tile * sizeof(std::uint16_t) + Partition::buckets * Partition::block * sizeof(unsigned);
    const unsigned most = 2 * persistent_grid(to.tiles);
    const Shape shape{.grid = a.tuning.grid_or(most < to.tiles ? most : to.tiles),
                      .block = Partition::block,
                      .shared_bytes = shared_bytes,
                      .overlap = true,
                      .stream = a.stream};
    return by_search(
        in, [&]<Search search>(Chosen<search>) { return launch(partition_kernel<search, T, O>, shape, in, to); });
  }
};

}  // namespace upsweep::ladders::histogram
