// A file of sections that grow side by side, though they stand one after another in it.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/new_file.h"

namespace lehr {

class SectionedFile {
 public:
  /// Makes the folder where there is none. Errors here and below are those of write_file(). The first section goes
  /// where it belongs; the others wait on disk, in files without a name in the same folder.
  static Result<SectionedFile> begin(const std::string& path, Existing existing = Existing::followed);

  Result<bool> append(std::size_t section, std::string_view bytes);
  /// Puts them together; nothing can be appended any more.
  Result<bool> finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  SectionedFile(std::string path, NewFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  NewFile file_;
  std::vector<std::unique_ptr<std::FILE, Close>> later_;
};

}  // namespace lehr
