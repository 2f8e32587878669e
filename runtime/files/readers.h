// The readers of data: one function for each type of file, from its bytes to named arrays, and the table of all types.
//
// In all of them `path` is for messages only. Errors are of ExitCode::data and name file, line and remedy. None
// allocates more than a small multiple of its input, so a damaged file cannot exhaust memory. A sparse matrix that is
// read as dense may take more, but it is an error if it would exceed the memory.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// Parses a CSV table (RFC 4180) whose first line names the columns.
///
/// The separator is the comma; if the first line has none outside quotes, the semicolon; if it has neither, the tab.
/// With semicolons, numbers may have decimal commas. With an empty `name` the result has one array for each column:
/// those in `columns`, or all with a name. Otherwise it has one array `name`, whose last axis is the columns listed
/// (all of numbers, or all of text), or all numeric ones. A single column gives a vector. An array in `as_text` is of
/// text although its cells may be numbers.
Result<Dataset> parse_csv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns, const std::set<std::string>& as_text = {});

/// Parses a table with tabs as separators, whose first line names the columns. With an empty `name` the result has one
/// array for each column: those in `columns`, or all with a name. Otherwise it has one array `name`, whose last axis is
/// the columns listed (all of numbers, or all of text), or all numeric ones. A single column gives a vector. An array
/// in `as_text` is of text although its cells may be numbers.
Result<Dataset> parse_tsv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns, const std::set<std::string>& as_text = {});

/// Splits a line of comma-separated fields, which may be quoted: the columns `a,b,c` of a binding, or the spellings of
/// an option. A malformed line gives none.
std::vector<std::string> split_fields(std::string_view line);

/// Parses JSON in Stan's layout: an object of scalars and nested arrays by name, or one array or scalar, named "".
///
/// It accepts numbers, booleans (0 and 1), null, "NaN", "NA" and "" (missing), "Inf", "-Inf", and Python's bare NaN and
/// Infinity. Lists of other strings become levels. Arrays are rectangular; with two levels of nesting they may be
/// ragged.
Result<Dataset> parse_json(std::string_view bytes, const std::string& path);

/// Parses an LDA-C corpus: a line a document, `M term:count term:count ...` with M pairs. Returns the ragged array of
/// term ids, with the counts as multiplicity.
Result<DataArray> parse_ldac(std::string_view bytes, const std::string& path);

/// Parses a Matrix Market file. The result has one array, called `name`.
///
/// A sparse matrix gives a ragged array of column numbers with counts, a document for each row, as LDA-C does; with
/// `part` "dense", all numbers. A dense matrix gives its numbers, with one column as a vector.
Result<Dataset> parse_matrix_market(std::string_view bytes, const std::string& path, const std::string& name,
                                    const std::string& part);

/// Parses an SVMlight or LIBSVM file (`LABEL column:value ...` on each line) into one array `name`. That is a ragged
/// array of column numbers with counts, with `part` "dense" all numbers, with "label" the labels of the rows. Columns
/// count from 1, or from 0 if some line has a column 0.
Result<Dataset> parse_svmlight(std::string_view bytes, const std::string& path, const std::string& name,
                               const std::string& part);

/// Parses an HDF5 file: the array at the path `part`, or without a part all arrays outside of groups, by name. The
/// array of a path is named by `name`, or else by the last part of the path. With a `name` and no path, the file must
/// have one such array, which gets the name. A sparse matrix (a group in AnnData's layout) gives its counts, or with
/// ",dense" behind the path all numbers.
Result<Dataset> parse_hdf5(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part);

/// Parses an AnnData file into one array `name`: the matrix X, or the array at the path `part`. A sparse matrix gives
/// its counts, or with ",dense" behind the path all numbers. The names of observations and variables become labels of
/// its axes.
Result<Dataset> parse_h5ad(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part);

/// Parses an NPY file as data of a model: numbers (as parse_npy() does), or text, which becomes levels.
Result<DataArray> npy_data(std::string_view bytes, const std::string& path);
/// Parses an NPZ archive as data of a model: its arrays of numbers or text by name, as npy_data() does for one.
Result<Dataset> npz_data(std::string_view bytes, const std::string& path);

/// Parses a list of distinct labels of a plate's elements, one a line. A byte order mark, carriage returns and blank
/// lines at the end are dropped.
Result<std::vector<std::string>> parse_labels(std::string_view bytes, const std::string& path);

/// The type of a reader of tables (CSV, TSV): the name and the list of columns of a binding select from the file.
using ReadTable = decltype(&parse_csv);
/// The type of a reader that reads one part of a file, selected by a path or word behind the file's name in a binding.
using ReadPart = decltype(&parse_h5ad);
/// The type of a reader that returns all named arrays of a file, of which the binding selects.
using ReadArrays = decltype(&parse_json);
/// The type of a reader that returns the one unnamed array of a file, which the binding must name.
using ReadArray = decltype(&parse_ldac);

/// A type of data file: its extension and its reader.
struct DataFormat {
  std::string_view extension;  // end of the file's name, with the dot, by which the format is chosen
  std::string_view forms;      // examples of `--data` bindings, for messages and help
  /// The reader; its type determines how a binding selects arrays.
  std::variant<ReadTable, ReadPart, ReadArrays, ReadArray> read;
};

/// The table of all file formats that `--data` reads.
inline constexpr DataFormat kDataFormats[] = {
    {".csv", "file.csv, x=file.csv:a,b, - and x=-:a,b (standard input)", &parse_csv},
    {".tsv", "file.tsv, x=file.tsv:a,b", &parse_tsv},
    {".npy", "x=file.npy", &npy_data},
    {".npz", "file.npz, x=file.npz:member", &npz_data},
    {".json", "file.json", &parse_json},
    {".ldac", "w=file.ldac", &parse_ldac},
    {".mtx", "w=file.mtx, x=file.mtx:dense", &parse_matrix_market},
    {".svm", "w=file.svm, y=file.svm:label", &parse_svmlight},
    {".svmlight", "w=file.svmlight", &parse_svmlight},
    {".h5", "file.h5, x=file.h5:group/array", &parse_hdf5},
    {".hdf5", "file.hdf5", &parse_hdf5},
    {".h5ad", "w=file.h5ad, z=file.h5ad:obs/cluster", &parse_h5ad},
};

/// Returns true if a `--data` binding reads standard input, as `-` or `x=-` does; false also if the binding is
/// malformed. All bindings of one process may select from standard input. A later process, such as `lehr report`,
/// cannot read these data again.
bool reads_standard_input(const std::string& binding);

/// Returns example bindings of all formats of `--data`, separated by commas, for messages and help.
std::string data_forms();

}  // namespace lehr
