// `lehr compare`: two fits of one model, number by number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/numbers.h"
#include "compiler/commands/settings.h"
#include "compiler/fitting/moments.h"
#include "runtime/files/saved_fit.h"
#include "runtime/files/stan_csv.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

struct CompareOptions {
  std::string first, second;
  std::int64_t rows = 20;
};

/// One number of both fits.
struct Pair {
  std::string name;
  double mean[2], sd[2];

  /// How far apart the means are, in units of the larger sd.
  double distance() const { return std::abs(mean[0] - mean[1]) / std::max(sd[0], sd[1]); }
};

std::vector<Pair> pairs_of(const SavedFit& a, const SavedFit& b) {
  std::vector<Pair> out;
  for (const SavedVariable& v : a.variables) {
    const SavedVariable* other = b.find(v.name);
    const auto first = moments_of(a, v), second = other ? moments_of(b, *other) : std::nullopt;
    if (!first || !second || first->mean.size() != second->mean.size()) continue;
    std::vector<std::int64_t> shape{1};
    shape.insert(shape.end(), first->elements.begin(), first->elements.end());
    shape.insert(shape.end(), first->event.begin(), first->event.end());
    const std::vector<std::string> names = column_names({{v.name, shape, {}}});
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto sd = [i](const Moments& m) { return i < m.sd.size() ? m.sd[i] : std::nan(""); };
      out.push_back({names[i], {first->mean[i], second->mean[i]}, {sd(*first), sd(*second)}});
    }
  }
  return out;
}

/// The method and its bound, or what it has instead.
std::string bound_of(const SavedFit& f) {
  if (std::isnan(f.log_evidence)) return fmt::format("{}, {:.6f}", f.method, f.elbo);
  return fmt::format("{}, log evidence {:.4f}, standard error {:.2g}", f.method, f.log_evidence, f.log_evidence_error);
}

ExitCode compare(const CompareOptions& o) {
  const Result<SavedFit> a = read_fit(o.first), b = read_fit(o.second);
  if (!a) return complain(a.error());
  if (!b) return complain(b.error());
  if (a->model != b->model)
    tell("{}: warning: fits of different models, '{}' and '{}'\n", o.first, printable(a->model), printable(b->model));
  std::vector<Pair> pairs = pairs_of(*a, *b);
  if (pairs.empty())
    return complain(Error{ExitCode::data, o.first, fmt::format("nothing is in both this and '{}'", o.second), {}});
  fmt::print("{}: {}\n{}: {}\n", o.first, bound_of(*a), o.second, bound_of(*b));
  std::ranges::stable_sort(pairs, [](const Pair& x, const Pair& y) { return x.distance() > y.distance(); });
  std::vector<double> ratios;
  for (const Pair& p : pairs)
    if (p.sd[0] > 0 && p.sd[1] > 0) ratios.push_back(p.sd[0] / p.sd[1]);
  std::ranges::sort(ratios);
  if (!ratios.empty())
    fmt::print("{} numbers; ratios of the sds {:.3g} to {:.3g}, median {:.3g}\n", pairs.size(), ratios.front(),
               ratios.back(), ratios[ratios.size() / 2]);
  fmt::print("\n{:24} {:>12} {:>10} {:>12} {:>10} {:>9} {:>9}\n", "", "mean", "sd", "mean", "sd", "apart", "ratio");
  for (std::size_t k = 0; k < pairs.size() && k < static_cast<std::size_t>(o.rows); ++k) {
    const Pair& p = pairs[k];
    fmt::print("{:24} {:12.6g} {:10.4g} {:12.6g} {:10.4g} {:9.3g} {:9.3g}\n", printable(p.name), p.mean[0], p.sd[0],
               p.mean[1], p.sd[1], p.distance(), p.sd[0] / p.sd[1]);
  }
  if (pairs.size() > static_cast<std::size_t>(o.rows))
    fmt::print("and {} numbers that are less far apart (--top)\n", pairs.size() - static_cast<std::size_t>(o.rows));
  return ExitCode::done;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto o = std::make_shared<CompareOptions>();
  CLI::App* c = app.add_subcommand("compare", "Means and standard deviations of two fits of one model");
  c->add_option("DIR1", o->first, "directory that `lehr fit` wrote")->required();
  c->add_option("DIR2", o->second, "another, of the same model and sizes")->required();
  add_number(*c, "--top", o->rows, kShownRange, "numbers shown, the farthest apart first");
  c->footer(
      "Example:\n"
      "  lehr compare out/vi out/gibbs\n"
      "`apart` is the difference of the means in units of the larger sd, `ratio` the first sd by the second. Behind "
      "the\n"
      "method stands the ELBO, of a tempered sampler the log evidence, or else the last log joint density. Components "
      "are compared as they are "
      "numbered.");
  c->callback([o, &action] { action = [o] { return compare(*o); }; });
}

}  // namespace lehr::commands
