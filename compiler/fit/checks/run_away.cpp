// Displaces the factors of variables with improper priors and compares ELBOs. A posterior that integrates has little
// mass far away, so that a displaced factor loses thousands of nats there or comes back.
#include "compiler/fit/checks/run_away.h"

#include <algorithm>
#include <cmath>

#include "compiler/fit/checks/cancellation.h"
#include "runtime/machine/machine.h"

namespace lehr {
namespace {

constexpr double kFar = 1e6;            // how many times larger or smaller a displaced factor is
constexpr double kStays = 1e3;          // it has not come back if it is this many times larger or smaller
constexpr double kLost = 0.01;          // nats that it may lose
constexpr int kSweeps = 5;              // sweeps after the displacement
constexpr std::size_t kMostSingle = 8;  // elements of an array that are displaced alone: those that are largest

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
        arrays_(instance.posterior(true, LocationOrigin::reference)) {
    // A joint factor is set by its members: its own arrays would win.
    std::erase_if(arrays_, [](const NamedArray& a) { return a.name.starts_with("joint("); });
    // A run that was stopped early gains by sweeps alone.
    elbo_ = std::max(elbo_, elbo_after_sweeps().value_or(elbo_));
  }
  ~Displacements() { instance_.engine().load(state_); }
  Displacements(const Displacements&) = delete;
  Displacements& operator=(const Displacements&) = delete;

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
      const NamedArray& a = displaced.arrays()[parts[0].array];
      const std::string name = a.name.substr(0, a.name.rfind('.'));
      return parts[0].element ? name + subscripts(a.shape, *parts[0].element) : name;
    }
  }
  return std::nullopt;
}

}  // namespace lehr
