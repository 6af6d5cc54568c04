// The thresholds by which a program chooses among rungs, tuned to its machine.
//
// A threshold is the number at which one rung, or one method inside a rung, takes over from another. The defaults were
// measured on an H200; `upsweep tune` measures another machine and writes a file. Like FFTW's wisdom, a file is read
// only if the program calls load_tuning() or the environment sets UPSWEEP_TUNING=FILE.
//
// On the CPU, sort and partition also learn at run time: calls of fewer than 2^19 and 2^20 keys, respectively, time one
// core against all cores, and use whichever was faster in recent calls of about that size. The first calls of a process
// may use the slower of the two, and retrying it later costs a hundredth of the time. The results do not depend on the
// choice. learnt() returns this state, and reset_tuning() clears it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace upsweep {

// Sets the thresholds named in the file for every device of this program; the others keep their values. A line is
// `sort.most_enumerated = 8192`, a comment that begins with #, or empty; lines about ladders that the program does not
// call have no effect. Throws Error(io_error) if the file cannot be read, and Error(bad_file), with the file and the
// line, for an unknown name, a malformed number, or a value that the code does not accept; no threshold is then
// changed. No other function of the library may run at the same time.
void load_tuning(const std::string& path);

// Resets all thresholds to their defaults, including those set by UPSWEEP_TUNING, and clears what CPU calls have
// learnt. No other function of the library may run at the same time.
void reset_tuning();

// A threshold, its value in force, and the file that set it, if any.
struct ThresholdInForce {
  std::string name;  // "sort.most_enumerated"
  std::uint64_t value, measured;
  std::string file;
};
// Returns the thresholds of all ladders that this program contains: those of their choosers and of its devices' rungs.
std::vector<ThresholdInForce> thresholds_in_force();

// The state that CPU calls of one kind have learnt so far in this process.
struct Learnt {
  std::string calls;                 // "sort of 4-byte keys: n < 2^15, bytes < 2^3"
  bool all_cores;                    // choice for the next call
  double one_core_us, all_cores_us;  // per call, in the last trial; 0: none yet
};
std::vector<Learnt> learnt();

}  // namespace upsweep
