#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace upsweep {
namespace {

// A worker that finds nothing to do spins for this long before it sleeps: a program that calls in a loop never pays for
// a wake-up (tens of microseconds, in a virtual machine), and one that stops calling has its cores back at once.
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

struct Job {
  detail::PartFn run;
  void* context;
  int parts;
  std::atomic<int> next;  // the first `participants` parts are assigned; the others go to whoever asks

  void work(int part) {
    for (; part < parts; part = next.fetch_add(1, std::memory_order_relaxed)) run(context, part);
  }
};

// One thread, pinned: an unpinned one that is woken may land on the caller's core and wait for it to leave.
// The mailbox is null when the worker is idle, a job when one is offered, and `taken` while the worker is inside it. A
// caller takes an offer back (job -> null) when it has finished its own part first, so it never waits for a worker that
// has not woken yet, and a worker lost to fork() costs nothing but its help.
struct alignas(64) Worker {
  std::atomic<Job*> mailbox{nullptr};
  std::atomic<int> asleep{0};
  int part = 0;  // the offered job's first part for this worker
  int cpu = 0;

  static Job* taken() { return reinterpret_cast<Job*>(alignof(Job)); }  // no job has this address

  void offer(Job& job, int first) {
    part = first;
    mailbox.store(&job, std::memory_order_seq_cst);  // before the load below: else both sides could miss each other
    if (asleep.load(std::memory_order_seq_cst)) {
      asleep.store(0, std::memory_order_seq_cst);
      asleep.notify_one();
    }
  }

  // Does the worker's part if it has not begun; otherwise waits until it has finished.
  void settle(Job& job) {
    Job* offered = &job;
    if (mailbox.compare_exchange_strong(offered, nullptr, std::memory_order_acquire)) return job.work(part);
    for (unsigned spins = 0; mailbox.load(std::memory_order_acquire) != nullptr; ++spins)
      spins < 10000 ? pause() : std::this_thread::yield();  // 10000 pauses (~0.2 ms): it lost its core; lend it ours
  }

  [[noreturn]] void loop() {
    for (;;) {
      Job* job = wait();
      if (!mailbox.compare_exchange_strong(job, taken(), std::memory_order_acquire)) continue;
      job->work(part);
      mailbox.store(nullptr, std::memory_order_release);
    }
  }

 private:
  Job* wait() {
    for (;;) {
      const auto deadline = std::chrono::steady_clock::now() + spin_time;
      do {
        for (int i = 0; i < 64; ++i) {  // 64 pauses are about a microsecond: the clock is read that often
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

// Lives until the process ends: its threads may be asleep in it at any time.
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
    Job job{run_part, context, parts, threads};
    // One worker a core, and all but the one whose core the caller is on.
    const int here = sched_getcpu();
    int offered = 0;
    for (std::size_t i = 0; i < count_ && offered < threads - 1; ++i)
      if (workers_[i].cpu != here) workers_[i].offer(job, ++offered);
    job.work(0);
    for (std::size_t i = 0, settled = 0; settled < static_cast<std::size_t>(offered); ++i)
      if (workers_[i].cpu != here) workers_[i].settle(job), ++settled;
    busy_.clear(std::memory_order_release);
  }

 private:
  explicit Pool(const std::vector<int>& cpus) : count_(cpus.size()), workers_(new Worker[cpus.size()]) {
    for (std::size_t i = 0; i < count_; ++i) workers_[i].cpu = cpus[i];
  }

  void start() {  // inside busy_
    if (started_) return;
    started_ = true;
    sigset_t all, before;  // workers take no signals: those are the program's own threads' business
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
        break;  // no thread to be had: callers take every offer back and do the work themselves
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  bool started_ = false;
  std::size_t count_;
  std::unique_ptr<Worker[]> workers_;
};

}  // namespace

int hardware_threads() { return Pool::get().cpus(); }

void detail::run_parts(int parts, int threads, PartFn run, void* context) noexcept {
  Pool::get().run(parts, threads, run, context);
}

}  // namespace upsweep
