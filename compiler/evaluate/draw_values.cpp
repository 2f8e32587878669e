// Ancestral sampling, statement after statement in the order of draw_order(); chains element by element.
#include "compiler/evaluate/draw_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/evaluate/forward_order.h"
#include "compiler/evaluate/limits.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Formats an element for messages, such as "theta[3, 1]"; indices of nested plates count within their rows.
std::string name_of(const ModelEvaluator& f, const Statement& s, const IndexValues& at) {
  std::string indices;
  for (const IndexVarId b : s.index_vars) {
    const IndexVar& bound = f.model()[b];
    std::int64_t k = at[b.index()];
    if (bound.parent) k -= f.data().offsets[bound.plate.index()][static_cast<std::size_t>(at[bound.parent->index()])];
    indices += fmt::format("{}{}", indices.empty() ? "" : ", ", k);
  }
  const std::string& name = f.model()[s.variable].name;
  return indices.empty() ? name : fmt::format("{}[{}]", name, indices);
}

/// Returns true if the distribution's parameters depend on constants alone, so that no other draw could help.
bool constants_only(const Model& m, const Distribution& d) {
  std::vector<ExprId> roots;
  for (const Parameter& p : d.parameters)
    roots.push_back(p.value);
  const std::vector<ExprId> nodes = nodes_under(m, roots);
  return std::none_of(nodes.begin(), nodes.end(), [&](ExprId id) {
    return std::holds_alternative<VariableRef>(m[id].node) || std::holds_alternative<GivenRef>(m[id].node);
  });
}

/// Makes the error that a variable with an improper prior cannot be drawn.
Error improper(const Variable& v, const math::FamilyRow& family) {
  return {ExitCode::model,
          "",
          fmt::format("the prior of '{}' is improper ({}): there is nothing to draw from", v.name, family.name),
          {fmt::format("give '{0}' a proper prior, or a value: {1} {0}=FILE", v.name, option("data"))}};
}

/// Formats a family with its scalar parameters, such as "Poisson(rate = 2)".
std::string formatted(const math::FamilyRow& family, const math::Environment& parameters) {
  std::string list;
  for (const auto& [name, q] : parameters.symbols) {
    if (q.rank == 0) list += fmt::format("{}{} = {:.6g}", list.empty() ? "" : ", ", name, q.values[0]);
  }
  return family.name + (list.empty() ? "" : "(" + list + ")");
}

/// Makes the error that an element's parameters are outside the domain of its family.
Error out_of_domain(const ModelEvaluator& f, const Statement& s, const IndexValues& at,
                    const math::Environment& parameters) {
  const Distribution& d = f.distribution(s, at);
  const bool always = constants_only(f.model(), d);
  Error e{always ? ExitCode::model : ExitCode::numerical,
          "",
          fmt::format("{} cannot be drawn: {} is not a proper distribution", name_of(f, s, at),
                      formatted(*d.family, parameters)),
          {}};
  if (always)
    e.notes = {
        fmt::format("give '{0}' a proper prior, or a value: {1} {0}=FILE", f.model()[s.variable].name, option("data"))};
  else e.notes = {"what it depends on was drawn or given so; a narrower prior or another seed may do"};
  return e;
}

/// Makes the error that an element has no draw within its limits.
Error nothing_within_limits(const ModelEvaluator& f, const Statement& s, const IndexValues& at) {
  const auto [lower, upper] = f.limits(s, at);
  return {
      ExitCode::numerical,
      "",
      fmt::format("{} cannot be drawn between {:.6g} and {:.6g}: this has no probability, or a parameter is outside "
                  "its domain",
                  name_of(f, s, at), lower, upper),
      {}};
}

