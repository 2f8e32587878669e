// Writes a file of consecutive sections that grow at the same time. Sections after the first are buffered in temporary
// files and appended at the end.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/new_file.h"

namespace lehr {

/// Writes a file of consecutive sections that grow at the same time, such as the arrays of predictions that are
/// computed batch by batch. The file appears under its name when it is complete (new_file.h).
class SectionedFile {
 public:
  /// Opens the file and makes its folder if necessary. The first section is written to the new file at once, the others
  /// to nameless temporary files in the same folder. Errors, here and below, are those of write_file(), and of
  /// ExitCode::internal if a temporary file fails.
  static Result<SectionedFile> begin(const std::string& path, ExistingTarget existing = ExistingTarget::followed);

  /// Appends bytes to one section of the file; sections count from 0. The value is always true.
  Result<bool> append(std::size_t section, std::string_view bytes);
  /// Appends the later sections in order and gives the file its name. Nothing can be appended after it. The value is
  /// always true.
  Result<bool> finish();

 private:
  /// Closes the file in a unique_ptr.
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  SectionedFile(std::string path, AtomicFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;                                      // path of the file
  AtomicFile file_;                                       // the file, with its first section
  std::vector<std::unique_ptr<std::FILE, Close>> later_;  // temporary files of sections 1, 2, ...
};

}  // namespace lehr
