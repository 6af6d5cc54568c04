// House rules that readers rely on, checked against the source: includes point one way, rung files match the ladders,
// there is only one list of rungs, and prose is at most 120 columns wide.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path root = UPSWEEP_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".inc"};
  return kinds.contains(path.extension());
}

std::vector<fs::path> sources_of(const char* folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.is_regular_file() && is_source(entry.path())) all.push_back(entry.path());
  return all;
}
std::vector<fs::path> sources() { return sources_of("src"); }

struct Rung {
  std::string kind, name;
};
// Returns the rungs of each primitive, as listed in its src/ladders/*/ladder.inc.
std::map<std::string, std::vector<Rung>> ladders() {
  static const std::regex line(R"(^RUNG\((\w+), (\w+)\))");
  std::map<std::string, std::vector<Rung>> all;
  for (const auto& folder : fs::directory_iterator(root / "src/ladders")) {
    if (!fs::exists(folder.path() / "ladder.inc")) continue;
    std::vector<Rung>& rungs = all[folder.path().filename()];
    std::istringstream text(read(folder.path() / "ladder.inc"));
    std::smatch match;
    for (std::string l; std::getline(text, l);)
      if (std::regex_search(l, match, line)) rungs.push_back({match[1], match[2]});
  }
  return all;
}

// ---- include direction ----------------------------------------------------------------------------------------------

// Public headers that include no other part of the library: the vocabulary that all layers share.
const std::set<std::string> vocabulary = [] {
  std::set<std::string> headers{"upsweep/types.h",  "upsweep/operators.h", "upsweep/half.h",      "upsweep/scalar.h",
                                "upsweep/status.h", "upsweep/error.h",     "upsweep/parameter.h", "upsweep/tuning.h"};
  for (const auto& entry : fs::directory_iterator(root / "include/upsweep/parameters"))
    headers.insert("upsweep/parameters/" + entry.path().filename().string());
  return headers;
}();

// The layer of a file: a folder of src/; "kernel/multisplit"; "ladders/scan" or "ladders/scan/lab"; "upsweep" or
// "upsweep.cuh" for public headers; "tests".
std::string layer_of(const fs::path& path) {
  std::vector<std::string> parts(path.begin(), path.end());
  if (parts[0] == "src") parts.erase(parts.begin());
  if (parts[0] == "include") parts.erase(parts.begin());
  if (parts[0] == "upsweep") return path.extension() == ".cuh" ? "upsweep.cuh" : "upsweep";
  if (parts[0] == "kernel" && parts.size() > 2) return "kernel/" + parts[1];
  if (parts[0] != "ladders" || parts.size() < 3) return parts[0];
  return "ladders/" + parts[1] + (parts[2] == "lab" ? "/lab" : "");
}

// The layers that a layer may include, besides itself.
std::set<std::string> allowed(const std::string& layer) {
  static const std::map<std::string, std::set<std::string>> fixed{
      {"base", {}},
      {"cpu", {"base"}},
      // The emulator replaces CUDA: kernel.h includes its counterpart of CUDA's header.
      {"kernel", {"base", "simt"}},
      {"kernel/multisplit", {"base", "kernel"}},
      {"simt", {"base", "cpu"}},
      {"cuda", {"base", "kernel"}},
      {"library", {"base", "cpu", "upsweep"}},
      {"files", {"base"}},
      {"lab", {"base", "cpu", "files", "kernel", "simt"}},
      {"upsweep", {}},
  };
  if (const auto found = fixed.find(layer); found != fixed.end()) return found->second;
  std::set<std::string> all{"base", "cpu", "kernel", "kernel/multisplit"};
  if (layer.starts_with("ladders/")) {
    const bool of_lab = layer.ends_with("/lab");
    if (of_lab) all.insert({"files", "lab"});
    for (const auto& [ladder, rungs] : ladders()) {
      all.insert("ladders/" + ladder);
      if (of_lab) all.insert("ladders/" + ladder + "/lab");
    }
    return all;
  }
  // The public .cuh headers, groups, the command and the tests.
  for (const auto& [ladder, rungs] : ladders()) {
    all.insert("ladders/" + ladder);
    if (layer != "upsweep.cuh" && layer != "multi") all.insert("ladders/" + ladder + "/lab");
  }
  all.insert("upsweep");
  if (layer == "multi") all.insert("library");
  if (layer == "upsweep.cuh" || layer == "multi")
    all.erase("cpu");
  else
    all.insert({"upsweep.cuh", "files", "lab", "multi", "simt"});
  return all;
}

