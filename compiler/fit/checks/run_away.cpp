// Displaces the factors of variables with improper priors and compares ELBOs. A posterior that integrates has little
// mass far away, so that a displaced factor loses thousands of nats there or comes back.
#include "compiler/fit/checks/run_away.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/fit/checks/cancellation.h"
#include "runtime/inference/damping.h"
#include "runtime/machine/machine.h"

namespace lehr {
namespace {

constexpr double kFar = 1e6;      // how many times larger or smaller a displaced factor is
constexpr double kStays = 1e3;    // it has not come back if it is this many times larger or smaller
constexpr double kLost = 0.01;    // nats that it may lose
constexpr int kSweeps = 5;        // sweeps after the displacement
constexpr int kTrend = 20;        // sweeps that show a direction in which several variables leave together
constexpr double kStill = 1e-12;  // movement, relative to size, that is rounding
constexpr std::array kFarAlong{1e-3, 1., 1e3};  // how many times larger than the variables displacements along it are
constexpr double kLeft = 0.1;                   // share of such a displacement that sweeps must leave
constexpr std::size_t kMostSingle = 8;          // elements of an array that are displaced alone: those that are largest

/// Returns true if a latent category selects elements of the variable. A component without items may be anywhere.
bool is_selected(const model::Model& m, const model::Variable& v) {
  return std::ranges::any_of(m.variables, [&](const model::Variable& z) {
    return !z.observed && z.value_plate &&
           std::ranges::any_of(v.axes, [&](model::PlateId axis) { return m[axis].set == m[*z.value_plate].set; });
  });
}

/// A part of a factor that is displaced: one array of the posterior, or one element of it.
struct Part {
  std::size_t array;                   // index among the arrays
  std::optional<std::size_t> element;  // none: all
};

/// Returns true if a parameter of a variable's factor scales the value: a location or point, or a spread of a positive
/// number. Members of joint factors have marginals.
bool scales(const schedule::Schedule& schedule, const model::Model& m, model::VariableId v,
            const std::string& parameter) {
  const conditionals::BlockId b = schedule.conditionals.block_of[v.index()];
  if (!b.valid()) return false;
  const std::optional<math::Factor>& of_member = conditionals::family_of(m, schedule.conditionals, v).factor;
  const math::Factor* factor = m[v].joint && of_member ? &*of_member : schedule.conditionals[b].factor;
  if (!factor) return false;
  return std::ranges::any_of(factor->parameters, [&](const math::FactorParameter& p) {
    return p.name == parameter && (p.role == math::ParameterRole::value || p.role == math::ParameterRole::location ||
                                   p.role == math::ParameterRole::spread);
  });
}

/// Tries displacements of the factors of one fit.
class Displacements {
 public:
  Displacements(Instance& instance, const SweepOptions& options, double elbo)
      : instance_(instance),
        options_(options),
        found_(elbo),
        elbo_(elbo),
        state_(instance.engine().save()),
        arrays_(of_variables()) {
    // A run that was stopped early gains by sweeps alone.
    elbo_ = std::max(elbo_, elbo_after_sweeps().value_or(elbo_));
  }
  ~Displacements() { instance_.engine().load(state_); }
  Displacements(const Displacements&) = delete;
  Displacements& operator=(const Displacements&) = delete;

  /// Moves locations along the direction in which sweeps move them, by a thousand times the size of the `improper`
  /// variables and of their standard deviations. Returns the element of these that has moved most, if sweeps from there
  /// leave it far away, with an ELBO that is no lower. So intercept and slope leave together where counts are 0 but for
  /// one value of the covariate. A chain is where the sweeps put it.
  std::optional<Part> leave_together(const std::vector<Part>& improper) const;
  /// Returns the arrays of the factors at the solution.
  const std::vector<NamedArray>& arrays() const { return arrays_; }

  /// Returns true if the parts stay `factor` times larger, roughly, and the ELBO is no lower there.
  bool stay(const std::vector<Part>& parts, double factor) const {
    std::vector<NamedArray> moved = arrays_;
    for (const Part& p : parts) {
      std::vector<double>& x = moved[p.array].values;
      for (std::size_t i = p.element.value_or(0); i < (p.element ? *p.element + 1 : x.size()); ++i)
        x[i] *= factor;
    }
    if (!put(moved)) return false;
    std::optional<double> elbo = elbo_after_sweeps();
    // Far away an exponential may be 0. Then nothing is left but an improper prior, and the sweep fails.
    const bool fails = !elbo;
    if (fails) elbo = put(moved);
    if (!elbo || !(*elbo >= (fails ? found_ : elbo_) - kLost)) return false;
    const std::vector<NamedArray> now = instance_.posterior(true, LocationOrigin::reference);
    return std::ranges::all_of(parts, [&](const Part& p) { return is_far(p, now, factor); });
  }

