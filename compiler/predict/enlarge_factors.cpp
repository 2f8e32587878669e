// Lays out the factors of a fit along enlarged plates.
//
// New elements of a factor get the parameters of the first element as placeholders. They are not used as a posterior,
// because `in_fit` marks these elements, which then follow their prior.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compiler/evaluate/packed.h"
#include "compiler/instance/members.h"
#include "compiler/math/member_families.h"
#include "compiler/model/walk.h"
#include "compiler/predict/unseen_groups.h"
#include "runtime/abi.h"

namespace lehr {
namespace {

using namespace model;

/// Returns, for each element of the larger shape, its position in the smaller shape; nullopt if it is outside.
std::vector<std::optional<std::size_t>> old_positions(const std::vector<std::int64_t>& smaller,
                                                      const std::vector<std::int64_t>& larger) {
  const auto count = std::accumulate(larger.begin(), larger.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<std::optional<std::size_t>> out;
  for (std::size_t e = 0; e < static_cast<std::size_t>(count); ++e) {
    const std::vector<std::size_t> at = unravel(larger, e);
    std::optional<std::size_t> position = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const auto n = static_cast<std::size_t>(smaller[k]);
      position = position && at[k] < n ? std::optional(*position * n + at[k]) : std::nullopt;
    }
    out.push_back(position);
  }
  return out;
}

/// Returns a parameter array for the larger shape. New elements get the numbers of the first element.
NamedArray laid_out(const NamedArray& a, const std::vector<std::optional<std::size_t>>& at,
                    const std::vector<std::int64_t>& shape) {
  const auto event = a.shape.begin() + std::ssize(shape);
  NamedArray out{a.name, shape, {}, a.integer};
  out.shape.insert(out.shape.end(), event, a.shape.end());
  const auto width = std::accumulate(event, a.shape.end(), std::ptrdiff_t{1}, std::multiplies<>());
  for (const std::optional<std::size_t>& position : at) {
    const auto begin = a.values.begin() + static_cast<std::ptrdiff_t>(position.value_or(0)) * width;
    out.values.insert(out.values.end(), begin, begin + width);
  }
  return out;
}

/// Returns, for each number of a joint variable at the larger sizes, its position at the smaller sizes. Fills in `seen`
/// by member: which of its elements were there.
std::vector<std::optional<std::size_t>> old_coordinates(const Model& m, VariableId joint,
                                                        const std::vector<std::int64_t>& smaller,
                                                        const std::vector<std::int64_t>& larger,
                                                        std::vector<std::vector<bool>>& seen) {
  const std::vector<MemberLayout> before = members_of(m, joint, smaller), now = members_of(m, joint, larger);
  const auto extent = [&](const std::vector<std::int64_t>& sizes) {
    return static_cast<std::size_t>(sizes[m[joint].event[0].index()]);
  };
  // Maps a number to its position in the vector, which leaves out a precision that scales it.
  const auto of_vector = [&](std::size_t at, std::size_t n) {
    const std::size_t coordinates = coordinates_of(m[joint].support, n);
    return at / coordinates * n + at % coordinates;
  };
  std::size_t count = 0;
  for (const MemberLayout& x : now)
    if (x.support != math::Support::positive) count += x.at.size();
  std::vector<std::optional<std::size_t>> out(count);
  for (std::size_t k = 0; k < now.size(); ++k) {
    const std::vector<std::optional<std::size_t>> at = old_positions(before[k].shape, now[k].shape);
    std::vector<bool>& existed = seen[m[joint].auxiliary->members[k].variable.index()];
    for (std::size_t i = 0; i < at.size(); ++i) {
      const bool number = now[k].support != math::Support::positive;
      if (at[i] && number)
        out[of_vector(now[k].at[i], extent(larger))] = of_vector(before[k].at[*at[i]], extent(smaller));
      if (i % now[k].width == 0) existed.push_back(at[i].has_value());
    }
  }
  return out;
}

/// Returns a vector or matrix parameter of a joint factor at the larger size. New numbers are 0, independent of all
/// others, with precision 1.
NamedArray joint_laid_out(const NamedArray& a, const std::vector<std::optional<std::size_t>>& before,
                          const std::vector<std::int64_t>& axes, std::size_t size, bool matrix) {
  const auto n = static_cast<std::size_t>(a.shape.back());
  NamedArray out{a.name, axes, {}};
  out.shape.insert(out.shape.end(), matrix ? 2 : 1, static_cast<std::int64_t>(size));
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!matrix) {
      out.values.push_back(before[i] ? a.values[*before[i]] : 0);
      continue;
    }
    for (std::size_t j = i / size * size; j < (i / size + 1) * size; ++j)
      out.values.push_back(before[i] && before[j] ? a.values[*before[i] * n + *before[j] % n] : i == j ? 1 : 0);
  }
  return out;
}

