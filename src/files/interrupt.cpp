#include "files/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "files/quoted.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

std::atomic<int> received{0};
std::atomic<bool> noticed{false};
std::atomic<int> waiting{0};  // number of Uninterrupted objects
std::atomic<bool> ending{false};
static_assert(std::atomic<int>::is_always_lock_free, "the signal handler uses it");

// One guarded path. All state that the handler touches is static and lock-free.
struct Slot {
  enum State { unused, filling, in_use };
  std::atomic<int> state{unused};
  std::array<char, 4096> path{};  // PATH_MAX
  std::array<char, 4096> kept{};
  std::array<char, 1200> message{};  // about the kept file: four bytes per character of a name, plus the text
  std::atomic<bool> keep{false};
};
std::array<Slot, 16> slots;

extern "C" void on_signal(int signal) {
  int expected = 0;
  if (received.compare_exchange_strong(expected, signal)) return;
  ending = true;  // set before `waiting` is read, so that this thread or one about to rename files sees the other
  if (waiting > 0) {
    ending = false;
    return;
  }
  for (Slot& slot : slots)
    if (slot.state == Slot::in_use) {
      if (slot.keep) {
        (void)!std::rename(slot.path.data(), slot.kept.data());
        (void)!write(STDERR_FILENO, slot.message.data(), std::strlen(slot.message.data()));
      } else {
        unlink(slot.path.data());
      }
    }
  std::signal(signal, SIG_DFL);  // all calls are async-signal-safe; the signal is delivered when this handler returns
  std::raise(signal);
}

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a blocked read must return
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    // If the parent set the signal to ignored (nohup, a shell's background job), it stays ignored.
    if (sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupted() noexcept { return received.load(std::memory_order_relaxed); }

bool interrupt_noticed() noexcept { return noticed.load(std::memory_order_relaxed); }

void throw_if_interrupted() {
  if (!interrupted()) return;
  noticed = true;
  throw Error(Code::interrupted, "interrupted");
}

Uninterrupted::Uninterrupted() noexcept {
  ++waiting;
  while (ending) usleep(1000);  // a handler on another thread ends the program, or sees `waiting` and clears `ending`
}

Uninterrupted::~Uninterrupted() {
  if (interrupted()) noticed = true;
  --waiting;
}

GuardedPath::GuardedPath(const std::string& path) noexcept {
  if (path.size() >= slots[0].path.size()) return;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    int expected = Slot::unused;
    if (!slots[k].state.compare_exchange_strong(expected, Slot::filling)) continue;
    std::memcpy(slots[k].path.data(), path.c_str(), path.size() + 1);
    slots[k].keep = false;
    slots[k].state = Slot::in_use;
    slot_ = static_cast<int>(k);
    return;
  }
}

void GuardedPath::keep_as(const std::string& name) noexcept {
  if (slot_ < 0 || name.size() >= slots[0].kept.size()) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  if (slot.keep) return;
  std::memcpy(slot.kept.data(), name.c_str(), name.size() + 1);
  std::snprintf(slot.message.data(), slot.message.size(), "upsweep: what was finished is in %s\n",
                printable(name).c_str());
  slot.keep = true;
}

void GuardedPath::release() noexcept {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].state = Slot::unused;
  slot_ = -1;
}

}  // namespace upsweep
