// Reads the stored draws of a sampled fit. This file is separate from saved_draws.cpp, so that draws from factors do
// not need NetCDF.
#include <filesystem>

#include "compiler/posterior/saved_draws.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/netcdf.h"
#include "runtime/output/fit_files.h"

namespace lehr {

Result<LabelledArrays> stored_draws(const SavedFit& fit) {
  const std::string path = (std::filesystem::path(fit.directory) / kDrawsFile).string();
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return bytes.error();
  // fit.json has the checksum of the draws that belong to it.
  if (const auto seal = fit.files.find(kDrawsFile); seal != fit.files.end() && seal->second != file_digest(*bytes))
    return Error{ExitCode::data, path, "not the draws of this fit: another one was killed, or has begun", {}};
  return parse_netcdf(*bytes, path);
}

}  // namespace lehr
