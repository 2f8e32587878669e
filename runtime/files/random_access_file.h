// Random access to the bytes of a regular file that must not change meanwhile. Size and time of modification are
// compared after every read.
#pragma once
#include <ctime>

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/result.h"

namespace lehr {

/// An open file for reading at any offset, which notices if another program changes the file; out-of-core data are read
/// by it. It owns the descriptor and can be moved.
class RandomAccessFile {
 public:
  /// Opens a regular file. The error names the path and the reason.
  static Result<RandomAccessFile> open(const std::string& path);
  /// Moves the open file from `other`, which has none afterwards.
  RandomAccessFile(RandomAccessFile&& other) noexcept;
  /// Not assignable: an open file is never replaced by another.
  RandomAccessFile& operator=(RandomAccessFile&&) = delete;
  /// Closes the file, if there is one.
  ~RandomAccessFile();

  /// Returns the path of the file, as given to open().
  const std::string& path() const { return path_; }
  /// Returns the size in bytes that the file had when it was opened.
  std::uint64_t size() const { return size_; }
  /// Replaces the contents of `to` by `count` bytes from offset `at`. Returns an error if they cannot be read, or if
  /// the file has changed since it was opened.
  std::optional<Error> read(std::uint64_t at, std::uint64_t count, std::string& to) const;
  /// Returns an error if size or time of modification differ from those at open(), else nothing. For code that reads
  /// the path by itself.
  std::optional<Error> changed() const;
  /// Returns a new descriptor of the same file, owned by the caller, for a library that reads from a descriptor
  /// (libzip); -1 on failure.
  int duplicate() const;

 private:
  /// Takes ownership of the descriptor `file`.
  RandomAccessFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;        // path of the file as given to open(), for messages
  int file_;                // descriptor; -1 after a move
  std::uint64_t size_ = 0;  // size in bytes when it was opened, to notice a change
  timespec written_ = {};   // time of modification when it was opened, to notice a change
};

}  // namespace lehr
