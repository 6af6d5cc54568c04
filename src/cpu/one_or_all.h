// One core or all: whichever has been faster lately, for work so short that waking cores and moving cache lines between
// them can cost more than the cores gain.
//
// No threshold of the size decides this. On one virtual machine with two Zen 5 cores, a partition of 2^14 keys into 256
// buckets took 14 us on one core, and 10 or 28 on both: a signal to the other core and back took 270 to 860 ns, by the
// minute. Waking a worker that sleeps took 40 us of the caller's time. A call cannot ask for any of that, but the calls
// before it have met with it.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>

namespace upsweep {

// Compares both ways by trials of several calls in a row, because the first call on all cores has to wake them. The
// slower way is tried again, soon at first, and in the end so seldom that it costs a hundredth of the time.
class OneOrAll {
 public:
  // Returns the way for the next call.
  bool all() const { return all_; }

  // Records the time of the call that has just ended, which took that way.
  void took(double us) {
    trial_us_ += us;
    if (++trial_calls_ < calls_per_trial && trial_us_ < us_per_trial) return;
    mean_us_[all_] = std::max(trial_us_ / trial_calls_, 1e-3);
    trial_us_ = trial_calls_ = 0;
    if (mean_us_[!all_] == 0) {
      all_ = !all_;
      return;
    }
    const bool faster = mean_us_[true] < mean_us_[false];
    if (all_ == favourite_ && faster == favourite_) {
      if (--trials_left_ <= 0) all_ = !all_;
      return;
    }
    patience_ = faster == favourite_ ? std::min(2 * patience_, most_patience()) : 2;
    favourite_ = all_ = faster;
    trials_left_ = patience_;
  }

  // Returns f(all()) and, if that is true, records its time: a call that fails ends early. Meanwhile, a call on another
  // thread or inside f returns f(true): the cores are busy, so parallel() runs it on the caller's.
  template <class F>
  auto call(F&& f) {
    if (busy_.test_and_set(std::memory_order_acquire)) return f(true);
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto result = f(all_);
    if (result) took(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    busy_.clear(std::memory_order_release);
    return result;
  }

 private:
  // A worker that was asleep takes part some 100 us after it was first wanted.
  static constexpr int calls_per_trial = 16;
  static constexpr double us_per_trial = 500;
  int most_patience() const {
    constexpr double cost = 0.01, most = 3;  // beyond that, more likely a trial was interrupted
    const auto [less, more] = std::minmax(mean_us_[0], mean_us_[1]);
    return std::max(4, static_cast<int>((std::min(more / less, most) - 1) / cost));
  }

  bool all_ = true, favourite_ = true;
  double mean_us_[2] = {};  // of the last trial on one core, and on all; 0: none yet
  double trial_us_ = 0;
  int trial_calls_ = 0;
  int patience_ = 1;     // trials of the favourite between those of the other way: twice as many after each in vain
  int trials_left_ = 0;  // of these
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

// Calls that are alike: those of which each number, up to `most`, is the same to within a factor of two.
template <std::size_t... most>
class AlikeCalls {
 public:
  template <class... Numbers>
  OneOrAll& operator()(Numbers... numbers) {
    static_assert(sizeof...(Numbers) == sizeof...(most));
    std::size_t at = 0;
    ((at = at * kinds<most> + static_cast<std::size_t>(std::bit_width(std::size_t{numbers}))), ...);
    return of_[at];
  }

 private:
  template <std::size_t number>
  static constexpr std::size_t kinds = std::bit_width(number) + 1;
  OneOrAll of_[(kinds<most> * ...)];
};

}  // namespace upsweep
