// Runs a fuzz target on stored inputs: replay FILE-OR-FOLDER... Replaces libFuzzer's main in the ordinary build.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int k = 1; k < argc; ++k) {
    if (!std::filesystem::is_directory(argv[k])) {
      count += replay(argv[k]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[k])) count += replay(entry.path());
  }
  std::printf("%zu inputs\n", count);
  return count ? 0 : 1;  // an empty corpus proves nothing
}
