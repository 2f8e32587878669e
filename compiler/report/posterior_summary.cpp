// Reads posterior summaries from a saved fit. Quantiles are expensive to compute, so variables with many scalars have
// only means and standard deviations, unless stored draws give them.
#include "compiler/report/posterior_summary.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/posterior_numbers.h"
#include "compiler/posterior/saved_draws.h"

namespace lehr::report {
namespace {

constexpr std::size_t kMostQuantiles = 5000;  // larger variables get no quantiles

/// Returns the product of the extents.
std::size_t product(const std::vector<std::int64_t>& extents) {
  std::size_t out = 1;
  for (const std::int64_t e : extents)
    out *= static_cast<std::size_t>(e);
  return out;
}

/// Returns the last n plates, filled with empty names at the front. Arrays have no separate axis for the parent of a
/// nested plate.
std::vector<std::string> last_plates(std::vector<std::string> plates, std::size_t n) {
  while (plates.size() > n)
    plates.erase(plates.begin());
  plates.insert(plates.begin(), n - plates.size(), "");
  return plates;
}

/// Returns means and standard deviations, computed from the parameters of the factor.
std::optional<PosteriorSummary> of_moments(const SavedFit& fit, const SavedVariable& v) {
  std::optional<Moments> m = moments_of(fit, v);
  if (!m) return std::nullopt;
  PosteriorSummary out;
  out.axes = last_plates(v.axes, m->elements.size());
  for (const std::string& plate : last_plates(v.event, m->event.size()))
    out.axes.push_back(plate);
  out.shape = std::move(m->elements);
  out.shape.insert(out.shape.end(), m->event.begin(), m->event.end());
  out.event = m->event.size();
  out.mean = std::move(m->mean);
  out.sd = std::move(m->sd);
  out.total = std::move(m->total);
  return out;
}

/// Returns the values, or an empty vector if all are NaN.
std::vector<double> empty_if_all_nan(std::vector<double> values) {
  return std::ranges::all_of(values, [](double x) { return x != x; }) ? std::vector<double>() : std::move(values);
}

/// Returns means, standard deviations and quantiles, from the factor or from stored draws.
std::optional<PosteriorSummary> of_table(const SavedFit& fit, const SavedVariable& v,
                                         const std::optional<LabelledArrays>& draws) {
  const auto source = [&]() -> Result<LabelledArrays> {
    if (draws) return *draws;
    return Error{ExitCode::data, fit.directory, "no draws", {}};
  };
  Result<PosteriorTable> table = posterior_table(fit, {&v}, source);
  if (!table || table->variables.empty()) return std::nullopt;
  VariableSummary& p = table->variables[0];
  PosteriorSummary out;
  out.axes = std::move(p.axes);
  out.shape = std::move(p.shape);
  out.event = std::min(v.event.size(), out.shape.size());
  out.mean = std::move(p.mean);
  out.sd = empty_if_all_nan(std::move(p.sd));
  out.low = empty_if_all_nan(std::move(p.quantiles.front()));
  out.high = empty_if_all_nan(std::move(p.quantiles.back()));
  return out;
}

}  // namespace

std::pair<std::vector<PosteriorSummary>, std::vector<std::string>> posterior_summaries(const SavedFit& fit) {
  std::pair<std::vector<PosteriorSummary>, std::vector<std::string>> out;
  std::optional<LabelledArrays> draws;
  if (is_sampled(fit)) {
    if (Result<LabelledArrays> stored = stored_draws(fit)) draws = std::move(*stored);
  }
  for (const SavedVariable& v : fit.variables) {
    const math::FamilyRow* row = math::find_factor_family(v.family);
    if (!v.members.empty() || !row) continue;
    std::optional<PosteriorSummary> n = v.parameters.empty() ? std::nullopt : of_moments(fit, v);
    if (n && (n->size() <= kMostQuantiles || draws)) {
      std::vector<double> total = std::move(n->total);
      if (std::optional<PosteriorSummary> whole = of_table(fit, v, draws)) n = std::move(whole);
      n->total = std::move(total);
    }
    if (!n) {
      out.second.push_back(v.name);
      continue;
    }
    n->variable = &v;
    // A member of a joint factor that is a precision matrix has the support of precisions.
    n->support =
        v.joint.empty() || !row->joint_precision || n->event == static_cast<std::size_t>(event_rank(row->support))
            ? row->support
            : *row->joint_precision;
    if (n->size() > 0) out.first.push_back(std::move(*n));
  }
  return out;
}

ShownElements shown_elements(const SavedFit& fit, const PosteriorSummary& n, std::size_t inner) {
  const auto outer = static_cast<std::ptrdiff_t>(n.shape.size() - inner);
  const std::vector<std::int64_t> extents(n.shape.begin(), n.shape.begin() + outer);
  const std::vector<std::string> plates(n.axes.begin(), n.axes.begin() + outer);
  ShownElements out;
  out.order.resize(product(extents));
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  for (std::size_t k = 0; k < out.order.size(); ++k)
    out.names.push_back(extents.empty() ? n.variable->name : lehr::element(fit, plates, extents, k));
  if (extents.size() != 1) return out;
  std::vector<double> weights = weights_of(fit, plates[0]);
  const bool components = !weights.empty();
  if (!components && inner == 1) {
    weights = n.total;
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& w : weights)
      w /= sum;
  }
  if (weights.size() != out.names.size()) return out;
  std::ranges::stable_sort(out.order, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  if (n.is_simplex() && inner == 0) return out;  // the weights themselves
  for (std::size_t k = 0; k < weights.size(); ++k)
    out.names[k] += fmt::format(" ({:.2g} %)", 100 * weights[k]);
  if (components) out.omitted = std::erase_if(out.order, [&](std::size_t k) { return weights[k] < kMinShownWeight; });
  return out;
}

std::string ShownElements::omission_note() const {
  if (omitted == 0) return "";
  return fmt::format(" {} with {} below {} % left out.", omitted, omitted == 1 ? "a weight" : "weights",
                     100 * kMinShownWeight);
}

}  // namespace lehr::report