/// Returns true if the parameters are in the domain of the family.
bool proper(const math::FamilyRow& row, const math::Environment& parameters) {
  for (const auto& [name, q] : parameters.symbols) {
    if (!std::all_of(q.values.begin(), q.values.end(), [](double v) { return std::isfinite(v); })) return false;
  }
  if (const math::AtValue* p = math::categorical_lookup(row)) {
    const std::vector<double>& weights = parameters.symbols.at(p->vector).values;
    double total = 0;
    for (const double w : weights)
      total += w < 0 ? std::nan("") : w;
    return total > 0;
  }
  if (row.factor &&
      !math::is_proper(*row.factor, {parameters.extent, math::parameters_from_density(*row.factor, parameters)}))
    return false;
  if (row.factor && !row.factor->valid.empty()) return true;
  // Other families show it in the logarithms of their density: x = 1/2 is inside every support, so a NaN means bad
  // parameters.
  const int rank = math::event_rank(row.support);
  if (rank == 2) return true;
  math::Environment probe = parameters;
  probe.symbols["x"] = {rank, std::vector<double>(rank == 1 ? parameters.extent : 1, 0.5)};
  return !std::isnan(math::log_density(row, probe));
}

/// Returns the mean of a scalar distribution some of whose parameters are infinite or 0; NaN if it has none there.
double mean_at_limit(const math::FamilyRow& family, const math::Environment& parameters) {
  const auto is_limit = [](const auto& symbol) {
    const math::Quantity& q = symbol.second;
    return q.rank == 0 && (std::isinf(q.values[0]) || q.values[0] == 0);
  };
  if (math::event_rank(family.support) != 0 || !family.mean || std::ranges::none_of(parameters.symbols, is_limit))
    return std::nan("");
  return math::evaluate(*family.mean, parameters);
}

/// Draws the missing elements of a ModelEvaluator.
class Simulator {
 public:
  Simulator(ModelEvaluator& forward, const RngOf& rng_of, const OnOverflow& overflowed = {})
      : forward_(forward), rng_of_(rng_of), overflowed_(overflowed) {
    const Model& m = forward.model();
    for (const Statement& s : m.statements) {
      const std::optional<VariableId> added = draws_within_limits(m, s) ? added_variable(m, s) : std::nullopt;
      if (!added) continue;
      added_to_[s.variable] = *added;
      owner_of_[*added] = s.variable;
    }
  }

  /// Draws everything; returns the first error, or nothing.
  std::optional<Error> run() {
    IndexValues at = forward_.origin();
    for (const DrawGroup& group : draw_order(forward_.model())) {
      const auto complete = [&](StatementId s) { return is_complete(forward_.model()[s].variable); };
      if (std::ranges::all_of(group.statements, complete)) continue;
      if (group.ordered.size() != group.statements.size()) {
        for (const StatementId s : group.statements)
          draw_all(s, at, {});
        continue;
      }
      const PlateId plate = forward_.model()[group.ordered[0]].plate;
      for (std::int64_t t = 0; t < forward_.data().sizes[plate.index()]; ++t) {
        for (std::size_t k = 0; k < group.statements.size(); ++k)
          draw_all(group.statements[k], at, std::pair(group.ordered[k], t));
      }
    }
    return problem_;
  }

 private:
  /// Returns true if no value of the variable is missing.
  bool is_complete(VariableId v) const {
    return std::ranges::none_of(std::as_const(forward_).values(v), [](double x) { return std::isnan(x); });
  }

  /// Draws all elements of a statement, or those at one position of the ordered plate (`fixed`).
  void draw_all(StatementId id, IndexValues& at, std::optional<std::pair<IndexVarId, std::int64_t>> fixed) {
    const Statement& s = forward_.model()[id];
    forward_.each(
        s.index_vars, at,
        [&] {
          if (!problem_) draw(s, at);
        },
        fixed);
  }

