// The arrays that a sweep begins with, and their coordinates.
#include "runtime/inference/coordinates.h"

#include <algorithm>
#include <cmath>

#include "runtime/abi.h"
#include "runtime/machine/damping.h"

namespace lehr {

using machine::Parameter;
using machine::ParameterRow;

namespace {

using MapOf = Eigen::Map<Eigen::ArrayXd>;

/// Returns the precision of the mean with this index. `event` is the length of one mean. 0: the arrays do not fit.
double precision_of(std::span<const double> precision, std::size_t means, std::size_t event, std::size_t index) {
  const std::size_t at = index / event, inside = index % event, diagonal = inside * (event + 1);
  if (precision.size() == means) return precision[index];
  if (precision.size() == means * event) return precision[at * event * event + diagonal];
  if (precision.size() == event * event) return precision[diagonal];
  if (precision.size() * event == means) return precision[at];
  return precision.size() == 1 ? precision[0] : 0;
}

/// Writes the weights of the squared steps of means, in units of their standard deviations. Returns false if they have
/// no precisions.
bool weigh_means(const Engine& e, const ParameterRow& row, std::span<double> weights) {
  if (row.parameter != Parameter::mean || row.partner < 0) return false;
  const std::span<const double> precision = e.reals(e.model().parameters[row.partner].buffer);
  const std::size_t event =
      row.event_rank == 1 ? std::max<std::size_t>(1, static_cast<std::size_t>(e.extent(row.event))) : 1;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = precision_of(precision, weights.size(), event, i);
    if (!(p > 0) || p >= kPointPrecision) return false;
    weights[i] = p;
  }
  return true;
}

/// Returns true if the parameter is of a single chain whose update begins a sweep without items: it is computed from
/// the other blocks alone, whatever it was before.
bool is_renewed(const Engine& e, const ParameterRow& row) {
  const bool single = row.chain && e.model().buffers[row.buffer].axes == row.event_rank + 1;
  const auto depends = [](const StepRow& step) { return step.stage || step.tangent_points; };
  return single && e.steps()[0].block == row.block && std::ranges::none_of(e.steps(), depends);
}

}  // namespace

std::vector<CoordinateArray> arrays_before_sweep(const Engine& e) {
  std::vector<CoordinateArray> out;
  for (const ParameterRow& row : machine::parameters_of(e.model())) {
    if (!row.by_stage && !is_renewed(e, row)) out.push_back({row.buffer, &row});
  }
  if (!machine::reads_statistics_first(e.model())) return out;
  for (const StepRow& step : e.steps()) {
    if (!step.stage || step.refresh) continue;
    for (const std::int64_t b : machine::statistics_of(e.model(), step)) {
      if (!e.is_partial(b)) out.push_back({b});
    }
  }
  return out;
}

bool is_logarithmic(const CoordinateArray& a) { return a.row && machine::is_logarithmic(*a.row); }

std::vector<double> coordinates(const Engine& e, std::span<const CoordinateArray> arrays) {
  std::vector<double> out;
  for (const CoordinateArray& a : arrays) {
    const std::span<double> x = e.reals(a.buffer);
    const std::size_t begin = out.size();
    out.insert(out.end(), x.begin(), x.end());
    if (!is_logarithmic(a)) continue;
    MapOf u(out.data() + begin, count_of(x));
    u = u.max(1e-300).log();
  }
  return out;
}

bool weigh_by_spread(const Engine& e, const CoordinateArray& a, std::span<double> weights) {
  if (!a.row || !is_logarithmic(a)) return a.row && weigh_means(e, *a.row, weights);
  const std::span<double> x = e.reals(a.buffer);
  const MapOf values(x.data(), count_of(x));
  MapOf w(weights.data(), count_of(weights));
  if (a.row->parameter == Parameter::shape_like) w = values.max(0.1);
  else w = a.row->parameter == Parameter::rate ? 1 : 0.5;
  return true;
}

Arrays numbers(const Engine& e, std::span<const CoordinateArray> arrays) {
  Arrays out;
  for (const CoordinateArray& a : arrays) {
    const std::span<double> x = e.reals(a.buffer);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

bool shift(const Engine& e, std::span<const CoordinateArray> arrays, const Arrays& now, const Eigen::ArrayXd& step,
           double factor) {
  bool inside = true;
  Eigen::Index begin = 0;
  std::size_t k = 0;
  for (const CoordinateArray& a : arrays) {
    const std::span<double> x = e.reals(a.buffer);
    const Eigen::Index n = count_of(x);
    const Eigen::Map<const Eigen::ArrayXd> from(now[k++].data(), n);
    MapOf to(x.data(), n);
    if (is_logarithmic(a)) to = from * (factor * step.segment(begin, n)).exp();
    else to = from + factor * step.segment(begin, n);
    inside = inside && to.isFinite().all();
    if (a.row && machine::stays_positive(*a.row)) inside = inside && (from > 0 && to <= 0).count() == 0;
    begin += n;
  }
  return inside;
}

}  // namespace lehr
