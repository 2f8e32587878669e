// Deflate, gzip and ZIP archives in memory (zlib does the compression). Sizes claimed by a file are checked
// against what its bytes can hold before anything is allocated.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace lehr {

struct ZipMember {
  std::string name;
  std::string bytes;
};

/// The archive of these members, deflated, dated 1980-01-01 so that equal members give equal bytes; the
/// 64-bit fields are written where a size needs them.
std::string write_zip(const std::vector<ZipMember>& members);

/// Every member of an archive, stored or deflated, ZIP64 or not; sizes and checksums are verified.
Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& path);

/// The contents of a gzip file (several members follow one another).
Result<std::string> gunzip(std::string_view bytes, const std::string& path);

}  // namespace lehr