// Returns the project's files that a file includes, as named in its #include lines.
std::vector<std::string> includes_of(const fs::path& path) {
  static const std::regex include(R"re(#include "(\w+/[^"]+)")re");
  const std::string text = read(path);
  std::vector<std::string> all;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it)
    if (fs::exists(root / "src" / (*it)[1].str()) || fs::exists(root / "include" / (*it)[1].str()))
      all.push_back((*it)[1]);
  return all;
}

TEST(House, IncludesPointOneWay) {
  int seen = 0;
  for (const char* folder : {"src", "include", "tests"})
    for (const fs::path& path : sources_of(folder)) {
      const fs::path from = path.lexically_relative(root);
      const std::string layer = layer_of(from);
      const std::set<std::string> may = allowed(layer);
      for (const std::string& to : includes_of(path)) {
        ++seen;
        if (vocabulary.contains(to)) continue;
        const std::string target = layer_of(to);
        EXPECT_TRUE(target == layer || may.contains(target)) << from << " includes " << to << ", which is above it";
      }
    }
  EXPECT_GT(seen, 400) << "too few includes found: are the folders right?";
}

// Ladders may build on each other, but not in a circle, so a topological order must exist.
TEST(House, LaddersHaveAnOrder) {
  std::map<std::string, std::set<std::string>> includes;  // ladder -> ladders that it includes
  const auto ladder_of = [](const fs::path& path) {
    const std::string layer = layer_of(path);
    return layer.starts_with("ladders/") ? layer.substr(8, layer.find('/', 8) - 8) : std::string();
  };
  for (const auto& [ladder, rungs] : ladders()) includes[ladder];
  for (const fs::path& path : sources_of("src/ladders"))
    for (const std::string& to : includes_of(path)) {
      const std::string from = ladder_of(path.lexically_relative(root)), target = ladder_of(to);
      if (!target.empty() && target != from) includes[from].insert(target);
    }
  EXPECT_TRUE(includes["sort"].contains("partition")) << "the includes are not found: are the folders right?";
  // Repeatedly removes the ladders that include none of the remaining ones, until none is left.
  for (std::size_t before = 0; before != includes.size();) {
    before = includes.size();
    std::erase_if(includes, [&](const auto& ladder) {
      return std::none_of(ladder.second.begin(), ladder.second.end(),
                          [&](const std::string& other) { return other != ladder.first && includes.contains(other); });
    });
  }
  for (const auto& [ladder, others] : includes)
    for (const std::string& other : others)
      EXPECT_FALSE(includes.contains(other)) << ladder << " and " << other << " are in a circle of includes";
}

// Users' programs include the vocabulary, so it must not pull in anything else.
TEST(House, TheVocabularyIncludesOnlyItself) {
  for (const std::string& header : vocabulary)
    for (const std::string& to : includes_of(root / "include" / header))
      EXPECT_TRUE(vocabulary.contains(to)) << header << " includes " << to;
}

// Inline PTX and architecture-specific intrinsics belong in the kernel layer, which has alternatives for other GPUs and
// for the emulator. CPU units (.cpp, -inl.h) may contain assembly.
TEST(House, OnlyTheKernelLayerHasInstructionsOfSomeGpus) {
  static const std::regex ptx(R"(\basm\b)"), reduction(R"(\b__reduce_\w+_sync\b)");
  const std::string architecture = read(root / "docs/ARCHITECTURE.md");
  int in_kernel = 0;
  for (const char* folder : {"src", "include", "examples"})
    for (const fs::path& path : sources_of(folder)) {
      const fs::path from = path.lexically_relative(root);
      const std::string layer = layer_of(from), text = read(path);
      const bool of_cpu = path.extension() == ".cpp" || path.filename().string().ends_with("-inl.h");
      const bool has_ptx = !of_cpu && std::regex_search(text, ptx);
      const bool has_reduction = std::regex_search(text, reduction);
      if (layer == "kernel") in_kernel += has_ptx + has_reduction;
      if (layer == "kernel" && has_ptx) {
        EXPECT_NE(architecture.find("`kernel/" + from.filename().string() + "`"), std::string::npos)
            << from << " has inline PTX, and is not named among those files";
      }
      if (layer == "kernel" || layer == "simt") continue;
      if (from.filename() == "half.h") continue;  // two conversions that every GPU has, beside portable ones
      EXPECT_FALSE(has_ptx) << from << " has inline PTX: it belongs in src/kernel";
      EXPECT_FALSE(has_reduction) << from << " has a __reduce_*_sync: warp_reduce() is for every GPU";
    }
  EXPECT_GT(in_kernel, 5) << "the patterns no longer find them";
}

// ---- rungs ----------------------------------------------------------------------------------------------------------

TEST(House, EveryRungHasAFileAndEveryFileIsARung) {
  static const std::regex numbered(R"(^\d\d_(\w+)\.cuh$)");
  ASSERT_FALSE(ladders().empty());
  for (const auto& [primitive, rungs] : ladders()) {
    const fs::path folder = root / "src/ladders" / primitive;
    std::set<std::string> kernels, mutants;
    std::smatch match;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (!std::regex_match(name, match, numbered)) continue;
      EXPECT_TRUE(kernels.insert(match[1]).second) << "duplicate: " << name;
    }
    if (fs::exists(folder / "mutants"))
      for (const auto& entry : fs::directory_iterator(folder / "mutants"))
        if (entry.path().extension() == ".cuh") mutants.insert(entry.path().stem());
    std::set<std::string> listed_kernels, listed_mutants;
    for (const Rung& rung : rungs) {
      if (rung.kind == "cpu") continue;
      std::set<std::string>& listed = rung.kind == "mutant" ? listed_mutants : listed_kernels;
      EXPECT_TRUE(listed.insert(rung.name).second) << "listed twice: " << rung.name;
    }
    EXPECT_EQ(kernels, listed_kernels) << primitive << ": NN_*.cuh and ladder.inc";
    EXPECT_EQ(mutants, listed_mutants) << primitive << "/mutants and ladder.inc";
  }
}

