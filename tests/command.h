// A fixture for tests that run the upsweep command.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace upsweep {

namespace fs = std::filesystem;

inline std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

struct Outcome {
  int code;
  std::string out, err;
};

// A temporary folder per test, in which the command runs.
class Cli : public testing::Test {
 protected:
  Cli() {
    std::string pattern = (fs::temp_directory_path() / "upsweep_cli_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Cli() override { fs::remove_all(folder_); }

  // Runs `before; upsweep arguments` in the folder, through the shell.
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd " + folder_.string() + " && { " + before + " " + UPSWEEP_PROGRAM + " " + arguments +
                                "; } >stdout.txt 2>stderr.txt </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(folder_ / "stdout.txt"),
            read(folder_ / "stderr.txt")};
  }
  // Expects the exit code `code`, nothing on stdout, and one line on stderr, which begins "upsweep: " and contains
  // `words`.
  void expect_error(const std::string& arguments, int code, const std::string& words,
                    const std::string& before = "") const {
    const Outcome outcome = run(arguments, before);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("upsweep: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  // Expects the command to report wrong usage, with exit code 2, before it writes any file.
  void expect_refused(const std::string& arguments, const std::string& words, const std::string& before = "") const {
    const std::size_t count = files().size();
    expect_error(arguments, 2, words, before);
    EXPECT_EQ(files().size(), count) << arguments;
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  template <class T>
  void write_raw(const std::string& name, const std::vector<T>& values) const {
    write(name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  template <class T>
  std::vector<T> read_raw(const std::string& name) const {
    const std::string bytes = read(folder_ / name);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  // Files in the folder, except the captured stdout and stderr.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (const std::string name = entry.path().filename(); name != "stdout.txt" && name != "stderr.txt")
        names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }
  fs::path folder_;
};

}  // namespace upsweep
