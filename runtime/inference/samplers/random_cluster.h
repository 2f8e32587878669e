// Exact samples of attractive spins by the random-cluster model (Fortuin & Kasteleyn 1972), coupled from the past by
// the single-bond heat bath (Propp & Wilson 1996; MacKay 2003, section 32.3). It mixes fast below the critical
// temperature, where Gibbs sweeps over the spins do not.
//
// The log density is a sum of J_e s_a s_b over bonds with J_e >= 0. A bond is open with probability p_e = 1 -
// exp(-2 J_e) if its ends have the same spin. The open bonds alone have a density in which each cluster counts a factor
// 2, and their heat bath preserves the order of sets of bonds: runs from all and from no open bonds bound all others.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/inference/samplers/exact.h"

namespace lehr {

/// The log density of a model of spins s = -1 or 1: a sum of terms J s_a s_b over pairs and of terms h s.
struct SpinPairs {
  /// One term J s_a s_b of two spins.
  struct Bond {
    std::int64_t a, b;  // numbers of the spins
    double coupling;    // the coefficient J
  };
  std::int64_t spins = 0;      // number of spins
  std::vector<Bond> bonds;     // terms of two spins
  std::vector<double> fields;  // by spin: the coefficient h of its term h s
};

/// An attractive form of a model of spins, from which exact samples are drawn by random clusters. A further spin, which
/// is +1, carries the fields; spins are multiplied by signs such that no coupling is below 0.
class RandomClusters {
 public:
  /// Makes the attractive form of these terms. Returns nullopt if no signs make all couplings at least 0 (frustration).
  static std::optional<RandomClusters> make(const SpinPairs& pairs);

  /// The result of running both bounds (from all and from no open bonds) from some time in the past up to time 0.
  struct Run {
    std::int64_t undecided = 0;  // bonds in which the bounds differ at time 0
    std::vector<double> spins;   // an exact sample of the spins, -1 or 1; empty if any bond is undecided
  };
  /// Runs the two bounds of all runs (from all and from no open bonds) from `back` sweeps before time 0 up to time 0,
  /// with random numbers that depend on the seed, the stream and the time alone. If they meet, it draws the spins of
  /// the clusters.
  Run run(std::uint64_t seed, std::uint64_t stream, std::int64_t back) const;

 private:
  /// The spins that searches have visited, reused from search to search.
  struct Visits {
    std::vector<std::uint64_t> marks;                // by spin: the search, and the end from which it came
    std::uint64_t last = 0;                          // mark of the last search
    std::array<std::vector<std::int64_t>, 2> found;  // spins found from each end
  };
  /// Returns true if the ends of a bond are connected by other open bonds; the bond then opens with a higher
  /// probability. `visits` is scratch memory of the search.
  bool connected(std::size_t bond, const std::vector<char>& open, Visits& visits) const;

  /// Two spins that are coupled. The bond is open, which forces the spins to be equal, with probability p if they are.
  struct Bond {
    std::int64_t a, b;  // numbers of the two spins
    double p;           // 1 - exp(-2 J), for the coupling J
  };
  std::vector<Bond> bonds_;                         // bonds of all spins, with couplings above 0 after the signs
  std::vector<std::vector<std::size_t>> bonds_of_;  // by spin: indices in `bonds_` of its bonds
  std::vector<double> signs_;                       // by spin: the factor, -1 or 1, that makes all couplings positive
};

/// Draws exact samples of spins by coupling from the past of their random clusters, which is fast where Gibbs sweeps
/// mix slowly. `place` writes the spins of a sample to the engine as its state; then `on_draw` and `on_sweep` are
/// called. The outcome is that of coupled_draws().
Outcome run_clusters(const Engine& engine, const ExactOptions& options, const RandomClusters& clusters,
                     const std::function<void(const std::vector<double>& spins)>& place, const OnSweep& on_sweep,
                     const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
