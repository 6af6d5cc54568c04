// Chooses between one core and all cores, by which was faster recently, for work so short that waking cores and moving
// cache lines between them can cost more than the extra cores gain.
//
// A size threshold cannot decide this. On one virtual machine with two Zen 5 cores, a partition of 2^14 keys into 256
// buckets took 14 us on one core, and 10 us or 28 us on both: the round trip of a signal between the cores took 270 to
// 860 ns, varying from minute to minute. Waking a sleeping worker took 40 us of the caller's time. A call cannot query
// these costs, but the times of earlier calls include them.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace upsweep {

// The choice for one class of similar calls. Compares one core and all in trials of several consecutive calls, because
// the first call on all cores has to wake the others. The slower choice is retried, at first soon, and eventually so
// rarely that it costs a hundredth of the time.
class OneOrAll {
 public:
  // True if the next call should use all cores.
  bool all() const { return all_; }

  // Records the duration of the call that has just ended, which used the cores that all() chose.
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

  // A snapshot of the state, which a program may request while calls run.
  struct State {
    bool all;
    double one_us, all_us;  // per call, in the last trial of each choice; 0: no trial yet
  };
  State state() {
    const Idle idle(busy_);
    return {all_, mean_us_[false], mean_us_[true]};
  }
  // Resets the state, as if there had been no calls.
  void forget() {
    const Idle idle(busy_);
    all_ = favourite_ = true;
    mean_us_[0] = mean_us_[1] = trial_us_ = 0;
    trial_calls_ = trials_left_ = 0;
    patience_ = 1;
  }

  // Returns f(all()) and, if the result is true, records the time: a failed call ends early and does not count. A
  // concurrent call, on another thread or inside f, returns f(true): the cores are busy then, so parallel() runs it on
  // the caller's core.
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
  // Waits until no call is running, and locks the state.
  class Idle {
   public:
    explicit Idle(std::atomic_flag& busy) : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;
    ~Idle() { busy_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& busy_;
  };

  // A trial ends after 16 calls or 500 us, whichever comes first: a sleeping worker joins in about 100 us after the
  // call that wakes it.
  static constexpr int calls_per_trial = 16;
  static constexpr double us_per_trial = 500;
  int most_patience() const {
    constexpr double cost = 0.01, most = 3;  // a larger ratio more likely means that a trial was interrupted
    const auto [less, more] = std::minmax(mean_us_[0], mean_us_[1]);
    return std::max(4, static_cast<int>((std::min(more / less, most) - 1) / cost));
  }

  bool all_ = true, favourite_ = true;
  double mean_us_[2] = {};  // per call, in the last trial on one core and on all; 0: no trial yet
  double trial_us_ = 0;
  int trial_calls_ = 0;
  int patience_ = 1;     // trials of the favourite per trial of the other choice; doubled when the favourite wins
  int trials_left_ = 0;  // trials of the favourite before the next trial of the other choice
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

// The state learnt from a kind of call. It lives as long as the program, which can list and reset it.
class LearntCalls {
 public:
  struct Kind {
    std::string calls;
    OneOrAll::State state;
  };
  virtual std::vector<Kind> kinds() = 0;  // the classes of calls with a finished trial
  virtual void forget() = 0;

 protected:
  ~LearntCalls() = default;
  void add_to_program();
};
std::vector<LearntCalls::Kind> learnt_kinds();
void forget_learnt();

// One OneOrAll per class of similar calls: calls are similar if each of their numbers has the same bit width, and so is
// equal to within a factor of two. `most`: the maximum of each number. For static objects.
template <std::size_t... most>
class AlikeCalls final : LearntCalls {
 public:
  // `calls`, `names`: display names of the calls and of each number.
  template <class... Names>
  explicit AlikeCalls(std::string_view calls, Names... names) : calls_(calls), names_{names...} {
    static_assert(sizeof...(Names) == sizeof...(most));
    add_to_program();
  }
  template <class... Numbers>
  OneOrAll& operator()(Numbers... numbers) {
    static_assert(sizeof...(Numbers) == sizeof...(most));
    std::size_t at = 0;
    ((at = at * magnitudes<most> + static_cast<std::size_t>(std::bit_width(std::size_t{numbers}))), ...);
    return of_[at];
  }

 private:
  template <std::size_t number>
  static constexpr std::size_t magnitudes = std::bit_width(number) + 1;
  static constexpr std::size_t numbers = sizeof...(most);

  std::vector<Kind> kinds() override {
    std::vector<Kind> all;
    for (std::size_t at = 0; at < std::size(of_); ++at)
      if (const OneOrAll::State state = of_[at].state(); state.one_us > 0 || state.all_us > 0)
        all.push_back({text_of(at), state});
    return all;
  }
  void forget() override {
    for (OneOrAll& of : of_) of.forget();
  }
  // "sort of 4-byte keys: n < 2^15, bytes < 2^3": a number of magnitude k is below 2^k.
  std::string text_of(std::size_t at) const {
    constexpr std::size_t magnitudes_of[] = {magnitudes<most>...};
    std::string text;
    for (std::size_t k = numbers; k-- > 0; at /= magnitudes_of[k])
      text = (k ? ", " : ": ") + std::string(names_[k]) + " < 2^" + std::to_string(at % magnitudes_of[k]) + text;
    return std::string(calls_) + text;
  }

  const std::string_view calls_;
  const std::string_view names_[numbers];
  OneOrAll of_[(magnitudes<most> * ...)];
};

}  // namespace upsweep
