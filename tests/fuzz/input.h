// What the harnesses share: choices read from the bytes of an input, and what no input may bring about.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lehr::fuzz {

/// Ends the process, which is how libFuzzer learns of a defect.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "defect: %s\n", what);
  std::abort();
}

/// Choices are zeros where the bytes have ended.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : rest_(reinterpret_cast<const char*>(bytes), size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto out = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return out;
  }
  std::size_t below(std::size_t n) { return byte() % n; }
  template <class T, std::size_t n>
  const T& one_of(const T (&choices)[n]) {
    return choices[below(n)];
  }
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// A folder of this process, below TMPDIR; whoever set that removes it.
inline const std::filesystem::path& own_folder() {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "lehr-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "no folder for files");
    return std::filesystem::path(name);
  }();
  return folder;
}

inline void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace lehr::fuzz
