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

// Three significant digits and a unit: "31.2 ns", "4.56 us", "12.3 ms".
std::string time_text(double us);

// One case: rung, time, GB/s, score, speedup over the best peer ("=": a tie), and the score as a bar if the width
// allows. A rung that failed its check shows (F).
std::string score_table(const std::vector<Record>& records, const Terminal& terminal);

// Several sizes of one case: one row per rung and peer, one column per size, GB/s in the cells.
std::string sweep_table(const std::vector<Record>& records, const Terminal& terminal);

// Several inputs: one row per input, one column per rung and peer, times in the cells; and the speedup of the fastest
// rung over the first.
std::string input_table(const std::vector<Record>& records, const Terminal& terminal);

// Fills the markers of a text from the records in results/:
//   <!-- table:reduce device=h200 backend=cuda type=f32 op=sum input=uniform n=2^10,2^20,2^28 -->   <!-- /table -->
//   <!-- figure:scan device=h200 backend=cuda type=i32 op=sum n=2^28 show=speedup -->   <!-- /figure -->
// A table shows GB/s and scores; a figure is one number of `default` (or rung=): its score, its gbs, or its speedup
// over the best peer. Records are read from results/<device>/<primitive>.jsonl, or with file=name from
// results/<device>/<name>.jsonl. Omitted names match anything, except that situation defaults to back_to_back; a figure
// may have situation=worst. Parameters select by name: share=0.5, or - for cases without it; columns=share makes its
// values the columns instead of sizes. Throws Error(bad_file) for a marker that is unclosed or selects no records.
std::string fill_markers(const std::string& text, const std::string& source, const std::filesystem::path& results);

}  // namespace upsweep::lab
