// Row access to files of lines. One scan of the file stores the offsets of every k-th row. When there are too many,
// every second is dropped and k doubles. A row is found from the nearest stored offset before it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "runtime/files/random_access_file.h"
#include "runtime/files/rows.h"
#include "runtime/files/text.h"
#include "runtime/threshold.h"

namespace lehr {
namespace {

/// Most offsets that are stored.
constexpr Threshold<std::size_t> kMostStoredOffsets("line_rows.most_places", 65536);
/// Bytes that are read at a time.
constexpr Threshold<std::size_t> kChunk("line_rows.chunk", 1 << 20);

/// A position in the file.
struct FilePosition {
  std::uint64_t byte = 0;
  std::int64_t line = 0;  // number of lines before it
};

/// Finds the ends of rows, byte by byte. In a table, a line break inside quotes does not end a row.
class RowScan {
 public:
  explicit RowScan(bool quotes) : quotes_(quotes) {}

  /// Returns true if this byte is the last of a row. Blank lines belong to the row after them.
  bool ends_row(char c) {
    if (quotes_ && c == '"') quoted_ = !quoted_;
    if (c == '\n') ++lines_;
    if (c != '\n' || quoted_) {
      some_ = some_ || (c != ' ' && c != '\t' && c != '\r' && c != '\n');
      return false;
    }
    return std::exchange(some_, false);
  }
  /// Returns true if there was text since the end of the last row.
  bool some() const { return some_; }
  bool quoted() const { return quoted_; }
  std::int64_t lines() const { return lines_; }

 private:
  bool quotes_, quoted_ = false, some_ = false;
  std::int64_t lines_ = 0;
};

/// The rows of a file of lines; with `header` the first record is not a row but is part of every excerpt.
class LineRows : public RowFile {
 public:
  LineRows(RandomAccessFile bytes, bool header) : bytes_(std::move(bytes)), header_(header) {}

  /// Counts the rows and stores their offsets; must be called first.
  std::optional<Error> scan();

  std::int64_t rows() const override { return rows_; }
  std::int64_t skipped_lines(std::int64_t row) const override {
    const Result<FilePosition> at = find(row);
    return at ? at->line - header_lines_ : 0;
  }
  Result<std::string> excerpt(std::span<const RowRange> runs) const override;

 private:
  /// Returns the position of a row.
  Result<FilePosition> find(std::int64_t row) const;
  /// Passes over `rows` rows from a position, calls `take` with their text, and returns where they end.
  template <class Take>
  Result<FilePosition> pass(FilePosition from, std::int64_t rows, const Take& take) const;
  /// Stores the position of a row if its number is a multiple of `stride_`.
  void note(std::int64_t row, FilePosition at);

  RandomAccessFile bytes_;
  bool header_;
  std::string header_text_;
  /// Lines of the header; rows; distance between rows with a stored position.
  std::int64_t header_lines_ = 0, rows_ = 0, stride_ = 1;
  std::vector<FilePosition> positions_;  // of rows 0, stride_, 2 stride_, ...
};

void LineRows::note(std::int64_t row, FilePosition at) {
  if (row % stride_ != 0) return;
  positions_.push_back(at);
  if (positions_.size() < thresholds_of_environment()[kMostStoredOffsets]) return;
  for (std::size_t k = 0; 2 * k < positions_.size(); ++k)
    positions_[k] = positions_[2 * k];
  positions_.resize((positions_.size() + 1) / 2);
  stride_ *= 2;
}

std::optional<Error> LineRows::scan() {
  RowScan scan(header_);
  std::string chunk;
  std::int64_t row = header_ ? -1 : 0;
  FilePosition begin;
  for (std::uint64_t at = 0; at < bytes_.size(); at += chunk.size()) {
    if (std::optional<Error> e =
            bytes_.read(at, std::min<std::uint64_t>(thresholds_of_environment()[kChunk], bytes_.size() - at), chunk))
      return e;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (!scan.ends_row(chunk[i])) continue;
      if (row >= 0) note(row, begin);
      begin = {at + i + 1, scan.lines()};
      if (row++ < 0) header_lines_ = scan.lines();
      if (row == 0 && header_) {
        if (std::optional<Error> e = bytes_.read(0, begin.byte, header_text_)) return e;
      }
    }
  }
  if (scan.quoted())
    return data_error(bytes_.path(), "a quote is never closed", {"a quote inside a quoted field is written twice"});
  if (scan.some() && row >= 0) note(row++, begin);
  rows_ = std::max<std::int64_t>(row, 0);
  if (rows_ == 0) return data_error(bytes_.path(), header_ ? "the file has no rows" : "the file is empty");
  return std::nullopt;
}

template <class Take>
Result<FilePosition> LineRows::pass(FilePosition from, std::int64_t rows, const Take& take) const {
  RowScan scan(header_);
  std::string chunk;
  const std::uint64_t a_row = bytes_.size() / static_cast<std::uint64_t>(rows_) + 1;
  std::uint64_t at = from.byte;
  while (rows > 0 && at < bytes_.size()) {
    const std::uint64_t wanted = std::min<std::uint64_t>(thresholds_of_environment()[kChunk],
                                                         2 * a_row * static_cast<std::uint64_t>(rows) + 256);
    if (std::optional<Error> e = bytes_.read(at, std::min(wanted, bytes_.size() - at), chunk)) return *e;
    std::size_t used = 0;
    while (used < chunk.size() && rows > 0) {
      // Only line breaks and quotes matter.
      if (scan.ends_row(chunk[used++])) --rows;
    }
    take(std::string_view(chunk).substr(0, used));
    at += used;
  }
  return FilePosition{at, from.line + scan.lines()};
}

Result<FilePosition> LineRows::find(std::int64_t row) const {
  const FilePosition near = positions_[static_cast<std::size_t>(row / stride_)];
  return pass(near, row % stride_, [](std::string_view) {});
}

Result<std::string> LineRows::excerpt(std::span<const RowRange> runs) const {
  std::string out = header_text_;
  FilePosition at;
  std::int64_t here = -1;
  for (const RowRange& run : runs) {
    if (here >= 0 && run.begin >= here && run.begin - here < stride_) {
      const Result<FilePosition> next = pass(at, run.begin - here, [](std::string_view) {});
      if (!next) return next.error();
      at = *next;
    } else {
      const Result<FilePosition> first = find(run.begin);
      if (!first) return first.error();
      at = *first;
    }
    const Result<FilePosition> end = pass(at, run.end - run.begin, [&](std::string_view text) { out += text; });
    if (!end) return end.error();
    if (!out.ends_with('\n')) out += '\n';
    at = *end;
    here = run.end;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<RowFile>> open_lines(const std::string& path, bool header) {
  Result<RandomAccessFile> bytes = RandomAccessFile::open(path);
  if (!bytes) return bytes.error();
  auto out = std::make_unique<LineRows>(std::move(*bytes), header);
  if (std::optional<Error> e = out->scan()) return *e;
  return std::unique_ptr<RowFile>(std::move(out));
}

}  // namespace lehr
