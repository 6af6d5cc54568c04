// Renames finished outputs to their final names, all of them or none.
//
// Renaming a single output is atomic. For several, a journal lies next to each of them from before the first rename
// until after the last. If the program is killed in between, some outputs are new and some are old. The next run of
// upsweep that opens one of these outputs renames the remaining ones, and says so on standard error. An output that has
// changed since then is left alone.
//
// A journal is called .upsweep-<16 hexadecimal digits>.commit. It has three lines per output: the size in bytes of the
// temporary file, its path, and the output's final path. The renames can thus be done by hand, with `mv`.
#pragma once
#include <span>
#include <string>

namespace upsweep {

class OutputFile;

// Finishes the files, then renames them; from the first rename on, signals are deferred. There is no fsync: a rename
// may not survive a power failure, but results can be recomputed, and on a busy disk an fsync takes seconds. Throws
// Error(io_error), and Error(interrupted) before the first rename. If a later rename fails, the message names the file
// that holds the output.
void commit_together(std::span<OutputFile* const> files);

// Completes the commit of a killed program, if this path is one of its outputs. Throws Error(io_error).
void complete_commit(const std::string& path);

// Returns the folder of a path, with its trailing slash; empty for a bare name.
std::string folder_of(const std::string& path);

// Follows a chain of symbolic links to its last target. Returns the canonical path if the target exists, the target's
// path if it does not, and the given path if it is no link and does not exist, or if the links form a circle.
std::string resolve(const std::string& path);

}  // namespace upsweep
