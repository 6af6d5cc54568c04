// Boost.Sort, in its own unit because it takes as long to compile as all other CPU peers together.
#if defined(UPSWEEP_WITH_BOOST_SORT)
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <boost/version.hpp>

#include "ladders/sort/lab/sort_array.h"

namespace upsweep::ladders::sort {
namespace {

constexpr std::string_view boost_version = "Boost " BOOST_LIB_VERSION;

struct boost_block : OfArray<boost_block> {
  static constexpr Story story{
      .idea = "boost::sort::block_indirect_sort", .guarantees = "not stable", .limits = limits, .source = "Boost.Sort"};
  static constexpr bool any_order = true;
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    boost::sort::block_indirect_sort(begin, end, before);
  }
};

struct boost_spread : OfArray<boost_spread> {
  static constexpr Story story{.idea = "boost::sort::spreadsort::integer_sort, one core",
                               .guarantees = "not stable",
                               .limits = limits,
                               .source = "Boost.Sort"};
  static constexpr bool any_order = true;
  template <class E, class R>
  static void sort(E* begin, E* end, Before<R> before) {
    const auto shifted = [=](const E& e, unsigned by) { return before.rank(key_of(e)) >> by; };
    boost::sort::spreadsort::integer_sort(begin, end, shifted, before);
  }
};

}  // namespace

Rungs boost_peers() {
  static const lab::PeerList peers{lab::peer<Binding, boost_block>("boost::block_indirect_sort", boost_version),
                                   lab::peer<Binding, boost_spread>("boost::spreadsort", boost_version)};
  return peers;
}

}  // namespace upsweep::ladders::sort
#endif
