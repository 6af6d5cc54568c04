// segmented_scan on a group. If a part begins inside a segment, that segment's elements are an ordinary scan whose
// initial value is the segment's total in the parts before; the segments that begin in the part are scanned as on one
// device. The heads are flags or keys.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/combine.h"
#include "multi/group_call.h"
#include "upsweep/scan.h"

namespace upsweep::multi {
namespace {

constexpr std::size_t chunk_elements = std::size_t{1} << 18;  // of heads, at a time, that the host reads

// The facts about a part that the other members need.
struct Open {
  bool has_head;  // a segment begins in the part
  Scalar total;   // of the last such segment, or of the whole part; empty if the part is
};

class Heads {
  // Calls f with an element of the heads' type.
  template <class F>
  auto visit_head(F&& f) {
    return kind_ == HeadKind::flags ? f(std::uint8_t{}) : f(std::uint32_t{});
  }
  template <class T>
  static constexpr bool is_flag = sizeof(T) == 1;

 public:
  // `left`: the key before the part, if heads are keys and there is an element before it.
  Heads(Member& m, HeadKind kind, const Scalar& left) : m_(m), heads_(m.request.in[1]), kind_(kind), left_(left) {}

  // Returns the first head; n if there is none.
  std::uint64_t first() {
    return visit_head([&]<class T>(T) {
      const std::uint64_t n = m_.n();
      std::vector<T> chunk;
      std::optional<T> before;
      if (left_) before = left_.as<T>();
      std::uint64_t at = 0;
      for (std::size_t some = 64; at < n; some = std::min(2 * some, chunk_elements)) {
        chunk.resize(std::min<std::uint64_t>(some, n - at));
        m_.read(heads_, at, chunk.size(), chunk.data());
        for (const T& x : chunk) {
          if (is_flag<T> ? x != 0 : before && x != *before) return at;
          before = x;
          ++at;
        }
      }
      return n;
    });
  }
  // True if element i is a head. Element 0 is one if its key differs from the last before the part.
  bool is_head(std::uint64_t i) {
    return visit_head([&]<class T>(T) {
      T pair[2] = {};
      if (is_flag<T> || i == 0) {
        m_.read(heads_, i, 1, pair);
        return is_flag<T> ? pair[0] != 0 : left_ && left_.as<T>() != pair[0];
      }
      m_.read(heads_, i - 1, 2, pair);
      return pair[0] != pair[1];
    });
  }

 private:
  Member& m_;
  const AnyView& heads_;
  const HeadKind kind_;
  const Scalar left_;
};

}  // namespace

void segmented_scan(GroupCall& call) {
  const SegmentedScanning how = segmented_scan_scalars.read(call.first().scalars);
  if (how.heads == HeadKind::offsets)
    throw Error(Code::unsupported, "segmented_scan: a group takes no offsets", "give the heads as flags or as keys");
  const Op op = call.first().operation.as<Op>();
  const Type type = call.first().out[0].type;

  // 1. Where the first segment of each part begins. The first element of all is a head.
  const auto last_keys = call.gather<Scalar>([&](Member& m) -> Scalar {
    call.require_arrays(m);
    if (m.n() == 0 || how.heads != HeadKind::keys) return {};
    return m.read(m.request.in[1], m.n() - 1);
  });
  std::vector<std::uint64_t> begins(call.members().size());
  std::vector<Scalar> lasts(begins.size());  // the last element of each part, which the output may replace
  const auto heads_of = [&](Member& m) {
    Scalar left;
    for (int rank = 0; rank < m.rank; ++rank)
      if (const Scalar& key = last_keys[static_cast<std::size_t>(rank)]) left = key;
    return Heads(m, how.heads, left);
  };
  call.each([&](Member& m) {
    if (m.n() == 0) return;
    begins[m.index] = call.before(m.rank) == 0 ? 0 : heads_of(m).first();
    lasts[m.index] = convert(m.read(m.request.in[0], m.n() - 1), type);
  });

  // Scans elements [0, begin) of a part as the rest of a segment.
  const auto scan_rest = [&](Member& m, bool inclusive, const Scalar& initial, const AnyView& out) {
    const std::uint64_t n = begins[m.index];
    m.run({.contract = &scan_contract,
           .operation = op,
           .in = {part_of(m.request.in[0], 0, n)},
           .out = {out},
           .scalars = scan_scalars.scalars({.inclusive = inclusive, .initial = initial})});
  };

  // 2. The segments that begin in each part, and the total of the last; or the total of a part without heads.
  const auto opens = call.gather<Open>([&](Member& m) -> Open {
    const std::uint64_t n = m.n(), begin = begins[m.index];
    if (n == 0) return {};
    if (begin == n) {
      const AnyView sums = m.take(type, n);
      scan_rest(m, true, {}, sums);
      return {false, m.read(sums, n - 1)};
    }
    Request part = m.request;
    for (AnyView* array : {&part.in[0], &part.in[1], &part.out[0]}) *array = part_of(*array, begin, n - begin);
    const bool last_is_head = n - 1 == begin || heads_of(m).is_head(n - 1);
    m.run(part, call.rung());
    const Scalar last = lasts[m.index], scanned = m.read(m.request.out[0], n - 1);
    if (how.inclusive) return {true, scanned};
    if (last_is_head) return {true, how.initial ? combine(op, how.initial, last) : last};
    return {true, combine(op, scanned, last)};
  });

  // 3. The rest of the segment in which each part begins.
  call.each([&](Member& m) {
    if (begins[m.index] == 0) return;
    Scalar carried;
    for (int rank = 0; rank < m.rank; ++rank) {
      const Open& one = opens[static_cast<std::size_t>(rank)];
      if (one.total) carried = one.has_head || !carried ? one.total : combine(op, carried, one.total);
    }
    scan_rest(m, how.inclusive, carried, part_of(m.request.out[0], 0, begins[m.index]));
  });
  call.finish();
}

}  // namespace upsweep::multi