// A caller who names a rung must learn from the primitive's header whether it is unstable.
TEST(House, HeadersNameTheRungsThatAreNotStable) {
  std::size_t unstable = 0;
  for (const auto& [primitive, rungs] : ladders())
    for (const Rung& rung : rungs) {
      if (rung.kind != "kernel") continue;
      for (const auto& entry : fs::directory_iterator(root / "src/ladders" / primitive)) {
        const std::string file = entry.path().filename();
        if (!file.ends_with("_" + rung.name + ".cuh") || file.size() != rung.name.size() + 7) continue;
        if (read(entry.path()).find("any_order = true") == std::string::npos) continue;
        ++unstable;
        const std::string header = read(root / "include/upsweep" / (primitive + ".h"));
        const std::size_t named = header.find("are not stable: ");
        ASSERT_NE(named, std::string::npos) << primitive;
        EXPECT_NE(header.substr(named, header.find(".", named) - named).find(rung.name), std::string::npos)
            << primitive << ".h does not say that " << rung.name << " is not stable";
      }
    }
  EXPECT_GT(unstable, 0u) << "no such rung is found: are the folders right?";
}

// Returns the names that a rung's file declares at namespace scope: kernels, functions, types and constants.
std::set<std::string> declared_in(const std::string& text) {
  static const std::regex patterns[] = {
      std::regex(R"((?:^|\n)(?:struct|class|enum class|using) (\w+))"),
      std::regex(R"((?:^|\n)(?:inline )?constexpr [^=({\n]*?(\w+)(?: =|\{|\())"),
      std::regex(R"((?:^|\n)(?:__device__|__global__|inline|Status|void)[^(=\n]* (\w+)\()"),
      std::regex(R"((\w+_kernel)\()")};
  std::set<std::string> names;
  for (const std::regex& pattern : patterns)
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), none; match != none; ++match)
      if (!(*match)[1].str().starts_with("__")) names.insert((*match)[1]);  // __launch_bounds__
  return names;
}

