// Layout of a variable: a scalar is one line, a vector without axes a column; all others have one row for each element
// and one column for each coordinate. Large or labelled simplexes become lists of their most probable elements, large
// matrices show their diagonals only.
#include "compiler/console/describe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/console/compare_table.h"
#include "compiler/console/describe_parts.h"
#include "compiler/math/family.h"
#include "compiler/options/methods.h"
#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/rounded_mean.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/plot.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::size_t kLargeSimplex = 20;  // simplexes with more elements are shown by their most probable ones
constexpr std::size_t kColumns = 8;        // most columns of a table
constexpr std::size_t kMatrix = 6;         // matrices with more rows are shown by their diagonals

/// Returns the text of one scalar: its probability, its mean, or its mean with the sd in parentheses.
std::string cell(const Moments& m, std::size_t at) {
  if (m.simplex && m.sd.empty()) return fmt::format("{:.4f}", m.mean[at]);
  if (m.sd.empty()) return fmt::format("{:.4g}", m.mean[at]);
  return fmt::format("{} ({:.2g})", rounded_mean(m.mean[at], m.sd[at], 4), m.sd[at]);
}

/// The elements of a variable in a description.
struct ElementList {
  std::vector<std::size_t> order;  // positions, in the order to show them
  std::vector<std::string> names;  // by position; only those that are shown are filled
};

