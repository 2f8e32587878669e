// Row access to NumPy arrays, in files of their own and as uncompressed members of an archive. An excerpt is an NPY
// file: a new header, then the bytes of the rows.
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "runtime/files/npy.h"
#include "runtime/files/random_access_file.h"
#include "runtime/files/rows.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::uint64_t kBegin = 1 << 16;     // bytes from the start of a file, enough for any header
constexpr std::string_view kEnding = ".npy";  // end of the members' names

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Member = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;
/// Replaces `to` by `count` bytes from offset `at` of the array's file.
using ReadBytes = std::function<std::optional<Error>(std::uint64_t at, std::uint64_t count, std::string& to)>;

/// The rows of one array. `read` reads from the file or the archive's member.
class ArrayRows : public RowFile {
 public:
  ArrayRows(NpyRowLayout where, ReadBytes read) : where_(std::move(where)), read_(std::move(read)) {}

  std::int64_t rows() const override { return where_.shape[0]; }
  std::int64_t skipped_lines(std::int64_t) const override { return 0; }
  Result<std::string> excerpt(std::span<const RowRange> runs) const override {
    std::string out = where_.header(count_rows(runs)), part;
    for (const RowRange& run : runs) {
      const std::uint64_t first = static_cast<std::uint64_t>(run.begin) * where_.bytes,
                          past = static_cast<std::uint64_t>(run.end) * where_.bytes;
      if (std::optional<Error> e = read_(where_.begin + first, past - first, part)) return *e;
      out += part;
    }
    return out;
  }

 private:
  NpyRowLayout where_;
  ReadBytes read_;
};

/// Reads the header of an array of `size` bytes and returns its rows. `name` is for messages.
Result<std::unique_ptr<RowFile>> rows_of(ReadBytes read, std::uint64_t size, const std::string& name) {
  std::string begin;
  if (std::optional<Error> e = read(0, std::min(size, kBegin), begin)) return *e;
  Result<NpyRowLayout> where = npy_row_layout(begin, size, name);
  if (!where) return where.error();
  return std::unique_ptr<RowFile>(std::make_unique<ArrayRows>(std::move(*where), std::move(read)));
}

/// Opens a ZIP archive through a copy of the file's descriptor.
Result<std::shared_ptr<zip_t>> open_archive(const RandomAccessFile& bytes) {
  int why = 0;
  const int file = bytes.duplicate();
  // zip_fdopen() takes ownership of the descriptor on success.
  zip_t* archive = file < 0 ? nullptr : zip_fdopen(file, 0, &why);
  if (!archive && file >= 0) ::close(file);
  if (!archive) return data_error(bytes.path(), "not a ZIP archive, or one that was cut off");
  return std::shared_ptr<zip_t>(archive, zip_discard);
}

/// Returns the names of all members that are arrays. Two members of one name are an error.
Result<std::vector<std::string>> names_of(zip_t* archive, const std::string& path) {
  std::vector<std::string> out;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    const char* name = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    const std::string_view text = name ? name : "";
    if (!text.ends_with(kEnding)) continue;
    out.emplace_back(text.substr(0, text.size() - kEnding.size()));
    if (std::count(out.begin(), out.end(), out.back()) > 1) return duplicate_member_error(path, out.back());
  }
  return out;
}

}  // namespace

std::int64_t count_rows(std::span<const RowRange> runs) {
  std::int64_t out = 0;
  for (const RowRange& run : runs)
    out += run.end - run.begin;
  return out;
}

Result<std::unique_ptr<RowFile>> open_array(const std::string& path) {
  Result<RandomAccessFile> bytes = RandomAccessFile::open(path);
  if (!bytes) return bytes.error();
  const auto file = std::make_shared<RandomAccessFile>(std::move(*bytes));
  return rows_of([file](std::uint64_t at, std::uint64_t n, std::string& to) { return file->read(at, n, to); },
                 file->size(), path);
}

Result<std::vector<std::string>> list_members(const std::string& path) {
  const Result<RandomAccessFile> bytes = RandomAccessFile::open(path);
  if (!bytes) return bytes.error();
  const Result<std::shared_ptr<zip_t>> archive = open_archive(*bytes);
  if (!archive) return archive.error();
  return names_of(archive->get(), path);
}

Result<std::unique_ptr<RowFile>> open_member(const std::string& path, const std::string& name) {
  Result<RandomAccessFile> bytes = RandomAccessFile::open(path);
  if (!bytes) return bytes.error();
  const auto file = std::make_shared<RandomAccessFile>(std::move(*bytes));
  const Result<std::shared_ptr<zip_t>> archive = open_archive(*file);
  if (!archive) return archive.error();
  const Result<std::vector<std::string>> names = names_of(archive->get(), path);
  if (!names) return names.error();
  const std::string location = fmt::format("{}:{}", path, printable(name)), full = name + std::string(kEnding);
  zip_stat_t about = {};
  if (zip_stat(archive->get(), full.c_str(), 0, &about) != 0)
    return data_error(path, fmt::format("there is no array '{}'", printable(name)));
  if (about.comp_method != ZIP_CM_STORE || about.encryption_method != ZIP_EM_NONE)
    return data_error(location, "the member is compressed: it cannot be read in pieces",
                      {"numpy.savez writes arrays as they are, numpy.savez_compressed does not"});
  const std::shared_ptr<zip_file_t> member(zip_fopen(archive->get(), full.c_str(), 0),
                                           [archive = *archive](zip_file_t* m) {
                                             if (m) zip_fclose(m);
                                           });
  if (!member) return data_error(location, "is not where the directory says");
  const auto read = [file, member, location](std::uint64_t at, std::uint64_t n,
                                             std::string& to) -> std::optional<Error> {
    to.resize(n);
    std::uint64_t done = 0;
    zip_int64_t got = zip_fseek(member.get(), static_cast<zip_int64_t>(at), SEEK_SET) == 0 ? 1 : -1;
    while (got > 0 && done < n) {
      got = zip_fread(member.get(), to.data() + done, n - done);
      if (got > 0) done += static_cast<std::uint64_t>(got);
    }
    if (std::optional<Error> e = file->changed()) return e;
    return done == n ? std::nullopt : std::optional(data_error(location, "cannot be read: the archive is damaged"));
  };
  return rows_of(read, about.size, location);
}

}  // namespace lehr
