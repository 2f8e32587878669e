// The options of a fit as one struct, which the command line, the library and its bindings all fill in.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lehr {

/// An array in the caller's memory that a fit reads: data, or start values. It must live until the call that receives
/// it returns. It is copied twice: into the order of the model, and into the memory of the generated code. Strided,
/// float and integer arrays are first converted to packed doubles, a third copy.
struct DataView {
  using Text = std::span<const char* const>;  // UTF-8 strings; null, empty, NA and NaN mean missing
  /// The values of an array in the caller's memory: double, float, 64- or 32-bit integers, or text.
  using Values = std::variant<std::span<const double>, std::span<const float>, std::span<const std::int64_t>,
                              std::span<const std::int32_t>, Text>;
  std::string name;                   // of the variable in the model
  Values values;                      // NaN where missing; elements of a plate count from 0, or have names
  std::vector<std::int64_t> shape;    // plates in the order of the model, then event axes; empty: a number
  std::vector<std::int64_t> strides;  // in elements; empty: row-major
  /// For a ragged array over a nested plate: row i is values[row_offsets[i]] .. values[row_offsets[i + 1] - 1]. `shape`
  /// and `strides` are empty then. Otherwise it is empty.
  std::vector<std::int64_t> row_offsets;
};

/// All options of a fit. The ranges of numbers are those of the options of `lehr fit` (option_ranges.h); a value
/// outside is an error that states the range. A text that differs from its default and has no effect with the method is
/// an error too, which names the methods that it has an effect with. Of a number or a switch that is a warning.
struct FitOptions {
  /// The inference method: "cavi" (coordinate ascent), "svi" (stochastic variational inference), "gibbs" (Gibbs
  /// sampling) or "exact" (exact sampling).
  std::string method = "cavi";
  /// For cavi, the search over starts: "none", "quick" or "full". Empty means quick, or none if an option about starts,
  /// temperatures, sweeps or the tolerance differs from its default.
  std::string search = {};
  /// Factors of Normal variables: "joint" (variables that the terms couple share a factor where that is cheap) or
  /// "factorised" (only those that the model's guide joins).
  std::string guide = "joint";
  /// Logistic and probit links of Normal predictors: a "bound" (logistic) or a Normal number of each observation
  /// (probit), or their "gaussian" expectations, which give better standard deviations.
  std::string links = "bound";
  /// `anneal`: the temperature that divides the log likelihood in the first sweeps ("linear:from=10,over=100", "auto").
  /// `temper`: infer that temperature ("global:max=10"), or parallel tempering with gibbs ("global"). Both as for `lehr
  /// fit`; empty: none.
  std::string anneal = {}, temper = {};
  std::uint64_t seed = 1;           // seed of all random numbers of the fit
  std::int64_t restarts = 1;        // runs, of which that with the highest ELBO is returned; chains (gibbs, exact)
  std::string start = "seeds";      // kind of random start: seeds, points, allocations, means or flat
  std::vector<DataView> init = {};  // factors to start from, named as in the posterior
  bool save_locals = false;         // include the factors of items in the posterior
  /// Standard deviations by "linear-response" (cavi), of the "factors", or "auto": by linear response where it is
  /// cheap.
  std::string sds = "auto";
  std::string precision = "double";     // or "float": the work on items in 32 bits; not for gibbs and exact
  std::int64_t max_iterations = 1000;   // most sweeps of a run (cavi)
  double tolerance = 1e-8;              // relative change of the ELBO below which a run has converged
  std::int64_t leap_after = 6;          // sweeps before a slowly converging run may extrapolate; 0: plain sweeps alone
  bool no_saddle_test = false;          // the end of a run is not tested for a saddle point (cavi)
  bool no_invariances = false;          // no changes of basis between sweeps (cavi)
  std::int64_t local_iterations = 100;  // most passes over the local variables of an item
  double local_tolerance = 1e-4;        // relative change below which the local variables of an item have converged
  std::int64_t batch_size = 256;        // items in a minibatch (svi)
  double epochs = 10;                   // passes over the data (svi)
  double tau0 = 1, kappa = 0.7;         // step sizes (tau0 + t)^-kappa, for step t (svi)
  double rho = 0;                       // constant step size in place of these, if above 0 (svi)
  bool adaptive = false;                // step sizes from the noise of the gradients in place of these (svi)
  bool replacement = false;             // draw items with replacement (svi)
  /// Sweeps before the first recorded draw; recorded draws of a chain (gibbs; exact has draws only).
  std::int64_t warmup = 1000, draws = 1000;
  std::int64_t thin = 1;     // sweeps for each recorded draw (gibbs)
  std::int64_t threads = 0;  // worker threads; 0: one a processor. Results do not depend on it
  std::int64_t parts =
      0;  // incremental batches of items in a sweep (runtime/inference/incremental.h); 0: chosen automatically
  /// Sweeps between ELBOs (cavi; 0: every sweep), or steps between exact ELBOs (svi; 0: at the end only).
  std::int64_t elbo_every = 0;
};

}  // namespace lehr
