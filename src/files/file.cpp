#include "files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "files/commit.h"
#include "files/quoted.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

std::string hint_for(int error) {
  switch (error) {
    case ENOENT:
      return "check the path: a folder or file in it does not exist";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place that you may read and write, or change its permissions";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write to another disk";
    case EFBIG:
      return "this file system or your limits (ulimit -f) do not allow so large a file";
    case EISDIR:
      return "name a file, not a folder";
    case EPIPE:
      return "the program that was reading it has ended";
    default:
      return {};
  }
}

// Returns the descriptor of this process to which a path refers (/dev/stdout, /dev/fd/3, a link to one of these), or -1
// if it refers to none.
int own_descriptor(std::string path) {
  const std::string descriptors = resolve("/proc/self/fd");
  for (int links = 0; links < 40; ++links) {  // the kernel's limit
    const std::size_t slash = path.rfind('/');
    const std::string name = path.substr(slash + 1);
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (!name.empty() && name.size() < 7 && name.find_first_not_of("0123456789") == std::string::npos &&
        resolve(folder) == descriptors)
      return std::stoi(name);
    char target[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || length == sizeof target) return -1;
    const std::string link(target, static_cast<std::size_t>(length));
    path = link[0] == '/' || slash == std::string::npos ? link : folder + link;
  }
  return -1;
}

}  // namespace

bool has_ending(std::string_view path, std::string_view ending) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return path.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)  // open() returns the lowest free descriptor: this one
      (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void throw_io_error(const std::string& what, int error) {
  const std::string message = what + ": " + std::strerror(error);
  if (error == EPIPE) throw ReaderGone(Code::io_error, message, hint_for(error));
  throw Error(Code::io_error, message, hint_for(error));
}

InputFile::InputFile(const std::string& path) : name_(path == "-" ? "standard input" : printable(path)) {
  const auto fail = [&](int error) { throw_io_error("cannot read " + name_, error); };
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
  } else {
    complete_commit(path);
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (descriptor_ < 0) {
    if (errno == EINTR) throw_if_interrupted();  // a named pipe without a writer
    fail(errno);
  }
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return;
  try {
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    open_.emplace(status, OpenFile::Use::read, name_);
  } catch (...) {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
    throw;
  }
  // Reading starts at the current offset: a previous process may have read part of standard input. A size of 0 may mean
  // that the size is unknown, as in /proc.
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    begin_ = static_cast<std::uint64_t>(std::max<off_t>(0, lseek(descriptor_, 0, SEEK_CUR)));
    size_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - static_cast<off_t>(begin_)));
  }
}

InputFile::~InputFile() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

template <class Get>
std::size_t InputFile::fill(std::span<std::byte> to, Get get) {
  std::size_t done = 0;
  while (done < to.size()) {
    throw_if_interrupted();
    const ssize_t got = get(to.subspan(done, std::min(to.size() - done, most_at_once)), done);
    if (got == 0) break;
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      throw_io_error("cannot read " + name_, errno);
  }
  return done;
}

std::size_t InputFile::read(std::span<std::byte> to) {
  return fill(to,
              [&](std::span<std::byte> part, std::size_t) { return ::read(descriptor_, part.data(), part.size()); });
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> to) {
  return fill(to, [&](std::span<std::byte> part, std::size_t done) {
    return pread(descriptor_, part.data(), part.size(), static_cast<off_t>(begin_ + offset + done));
  });
}

OutputFile::OutputFile(const std::string& path) : name_(path == "-" ? "standard output" : printable(path)) {
  try {
    open_target(path);
  } catch (...) {
    close_descriptor();
    throw;
  }
}

void OutputFile::open_target(const std::string& path) {
  struct stat status {};
  const auto in_place = [&](int descriptor) {
    descriptor_ = descriptor;
    if (descriptor_ < 0) fail("cannot write", errno);
    if (fstat(descriptor_, &status) == 0) open_.emplace(status, OpenFile::Use::written, name_);
  };
  if (path == "-") return in_place(STDOUT_FILENO);
  if (const int own = own_descriptor(path); own >= 0) return in_place(fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  complete_commit(path);
  const std::string target = resolve(path);
  const bool exists = stat(target.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("cannot write", errno);  // a name too long, or a file in place of a folder
  if (exists && S_ISDIR(status.st_mode)) fail("cannot write", EISDIR);
  if (target.empty() || target.back() == '/') fail("cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return in_place(open(target.c_str(), O_WRONLY | O_CLOEXEC));  // device, pipe
  // A read-only file is kept, although write permission on its folder would allow replacing it.
  if (exists && access(target.c_str(), W_OK) != 0) fail("cannot write", errno);
  if (exists) open_.emplace(status, OpenFile::Use::replaced, name_);
  static std::atomic<unsigned> counter{0};
  std::string temporary;
  do {
    temporary = folder_of(target) + ".upsweep-" + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
    descriptor_ = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail("cannot write", errno);
  if (exists) {  // best effort: some file systems have no owners or modes, and chown may need privileges
    (void)!fchown(descriptor_, status.st_uid, status.st_gid);
    (void)!fchmod(descriptor_, status.st_mode & 07777);
  }
  temporary_ = Temporary{temporary, target, std::make_unique<GuardedPath>(temporary), std::nullopt};
}

void OutputFile::close_descriptor() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

OutputFile::~OutputFile() {
  close_descriptor();
  if (!temporary_) return;
  if (temporary_->kept && interrupted())
    (void)!std::rename(temporary_->path.c_str(), temporary_->kept->c_str());
  else
    unlink(temporary_->path.c_str());
}

std::optional<std::string> OutputFile::keep_if_interrupted() {
  if (!temporary_) return std::nullopt;
  temporary_->kept = temporary_->target + ".partial";
  temporary_->guard->keep_as(*temporary_->kept);
  return temporary_->kept;
}

void OutputFile::fail(const char* what, int error) const { throw_io_error(std::string(what) + " " + name_, error); }

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    throw_if_interrupted();
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_at_once));
    if (put >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    else if (errno != EINTR)
      fail("cannot write", errno);
  }
}

void OutputFile::rewrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(put)), offset += static_cast<std::uint64_t>(put);
    else if (errno != EINTR)
      fail("cannot write", errno);
  }
}

void OutputFile::finish() {
  if (descriptor_ <= STDERR_FILENO) return;
  const int descriptor = descriptor_;
  descriptor_ = -1;
  open_.reset();
  if (close(descriptor) != 0 && errno != EINTR) fail("cannot write", errno);  // network disks report ENOSPC here
}

void OutputFile::commit() {
  OutputFile* const alone[] = {this};
  commit_together(alone);
}

}  // namespace upsweep