 private:
  /// Returns the arrays of all variables. A joint factor is set by its members: its own arrays would win.
  std::vector<NamedArray> of_variables() const {
    std::vector<NamedArray> out = instance_.posterior(true, LocationOrigin::reference);
    std::erase_if(out, [](const NamedArray& a) { return a.name.starts_with("joint("); });
    return out;
  }

  /// Puts factors with these parameters in place, and infers the items from them. Returns the ELBO; nothing if that
  /// fails.
  std::optional<double> put(const std::vector<NamedArray>& parameters) const {
    const Engine& engine = instance_.engine();
    engine.load(state_);
    Elbo elbo;
    if (!instance_.set(parameters, "") || machine::finish_item_start(engine.machine()) != 0 ||
        machine::infer_items(engine.machine(), machine::SweepScope::local) != 0 || engine.elbo(elbo) != 0 ||
        !machine::is_possible(elbo.value))
      return std::nullopt;
    return elbo.value;
  }

  /// Makes a few sweeps from the factors in place and returns the ELBO; nothing if they fail.
  std::optional<double> elbo_after_sweeps() const {
    const Engine& engine = instance_.engine();
    if (prepare_statistics(engine, options_) != 0) return std::nullopt;
    for (int k = 0; k < kSweeps; ++k)
      if (sweep(engine, options_) != 0) return std::nullopt;
    Elbo elbo;
    return engine.elbo(elbo) == 0 ? std::optional(elbo.value) : std::nullopt;
  }

  /// Makes sweeps, shortened if they lower the ELBO, and returns the ELBO; nothing if one fails.
  std::optional<double> elbo_after_trend() const {
    const Engine& engine = instance_.engine();
    Damping damping(engine, options_);
    Elbo elbo;
    if (prepare_statistics(engine, options_) != 0 || engine.elbo(elbo) != 0) return std::nullopt;
    damping.note(elbo);
    for (int k = 0; k < kTrend; ++k) {
      damping.begin();
      std::int32_t status = sweep(engine, options_);
      if (status == 0) status = engine.elbo(elbo);
      if (damping.end(status, elbo, [](const Elbo& x) { return x.value; }) != 0) return std::nullopt;
    }
    return elbo.value;
  }

  /// Returns the locations and real points of factors outside the items.
  std::vector<std::span<double>> locations() const {
    std::vector<std::span<double>> out;
    const machine::Machine& m = instance_.engine().machine();
    for (const machine::ParameterRow& row : machine::parameters_of(*m.model)) {
      const bool is_point = row.parameter == machine::Parameter::value && !machine::stays_positive(row);
      if (!row.by_stage && !row.local && (row.parameter == machine::Parameter::mean || is_point))
        out.push_back(m.view().reals(row.buffer));
    }
    return out;
  }

  /// Moves locations from `from` to `factor` times as far as they are from there. Returns false if that fails.
  bool along(const std::vector<std::vector<double>>& from, double factor) const {
    const std::vector<std::span<double>> to = locations();
    for (std::size_t k = 0; k < to.size(); ++k)
      for (std::size_t i = 0; i < to[k].size(); ++i)
        to[k][i] = from[k][i] + factor * (to[k][i] - from[k][i]);
    const Engine& engine = instance_.engine();
    engine.invalidate_sums();
    engine.invalidate_parts();
    const machine::Machine& m = engine.machine();
    return machine::call(m, m.model->global_expectations) == 0 &&
           machine::infer_items(m, machine::SweepScope::local) == 0;
  }

  /// Returns an element of the factors in place.
  double element(const Part& p) const { return of_variables()[p.array].values[*p.element]; }

  /// Returns true if the largest number of a part is still far from where it was.
  bool is_far(const Part& p, const std::vector<NamedArray>& now, double factor) const {
    const auto array = std::ranges::find(now, arrays_[p.array].name, &NamedArray::name);
    const auto largest = [&](const std::vector<double>& x) {
      if (p.element) return std::abs(x[*p.element]);
      double out = 0;
      for (const double v : x)
        out = std::max(out, std::abs(v));
      return out;
    };
    if (array == now.end()) return false;
    const double from = largest(arrays_[p.array].values), to = largest(array->values);
    return factor > 1 ? to > kStays * from : to * kStays < from;
  }

