// The files of a fit in its directory, and how they are known to belong together.
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

/// The text of fit.json; paths and names of sources need not be UTF-8.
std::string text_of(const nlohmann::json& summary);

/// The files of a fit. They take their places together, once all are on disk: where there is no room for one, those of
/// an earlier fit stay.
class FitFiles {
 public:
  explicit FitFiles(std::string directory) : directory_(std::move(directory)) {}

  /// A file beside fit.json; its seal is noted in `summary`.
  Result<bool> add(nlohmann::json& summary, const std::string& name, std::string_view bytes);
  /// With posterior.npz, items.npz where there are `items` (items_to_save), and at last fit.json with the seals of what
  /// it belongs to, the trace.csv that is there among them.
  Result<bool> finish(const std::vector<NamedArray>& posterior, const std::vector<NamedArray>& items,
                      nlohmann::json& summary);

 private:
  Result<bool> put_beside(const std::string& name, std::string_view bytes);

  std::string directory_;
  std::vector<NewFile> files_;
};

}  // namespace lehr
