// Computes the givens of a prior that is the posterior of a fit, from the parameters of that fit. Forgetting multiplies
// the natural parameters of each factor by a power p: the prior is q^p, normalised.
#include "compiler/posterior/posterior_prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "compiler/math/evaluate.h"
#include "compiler/posterior/saved_factor.h"

namespace lehr {
namespace {

using namespace model;

/// Returns the variable of a parameter: "mu" of "mu.mean".
std::string variable_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind('.')); }

/// A parameter with its values in the fit.
struct ParameterValues {
  const PosteriorPriorParameter* of;  // the parameter
  NamedArray array;                   // its values, by element

  /// Returns how many numbers an element has.
  std::size_t width() const {
    std::size_t out = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(of->parameter->event_rank); ++k)
      out *= static_cast<std::size_t>(array.shape[array.shape.size() - 1 - k]);
    return out;
  }
  /// Returns an iterator to the first number of an element.
  auto element(std::size_t i) { return array.values.begin() + static_cast<std::ptrdiff_t>(i * width()); }
};

/// Returns the parameters of the distribution q^power of one element, or nullopt if that is improper.
std::optional<math::Environment> power_of(const math::Factor& factor, const math::Environment& now, double power) {
  if (power == 1) return now;
  math::Environment natural{now.extent, math::natural_from_parameters(factor, now)};
  for (auto& [name, q] : natural.symbols) {
    for (double& x : q.values)
      x *= power;
  }
  math::Environment then{now.extent, math::parameters_from_natural(factor, natural)};
  return math::is_proper(factor, then) ? std::optional(std::move(then)) : std::nullopt;
}

/// Returns the error for an element whose forgotten factor is improper.
Error nothing_left(const std::string& parameter, std::size_t element) {
  return not_a_prior(variable_of(parameter),
                     fmt::format("so little of it is kept that nothing is left of element {}", element));
}

/// Returns the error for a parameter whose array does not fit the model, as in a damaged fit.
Error other_shape(const std::string& parameter) {
  return not_a_prior(variable_of(parameter), fmt::format("{} has another shape in the fit", parameter));
}

/// Replaces the parameters of all elements of one factor by those of its power.
std::optional<Error> forget_block(const math::Factor& factor, std::span<ParameterValues> parameters, double power) {
  std::size_t extent = 1;
  for (const ParameterValues& n : parameters) {
    if (n.of->parameter->event_rank > 0) extent = static_cast<std::size_t>(n.array.shape.back());
  }
  const std::size_t elements = parameters[0].array.values.size() / std::max<std::size_t>(1, parameters[0].width());
  for (const ParameterValues& n : parameters)
    if (n.array.values.size() != elements * n.width()) return other_shape(n.of->name);
  for (std::size_t i = 0; i < elements; ++i) {
    math::Environment now{extent, {}};
    for (ParameterValues& n : parameters) {
      const auto first = n.element(i);
      now.symbols[n.of->parameter->name] = {n.of->parameter->event_rank,
                                            {first, first + static_cast<std::ptrdiff_t>(n.width())}};
    }
    const std::optional<math::Environment> then = power_of(factor, now, power);
    if (!then) return nothing_left(parameters[0].of->name, i);
    for (ParameterValues& n : parameters)
      std::ranges::copy(then->symbols.at(n.of->parameter->name).values, n.element(i));
  }
  return std::nullopt;
}

