// Draws as NetCDF-4 files in the layout of ArviZ and xarray: a NetCDF group for each group, a dimension for each axis.
// Arrays with NamedArray::integer are 64-bit integers, and so are the values of coordinates. Coordinates with another
// name than their axis are listed in the attribute `coordinates`. The functions load a plugin (PluginError).
#pragma once
#include <string>
#include <string_view>

#include "runtime/files/labelled.h"
#include "runtime/result.h"

namespace lehr {

/// Returns the bytes of a NetCDF-4 file with these draws, as ArviZ reads it; equal arrays give equal bytes. An axis of
/// extent 0 becomes an unlimited dimension. ExitCode::internal if the NetCDF library fails.
Result<std::string> format_netcdf(const LabelledArrays& arrays);

/// Parses draws from a file that format_netcdf() wrote, in a child process that a damaged file may crash. `path` is for
/// messages. Any other file is an error of ExitCode::data.
Result<LabelledArrays> parse_netcdf(std::string_view bytes, const std::string& path);

}  // namespace lehr
