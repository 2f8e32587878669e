// The files of a fit in its directory, and how they are known to belong together.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/array.h"
#include "runtime/result.h"

namespace lehr {

/// The text of fit.json; paths and names of sources need not be UTF-8.
std::string text_of(const nlohmann::json& summary);

/// Writes a file beside fit.json, and notes its seal in `summary`.
Result<bool> write_sealed(const std::string& directory, nlohmann::json& summary, const std::string& name,
                          const std::string& bytes);

/// posterior.npz, items.npz where there are `items` (items_to_save), then fit.json with the seals of what it belongs
/// to, the trace.csv that is there among them.
Result<bool> write_results(const std::string& directory, const std::vector<NamedArray>& posterior,
                           const std::vector<NamedArray>& items, nlohmann::json& summary);

}  // namespace lehr
