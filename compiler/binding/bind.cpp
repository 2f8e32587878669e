// Runs the steps of the bind pass in order and merges its problems into one Error. Later checks run only if no earlier
// one failed, because they rely on valid sizes and values.
#include "compiler/binding/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace model {

bool is_multiplicity(const Binder& b, const Slot& slot) {
  return slot.given && std::any_of(b.model.plates.begin(), b.model.plates.end(),
                                   [&](const Plate& p) { return p.times == slot.given; });
}

Error& problem(Binder& b, ExitCode code, std::string where, std::string text) {
  b.problems.push_back({code, std::move(where), std::move(text), {}});
  return b.problems.back();
}

Error& problem_of_text(Binder& b, ExprId at, std::string text) {
  Error& e = problem(b, ExitCode::model, place_of(b.model, b.model[at].span), std::move(text));
  for (const ExprId id : nodes_under(b.model, {at})) {
    const auto* ref = std::get_if<ConstantRef>(&b.model[id].node);
    if (!ref) continue;
    const Constant& c = b.model[ref->constant];
    const std::string place = place_of(b.model, c.span);
    if (b.settings.constants.contains(c.name)) e.notes.push_back(fmt::format("{} is set by {}", c.name, option("set")));
    else if (c.value && !place.empty()) e.notes.push_back(fmt::format("{}: {} is declared here", place, c.name));
  }
  return e;
}

std::string signature(const Binder& b, const Slot& slot) {
  std::string plates, event;
  for (std::size_t i = 0; i < slot.axes.size(); ++i) {
    std::string& list = i + slot.event_rank < slot.axes.size() ? plates : event;
    list += (list.empty() ? "" : ", ") + b.model[slot.axes[i]].name;
  }
  return slot.name + (plates.empty() ? "" : "[" + plates + "]") + (event.empty() ? "" : " over " + event);
}

namespace {

constexpr std::size_t kMostProblems = 20;  // further problems are only counted

/// Makes a Binder with a slot for each given, observed variable, and latent variable with some values.
Binder make_binder(const Model& model, const Settings& settings, Dataset* data) {
  Binder b{model, settings, data, true, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  b.constants.resize(model.constants.size());
  b.constants_done.assign(model.constants.size(), false);
  b.out.givens.resize(model.givens.size());
  b.out.observed.resize(model.variables.size());
  b.out.clamped.assign(model.variables.size(), false);
  for (std::size_t i = 0; i < model.givens.size(); ++i) {
    const Given& g = model.givens[i];
    Slot slot{g.name, g.axes, g.event.size(), g.value_plate, GivenId(i), std::nullopt};
    slot.axes.insert(slot.axes.end(), g.event.begin(), g.event.end());
    b.slots.push_back(std::move(slot));
  }
  for (std::size_t i = 0; i < model.variables.size(); ++i) {
    const Variable& v = model.variables[i];
    if (!v.observed) continue;
    Slot slot{v.name, v.axes, v.event.size(), v.value_plate, std::nullopt, VariableId(i)};
    slot.axes.insert(slot.axes.end(), v.event.begin(), v.event.end());
    b.slots.push_back(std::move(slot));
  }
  add_clamped_slots(b);
  return b;
}

/// Returns the first problem as an Error, with the others as its notes.
Error merged(std::vector<Error> problems) {
  Error first = std::move(problems.front());
  for (std::size_t i = 1; i < problems.size(); ++i) {
    if (i == kMostProblems) {
      first.notes.push_back(fmt::format("and {} more problems", problems.size() - i));
      break;
    }
    const Error& e = problems[i];
    first.notes.push_back(fmt::format("also: {}{}{}", e.where, e.where.empty() ? "" : ": ", e.text));
    for (const std::string& note : e.notes)
      first.notes.push_back("  " + note);
  }
  return first;
}

/// Returns the bound data, or all problems.
Result<BoundData> finish(Binder& b) {
  if (!b.problems.empty()) return merged(std::move(b.problems));
  return std::move(b.out);
}

}  // namespace
}  // namespace model

namespace {

/// Runs all steps of bind() and bind_givens().
Result<BoundData> bind_arrays(model::Binder b) {
  model::read_settings(b);
  model::match_arrays(b);
  model::claim_shapes(b);
  model::claim_values(b);
  model::compute_sizes(b);
  if (b.problems.empty()) model::store_values(b);
  if (b.problems.empty()) model::check_references(b);
  if (b.problems.empty()) model::check_zero_concentrations(b);
  if (b.problems.empty()) model::check_parameters(b);
  if (b.problems.empty()) model::check_expressions(b);
  if (b.problems.empty()) model::check_limits(b);
  if (b.problems.empty()) model::symmetrise_parameters(b);
  if (b.problems.empty() && b.observed_needed) model::check_totals(b);
  if (b.problems.empty() && b.observed_needed) model::check_zero_probability(b);
  return model::finish(b);
}

}  // namespace

std::int64_t shortest_row(const BoundData& data, model::PlateId plate) {
  std::int64_t out = data.sizes[plate.index()];
  const std::vector<std::int64_t>& offsets = data.offsets[plate.index()];
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    out = std::min(out, offsets[row + 1] - offsets[row]);
  return out;
}

Result<BoundData> bind(const model::Model& model, Dataset data, const Settings& settings) {
  return bind_arrays(model::make_binder(model, settings, &data));
}

Result<BoundData> bind_givens(const model::Model& model, Dataset data, const Settings& settings) {
  model::Binder b = model::make_binder(model, settings, &data);
  b.observed_needed = false;
  return bind_arrays(std::move(b));
}

Result<BoundData> bind_sizes(const model::Model& model, const Settings& settings) {
  model::Binder b = model::make_binder(model, settings, nullptr);
  model::read_settings(b);
  model::compute_sizes(b);
  if (b.problems.empty()) model::check_constant_indices(b);
  if (b.problems.empty()) model::check_parameters(b);
  if (b.problems.empty()) model::check_limits(b);
  return model::finish(b);
}

}  // namespace lehr
