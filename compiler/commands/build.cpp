// `lehr build`: compiles the inference of a model to an object file or shared library, with headers for C and C++.
//
// The stages are those of a fit, but sizes may stay open, as the calling program gives them at run time. Tables and
// code are embedded by compiler/embedding; a shared library is linked by the system's C compiler.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/help_page.h"
#include "compiler/console/pass_options.h"
#include "compiler/console/settings.h"
#include "compiler/embedding/embedding.h"
#include "compiler/fit/methods/tempering.h"
#include "compiler/gibbs_analysis.h"
#include "compiler/model/roles.h"
#include "compiler/options/help_texts.h"
#include "compiler/options/methods.h"
#include "compiler/pipeline.h"
#include "compiler/posterior/posterior_prior_model.h"
#include "compiler/schedule/schedule.h"
#include "runtime/files/atomic_file.h"

extern char** environ;

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct BuildOptions {
  std::string model, prefix, cpu = "native", target, method = "cavi", precision = "double", sanitizer = "none", depfile,
                             linker = "cc", links = "bound";
  std::vector<std::string> missing;
  SettingTexts settings;
  PassTexts passes;
  bool shared = false, is_static = false, no_locals = false, item_temperatures = false, updates = false;
};

/// Returns the target of code generation for --target, --cpu and --sanitize. Fails if LLVM cannot generate for it.
Result<native::Options> native_options(const BuildOptions& o) {
  native::Options out;
  out.triple = o.target;
  if (const std::optional<native::Refusal> no = native::refusal(out))
    return usage_error("--target", no->text, {no->note});
  const bool x86 = o.target.empty() || o.target.starts_with("x86_64");
  if (o.cpu == "generic") {
    out.cpu = x86 ? "x86-64" : "generic";
  } else if (o.cpu == "native") {
    if (!o.target.empty())
      return usage_error("--cpu", "native is this machine, not " + o.target, {"name the processor, or --cpu generic"});
    if (const std::optional<native::Refusal> no = native::refusal_of_processor())
      return usage_error("LEHR_CPU", no->text, {no->note});
  } else {
    out.cpu = o.cpu;
  }
  if (const std::optional<native::Refusal> no = native::refusal(out)) return usage_error("--cpu", no->text, {no->note});
  if (o.sanitizer == "thread") out.sanitizer = native::Options::Sanitizer::thread;
  if (o.sanitizer == "address") out.sanitizer = native::Options::Sanitizer::address;
  return out;
}

/// Returns true if `guide joint` puts the variable into one factor with others.
bool shares_a_factor(const model::Model& m, model::VariableId v) {
  return std::ranges::any_of(m.guide.joint, [&](const model::JointGuide& joint) { return joint.has(v); });
}

/// Returns which variables may have missing values (--missing). Observed variables without dependents simply lose the
/// terms of missing elements. Latent variables, and observed ones on which others depend, are clamped to the values
/// that are present, and the others are inferred. Fails with ExitCode::usage if a variable allows neither.
Result<density::ExpandOptions> missing_of(const std::vector<std::string>& names, const model::Model& m) {
  density::ExpandOptions out;
  out.may_be_missing.assign(m.variables.size(), false);
  out.clamped.assign(m.variables.size(), false);
  for (const std::string& name : names) {
    bool is_declared = false;
    for (std::size_t k = 0; k < m.variables.size(); ++k) {
      const model::VariableId v(k);
      if (m[v].name != name) continue;
      is_declared = true;
      const bool left_out = m[v].observed && !has_children(m, v);
      std::string why = left_out ? "" : model::why_not_clamped(m, v);
      if (why.empty() && shares_a_factor(m, v))
        why = fmt::format(
            "'{}' shares a factor with another variable (`guide joint`): `lehr fit` takes known values of it", name);
      if (!why.empty()) return usage_error("--missing", why);
      (left_out ? out.may_be_missing : out.clamped)[k] = true;
    }
    if (!is_declared) return usage_error("--missing", fmt::format("the model has no variable '{}'", name));
  }
  return out;
}

/// Links an object file to a shared library with the system's C compiler. The library needs only libm at run time.
/// `named` is the path for messages.
Result<bool> link(const std::string& linker, const std::string& object, const std::string& library,
                  const std::string& named) {
  const std::string words[] = {linker, "-shared", "-nostartfiles", "-Wl,-z,defs", "-o", library, object, "-lm"};
  std::vector<char*> arguments;
  for (const std::string& w : words)
    arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, linker.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (failure != 0)
    return usage_error("--shared", fmt::format("there is no linker '{}' on this machine", linker),
                       {"a shared library needs a C compiler to link it: install one, or name it with --linker",
                        "without --shared the object file needs none"});
  int status = 0;
  if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return usage_error("--shared", fmt::format("'{}' could not link {}", linker, named));
  return true;
}