/// Returns the arrays of a sparse precision at the larger size. Entries keep their numbers; a new coordinate is
/// independent of all others, with precision 1.
std::vector<NamedArray> sparse_laid_out(const std::string& joint, const std::vector<NamedArray>& posterior,
                                        const std::vector<std::optional<std::size_t>>& before) {
  std::map<double, double> now;  // the coordinate of each old one
  std::vector<double> fresh;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i]) now[static_cast<double>(*before[i])] = static_cast<double>(i);
    else fresh.push_back(static_cast<double>(i));
  }
  std::vector<NamedArray> out;
  for (const char* name : {"precision", "row", "column"}) {
    const auto a = std::ranges::find(posterior, joint + "." + name, &NamedArray::name);
    if (a == posterior.end()) return {};
    NamedArray& to = out.emplace_back(*a);
    const bool matrix = to.name.ends_with(".precision");
    for (double& x : to.values)
      if (!matrix) x = now.at(x);
    for (const double x : fresh)
      to.values.push_back(matrix ? 1 : x);
    to.shape = {std::ssize(to.values)};
  }
  return out;
}

/// Returns a factor for a variable that was observed in the fit: a point at each value, some proper factor for each
/// gap.
std::vector<NamedArray> at_values(const Model& m, const BoundData& data, VariableId id, const math::Factor& factor) {
  const Variable& v = m[id];
  const std::vector<double>& values = data.observed[id.index()].values;
  const auto extent_of = [&](PlateId p) { return data.sizes[m[p].set.index()]; };
  std::vector<NamedArray> out;
  for (const math::FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    NamedArray& a = out.emplace_back(NamedArray{v.name + "." + p.name, stored_shape(m, data, v.axes, {}), {}});
    const std::int64_t extent = p.event_rank == 0 ? 1 : extent_of(v.value_plate ? *v.value_plate : v.event[0]);
    a.shape.insert(a.shape.end(), static_cast<std::size_t>(p.event_rank), extent);
    const auto n = static_cast<std::size_t>(extent);
    const bool chosen = p.role == math::ParameterRole::probabilities, matrix = p.event_rank == 2;
    for (std::size_t k = 0; k < (chosen || matrix ? n : 1) * values.size(); ++k) {
      const double x = values[chosen || matrix ? k / n : k];
      const std::size_t row = k / n % n, column = k % n;
      const bool observed = !std::isnan(x);
      if (chosen)
        a.values.push_back(observed ? (x == static_cast<double>(column) ? 1 : 0) : 1 / static_cast<double>(n));
      else if (p.role != math::ParameterRole::precision) a.values.push_back(observed ? x : 0.5);
      else a.values.push_back(matrix && row != column ? 0 : observed ? kPointPrecision : 1);
    }
  }
  return out;
}

/// Returns by element whether all of its numbers have values.
std::vector<bool> observed_elements(const Model& m, const BoundData& data, VariableId id) {
  const std::vector<double>& values = data.observed[id.index()].values;
  std::size_t width = 1;
  for (const PlateId p : m[id].event)
    width *= static_cast<std::size_t>(data.sizes[m[p].set.index()]);
  std::vector<bool> out(values.size() / width, true);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isnan(values[k])) out[k / width] = false;
  return out;
}

/// Returns the sizes with that of the plate of a joint variable's coordinates, which follows from its members.
std::vector<std::int64_t> with_coordinates(const Model& m, VariableId joint, std::vector<std::int64_t> sizes) {
  sizes.resize(m.plates.size(), 0);
  sizes[m[joint].event[0].index()] = coordinate_count(m, m[joint].event[0], sizes);
  return sizes;
}

