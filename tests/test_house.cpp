// The house rules that a reader relies on, held against the source itself: includes point one way, every rung's file is
// in its ladder and every ladder's rung has a file, and nobody keeps a second list of rungs.
#include <gtest/gtest.h>

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
// Primitive -> its ladder, from every src/ladders/*/ladder.inc.
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

// ---- which way includes point ---------------------------------------------------------------------------------------

// Ladder -> the ladders that its rungs may build on, which come before it.
const std::map<std::string, std::set<std::string>> earlier_ladders{
    {"reduce", {}},
    {"ceiling", {"reduce"}},
    {"scan", {"reduce"}},
    {"segmented_scan", {"reduce", "scan"}},
    {"select", {"reduce", "scan"}},
    {"saxpy", {"reduce", "scan"}},
};

// Public headers that need nothing of the library: the vocabulary that everything shares.
const std::set<std::string> vocabulary{"upsweep/types.h", "upsweep/error.h", "upsweep/scalar.h",
                                       "upsweep/operations.h"};

// The layer of a file: a folder of src/; "ladders/scan" or "ladders/scan/lab"; "upsweep" and "upsweep.cuh" of public
// headers; "tests".
std::string layer_of(const fs::path& path) {
  std::vector<std::string> parts(path.begin(), path.end());
  if (parts[0] == "src") parts.erase(parts.begin());
  if (parts[0] == "include") parts.erase(parts.begin());
  if (parts[0] == "upsweep") return path.extension() == ".cuh" ? "upsweep.cuh" : "upsweep";
  if (parts[0] != "ladders" || parts.size() < 3) return parts[0];
  return "ladders/" + parts[1] + (parts[2] == "lab" ? "/lab" : "");
}

// The layers that a layer may include; its own goes without saying.
std::set<std::string> allowed(const std::string& layer) {
  static const std::map<std::string, std::set<std::string>> fixed{
      {"base", {}},
      {"cpu", {"base"}},
      // The emulator stands where CUDA itself does: kernel.h includes its twin of CUDA's header.
      {"kernel", {"base", "simt"}},
      {"simt", {"base", "cpu"}},
      {"cuda", {"base", "kernel"}},
      {"library", {"base", "cpu", "upsweep"}},
      {"files", {"base"}},
      {"lab", {"base", "cpu", "files", "simt"}},
      {"upsweep", {}},
  };
  if (const auto found = fixed.find(layer); found != fixed.end()) return found->second;
  std::set<std::string> all{"base", "cpu", "kernel"};
  if (layer.starts_with("ladders/")) {
    const bool of_lab = layer.ends_with("/lab");
    const std::string ladder = layer.substr(8, layer.size() - 8 - (of_lab ? 4 : 0));
    const auto earlier = earlier_ladders.find(ladder);
    EXPECT_NE(earlier, earlier_ladders.end()) << ladder << " has no place in the order of the ladders";
    if (earlier == earlier_ladders.end()) return all;
    std::set<std::string> names = earlier->second;
    names.insert(ladder);
    if (of_lab) all.insert({"files", "lab"});
    for (const std::string& name : names) {
      all.insert("ladders/" + name);
      if (of_lab) all.insert("ladders/" + name + "/lab");
    }
    return all;
  }
  // .cuh of the public headers, the command and the tests.
  for (const auto& [ladder, rungs] : ladders()) {
    all.insert("ladders/" + ladder);
    if (layer != "upsweep.cuh") all.insert("ladders/" + ladder + "/lab");
  }
  all.insert("upsweep");
  if (layer == "upsweep.cuh")
    all.erase("cpu");
  else
    all.insert({"upsweep.cuh", "files", "lab", "simt"});
  return all;
}

// Includes of project files, as they are written.
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
  EXPECT_GT(seen, 400) << "the rule was not looked for in the right place";
}

// What users include ends up in their programs: the vocabulary stands by itself.
TEST(House, TheVocabularyIncludesOnlyItself) {
  for (const std::string& header : vocabulary)
    for (const std::string& to : includes_of(root / "include" / header))
      EXPECT_TRUE(vocabulary.contains(to)) << header << " includes " << to;
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
      EXPECT_TRUE(kernels.insert(match[1]).second) << "twice: " << name;
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

// A second list would be a file outside the primitive's folder (or its tests) that names most of a ladder in quotes.
TEST(House, NoOtherListOfRungs) {
  std::vector<fs::path> places = sources();
  for (const char* file : {"CMakeLists.txt", "src/CMakeLists.txt", "tests/CMakeLists.txt"})
    places.push_back(root / file);
  for (const char* folder : {"cmake", "scripts"})
    if (fs::exists(root / folder))
      for (const auto& entry : fs::directory_iterator(root / folder)) places.push_back(entry.path());
  for (const auto& [primitive, rungs] : ladders()) {
    std::set<std::string> names;
    for (const Rung& rung : rungs) names.insert(rung.name);
    if (names.size() < 6) continue;        // too few to tell a list from an example
    if (primitive == "ceiling") continue;  // no ladder: what is measured against one knows it by name
    for (const fs::path& path : places) {
      if (path.filename() == "ladder.inc") continue;
      const std::string text = read(path);
      std::size_t named = 0;
      for (const std::string& name : names) named += text.find("\"" + name + "\"") != text.npos;
      EXPECT_LT(named, names.size() / 2) << path << " names " << named << " rungs of " << primitive;
    }
  }
}

// A rung of the same name on the CPU and on the GPU would be two types of one name in one program, and the linker would
// keep one run() for both. So the CPU's are local to their file.
TEST(House, RungsOfTheCpuAreLocalToTheirFile) {
  const std::regex made("make_rung<(\\w+)>\\(");
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
  EXPECT_GE(found, 4u);  // or the pattern no longer finds them
}

// Prose of the documents is at most 120 columns wide; tables, code, markers and links may be wider.
TEST(House, ProseIsAtMost120ColumnsWide) {
  std::vector<fs::path> documents;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  for (const char* folder : {"docs", "src", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") documents.push_back(entry.path());
  EXPECT_GT(documents.size(), 10u) << "the documents were not looked for in the right place";
  for (const fs::path& path : documents) {
    std::istringstream text(read(path));
    bool code = false;
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (line.starts_with("```")) code = !code;
      const bool free = code || line.starts_with("|") || line.starts_with("<!--") || line.starts_with("![") ||
                        line.find("https:") != line.npos;
      EXPECT_TRUE(free || line.size() <= 120) << path << ":" << number << " is " << line.size() << " columns wide";
    }
  }
}

}  // namespace
