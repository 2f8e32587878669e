// What needs the library of NetCDF, which needs some forty others, as a table that a shared library of its own exports:
// it is loaded when a file is written or read.
#pragma once
#include "runtime/files/netcdf.h"

namespace lehr {

struct NetcdfCodec {
  Result<std::string> (*format)(const LabelledArrays&);
  Result<LabelledArrays> (*parse)(std::string_view bytes, const std::string& path);
};

}  // namespace lehr

extern "C" const lehr::NetcdfCodec lehr_plugin;
