#include "cpu/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace upsweep {
namespace {

// An idle worker spins for this long before it sleeps: a program that calls in a loop never pays for a wake-up (tens of
// microseconds in a virtual machine), and one that stops calling gets its cores back at once.
constexpr std::chrono::microseconds spin_time{30};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::vector<int> allowed_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

// The range of parts [begin, end) that one participant has left, in one atomic word, so that the owner takes from the
// front while others steal from the back.
class Share {
 public:
  void set(std::uint32_t begin, std::uint32_t end) { word_.store(pack(begin, end), std::memory_order_relaxed); }
  // Returns a part, or -1 if none is left.
  int take_first() {
    return take([](std::uint32_t& begin, std::uint32_t&) { return begin++; });
  }
  int take_last() {
    return take([](std::uint32_t&, std::uint32_t& end) { return --end; });
  }

 private:
  static std::uint64_t pack(std::uint32_t begin, std::uint32_t end) { return std::uint64_t{end} << 32 | begin; }
  template <class Which>
  int take(Which which) {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      auto begin = static_cast<std::uint32_t>(word), end = static_cast<std::uint32_t>(word >> 32);
      if (begin >= end) return -1;
      const std::uint32_t part = which(begin, end);
      if (word_.compare_exchange_weak(word, pack(begin, end), std::memory_order_relaxed)) return static_cast<int>(part);
    }
  }
  std::atomic<std::uint64_t> word_{0};
};

// One call of parallel(). Each participant owns a range of consecutive parts and walks it in order, then steals from
// the back of the others' ranges. So a core sees the same data in every call. i32 sums on two cores, in GB/s:
//   elements                                          2^23   2^24   2^25, beyond the caches
//   as above                                           142     99     58
//   if parts go to whichever core asks next            102     76     56
struct Job {
  detail::PartFn run;
  void* context;
  Share* const* shares;  // [participants]
  int participants;
  bool one_each;  // one part each: nothing to steal, and looking would only move cache lines between cores

  void work(int self) {
    for (int part; (part = shares[self]->take_first()) >= 0;) run(context, part);
    if (one_each) return;
    for (int i = 1; i < participants; ++i) {
      Share& other = *shares[(self + i) % participants];
      for (int part; (part = other.take_last()) >= 0;) run(context, part);
    }
  }
};

// One pinned thread: an unpinned thread, when woken, may land on the caller's core and wait for the caller to leave.
// The mailbox is null while the worker is idle, a job while one is offered, and taken() while the worker runs it. A
// caller that has finished its own share withdraws its offers (job -> null), so it never waits for a worker that has
// not woken yet, and a worker lost to fork() costs nothing but its help.
struct alignas(64) Worker {
  std::atomic<Job*> mailbox{nullptr};
  std::atomic<int> asleep{0};
  Share share;
  int self = 0;  // this worker's index among the participants of the offered job
  int cpu = 0;

  static Job* taken() { return reinterpret_cast<Job*>(alignof(Job)); }  // no job has this address

  void offer(Job& job, int participant) {
    self = participant;
    mailbox.store(&job, std::memory_order_seq_cst);  // before the load below: else both sides could miss each other
    if (asleep.load(std::memory_order_seq_cst)) {
      asleep.store(0, std::memory_order_seq_cst);
      asleep.notify_one();
    }
  }

  // Withdraws the offer and does the worker's share if the worker has not begun; otherwise waits until it has finished.
  void settle(Job& job) {
    Job* offered = &job;
    if (mailbox.compare_exchange_strong(offered, nullptr, std::memory_order_acquire)) return job.work(self);
    for (unsigned spins = 0; mailbox.load(std::memory_order_acquire) != nullptr; ++spins)
      spins < 10000 ? pause() : std::this_thread::yield();  // after ~0.2 ms, the worker has lost its core: yield ours
  }

  [[noreturn]] void loop() {
    for (;;) {
      Job* job = wait();
      if (!mailbox.compare_exchange_strong(job, taken(), std::memory_order_acquire)) continue;
      job->work(self);
      mailbox.store(nullptr, std::memory_order_release);
    }
  }

 private:
  Job* wait() {
    for (;;) {
      const auto deadline = std::chrono::steady_clock::now() + spin_time;
      do {
        for (int i = 0; i < 64; ++i) {  // 64 pauses take about 1 us, the interval at which the clock is read
          if (Job* job = mailbox.load(std::memory_order_relaxed)) return job;
          pause();
        }
      } while (std::chrono::steady_clock::now() < deadline);
      asleep.store(1, std::memory_order_seq_cst);
      if (mailbox.load(std::memory_order_seq_cst))
        asleep.store(0, std::memory_order_relaxed);
      else
        asleep.wait(1);
    }
  }
};

// All workers of the process. Lives until the process ends, because its threads may be asleep in it at any time.
class Pool {
 public:
  static Pool& get() {
    static Pool* const pool = new Pool(allowed_cpus());
    return *pool;
  }

  int cpus() const { return static_cast<int>(count_); }

  void run(int parts, int threads, detail::PartFn run_part, void* context) noexcept {
    if (threads <= 0 || threads > cpus()) threads = cpus();
    threads = std::min(threads, parts);
    if (threads <= 1 || busy_.test_and_set(std::memory_order_acquire)) {
      for (int part = 0; part < parts; ++part) run_part(context, part);
      return;
    }
    start();
    // One worker per core, except for the core that the caller is on.
    const int here = sched_getcpu();
    int participants = 0;
    shares_[participants++] = &share_;
    for (std::size_t i = 0; participants < threads; ++i)
      if (workers_[i].cpu != here) helpers_[participants] = &workers_[i], shares_[participants++] = &workers_[i].share;
    for (int i = 0; i < participants; ++i)
      shares_[i]->set(first_part(i, parts, participants), first_part(i + 1, parts, participants));
    Job job{run_part, context, shares_.get(), participants, parts == participants};
    for (int i = 1; i < participants; ++i) helpers_[i]->offer(job, i);
    job.work(0);
    for (int i = 1; i < participants; ++i) helpers_[i]->settle(job);
    busy_.clear(std::memory_order_release);
  }

 private:
  explicit Pool(const std::vector<int>& cpus)
      : count_(cpus.size()), workers_(new Worker[count_]), helpers_(new Worker*[count_]), shares_(new Share*[count_]) {
    for (std::size_t i = 0; i < count_; ++i) workers_[i].cpu = cpus[i];
  }

  static std::uint32_t first_part(int participant, int parts, int participants) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(parts) * participant / participants);
  }

  void start() {  // with busy_ held
    if (started_) return;
    started_ = true;
    sigset_t all, before;  // workers block all signals: the program's own threads handle them
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (std::size_t i = 0; i < count_; ++i) {
      try {
        std::thread thread(&Worker::loop, &workers_[i]);
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(workers_[i].cpu, &mask);
        pthread_setaffinity_np(thread.native_handle(), sizeof mask, &mask);
        thread.detach();
      } catch (...) {
        break;  // no more threads: callers withdraw every offer and do the work themselves
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  bool started_ = false;
  std::size_t count_;
  std::unique_ptr<Worker[]> workers_;
  // The call in progress, guarded by busy_: participant 0 is the caller, the others are helpers_[i].
  Share share_;
  std::unique_ptr<Worker*[]> helpers_;
  std::unique_ptr<Share*[]> shares_;
};

}  // namespace

int hardware_threads() { return Pool::get().cpus(); }

void detail::run_parts(int parts, int threads, PartFn run, void* context) noexcept {
  Pool::get().run(parts, threads, run, context);
}

}  // namespace upsweep
