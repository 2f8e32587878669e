// A file that is written a part after another, whole or not at all.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// What becomes of a link, a pipe or a device that has the name.
enum class Existing { followed, replaced };

/// As write_file() does it. The file is there once it is finished; what is not finished is removed.
class NewFile {
 public:
  static Result<NewFile> begin(const std::string& path, unsigned mode = 0666, Existing existing = Existing::followed);
  NewFile(NewFile&&) noexcept;
  ~NewFile();

  Result<bool> append(std::string_view bytes);
  /// Everything is on disk, beside its place: what is left to finish() takes no room.
  Result<bool> sync();
  /// Nothing can be appended any more.
  Result<bool> finish();

 private:
  struct Open;
  explicit NewFile(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;
};

}  // namespace lehr
