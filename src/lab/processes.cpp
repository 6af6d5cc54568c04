#include "lab/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>

#include "cpu/parallel.h"
#include "files/interrupt.h"
#include "upsweep/error.h"

namespace upsweep::lab {
namespace {

constexpr int failed = 1;  // exit status if the answer is an error message

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t bytes = write(file, text.data() + done, text.size() - done);
    if (bytes < 0 && errno != EINTR) return;  // the reader closed the pipe
    done += static_cast<std::size_t>(std::max<ssize_t>(bytes, 0));
  }
}

// A child process and the pipe for its answer. The destructor kills it if it has not finished.
class Process {
 public:
  Process(std::size_t index, const std::function<std::string(std::size_t)>& work) : index_(index) {
    int ends[2];
    if (pipe(ends) != 0) throw Error(Code::out_of_memory, "cannot create a pipe", "close other programs");
    std::fflush(nullptr);  // otherwise both processes would flush the same buffer
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ == 0) {
      // Dies with the parent, which a second signal ends at once: nobody would read the answer.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(failed);
      int status = 0;
      std::string text;
      try {
        text = work(index);
      } catch (const std::exception& error) {
        text = error.what();
        status = failed;
      }
      write_all(ends[1], text);
      _exit(status);  // skips atexit handlers and stream buffers, which belong to the parent
    }
    close(ends[1]);
    pipe_ = ends[0];
    if (id_ < 0) {
      close(pipe_);
      throw Error(Code::out_of_memory, "no process can be started", "close other programs");
    }
  }
  Process(Process&& other) noexcept : index_(other.index_), id_(other.id_), pipe_(other.pipe_) {
    text_.swap(other.text_);
    other.id_ = -1;
  }
  Process& operator=(Process&& other) noexcept {
    std::swap(index_, other.index_);
    std::swap(id_, other.id_);
    std::swap(pipe_, other.pipe_);
    text_.swap(other.text_);
    return *this;
  }
  ~Process() {
    if (id_ < 0) return;
    kill(id_, SIGKILL);
    join();
  }
  std::size_t index() const { return index_; }
  int pipe_end() const { return pipe_; }
  // Reads available output; returns false at end of file.
  bool read_some() {
    char buffer[4096];
    const ssize_t bytes = read(pipe_, buffer, sizeof buffer);
    if (bytes > 0) text_.append(buffer, static_cast<std::size_t>(bytes));
    return bytes > 0 || (bytes < 0 && errno == EINTR);
  }
  Answer answer() {
    const int status = join();
    if (WIFSIGNALED(status)) return {.text = {}, .error = fmt::format("killed by signal {}", WTERMSIG(status))};
    if (WEXITSTATUS(status) != 0) return {.text = {}, .error = text_};
    return {.text = std::move(text_), .error = {}};
  }

 private:
  int join() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    close(pipe_);
    id_ = -1;
    return status;
  }
  std::size_t index_;
  pid_t id_ = -1;
  int pipe_ = -1;
  std::string text_;
};

}  // namespace

std::vector<Answer> in_processes(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                 const std::function<void(std::size_t done)>& progress) {
  const std::size_t most = static_cast<std::size_t>(hardware_threads());
  std::vector<Answer> answers(count);
  std::vector<Process> running;
  for (std::size_t started = 0, done = 0; done < count;) {
    for (; started < count && running.size() < most; ++started) running.emplace_back(started, work);
    std::vector<pollfd> ends;
    for (const Process& process : running) ends.push_back({.fd = process.pipe_end(), .events = POLLIN, .revents = 0});
    poll(ends.data(), ends.size(), 100);  // ms: bounds the delay of an interrupt that arrives just before poll()
    throw_if_interrupted();
    for (std::size_t k = running.size(); k-- > 0;) {
      if (ends[k].revents == 0 || running[k].read_some()) continue;
      answers[running[k].index()] = running[k].answer();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
      progress(++done);
    }
  }
  return answers;
}

std::string output_of_this_program(const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>("upsweep")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) throw Error(Code::out_of_memory, "cannot create a pipe", "close other programs");
  const pid_t parent = getpid(), id = fork();
  if (id == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(failed);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    execv("/proc/self/exe", words.data());
    _exit(127);  // as a shell does for a missing program
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t bytes; id > 0 && (bytes = read(ends[0], buffer, sizeof buffer)) != 0;)
    if (bytes > 0)
      text.append(buffer, static_cast<std::size_t>(bytes));
    else if (errno != EINTR)
      break;
  close(ends[0]);
  if (id < 0) throw Error(Code::out_of_memory, "no process can be started", "close other programs");
  int status = 0;
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) throw Error(Code::device_error, fmt::format("killed by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127) throw Error(Code::io_error, "this program cannot be run again");
  return text;
}

}  // namespace upsweep::lab
