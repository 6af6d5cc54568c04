// Runs work in child processes: for emulators, which run one launch at a time and may crash with the kernel that they
// run.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace upsweep::lab {

struct Answer {
  std::string text;   // the work's result
  std::string error;  // empty, or the reason for a missing answer: "killed by signal 11"
};

// Runs work(k) for every k < count, each in a child process, with as many children in parallel as this process may use
// cores, and returns their answers. Calls `progress` with the number of finished children. Must be called before this
// process starts threads, because a child does not inherit them. Throws Error(interrupted) on Ctrl-C, and
// Error(out_of_memory) if no process can be started.
std::vector<Answer> in_processes(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                 const std::function<void(std::size_t done)>& progress);

// Runs this program with these arguments in a fresh process, as a shell would. Returns its standard output and standard
// error together, whatever the exit status. Throws Error(device_error) if a signal ends the process.
std::string output_of_this_program(const std::vector<std::string>& arguments);

}  // namespace upsweep::lab
