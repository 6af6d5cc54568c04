// Groups of processes, whose calls are those of every function while one is entered.
#pragma once
#include <nanobind/nanobind.h>

#include "upsweep.h"

namespace upsweep::python {

namespace nb = nanobind;

// A group whose engine is a Python object with the attributes `processes` and `process`, and the methods
//   all_gather(message: bytes) -> list[bytes]                                  every process's message
//   exchange(sends: list[tuple[int, memoryview]], receives: likewise) -> None  pieces, by process
class Group {
 public:
  // Throws a Python exception if a process does not take part.
  Group(nb::object engine, bool on_gpu, int device);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { close(); }
  void close();
  // Makes this the group of the thread's calls, until leave().
  void enter();
  void leave();
  // Throws the Python exception that an engine's method has raised, if one has.
  void rethrow();
  upsweep_group* opened() const { return opened_; }
  bool on_gpu() const { return on_gpu_; }

 private:
  static int all_gather(void* context, const void* data, std::size_t bytes,
                        void (*take)(void* reply, int p, const void* data, std::size_t bytes), void* reply);
  static int exchange(void* context, const upsweep_piece* sends, std::size_t send_count, const upsweep_piece* receives,
                      std::size_t receive_count);
  nb::object engine_;
  nb::object raised_;  // an exception of the engine's
  const bool on_gpu_;
  upsweep_group* opened_ = nullptr;
  Group* outer_ = nullptr;  // the thread's group before enter()
};

// The group of this thread's calls; null: they run alone.
Group* entered_group();

}  // namespace upsweep::python