  Instance& instance_;
  SweepOptions options_;
  double found_;                    // ELBO at the solution
  double elbo_;                     // at the solution, or after some more sweeps if it is higher then
  Arrays state_;                    // the factors at the solution
  std::vector<NamedArray> arrays_;  // their parameters
};

std::optional<Part> Displacements::leave_together(const std::vector<Part>& improper) const {
  const Engine& engine = instance_.engine();
  std::vector<std::vector<double>> from;
  engine.load(state_);
  for (const std::span<double> x : locations())
    from.emplace_back(x.begin(), x.end());
  const std::optional<double> reached = elbo_after_trend();
  if (!reached) return std::nullopt;
  const std::vector<NamedArray> now = of_variables();
  std::optional<Part> out;
  double size = 0, moved = 0;
  for (const Part& p : improper) {
    const NamedArray &before = arrays_[p.array], &after = now[p.array];
    if (!after.name.ends_with(".mean") && !after.name.ends_with(".value")) continue;
    const std::string precision_name = after.name.substr(0, after.name.rfind('.')) + ".precision";
    const auto precision = std::ranges::find(now, precision_name, &NamedArray::name);
    for (std::size_t i = 0; i < after.values.size(); ++i) {
      size = std::max({size, std::abs(before.values[i]), std::abs(after.values[i])});
      if (precision != now.end() && precision->values.size() == after.values.size())
        size = std::max(size, 1 / std::sqrt(precision->values[i]));
      if (const double by = std::abs(after.values[i] - before.values[i]); by > moved) {
        moved = by;
        out = Part{p.array, i};
      }
    }
  }
  if (!(moved > kStill * size)) return std::nullopt;
  // What sweeps move is little more than rounding where they have converged. So the first displacement is short, and
  // sweeps after it make the direction of the next one.
  for (const double far : kFarAlong) {
    const double factor = far * size / moved;
    if (factor < 1) continue;
    if (!along(from, factor)) return std::nullopt;
    const std::optional<double> there = elbo_after_trend();
    if (!there || !(*there >= *reached - kLost)) return std::nullopt;
    const double to = std::abs(element(*out) - arrays_[out->array].values[*out->element]);
    if (!(to > kLeft * far * size)) return std::nullopt;
    moved = to;
  }
  return out;
}

/// Returns the name of an array's variable, or of an element of it.
std::string named(const NamedArray& a, std::optional<std::size_t> element) {
  const std::string name = a.name.substr(0, a.name.rfind('.'));
  return element && a.values.size() > 1 ? name + subscripts(a.shape, *element) : name;
}

/// Returns the elements of an array that are largest in absolute value, as parts.
std::vector<Part> largest_elements(std::size_t array, const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  const std::size_t most = std::min(kMostSingle, x.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most), std::greater(),
                            [&](std::size_t i) { return std::abs(x[i]); });
  std::vector<Part> out;
  for (std::size_t k = 0; k < most && x.size() > 1; ++k)
    out.push_back({array, order[k]});
  return out;
}

}  // namespace

std::optional<std::string> run_away(Instance& instance, const schedule::Schedule& schedule, const model::Model& m,
                                    const SweepOptions& options) {
  std::vector<model::VariableId> improper;
  for (const density::Origin& o : schedule.conditionals.density.origins) {
    if (!o.improper || !o.statement) continue;
    const model::VariableId v = m[*o.statement].variable;
    if (!m[v].observed && !is_selected(m, m[v])) improper.push_back(v);
  }
  if (improper.empty()) return std::nullopt;
  Elbo elbo;
  if (instance.engine().elbo(elbo) != 0) return std::nullopt;
  const Displacements displaced(instance, options, elbo.value);

  std::vector<Part> all;
  std::vector<std::vector<Part>> tried;
  for (std::size_t k = 0; k < displaced.arrays().size(); ++k) {
    const NamedArray& a = displaced.arrays()[k];
    const std::size_t dot = std::min(a.name.rfind('.'), a.name.size());
    const auto v = std::ranges::find(improper, a.name.substr(0, dot), [&](model::VariableId id) { return m[id].name; });
    if (v == improper.end() || !scales(schedule, m, *v, a.name.substr(std::min(dot + 1, a.name.size())))) continue;
    all.push_back({k, std::nullopt});
    tried.push_back({all.back()});
    for (const Part& single : largest_elements(k, a.values))
      tried.push_back({single});
  }
  if (all.size() > 1) tried.push_back(all);
  for (const std::vector<Part>& parts : tried) {
    for (const double factor : {kFar, 1 / kFar}) {
      if (!displaced.stay(parts, factor)) continue;
      return named(displaced.arrays()[parts[0].array], parts[0].element);
    }
  }
  const std::optional<Part> leaves = displaced.leave_together(all);
  return leaves ? std::optional(named(displaced.arrays()[leaves->array], leaves->element)) : std::nullopt;
}

}  // namespace lehr