// A rung runs no other rung of its ladder: choose.h decides which one a call gets. It includes a rung, usually of an
// earlier ladder, only to call its run() or map(), directly or through a template parameter. All other code that two
// rungs share is in a lower layer.
TEST(House, RungsOnlyCallEachOther) {
  static const std::regex rung_file(R"(^\d\d_\w+\.cuh$)");
  static const std::regex include(R"re(#include "(ladders/\w+/\d\d_(\w+)\.cuh)")re");
  static const std::regex declaration(R"(\bkernel_\w+_rung\b)");
  int included = 0;
  for (const fs::path& path : sources_of("src/ladders")) {
    if (!std::regex_match(path.filename().string(), rung_file)) continue;
    const std::string text = read(path);
    for (std::sregex_iterator match(text.begin(), text.end(), include), none; match != none; ++match, ++included) {
      const std::string rung = (*match)[2];
      EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + rung + "(::(run|map)\\b|>\\()")))
          << path << " includes " << rung << " and does not call it";
      for (const std::string& name : declared_in(read(root / "src" / (*match)[1].str())))
        EXPECT_TRUE(name == rung || !std::regex_search(text, std::regex("\\b" + name + "\\b")))
            << path << " uses " << name << " of the rung " << rung;
    }
    EXPECT_FALSE(std::regex_search(text, declaration)) << path << " knows the Rung of another file";
  }
  EXPECT_GT(included, 2);  // otherwise the patterns no longer match
}

