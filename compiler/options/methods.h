// The table of inference methods: one row each, with its traits and the function that makes it of the options of a fit.
// Code outside the table asks for traits and compares no names. docs/extending.md says how to add a method.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/fit/methods/method.h"
#include "compiler/options/fit_options.h"
#include "runtime/result.h"

namespace lehr {

/// The description of one inference method of `lehr fit` (cavi, svi, gibbs, exact): its name, what it can do (its
/// traits), and the function that makes it from options. Traits are false unless the table of methods sets them. What a
/// method demands of the generated code is not a trait, since it depends on the options too: Requirements (method.h).
struct MethodTraits {
  std::string_view name;         // as typed: "cavi"
  std::string_view description;  // a few words for --help, which stand in brackets behind the name
  /// True: the results are draws (draws.nc, draws_K.csv, summary.csv), made in double, and restarts are chains. False:
  /// the results are factors, and those of the best run are saved (posterior.npz, items.npz).
  bool draws = false;
  /// True: sweeps over all items go on until the ELBO converges or a limit is reached, and may extrapolate. Out-of-core
  /// items may have their factors in files.
  bool converges = false;
  bool searches = false;     // true: it can look for the best of many starts
  bool divides = false;      // true: an annealed sweep can be made in parts, each a batch of the items
  bool minibatches = false;  // true: steps from minibatches, of sizes that decrease
  bool warms_up = false;     // true: draws follow each other in a Markov chain, which drops its first sweeps
  bool starts = false;       // true: the result depends on where a run starts
  bool tempers = false;      // true: it can be annealed, and its temperature can be a variable
  bool distributes = false;  // true: several processes can share the items
  bool embeds = false;       // true: `lehr build` generates code for it
  bool calibrates = false;   // true: `lehr calibrate` can test it
  /// Makes the method with the settings that `options` give; their numbers must be in their ranges. An error of
  /// ExitCode::usage says which option is malformed or in conflict with another.
  Result<Method> (*make)(const FitOptions& options);
};

/// Returns the table of all inference methods, in the order in which --help lists them. The first one is the default.
std::span<const MethodTraits> methods();

/// Returns the inference method with this name from the table of methods; null if there is none.
const MethodTraits* find_method(std::string_view name);

/// Returns true if a fit by the method with this name has draws as its result, false if it has factors. An unknown
/// name, as of a fit by another version, counts as a method with factors.
bool has_draws(std::string_view name);

/// Makes an error of ExitCode::usage about a name that is no method. It lists the methods.
Error unknown_method(std::string_view name);

/// Returns the names of the methods with the trait, in the order of the table.
std::vector<std::string> methods_with(bool MethodTraits::*trait);

/// A predicate of one option: returns true if the option has an effect in a fit by `method`. It also gets the values of
/// all options, since some have an effect for certain values only. A null pointer stands for all methods.
using UsedBy = bool (*)(const MethodTraits& method, const FitOptions& options);

/// For options that have an effect only with methods whose sweeps go on until they converge (cavi).
inline constexpr UsedBy kForConverging = [](const MethodTraits& m, const FitOptions&) { return m.converges; };
/// For options that have an effect only with methods whose results are factors (cavi, svi).
inline constexpr UsedBy kForFactors = [](const MethodTraits& m, const FitOptions&) { return !m.draws; };
/// For options that have an effect only with methods whose results are draws (gibbs, exact).
inline constexpr UsedBy kForDraws = [](const MethodTraits& m, const FitOptions&) { return m.draws; };

/// Returns the names of the methods for which an option, whose predicate is `used_by`, has an effect when all options
/// have the values in `options`. Null stands for all methods.
std::vector<std::string> methods_using(UsedBy used_by, const FitOptions& options);

/// Joins words for a sentence: "a", "a and b", "a, b and c", with `last` ("and", "or") before the last one.
std::string enumerate(const std::vector<std::string>& words, std::string_view last);

/// Returns the names of methods with their descriptions, for --help: "cavi (coordinate ascent) or gibbs (Gibbs
/// sampling)".
std::string describe_methods(const std::vector<std::string>& names);

/// Returns the text of --help for an option: in `help`, "{only}" becomes "cavi only" or the like, made of the methods
/// for which the option has an effect with the values of `options`.
std::string option_help(std::string_view help, UsedBy used_by, const FitOptions& options = {});

/// Returns true if an option, whose predicate is `used_by`, has an effect for the method that `options` name: if the
/// predicate is null or holds, or if no method has that name.
bool has_effect(UsedBy used_by, const FitOptions& options);

/// Returns an error of ExitCode::usage if the option has no effect for the method of the options, which names the
/// methods for which it has one. `where` is the option as the caller writes it. Returns nullopt if the option has an
/// effect or the method is unknown.
std::optional<Error> without_effect(std::string where, UsedBy used_by, const FitOptions& options);

}  // namespace lehr
