// partition/serial: the definition: count, scan, move.
#include "ladders/partition/binding.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{
      .idea = "one loop counts the buckets, another moves each key to the next offset of its bucket",
      .prediction = "a cache miss per key once the buckets' write positions exceed a core's cache and TLB",
      .guarantees = "stable",
      .limits = "any n",
      .source = "Knuth, The Art of Computer Programming 3, 5.2 (distribution counting)"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Input<T, O> in = a.in;
    const unsigned buckets = in.buckets.count;
    Scratch scratch(*a.workspace);
    auto* const next = scratch.take<std::size_t>(buckets);
    if (!scratch) return no_memory;
    if (a.stream.dry) return {};
    for (unsigned b = 0; b < buckets; ++b) next[b] = 0;
    for (std::size_t i = 0; i < in.n; ++i) ++next[in.bucket_of(i)];
    std::size_t before = 0;
    for (unsigned b = 0; b < buckets; ++b) {
      const std::size_t count = next[b];
      a.offsets.put(b, before);
      next[b] = before;
      before += count;
    }
    a.offsets.put(buckets, in.n);
    for (std::size_t i = 0; i < in.n; ++i) {
      const std::size_t place = next[in.bucket_of(i)]++;
      a.keys[place] = in.keys[i];
      a.values.move(i, place);
    }
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::partition