// Kernels that two ladders share are in a layer below both. So a ladder's GPU code includes another ladder only to run
// one of its rungs, and opens no other ladder's namespace.
TEST(House, LaddersShareNoGpuCode) {
  static const std::regex include(R"re(#include "ladders/(\w+)/([^"]+)")re");
  static const std::regex opened(R"(\nnamespace upsweep::ladders::(\w+))");
  static const std::regex rung_or_contract(R"(\d\d_\w+\.cuh|contract\.h)");
  int others = 0;
  for (const fs::path& path : sources_of("src/ladders")) {
    const std::string layer = layer_of(path.lexically_relative(root)), text = read(path);
    if (path.extension() != ".cuh" || layer.ends_with("/lab")) continue;
    const std::string ladder = layer.substr(8);
    for (std::sregex_iterator match(text.begin(), text.end(), include), none; match != none; ++match) {
      if ((*match)[1] == ladder) continue;
      ++others;
      EXPECT_TRUE(std::regex_match((*match)[2].str(), rung_or_contract)) << path << ": " << match->str();
    }
    for (std::sregex_iterator match(text.begin(), text.end(), opened), none; match != none; ++match)
      EXPECT_EQ((*match)[1], ladder) << path << " opens the namespace of another ladder";
  }
  EXPECT_GT(others, 5) << "too few includes found: are the folders right?";
}

// A second list would be a file other than ladder.inc with half of a ladder's rungs in quotes.
TEST(House, NoOtherListOfRungs) {
  std::vector<fs::path> files = sources();
  for (const char* file : {"CMakeLists.txt", "src/CMakeLists.txt", "tests/CMakeLists.txt"})
    files.push_back(root / file);
  for (const char* folder : {"cmake", "scripts"})
    if (fs::exists(root / folder))
      for (const auto& entry : fs::directory_iterator(root / folder)) files.push_back(entry.path());
  for (const auto& [primitive, rungs] : ladders()) {
    std::set<std::string> names;
    for (const Rung& rung : rungs) names.insert(rung.name);
    if (names.size() < 6) continue;        // too few to tell a list from an example
    if (primitive == "ceiling") continue;  // not a ladder: code refers to a ceiling by name
    for (const fs::path& path : files) {
      if (path.filename() == "ladder.inc") continue;
      const std::string text = read(path);
      std::size_t named = 0;
      for (const std::string& name : names) named += text.find("\"" + name + "\"") != text.npos;
      // choose.h names the rungs that it chooses from, and other ladders may have rungs with the same names.
      const bool chooses = path.filename() == "choose.h";
      if (chooses && path.parent_path().filename() != primitive) continue;
      const std::size_t most = chooses ? names.size() : names.size() / 2;
      EXPECT_LT(named, most) << path << " names " << named << " rungs of " << primitive;
    }
  }
}

// CPU and GPU rungs of the same name would violate the one-definition rule, and the linker would keep only one run().
// So CPU rungs have internal linkage.
TEST(House, RungsOfTheCpuAreLocalToTheirFile) {
  const std::regex made("make_rung<Binding, (\\w+)>\\(");
  std::size_t found = 0;
  for (const fs::path& path : sources()) {
    if (path.extension() != ".cpp" || path.filename().string().rfind("cpu_", 0) != 0) continue;
    const std::string text = read(path);
    for (std::sregex_iterator match(text.begin(), text.end(), made), none; match != none; ++match) {
      const std::size_t definition = text.find("struct " + (*match)[1].str() + " {");
      const std::size_t opened = text.find("namespace {");
      ASSERT_NE(definition, text.npos) << path;
      EXPECT_TRUE(opened < definition && text.find("}  // namespace\n", opened) > definition)
          << path << ": " << (*match)[1];
      ++found;
    }
  }
  EXPECT_GE(found, 4u);  // otherwise the pattern no longer matches
}

std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  for (const char* folder : {"docs", "src", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  EXPECT_GT(found.size(), 10u) << "too few documents found: are the folders right?";
  return found;
}

// Prose in documents is at most 120 columns wide; tables, code, markers and links may be wider.
TEST(House, ProseIsAtMost120ColumnsWide) {
  for (const fs::path& path : documents()) {
    std::istringstream text(read(path));
    bool code = false;
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (line.starts_with("```")) code = !code;
      const bool free = code || line.starts_with("|") || line.starts_with("<!--") || line.starts_with("![") ||
                        line.find("https:") != line.npos;
      // Each UTF-8 character has one byte that is no continuation byte.
      const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
      EXPECT_TRUE(free || columns <= 120) << path << ":" << number << " is " << columns << " columns wide";
    }
  }
}

TEST(House, LinksLeadToFiles) {
  const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
  for (const fs::path& path : documents()) {
    const std::string text = read(path);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
      EXPECT_TRUE(fs::exists(path.parent_path() / (*it)[1].str())) << path << " links to " << (*it)[1];
  }
}

// Browsers drop cells beyond those of the table's header.
TEST(House, TableRowsHaveTheirHeadersCells) {
  for (const fs::path& path : documents()) {
    std::istringstream text(read(path));
    bool code = false;
    long header = 0;  // number of bars
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (line.starts_with("```")) code = !code;
      if (code || !line.starts_with("|")) {
        header = 0;
        continue;
      }
      long bars = 0;
      for (std::size_t k = 0; k < line.size(); ++k) bars += line[k] == '|' && (k == 0 || line[k - 1] != '\\');
      if (header == 0) header = bars;
      EXPECT_EQ(bars, header) << path << ":" << number << ": " << line.substr(0, 60);
    }
  }
}

}  // namespace