/// Adds the arrays of a joint factor whose members have more elements now. Returns false for other variables.
bool add_joint(const Model& m, VariableId joint, const BoundData& data, const SavedFit& fit, EnlargedFactors& out) {
  if (!is_joint(m[joint]) || m[joint].support == math::Support::switched) return false;
  std::vector<std::int64_t> before = data.sizes;
  for (std::size_t k = 0; k < before.size(); ++k)
    if (const auto it = fit.sizes.find(m.plates[k].name); it != fit.sizes.end() && !m.plates[k].stick)
      before[k] = it->second;
  const std::vector<std::int64_t> smaller = with_coordinates(m, joint, std::move(before)),
                                  larger = with_coordinates(m, joint, data.sizes);
  const std::size_t plate = m[joint].event[0].index();
  // The number of coordinates is unchanged: only axes may have grown, as for other variables.
  if (smaller[plate] == larger[plate]) return false;
  std::vector<std::vector<bool>> seen(m.variables.size());
  const std::vector<std::optional<std::size_t>> at = old_coordinates(m, joint, smaller, larger, seen);
  const auto n = static_cast<std::size_t>(larger[plate]);
  for (const NamedArray& a : fit.posterior) {
    const std::size_t dot = a.name.rfind('.');
    if (a.name.substr(0, dot) != m[joint].name) continue;
    const auto& parameters = math::joint_family(m[joint].support).factor->parameters;
    const auto p = std::ranges::find(parameters, a.name.substr(dot + 1), &math::FactorParameter::name);
    const bool is_entry = m[joint].support == math::Support::sparse && p != parameters.end() && p->event_rank == 2;
    if (p != parameters.end() && p->event_rank > 0 && !is_entry)
      out.arrays.push_back(joint_laid_out(a, at, stored_shape(m, data, m[joint].axes, {}), n, p->event_rank == 2));
  }
  if (m[joint].support == math::Support::sparse)
    std::ranges::move(sparse_laid_out(m[joint].name, fit.posterior, at), std::back_inserter(out.arrays));
  for (std::size_t k = 0; k < seen.size(); ++k)
    if (!seen[k].empty()) out.in_fit[k] = std::move(seen[k]);
  return true;
}

}  // namespace

EnlargedFactors enlarge_factors(const Analysed& analysed, const BoundData& data, const SavedFit& fit) {
  const Model& m = analysed.model;
  EnlargedFactors out;
  out.in_fit.resize(m.variables.size());
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const conditionals::BlockId b = analysed.schedule.conditionals.block_of[k];
    if (v.observed || (v.auxiliary && !is_joint(v)) || !b.valid() || analysed.schedule.stage_of[b.index()]) continue;
    if (add_joint(m, VariableId(k), data, fit, out)) continue;
    const std::vector<std::int64_t> shape = stored_shape(m, data, v.axes, {});
    const auto is_of_it = [&](const NamedArray& a) { return a.name.substr(0, a.name.rfind('.')) == v.name; };
    if (v.clamped && !v.joint && !is_joint(v) && std::ranges::none_of(fit.posterior, is_of_it)) {
      std::ranges::move(at_values(m, data, VariableId(k), *analysed.schedule.conditionals[b].factor),
                        std::back_inserter(out.arrays));
      out.in_fit[k] = observed_elements(m, data, VariableId(k));
    }
    for (const NamedArray& a : fit.posterior) {
      if (!is_of_it(a)) continue;
      const std::vector<std::int64_t> old(a.shape.begin(),
                                          a.shape.begin() + std::min(std::ssize(shape), std::ssize(a.shape)));
      if (old == shape || !std::ranges::equal(old, shape, std::less_equal<>()) || a.values.empty()) {
        out.arrays.push_back(a);
        continue;
      }
      const std::vector<std::optional<std::size_t>> at = old_positions(old, shape);
      out.arrays.push_back(laid_out(a, at, shape));
      out.in_fit[k].clear();
      for (const std::optional<std::size_t>& position : at)
        out.in_fit[k].push_back(position.has_value());
    }
  }
  return out;
}

}  // namespace lehr
