// select on a group: each member selects from its part. What crosses the parts:
//
//   positions      are counted from the start of the whole array
//   find_repeats   an element's right neighbour may be the first of a later part
//   unique         a part may begin inside a run, which belongs to the part where it begins; likewise run_length_encode
//   partition_if   the elements that are not selected follow those selected from every part
#include "upsweep/select.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ladders/select/contract.h"
#include "multi/index.h"
#include "multi/merged.h"

namespace upsweep::multi {
namespace {

using ladders::select::traits, ladders::select::Traits;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;  // at a time, of what the host reads

// True if the element at this address equals `value`.
bool equals(const std::byte* element, const Scalar& value) {
  return visit_any(value.type(), [&]<class T>(TypeTag<T>) {
    T x;
    std::memcpy(&x, element, sizeof x);
    return x == value.as<T>();
  });
}
bool equal(const Scalar& a, const Scalar& b) { return equals(static_cast<const std::byte*>(a.data()), b); }

// The first and the last element of a part; empty if the part is.
struct Ends {
  Scalar first, last;
};

// Returns the number of elements at the start of the member's part that equal `value`.
std::uint64_t leading_run(Member& m, const Scalar& value) {
  const AnyView& in = m.request.in[0];
  const std::size_t element = size_of(in.type);
  std::vector<std::byte> chunk;
  std::uint64_t run = 0;
  for (std::uint64_t some = 64; run < m.n(); some = std::min<std::uint64_t>(2 * some, chunk_bytes / element)) {
    const std::uint64_t count = std::min(some, m.n() - run);
    chunk.resize(count * element);
    m.read(in, run, count, chunk.data());
    std::uint64_t k = 0;
    while (k < count && equals(chunk.data() + k * element, value)) ++k;
    run += k;
    if (k < count) break;
  }
  return run;
}

// Adds `base` to the first `count` positions.
void shift(Member& m, const AnyView& positions, std::uint64_t count, std::uint64_t base) {
  if (base == 0) return;
  visit_index(positions.type, [&]<class T>(T) {
    std::vector<T> chunk;
    for (std::uint64_t begin = 0; begin < count; begin += chunk.size()) {
      chunk.resize(std::min<std::uint64_t>(chunk_bytes / sizeof(T), count - begin));
      m.read(positions, begin, chunk.size(), chunk.data());
      for (T& x : chunk) x = static_cast<T>(x + base);
      m.write(positions, begin, chunk.size(), chunk.data());
    }
  });
}

void partition_if(GroupCall& call) {
  call.each([&](Member& m) { call.require_arrays(m, /*any_sizes=*/true); });
  std::uint64_t selected = 0;
  const auto arrange = [&](Member& m, const Arrays& from, const Arrays& to) {
    Request part = m.request;
    part.in[0] = from.keys;
    part.out = {to.keys, m.landing(Type::u64, 1)};
    m.run(part, call.rung());
  };
  merge(call, {.input = [](Member& m) { return Arrays{m.request.in[0], {}}; },
               .output = [](Member& m) { return Arrays{m.request.out[0], {}}; },
               .arrange_first = arrange,
               .arrange = arrange,
               .cut =
                   [&](std::span<const Arrays>, std::span<const std::uint64_t> begins) {
                     const auto counts = call.gather_lists<std::uint64_t>([&](Member& m) {
                       m.device.synchronize();
                       const std::uint64_t here = m.n() > 0 ? read_index(m, m.landing(Type::u64, 1), 0) : 0;
                       return std::vector{here, m.n() - here};
                     });
                     for (const std::vector<std::uint64_t>& sizes : counts) selected += sizes[0];
                     return cuts_of_buckets(counts, begins);
                   }});
  call.each([&](Member& m) { write_indices(m, m.request.out[1], {selected}); });
  call.finish();
}

}  // namespace

void select(GroupCall& call) {
  const Traits does = traits(call.first().operation.as<Selection>());
  if (does.rest) return partition_if(call);
  if (does.positions) require_index(call, 0);
  if (does.lengths) require_index(call, 2);

  // 1. The neighbours: the last element before each part, and the first after it.
  std::vector<Ends> ends(static_cast<std::size_t>(call.size()));
  if (does.neighbour)
    ends = call.gather<Ends>([&](Member& m) -> Ends {
      if (m.n() == 0) return {};
      return {m.read(m.request.in[0], 0), m.read(m.request.in[0], m.n() - 1)};
    });
  const auto before = [&](const Member& m) {
    Scalar last;
    for (int rank = 0; rank < m.rank; ++rank)
      if (const Ends& one = ends[static_cast<std::size_t>(rank)]; one.last) last = one.last;
    return last;
  };
  const auto after = [&](const Member& m) {
    for (int rank = m.rank + 1; rank < call.size(); ++rank)
      if (const Ends& one = ends[static_cast<std::size_t>(rank)]; one.first) return one.first;
    return Scalar();
  };

  // 2. Each part's selection, without the elements that belong to an earlier part's run.
  struct Run {
    std::uint64_t n, continued, runs;  // elements; those of an earlier part's run; runs that begin here
  };
  std::vector<Run> mine(call.members().size());
  const auto here = [&](const Member& m) -> Run& { return mine[m.index]; };
  call.each([&](Member& m) {
    call.require_arrays(m);
    here(m) = {m.n(), 0, 0};
    if (m.n() == 0) return;
    if (const Scalar left = does.starts_runs ? before(m) : Scalar()) here(m).continued = leading_run(m, left);
    Request part = m.request;
    part.in[0] = part_of(part.in[0], here(m).continued, m.n() - here(m).continued);
    part.out[1] = m.landing(Type::u64, 1);
    m.run(part, call.rung());
  });
  const auto runs = call.gather<Run>([&](Member& m) {
    m.device.synchronize();
    if (m.n() > 0) here(m).runs = read_index(m, m.landing(Type::u64, 1), 0);
    return here(m);
  });

  // 3. What depends on other parts.
  call.each([&](Member& m) {
    std::uint64_t selected = here(m).runs;
    if (does.positions) shift(m, m.request.out[0], selected, call.before(m.rank));
    if (does.neighbour && does.positions && m.n() > 0) {
      const Scalar right = after(m);
      if (right && equal(ends[static_cast<std::size_t>(m.rank)].last, right))
        write_indices(m, m.request.out[0], {call.before(m.rank) + m.n() - 1}, selected++);
    }
    if (does.lengths && selected > 0) {
      std::uint64_t more = 0;  // of the last run, in later parts
      for (int rank = m.rank + 1; rank < call.size(); ++rank) {
        const Run& next = runs[static_cast<std::size_t>(rank)];
        more += next.continued;
        if (next.continued < next.n) break;
      }
      if (more > 0)
        write_indices(m, m.request.out[2], {read_index(m, m.request.out[2], selected - 1) + more}, selected - 1);
    }
    write_indices(m, m.request.out[1], {selected});
  });
  call.finish();
}

}  // namespace upsweep::multi
