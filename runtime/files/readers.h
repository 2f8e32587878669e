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

/// NumPy's arrays, as parse_npy and parse_npz (npy.h) read them.
Result<DataArray> npy_data(std::string_view bytes, const std::string& path);
Result<Dataset> npz_data(std::string_view bytes, const std::string& path);

/// One label a line; a byte order mark, carriage returns and blank lines at the end are dropped.
Result<std::vector<std::string>> parse_labels(std::string_view bytes, const std::string& path);

/// How a file is read, by what it holds: a table of columns, arrays with
/// names, one array without.
using ReadTable = decltype(&parse_csv);
using ReadArrays = decltype(&parse_json);
using ReadArray = decltype(&parse_ldac);

struct DataFormat {
  std::string_view extension;
  std::string_view forms;  // of its bindings, for messages and help
  std::variant<ReadTable, ReadArrays, ReadArray> read;
};

/// Every format that `--data` reads.
inline constexpr DataFormat kDataFormats[] = {
    {".csv", "file.csv, x=file.csv:a,b, - and x=-:a,b (standard input)", &parse_csv},
    {".tsv", "file.tsv, x=file.tsv:a,b", &parse_tsv},
    {".npy", "x=file.npy", &npy_data},
    {".npz", "file.npz, x=file.npz:member", &npz_data},
    {".json", "file.json", &parse_json},
    {".ldac", "w=file.ldac", &parse_ldac},
};

/// The forms of all bindings, for messages and help.
std::string data_forms();

}  // namespace lehr