/// Returns the first `limit` elements along these plates with their names. If the elements have weights, the
/// heaviest come first and the names include the weights; else `totals`, the total concentrations of Dirichlets, serve
/// as weights.
ElementList list_elements(const SavedFit& fit, const std::vector<std::string>& plates,
                          const std::vector<std::int64_t>& extents, const std::vector<double>& totals,
                          std::size_t limit) {
  std::size_t n = 1;
  for (const std::int64_t e : extents)
    n *= static_cast<std::size_t>(e);
  ElementList elements;
  elements.order.resize(n);
  std::iota(elements.order.begin(), elements.order.end(), std::size_t{0});
  std::vector<double> weights = extents.size() == 1 ? weights_of(fit, plates[0]) : std::vector<double>();
  if (weights.empty() && extents.size() == 1) {
    weights = totals;
    const double sum = std::accumulate(totals.begin(), totals.end(), 0.0);
    for (double& w : weights)
      w /= sum;
  }
  const bool weighted = weights.size() == n && n > 1;
  if (weighted) {
    std::stable_sort(elements.order.begin(), elements.order.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  }
  elements.names.resize(n);
  for (std::size_t k = 0; k < std::min(n, limit); ++k) {
    const std::size_t at = elements.order[k];
    elements.names[at] = element(fit, plates, extents, at);
    if (weighted) elements.names[at] += fmt::format(" ({:.2g} %)", 100 * weights[at]);
  }
  return elements;
}

/// Returns one line for each simplex with its most probable elements and their probabilities.
std::string list_probable(const SavedFit& fit, const Moments& m, const ElementList& elements, const std::string& plate,
                          const DescribeOptions& o) {
  const auto k = static_cast<std::size_t>(m.event[0]);
  std::string out;
  for (std::size_t r = 0; r < std::min(o.max_elements, elements.order.size()); ++r) {
    const double* p = &m.mean[elements.order[r] * k];
    std::vector<std::size_t> by_size(k);
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    const std::size_t top = std::min(o.top, k);
    std::partial_sort(by_size.begin(), by_size.begin() + static_cast<std::ptrdiff_t>(top), by_size.end(),
                      [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
    Row words;
    for (std::size_t i = 0; i < top; ++i)
      words.push_back(fmt::format("{} {:.2g}", element(fit, plate, by_size[i]), p[by_size[i]]));
    const std::string& name = elements.names[elements.order[r]];
    out += fmt::format("  {}{}{}\n", name, name.empty() ? "" : ": ", fmt::join(words, ", "));
  }
  return out + omitted_elements_line(elements.order.size(), o.max_elements);
}

/// Returns each matrix as a table with a heading. At least three matrices are shown, however large they are.
std::string show_matrices(const SavedFit& fit, const Moments& m, const ElementList& elements, const std::string& plate,
                          const DescribeOptions& o) {
  const auto d = static_cast<std::size_t>(m.event[0]);
  const std::size_t shown = std::min(elements.order.size(), std::max<std::size_t>(3, o.max_elements / d));
  std::string out;
  for (std::size_t r = 0; r < shown; ++r) {
    std::vector<Row> lines(1, Row{elements.names[elements.order[r]]});
    for (std::size_t j = 0; j < d; ++j)
      lines[0].push_back(element(fit, plate, j));
    for (std::size_t i = 0; i < d; ++i) {
      Row& line = lines.emplace_back(1, "  " + element(fit, plate, i));
      for (std::size_t j = 0; j < d; ++j)
        line.push_back(cell(m, elements.order[r] * d * d + i * d + j));
    }
    out += table(lines);
  }
  return out + omitted_elements_line(elements.order.size(), shown);
}

/// Returns the diagonals of matrices, as the moments of vectors.
Moments diagonal(const Moments& m) {
  const auto d = static_cast<std::size_t>(m.event[0]);
  Moments out;
  out.elements = m.elements;
  out.event = {m.event[0]};
  for (std::size_t at = 0; at < m.mean.size(); at += d * d) {
    for (std::size_t i = 0; i < d; ++i) {
      out.mean.push_back(m.mean[at + i * (d + 1)]);
      out.sd.push_back(m.sd[at + i * (d + 1)]);
    }
  }
  return out;
}

/// Returns a table with one row for each element and one column for each coordinate.
std::string show_table(const SavedFit& fit, const Moments& m, const ElementList& elements, std::size_t columns,
                       const std::string& plate, const DescribeOptions& o) {
  std::vector<Row> lines;
  const std::size_t shown_columns = std::min(columns, kColumns);
  if (columns > 1) {
    Row& header = lines.emplace_back(1, "");
    for (std::size_t c = 0; c < shown_columns; ++c)
      header.push_back(element(fit, plate, c));
    if (columns > shown_columns) header.push_back(fmt::format("... and {} more", columns - shown_columns));
  }
  for (std::size_t r = 0; r < std::min(o.max_elements, elements.order.size()); ++r) {
    Row& line = lines.emplace_back(1, elements.names[elements.order[r]]);
    for (std::size_t c = 0; c < shown_columns; ++c)
      line.push_back(cell(m, elements.order[r] * columns + c));
  }
  return table(lines) + omitted_elements_line(elements.order.size(), o.max_elements);
}

/// Returns the heading for a sampled variable. Moments of a sampled category are those of its positions, which the
/// heading explains.
std::string as_drawn(const SavedVariable& v) {
  const math::FamilyRow* row = math::find_factor_family(v.family);
  return row && row->support == math::Support::category
             ? "drawn, values by position from 0 (their probabilities: lehr show --format csv)"
             : "drawn";
}

/// Returns the standard deviation of the factor of a single number; 0 if it has none.
double sd_of_factor(const SavedFit& fit, const SavedVariable& v) {
  const math::FamilyRow* family = math::find_factor_family(v.family);
  const std::optional<Moments> m =
      family ? moments(*family, v, v.joint.empty() ? nullptr : fit.find(v.joint)) : std::nullopt;
  return m && m->sd.size() == 1 ? m->sd[0] : 0;
}

/// Returns true if two standard deviations are the same to a hundredth.
bool is_near(double a, double b) { return std::abs(a - b) < 0.01 * b; }

/// Returns the start of the first line: name, axes, event and family, as "mu[k] over dim: Normal, ".
std::string heading(const SavedVariable& v) {
  std::string out = v.name;
  if (!v.axes.empty()) out += fmt::format("[{}]", fmt::join(v.axes, ", "));
  if (!v.event.empty()) out += fmt::format(" over {}", fmt::join(v.event, ", "));
  return out + ": " + (v.family.empty() ? "" : v.family + ", ");
}

}  // namespace

std::string describe(const SavedFit& fit, const SavedVariable& v, const DescribeOptions& o) {
  std::string out = heading(v);
  if (v.parameters.empty()) return out + "local, not written (fit with --save-locals)\n";
  if (v.find(kDrawnRHat)) return out + as_drawn(v) + "\n" + describe_draws(fit, v, o.max_elements);
  std::optional<Moments> m = moments_of(fit, v);
  if (!m) {
    out += fmt::format("its parameters stand in {}\n", kPosteriorFile);
    for (const NamedArray& a : v.parameters)
      out += fmt::format("  {}.{} ({})\n", v.name, a.name, fmt::join(a.shape, ", "));
    return out;
  }
  if (m->mean.empty()) return out + "no elements\n";
  const std::string by = corrected_sds(fit, v) ? " by linear response" : "";
  const double own = by.empty() ? 0 : sd_of_factor(fit, v);
  const std::string quantity = m->simplex ? "probability" : "mean";
  if (m->mean.size() == 1) {
    return out + fmt::format("{} {}", quantity, rounded_mean(m->mean[0], m->sd.empty() ? 0 : m->sd[0], 6)) +
           (m->sd.empty() ? "" : fmt::format(", sd {:.4g}{}", m->sd[0], by)) +
           (own > 0 && !is_near(own, m->sd[0]) ? fmt::format(", {:.4g} of the factor", own) : "") + "\n";
  }

  std::vector<std::string> plates = stored_axes(fit, v.axes, m->elements.size());
  std::string event_plate = v.event.empty() ? "" : v.event.back();
  if (m->event.size() == 1) {
    const auto k = static_cast<std::size_t>(m->event[0]);
    if (m->simplex && (k > kLargeSimplex || find_label(fit, event_plate, 0))) {
      out += fmt::format("the {} most probable of {}\n", std::min(o.top, k), k);
      return out +
             list_probable(fit, *m, list_elements(fit, plates, m->elements, m->total, o.max_elements), event_plate, o);
    }
  }
  out += quantity + (m->sd.empty() ? "" : " (sd" + by + ")");
  if (m->event.size() == 2) {
    if (static_cast<std::size_t>(m->event[0]) <= kMatrix) {
      return out + "\n" +
             show_matrices(fit, *m, list_elements(fit, plates, m->elements, {}, o.max_elements), event_plate, o);
    }
    out += " of the diagonal";
    m = diagonal(*m);
  }
  // What is left has rows and columns: the event, or else a short last axis, goes across.
  std::vector<std::int64_t> extents = m->elements;
  std::size_t columns = 1;
  std::string column_plate;
  if (!m->event.empty() && extents.empty()) {
    extents = m->event;
    plates = {event_plate};
  } else if (!m->event.empty()) {
    columns = static_cast<std::size_t>(m->event[0]);
    column_plate = event_plate;
  } else if (extents.size() > 1 && extents.back() <= static_cast<std::int64_t>(kColumns)) {
    columns = static_cast<std::size_t>(extents.back());
    column_plate = plates.back();
    extents.pop_back();
    plates.pop_back();
  }
  // A simplex without axes is itself the list of weights, so its elements stay in their own order.
  const bool own_weights = m->simplex && m->elements.empty();
  ElementList elements = list_elements(fit, plates, extents, {}, own_weights ? 0 : o.max_elements);
  if (own_weights) {
    std::sort(elements.order.begin(), elements.order.end());
    for (std::size_t k : elements.order)
      elements.names[k] = element(fit, plates[0], k);
  }
  return out + "\n" + show_table(fit, *m, elements, columns, column_plate, o);
}

std::string describe(const SavedFit& fit) {
  const bool drawn = has_draws(fit.method);
  std::string came = drawn && fit.status == "max_iter" ? "sampled"
                     : fit.status == "max_iter"        ? "stopped at --max-iter"
                                                       : fit.status;
  std::replace(came.begin(), came.end(), '_', ' ');
  const FitObjective objective = objective_of(fit);
  std::string out = fmt::format("{} ({}): {} after {} iterations, {} {:.6f}\n", fit.model, fit.model_file, came,
                                fit.iterations, objective.name, objective.value);
  if (fit.restarts.size() > 1) {
    double low = fit.elbo, high = fit.elbo;
    for (const SavedRestart& r : fit.restarts) {
      low = std::fmin(low, r.elbo);
      high = std::fmax(high, r.elbo);
    }
    out += fmt::format("seed {}, restart {} of {}, which ended between {:.6g} and {:.6g}\n", fit.seed, fit.restart + 1,
                       fit.restarts.size(), low, high);
  } else {
    out += fmt::format("seed {}\n", fit.seed);
  }
  Row sizes;
  for (const auto& [plate, size] : fit.sizes)
    sizes.push_back(fmt::format("{} {}", plate, size));
  if (!sizes.empty()) out += fmt::format("sizes: {}\n", fmt::join(sizes, ", "));
  constexpr int kWidth = 64, kHeight = 8;
  std::vector<double> trace = fit.elbo_trace;
  // The trace of a search has many candidate runs one after another, so the best ELBO so far is plotted.
  for (std::size_t k = 1; fit.searched && k < trace.size(); ++k)
    trace[k] = std::max(trace[k], trace[k - 1]);
  const auto [low, high] = std::minmax_element(trace.begin(), trace.end());
  const bool moved = low != high && *high - *low > 1e-9 * (1 + std::abs(*high));
  if (moved)
    out += "\n" + text_plot(trace, kWidth, kHeight,
                            fit.searched ? "best ELBO of the search, sweep by sweep"
                            : drawn      ? "log joint, sweep by sweep"
                                         : "ELBO, sweep by sweep",
                            terminal_style());
  return out;
}

}  // namespace lehr
