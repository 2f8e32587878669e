// Helpers of the fuzzing harnesses: they read choices from the bytes of an input, and abort the process on a defect,
// which is how libFuzzer notices one.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace lehr::fuzz {

/// Aborts the process with a message unless the condition is true.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "defect: %s\n", what);
  std::abort();
}

/// Reads an input from its beginning. After its last byte, all choices are 0.
class Input {
 public:
  /// Wraps the bytes, which must outlive the object.
  Input(const std::uint8_t* bytes, std::size_t size) : rest_(reinterpret_cast<const char*>(bytes), size) {}

  /// Reads one byte.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto out = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return out;
  }
  /// Reads a number from 0 to n - 1; n is at most 256 for all of them to occur.
  std::size_t below(std::size_t n) { return byte() % n; }
  /// Reads which of the choices is meant.
  template <class T, std::size_t n>
  const T& one_of(const T (&choices)[n]) {
    return choices[below(n)];
  }
  /// Returns true if all bytes have been read.
  bool empty() const { return rest_.empty(); }
  /// The bytes that have not been read yet.
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Returns a directory of this process below TMPDIR, made at the first call. The caller who set TMPDIR removes it.
inline const std::filesystem::path& own_folder() {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "lehr-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "no folder for files");
    return std::filesystem::path(name);
  }();
  return folder;
}

/// Returns the bytes of a file.
inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes the bytes to a file.
inline void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace lehr::fuzz
