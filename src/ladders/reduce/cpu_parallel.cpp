// reduce/parallel: the simd rung on every core, or on one core if waking the others costs more than it gains.
#include <algorithm>

#include "cpu/parallel.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_extreme.h"
#include "ladders/reduce/cpu_segments.h"
#include "ladders/reduce/cpu_wider.h"

namespace upsweep::ladders::reduce {

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "the simd rung on every core; on one core below a measured size",
      .prediction = "ties with simd below 128 KiB; reaches the read ceiling from memory",
      .guarantees = "the order depends on the number of cores, the vector width and the alignment",
      .limits = "any n; params: threads",
      .source = "fork and join; McCool, Robison, Reinders, Structured Parallel Programming, 2012"};

  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr bool takes_segments = true;
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    using A = Accumulator<Out>;
    static const SpanReduction cached = reduction_to<T, Op, A>(From::caches);
    static const SpanReduction streamed = reduction_to<T, Op, A>(From::memory);
    if (a.segment_length) {
      reduce_segments(a, cached, streamed);
      return {};
    }
    if (a.n == 0) {
      *a.out = a.initial.alone();
      return {};
    }
    if constexpr (std::is_same_v<A, Out>) {
      reduce_all(a.in, a.n, a.out, a.op, a.tuning, cached, streamed);
      if (a.initial.given) *a.out = a.op(a.initial.value, *a.out);
    } else {
      A total;
      reduce_all(a.in, a.n, &total, a.op, a.tuning, cached, streamed);
      *a.out = with_initial(total, a.n, a.op, a.initial);
    }
    return {};
  }
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    static const ExtremeLoops loops = extreme_loops<T, Op>();
    const ExtremeBlock<T> best =
        one_core(a.n * sizeof(T)) ? extreme_block<Op>(a.in, a.n, loops) : best_of_parts<Op>(a.in, a.n, a.tuning, loops);
    *a.out = index_in(a.in, a.n, best, loops);
    return {};
  }

 private:
  // Minimum elements per segment for the SIMD loop, which first sets up its accumulators and, if it widens, a buffer.
  // With fewer, a plain loop is faster, because the additions of consecutive segments overlap.
  template <class T, class Out>
  static constexpr std::size_t short_segment = std::is_same_v<T, Out> ? 8 : 64;

  template <class T, class Op, class Out>
  static void reduce_all(const T* in, std::size_t n, Out* out, Op op, const Tuning& tuning, SpanReduction cached,
                         SpanReduction streamed) {
    if (one_core(n * sizeof(T)))
      cached(in, n, out);
    else
      by_parts(in, n, out, op, tuning, streamed);
  }

  // Out of line, so that a small sum does not pay for the stack frame. Arguments are passed by value: if run() passed
  // their addresses, the compiler would copy them to the stack with 16-byte loads of words just written by 8-byte
  // stores. Store forwarding then fails, and the load waits until all earlier stores have left the core: 2^10 f32 took
  // 38 ns instead of 26, and 200 ns instead of 134 if the store of the previous result had missed the caches.
  template <class T, class Op, class Out>
  [[gnu::noinline]] static void by_parts(const T* in, std::size_t n, Out* out, Op op, const Tuning& tuning,
                                         SpanReduction reduce) {
    const int threads = threads_of(tuning);
    const Parts parts = cut(n, sizeof(T), threads);
    struct alignas(64) Total {  // one cache line each, against false sharing
      Out value;
    };
    Total totals[Parts::most];
    upsweep::parallel(parts.count, threads, [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      reduce(in + begin, std::min(parts.size, n - begin), &totals[i].value);
    });
    Out total = totals[0].value;
    for (int i = 1; i < parts.count; ++i) total = op(total, totals[i].value);
    *out = total;
  }

  // Reduces long segments one after another, each on all cores; shorter segments in parts with equal numbers of them.
  template <class T, class Op, class Out>
  [[gnu::noinline]] static void reduce_segments(const Args<T, Op, Out>& a, SpanReduction cached,
                                                SpanReduction streamed) {
    using A = Accumulator<Out>;
    const auto finish = [&](std::size_t s, A total) { a.out[s] = with_initial(total, a.n, a.op, a.initial); };
    if (!one_core(a.segment_length * sizeof(T))) {
      for (std::size_t s = 0; s < a.segments(); ++s) {
        const std::span<const T> segment = a.segment(s);
        A total;
        by_parts(segment.data(), segment.size(), &total, a.op, a.tuning, streamed);
        finish(s, total);
      }
      return;
    }
    const SpanReduction reduce = one_core(a.n * sizeof(T)) ? cached : streamed;
    for_each_segment(a, [&](std::size_t s) {
      const std::span<const T> segment = a.segment(s);
      A total;
      if (segment.size() < short_segment<T, A>) {
        total = Op::template neutral<A>();
        for (const T x : segment) total = a.op(total, static_cast<A>(x));
      } else {
        reduce(segment.data(), segment.size(), &total);
      }
      finish(s, total);
    });
  }

  template <class Op, class T>
  static ExtremeBlock<T> best_of_parts(const T* in, std::size_t n, const Tuning& tuning, const ExtremeLoops& loops) {
    const int threads = threads_of(tuning);
    const Parts parts = cut(n, sizeof(T), threads);
    struct alignas(64) Best {
      ExtremeBlock<T> block;
    };
    Best bests[Parts::most];
    upsweep::parallel(parts.count, threads, [&](int i) {
      const std::size_t begin = static_cast<std::size_t>(i) * parts.size;
      bests[i].block = extreme_block<Op>(in + begin, std::min(parts.size, n - begin), loops);
      bests[i].block.begin += begin;
    });
    ExtremeBlock<T> best = bests[0].block;
    for (int i = 1; i < parts.count; ++i)
      if (Op::beats(bests[i].block.extreme, best.extreme)) best = bests[i].block;
    return best;
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::reduce
