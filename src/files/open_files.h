// Tracks the files open in this process, so that no file is read and written at the same time.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

struct stat;

namespace upsweep {

// Registers a file while it is open. Files are compared by device and inode, so that a file is recognised under another
// name or descriptor. Terminals, pipes and sockets can be written by one output only; other devices may be opened
// repeatedly.
class OpenFile {
 public:
  enum class Use : std::uint8_t { read, written, replaced };  // `replaced`: by a new file of the same name
  // Throws Error(invalid_argument) if the file is already open and either opening writes it in place.
  OpenFile(const struct stat& status, Use use, const std::string& name);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

 private:
  std::uint64_t number_ = 0;  // the entry's number; 0 if there is none
};

}  // namespace upsweep
