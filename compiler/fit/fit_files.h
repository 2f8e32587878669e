// Writes the files of a fit as a unit. Each file is written beside its destination; all are renamed at the end. If the
// disk is full, or the process ends, the files of an earlier fit stay. fit.json records size and CRC-32 of the others,
// so that a reader notices a mixture of two fits.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/array.h"
#include "runtime/files/new_file.h"
#include "runtime/result.h"

namespace lehr {

/// Formats fit.json. Bytes in paths and names that are not UTF-8 are replaced.
std::string text_of(const nlohmann::json& summary);

/// The files of one fit that are being written.
class FitFiles {
 public:
  /// Makes an empty set of files for a directory, which must exist.
  explicit FitFiles(std::string directory) : directory_(std::move(directory)) {}

  /// Writes `bytes` under a temporary name in the directory of the fit; finish() renames the file to `name`. Records
  /// its size and CRC-32 under `name` in `summary`, the later fit.json. The value is always true.
  Result<bool> add(nlohmann::json& summary, const std::string& name, std::string_view bytes);
  /// Writes posterior.npz, items.npz if there are `items` (items_to_save), and fit.json, and then renames all files to
  /// their destinations. fit.json also records the trace.csv in the directory. For a failed fit, arrays with numbers
  /// that are not finite are left out. The value is always true.
  Result<bool> finish(const std::vector<NamedArray>& posterior, const std::vector<NamedArray>& items,
                      nlohmann::json& summary);

 private:
  /// Writes a file under a temporary name, and adds it to those that finish() renames. The value is always true.
  Result<bool> put_beside(const std::string& name, std::string_view bytes);

  std::string directory_;          // directory of the fit
  std::vector<AtomicFile> files_;  // written, and not yet renamed
};

}  // namespace lehr
