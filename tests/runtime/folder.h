// A temporary directory for a test, removed with its content when the test ends.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

/// Owns a new directory below the system's directory for temporary files.
class Folder {
 public:
  /// Makes the directory. Throws std::runtime_error if that fails.
  Folder() : path_((std::filesystem::temp_directory_path() / "lehr-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make " + path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  /// Removes the directory with all files in it.
  ~Folder() { std::filesystem::remove_all(path_); }
  /// The path of the directory.
  const std::string& path() const { return path_; }
  /// Returns the path of a file in the directory.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file into the directory and returns its path.
  std::string put(std::string_view name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_;
};
