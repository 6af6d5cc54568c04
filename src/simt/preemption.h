// Preempts a lane of an uninstrumented kernel that runs for long without calling the runtime: one that polls a volatile
// variable, or loops forever. (Instrumented kernels call the runtime at every branch and do not need this.)
#pragma once
#include <ctime>

namespace upsweep::simt {

class Worker;

// A timer of this OS thread's CPU time. While armed, its signal makes the running lane yield.
class Preemption {
 public:
  explicit Preemption(Worker& worker);
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;
  ~Preemption();
  void arm();
  void disarm();

 private:
  // The signal's payload. Several emulator libraries may share a process, and the last to install the handler serves
  // them all, so the payload points to a function of the library that owns the timer.
  struct Tick {
    void (*function)(Worker&, const void* program_counter);
    Worker* worker;
  };
  static void tick(Worker& worker, const void* program_counter);
  Tick tick_;
  timer_t timer_{};
  bool exists_ = false;
};

}  // namespace upsweep::simt
