// Loads the plugin for NetCDF and calls it.
#include "runtime/files/netcdf.h"

#include "runtime/child_process.h"
#include "runtime/files/netcdf_codec.h"
#include "runtime/plugin.h"

namespace lehr {
namespace {

/// Loads the plugin once and returns its functions.
const NetcdfCodec& netcdf_codec() {
  static const auto* const loaded = static_cast<const NetcdfCodec*>(load_plugin("netcdf"));
  return *loaded;
}

}  // namespace

Result<std::string> format_netcdf(const LabelledArrays& arrays) { return netcdf_codec().format(arrays); }

Result<LabelledArrays> parse_netcdf(std::string_view bytes, const std::string& path) {
  const NetcdfCodec& c = netcdf_codec();
  return in_child<LabelledArrays>(path, [&] { return c.parse(bytes, path); });  // damaged files can crash the library
}

}  // namespace lehr
