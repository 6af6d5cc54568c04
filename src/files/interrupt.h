// Handles Ctrl-C: handle_interrupts() turns SIGINT, SIGTERM and SIGHUP into a flag. Long-running work polls the flag
// and throws, so that destructors run and no half-written file remains. A second signal ends the program immediately;
// the signal handler itself then removes the temporary files.
#pragma once
#include <string>

namespace upsweep {

// Installs the handlers, and ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file over its size limit are
// ordinary Errors. Programs call this; the library never does. Blocking system calls (a read of standard input) return
// immediately on a signal.
void handle_interrupts();

// Returns the signal that requested termination, or 0.
int interrupted() noexcept;

// Throws Error(interrupted) once a signal has arrived. Cheap: one relaxed load.
void throw_if_interrupted();

// True if throw_if_interrupted() has thrown or a deferred signal has arrived, so that the program is shutting down.
bool interrupt_noticed() noexcept;

// Defers signals during its lifetime: a second signal does not end the program, and no file is unlinked. For short
// sequences of steps that must be done completely or not at all. A signal that arrives meanwhile counts as noticed.
class Uninterrupted {
 public:
  Uninterrupted() noexcept;
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

// A file that a second signal unlinks. At most 16 files are guarded at a time, with paths of up to 4095 bytes; other
// files are removed only by their owners.
class GuardedPath {
 public:
  explicit GuardedPath(const std::string& path) noexcept;
  GuardedPath(const GuardedPath&) = delete;
  GuardedPath& operator=(const GuardedPath&) = delete;
  ~GuardedPath() { release(); }
  void release() noexcept;  // called once the file has been removed or has its final name
  // From now on, a second signal renames the file to this name instead of unlinking it.
  void keep_as(const std::string& name) noexcept;

 private:
  int slot_ = -1;
};

}  // namespace upsweep
