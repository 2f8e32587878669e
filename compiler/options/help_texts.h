// Help texts of options that several commands have.
#pragma once

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

}  // namespace lehr
