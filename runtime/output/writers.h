// The formats in which arrays and draws are written: a table of extensions with the function that formats each.
#pragma once
#include <string>
#include <string_view>

#include "runtime/files/netcdf.h"
#include "runtime/files/npz.h"
#include "runtime/output/stan_csv.h"

namespace lehr {

/// Formats arrays as JSON in Stan's layout, as parse_json() reads it. NaN and infinities are the strings "NaN", "Inf"
/// and "-Inf".
Result<std::string> format_json(const std::vector<NamedArray>& arrays);

/// A file format in which named arrays are written: its extension and the function that formats them.
struct ArrayFormat {
  std::string_view extension;    // end of the file's name, with the dot
  decltype(&format_npz) format;  // returns the bytes of the file
};

/// The table of formats in which named arrays are written.
inline constexpr ArrayFormat kArrayFormats[] = {
    {".npz", &format_npz},
    {".json", &format_json},
};

/// A file format in which posterior draws are written: its extension and the function that formats them.
struct DrawFormat {
  std::string_view extension;                                  // end of the file's name, with the dot
  Result<std::string> (*format)(const LabelledArrays& draws);  // returns the bytes of the file
};

/// The table of formats in which posterior draws are written.
inline constexpr DrawFormat kDrawFormats[] = {
    {".nc", &format_netcdf},
    {".csv", &format_stan_csv},
};

/// Returns the extensions of array formats as ".npz or .json", for messages and help.
std::string array_extensions();
/// Returns the extensions of draw formats as ".nc or .csv", for messages and help.
std::string draw_extensions();

/// Returns the array format whose extension ends `path`. If there is none, an error of ExitCode::usage about `where`.
Result<ArrayFormat> array_format(const std::string& where, const std::string& path);
/// Returns the draw format whose extension ends `path`. If there is none, an error of ExitCode::usage about `where`.
Result<DrawFormat> draw_format(const std::string& where, const std::string& path);

}  // namespace lehr
