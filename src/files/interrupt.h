// Ctrl-C. handle_interrupts() turns SIGINT, SIGTERM and SIGHUP into a flag; long-running work polls it and throws, so
// that destructors run and no half-written file remains. A second signal ends the program at once; the handler itself
// removes the temporary files.
#pragma once
#include <string>

namespace upsweep {

// Installs the handlers, and ignores SIGPIPE and SIGXFSZ, so that a reader that went away and a file that may not grow
// are ordinary Errors. For programs: a library never calls this. Blocking system calls (a read of standard input)
// return at once on a signal.
void handle_interrupts();

// Returns the signal that asked the program to stop, or 0.
int interrupted() noexcept;

// Throws Error(interrupted) once a signal has arrived. Cheap: one relaxed load.
void throw_if_interrupted();

// Whether that has been thrown, or the signal came while signals waited, so that the program is on its way out.
bool interrupt_noticed() noexcept;

// While one of these exists, signals wait: a second one does not end the program, and no file is unlinked. It is for
// the few steps of which all or none must be done. A signal that has come by its end counts as noticed.
class Uninterrupted {
 public:
  Uninterrupted() noexcept;
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

// A file that a second signal unlinks. At most 16 at a time are guarded, with paths of up to 4095 bytes; the owners of
// others still remove them.
class GuardedPath {
 public:
  explicit GuardedPath(const std::string& path) noexcept;
  GuardedPath(const GuardedPath&) = delete;
  GuardedPath& operator=(const GuardedPath&) = delete;
  ~GuardedPath() { release(); }
  void release() noexcept;  // the file is gone or has its final name
  // From now on, a second signal does not unlink the file but gives it this name.
  void keep_as(const std::string& name) noexcept;

 private:
  int slot_ = -1;
};

}  // namespace upsweep
