// Draws from the factors of a saved fit, variable by variable, with a single stream of random numbers. A joint factor
// is drawn once, at its mean or at its joint variable, and fills the arrays of all members.
#include "compiler/posterior/saved_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/evaluate/footprint.h"
#include "compiler/evaluate/packed.h"
#include "compiler/instance/members.h"
#include "compiler/posterior/labelled_draws.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/saved_factor.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using math::FamilyRow;
using Shape = std::vector<std::int64_t>;

/// Stream of the random numbers. simulate() uses another, as it may draw data from these draws with the same seed.
constexpr std::uint64_t kDrawsStream = 0xD2A5;

/// Returns an array for `n` draws of a variable, over [draw], its axes and event axes.
NamedArray empty_array(const SavedVariable& v, const FactorLayout& layout, int rank, std::int64_t n, bool integer) {
  NamedArray out{v.name, {n}, {}, integer};
  out.shape.insert(out.shape.end(), layout.elements.begin(), layout.elements.end());
  out.shape.insert(out.shape.end(), static_cast<std::size_t>(rank), static_cast<std::int64_t>(layout.extent));
  out.values.resize(static_cast<std::size_t>(n) * layout.count * scalars_per_element(rank, layout.extent));
  return out;
}

/// Returns the error for a variable whose saved parameters are not those of its family.
Error not_of_family(const SavedFit& fit, const SavedVariable& v) {
  return {ExitCode::data, fit.directory, fmt::format("there are no draws of '{}' ({})", v.name, v.family), {}};
}

/// Draws a variable; of a joint factor of mean and precision, both variables.
Result<std::vector<NamedArray>> draw(const SavedFit& fit, const SavedFactor& s, std::int64_t n, Rng& rng) {
  const std::optional<FactorLayout> layout = layout_of(s);
  if (!layout) return not_of_family(fit, s.variable);
  const bool integer = has_integers(s.row.support);
  const int rank = event_rank(s.row.support);
  std::vector<NamedArray> out{empty_array(s.variable, *layout, rank, n, integer)};
  std::vector<std::size_t> widths{scalars_per_element(rank, layout->extent)};
  if (s.precision) {
    const int of_precision = event_rank(*s.row.joint_precision);
    out.push_back(empty_array(*s.precision, *layout, of_precision, n, false));
    widths.push_back(scalars_per_element(of_precision, layout->extent));
  }
  for (std::size_t e = 0; e < layout->count; ++e) {
    const math::Draw draw_element = element_draw(s, *layout, e);
    if (!draw_element) return not_of_family(fit, s.variable);
    for (std::size_t d = 0; d < static_cast<std::size_t>(n); ++d) {
      const std::vector<double> x = draw_element(rng);
      auto from = x.begin();
      for (std::size_t k = 0; k < out.size(); ++k) {
        const auto end = from + static_cast<std::ptrdiff_t>(widths[k]);
        std::copy(from, end, out[k].values.begin() + static_cast<std::ptrdiff_t>((d * layout->count + e) * widths[k]));
        from = end;
      }
    }
  }
  return out;
}

/// Estimates the numbers that the draws need, by variable, to be compared with the memory.
std::vector<SizedArray> footprint(const SavedFit& fit, std::int64_t n) {
  std::vector<SizedArray> out;
  for (const SavedVariable& v : fit.variables) {
    double most = 0;
    for (const NamedArray& a : v.parameters)
      most = std::max(most, static_cast<double>(a.values.size()));
    out.push_back({v.name, 3 * most * static_cast<double>(n)});
  }
  return out;
}

