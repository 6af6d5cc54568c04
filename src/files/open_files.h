// The files that are open in this process, so that none is read and written at once.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

struct stat;

namespace upsweep {

// An entry for as long as the file is open. It tells files apart by what they are, so that neither another name nor a
// descriptor hides one. Devices may be anything at the same time, except terminals, which show what is written.
class OpenFile {
 public:
  enum class Use : std::uint8_t { read, written, replaced };  // `replaced`: by a new file, under the same name
  // Throws Error(invalid_argument) if the file is written already, or is to be written and is open.
  OpenFile(const struct stat& status, Use use, const std::string& name);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

 private:
  std::uint64_t number_ = 0;  // of the entry; 0: of none
};

}  // namespace upsweep
