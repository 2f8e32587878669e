// Some bytes of a file that stays where it is.
#pragma once
#include <ctime>

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/result.h"

namespace lehr {

class FileBytes {
 public:
  /// A regular file; the error names the path and why it cannot be read.
  static Result<FileBytes> open(const std::string& path);
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Replaces `to` by the bytes from `at` on. A file that has changed since it was opened is an error.
  std::optional<Error> read(std::uint64_t at, std::uint64_t count, std::string& to) const;
  /// The error of a file that has changed since it was opened; for whoever reads it by other means.
  std::optional<Error> changed() const;
  /// Another descriptor of the file; -1 where there can be none.
  int duplicate() const;

 private:
  FileBytes(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
  timespec written_ = {};
};

}  // namespace lehr
