#include "files/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "files/file.h"

namespace upsweep {

Spool::~Spool() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Spool::fail(int error) const {
  throw Error(Code::io_error, "cannot keep temporary data in " + folder_ + ": " + std::strerror(error),
              error == ENOSPC || error == EDQUOT || error == EFBIG
                  ? "name a folder with more room: --temporary; or keep more in memory: --memory"
                  : "name another folder: --temporary");
}

void Spool::create() {
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  // For file systems without O_TMPFILE: creates a named file and immediately unlinks it.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail(errno);
  std::string path = folder_ + "/.upsweep-XXXXXX";
  descriptor_ = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  unlink(path.c_str());
}

void Spool::write(std::span<const std::byte> bytes) {
  if (descriptor_ < 0) create();
  while (!bytes.empty()) {
    throw_if_interrupted();
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_at_once));
    if (put < 0 && errno != EINTR) fail(errno);
    if (put <= 0) continue;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    size_ += static_cast<std::uint64_t>(put);
  }
}

void Spool::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    throw_if_interrupted();
    const ssize_t got = pread(descriptor_, to.data(), std::min(to.size(), most_at_once), static_cast<off_t>(offset));
    if (got < 0 && errno != EINTR) fail(errno);
    if (got == 0) fail(EIO);  // bytes that were written are missing
    if (got <= 0) continue;
    to = to.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::string spool_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/var/tmp";
}

}  // namespace upsweep
