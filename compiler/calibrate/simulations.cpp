// Simulates data and binds them as if they had been read from files. Categories in files are numbered from the first
// number of their plate, inside from 0; both directions are converted here.
#include "compiler/calibrate/simulations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/limits.h"
#include "compiler/evaluate/simulate.h"

namespace lehr {
namespace {

/// Returns the number of a category's first value in data: categories are counted from it in files, from 0 inside.
double first_number(const model::Model& m, std::size_t variable) {
  const auto& values = m.variables[variable].value_plate;
  return values ? static_cast<double>(m[m[*values].set].from) : 0;
}

/// Returns the array as if it had been read from a file.
DataArray data_array(const NamedArray& a) {
  DataArray out;
  out.name = a.name;
  out.shape = a.shape;
  out.values = a.values;
  out.source = "a simulation";
  out.integral = std::ranges::all_of(a.values, [](double x) { return x == std::floor(x); });
  return out;
}

/// Returns an error if a simulation draws within limits what a fit weighs by their probability.
std::optional<Error> of_two_models(const model::Model& m, const BoundData& data) {
  const std::optional<RandomLimits> r = random_limits(ModelEvaluator(m, data));
  if (!r) return std::nullopt;
  const std::string &variable = m[r->variable].name, &parent = m[r->parent].name;
  return Error{
      ExitCode::model,
      "",
      fmt::format("'{0}' has limits and depends on '{1}': a simulation draws '{0}' within them given '{1}', and a "
                  "fit counts them as an observation of '{1}', so these are two models",
                  variable, parent),
      {fmt::format("make '{}' data, or calibrate the model without the limits", parent)}};
}

}  // namespace

Result<Simulations> Simulations::make(const CalibrationProblem& p) {
  for (const model::Variable& v : p.resolved.variables) {
    if (v.observed || !p.given.contains(v.name)) continue;
    return Error{ExitCode::data,
                 option("data"),
                 fmt::format("'{}' is latent: with a value that is given, no fit would know it", v.name),
                 {"leave it out, or make it `data` in the model"}};
  }
  Simulations out(p);
  const Result<BoundData> sized = bind_givens(p.resolved, p.given, p.settings);
  if (!sized) return sized.error();
  if (std::optional<Error> e = of_two_models(p.resolved, *sized)) return *e;
  for (std::size_t k = 0; k < p.resolved.plates.size(); ++k) {
    const model::Plate& plate = p.resolved.plates[k];
    if (sized->sized_by_data[k] && !plate.parent && !plate.stick && plate.set == model::PlateId(k))
      out.settings_.sizes[plate.name] = sized->sizes[k];
  }
  return out;
}

Result<Simulation> Simulations::bound(std::vector<NamedArray> arrays) const {
  Simulation out;
  out.values = values_of(model(), arrays);
  for (std::size_t k = 0; k < out.values.size(); ++k)
    for (double& x : out.values[k])
      x -= first_number(model(), k);
  Dataset dataset;
  for (const NamedArray& a : arrays)
    dataset.emplace(a.name, data_array(a));
  Result<BoundData> data = lehr::bind(model(), std::move(dataset), settings_);
  if (!data) return data.error();
  out.data = std::move(*data);
  out.arrays = std::move(arrays);
  return out;
}

Result<Simulation> Simulations::draw(std::uint64_t seed) const {
  Result<std::vector<NamedArray>> arrays = simulate(problem_->resolved, problem_->given, problem_->settings, seed);
  return arrays ? bound(std::move(*arrays)) : arrays.error();
}

Result<Simulation> Simulations::draw_data(const Simulation& from, const Values& latent, std::uint64_t seed) const {
  Dataset dataset = problem_->given;
  for (const NamedArray& a : from.arrays) {
    DataArray array = data_array(a);
    for (std::size_t k = 0; k < model().variables.size(); ++k)
      if (model().variables[k].name == a.name && !latent[k].empty()) {
        array.values = latent[k];
        for (double& x : array.values)
          x += first_number(model(), k);
      }
    dataset.insert_or_assign(a.name, std::move(array));
  }
  Result<std::vector<NamedArray>> arrays = simulate(problem_->resolved, dataset, settings_, seed);
  return arrays ? bound(std::move(*arrays)) : arrays.error();
}

}  // namespace lehr
