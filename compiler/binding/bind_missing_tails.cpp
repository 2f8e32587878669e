// Warnings about missing values at the end of an observed chain. They need no factors: prediction computes the same
// values exactly.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "compiler/binding/binder.h"

namespace lehr::model {

void warn_of_missing_tail(Binder& b, const Slot& slot, const DataArray& a) {
  const Statement& s = b.model[b.model[*slot.variable].statement];
  // An element of the chain has `width` numbers: more than one if it is a vector.
  const std::size_t plates = slot.axes.size() - slot.event_rank;
  if (!s.lagged || slot.latent || plates == 0) return;
  const PlateId steps = b.model[slot.axes[plates - 1]].set;
  if (b.model[b.model[*s.lagged].plate].set != steps || b.settings.subset_plate) return;
  std::size_t width = 1;
  for (std::size_t k = plates; k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  std::vector<std::int64_t> ends = b.out.offsets[steps.index()];
  const auto elements = static_cast<std::int64_t>(a.values.size() / width);
  // A chain that is not nested has rows of equal length.
  if (ends.empty()) {
    for (std::int64_t end = 0; end <= elements; end += b.out.sizes[steps.index()])
      ends.push_back(end);
  }
  const auto is_missing = [&](std::int64_t element) {
    return std::ranges::all_of(std::span(a.values).subspan(static_cast<std::size_t>(element) * width, width),
                               [](double x) { return std::isnan(x); });
  };
  std::int64_t rows = 0, unseen = 0;
  for (std::size_t row = 0; row + 1 < ends.size(); ++row) {
    std::int64_t last = ends[row + 1];
    while (last > ends[row] && is_missing(last - 1))
      --last;
    rows += last < ends[row + 1];
    unseen += ends[row + 1] - last;
  }
  if (unseen == 0) return;
  warn(b,
       fmt::format("{} step{} of '{}' at the end of {} without a value: their factors make the posterior of what they "
                   "depend on less "
                   "exact; left out of the data they are predicted by `predict {} {}=+N`",
                   unseen, unseen == 1 ? "" : "s", slot.name, rows == 1 ? "its row" : fmt::format("{} rows", rows),
                   option("sizes"), b.model[steps].name));
}

}  // namespace lehr::model
