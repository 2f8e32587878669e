// Names axes and coordinates of the arrays of draws, and stacks the chains. Every group gets the coordinates of its own
// axes.
#include "compiler/posterior/labelled_draws.h"

#include <algorithm>
#include <numeric>

#include "compiler/evaluate/packed.h"

namespace lehr {
namespace {

using namespace model;

/// Appends `_` until the name collides with no other.
std::string free_name(std::string name, const std::set<std::string>& reserved) {
  while (reserved.contains(name) || name == kChainAxis || name == kDrawAxis)
    name += '_';
  return name;
}

/// Adds a coordinate to a group unless it has one of that name.
void add_coordinate(ArrayGroup& group, Coordinate c) {
  if (std::ranges::find(group.coordinates, c.name, &Coordinate::name) == group.coordinates.end())
    group.coordinates.push_back(std::move(c));
}

/// Adds the coordinates of a plate: labels of its elements, and of a nested plate its parent's positions.
void add_plate(ArrayGroup& group, const PlateNames& names, const std::string& plate, const std::string& axis,
               std::int64_t extent) {
  Coordinate own = counted(axis, extent);
  const auto labels_of = [&](const std::string& of, std::size_t least) {
    const auto found = names.labels.find(of);
    return found != names.labels.end() && found->second.size() >= least ? &found->second : nullptr;
  };
  if (const auto* labels = labels_of(plate, own.values.size()); labels && labels->size() == own.values.size())
    own = {axis, axis, *labels, {}};
  add_coordinate(group, std::move(own));
  const auto nested = names.parent_index.find(plate);
  if (nested == names.parent_index.end() || nested->second.of.empty()) return;
  Coordinate row{free_name(axis + "_" + nested->second.parent, names.reserved), axis, {}, nested->second.of};
  const auto most = static_cast<std::size_t>(nested->second.of.back());
  if (const auto* labels = labels_of(nested->second.parent, most + 1)) {
    for (const double k : row.values)
      row.labels.push_back((*labels)[static_cast<std::size_t>(k)]);
    row.values.clear();
  }
  add_coordinate(group, std::move(row));
}

/// Collects names, labels and rows of the plates of a model.
PlateNames names_of(const Model& m, const BoundData& data) {
  PlateNames out;
  for (const Variable& v : m.variables)
    out.reserved.insert(v.name);
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const Plate& p = m.plates[k];
    out.reserved.insert(p.name);
    if (p.set != PlateId(k)) continue;
    if (!data.labels[k].empty()) out.labels[p.name] = data.labels[k];
    if (!p.parent) continue;
    PlateNames::ParentIndex& nested = out.parent_index[p.name];
    nested.parent = m[m[*p.parent].set].name;
    for (std::size_t row = 0; row + 1 < data.offsets[k].size(); ++row)
      nested.of.insert(nested.of.end(), static_cast<std::size_t>(data.offsets[k][row + 1] - data.offsets[k][row]),
                       static_cast<double>(row));
  }
  return out;
}

/// Returns the names of the plates of a variable's axes, with its event axes if `event`.
std::vector<std::string> plates_of(const Model& m, const Variable& v, bool event) {
  std::vector<std::string> out;
  for (const PlateId p : stored_axes(m, v.axes, event ? v.event : std::vector<PlateId>()))
    out.push_back(m[m[p].set].name);
  return out;
}

/// Returns the variable of that name, which must exist.
const Variable& variable(const Model& m, const std::string& name) {
  return *std::ranges::find(m.variables, name, &Variable::name);
}

/// Stacks one array of all chains; `get` returns it for one chain. The result is over chain, draw and its own axes.
template <class Get>
NamedArray stacked(const std::vector<const GibbsReport*>& chains, const Get& get) {
  const NamedArray& first = get(*chains[0]);
  NamedArray out{first.name, first.shape, {}, first.integer};
  out.shape.insert(out.shape.begin(), std::ssize(chains));
  for (const GibbsReport* c : chains) {
    const std::vector<double>& values = get(*c).values;
    out.values.insert(out.values.end(), values.begin(), values.end());
  }
  return out;
}

/// Stacks arrays of all chains into groups.
struct Stacking {
  const Model& model;                             // whose variables the arrays are
  const PlateNames& names;                        // of axes and coordinates
  const std::vector<const GibbsReport*>& chains;  // that are stacked

