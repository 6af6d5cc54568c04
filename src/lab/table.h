// Records as tables: on the terminal after a run, and as Markdown in a README.
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

// The records of one case: rung, time, GB/s, score, how many times as fast as the best peer ("=": a tie), and the score
// as a bar where the width allows. A rung that failed its check shows (F).
std::string score_table(const std::vector<Record>& records, const Terminal& terminal);

// Several sizes of one case: a row for each rung and peer, a column for each size, GB/s in the cells.
std::string sweep_table(const std::vector<Record>& records, const Terminal& terminal);

// Replaces what stands between
//   <!-- table:reduce device=h200 backend=cuda type=f32 op=sum input=uniform n=2^10,2^20,2^28 -->
//   <!-- /table -->
// in `text` by a table of GB/s (and of score) made from results/<device>/<primitive>.jsonl, or with file=name from
// results/<device>/<name>.jsonl. Names left out of a marker do not select; parameters do by their own names, share=0.5
// (0 where a case sets nothing), and columns=share gives the values of one a column each, in the place of sizes. Throws
// Error(bad_file) for a marker that is not closed or selects nothing.
std::string fill_markers(const std::string& text, const std::string& source, const std::filesystem::path& results);

}  // namespace upsweep::lab
