// Finds the factor that the saved arrays belong to, gathers its parameters element by element, and calls the functions
// of its row: `moments` for mean and sd, `margins` for quantiles.
//
// In a joint factor of a mean and its precision, each variable is saved with its own parameters. Its numbers are a
// slice of the numbers of the factor: the mean first, then the precision.
#include "compiler/posterior/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/abi.h"

namespace lehr {
namespace {

using math::Factor;
using math::FactorParameter;
using math::FamilyRow;
using Shape = std::vector<std::int64_t>;

/// Returns the number of elements of an array with this shape.
std::size_t size_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t n, std::int64_t d) { return n * static_cast<std::size_t>(d); });
}

/// An exported parameter of a factor, as it was saved.
struct Part {
  const NamedArray* array;  // null: it belongs to the other member of a joint factor, which is absent
  int event_rank;           // its event axes
};

/// All exported parameters of a factor.
struct Parts {
  std::vector<Part> parts;  // in the order of the row
  Shape elements;           // extents of the axes of the variable
  std::size_t extent = 1;   // of the event axis
  bool complete = true;     // false: some parameter is absent
};

/// Returns true if the variable has all parameters of the factor, or all of its own side of a joint one: those of the
/// mean (`of_mean`) or of the precision.
bool has_all(const Factor& f, const SavedVariable& v, bool joint, bool of_mean) {
  return std::all_of(f.parameters.begin(), f.parameters.end(), [&](const FactorParameter& p) {
    return !p.exported || (joint && p.of_mean != of_mean) || v.find(p.name);
  });
}

/// Collects the parameters. Returns nullopt unless their shapes agree: the same elements, and one extent of event axes.
std::optional<Parts> parts_of(const Factor& f, const SavedVariable& v, const SavedVariable* partner, bool joint,
                              bool of_mean) {
  Parts out;
  std::optional<std::int64_t> extent;
  std::optional<Shape> elements;
  for (const FactorParameter& p : f.parameters) {
    if (!p.exported) continue;
    const bool own = !joint || p.of_mean == of_mean;
    const NamedArray* a = own ? v.find(p.name) : partner ? partner->find(p.name) : nullptr;
    out.parts.push_back({a, p.event_rank});
    if (!a) {
      out.complete = false;
      continue;
    }
    if (std::ssize(a->shape) < p.event_rank || a->values.size() != size_of(a->shape)) return std::nullopt;
    const auto event = a->shape.end() - p.event_rank;
    if (elements.value_or(Shape(a->shape.begin(), event)) != Shape(a->shape.begin(), event)) return std::nullopt;
    elements = Shape(a->shape.begin(), event);
    for (auto d = event; d != a->shape.end(); ++d) {
      if (extent.value_or(*d) != *d) return std::nullopt;
      extent = *d;
    }
  }
  if (!elements) return std::nullopt;
  out.elements = *elements;
  out.extent = static_cast<std::size_t>(extent.value_or(1));
  return out;
}

/// Concatenates the parameters of one element; absent ones are NaN.
void gather(const Parts& from, std::size_t element, std::vector<double>& to) {
  to.clear();
  for (const Part& p : from.parts) {
    const std::size_t n = p.event_rank == 0 ? 1 : p.event_rank == 1 ? from.extent : from.extent * from.extent;
    if (p.array) to.insert(to.end(), &p.array->values[element * n], &p.array->values[element * n] + n);
    else to.insert(to.end(), n, std::numeric_limits<double>::quiet_NaN());
  }
}

/// Returns how many numbers a value with this many event axes has.
std::size_t components(int rank, std::size_t extent) { return rank == 0 ? 1 : rank == 1 ? extent : extent * extent; }

}  // namespace

const NamedArray* pseudo_counts(const FamilyRow& family, const SavedVariable& v) {
  const FactorParameter* p = find_role(*family.factor, math::ParameterRole::pseudo_count);
  return p && family.support == math::Support::simplex ? v.find(p->name) : nullptr;
}

