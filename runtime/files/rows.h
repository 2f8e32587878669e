// Files whose rows are read in pieces: a document of an LDA-C file, a record of a table, an element along the first
// axis of an array. What is read is a file of the same format with some of the rows, so that everything else about a
// format is in its reader.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// Consecutive rows.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

std::int64_t count_rows(std::span<const RowRange> runs);

class RowFile {
 public:
  virtual ~RowFile() = default;
  virtual std::int64_t rows() const = 0;
  /// A file of these rows, which are ascending. An error says what could not be read.
  virtual Result<std::string> excerpt(std::span<const RowRange> runs) const = 0;
  /// Lines of the file that an excerpt from this row on leaves out before it; 0 where there are no lines.
  virtual std::int64_t lines_before(std::int64_t row) const = 0;
};

/// Documents of LDA-C, or with `header` the records below the first one of a table. The file is read once; what is kept
/// are the places of at most 65536 rows.
Result<std::unique_ptr<RowFile>> open_lines(const std::string& path, bool header);
/// An array of NumPy; a member of an archive must be stored there as it is.
Result<std::unique_ptr<RowFile>> open_array(const std::string& path);
Result<std::unique_ptr<RowFile>> open_member(const std::string& path, const std::string& member);
/// An array of numbers in a file of HDF5, as doubles of NumPy.
Result<std::unique_ptr<RowFile>> open_hdf5(const std::string& path, const std::string& part);
/// The names of the arrays of an archive.
Result<std::vector<std::string>> list_members(const std::string& path);

/// A binding of `--data` (dataset.h) that is read in pieces; of an archive, one of its arrays.
class RowBinding {
 public:
  /// Empty where a file is not one of rows: JSON, and what is compressed.
  static Result<std::vector<RowBinding>> open(const std::string& binding);

  const std::string& path() const { return path_; }
  std::int64_t rows() const { return file_->rows(); }
  /// The arrays that read_binding would give if the file had these rows alone; places in messages are those of the
  /// whole file where the rows follow one another.
  Result<Dataset> read(std::span<const RowRange> runs) const;

 private:
  std::string path_, text_;  // `text_`: the binding of an excerpt
  std::shared_ptr<const RowFile> file_;
};

}  // namespace lehr