  /// Draws one element if a value in it is missing.
  void draw(const Statement& s, const IndexValues& at) {
    const Element e = forward_.element(s, at);
    const std::span<double> x = forward_.values(e);
    if (std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) return;
    // A number within limits is drawn together with the variable that is added to it.
    if (const auto owner = owner_of_.find(s.variable); owner != owner_of_.end() && lacks({owner->second, e.position}))
      return;
    const auto added = added_to_.find(s.variable);
    const bool together = added != added_to_.end() && lacks({added->second, e.position});
    if (together && !(s.start && &forward_.distribution(s, at) == &*s.start)) {
      if (!draw_with_added(forward_, s, at, rng_of_(e))) problem_ = nothing_within_limits(forward_, s, at);
      return;
    }
    const Variable& variable = forward_.model()[s.variable];
    const math::FamilyRow& family = *forward_.distribution(s, at).family;
    if (!family.draw) {
      problem_ = improper(variable, family);
      return;
    }
    math::Environment parameters = forward_.parameters(s, at);
    for (const math::Spelling& spelling : family.spellings) {
      if (spelling.optional && !parameters.symbols.contains(spelling.canonical) && !imply(spelling, e, parameters))
        return;
    }
    if (!proper(family, parameters)) {
      const bool varies = !constants_only(forward_.model(), forward_.distribution(s, at));
      if (overflowed_ && variable.observed && !variable.value_plate && !s.limits.any() && varies) {
        x[0] = mean_at_limit(family, parameters);
        if (!std::isnan(x[0])) return overflowed_(e, name_of(forward_, s, at) + " ~ " + formatted(family, parameters));
      }
      problem_ = out_of_domain(forward_, s, at, parameters);
      return;
    }
    const std::vector<double> drawn = draw_once(forward_, s, at, std::move(parameters), rng_of_(e));
    if (std::all_of(drawn.begin(), drawn.end(), [](double v) { return std::isfinite(v); }))
      std::copy(drawn.begin(), drawn.end(), x.begin());
    else problem_ = out_of_domain(forward_, s, at, parameters);
    // The first elements of a chain have a plain distribution, and do not read what is added.
    if (together && !problem_) {
      const Element other{added->second, e.position};
      draw(forward_.model()[forward_.model()[other.variable].statement], forward_.at(other));
    }
  }

  /// Returns true if the element, a number, has no value.
  bool lacks(Element e) const { return std::isnan(std::as_const(forward_).values(e)[0]); }

  /// Sets the total of a multinomial that the model leaves out to the total of the observation. False if there are no
  /// data.
  bool imply(const math::Spelling& spelling, Element e, math::Environment& parameters) {
    const Variable& v = forward_.model()[e.variable];
    const std::vector<double>& bound = forward_.data().observed[e.variable.index()].values;
    if (bound.empty()) {
      problem_ = Error{
          ExitCode::data,
          option("data"),
          fmt::format("nothing gives '{}' of '{}'", spelling.name, v.name),
          {fmt::format("write it in the model, or bind data to '{}': each row is drawn with the total it has there",
                       v.name)}};
      return false;
    }
    const std::size_t width = forward_.width(e.variable);
    double total = 0;
    for (std::size_t i = 0; i < width; ++i)
      total += bound[e.position * width + i];
    parameters.symbols[spelling.canonical] = {0, {total}};
    return true;
  }

  ModelEvaluator& forward_;
  const RngOf& rng_of_;
  const OnOverflow overflowed_;
  std::optional<Error> problem_;
  /// The variable that is added to each number with limits, and the reverse.
  std::map<VariableId, VariableId> added_to_, owner_of_;
};

}  // namespace

std::vector<double> draw_once(const ModelEvaluator& forward, const Statement& s, const IndexValues& at,
                              math::Environment parameters, Rng& rng) {
  const math::FamilyRow& family = *forward.distribution(s, at).family;
  if (!s.limits.any()) return family.draw(math::flatten_parameters(family, parameters), parameters.extent, rng);
  const auto [lower, upper] = forward.limits(s, at);
  const bool between = !forward.model()[s.variable].observed;
  if (between) parameters.symbols.insert({{"lower", {0, {lower}}}, {"upper", {0, {upper}}}});
  const math::FamilyRow& row = between ? math::truncated_normal() : family;
  std::vector<double> out = row.draw(math::flatten_parameters(row, parameters), parameters.extent, rng);
  out[0] = std::clamp(out[0], lower, upper);
  return out;
}

std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of) {
  return Simulator(forward, rng_of).run();
}

std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of, const OnOverflow& overflowed) {
  return Simulator(forward, rng_of, overflowed).run();
}

std::string out_of_range(const std::string& drawn_from, std::size_t count) {
  return fmt::format("{} leaves the range of numbers{}", drawn_from,
                     count == 1 ? "" : fmt::format(", and so do {} other elements", count - 1));
}

std::optional<Error> draw_values(ModelEvaluator& forward, Rng& rng) {
  return draw_values(forward, [&rng](Element) -> Rng& { return rng; });
}

}  // namespace lehr
