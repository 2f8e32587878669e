// Sections as nameless temporary files, which the system deletes when they are closed.
#include "runtime/output/sections.h"

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace lehr {
namespace {

/// Makes the error of a temporary file that cannot be used.
Error failure(const std::string& path) {
  return {ExitCode::internal, path, fmt::format("cannot write what will become of it: {}", std::strerror(errno)), {}};
}

/// Opens a temporary file without a name in the folder of `path`; null on failure.
std::FILE* nameless_beside(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::string name = ((folder.empty() ? "." : folder) / ".lehr-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return nullptr;
  ::unlink(name.c_str());
  return ::fdopen(file, "w+");
}

}  // namespace

Result<SectionedFile> SectionedFile::begin(const std::string& path, ExistingTarget existing) {
  std::error_code ignored;  // AtomicFile::begin() reports a missing folder
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  Result<AtomicFile> file = AtomicFile::begin(path, 0666, existing);
  if (!file) return file.error();
  return SectionedFile(path, std::move(*file));
}

Result<bool> SectionedFile::append(std::size_t section, std::string_view bytes) {
  if (section == 0) return file_.append(bytes);
  while (later_.size() < section) {
    later_.emplace_back(nameless_beside(path_));
    if (!later_.back()) return failure(path_);
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), later_[section - 1].get()) != bytes.size()) return failure(path_);
  return true;
}

Result<bool> SectionedFile::finish() {
  std::array<char, 1 << 16> bytes;
  for (const auto& file : later_) {
    std::rewind(file.get());
    while (const std::size_t n = std::fread(bytes.data(), 1, bytes.size(), file.get()))
      if (Result<bool> r = file_.append({bytes.data(), n}); !r) return r;
    if (std::ferror(file.get())) return failure(path_);
  }
  return file_.finish();
}

}  // namespace lehr
