// Work in processes of their own: for emulators, which run one launch at a time and may crash with the kernel they run.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace upsweep::lab {

struct Answer {
  std::string text;   // what the work returned
  std::string error;  // empty, or why there is no answer: "killed by signal 11"
};

// Returns work(k) for every k < count, each in a process of its own, as many at a time as this process may use cores.
// Calls `progress` with the number done. Call it before this process starts a thread: a new process has none of them.
// Throws Error(interrupted) on Ctrl-C, and Error(out_of_memory) if no process can be started.
std::vector<Answer> in_processes(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                 const std::function<void(std::size_t done)>& progress);

// Runs this program with these arguments, as if from a shell: a process in which nothing has happened yet. Returns all
// that it prints, whatever its exit status. Throws Error(device_error) if a signal ends it.
std::string output_of_this_program(const std::vector<std::string>& arguments);

}  // namespace upsweep::lab
