// ZIP archives by libzip and gzip by zlib, from and to bytes in memory.
#include "runtime/files/zip.h"

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "runtime/files/text.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// 1980-01-01 in the format of ZIP.
constexpr zip_uint16_t kDate1980 = (1 << 5) | 1;
/// Deflate compresses by at most this factor, so a larger claimed size is false.
constexpr std::uint64_t kLargestRatio = 1032;

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Member = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;
using Source = std::unique_ptr<zip_source_t, decltype(&zip_source_free)>;

/// Appends bytes of a member until `contents` has `size` bytes. Returns false if the member ends before.
bool read_until(zip_file_t* member, std::uint64_t size, std::string& contents) {
  std::uint64_t used = contents.size();
  contents.resize(size);
  while (used < size) {
    const zip_int64_t count = zip_fread(member, contents.data() + used, size - used);
    if (count <= 0) return false;
    used += static_cast<std::uint64_t>(count);
  }
  return true;
}

/// Extracts one member; nothing if the filter skips it.
Result<std::optional<ZipMember>> extract(zip_t* archive, const zip_stat_t& about, const std::string& path,
                                         const ZipFilter& filter) {
  const auto fail = [&](const char* text) {
    return data_error(path, fmt::format("member '{}' {}", printable(about.name), text));
  };
  if (about.encryption_method != ZIP_EM_NONE) return fail("is encrypted");
  if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
    return fail("is neither stored nor deflated");
  const Member member(zip_fopen_index(archive, about.index, 0), zip_fclose);
  if (!member) return fail("is not where the directory says");
  constexpr std::uint64_t kBegin = 1 << 16;
  std::string contents;
  if (about.size / kLargestRatio > about.comp_size + 1 ||
      !read_until(member.get(), std::min(about.size, kBegin), contents))
    return fail("is damaged");
  const Result<bool> accepted = filter ? filter(about.name, about.size, contents) : true;
  if (!accepted) return accepted.error();
  if (!*accepted) return std::optional<ZipMember>();
  // Reading past the end makes libzip verify the checksum.
  char beyond = 0;
  if (!read_until(member.get(), about.size, contents) || zip_fread(member.get(), &beyond, 1) != 0)
    return fail("is damaged");
  return std::optional(ZipMember{about.name, std::move(contents)});
}

/// Estimates from samples whether deflate saves at least half. Digits of numbers that are all different do not shrink,
/// and take longest to compress: some 18 ns a byte.
bool shrinks(std::string_view bytes) {
  constexpr std::size_t kPiece = 1 << 14, kPieces = 4;
  if (bytes.size() <= kPieces * kPiece) return true;
  std::vector<Bytef> buffer(compressBound(kPiece));
  std::size_t after = 0;
  for (std::size_t k = 0; k < kPieces; ++k) {
    const auto* piece = reinterpret_cast<const Bytef*>(bytes.data() + (bytes.size() - kPiece) / (kPieces - 1) * k);
    uLongf length = buffer.size();
    if (compress2(buffer.data(), &length, piece, kPiece, Z_BEST_SPEED) != Z_OK) return true;
    after += length;
  }
  return 2 * after < kPieces * kPiece;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far) {
  return static_cast<std::uint32_t>(crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& path, const ZipFilter& filter) {
  zip_error_t why = {};
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &why), zip_source_free);
  if (!source) throw std::bad_alloc();
  const Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY, &why), zip_discard);
  if (!archive)
    return data_error(path, zip_error_code_zip(&why) == ZIP_ER_NOZIP ? "not a ZIP archive, or one that was cut off"
                                                                     : "the directory of the archive is damaged");
  source.release();  // the archive owns it now
  std::vector<ZipMember> members;
  std::uint64_t total = 0;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive.get(), 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t about = {};
    if (zip_stat_index(archive.get(), i, ZIP_FL_ENC_RAW, &about) != 0)
      return data_error(path, "the directory of the archive is damaged");
    // Overlapping entries could expand a small file without limit.
    total += std::min(about.comp_size, std::numeric_limits<std::uint64_t>::max() - total);
    if (total > bytes.size()) return data_error(path, "the members of the archive overlap");
    Result<std::optional<ZipMember>> member = extract(archive.get(), about, path, filter);
    if (!member) return member.error();
    if (*member) members.push_back(std::move(**member));
  }
  return members;
}

Result<std::string> write_zip(const std::vector<ZipMember>& members) {
  // libzip would write nothing for an empty archive.
  if (members.empty()) return std::string("PK\5\6") + std::string(18, '\0');
  zip_error_t why = {};
  const Source out(zip_source_buffer_create(nullptr, 0, 0, &why), zip_source_free);
  Archive archive(out ? zip_open_from_source(out.get(), ZIP_CREATE | ZIP_TRUNCATE, &why) : nullptr, zip_discard);
  if (!archive) throw std::bad_alloc();
  zip_source_keep(out.get());
  const auto failure = [&](const std::string& name) {
    return Error{ExitCode::internal, name, fmt::format("cannot be archived: {}", zip_strerror(archive.get())), {}};
  };
  for (const ZipMember& member : members) {
    Source body(zip_source_buffer(archive.get(), member.bytes.data(), member.bytes.size(), 0), zip_source_free);
    const zip_int64_t added = zip_file_add(archive.get(), member.name.c_str(), body.get(), ZIP_FL_ENC_UTF_8);
    if (added < 0) return failure(member.name);
    body.release();
    const auto index = static_cast<zip_uint64_t>(added);
    zip_set_file_compression(archive.get(), index, shrinks(member.bytes) ? ZIP_CM_DEFLATE : ZIP_CM_STORE, Z_BEST_SPEED);
    zip_file_set_dostime(archive.get(), index, 0, kDate1980, 0);
  }
  if (zip_close(archive.get()) != 0) return failure(members.front().name);
  archive.release();
  zip_stat_t about = {};
  std::string bytes;
  if (zip_source_stat(out.get(), &about) == 0) bytes.resize(about.size);
  if (zip_source_open(out.get()) != 0 ||
      zip_source_read(out.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    return Error{ExitCode::internal, "", "an archive cannot be read back", {}};
  zip_source_close(out.get());
  return bytes;
}

Result<std::string> gunzip(std::string_view bytes, const std::string& path) {
  constexpr int kGzipOnly = MAX_WBITS + 16;
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error{ExitCode::internal, path, "zlib does not start", {}};
  const std::uint64_t most = available_memory() / 2;  // parsing the result needs as much memory again
  std::string out;
  int status = Z_OK;
  while (out.size() < most) {
    if (stream.avail_in == 0) {  // zlib counts in 32 bits
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1u << 30));
      bytes.remove_prefix(stream.avail_in);
    }
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
    }
    const std::size_t before = out.size();
    out.resize(before + std::clamp<std::size_t>(before, 1u << 16, 1u << 28));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    const bool starved = stream.avail_in == 0 && bytes.empty() && out.size() == before;
    if ((status != Z_OK && status != Z_STREAM_END) || (status == Z_OK && starved)) break;
  }
  inflateEnd(&stream);
  if (out.size() >= most)
    return data_error(path, fmt::format("the file expands to more than {}", format_bytes(static_cast<double>(most))));
  if (status != Z_STREAM_END) return data_error(path, "not a gzip file, or one that was cut off");
  return out;
}

}  // namespace lehr
