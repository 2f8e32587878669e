// The interface between Lehr and its plugin for NetCDF: a table of functions that a shared library exports as
// `lehr_plugin`. The plugin alone links the NetCDF library, which needs some forty others; it is loaded on first use.
#pragma once
#include "runtime/files/netcdf.h"

namespace lehr {

/// The functions of the plugin, behind those of netcdf.h.
struct NetcdfCodec {
  /// Implements format_netcdf().
  Result<std::string> (*format)(const LabelledArrays&);
  /// Implements parse_netcdf(). A damaged file may crash it, so the caller runs it in a child process.
  Result<LabelledArrays> (*parse)(std::string_view bytes, const std::string& path);
};

}  // namespace lehr

/// The table that the plugin exports.
extern "C" const lehr::NetcdfCodec lehr_plugin;
