#include "simt/preemption.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>

#include "simt/module.h"
#include "simt/worker.h"

namespace upsweep::simt {
namespace {

// Ignored by default, and passed on silently by debuggers.
constexpr int preemption_signal = SIGURG;
// 10 ms: far longer than a lane of a sensible test runs between two barriers, and short enough to go unnoticed.
constexpr timespec period{0, 10'000'000};

const void* program_counter_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.pc);
#endif
}

}  // namespace

Preemption::Preemption(Worker& worker) : tick_{&Preemption::tick, &worker} {
  struct sigaction action {};
  action.sa_sigaction = [](int, siginfo_t* info, void* context) {
    if (info->si_code != SI_TIMER) return;
    const int saved = errno;
    auto& tick = *static_cast<Tick*>(info->si_value.sival_ptr);
    tick.function(*tick.worker, program_counter_of(*static_cast<ucontext_t*>(context)));
    errno = saved;
  };
  // SA_NODEFER: the handler may switch to another fiber, where the signal must work as before.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  sigaction(preemption_signal, &action, nullptr);

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = preemption_signal;
  event.sigev_value.sival_ptr = &tick_;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  exists_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
}

Preemption::~Preemption() {
  if (exists_) timer_delete(timer_);
}

void Preemption::arm() {
  const itimerspec every{.it_interval = period, .it_value = period};
  if (exists_) timer_settime(timer_, 0, &every, nullptr);
}

void Preemption::disarm() {
  const itimerspec never{};
  if (exists_) timer_settime(timer_, 0, &never, nullptr);
}

// Runs on the lane's stack, between two arbitrary instructions. Suspends only kernel code, because the runtime and the
// C library are not re-entrant.
void Preemption::tick(Worker& worker, const void* program_counter) {
  if (worker.lane && module().is_kernel_code(program_counter)) worker.preempt();
}

}  // namespace upsweep::simt