/// Draws a joint variable, and returns one array for each member.
Result<std::vector<NamedArray>> draw_members(const SavedFit& fit, const SavedVariable& v, const SavedFactor& s,
                                             std::int64_t n, Rng& rng) {
  const std::optional<FactorLayout> layout = layout_of(s);
  if (!layout) return not_of_family(fit, v);
  const bool switched = s.row.support == math::Support::switched;
  const auto axes_of = [&](const SavedVariable& x, const Shape& shape) {
    std::vector<PackedAxis> out;
    const std::vector<std::string> plates = plates_of(fit, {x.name, x.axes, {}, "", "", {}, {}}, shape);
    for (std::size_t k = 0; k < shape.size(); ++k)
      out.push_back({plates[k], shape[k]});
    return out;
  };
  const JointShape joint{s.row.support, axes_of(v, layout->elements), coordinates_of(s.row.support, layout->extent)};
  std::vector<MemberLayout> members;
  std::vector<NamedArray> out;
  std::size_t first = 0;
  for (const std::string& name : v.members) {
    const SavedVariable* x = fit.find(name);
    const std::optional<Moments> m = x ? moments_of(fit, *x) : std::nullopt;
    if (!m) return not_of_family(fit, v);
    const bool category = m->simplex;
    members.push_back(member_layout(name, math::find_factor_family(x->family)->support, joint, axes_of(*x, m->elements),
                                    category ? Shape() : m->event, first));
    first += members.back().at.size() / layout->count;
    NamedArray& to = out.emplace_back(NamedArray{name, {n}, {}, switched && members.size() == 1});
    to.shape.insert(to.shape.end(), members.back().shape.begin(), members.back().shape.end());
  }
  std::vector<math::Draw> elements;
  for (std::size_t e = 0; e < layout->count; ++e)
    elements.push_back(element_draw(s, *layout, e));
  for (std::int64_t d = 0; d < n; ++d) {
    std::vector<double> all;
    for (const math::Draw& element : elements)
      std::ranges::copy(by_coordinate(switched, element(rng)), std::back_inserter(all));
    for (std::size_t k = 0; k < out.size(); ++k)
      for (const std::size_t at : members[k].at)
        out[k].values.push_back(all[at]);
  }
  return out;
}

/// Collects the names of plates and variables of a fit, and the labels.
PlateNames names_of(const SavedFit& fit) {
  PlateNames out;
  out.labels = fit.labels;
  for (const auto& [plate, size] : fit.sizes)
    out.reserved.insert(plate);
  for (const SavedVariable& v : fit.variables)
    out.reserved.insert(v.name);
  return out;
}

}  // namespace

/// Matches axes and plates from the last one backwards: nested plates have lost the axis of their parent.
std::vector<std::string> plates_of(const SavedFit& fit, const SavedVariable& v, const Shape& shape) {
  std::vector<std::string> plates = v.axes, out(shape.size());
  const FamilyRow* row = math::find_factor_family(v.family);
  const bool category =
      row && row->support == math::Support::category;  // the values of a category are no axis of its draws
  if (!category) plates.insert(plates.end(), v.event.begin(), v.event.end());
  for (std::size_t k = shape.size(); k-- > 0;) {
    const auto fits = [&](const std::string& p) {
      const auto size = fit.sizes.find(p);
      return size != fit.sizes.end() && size->second == shape[k];
    };
    while (!plates.empty() && !fits(plates.back()))
      plates.pop_back();
    out[k] = plates.empty() ? fmt::format("axis_{}", k) : plates.back();
    if (!plates.empty()) plates.pop_back();
  }
  return out;
}

Result<FactorDraws> draw_factors(const SavedFit& fit, std::int64_t n, std::uint64_t seed) {
  if (std::optional<Error> e = too_large(footprint(fit, n))) {
    e->where = option("draws");
    return *e;
  }
  const PlateNames names = names_of(fit);
  FactorDraws out;
  ArrayGroup posterior{"posterior"};
  Rng rng(seed, kDrawsStream);
  for (const SavedVariable& v : fit.variables) {
    // Auxiliary variables have a dot in their names.
    if (v.name.find('.') != std::string::npos) continue;
    const auto has_it = [&](const SavedVariable& j) { return std::ranges::find(j.members, v.name) != j.members.end(); };
    // Members are drawn with their joint variable.
    if (std::ranges::any_of(fit.variables, has_it)) continue;
    const FamilyRow* row = math::find_factor_family(v.family);
    if (v.parameters.empty() || !row) {
      out.missing.push_back(v.name);
      continue;
    }
    const std::optional<SavedFactor> source = saved_factor(*row, v, v.joint.empty() ? nullptr : fit.find(v.joint));
    if (!source && row->joint_precision && fit.find(v.joint)) continue;
    if (!source) return not_of_family(fit, v);
    Result<std::vector<NamedArray>> drawn =
        v.members.empty() ? draw(fit, *source, n, rng) : draw_members(fit, v, *source, n, rng);
    if (!drawn) return drawn.error();
    for (NamedArray& a : *drawn) {
      const std::vector<std::string> plates = plates_of(fit, *fit.find(a.name), {a.shape.begin() + 1, a.shape.end()});
      a.shape.insert(a.shape.begin(), 1);
      add_array(posterior, names, std::move(a), {counted(kChainAxis, 1), counted(kDrawAxis, n)}, plates);
    }
  }
  out.arrays.groups.push_back(std::move(posterior));
  return out;
}

}  // namespace lehr