  /// Makes a group of the arrays that `list` returns for each chain.
  template <class List>
  ArrayGroup group(const std::string& name, const Coordinate& draw, bool event, const List& list) const {
    ArrayGroup out{name};
    for (std::size_t k = 0; k < list(*chains[0]).size(); ++k) {
      NamedArray a = stacked(chains, [&](const GibbsReport& c) -> const NamedArray& { return list(c)[k]; });
      const std::vector<std::string> plates = plates_of(model, variable(model, a.name), event);
      add_array(out, names, std::move(a), {counted(kChainAxis, std::ssize(chains)), draw}, plates);
    }
    return out;
  }
};

}  // namespace

Coordinate counted(const std::string& axis, std::int64_t extent) {
  Coordinate out{axis, axis, {}, std::vector<double>(static_cast<std::size_t>(extent))};
  std::iota(out.values.begin(), out.values.end(), 0.0);
  return out;
}

void add_array(ArrayGroup& group, const PlateNames& names, NamedArray array, const std::vector<Coordinate>& leading,
               const std::vector<std::string>& plates) {
  LabelledArray out{std::move(array)};
  if (out.name == kChainAxis || out.name == kDrawAxis) out.name = free_name(out.name, names.reserved);
  for (const Coordinate& c : leading) {
    out.axes.push_back(c.axis);
    add_coordinate(group, c);
  }
  for (std::size_t k = 0; k < plates.size(); ++k) {
    const auto before = std::count(plates.begin(), plates.begin() + static_cast<std::ptrdiff_t>(k), plates[k]);
    std::string axis = plates[k];
    if (before > 0) axis = free_name(axis + "_" + std::to_string(before + 1), names.reserved);
    else if (axis == kChainAxis || axis == kDrawAxis) axis = free_name(axis, names.reserved);
    add_plate(group, names, plates[k], axis, out.shape[leading.size() + k]);
    out.axes.push_back(std::move(axis));
  }
  group.arrays.push_back(std::move(out));
}

LabelledArrays labelled_draws(const Model& m, const BoundData& data, const CentringOffsets& references,
                              const std::vector<const GibbsReport*>& chains) {
  const PlateNames names = names_of(m, data);
  const Stacking stacking{m, names, chains};
  LabelledArrays out;
  const auto draws = static_cast<std::int64_t>(chains[0]->log_joint.size());
  const Coordinate draw = counted(kDrawAxis, draws);
  out.groups.push_back(stacking.group(
      "posterior", draw, true, [](const GibbsReport& c) -> const auto& { return c.draws; }));

  NamedArray lp{"lp", {std::ssize(chains), draws}, {}};
  for (const GibbsReport* c : chains)
    lp.values.insert(lp.values.end(), c->log_joint.begin(), c->log_joint.end());
  ArrayGroup& stats = out.groups.emplace_back(ArrayGroup{"sample_stats"});
  add_array(stats, names, std::move(lp), {counted(kChainAxis, std::ssize(chains)), draw}, {});

  ArrayGroup& observed = out.groups.emplace_back(ArrayGroup{"observed_data"});
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (!v.observed) continue;
    NamedArray a{v.name, stored_shape(m, data, v.axes, v.event), data.observed[k].values, has_integers(v.support)};
    if (const auto* from = centring_offset_of(references, VariableId(k))) add_centring_offset(a.values, *from, 1);
    add_array(observed, names, std::move(a), {}, plates_of(m, v, true));
  }

  const PredictiveDraws& predictive = chains[0]->predictive;
  if (predictive.draws.empty()) return out;
  const Coordinate looked_at{kDrawAxis, kDrawAxis, {}, {predictive.draws.begin(), predictive.draws.end()}};
  out.groups.push_back(stacking.group(
      "log_likelihood", looked_at, false,
      [](const GibbsReport& c) -> const auto& { return c.predictive.log_likelihood; }));
  out.groups.push_back(stacking.group(
      "posterior_predictive", looked_at, true,
      [](const GibbsReport& c) -> const auto& { return c.predictive.replicated; }));
  return out;
}

}  // namespace lehr
