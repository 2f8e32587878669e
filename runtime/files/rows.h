// Data files that are read in pieces, for out-of-core data. A row is a document of an LDA-C file, a record of a table,
// or an element along the first axis of an array.
//
// An excerpt is a complete file with some of the rows: of the same format, or NPY for members of archives and arrays of
// HDF5 files. The ordinary reader of the format parses it, so formats and checks are implemented once.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// A range of consecutive rows of a file: begin .. end - 1.
struct RowRange {
  std::int64_t begin = 0, end = 0;  // `end` is one past the last row
};

/// Returns the total number of rows in the ranges, which must not overlap.
std::int64_t count_rows(std::span<const RowRange> runs);

/// An open data file whose rows can be read without the rest of the file, for out-of-core data.
class RowFile {
 public:
  /// Closes the file.
  virtual ~RowFile() = default;
  /// Returns the number of rows in the file.
  virtual std::int64_t rows() const = 0;
  /// Returns the bytes of an excerpt: a complete file that has only the rows in `runs`, which are ascending, for the
  /// ordinary parser. It has the same format, or NPY for arrays of archives and HDF5 files. Fails if the file cannot be
  /// read or has changed.
  virtual Result<std::string> excerpt(std::span<const RowRange> runs) const = 0;
  /// Returns how many lines of the file precede row `row` and are missing in an excerpt that begins there: all but
  /// those of a header, which every excerpt has. Messages add it to line numbers. It is 0 if the file does not consist
  /// of lines, such as an NPY file.
  virtual std::int64_t skipped_lines(std::int64_t row) const = 0;
};

/// Opens a text file for reading its rows in pieces: an LDA-C file, or with `header` a table whose first record names
/// the columns. The file is scanned once, and offsets of at most 65536 rows are stored.
Result<std::unique_ptr<RowFile>> open_lines(const std::string& path, bool header);
/// Opens an NPY file for reading its rows in pieces.
Result<std::unique_ptr<RowFile>> open_array(const std::string& path);
/// Opens an array of an NPZ archive for reading its rows in pieces. It must be stored uncompressed; other members are
/// an error.
Result<std::unique_ptr<RowFile>> open_member(const std::string& path, const std::string& member);
/// Opens an array of numbers in an HDF5 file for reading its rows in pieces. Its excerpts are NPY files of doubles.
Result<std::unique_ptr<RowFile>> open_hdf5(const std::string& path, const std::string& part);
/// Returns the names of the arrays in an NPZ archive, without `.npy`.
Result<std::vector<std::string>> list_members(const std::string& path);

/// A `--data` binding (dataset.h) whose file is read in pieces, because the data do not fit into memory (`--stream`).
/// For an archive, each array has its own RowBinding.
class RowBinding {
 public:
  /// Opens the file of a binding. Only tables, LDA-C, NPY and NPZ files and single arrays of HDF5 files have rows that
  /// can be read separately. For all other formats, compressed files and standard input, it returns an empty list.
  static Result<std::vector<RowBinding>> open(const std::string& binding);

  /// Returns the path of the binding's file.
  const std::string& path() const { return path_; }
  /// Returns the number of rows in the binding's file.
  std::int64_t rows() const { return file_->rows(); }
  /// Reads some rows (ascending runs): the arrays that read_binding() would give for a file with only these rows. With
  /// one run, line numbers in messages are those of the whole file. An error if the excerpt has another number of rows,
  /// as may happen if lines are empty. Arrays of a table in `as_text` are of text, as other rows of the file show.
  Result<Dataset> read(std::span<const RowRange> runs, const std::set<std::string>& as_text = {}) const;

 private:
  std::string path_, text_;              // path of the file, and the binding by which an excerpt is parsed
  std::shared_ptr<const RowFile> file_;  // the open file; shared by copies
};

}  // namespace lehr
