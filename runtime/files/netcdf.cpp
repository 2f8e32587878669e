#include "runtime/files/netcdf.h"

#include "runtime/files/netcdf_codec.h"
#include "runtime/plugin.h"

namespace lehr {
namespace {

const NetcdfCodec& codec() {
  static const auto* const loaded = static_cast<const NetcdfCodec*>(load_plugin("netcdf"));
  return *loaded;
}

}  // namespace

Result<std::string> format_netcdf(const LabelledArrays& arrays) { return codec().format(arrays); }

Result<LabelledArrays> parse_netcdf(std::string_view bytes, const std::string& path) {
  return codec().parse(bytes, path);
}

}  // namespace lehr
