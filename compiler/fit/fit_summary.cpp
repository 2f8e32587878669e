// Makes the contents of fit.json. nlohmann::json writes numbers that are not finite as null; posterior arrays are in
// posterior.npz, and only their names, axes and families are here.
#include "compiler/fit/fit_summary.h"

#include <algorithm>
#include <cmath>

#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/schedule/separate_pairs.h"

namespace lehr {
namespace {

using nlohmann::json;

/// Lists the latent variables with the names of their axes and event axes, and the family of the factor. The other
/// member of a joint factor of mean and precision is named, and so are the members of a joint variable. Sources of
/// counts, which are not saved, are left out.
json variables(const model::Model& m, const conditionals::Conditionals& c) {
  json out = json::object();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed || model::is_source(v)) continue;
    json axes = json::array(), event = json::array();
    for (model::PlateId p : v.axes)
      axes.push_back(m[m[p].set].name);
    for (model::PlateId p : v.event)
      event.push_back(m[m[p].set].name);
    if (v.value_plate) event.push_back(m[m[*v.value_plate].set].name);
    json entry = {{"axes", axes}, {"event", event}};
    if (const conditionals::BlockId b = c.block_of[k]; b.valid()) {
      const conditionals::Block& block = c[b];
      entry["family"] = conditionals::family_of(m, c, model::VariableId(k)).name;
      if (block.mean) entry["joint"] = m[*block.mean == model::VariableId(k) ? block.variable : *block.mean].name;
    }
    for (const model::Member& member : v.auxiliary ? v.auxiliary->members : std::vector<model::Member>())
      entry["members"].push_back(m[member.variable].name);
    out[v.name] = entry;
  }
  return out;
}

/// Lists the row offsets of nested plates that saved variables lie on, or all variables if `all`.
json nested(const model::Model& m, const BoundData& data, const std::vector<NamedArray>& written, bool all) {
  json out = json::object();
  for (const model::Variable& v : m.variables) {
    const auto is_of = [&](const NamedArray& a) { return a.name.starts_with(v.name + "."); };
    if (v.observed || (!all && std::ranges::none_of(written, is_of))) continue;
    for (const model::PlateId p : v.axes) {
      const model::Plate& plate = m[m[p].set];
      if (plate.parent && !data.offsets[m[p].set.index()].empty())
        out[plate.name] = {
            {"in", m[m[*plate.parent].set].name}, {"offsets", data.offsets[m[p].set.index()]}, {"from", plate.from}};
    }
  }
  return out;
}

/// Returns true if a constant array belongs to the model and not to the data set: it is no parameter of a prior that
/// was a posterior, and lies on no plate of the observations.
bool is_of_model(const model::Model& m, const model::Given& g) {
  const auto lies_on = [&](model::PlateId plate) {
    return std::ranges::any_of(m.variables, [&](const model::Variable& v) {
      return v.observed && std::ranges::any_of(v.axes, [&](model::PlateId p) { return m[p].set == m[plate].set; });
    });
  };
  return !is_posterior_prior(g) && std::ranges::none_of(g.axes, lies_on);
}

/// Returns true if the model's text does not have the plate: it numbers the coordinates of a joint variable or entries
/// of its precision, or the pairs of a list.
bool is_added(const model::Model& m, model::PlateId plate) {
  if (schedule::is_pair_list(m[plate])) return true;
  return std::ranges::any_of(m.variables, [&](const model::Variable& v) {
    return model::is_joint(v) && (std::ranges::find(v.event, plate) != v.event.end() || v.auxiliary->entries == plate);
  });
}

}  // namespace

json to_json(const std::vector<Diagnostic>& warnings) {
  json out = json::array();
  for (const Diagnostic& w : warnings) {
    json notes = json::array();
    for (const Note& note : w.notes)
      notes.push_back(with_option_prefix(note.text, ""));
    out.push_back({{"text", with_option_prefix(w.text, "")}, {"notes", notes}});
  }
  return out;
}

bool has_gaussian_links(const json& summary) { return summary.is_object() && summary.value("links", "") == "gaussian"; }

std::vector<std::string> joint_names(const json& summary) {
  std::vector<std::string> out;
  if (!summary.is_object() || !summary.contains("variables")) return out;
  for (const auto& [name, fields] : summary["variables"].items())
    if (fields.contains("members")) out.push_back(name);
  return out;
}

