// Records as tables: on the terminal after a run, and in Markdown for a README.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lab/record.h"
#include "lab/sizes.h"
#include "lab/terminal.h"

namespace upsweep::lab {

// Formats a time with three significant digits and a unit: "31.2 ns", "4.56 us", "12.3 ms".
std::string time_text(double us);

// Formats the records of one case, one row each: rung, time, GB/s, score, speedup over the best peer ("=": a tie), and
// the score as a bar if the width allows. A rung that failed its check shows (F).
std::string score_table(const std::vector<Record>& records, const Terminal& terminal);

// Formats several sizes of one case: one row per rung or peer, one column per size, GB/s in the cells.
std::string sweep_table(const std::vector<Record>& records, const Terminal& terminal);

// Formats several inputs: one row per input, one column per rung or peer, times in the cells. If there are several, a
// last column has the speedup of the fastest over the first.
std::string input_table(const std::vector<Record>& records, const Terminal& terminal);

// Fills the markers of a text from the records in the folder `results`:
//   <!-- table:reduce device=h200 backend=cuda type=f32 op=sum input=uniform n=2^10,2^20,2^28 -->   <!-- /table -->
//   <!-- figure:scan device=h200 backend=cuda type=i32 op=sum n=2^28 show=speedup -->   <!-- /figure -->
// A table shows GB/s and scores, or times if it has show=time. A figure is one number of `default`, or of the rung that
// rung= names: its score, or as show= says, its gbs, its time, or its speedup over the best peer.
//
// The records are those of <device>/<primitive>.jsonl or, if the marker has file=name, of <device>/<name>.jsonl.
//   type=f32, op=sum, ...   selects records; a field that is not named may have any value, but for situation, which
//                           defaults to back_to_back
//   share=0.5, share=-      selects by a parameter: this value, or cases that do not set it
//   columns=share           in a table, makes the values of a parameter the columns, instead of the sizes
//   situation=worst         in a figure, takes the worst of all situations
// Throws Error(bad_file) for a marker that is unclosed or selects no records.
std::string fill_markers(const std::string& text, const std::string& source, const std::filesystem::path& results);

}  // namespace upsweep::lab