/// Links the code in a temporary directory and writes the library to `path`. The linker follows links and writes in
/// place, so it must not write to the path of the user itself.
Result<bool> write_shared(const BuildOptions& o, const std::string& code, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(ignored);
  std::string folder = ((parent.empty() ? "/tmp" : parent) / "lehr.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return usage_error("--shared", "cannot make a directory in " + parent.string());
  const auto build = [&]() -> Result<bool> {
    const std::string object = folder + "/code.o", library = folder + "/code.so";
    if (Result<bool> r = write_file(object, code); !r) return r;
    if (Result<bool> r = link(o.linker, object, library, path); !r) return r;
    const Result<std::string> linked = read_file(library);
    if (!linked) return linked.error();
    return write_file(path, *linked, 0777);
  };
  const Result<bool> out = build();
  std::filesystem::remove_all(folder, ignored);
  return out;
}

/// Returns a rule for make with the outputs as targets and the model as prerequisite. Blanks in names are escaped.
std::string dependencies(const std::vector<std::string>& outputs, const std::string& model) {
  const auto escaped = [](const std::string& path) {
    std::string out;
    for (const char c : path)
      out += c == ' ' ? std::string("\\ ") : std::string(1, c);
    return out;
  };
  std::string out;
  for (const std::string& path : outputs)
    out += escaped(path) + " ";
  return out + ": " + escaped(model) + "\n";
}

/// Writes the code and both headers, and the dependency file if asked for. Returns the paths of code and headers.
Result<std::vector<std::string>> write_all(const BuildOptions& o, const Embedding& e, const std::string& code) {
  const std::filesystem::path prefix = o.prefix;
  std::error_code ignored;  // the writer says what is wrong
  if (prefix.has_parent_path()) std::filesystem::create_directories(prefix.parent_path(), ignored);
  const std::vector<std::string> paths{o.prefix + (o.shared ? ".so" : ".o"), o.prefix + ".h", o.prefix + ".hpp"};
  const std::string built = fmt::format("Built by lehr {} for {}{}{}.", LEHR_VERSION,
                                        o.cpu == "native" ? "the processor it was built on" : o.cpu,
                                        o.target.empty() ? "" : " of ", o.target);
  const std::string header = prefix.filename().string() + ".h";
  if (Result<bool> r = o.shared ? write_shared(o, code, paths[0]) : write_file(paths[0], code); !r) return r.error();
  if (Result<bool> r = write_file(paths[1], c_header(e, built)); !r) return r.error();
  if (Result<bool> r = write_file(paths[2], cpp_header(e, header)); !r) return r.error();
  if (!o.depfile.empty()) {
    if (Result<bool> r = write_file(o.depfile, dependencies(paths, o.model)); !r) return r.error();
  }
  return paths;
}

/// Builds a model as the options say, and prints the names of the files.
ExitCode build(const BuildOptions& o) {
  const std::optional<Source> source = read_model(o.model);
  if (!source) return ExitCode::usage;
  const Result<Settings> settings = read_settings(o.settings);
  if (!settings) return complain(settings.error());
  const Result<native::Options> options = native_options(o);
  if (!options) return complain(options.error());

  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(*source, diagnostics);
  if (!resolved) return report(diagnostics, *source);
  resolved->guide.gaussian_links = o.links == "gaussian";
  const Result<density::ExpandOptions> missing = missing_of(o.missing, *resolved);
  if (!missing) return complain(missing.error());
  std::optional<Analysed> analysed = analyse(*resolved, *missing, diagnostics);
  const ExitCode code = report(diagnostics, *source);
  if (!analysed) return code;
  std::optional<Priors> priors;
  if (o.updates) {
    Result<Updatable> updatable = with_updates(*resolved, *analysed, *missing);
    if (!updatable) return complain_of(updatable.error(), o.model);
    analysed = std::move(updatable->analysed);
    priors = std::move(updatable->priors);
  }

  const Result<BoundData> sizes = bind_sizes(analysed->model, *settings);
  if (!sizes) return complain(sizes.error());
  if (const std::optional<Error> unknown = missing_build_values(analysed->model, *sizes)) return complain(*unknown);
  if (o.item_temperatures) {
    Result<Analysed> tempered = with_item_temperatures(*analysed);
    if (!tempered) return complain(usage_error("--item-temperatures", tempered.error().text));
    analysed = std::move(*tempered);
  }
  const bool draws = has_draws(o.method);
  if (draws) {
    if (o.links != "bound") return complain(usage_error("--links", "draws need no expectation: not with " + o.method));
    if (o.item_temperatures)
      return complain(usage_error("--item-temperatures", "they are latent: not with " + o.method));
    if (o.updates)
      return complain(
          usage_error("--updates", "a chain has draws, and no factors that could be a prior: not with " + o.method));
    Result<Analysed> drawn = analyse_for_gibbs(*resolved, *missing, *analysed);
    if (!drawn) return complain(usage_error("--method", drawn.error().text));
    analysed = std::move(*drawn);
  }
  if (draws && o.precision == "float")
    return complain(usage_error("--precision", "draws are made in double: leave it out, or build for cavi"));
  const loops::Lowered lowered =
      generate(*analysed, *sizes, {.save_locals = !o.no_locals, .new_items = true, .single = o.precision == "float"},
               pass_options(o.passes));
  const Embedding embedding = embed(analysed->model, analysed->schedule, *sizes, lowered, *source, *settings, priors);
  const std::string object = object_file(lowered.program, embedding.image, *options);
  const Result<std::vector<std::string>> written = write_all(o, embedding, object);
  if (!written) return complain(written.error());
  fmt::print("{}: {}\n", embedding.name, fmt::join(*written, ", "));
  return ExitCode::done;
}

}  // namespace

