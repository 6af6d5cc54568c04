#include "files/open_files.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "upsweep/error.h"

namespace upsweep {
namespace {

struct Entry {
  std::uint64_t number;
  dev_t device;
  ino_t inode;
  OpenFile::Use use;
  std::string name;
};

struct Registry {
  std::mutex mutex;
  std::vector<Entry> entries;
  std::uint64_t last = 0;
};
Registry& registry() {
  static Registry all;
  return all;
}

// Terminals have the major device numbers 4, 5 and 136 to 143 (Linux, devices.txt).
bool is_terminal(const struct stat& status) {
  const unsigned major_number = major(status.st_rdev);
  return S_ISCHR(status.st_mode) &&
         (major_number == 4 || major_number == 5 || (major_number >= 136 && major_number <= 143));
}

[[noreturn]] void refuse(const Entry& there, OpenFile::Use use, const std::string& name) {
  const std::string both = there.name == name ? name : there.name + " and " + name;
  if (there.use == OpenFile::Use::read || use == OpenFile::Use::read)
    throw Error(Code::invalid_argument, both + ": the input is the output, and would grow as it is read",
                "write to another file; one that -o names may be the input");
  throw Error(Code::invalid_argument, "two outputs cannot both be " + both, "name another file for one of them");
}

}  // namespace

OpenFile::OpenFile(const struct stat& status, Use use, const std::string& name) {
  // Reading and writing the same stream is harmless, but two outputs would interleave.
  const bool stream = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || is_terminal(status);
  if (!S_ISREG(status.st_mode) && !(stream && use == Use::written)) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const Entry& there : all.entries)
    if (there.device == status.st_dev && there.inode == status.st_ino &&
        (use == Use::written || there.use == Use::written))
      refuse(there, use, name);
  number_ = ++all.last;
  all.entries.push_back({number_, status.st_dev, status.st_ino, use, name});
}

OpenFile::~OpenFile() {
  if (number_ == 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.entries, [&](const Entry& entry) { return entry.number == number_; });
}

}  // namespace upsweep
