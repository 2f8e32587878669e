// Help texts of options that several commands have.
#pragma once
#include <string>
#include <vector>

namespace lehr {

/// Help text of --local-iters, for several commands.
inline constexpr const char* kLocalIterationsHelp =
    "Maximum number of passes over the local variables of an item (latent variables of that item alone, such as the "
    "topics of a document)";
/// Help text of --local-tol, for several commands.
inline constexpr const char* kLocalToleranceHelp =
    "Relative change at which the local variables of an item (latent variables of that item alone) have converged";
/// Help text of --seed, for several commands.
inline constexpr const char* kSeedHelp = "Seed of the random numbers";
/// Help text of --threads, for several commands.
inline constexpr const char* kThreadsHelp = "Worker threads; 0: one per processor. Results do not depend on it";

/// Help text of --links for commands that make formulas or code.
inline constexpr const char* kLinksOfCodeHelp =
    "Logistic and probit links of Normal predictors: gaussian (their expectations) or bound (a bound of them)";
/// Returns the values of --links.
inline std::vector<std::string> link_choices() { return {"bound", "gaussian"}; }

}  // namespace lehr