void add_build(CLI::App& app, Action& action) {
  const auto o = std::make_shared<BuildOptions>();
  CLI::App* c = app.add_subcommand("build", "Compile a model for use in other programs: object file and headers");
  c->add_option("MODEL", o->model, "Model file (*.lehr)")->required();
  c->add_option("-o,--out", o->prefix, "Path of the output files without extension: PREFIX.o (or .so), .h and .hpp")
      ->required()
      ->type_name("PREFIX");
  add_settings(*c, o->settings, kSizesOfCodeHelp);
  c->get_option("--labels")->description(kLabelsOfCodeHelp);
  add_no_opt(*c, o->passes);
  c->add_option("--missing", o->missing,
                "Observed variables that may have missing values, separated by commas; default: none")
      ->take_all()
      ->delimiter(',')
      ->type_name("VARIABLE");
  c->add_flag(
      "--no-locals", o->no_locals,
      "Save memory: do not keep the probabilities of each item's category, such as the cluster of a point, where "
      "inference does not need them");
  c->add_flag("--item-temperatures", o->item_temperatures,
              "Let the calling program pass a weight (an inverse temperature) for each item, which multiplies its log "
              "likelihood (cavi only)");
  c->add_flag(
      "--updates", o->updates,
      "Also generate the function NAME_update (NAME: that of the model), which makes the posterior the prior of new "
      "data, like `lehr update` (cavi only)");
  c->add_option("--method", o->method,
                "Inference method: cavi (variational inference, by sweeps of coordinate ascent or by stochastic steps "
                "from minibatches) or gibbs (Gibbs sampling)")
      ->check(CLI::IsMember(methods_with(&MethodTraits::embeds)))
      ->capture_default_str();
  c->add_option("--links", o->links, std::string(kLinksOfCodeHelp) + " (cavi only)")
      ->check(CLI::IsMember(link_choices()))
      ->capture_default_str();
  c->add_option("--precision", o->precision,
                "Numbers in the work on each item: double (64 bits) or float (32 bits: faster, less exact; cavi "
                "only). Sums over items and the ELBO are always double")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  c->add_option(
       "--cpu", o->cpu,
       "Processor to generate code for: native (that of this machine), generic (any), x86-64-v2, x86-64-v3 (has "
       "AVX2), x86-64-v4 (has AVX-512), or a name of the compiler LLVM, such as znver4. Not native with --target")
      ->type_name("NAME")
      ->capture_default_str();
  c->add_option(
       "--target", o->target,
       "Kind of machine to generate code for, as clang writes it (its target triple), e.g. aarch64-linux-gnu; needs "
       "--cpu. Default: this machine")
      ->type_name("TRIPLE");
  auto* shared =
      c->add_flag("--shared", o->shared, "Write a shared library PREFIX.so, linked by a C compiler (see --linker)");
  c->add_flag("--static", o->is_static, "Write an object file PREFIX.o, as without this option")->excludes(shared);
  c->add_option("--linker", o->linker, "C compiler that links the library of --shared")
      ->type_name("PROGRAM")
      ->capture_default_str();
  c->add_option("--depfile", o->depfile, "Also write the dependencies of the outputs to this file, for make or ninja")
      ->type_name("FILE");
  c->add_option("--sanitize", o->sanitizer,
                "Checks to put into the code, to test a program that calls it: thread (data races), address (accesses "
                "outside of arrays) or none, as for -fsanitize of the C compiler")
      ->check(CLI::IsMember({"none", "thread", "address"}))
      ->capture_default_str();
  put_in_group(*c, kDeveloperOptions, {"--no-opt", "--sanitize"});
  c->footer(
      "Examples:\n"
      "  lehr build models/mixtures/gmm.lehr -o out/gmm --set K=3 --sizes dim=2\n"
      "  cc -Iout program.c out/gmm.o -lm\n"
      "  lehr build models/mixtures/gmm.lehr -o out/gmm --shared --cpu x86-64-v3\n"
      "  lehr build models/topics/lda.lehr -o out/lda --target aarch64-linux-gnu --cpu generic\n"
      "  lehr build models/distributions/coin.lehr -o out/coin --method gibbs\n"
      "Sizes that are given become constants of the code, which is faster; others are given by the program. "
      "The object\n"
      "needs nothing but libm, and the header says how to use it.");
  c->callback([o, &action] { action = [o] { return build(*o); }; });
}

}  // namespace lehr::commands
