// Ctrl-C. A program that calls handle_interrupts() gets SIGINT, SIGTERM and SIGHUP as a flag; long work asks for it and
// throws, so that destructors run and no half-written file stays. A second signal ends the program there and then, its
// temporary files removed by the handler itself.
#pragma once
#include <string>

namespace upsweep {

// Installs the handlers, and ignores SIGPIPE, so that a reader that went away is an Error like any other. For programs:
// a library never calls this. System calls that wait (a read of standard input) return at once on a signal.
void handle_interrupts();

// The signal that asked the program to stop, or 0.
int interrupted() noexcept;

// Throws Error(interrupted) once a signal has come. Cheap: one relaxed load.
void throw_if_interrupted();

// A file that a second signal unlinks. At most 16 at a time are guarded, and paths of up to 4095 bytes; others are
// still removed by whoever owns them.
class GuardedPath {
 public:
  explicit GuardedPath(const std::string& path) noexcept;
  GuardedPath(const GuardedPath&) = delete;
  GuardedPath& operator=(const GuardedPath&) = delete;
  ~GuardedPath() { release(); }
  void release() noexcept;  // the file is gone or has its final name

 private:
  int slot_ = -1;
};

}  // namespace upsweep
