#include "files/commit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <tuple>
#include <vector>

#include "files/file.h"
#include "files/quoted.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

struct Step {
  std::uint64_t bytes;
  std::string from, to;  // absolute
};
using Steps = std::vector<Step>;

// Returns the path of an output's journal. It is in the output's folder and follows from the output's name, so it is
// found without a search: a folder may have a million other files. The journal's name is a hash (FNV-1a), because the
// output's name may already have the maximum length, without room for a suffix.
std::string journal_of(const std::string& output) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const std::string folder = folder_of(output);
  for (const char c : output.substr(folder.size())) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char name[40];
  std::snprintf(name, sizeof name, ".upsweep-%016llx.commit", static_cast<unsigned long long>(hash));
  return folder + name;
}

std::string text_of(const Steps& steps) {
  std::string text;
  for (const Step& step : steps) text += std::to_string(step.bytes) + "\n" + step.from + "\n" + step.to + "\n";
  return text;
}

Steps steps_of(const std::string& text) {
  Steps steps;
  std::istringstream lines(text);
  std::string bytes, from, to;
  while (std::getline(lines, bytes) && std::getline(lines, from) && std::getline(lines, to) && !lines.eof())
    steps.push_back({std::strtoull(bytes.c_str(), nullptr, 10), from, to});
  return steps;
}

// The journals of one commit, locked while their program runs. If they cannot be written for lack of space or
// permission, the commit goes on without them.
class Journals {
 public:
  explicit Journals(const Steps& steps) {
    if (steps.size() < 2) return;
    const std::string text = text_of(steps);
    // A newline in a name would break the format.
    if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) != 3 * steps.size()) return;
    for (const Step& step : steps) write(journal_of(step.to), text);
  }
  Journals(const Journals&) = delete;
  Journals& operator=(const Journals&) = delete;
  ~Journals() {
    for (const std::string& path : written_) unlink(path.c_str());
    for (const int lock : locks_) close(lock);
  }

 private:
  // Writes to a temporary name first, and renames once the file is written and locked.
  void write(const std::string& path, const std::string& text) {
    const std::string draft = path + "." + std::to_string(getpid());
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return;
    locks_.push_back(file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && ::write(file, text.data(), text.size()) == ssize_t(text.size()) &&
        std::rename(draft.c_str(), path.c_str()) == 0)
      written_.push_back(path);
    else
      unlink(draft.c_str());
  }

  std::vector<std::string> written_;
  std::vector<int> locks_;
};

bool later(const timespec& a, const timespec& b) {
  return std::tie(a.tv_sec, a.tv_nsec) > std::tie(b.tv_sec, b.tv_nsec);
}

// True if a journal's step is pending and its file is one of our temporary files.
bool is_left(const Step& step) {
  struct stat status {};
  const std::string name = step.from.substr(folder_of(step.from).size());
  return folder_of(step.from) == folder_of(step.to) && name.starts_with(".upsweep-") && name.ends_with(".tmp") &&
         lstat(step.from.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         static_cast<std::uint64_t>(status.st_size) == step.bytes;
}

void say(const std::string& text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); }

void complete(const Steps& steps, const timespec& written, const std::string& journal) {
  for (const Step& step : steps) {
    if (!is_left(step)) continue;
    struct stat status {};
    const std::string output = printable(step.to);
    if (lstat(step.to.c_str(), &status) == 0 && later(status.st_mtim, written)) {
      unlink(step.from.c_str());
      say("upsweep: " + output + " has changed since a run was killed before it could replace it; it stays\n");
    } else if (std::rename(step.from.c_str(), step.to.c_str()) == 0) {
      say("upsweep: " + output + " has been replaced: the run that wrote it was killed after it had replaced others\n");
    } else {
      const int error = errno;
      throw Error(Code::io_error,
                  "cannot finish what a killed run has left: cannot rename to " + output + ": " + std::strerror(error),
                  "move " + printable(step.from) + " there, or delete " + printable(journal) + " to leave it");
    }
  }
  for (const Step& step : steps) unlink(journal_of(step.to).c_str());
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string resolve(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  if (real) return real.get();
  if (errno != ENOENT) return path;  // includes circular links
  std::error_code no_link;
  const std::filesystem::path to = std::filesystem::read_symlink(path, no_link);
  if (no_link) return path;
  return resolve(to.is_absolute() ? to.string() : folder_of(path) + to.string());
}

void complete_commit(const std::string& path) {
  const std::string journal = journal_of(resolve(path));
  const int file = open(journal.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  struct Closed {
    int descriptor;
    ~Closed() { close(descriptor); }
  } const closed{file};
  struct stat status {};
  // Accepts only a regular file of this user that no running program has locked and that has not just been removed.
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return;
  if (flock(file, LOCK_EX | LOCK_NB) != 0 || fstat(file, &status) != 0 || status.st_nlink == 0) return;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (pread(file, text.data(), text.size(), 0) != ssize_t(text.size())) return;
  complete(steps_of(text), status.st_mtim, journal);
}

void commit_together(std::span<OutputFile* const> files) {
  for (OutputFile* const file : files) file->finish();
  std::vector<OutputFile*> renamed;
  Steps steps;
  for (OutputFile* const file : files) {
    if (!file->temporary_) continue;
    const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
    const auto& [from, target, guard, kept] = *file->temporary_;
    struct stat status {};
    if (stat(from.c_str(), &status) != 0) file->fail("cannot write", errno);
    renamed.push_back(file);
    steps.push_back({static_cast<std::uint64_t>(status.st_size), absolute(from), absolute(target)});
  }
  if (renamed.empty()) return;
  throw_if_interrupted();
  const Uninterrupted all_or_none;
  const Journals journals(steps);
  for (std::size_t k = 0; k < renamed.size(); ++k) {
    if (std::rename(renamed[k]->temporary_->path.c_str(), renamed[k]->temporary_->target.c_str()) != 0) {
      const int error = errno;
      if (k == 0) renamed[k]->fail("cannot rename to", error);
      for (std::size_t left = k; left < renamed.size(); ++left) renamed[left]->temporary_.reset();  // keeps the files
      throw Error(Code::io_error,
                  renamed[0]->name() + " has been replaced, but cannot rename to " + renamed[k]->name() + ": " +
                      std::strerror(error),
                  "its content is in " + printable(steps[k].from) + ": move it yourself");
    }
    renamed[k]->temporary_.reset();
  }
}

}  // namespace upsweep