namespace {

/// Returns the moments that a sampler stored, if the variable has them. Those of a category are of its number, so the
/// plate of its values, an event axis in fit.json, is no axis of them.
std::optional<Moments> moments_of_draws(const FamilyRow& family, const SavedVariable& v) {
  const NamedArray *mean = v.find(kDrawnMean), *sd = v.find(kDrawnSd);
  const std::size_t rank = family.support == math::Support::category ? 0 : v.event.size();
  if (!mean || !sd || mean->shape != sd->shape || mean->shape.size() < rank) return std::nullopt;
  Moments m;
  const auto event = mean->shape.end() - static_cast<std::ptrdiff_t>(rank);
  m.elements.assign(mean->shape.begin(), event);
  m.event.assign(event, mean->shape.end());
  m.mean = mean->values;
  m.sd = sd->values;
  return m;
}

}  // namespace

namespace {

/// A factor, and which of its numbers are those of the variable.
struct FactorSlice {
  const Factor* factor;      // the family's factor or its point factor
  Parts parts;               // its parameters
  int rank;                  // event axes of the variable
  std::size_t first, width;  // position and number of the variable's numbers among those of the factor
};

/// Finds the factor that the saved arrays belong to; nullopt if they are not those of a factor of the family.
std::optional<FactorSlice> source_of(const FamilyRow& family, const SavedVariable& v, const SavedVariable* joint) {
  if (!family.factor) return std::nullopt;
  const bool paired = family.joint_precision.has_value();
  bool of_mean = false;
  const Factor* factor = nullptr;
  for (const Factor* f : {&*family.factor, math::point_factor(family)}) {
    for (const bool mean : {true, false}) {
      if (factor || !f || !f->moments || !has_all(*f, v, paired, mean)) continue;
      factor = f;
      of_mean = mean;
    }
  }
  if (!factor) return std::nullopt;
  std::optional<Parts> parts = parts_of(*factor, v, joint, paired, of_mean);
  if (!parts) return std::nullopt;
  const int mean_rank = family.support == math::Support::category ? 1 : event_rank(family.support);
  const bool of_precision = paired && !of_mean;
  FactorSlice out{factor, std::move(*parts), of_precision ? event_rank(*family.joint_precision) : mean_rank, 0, 0};
  out.width = components(out.rank, out.parts.extent);
  if (of_precision) out.first = components(mean_rank, out.parts.extent);
  return out;
}

/// Appends the variable's slice of the factor's numbers.
void add_own(const FactorSlice& s, const std::vector<double>& all, std::vector<double>& to) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(s.first);
  if (!all.empty()) to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(s.width));
}

}  // namespace

bool is_sampled(const SavedFit& fit) {
  return std::ranges::any_of(fit.variables,
                             [](const SavedVariable& v) { return v.find(kDrawnRHat) || v.find(kDrawnEssBulk); });
}

std::optional<Moments> moments(const FamilyRow& family, const SavedVariable& v, const SavedVariable* joint) {
  if (std::optional<Moments> drawn = moments_of_draws(family, v)) return drawn;
  const std::optional<FactorSlice> source = source_of(family, v, joint);
  if (!source) return std::nullopt;
  const Parts& parts = source->parts;
  Moments m;
  m.elements = parts.elements;
  m.event.assign(static_cast<std::size_t>(source->rank), static_cast<std::int64_t>(parts.extent));
  m.simplex = family.support == math::Support::category || family.support == math::Support::simplex;
  const NamedArray* counts = pseudo_counts(family, v);
  std::vector<double> flat;
  for (std::size_t e = 0; e < size_of(m.elements); ++e) {
    gather(parts, e, flat);
    const math::MeanAndSd of_element = source->factor->moments(flat, parts.extent);
    add_own(*source, of_element.mean, m.mean);
    add_own(*source, of_element.sd, m.sd);
    if (counts) m.total.push_back(std::accumulate(flat.begin(), flat.end(), 0.0));
  }
  for (double& sd : m.sd)
    // Factors with the precision of a point are shown as points.
    if (sd * sd * kPointPrecision < 4) sd = 0;
  // The sd of a mean needs the precision's parameters. Without these there is none.
  if (!parts.complete && std::any_of(m.sd.begin(), m.sd.end(), [](double x) { return std::isnan(x); })) m.sd.clear();
  return m;
}