model::Model with_guide_of(const model::Model& m, const std::vector<NamedArray>& posterior, const json& summary) {
  const auto is_of_joint = [](const NamedArray& a) { return a.name.starts_with("joint("); };
  std::vector<NamedArray> joints;
  std::ranges::copy_if(posterior, std::back_inserter(joints), is_of_joint);
  // The summary alone has the joint factors of items whose parameters were not saved.
  for (const std::string& name : joint_names(summary)) {
    const auto is_saved = [&](const NamedArray& a) { return a.name.starts_with(name + "."); };
    if (std::ranges::none_of(joints, is_saved)) joints.push_back({name, {}, {}});
  }
  model::Model out = with_joint_factors_of(m, joints);
  out.guide.gaussian_links = m.guide.gaussian_links || has_gaussian_links(summary);
  return out;
}

json fit_summary(const FitRequest& request, const model::Model& m, const conditionals::Conditionals& c,
                 const BoundData& data, const TracedRun& best, const std::vector<TracedRun>& runs, bool interrupted,
                 FitTimes times) {
  json sizes = json::object(), constants = json::object(), labels = json::object(), restarts = json::array();
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (m.plates[k].set != model::PlateId(k) || is_added(m, model::PlateId(k))) continue;
    sizes[m.plates[k].name] = data.sizes[k];
    if (!data.labels[k].empty()) labels[m.plates[k].name] = data.labels[k];
  }
  for (std::size_t k = 0; k < m.constants.size(); ++k)
    constants[m.constants[k].name] = data.constants[k];
  for (std::size_t k = 0; k < m.givens.size(); ++k)
    if (m.givens[k].constant && is_of_model(m, m.givens[k])) constants[m.givens[k].name] = data.givens[k].values;
  for (const TracedRun& run : runs) {
    restarts.push_back({{"restart", run.restart},
                        {"elbo", run.outcome.elbo},
                        {"iterations", run.outcome.iterations},
                        {"status", name_of(run.outcome.status)}});
  }
  json out = {{"model", m.name},
              {"model_file", request.model_file},
              {"model_text", request.model_text},
              {"command", request.command},
              {"version", LEHR_VERSION},
              {"method", request.method},
              {"precision", request.precision},
              {"seed", request.seed},
              {"restart", best.restart},
              {"restarts", restarts},
              {"status", name_of(interrupted ? Status::interrupted : best.outcome.status)},
              {"iterations", best.outcome.iterations},
              {"elbo", best.outcome.elbo},
              {"elbo_notes", texts_of(density::elbo_notes(m, c.density))},
              {"elbo_decreases", best.outcome.decreases},
              {"sizes", sizes},
              {"rows", referenced_rows(m, data)},
              {"nested", nested(m, data, best.posterior, request.locals)},
              {"constants", constants},
              {"labels", labels},
              {"words", data.words},
              {"variables", variables(m, c)},
              {"seconds", {{"compile", times.compile}, {"total", times.total}}}};
  if (m.guide.gaussian_links) out["links"] = "gaussian";
  const TriedSteps& tried = best.outcome.tried;
  const auto count = [&](const char* name, const char* accepted, const Attempts& steps) {
    if (steps.all() > 0) out[name] = {{accepted, steps.accepted}, {"refused", steps.refused}};
  };
  count("leaps", "taken", tried.extrapolations);
  count("changes_of_basis", "accepted", tried.basis_changes);
  count("shifts", "accepted", tried.shifts);
  if (tried.sigma_points > 0) out["sigma_points"] = tried.sigma_points;
  for (const Saddle& s : best.outcome.saddles)
    out["saddle_points"].push_back(
        {{"elbo", s.elbo}, {"eigenvalue", s.eigenvalue}, {"left", s.left}, {"sweeps", s.sweeps}});
  if (!best.outcome.failure.empty()) out["failure"] = best.outcome.failure;
  if (!request.data.empty()) out["data"] = request.data;
  if (request.drop_missing) out["drop_missing"] = true;
  if (!request.prior.empty()) out["prior"] = {{"directory", request.prior}, {"forget", request.prior_power}};
  if (!request.anneal.empty()) out["anneal"] = request.anneal;
  if (!request.temper.empty()) out["temper"] = request.temper;
  if (!best.sds.empty()) out["sds"] = "linear-response";
  if (best.held_out) out["held_out"] = {{"per_observation", *best.held_out}, {"data", request.test}};
  if (best.left) {
    out["left_to_gain"] = best.left->nats;
    out["left_sweeps"] = best.left->sweeps;
  }
  out.update(to_json(best.report));
  return out;
}

}  // namespace lehr
