// NetCDF-4 files as ArviZ and xarray read them: a group for each group, a dimension for each axis. Numbers that are
// whole are 64-bit integers. Coordinates that have not the name of their axis are listed in the attribute
// `coordinates`.
#pragma once
#include <string>
#include <string_view>

#include "runtime/files/labelled.h"
#include "runtime/result.h"

namespace lehr {

/// The bytes of a file, the same for the same arrays. An axis of extent 0 becomes an unlimited dimension.
/// ExitCode::internal where the library that writes them fails.
Result<std::string> format_netcdf(const LabelledArrays& arrays);

/// What format_netcdf wrote; `path` is for messages. ExitCode::data for anything else.
Result<LabelledArrays> parse_netcdf(std::string_view bytes, const std::string& path);

}  // namespace lehr