const NamedArray* corrected_sds(const SavedFit& fit, const SavedVariable& v) {
  return find_array(fit.sds, v.name + ".sd");
}

namespace {

/// Returns the distribution of the same kind with this mean and standard deviation; of kind none if there is none.
math::ScalarMarginal with_moments(math::ScalarMarginal m, double mean, double before, double sd) {
  using Kind = math::ScalarMarginal::Kind;
  const double square = mean * mean / (sd * sd), trials = mean * (1 - mean) / (sd * sd) - 1;
  switch (m.kind) {
    case Kind::normal:
      return {Kind::normal, mean, sd};
    case Kind::student:
      return {Kind::student, m.first, m.second, m.third * sd / before};
    case Kind::gamma:
      return {Kind::gamma, square, square / mean};
    case Kind::inverse_gamma:
      return {Kind::inverse_gamma, 2 + square, mean * (1 + square)};
    case Kind::beta:
      return {Kind::beta, mean * trials, (1 - mean) * trials};
    default:
      return {};
  }
}

/// Puts the corrected standard deviations in place of those of the factor, which it returns.
std::vector<double> correct_sds(const SavedFit& fit, const SavedVariable& v, Moments& m) {
  std::vector<double> before = m.sd;
  const NamedArray* sds = corrected_sds(fit, v);
  for (std::size_t k = 0; sds && sds->values.size() == m.sd.size() && k < m.sd.size(); ++k)
    if (std::isfinite(sds->values[k])) m.sd[k] = sds->values[k];
  return before;
}

}  // namespace

std::vector<double> quantiles_of(const SavedFit& fit, const SavedVariable& v, double probability) {
  const FamilyRow* family = math::find_factor_family(v.family);
  if (!family || !family->factor || !family->margins) return {};
  const std::optional<FactorSlice> source = source_of(*family, v, v.joint.empty() ? nullptr : fit.find(v.joint));
  if (!source || source->factor != &*family->factor) return {};  // a point has none
  std::optional<Moments> m =
      corrected_sds(fit, v) ? moments(*family, v, v.joint.empty() ? nullptr : fit.find(v.joint)) : std::nullopt;
  const std::vector<double> before = m ? correct_sds(fit, v, *m) : std::vector<double>();
  std::vector<double> out, flat;
  for (std::size_t e = 0; e < size_of(source->parts.elements); ++e) {
    gather(source->parts, e, flat);
    const std::vector<math::ScalarMarginal> margins = family->margins(flat, source->parts.extent);
    for (std::size_t k = 0; k < margins.size(); ++k) {
      if (k < source->first || k >= source->first + source->width) continue;
      const std::size_t at = out.size();
      const bool corrected = at < before.size() && m->sd[at] != before[at];
      out.push_back(math::quantile(
          corrected ? with_moments(margins[k], m->mean[at], before[at], m->sd[at]) : margins[k], probability));
    }
  }
  return out;
}

std::optional<Moments> moments_of(const SavedFit& fit, const SavedVariable& v) {
  const math::FamilyRow* family = math::find_factor_family(v.family);
  std::optional<Moments> out =
      family ? moments(*family, v, v.joint.empty() ? nullptr : fit.find(v.joint)) : std::nullopt;
  if (out) correct_sds(fit, v, *out);
  return out;
}

}  // namespace lehr
