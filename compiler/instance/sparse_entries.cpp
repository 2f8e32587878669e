// The entries of sparse precisions (math::SparsePattern) in an instance: the arrays that the program reads, the
// coordinates that a posterior has beside the entries, and the entries of another posterior in this order.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/joint_choice.h"
#include "compiler/instance/instance.h"
#include "compiler/math/sparse_pattern.h"

namespace lehr {

void Instance::copy_patterns() {
  for (loops::PatternBuffers to : lowered_.data.patterns) {
    for (const auto& [name, values, buffer] : loops::arrays_of(*model_[to.joint].auxiliary->pattern, to))
      std::ranges::copy(*values, engine().integers(static_cast<std::int64_t>(buffer->index())).begin());
  }
}

std::vector<NamedArray> Instance::coordinates_of_entries(model::VariableId joint) const {
  const math::SparsePattern* pattern = model_[joint].auxiliary->pattern.get();
  const conditionals::Conditionals& c = schedule_.conditionals;
  if (!pattern || c[c.block_of[joint.index()]].drawn) return {};
  NamedArray rows{model_[joint].name + ".row", {pattern->count()}, {}, true},
      columns{model_[joint].name + ".column", {pattern->count()}, {}, true};
  for (const auto& [row, column] : pattern->entries) {
    rows.values.push_back(static_cast<double>(row));
    columns.values.push_back(static_cast<double>(column));
  }
  return {std::move(rows), std::move(columns)};
}

Result<std::vector<NamedArray>> Instance::with_own_entries(std::vector<NamedArray> arrays,
                                                           const std::string& source) const {
  const auto array = [&](const std::string& joint, const char* name) {
    const auto found = std::ranges::find(arrays, joint + "." + name, &NamedArray::name);
    return found == arrays.end() ? nullptr : &*found;
  };
  for (const loops::PatternBuffers& x : lowered_.data.patterns) {
    const std::string& joint = model_[x.joint].name;
    const math::SparsePattern& pattern = *model_[x.joint].auxiliary->pattern;
    const NamedArray *rows = array(joint, "row"), *columns = array(joint, "column");
    NamedArray* precision = array(joint, "precision");
    if (rows && columns && precision) {
      std::vector<double> own(pattern.entries.size());
      for (std::size_t k = 0; k < precision->values.size(); ++k) {
        const auto coordinate = [&](const NamedArray& a) {
          return k < a.values.size() && a.values[k] >= 0 && a.values[k] < static_cast<double>(pattern.size)
                     ? static_cast<std::int64_t>(a.values[k])
                     : -1;
        };
        const std::int64_t row = coordinate(*rows), column = coordinate(*columns);
        const auto entry = row < 0 || column < 0 ? std::nullopt : pattern.find(row, column);
        if (!entry && precision->values[k] != 0)
          return Error{ExitCode::data,
                       source,
                       fmt::format("the precision of '{}' has entries that these data do not couple", joint),
                       {}};
        if (entry) own[*entry] = precision->values[k];
      }
      *precision = {precision->name, {pattern.count()}, std::move(own)};
    }
    std::erase_if(arrays, [&](const NamedArray& a) { return a.name == joint + ".row" || a.name == joint + ".column"; });
  }
  return arrays;
}

std::optional<Error> Instance::uncovered_pair(const BoundData& data) const {
  for (const loops::PatternBuffers& x : lowered_.data.patterns)
    if (!conditionals::covers(*model_[x.joint].auxiliary->pattern, model_, schedule_.conditionals.density, x.joint,
                              data))
      return Error{ExitCode::data,
                   option("data"),
                   fmt::format("the data couple numbers of '{}' that the data of the fit do not", model_[x.joint].name),
                   {}};
  return std::nullopt;
}

}  // namespace lehr
