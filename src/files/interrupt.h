// Ctrl-C. handle_interrupts() turns SIGINT, SIGTERM and SIGHUP into a flag. Long-running work polls it and throws, so
// that destructors run and no half-written file remains. A second signal ends the program at once; the handler itself
// removes the temporary files.
#pragma once
#include <string>

namespace upsweep {

// Installs the handlers, and ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file over its size limit are
// ordinary Errors. For programs: a library never calls this. Blocking system calls (a read of standard input) return at
// once on a signal.
void handle_interrupts();

// Returns the signal that requested termination, or 0.
int interrupted() noexcept;

// Throws Error(interrupted) once a signal has arrived. Cheap: one relaxed load.
void throw_if_interrupted();

// True if throw_if_interrupted() has thrown or a deferred signal has arrived, so that the program is shutting down.
bool interrupt_noticed() noexcept;

// While one exists, signals are deferred: a second one does not end the program, and no file is unlinked. For the few
// steps that must all be done or none. A signal that arrives during its lifetime counts as noticed.
class Uninterrupted {
 public:
  Uninterrupted() noexcept;
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

// A file that a second signal unlinks. At most 16 are guarded at once, with paths of up to 4095 bytes; others are
// removed only by their owners.
class GuardedPath {
 public:
  explicit GuardedPath(const std::string& path) noexcept;
  GuardedPath(const GuardedPath&) = delete;
  GuardedPath& operator=(const GuardedPath&) = delete;
  ~GuardedPath() { release(); }
  void release() noexcept;  // the file is removed or has its final name
  // From now on, a second signal renames the file to this name instead of unlinking it.
  void keep_as(const std::string& name) noexcept;

 private:
  int slot_ = -1;
};

}  // namespace upsweep
