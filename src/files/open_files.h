// Tracks the files open in this process, so that none is read and written at once.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

struct stat;

namespace upsweep {

// Registers a file while it is open. Files are compared by device and inode, so that neither another name nor a
// descriptor hides one. Devices may be opened repeatedly, except terminals, which show what is written.
class OpenFile {
 public:
  enum class Use : std::uint8_t { read, written, replaced };  // `replaced`: by a new file of the same name
  // Throws Error(invalid_argument) if the file is being written, or is open and would be written.
  OpenFile(const struct stat& status, Use use, const std::string& name);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

 private:
  std::uint64_t number_ = 0;  // the entry's number; 0 if there is none
};

}  // namespace upsweep
