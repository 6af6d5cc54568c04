#include "simt/order.h"

#include <algorithm>
#include <functional>

#include "simt/block.h"

namespace upsweep::simt {
namespace {
// Maximum number of mbarriers whose bulk copies have separate thread numbers. The copies of further mbarriers share
// these numbers, which can hide a race but not invent one.
constexpr unsigned most_copies = 64;
constexpr std::size_t lane_width = 16;  // ticks joined per step: compilers vectorise a loop of constant length
}  // namespace

void join(OtherClocks& into, const Clocks& from) {
  if (into && into->size() >= from.size() && std::equal(from.begin(), from.end(), into->begin(), std::less_equal<>{}))
    return;
  auto both = into ? std::make_shared<Clocks>(*into) : std::make_shared<Clocks>();
  if (both->size() < from.size()) both->resize(from.size());
  for (std::size_t b = 0; b < from.size(); ++b) (*both)[b] = std::max((*both)[b], from[b]);
  into = std::move(both);
}

void HappensBefore::begin_launch(unsigned blocks, unsigned threads_a_block) {
  const auto threads = static_cast<ThreadNumber>(blocks * threads_a_block);
  const std::size_t width = (threads + most_copies + lane_width - 1) / lane_width * lane_width;
  forget();
  if (width > room_) {
    free_.clear();
    views_.clear();
    room_ = width;
  }
  width_ = width;
  threads_ = threads;
}

void HappensBefore::forget() {
  for (View*& view : view_) set(view, nullptr);
  for (auto& [number, mbarrier] : mbarriers_) {
    set(mbarrier.arrived, nullptr);
    set(mbarrier.arrived_from, nullptr);
    set(mbarrier.complete, nullptr);
  }
  mbarriers_.clear();
  for (View** view : {&waited_, &waited_for_, &wait_result_, &unsettled_, &settled_}) set(*view, nullptr);
}

void HappensBefore::begin_cluster(std::uint32_t settled) {
  forget();
  now_.assign(threads_, 1);
  view_.assign(threads_, nullptr);
  View* const nothing = make(nullptr);
  nothing->settled = settled;
  for (View*& view : view_) set(view, nothing);
  next_copies_ = 0;
}

// ---- views ----------------------------------------------------------------------------------------------------------

HappensBefore::View* HappensBefore::make(const View* like) {
  View* view;
  if (free_.empty()) {
    views_.push_back(std::make_unique<View>());
    view = views_.back().get();
    view->known = std::make_unique<Tick[]>(room_);
  } else {
    view = free_.back();
    free_.pop_back();
  }
  if (like)
    std::copy_n(like->known.get(), width_, view->known.get());
  else
    std::fill_n(view->known.get(), width_, 0);
  view->joined = 0;
  view->settled = like ? like->settled : 0;
  view->number = ++made_;
  for (const Relation r : {fenced, observed}) view->others[r] = like ? like->others[r] : nullptr;
  return view;
}

void HappensBefore::set(View*& at, View* view) {
  if (view) ++view->users;
  if (at && --at->users == 0) free_.push_back(at);
  at = view;
}

void HappensBefore::join(View& into, const View& from) const {
  into.settled = std::max(into.settled, from.settled);
  for (const Relation r : {fenced, observed})
    if (from.others[r] && into.others[r] != from.others[r]) {
      if (into.others[r])
        simt::join(into.others[r], *from.others[r]);
      else
        into.others[r] = from.others[r];
    }
  Tick* const a = into.known.get();
  const Tick* const b = from.known.get();
  for (std::size_t i = 0; i < width_; i += lane_width)
    for (std::size_t j = 0; j < lane_width; ++j) a[i + j] = std::max(a[i + j], b[i + j]);
}

void HappensBefore::learn(ThreadNumber first, std::uint32_t mask, Relation relation, const Clocks& clocks) {
  View *before = nullptr, *after = nullptr;  // lanes that shared a view share the new one
  for_each_bit(mask, [&](int i) {
    View*& view = view_[first + static_cast<unsigned>(i)];
    if (view != before) {
      OtherClocks others = view->others[relation];
      simt::join(others, clocks);
      if (others == view->others[relation]) return;
      View* const learned = make(view);
      learned->others[relation] = std::move(others);
      learned->number = view->number;  // the same ticks
      set(before, view);
      set(after, learned);
    }
    set(view, after);
  });
  set(before, nullptr);
  set(after, nullptr);
}

void HappensBefore::settle(ThreadNumber thread, std::uint32_t launch) {
  View*& view = view_[thread];
  if (view->settled >= launch) return;
  if (view != unsettled_ || settled_->settled != launch) {
    View* const after = make(view);
    after->settled = launch;
    set(unsettled_, view);
    set(settled_, after);
  }
  set(view, settled_);
}

// ---- meetings -------------------------------------------------------------------------------------------------------

// each(f) calls f(thread) for every thread that takes part.
template <class Each>
void HappensBefore::meet_each(Each&& each) {
  View* all = nullptr;
  const std::uint32_t this_join = ++joins_;
  each([&](std::size_t t) {
    View* const view = view_[t];
    if (view->joined == this_join) return;
    view->joined = this_join;
    if (!all)
      all = make(view);
    else
      join(*all, *view);
  });
  if (!all) return;
  each([&](std::size_t t) { all->known[t] = now_[t]++; });
  each([&](std::size_t t) { set(view_[t], all); });
}

void HappensBefore::meet(ThreadNumber first, std::uint32_t mask) {
  meet_each([&](auto&& f) { for_each_bit(mask, [&](int i) { f(std::size_t{first} + static_cast<unsigned>(i)); }); });
}

void HappensBefore::meet_all(ThreadNumber first, unsigned count) {
  meet_each([&](auto&& f) {
    for (std::size_t t = first; t < std::size_t{first} + count; ++t) f(t);
  });
}

// ---- mbarriers ------------------------------------------------------------------------------------------------------

void HappensBefore::arrive(std::uint64_t number, ThreadNumber thread) {
  Mbarrier& mbarrier = mbarriers_[number];
  View* const view = view_[thread];
  if (!mbarrier.arrived)
    set(mbarrier.arrived, make(view));
  else if (mbarrier.arrived_from != view)
    join(*mbarrier.arrived, *view);
  set(mbarrier.arrived_from, view);
  mbarrier.arrived->known[thread] = now_[thread]++;
}

void HappensBefore::complete(std::uint64_t number) {
  Mbarrier& mbarrier = mbarriers_[number];
  if (!mbarrier.arrived) set(mbarrier.arrived, make(nullptr));
  if (mbarrier.copies) {
    Tick& copied = mbarrier.arrived->known[mbarrier.copies];
    copied = std::max(copied, mbarrier.phase);
  }
  ++mbarrier.phase;
  set(mbarrier.complete, make(mbarrier.arrived));
}

void HappensBefore::wait(std::uint64_t number, ThreadNumber thread) {
  const auto found = mbarriers_.find(number);
  if (found == mbarriers_.end() || !found->second.complete) return;
  View* const complete = found->second.complete;
  View*& view = view_[thread];
  if (view == complete) return;
  if (view != waited_ || complete != waited_for_) {
    View* const both = make(view);
    join(*both, *complete);
    set(wait_result_, both);
    set(waited_, view);
    set(waited_for_, complete);
  }
  set(view, wait_result_);
}

std::pair<ThreadNumber, Tick> HappensBefore::copy(std::uint64_t number) {
  Mbarrier& mbarrier = mbarriers_[number];
  if (!mbarrier.copies) mbarrier.copies = static_cast<ThreadNumber>(threads_ + next_copies_++ % most_copies);
  return {mbarrier.copies, mbarrier.phase};
}

}  // namespace upsweep::simt
