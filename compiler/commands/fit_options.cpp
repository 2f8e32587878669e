// Definitions of the options of `lehr fit`: names, help texts, ranges, and which exclude or need each other. What the
// library has too comes from one table (compiler/options).
#include "compiler/commands/fit_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <concepts>
#include <filesystem>

#include "compiler/console/help_page.h"
#include "compiler/console/number_option.h"
#include "runtime/files/readers.h"
#include "runtime/output/fit_files.h"

namespace lehr::commands {
namespace {

/// Returns true if both paths are spelled alike, except for slashes at the end. The directories need not exist.
bool is_same_path(const std::string& a, const std::string& b) {
  const auto normal = [](const std::string& p) { return (std::filesystem::path(p) / "").lexically_normal(); };
  return normal(a) == normal(b);
}

/// Options of the command line alone that are for methods with factors, of which held-out scores are.
constexpr std::string_view kScores[] = {"test-every", "test"};

/// Adds an option for a number, a text or a switch of the shared table.
template <class T>
void add_shared_option(CLI::App& c, T& to, const FitOption& row) {
  const std::string spelled = fmt::format("--{}", fmt::join(split_fields(row.option), ",--"));
  const std::string help = help_of(row);
  if constexpr (std::same_as<T, bool>) {
    c.add_flag(spelled, to, help);
  } else if constexpr (std::same_as<T, std::string>) {
    CLI::Option* const text = c.add_option(spelled, to, help);
    if (!row.value_name.empty()) text->type_name(std::string(row.value_name));
    if (row.values.empty()) return;
    text->check(CLI::IsMember(std::vector<std::string>(row.values.begin(), row.values.end())));
    if (!to.empty()) text->capture_default_str();
  } else {
    add_number(c, spelled, to, row.range, help);
  }
}

/// Throws CLI::ValidationError if a text or a file was given that is not for the method.
void refuse_unused(const CLI::App& c, const FitArguments& o) {
  const auto explicitly_set = [&](std::string_view name) { return c.count(fmt::format("--{}", name)) > 0; };
  std::optional<Error> e = unused_option(o.fit, explicitly_set);
  for (const std::string_view score : kScores)
    if (!e && explicitly_set(score)) e = without_effect(option(score), kForFactors, o.fit);
  if (e) throw CLI::ValidationError(with_option_prefix(e->where, "--"), with_option_prefix(e->text, "--"));
}

/// Throws CLI::ValidationError if an option was given that is not for the fits of groups.
void refuse_with_each(const CLI::App& c, const FitArguments& o) {
  if (c.count("--each") == 0) return;
  if (o.each.empty()) throw CLI::ValidationError("--each", "the name of the column is empty");
  constexpr const char* kOfOneFit[] = {"--stream",           "--test",   "--test-every", "--predictive",
                                       "--checkpoint-every", "--resume", "--profile",    "--interpret"};
  for (const char* const name : kOfOneFit)
    if (c.count(name) > 0)
      throw CLI::ValidationError("--each",
                                 fmt::format("{} is for one fit, and --each makes many: leave out one of them", name));
  if (o.save_each && o.method().draws)
    throw CLI::ValidationError("--save-each", fmt::format("the draws of {} are not written: leave out --save-each, or "
                                                          "fit a group by itself",
                                                          o.fit.method));
}

/// Returns true for --save-locals. Within its group of the help, it follows the options of --test and of draws.
bool is_save_locals(const FitOption& row) { return row.option == "save-locals"; }

/// Adds --method and the options of the shared table but --save-locals.
void add_method(CLI::App& c, FitArguments& o) {
  std::vector<std::string> names;
  for (const MethodTraits& m : methods())
    names.emplace_back(m.name);
  c.add_option("--method", o.fit.method, "Inference method: " + describe_methods(names))
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  add_shared_options(c, o.fit, std::not_fn(is_save_locals));
  c.get_option("--adaptive")->excludes(c.get_option("--rho"));
}

/// Returns the names of the files that every fit has.
std::vector<const char*> files_of_every_fit() {
  std::vector<const char*> out;
  for (const FitFile& f : kFitFiles)
    if (f.presence == FitFilePresence::always) out.push_back(f.name);
  return out;
}

}  // namespace

void add_shared_options(CLI::App& c, FitOptions& to, const std::function<bool(const FitOption&)>& is_wanted) {
  for (const FitOption& row : fit_option_table())
    if (is_wanted(row)) std::visit([&](auto member) { add_shared_option(c, to.*member, row); }, row.to);
}

void add_results(CLI::App& c, FitArguments& o) {
  c.add_option("--out", o.out,
               fmt::format("Directory for the results: {} (required unless --resume is given)",
                           fmt::join(files_of_every_fit(), ", ")))
      ->type_name("DIR");
  add_number(c, "--checkpoint-every", o.checkpoint_every, kIterationsRange,
             "Sweeps (svi: steps) from one checkpoint, from which a killed fit can resume, to the next; 0: only on an "
             "interrupt");
  c.add_option("--resume", o.resume, "Directory of an interrupted fit to finish; repeat its options but --out")
      ->type_name("DIR");
}

void group_fit_options(CLI::App& c) {
  put_in_group(c, kDataOptions,
               {"--data", "--each", "--drop-missing", "--model", "--set", "--sizes", "--labels", "--test", "--stream",
                "--spill"});
  put_in_group(c, kMethodOptions,
               {"--method", "--batch-size", "--epochs", "--tau0", "--kappa", "--rho", "--adaptive", "--replacement",
                "--warmup", "--draws", "--thin", "--parts", "--forget"});
  put_in_group(c, kStartOptions, {"--search", "--restarts", "--init", "--seed"});
  put_in_group(c, kTemperatureOptions, {"--anneal", "--temper"});
  put_in_group(
      c, kStoppingOptions,
      {"--max-iter", "--tol", "--leap-after", "--no-saddle-test", "--no-invariances", "--local-iters", "--local-tol"});
  put_in_group(c, kResourceOptions, {"--threads", "--precision", "--no-cache"});
  put_in_group(c, kOutputOptions,
               {"--out", "--save-each", "--checkpoint-every", "--resume", "--save-locals", "--sds", "--elbo-every",
                "--test-every", "--predictive", "--quiet"});
  put_in_group(c, kDeveloperOptions,
               {"--no-opt", "--thresholds", "--print-before", "--print-after", "--verify-each", "--time-passes",
                "--profile", "--interpret"});
}

void resolve_output_directory(const CLI::App& c, FitArguments& o) {
  const auto explicitly_set = [&c](const char* name) { return c.count(name) > 0; };
  if (!explicitly_set("--out") && !explicitly_set("--resume")) throw CLI::RequiredError("--out");
  if (!explicitly_set("--out")) o.out = o.resume;
  if (explicitly_set("--resume") && !is_same_path(o.out, o.resume))
    throw CLI::ValidationError("--resume", "a fit goes on where it is: leave out --out, or name the same directory");
}

void add_fit_options(CLI::App& c, FitArguments& o) {
  c.add_option("MODEL", o.model, "Model file (*.lehr)")->required();
  add_data(c, o.data, kDataHelp);
  CLI::Option* each =
      c.add_option("--each", o.each,
                   "Fit each group of lines that have one value in this column of a table, several at a time; "
                   "see docs/fitting.md")
          ->type_name("COLUMN");
  add_results(c, o);
  c.add_flag(
       "--save-each", o.save_each,
       fmt::format("Also write the files of each group's fit, to {}/GROUP in the directory of --out", kGroupsFolder))
      ->needs(each);
  add_settings(c, o.settings, kSizesOfDataHelp);
  CLI::Option* stream =
      c.add_flag("--stream", o.stream,
                 "Read items from their files batch by batch instead of loading all data; see docs/scale.md")
          ->excludes(c.get_option("--drop-missing"));
  c.add_option(
       "--spill", o.spill,
       option_help("Directory for temporary files: the posteriors of the items' own latent variables between sweeps "
                   "({only}). Without it, models that need such files are refused (topic proportions need them, "
                   "categories do not)",
                   kForConverging))
      ->type_name("DIR")
      ->needs(stream);
  add_method(c, o);
  const char* const test_help =
      "Held-out data, given like --data, for the log predictive density ({only}); see `lehr score`";
  CLI::Option* test =
      c.add_option("--test", o.test, option_help(test_help, kForFactors))->take_all()->type_name("FILE");
  add_number(
      c, "--test-every", o.test_every, kIterationsRange,
      fmt::format("Sweeps (svi: steps) from one held-out score in {} to the next; 0: only at the end", kTraceFile))
      ->needs(test);
  add_number(c, "--predictive", o.predictive, kIterationsRange,
             fmt::format("Maximum number of log likelihoods, and of replicated observations, in {}, the file "
                         "of draws ({}); if there would be more, fewer draws have them; 0: none",
                         kDrawsFile, option_help("{only}", kForDraws)));
  add_shared_options(c, o.fit, is_save_locals);
  c.add_flag("--quiet", o.quiet, "Print neither progress nor summary");
  add_no_cache(c);
  add_no_opt(c, o.passes);
  add_pass_options(c, o.passes);
  c.add_flag("--profile", o.profile,
             "Report the time of each step of a sweep (on one thread); with --interpret, its counts of operations and "
             "bytes instead");
  c.add_flag("--interpret", o.interpret,
             "Run the slow reference interpreter instead of native code, to check the compiler");
  group_fit_options(c);
  add_short_help(c, {"--data", "--set", "--labels", "--method", "--search", "--restarts", "--max-iter", "--out",
                     "--resume", "--test"});
  c.parse_complete_callback([&c, &o] {
    refuse_unused(c, o);
    refuse_with_each(c, o);
    apply_explicit_options(o.fit, [&c](std::string_view name) { return c.count(fmt::format("--{}", name)) > 0; });
    resolve_output_directory(c, o);
  });
  c.footer(
      "Examples:\n"
      "  lehr fit models/distributions/coin.lehr --data models/data/distributions/coin.csv --out out/coin\n"
      "  lehr fit models/topics/lda.lehr --data w=models/data/topics/kos.ldac.gz \\\n"
      "      --labels term=models/data/topics/kos.vocab.txt --set K=20 --out out/lda\n"
      "  lehr fit models/mixtures/gmm.lehr --data x=models/data/mixtures/faithful.csv:eruptions,waiting \\\n"
      "      --restarts 10 --out out/gmm\n"
      "  lehr fit models/topics/lda.lehr --data w=models/data/topics/kos.ldac.gz --method svi \\\n"
      "      --batch-size 100 --epochs 2 --tau0 64 --init flat --anneal linear:from=1.5,over=35 --out out/lda_svi\n"
      "  lehr fit models/mixtures/gmm.lehr --data x=models/data/mixtures/faithful.csv:eruptions,waiting \\\n"
      "      --anneal auto --out out/gmm\n"
      "  lehr show out/lda beta\n"
      "Ctrl-C finishes the sweep, writes what was found by then and says how to go on. docs/data.md and\n"
      "docs/output.md have the formats.");
}

}  // namespace lehr::commands
