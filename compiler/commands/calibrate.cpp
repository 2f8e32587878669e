// `lehr calibrate`: tests if a method finds the right posterior, on data simulated from the model itself.
//
// Without --geweke it is simulation-based calibration (Talts et al. 2018): over many simulations, the rank of the true
// value among posterior draws must be uniform. With --geweke it is the joint distribution test of Geweke (2004). It
// compares draws from the prior with a chain that alternates a Gibbs sweep and new data.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include "compiler/calibrate/calibration.h"
#include "compiler/calibrate/uniformity.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/fit_inputs.h"
#include "compiler/commands/fit_options.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "runtime/files/member_file.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// The probability that a correct method has any number marked in one calibration. It is divided by the number of tests
/// (Bonferroni).
constexpr double kFamilywiseError = 0.001;

/// Values of the command's options.
struct CalibrateOptions {
  std::string model, out;
  std::vector<std::string> data;
  SettingTexts settings;
  CalibrationOptions calibration;
  FitOptions fit{.method = "gibbs", .warmup = 500, .draws = 63, .thin = 20};
  bool joint = false;
};

/// The test results of one scalar.
struct Row {
  std::string name;
  double first, second;  // p-values of two tests of the ranks, or z-scores of location and spread
  double p;
};

/// Tests the ranks of each scalar for uniformity, by chi-square and by Kolmogorov-Smirnov. The combined p is twice the
/// smaller one.
std::vector<Row> rows_of(const Ranks& ranks) {
  std::vector<Row> out;
  for (std::size_t q = 0; q < ranks.names.size(); ++q) {
    const Uniformity u = uniformity(ranks.ranks[q], ranks.highest);
    out.push_back(
        {ranks.names[q], u.chi_square_p, u.kolmogorov_p, std::min(1.0, 2 * std::min(u.chi_square_p, u.kolmogorov_p))});
  }
  return out;
}

/// Returns the comparisons of Geweke's test, one for each scalar.
std::vector<Row> rows_of(const JointTest& test) {
  std::vector<Row> out;
  for (const JointComparison& c : test.comparisons)
    out.push_back({c.name, c.z_location, c.z_spread, c.p});
  return out;
}

/// Returns the ranks as CSV: one row for each simulation, one column for each scalar.
std::string ranks_csv(const Ranks& ranks) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "simulation");
  for (const std::string& name : ranks.names)
    fmt::format_to(to, ",{}", name);
  for (std::size_t k = 0; !ranks.ranks.empty() && k < ranks.ranks[0].size(); ++k) {
    fmt::format_to(to, "\n{}", k + 1);
    for (const std::vector<std::int64_t>& column : ranks.ranks)
      fmt::format_to(to, ",{}", column[k]);
  }
  fmt::format_to(to, "\n");
  return fmt::to_string(out);
}

/// The results of a calibration, with the names of the columns `first` and `second`.
struct CalibrationTable {
  const char *first, *second;
  std::vector<Row> rows;
  std::vector<std::string> skipped;  // variables that were not tested, with the reason
};

/// Returns the table as CSV, the content of calibration.csv.
std::string csv(const CalibrationTable& t) {
  std::string out = fmt::format("name,{},{},p\n", t.first, t.second);
  for (const Row& r : t.rows)
    out += fmt::format("{},{:.6g},{:.6g},{:.6g}\n", r.name, r.first, r.second, r.p);
  return out;
}

/// Prints the table. Scalars with a suspicious p have a star.
void print(const CalibrationTable& t) {
  const double bar = kFamilywiseError / static_cast<double>(std::max<std::size_t>(1, t.rows.size()));
  const auto suspect = std::ranges::count_if(t.rows, [&](const Row& r) { return !(r.p >= bar); });
  fmt::print("\n{:24} {:>12} {:>12} {:>12}\n", "", t.first, t.second, "p");
  for (const Row& r : t.rows)
    fmt::print("{:24} {:12.4g} {:12.4g} {:12.4g}{}\n", printable(r.name), r.first, r.second, r.p,
               r.p >= bar ? "" : "  *");
  if (!t.skipped.empty()) fmt::print("\nnot asked about:\n");
  for (const std::string& s : t.skipped)
    fmt::print("  {}\n", printable(s));
  fmt::print("\n{} of {} numbers are off: p below {:.3g} ({} in all)\n", suspect, t.rows.size(), bar, kFamilywiseError);
}

/// Runs the simulations and tests. Writes ranks.csv if there is an output directory.
Result<CalibrationTable> run(const CalibrateOptions& o, const CalibrationProblem& problem, const FitSettings& fit) {
  if (o.joint) {
    const Result<JointTest> test = joint_calibration(problem, o.fit.seed, o.calibration);
    if (!test) return test.error();
    return CalibrationTable{"z location", "z spread", rows_of(*test), test->skipped};
  }
  const Result<Ranks> ranks = rank_calibration(problem, fit, o.calibration);
  if (!ranks) return ranks.error();
  if (!o.out.empty()) {
    if (Result<bool> r = write_file_no_follow(o.out + "/ranks.csv", ranks_csv(*ranks)); !r) return r.error();
  }
  return CalibrationTable{"chi-square p", "KS p", rows_of(*ranks), ranks->skipped};
}

