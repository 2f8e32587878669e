// Finds latent variables of which the data have values. Those with all values are refused or ignored, those with some
// become slots: they are clamped to the values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/binding/table_rows.h"
#include "compiler/model/roles.h"

namespace lehr::model {

void add_clamped_slots(Binder& b) {
  if (!b.data) return;
  for (std::size_t i = 0; i < b.model.variables.size(); ++i) {
    const Variable& v = b.model.variables[i];
    const auto it = b.data->find(v.name);
    if (!is_latent(v) || it == b.data->end()) continue;
    const DataArray& a = it->second;
    const bool gaps = std::ranges::any_of(a.values, [](double x) { return std::isnan(x); });
    if (!gaps && (a.named_by_binding || is_column(a))) {
      problem(b, ExitCode::data, a.source,
              fmt::format("the data have all values of '{}', which the model does not observe", v.name))
          .notes = {
          fmt::format("`observe {} ~ ...` makes it data; where values are missing, a latent variable keeps "
                      "those that are there",
                      v.name)};
      if (!a.named_by_binding) b.problems.back().notes.push_back("without that column the variable is inferred");
    }
    // The data of `simulate`, for example, contain the true values of latent variables too. They are ignored.
    if (!gaps) {
      warn(b, fmt::format("the data for '{}' are not used: the model does not observe it", v.name),
           {fmt::format("`observe {} ~ ...` makes it data", v.name)});
      continue;
    }
    if (const std::string why = why_not_clamped(b.model, VariableId(i)); !a.named_by_binding && !why.empty()) {
      warn(b, fmt::format("the data for '{}' are not used: {}", v.name, why));
      continue;
    }
    Slot slot{v.name, v.axes, v.event.size(), v.value_plate, std::nullopt, VariableId(i), true};
    slot.axes.insert(slot.axes.end(), v.event.begin(), v.event.end());
    b.slots.push_back(std::move(slot));
  }
}

}  // namespace lehr::model