/// Adds the natural parameters and the negative log normaliser of a joint factor, by element, to the data `to`.
std::optional<Error> carry_joint(const PosteriorPriorJoint& joint, const Analysed& complete, const SavedFit& fit,
                                 double power, const Model& model, Dataset& to) {
  const conditionals::Block& b = complete.schedule.conditionals[joint.block];
  const SavedVariable* saved = fit.find(joint.name);
  const std::optional<SavedFactor> source = saved ? saved_factor(*b.family, *saved, nullptr) : std::nullopt;
  const std::optional<FactorLayout> layout = source ? layout_of(*source) : std::nullopt;
  if (!layout || &source->factor != &*b.family->factor) return not_a_prior(joint.name, "the fit does not have it");
  const JointPrior& prior = model.joint_priors[joint.prior];
  const auto array = [&](GivenId given, int rank) -> DataArray& {
    DataArray& out = to[model[given].name];
    out.name = model[given].name;
    out.shape = layout->elements;
    out.shape.insert(out.shape.end(), static_cast<std::size_t>(rank), static_cast<std::int64_t>(layout->extent));
    out.source = fmt::format("the fit in {}", fit.directory);
    return out;
  };
  for (std::size_t e = 0; e < layout->count; ++e) {
    const std::optional<math::Environment> now = power_of(*b.factor, parameters_of(*source, *layout, e), power);
    if (!now) return nothing_left(joint.name + ".", e);
    const math::Environment natural{now->extent, math::natural_from_parameters(*b.factor, *now)};
    for (const auto& [stat, given] : prior.naturals)
      std::ranges::copy(natural.symbols.at(math::natural_name(stat)).values,
                        std::back_inserter(array(given, math::event_rank(stat)).values));
    array(prior.constant, 0).values.push_back(-math::log_normaliser(*b.factor, natural));
  }
  return std::nullopt;
}

/// Returns a constant array with the values of the fit. An axis of unknown size has extent -1; the binding reports
/// wrong sizes.
DataArray constant_array(const Model& m, const Given& g, const SavedFit& fit) {
  DataArray out;
  out.name = g.name;
  out.values = fit.constants.at(g.name);
  out.source = fit.directory.empty() ? "the fit" : fmt::format("the fit in {}", fit.directory);
  for (const std::vector<PlateId>* plates : {&g.axes, &g.event}) {
    for (const PlateId p : *plates) {
      const auto size = fit.sizes.find(m[m[p].set].name);
      out.shape.push_back(size == fit.sizes.end() ? -1 : size->second);
    }
  }
  return out;
}

}  // namespace

void add_constants(const Model& resolved, const SavedFit& fit, Dataset& data) {
  for (const Given& g : resolved.givens) {
    if (!g.constant || !fit.constants.contains(g.name) || data.contains(g.name)) continue;
    data.emplace(g.name, constant_array(resolved, g, fit));
  }
}

Result<PosteriorAsPrior> make_posterior_prior(const Model& resolved, const Analysed& complete, const SavedFit& fit,
                                              double power) {
  const Result<PosteriorPriorModel> carried = make_posterior_prior(resolved, complete, OriginalPriors::replaced);
  if (!carried) return carried.error();
  std::vector<ParameterValues> parameters;
  for (const PosteriorPriorParameter& p : carried->parameters) {
    const auto found = std::ranges::find(fit.posterior, p.name, &NamedArray::name);
    if (found == fit.posterior.end()) return not_a_prior(variable_of(p.name), fmt::format("the fit has no {}", p.name));
    const Given& g = carried->model[p.given];
    if (found->shape.size() != g.axes.size() + g.event.size()) return other_shape(p.name);
    parameters.push_back({&p, *found});
  }
  // The parameters of each block are together in the list.
  for (std::size_t first = 0, end = 0; first < parameters.size() && power < 1; first = end) {
    const conditionals::BlockId block = parameters[first].of->block;
    while (end < parameters.size() && parameters[end].of->block == block)
      ++end;
    const math::Factor& factor = *complete.schedule.conditionals[block].factor;
    if (std::optional<Error> e = forget_block(factor, std::span(parameters).subspan(first, end - first), power))
      return *e;
  }
  PosteriorAsPrior out{carried->model, {}};
  for (const PosteriorPriorJoint& joint : carried->joint)
    if (std::optional<Error> e = carry_joint(joint, complete, fit, power, out.model, out.parameters)) return *e;
  for (ParameterValues& n : parameters) {
    DataArray& data = out.parameters[out.model[n.of->given].name];
    data.name = out.model[n.of->given].name;
    data.shape = n.array.shape;
    data.values = std::move(n.array.values);
    data.source = fmt::format("the fit in {}", fit.directory);
  }
  return out;
}

}  // namespace lehr
