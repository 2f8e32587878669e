// ZIP (PKWARE's APPNOTE 6.3, sections 4.3-4.5) as far as NumPy's archives go: one disk, no encryption.
#include "runtime/files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::uint32_t kFull32 = 0xFFFFFFFF;
constexpr std::uint16_t kFull16 = 0xFFFF;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kDate1980 = (1 << 5) | 1;
/// Deflate cannot shrink by more than this factor.
constexpr std::uint64_t kLargestRatio = 1032;

Error zip_error(const std::string& path, std::string text) { return {ExitCode::data, path, std::move(text), {}}; }

/// A little-endian integer of the type's size; the caller has checked the bounds.
template <class T>
T get(std::string_view bytes, std::uint64_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value =
        static_cast<T>(value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  return value;
}

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

/// zlib counts in 32 bits; this hands it the input and output of a stream in pieces.
struct Pieces {
  std::string_view rest;
  void feed(z_stream& stream) {
    if (stream.avail_in > 0 || rest.empty()) return;
    const std::size_t size = std::min<std::size_t>(rest.size(), 1u << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(size);
    rest.remove_prefix(size);
  }
};

std::string deflated(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  Pieces in{bytes};
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    in.feed(stream);
    const std::size_t before = out.size();
    out.resize(before + std::max<std::size_t>(1 << 14, std::min<std::size_t>(bytes.size() / 2, 1u << 26)));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    status = deflate(&stream, in.rest.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

/// The first `size` bytes of a raw stream, which are all of it where `whole`.
std::optional<std::string> inflated(std::string_view bytes, std::uint64_t size, bool whole) {
  if (size / kLargestRatio > bytes.size() + 1) return std::nullopt;
  std::string out(size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  Pieces in{bytes};
  std::uint64_t done = 0;
  int status = Z_OK;
  char spare = 0;
  while (status == Z_OK && (whole || done < size)) {
    in.feed(stream);
    const std::uint64_t room = std::min<std::uint64_t>(size - done, 1u << 30);
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + done : &spare);
    stream.avail_out = static_cast<uInt>(room > 0 ? room : 1);
    const uInt offered = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    const uInt produced = offered - stream.avail_out;
    if (room == 0 && produced > 0) status = Z_DATA_ERROR;
    if (produced == 0 && stream.avail_in == 0 && in.rest.empty() && status == Z_OK) status = Z_DATA_ERROR;
    done += room > 0 ? produced : 0;
  }
  inflateEnd(&stream);
  if ((whole && status != Z_STREAM_END) || done != size) return std::nullopt;
  return out;
}

struct Entry {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, offset = 0;
  std::string name;
};

/// Replaces saturated 32-bit fields by those of the ZIP64 extra field.
bool widen(Entry& entry, std::string_view extra) {
  while (extra.size() >= 4) {
    const auto id = get<std::uint16_t>(extra, 0), length = get<std::uint16_t>(extra, 2);
    if (extra.size() < 4u + length) return false;
    if (id == 1) {
      std::string_view body = extra.substr(4, length);
      for (std::uint64_t* field : {&entry.size, &entry.compressed, &entry.offset}) {
        if (*field != kFull32) continue;
        if (body.size() < 8) return false;
        *field = get<std::uint64_t>(body, 0);
        body.remove_prefix(8);
      }
      return true;
    }
    extra.remove_prefix(4u + length);
  }
  return true;
}

struct Directory {
  std::uint64_t count = 0, offset = 0;
};

std::optional<Directory> find_directory(std::string_view bytes) {
  constexpr std::size_t kEndSize = 22, kLongestComment = 0xFFFF;
  if (bytes.size() < kEndSize) return std::nullopt;
  const std::size_t first = bytes.size() - std::min(bytes.size(), kEndSize + kLongestComment);
  for (std::size_t at = bytes.size() - kEndSize + 1; at-- > first;) {
    if (get<std::uint32_t>(bytes, at) != kEnd) continue;
    Directory directory{get<std::uint16_t>(bytes, at + 10), get<std::uint32_t>(bytes, at + 16)};
    if (at < 20 || get<std::uint32_t>(bytes, at - 20) != kLocator64) return directory;
    const auto wide = get<std::uint64_t>(bytes, at - 20 + 8);
    if (wide > bytes.size() || bytes.size() - wide < 56 || get<std::uint32_t>(bytes, wide) != kEnd64)
      return std::nullopt;
    return Directory{get<std::uint64_t>(bytes, wide + 32), get<std::uint64_t>(bytes, wide + 48)};
  }
  return std::nullopt;
}

/// Nothing where the filter passes it over.
Result<std::optional<ZipMember>> extract(const Entry& entry, std::string_view bytes, const std::string& path,
                                         const ZipFilter& filter) {
  const auto fail = [&](const char* text) {
    return zip_error(path, fmt::format("member '{}' {}", printable(entry.name), text));
  };
  if (entry.flags & 1) return fail("is encrypted");
  if (entry.method != kStored && entry.method != kDeflated) return fail("is neither stored nor deflated");
  constexpr std::uint64_t kLocalSize = 30;
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < kLocalSize ||
      get<std::uint32_t>(bytes, entry.offset) != kLocalHeader)
    return fail("is not where the directory says");
  const std::uint64_t start = entry.offset + kLocalSize + get<std::uint16_t>(bytes, entry.offset + 26) +
                              get<std::uint16_t>(bytes, entry.offset + 28);
  if (start > bytes.size() || bytes.size() - start < entry.compressed) return fail("is cut off");
  const std::string_view body = bytes.substr(start, entry.compressed);
  if (entry.method == kStored && entry.size != entry.compressed) return fail("has sizes that disagree");
  const auto first = [&](std::uint64_t size) {
    return entry.method == kStored ? std::string(body.substr(0, size)) : inflated(body, size, size == entry.size);
  };
  constexpr std::uint64_t kBegin = 1 << 16;
  const std::optional<std::string> begin = first(std::min(entry.size, kBegin));
  if (!begin) return fail("is damaged");
  const Result<bool> taken = filter ? filter(entry.name, entry.size, *begin) : true;
  if (!taken) return taken.error();
  if (!*taken) return std::optional<ZipMember>();
  std::optional<std::string> contents = first(entry.size);
  if (!contents || checksum(*contents) != entry.crc) return fail("is damaged");
  return std::optional(ZipMember{entry.name, std::move(*contents)});
}

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& path, const ZipFilter& filter) {
  const std::optional<Directory> directory = find_directory(bytes);
  if (!directory) return zip_error(path, "not a ZIP archive, or one that was cut off");
  constexpr std::uint64_t kCentralSize = 46;
  std::vector<ZipMember> members;
  std::uint64_t at = directory->offset;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    if (at > bytes.size() || bytes.size() - at < kCentralSize || get<std::uint32_t>(bytes, at) != kCentralHeader)
      return zip_error(path, "the directory of the archive is damaged");
    Entry entry{get<std::uint16_t>(bytes, at + 8),
                get<std::uint16_t>(bytes, at + 10),
                get<std::uint32_t>(bytes, at + 16),
                get<std::uint32_t>(bytes, at + 20),
                get<std::uint32_t>(bytes, at + 24),
                get<std::uint32_t>(bytes, at + 42),
                {}};
    const std::uint64_t name = get<std::uint16_t>(bytes, at + 28), extra = get<std::uint16_t>(bytes, at + 30),
                        comment = get<std::uint16_t>(bytes, at + 32);
    if (bytes.size() - at - kCentralSize < name + extra + comment ||
        !widen(entry, bytes.substr(at + kCentralSize + name, extra)))
      return zip_error(path, "the directory of the archive is damaged");
    entry.name = bytes.substr(at + kCentralSize, name);
    // Entries that overlap could otherwise multiply a small file without bound.
    total += std::min(entry.compressed, std::numeric_limits<std::uint64_t>::max() - total);
    if (total > bytes.size()) return zip_error(path, "the members of the archive overlap");
    Result<std::optional<ZipMember>> member = extract(entry, bytes, path, filter);
    if (!member) return member.error();
    if (*member) members.push_back(std::move(**member));
    at += kCentralSize + name + extra + comment;
  }
  return members;
}

std::string write_zip(const std::vector<ZipMember>& members) {
  std::string out, directory;
  for (const ZipMember& member : members) {
    const std::string body = deflated(member.bytes);
    const std::uint64_t offset = out.size();
    const bool wide = body.size() >= kFull32 || member.bytes.size() >= kFull32 || offset >= kFull32;
    const std::uint16_t version = wide ? 45 : 20;
    // The fields that the local and the central header have in common, from `version needed` on.
    std::string common;
    put<std::uint16_t>(common, version);
    put<std::uint16_t>(common, 1 << 11);  // the name is UTF-8
    put<std::uint16_t>(common, kDeflated);
    put<std::uint16_t>(common, 0);
    put<std::uint16_t>(common, kDate1980);
    put<std::uint32_t>(common, checksum(member.bytes));
    put<std::uint32_t>(common, wide ? kFull32 : static_cast<std::uint32_t>(body.size()));
    put<std::uint32_t>(common, wide ? kFull32 : static_cast<std::uint32_t>(member.bytes.size()));
    put<std::uint16_t>(common, static_cast<std::uint16_t>(member.name.size()));
    std::string sizes;
    if (wide) {
      put<std::uint64_t>(sizes, member.bytes.size());
      put<std::uint64_t>(sizes, body.size());
    }
    std::string extra = sizes.empty() ? "" : std::string("\x01\0\x10\0", 4) + sizes;
    put<std::uint32_t>(out, kLocalHeader);
    out += common;
    put<std::uint16_t>(out, static_cast<std::uint16_t>(extra.size()));
    out += member.name + extra + body;

    if (wide) {
      put<std::uint64_t>(sizes, offset);
      extra = std::string("\x01\0\x18\0", 4) + sizes;
    }
    put<std::uint32_t>(directory, kCentralHeader);
    put<std::uint16_t>(directory, version);
    directory += common;
    put<std::uint16_t>(directory, static_cast<std::uint16_t>(extra.size()));
    put<std::uint16_t>(directory, 0);  // comment
    put<std::uint16_t>(directory, 0);  // disk
    put<std::uint16_t>(directory, 0);  // internal attributes
    put<std::uint32_t>(directory, 0);  // external attributes
    put<std::uint32_t>(directory, wide ? kFull32 : static_cast<std::uint32_t>(offset));
    directory += member.name + extra;
  }
  const std::uint64_t start = out.size(), count = members.size();
  out += directory;
  if (start >= kFull32 || directory.size() >= kFull32 || count >= kFull16) {
    const std::uint64_t end64 = out.size();
    put<std::uint32_t>(out, kEnd64);
    put<std::uint64_t>(out, 44);  // size of the rest of this record
    put<std::uint16_t>(out, 45);
    put<std::uint16_t>(out, 45);
    put<std::uint64_t>(out, 0);  // this disk and the directory's, 32 bits each
    put<std::uint64_t>(out, count);
    put<std::uint64_t>(out, count);
    put<std::uint64_t>(out, directory.size());
    put<std::uint64_t>(out, start);
    put<std::uint32_t>(out, kLocator64);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, end64);
    put<std::uint32_t>(out, 1);
  }
  const auto short_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, kFull16));
  put<std::uint32_t>(out, kEnd);
  put<std::uint32_t>(out, 0);  // this disk and the directory's, 16 bits each
  put<std::uint16_t>(out, short_count);
  put<std::uint16_t>(out, short_count);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(std::min<std::uint64_t>(directory.size(), kFull32)));
  put<std::uint32_t>(out, static_cast<std::uint32_t>(std::min<std::uint64_t>(start, kFull32)));
  put<std::uint16_t>(out, 0);
  return out;
}

Result<std::string> gunzip(std::string_view bytes, const std::string& path) {
  constexpr int kGzipOnly = MAX_WBITS + 16;
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error{ExitCode::internal, path, "zlib does not start", {}};
  const std::uint64_t most = memory_of_machine() / 2;  // what is read from it needs as much again
  std::string out;
  Pieces in{bytes};
  int status = Z_OK;
  while (out.size() < most) {
    in.feed(stream);
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
    const bool starved = stream.avail_in == 0 && in.rest.empty() && out.size() == before;
    if ((status != Z_OK && status != Z_STREAM_END) || (status == Z_OK && starved)) break;
  }
  inflateEnd(&stream);
  if (out.size() >= most)
    return zip_error(path, fmt::format("the file expands to more than {}", as_bytes(static_cast<double>(most))));
  if (status != Z_STREAM_END) return zip_error(path, "not a gzip file, or one that was cut off");
  return out;
}

}  // namespace lehr
