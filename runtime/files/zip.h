// Gzip and ZIP archives in memory, by zlib and libzip. Sizes that a file claims are compared with what its bytes can
// hold before memory is allocated.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// Returns the CRC-32 (as in ZIP and gzip) of data whose first part has the checksum `so_far` and whose rest is
/// `bytes`. A fit stores it of its files, so that a damaged or foreign file is noticed.
std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far = 0);

/// A file in a ZIP archive: its name and its uncompressed bytes.
struct ZipMember {
  std::string name;   // path of the file inside the archive
  std::string bytes;  // contents of the file, uncompressed
};

/// Returns the bytes of a ZIP archive of these members. Members that shrink are deflated. All dates are 1980-01-01, so
/// equal members give equal bytes. ZIP64 fields are used where a size needs them.
Result<std::string> write_zip(const std::vector<ZipMember>& members);

/// Decides whether read_zip() extracts a member, before memory is allocated for it. Arguments are its name, its claimed
/// size and its first bytes (at most 64 kB). Returns true to extract it, false to skip it, or an error that ends the
/// reading.
using ZipFilter = std::function<Result<bool>(std::string_view name, std::uint64_t size, std::string_view begin)>;

/// Extracts the members of a ZIP archive that the filter accepts, or all without a filter. They may be stored or
/// deflated, ZIP64 or not; others are an error. Sizes and checksums are verified. `path` is for messages.
Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& path, const ZipFilter& filter = {});

/// Decompresses a gzip file, which may have several members one after another. An error if the result needs more than
/// half the memory.
Result<std::string> gunzip(std::string_view bytes, const std::string& path);

}  // namespace lehr
