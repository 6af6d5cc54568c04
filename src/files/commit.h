// Finished outputs get their names, all of them or none.
//
// A single output takes one rename. For several, a journal lies beside each of them from before the first rename until
// after the last. If the program is killed in between, some outputs are new and some are old: the next upsweep that
// opens one of them renames the others, and says so on standard error. An output that has been changed since stays as
// it is.
//
// A journal is called .upsweep-<16 hexadecimal digits>.commit. It has three lines for each output: the size in bytes of
// the file that holds it, that file, and the name that it gets. So `mv` does the same by hand.
#pragma once
#include <span>
#include <string>

namespace upsweep {

class OutputFile;

// Finishes the files, then renames them; signals wait from the first rename on. There is no fsync: a rename may not
// survive a power failure, but results can be computed again, and on a busy disk an fsync costs seconds. Throws
// Error(io_error), and Error(interrupted) before the first rename. If a later rename fails, the message says which file
// holds the output.
void commit_together(std::span<OutputFile* const> files);

// Finishes what a killed program has left of a commit, if this path is one of its outputs. Throws Error(io_error).
void complete_commit(const std::string& path);

// Returns the folder of a path, with its last slash; empty for a name alone.
std::string folder_of(const std::string& path);

// Returns the file that a path stands for: the end of a chain of symbolic links, whether it exists or not. The path
// itself if it is no link, or one of a circle of links.
std::string resolve(const std::string& path);

}  // namespace upsweep
