// The interface between Lehr and its plugin for NetCDF: a table of functions that a shared library exports as
// `lehr_plugin`. The plugin alone links the NetCDF library, which needs some forty others; it is loaded on first use.
#pragma once
#include "runtime/files/netcdf.h"

namespace lehr {

/// The functions that the plugin for NetCDF provides; those of netcdf.h call them.
struct NetcdfCodec {
  /// Returns the bytes of a NetCDF-4 file with these draws (format_netcdf()).
  Result<std::string> (*format)(const LabelledArrays&);
  /// Parses a NetCDF-4 file of draws (parse_netcdf()). A damaged file may crash it, so the caller runs it in a child
  /// process.
  Result<LabelledArrays> (*parse)(std::string_view bytes, const std::string& path);
};

}  // namespace lehr
