// Sizes of values against the memory of the machine.
#include "compiler/evaluate/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/host.h"

namespace lehr {

std::vector<SizedArray> value_sizes(const model::Model& m, const BoundData& data) {
  std::vector<SizedArray> out;
  for (const model::Variable& v : m.variables) {
    double length = v.auxiliary ? 0 : 1;
    for (const std::vector<model::PlateId>* axes : {&v.axes, &v.event}) {
      for (std::size_t k = 0; k < axes->size(); ++k) {
        // The next axis is nested in this one and counts its elements too.
        const bool next_is_nested = k + 1 < axes->size() && m[(*axes)[k + 1]].parent;
        if (!next_is_nested) length *= static_cast<double>(data.sizes[(*axes)[k].index()]);
      }
    }
    out.push_back({v.name, length});
  }
  return out;
}

std::optional<Error> too_large(std::vector<SizedArray> arrays) {
  constexpr double kNumber = 8;
  double needed = 0;
  for (const SizedArray& a : arrays)
    needed += kNumber * a.length;
  const auto available = static_cast<double>(available_memory());
  if (needed <= available) return std::nullopt;
  std::ranges::stable_sort(arrays, std::ranges::greater(), &SizedArray::length);
  constexpr std::size_t kShown = 5;
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < std::min(arrays.size(), kShown) && arrays[i].length > 0; ++i)
    notes.push_back(fmt::format("{}: {}", arrays[i].name, format_bytes(kNumber * arrays[i].length)));
  return Error{
      ExitCode::data, option("sizes"),
      fmt::format("these sizes need {} of memory, and {} is available", format_bytes(needed), format_bytes(available)),
      std::move(notes)};
}

}  // namespace lehr