/// Warns of options without effect for the method. Draws are made from factors too.
void warn_of_unused(const FitOptions& o) {
  FitOptions usual = CalibrateOptions().fit;
  usual.draws = o.draws;
  print_diagnostics(unused_number_warnings(o, usual), "calibrate");
}

/// Runs the command: reads model and data, runs the tests, prints and writes their results.
ExitCode calibrate(const CalibrateOptions& o) {
  const std::optional<Source> source = read_model(o.model);
  if (!source) return ExitCode::usage;
  warn_of_unused(o.fit);
  const Result<FitSettings> fit = to_fit_settings(o.fit);
  if (!fit) return complain(fit.error());
  Diagnostics diagnostics;
  const std::optional<model::Model> resolved = read_model_for(*source, o.fit, diagnostics);
  const std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  const ExitCode code = report(diagnostics, *source);
  if (!complete) return code;
  Result<Dataset> dataset = read_bindings(o.data);
  if (!dataset) return complain(dataset.error());
  Result<Settings> settings = read_settings(o.settings);
  if (!settings) return complain(settings.error());
  std::error_code ignored;  // the writer says what is wrong
  if (!o.out.empty()) std::filesystem::create_directories(o.out, ignored);
  const Result<CalibrationTable> table =
      run(o, {*resolved, *complete, std::move(*dataset), std::move(*settings)}, *fit);
  if (!table) return complain_of(table.error(), o.model);
  if (!o.out.empty()) {
    if (Result<bool> r = write_file_no_follow(o.out + "/calibration.csv", csv(*table)); !r) return complain(r.error());
  }
  fmt::print("{}: {} simulations, {}\n", resolved->name, o.calibration.simulations,
             o.joint ? fmt::format("{} rounds of new data each", o.calibration.draws)
                     : fmt::format("{} draws of {} each", o.calibration.draws, o.fit.method));
  print(*table);
  return ExitCode::done;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  const auto o = std::make_shared<CalibrateOptions>();
  CLI::App* c = app.add_subcommand("calibrate", "Test an inference method on data simulated from the model");
  c->add_option("MODEL", o->model, "Model file (*.lehr)")->required();
  c->add_option("--data", o->data,
                "Known inputs, given as for `lehr fit` (docs/data.md): required if the model declares any as `data` "
                "(covariates, "
                "say), else none. Of observed variables only the sizes are used; repeatable")
      ->take_all()
      ->type_name("FILE");
  c->add_option("--out", o->out,
                "Directory for calibration.csv (the table that is printed) and, without --geweke, ranks.csv (ranks of "
                "the true values among posterior draws); default: no files")
      ->type_name("DIR");
  add_settings(*c, o->settings, kSizesToSimulateHelp);
  c->get_option("--labels")->description(kLabelsOfCodeHelp);
  add_no_cache(*c);
  std::vector<std::string> tested = methods_with(&MethodTraits::calibrates);
  std::ranges::stable_partition(tested, has_draws);  // samplers first, of which the default is one
  CLI::Option* method =
      c->add_option("--method", o->fit.method, "Method whose posteriors are tested: " + describe_methods(tested))
          ->check(CLI::IsMember(tested))
          ->capture_default_str();
  c->add_flag("--geweke", o->joint, "Run Geweke's joint distribution test of the Gibbs sampler instead")
      ->excludes(method);
  add_number(*c, "--simulations", o->calibration.simulations, kScheduleRange,
             "Number of simulated data sets; with --geweke, each begins a chain of --draws rounds");
  add_shared_options(*c, o->fit, [](const FitOption& row) {
    // Only these options of a fit apply to the posteriors of a calibration.
    constexpr std::string_view kCalibrationOptions[] = {"warmup", "draws", "thin", "max-iter", "tol", "seed", "guide"};
    return std::ranges::find(kCalibrationOptions, row.option) != std::end(kCalibrationOptions);
  });
  c->get_option("--draws")->description(
      "Posterior draws per simulated data set, by either method; with --geweke, rounds of a chain, in each of which "
      "the data are drawn anew");
  CLI::Option* thin = c->get_option("--thin");
  thin->description(thin->get_description() + "; with --geweke the default is 1");
  c->footer(
      "Examples:\n"
      "  lehr calibrate models/distributions/coin.lehr --sizes throw=10\n"
      "  lehr calibrate models/hierarchical/hierarchical_normal.lehr --data "
      "models/data/hierarchical/eight_schools.json \\\n"
      "      --set a0=3,b0=30 --method cavi --out out/ranks\n"
      "  lehr calibrate models/sequences/hmm_poisson.lehr --sizes year=20 --geweke --thin 1\n"
      "Simulation k is that of `lehr simulate --seed S+k`, and its posterior that of chain k of `lehr fit --seed S`.\n"
      "With --geweke, --draws are rounds of new data, each after one sweep unless --thin says more.");
  c->callback([o, c, &action] {
    if (o->joint && c->count("--thin") == 0) o->fit.thin = 1;
    o->calibration.draws = o->fit.draws;
    o->calibration.thin = o->fit.thin;
    action = [o] { return calibrate(*o); };
  });
}

}  // namespace lehr::commands
