// One function per file type, from the bytes of a file, and the table of the types; `path` is only for messages. All
// errors are of ExitCode::data and name file, line and cure. None of them allocates more than a small multiple of the
// input.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// A CSV table (RFC 4180, first line the names of the columns). Fields are separated by commas; where the first line
/// has none, by semicolons, with decimal points or commas; where it has none of these either, by tabs. With an empty
/// `name`, one array a column, named by the header: the columns listed, or all that have a name. Otherwise one array
/// `name` whose last axis is the listed columns (or all numeric ones); a single column gives a vector, and may be text.
Result<Dataset> parse_csv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns);

/// The same, separated by tabs.
Result<Dataset> parse_tsv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns);

/// Splits one line of comma-separated, possibly quoted fields (the `a,b,c` of a binding).
std::vector<std::string> split_fields(std::string_view line);

/// Stan's JSON: an object of scalars and nested arrays, by name; or one unnamed array or scalar, under the
/// name "". Numbers, booleans (0 and 1), null (missing), "NaN", "Inf", "-Inf"; lists of strings become
/// levels. Nested arrays are rectangular, or of two levels with rows of different lengths (ragged). Python's
/// bare NaN and Infinity are read too.
Result<Dataset> parse_json(std::string_view bytes, const std::string& path);

/// LDA-C: a line a document, `M term:count term:count ...` with M pairs. Gives the ragged array of term ids
/// with the counts as multiplicity.
Result<DataArray> parse_ldac(std::string_view bytes, const std::string& path);

/// A matrix of Matrix Market, rows of which are documents: sparse, its counts as of LDA-C, or with the part `dense` all
/// numbers; or an array of numbers. `name` is that of the array.
Result<Dataset> parse_matrix_market(std::string_view bytes, const std::string& path, const std::string& name,
                                    const std::string& part);

/// SVMlight and LIBSVM: the same, and the part `label`. Columns count from 1, or from 0 where a line has a column 0.
Result<Dataset> parse_svmlight(std::string_view bytes, const std::string& path, const std::string& name,
                               const std::string& part);

/// HDF5: with a part, the array at that path in the file; without, all that are in no group, by name. A sparse matrix
/// (a group as AnnData has it) gives its counts, or with `,dense` after the path all numbers.
Result<Dataset> parse_hdf5(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part);

/// AnnData's files: X, or the part of that path, with the names of observations and variables.
Result<Dataset> parse_h5ad(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part);

/// NumPy's arrays, as parse_npy and parse_npz (npy.h) read them, and those of text, as levels.
Result<DataArray> npy_data(std::string_view bytes, const std::string& path);
Result<Dataset> npz_data(std::string_view bytes, const std::string& path);

/// One label a line; a byte order mark, carriage returns and blank lines at the end are dropped.
Result<std::vector<std::string>> parse_labels(std::string_view bytes, const std::string& path);

/// How a file is read, by what it holds: a table of columns, parts of which one is chosen, arrays with
/// names, one array without.
using ReadTable = decltype(&parse_csv);
using ReadPart = decltype(&parse_h5ad);
using ReadArrays = decltype(&parse_json);
using ReadArray = decltype(&parse_ldac);

struct DataFormat {
  std::string_view extension;
  std::string_view forms;  // of its bindings, for messages and help
  std::variant<ReadTable, ReadPart, ReadArrays, ReadArray> read;
};

/// Every format that `--data` reads.
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

/// Whether a binding reads the standard input, which is there once.
bool reads_standard_input(const std::string& binding);

/// The forms of all bindings, for messages and help.
std::string data_forms();

}  // namespace lehr
