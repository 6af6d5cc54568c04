// Work in child processes: answers in order, and the result of a process that fails.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "lab/processes.h"

namespace upsweep::lab {
namespace {

const auto no_progress = [](std::size_t) {};

TEST(Processes, AnswersInTheirOrder) {
  const auto own = std::to_string(getpid());
  std::vector<std::size_t> seen;
  const auto answers = in_processes(
      7, [](std::size_t k) { return std::to_string(k) + " " + std::to_string(getpid()); },
      [&](std::size_t done) { seen.push_back(done); });
  ASSERT_EQ(answers.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(answers[k].error, "");
    EXPECT_EQ(answers[k].text.substr(0, 2), std::to_string(k) + " ");
    EXPECT_NE(answers[k].text.substr(2), own);  // not in this process
  }
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(in_processes(
                  0, [](std::size_t) { return std::string(); }, no_progress)
                  .empty());
}

TEST(Processes, AnswersLongerThanAPipe) {
  const auto answers = in_processes(
      3, [](std::size_t k) { return std::string(300'000 + k, 'x'); }, no_progress);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(answers[k].text.size(), 300'000 + k);
}

TEST(Processes, OneThatFailsOrDiesLeavesTheOthers) {
  const auto answers = in_processes(
      4,
      [](std::size_t k) -> std::string {
        if (k == 1) throw std::runtime_error("no luck");
        if (k == 2) raise(SIGKILL);
        return "fine";
      },
      no_progress);
  EXPECT_EQ(answers[0].text, "fine");
  EXPECT_EQ(answers[1].error, "no luck");
  EXPECT_EQ(answers[2].error, "killed by signal 9");
  EXPECT_EQ(answers[2].text, "");
  EXPECT_EQ(answers[3].text, "fine");
}

// A process is alive as long as it holds the write end of `alive`.
TEST(Processes, NoneOutlivesAParentThatIsKilled) {
  int alive[2], started[2];
  ASSERT_EQ(pipe(alive), 0);
  ASSERT_EQ(pipe(started), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    in_processes(
        1,
        [&](std::size_t) -> std::string {
          if (write(started[1], "x", 1) != 1) return "";
          for (;;) pause();
        },
        no_progress);
    _exit(0);
  }
  close(alive[1]);
  char byte;
  ASSERT_EQ(read(started[0], &byte, 1), 1);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd end{.fd = alive[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 20'000), 1) << "its process still runs";
  close(alive[0]);
  close(started[0]);
  close(started[1]);
}

}  // namespace
}  // namespace upsweep::lab
