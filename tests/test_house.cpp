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

std::vector<fs::path> sources() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / "src"))
    if (entry.is_regular_file() && is_source(entry.path())) all.push_back(entry.path());
  return all;
}

struct Rung {
  std::string kind, name;
};
// Primitive -> its ladder, from every src/*/ladder.inc.
std::map<std::string, std::vector<Rung>> ladders() {
  static const std::regex line(R"(^RUNG\((\w+), (\w+)\))");
  std::map<std::string, std::vector<Rung>> all;
  for (const auto& folder : fs::directory_iterator(root / "src")) {
    if (!fs::exists(folder.path() / "ladder.inc")) continue;
    std::vector<Rung>& rungs = all[folder.path().filename()];
    std::istringstream text(read(folder.path() / "ladder.inc"));
    std::smatch match;
    for (std::string l; std::getline(text, l);)
      if (std::regex_search(l, match, line)) rungs.push_back({match[1], match[2]});
  }
  return all;
}

// Folder -> the folders of src/ that it may include. A primitive may use what is below it, and other primitives.
std::set<std::string> allowed(const std::string& folder, const std::set<std::string>& primitives) {
  static const std::map<std::string, std::set<std::string>> fixed{
      {"base", {"base"}},
      // The emulator stands where CUDA itself does: kernel.h includes its twin of CUDA's header, and it answers for the
      // device that kernel.h asks about.
      {"kernel", {"base", "kernel", "simt"}},
      {"simt", {"base", "kernel", "simt"}},
      {"cpu", {"base", "cpu"}},
      {"cuda", {"base", "kernel", "cuda"}},
      {"library", {"base", "library"}},
      {"lab", {"base", "simt", "lab"}},
  };
  if (const auto found = fixed.find(folder); found != fixed.end()) return found->second;
  std::set<std::string> all = primitives;
  if (primitives.contains(folder))
    all.insert({"base", "kernel", "cpu", "library"});
  else
    all.insert({"base", "lab", "library", "simt", folder});  // app, and what else stands on top
  return all;
}

TEST(House, IncludesPointOneWay) {
  std::set<std::string> primitives, folders;
  for (const auto& [primitive, rungs] : ladders()) primitives.insert(primitive);
  for (const auto& entry : fs::directory_iterator(root / "src"))
    if (entry.is_directory()) folders.insert(entry.path().filename());
  static const std::regex include(R"(#include "(\w+)/)");
  int seen = 0;
  for (const fs::path& path : sources()) {
    const std::string folder = *path.lexically_relative(root / "src").begin();
    if (!folders.contains(folder)) continue;  // src/primitives.cpp, which joins them all
    const std::set<std::string> may = allowed(folder, primitives);
    const std::string text = read(path);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it) {
      const std::string to = (*it)[1];
      if (!folders.contains(to)) continue;  // include/upsweep, system headers
      ++seen;
      EXPECT_TRUE(may.contains(to)) << path << " includes " << to << "/, which is above it";
    }
  }
  EXPECT_GT(seen, 50) << "the rule was not looked for in the right place";
}

TEST(House, EveryRungHasAFileAndEveryFileIsARung) {
  static const std::regex numbered(R"(^\d\d_(\w+)\.cuh$)");
  ASSERT_FALSE(ladders().empty());
  for (const auto& [primitive, rungs] : ladders()) {
    const fs::path folder = root / "src" / primitive;
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
    EXPECT_EQ(kernels, listed_kernels) << "src/" << primitive << ": NN_*.cuh and ladder.inc";
    EXPECT_EQ(mutants, listed_mutants) << "src/" << primitive << "/mutants and ladder.inc";
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

}  // namespace
