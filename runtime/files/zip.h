// Gzip and ZIP archives in memory (by zlib and libzip). Sizes claimed by a file are checked
// against what its bytes can hold before anything is allocated.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// CRC-32 as in ZIP and gzip, of these bytes behind those of which `so_far` is the checksum.
std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far = 0);

struct ZipMember {
  std::string name;
  std::string bytes;
};

/// The archive of these members, large ones deflated where that makes them smaller, dated 1980-01-01 so that equal
/// members give equal bytes; the 64-bit fields are written where a size needs them.
Result<std::string> write_zip(const std::vector<ZipMember>& members);

/// Whether a member is read, or why it must not be: from its name, the size that it claims and its first
/// bytes (64 kB), before there is room made for it.
using ZipFilter = std::function<Result<bool>(std::string_view name, std::uint64_t size, std::string_view begin)>;

/// The members of an archive that the filter takes (without one: all), stored or deflated, ZIP64 or not;
/// sizes and checksums are verified.
Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& path, const ZipFilter& filter = {});

/// The contents of a gzip file (several members follow one another); an error where they do not fit into
/// memory.
Result<std::string> gunzip(std::string_view bytes, const std::string& path);

}  // namespace lehr
