// Simulation: binds inputs and given values, draws everything else, and returns the arrays in the layout of bind().
#include "compiler/evaluate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/footprint.h"
#include "compiler/evaluate/limits.h"
#include "compiler/evaluate/packed.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using namespace model;

/// Converts element positions to the numbers by which data refer to elements of the plate.
void number_elements(const Model& m, const std::optional<PlateId>& values, NamedArray& to) {
  if (!values) return;
  for (double& x : to.values)
    x += static_cast<double>(m[m[*values].set].from);
}

/// Returns variables, inputs, row lengths and open constants as arrays.
std::vector<NamedArray> arrays_of(const ModelEvaluator& f) {
  const Model& m = f.model();
  const BoundData& d = f.data();
  std::vector<NamedArray> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const std::span<const double> x = f.values(VariableId(k));
    const bool finite = std::ranges::none_of(x, [](double value) { return std::isinf(value); });
    out.push_back(
        {v.name, stored_shape(m, d, v.axes, v.event), {x.begin(), x.end()}, has_integers(v.support) && finite});
    number_elements(m, v.value_plate, out.back());
  }
  for (std::size_t k = 0; k < m.givens.size(); ++k) {
    const Given& g = m.givens[k];
    const bool integer = g.type == GivenType::count || g.type == GivenType::category;
    out.push_back({g.name, stored_shape(m, d, g.axes, g.event), d.givens[k].values, integer});
    number_elements(m, g.value_plate, out.back());
  }
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (!m.plates[k].parent || m.plates[k].set != PlateId(k)) continue;
    const std::vector<std::int64_t>& offsets = d.offsets[k];
    NamedArray lengths{m.plates[k].name, {static_cast<std::int64_t>(offsets.size()) - 1}, {}, true};
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      lengths.values.push_back(static_cast<double>(offsets[row + 1] - offsets[row]));
    out.push_back(std::move(lengths));
  }
  for (std::size_t k = 0; k < m.constants.size(); ++k) {
    if (!m.constants[k].value) out.push_back({m.constants[k].name, {}, {d.constants[k]}, false});
  }
  return out;
}

/// Returns an error if an element has a multiplicity other than 1: each copy would have latent variables of its own.
std::optional<Error> copies(const Model& m, const BoundData& d) {
  for (const Plate& p : m.plates) {
    if (!p.times) continue;
    const std::vector<double>& counts = d.givens[p.times->index()].values;
    if (std::all_of(counts.begin(), counts.end(), [](double c) { return c == 1; })) continue;
    return Error{
        ExitCode::data,
        option("data"),
        fmt::format("'{}' must be 1 everywhere: every copy is drawn by itself", m[*p.times].name),
        {fmt::format("leave '{}' out, and give '{}' the size with the copies counted", m[*p.times].name, p.name)}};
  }
  return std::nullopt;
}

/// Returns the memory for every variable, twice: the values, and their copy for output.
std::vector<SizedArray> footprint(const Model& m, const BoundData& d) {
  std::vector<SizedArray> out;
  for (const Variable& v : m.variables) {
    SizedArray array{v.name, 2};
    for (std::size_t i = 0; i < v.axes.size(); ++i) {
      const bool inside_next = i + 1 < v.axes.size() && m[v.axes[i + 1]].parent;
      if (!inside_next) array.length *= static_cast<double>(d.sizes[v.axes[i].index()]);
    }
    for (const PlateId p : v.event)
      array.length *= static_cast<double>(d.sizes[p.index()]);
    out.push_back(std::move(array));
  }
  return out;
}

/// Returns the warning that a fit counts limits as an observation, which the simulation does not.
Diagnostic weighs_parent(const Model& m, const RandomLimits& r) {
  const std::string &variable = m[r.variable].name, &parent = m[r.parent].name;
  return make_warning(
      fmt::format(
          "'{0}' is drawn within its limits given '{1}'; a fit counts the limits as an observation of '{1}' too, "
          "and finds another '{1}'",
          variable, parent),
      {fmt::format(
          "for data that a fit describes, draw '{}' without limits and choose limits that it obeys; or make '{}' "
          "data",
          variable, parent)});
}

/// Returns an error if some entries of a vector are given and others are missing.
std::optional<Error> parts_of_vectors(const Model& m, const BoundData& d) {
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const std::vector<double>& x = d.observed[k].values;
    std::size_t width = 1;
    for (const PlateId p : m.variables[k].event)
      width *= static_cast<std::size_t>(d.sizes[p.index()]);
    for (std::size_t i = 0; d.clamped[k] && i < x.size(); ++i) {
      if (std::isnan(x[i]) == std::isnan(x[i / width * width])) continue;
      return Error{ExitCode::data,
                   option("data"),
                   fmt::format("some entries of a vector of '{}' are missing: vectors are drawn as a whole",
                               m.variables[k].name),
                   {}};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<NamedArray>> simulate(const Model& model, const Dataset& dataset, const Settings& settings,
                                         std::uint64_t seed, std::vector<Diagnostic>* warnings) {
  if (!model.potentials.empty()) {
    return Error{ExitCode::model,
                 "",
                 "a model with potentials cannot be simulated: its density has no known normaliser",
                 {"without `potential` the other statements can be drawn"}};
  }
  // Values given for latent variables are bound like observations.
  Model fixed = model;
  for (Variable& v : fixed.variables)
    v.observed = v.observed || dataset.contains(v.name);
  const Result<BoundData> data = bind_givens(fixed, dataset, settings);
  if (!data) return data.error();
  if (std::optional<Error> e = copies(fixed, *data)) return *e;
  if (std::optional<Error> e = parts_of_vectors(fixed, *data)) return *e;
  if (std::optional<Error> e = too_large(footprint(fixed, *data))) return *e;
  // The evaluator has the model itself: limits of a latent variable truncate it, given values or not.
  ModelEvaluator forward(model, *data);
  for (std::size_t k = 0; k < model.variables.size(); ++k) {
    const std::span<double> x = forward.values(VariableId(k));
    if (model.variables[k].observed) std::fill(x.begin(), x.end(), std::nan(""));
    else std::ranges::copy(data->observed[k].values, x.begin());
  }
  if (const std::optional<RandomLimits> r = random_limits(forward); r && warnings)
    warnings->push_back(weighs_parent(model, *r));
  Rng rng(seed);
  const RngOf rng_of = [&rng](Element) -> Rng& { return rng; };
  std::vector<std::string> beyond;  // by number: the distribution that it is drawn from
  const OnOverflow overflowed = [&](Element, const std::string& drawn_from) { beyond.push_back(drawn_from); };
  if (std::optional<Error> e = draw_values(forward, rng_of, warnings ? overflowed : OnOverflow())) return *e;
  if (!beyond.empty())
    warnings->push_back(make_warning(out_of_range(beyond[0], beyond.size()),
                                     {"its value is the mean of the limit; if it is infinite, no fit accepts it",
                                      "a narrower prior or another seed may do"}));
  return arrays_of(forward);
}

}  // namespace lehr
