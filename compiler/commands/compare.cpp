// `lehr compare`: compares two saved fits of one model scalar by scalar, the largest differences first. Three or more
// fits become a table with one line each. Components are matched by their numbers, not by similarity.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/compare_table.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/rounded_mean.h"
#include "runtime/output/saved_fit.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct CompareOptions {
  std::vector<std::string> directories;
  std::int64_t top = 20;
};

/// Mean and standard deviation of one scalar in both fits.
struct Pair {
  std::string name;
  double mean[2], sd[2];

  /// Returns the difference of the means in units of the larger sd.
  double distance() const { return std::abs(mean[0] - mean[1]) / std::max(sd[0], sd[1]); }
};

/// Returns a name for each scalar of a variable, as "mu[a, 3]": by labels of the axes, or numbers.
std::vector<std::string> names_of(const SavedFit& fit, const SavedVariable& v, const Moments& m) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < m.mean.size(); ++i) {
    const std::vector<std::string> at = index_of(fit, v, m, i);
    out.push_back(at.empty() ? v.name : fmt::format("{}[{}]", v.name, fmt::join(at, ", ")));
  }
  return out;
}

/// Returns the scalars that have the same name in both fits.
std::vector<Pair> pairs_of(const SavedFit& a, const SavedFit& b) {
  std::vector<Pair> out;
  for (const SavedVariable& v : a.variables) {
    if (!v.members.empty()) continue;  // its members have the same numbers
    const SavedVariable* other = b.find(v.name);
    const auto first = moments_of(a, v), second = other ? moments_of(b, *other) : std::nullopt;
    if (!first || !second) continue;
    std::map<std::string, std::size_t> positions;
    for (const std::string& name : names_of(b, *other, *second))
      positions.emplace(name, positions.size());
    const std::vector<std::string> names = names_of(a, v, *first);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto position = positions.find(names[i]);
      if (position == positions.end()) continue;
      const std::size_t j = position->second;
      const auto sd = [](const Moments& m, std::size_t at) { return at < m.sd.size() ? m.sd[at] : std::nan(""); };
      out.push_back({names[i], {first->mean[i], second->mean[j]}, {sd(*first, i), sd(*second, j)}});
    }
  }
  return out;
}

/// Returns the method with its ELBO, or with its log evidence if it has one.
std::string describe_bound(const SavedFit& f) {
  if (std::isnan(f.log_evidence)) return fmt::format("{}, {:.6f}", f.method, f.elbo);
  return fmt::format("{}, log evidence {:.4f}, standard error {:.2g}", f.method, f.log_evidence, f.log_evidence_error);
}

/// Prints the comparison of two fits, at most `top` scalars.
ExitCode compare_scalars(const SavedFit& a, const SavedFit& b, std::size_t top) {
  std::vector<Pair> pairs = pairs_of(a, b);
  if (pairs.empty())
    return complain(
        Error{ExitCode::data, a.directory, fmt::format("nothing is in both this and '{}'", b.directory), {}});
  fmt::print("{}: {}\n{}: {}\n", a.directory, describe_bound(a), b.directory, describe_bound(b));
  // Scalars without a distance (no standard deviations, or 0 in both) come last.
  const auto order = [](const Pair& x) { return std::isnan(x.distance()) ? -1.0 : x.distance(); };
  std::ranges::stable_sort(pairs, std::ranges::greater{}, order);
  // Ratios of standard deviations show if one fit is narrower throughout.
  std::vector<double> ratios;
  for (const Pair& p : pairs)
    if (p.sd[0] > 0 && p.sd[1] > 0) ratios.push_back(p.sd[0] / p.sd[1]);
  std::ranges::sort(ratios);
  if (!ratios.empty())
    fmt::print("{} numbers; ratios of the sds {:.3g} to {:.3g}, median {:.3g}\n", pairs.size(), ratios.front(),
               ratios.back(), ratios[ratios.size() / 2]);
  fmt::print("\n{:24} {:>12} {:>10} {:>12} {:>10} {:>9} {:>9}\n", "", "mean", "sd", "mean", "sd", "apart", "ratio");
  for (std::size_t k = 0; k < pairs.size() && k < top; ++k) {
    const Pair& p = pairs[k];
    fmt::print("{:24} {:>12} {:10.4g} {:>12} {:10.4g} {:9.3g} {:9.3g}\n", printable(p.name),
               rounded_mean(p.mean[0], p.sd[0], 6), p.sd[0], rounded_mean(p.mean[1], p.sd[1], 6), p.sd[1], p.distance(),
               p.sd[0] / p.sd[1]);
  }
  if (pairs.size() > top) fmt::print("and {} numbers that are less far apart (--top)\n", pairs.size() - top);
  return ExitCode::done;
}

/// Reads all fits and prints the comparison that suits their number.
ExitCode compare(const CompareOptions& o) {
  std::vector<SavedFit> fits;
  for (const std::string& directory : o.directories) {
    Result<SavedFit> fit = read_fit(directory);
    if (!fit) return complain(fit.error());
    warn_of_failure(*fit);
    fits.push_back(std::move(*fit));
  }
  for (const SavedFit& f : fits) {
    if (f.model != fits[0].model)
      print_diagnostics({make_warning(fmt::format("fits of different models, '{}' and '{}'", printable(fits[0].model),
                                                  printable(f.model)))},
                        fits[0].directory);
  }
  if (fits.size() == 2) return compare_scalars(fits[0], fits[1], static_cast<std::size_t>(o.top));
  fmt::print("{}", compare_table(fits));
  return ExitCode::done;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto o = std::make_shared<CompareOptions>();
  CLI::App* c = app.add_subcommand("compare", "Compare the numbers of two fits, or list more fits in a table");
  c->add_option("DIR", o->directories, "Directories written by `lehr fit`, two or more")->required()->expected(2, -1);
  add_number(*c, "--top", o->top, kPrintedRange,
             "Parameters listed when two fits are compared, largest difference first; not used for more fits");
  c->footer(
      "Examples:\n"
      "  lehr compare out/vi out/gibbs\n"
      "  lehr compare out/gmm_2 out/gmm_3 out/gmm_4\n"
      "`apart` is the difference of the means in units of the larger sd, `ratio` the first sd by the second.\n"
      "Behind the method stands the ELBO, of a tempered sampler the log evidence, or else the last log joint\n"
      "density. Components are compared as they are numbered, elements with labels by these. Three fits or more\n"
      "have a line each: bound, held-out score, iterations, seconds, sizes.");
  c->callback([o, &action] { action = [o] { return compare(*o); }; });
}

}  // namespace lehr::commands
