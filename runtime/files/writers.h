// The formats that are written, each with its function from arrays to the bytes of a file.
#pragma once
#include <string>
#include <string_view>

#include "runtime/files/netcdf.h"
#include "runtime/files/npz.h"
#include "runtime/files/stan_csv.h"

namespace lehr {

/// Stan's JSON, as parse_json reads it: NaN and infinities are "NaN", "Inf" and "-Inf".
Result<std::string> format_json(const std::vector<NamedArray>& arrays);

struct ArrayFormat {
  std::string_view extension;
  decltype(&format_npz) format;
};

inline constexpr ArrayFormat kArrayFormats[] = {
    {".npz", &format_npz},
    {".json", &format_json},
};

/// The formats of draws.
struct DrawFormat {
  std::string_view extension;
  Result<std::string> (*format)(const LabelledArrays& draws);
};

inline constexpr DrawFormat kDrawFormats[] = {
    {".nc", &format_netcdf},
    {".csv", &format_stan_csv},
};

/// ".npz or ...": the extensions, for messages and help.
std::string array_extensions();
std::string draw_extensions();

/// The format that the path ends in; an error of ExitCode::usage about `where` if it is none of them.
Result<ArrayFormat> array_format(const std::string& where, const std::string& path);
Result<DrawFormat> draw_format(const std::string& where, const std::string& path);

}  // namespace lehr
