// What a fit can be told, whoever tells it: the command line and the library both fill in FitOptions.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lehr {

/// An array of the caller's, read where it is: it must live until the call that it is given to has returned. It is
/// copied twice on the way: into the order of the model, and into the memory that the generated code works on. Strided,
/// float and integer arrays become packed doubles before that, which is a third copy.
struct DataView {
  using Text = std::span<const char* const>;  // UTF-8; null, empty, NA and NaN: missing
  using Values = std::variant<std::span<const double>, std::span<const float>, std::span<const std::int64_t>,
                              std::span<const std::int32_t>, Text>;
  std::string name;                   // as in the model
  Values values;                      // NaN where missing; elements of a plate count from 0, or have names
  std::vector<std::int64_t> shape;    // plates in the model's order, then event axes; empty: a number
  std::vector<std::int64_t> strides;  // in elements; empty: row-major
  /// Ragged arrays, over a plate nested in another: row i is values[row_offsets[i]] .. values[row_offsets[i + 1] - 1],
  /// and `shape` and `strides` are empty.
  std::vector<std::int64_t> row_offsets;
};

/// Numbers have the ranges of the same options of `lehr fit`; others are an Error that says which those are.
struct FitOptions {
  enum class Method { cavi, svi, gibbs, exact };
  Method method = Method::cavi;
  /// cavi: none, or quick, full: the best of many starts, annealed. Empty: quick, but none where anything is said of
  /// starts, temperatures, sweeps or the tolerance.
  std::string search = {};
  std::string anneal = {}, temper = {};  // as for `lehr fit`: "linear:from=10,over=100", "auto"; "global:max=10"
  std::uint64_t seed = 1;
  std::int64_t restarts = 1;           // the run of the highest ELBO is kept
  std::string start = "seeds";         // or points, allocations, means, flat
  std::vector<DataView> init = {};     // factors to start from, named as in the posterior
  bool save_locals = false;            // the factors of single items, too
  std::string precision = "double";    // or float: 32 bits where items are worked on, not for gibbs and exact
  std::int64_t max_iterations = 1000;  // sweeps (cavi)
  double tolerance = 1e-8;
  std::int64_t leap_after = 20;         // sweeps before a run that creeps is moved ahead; 0: never
  std::int64_t local_iterations = 100;  // passes over the local variables of an item
  double local_tolerance = 1e-4;
  std::int64_t batch_size = 256;  // svi from here on
  double epochs = 10;
  double tau0 = 1, kappa = 0.7;              // steps (tau0 + t)^-kappa,
  double rho = 0;                            // or of this size where above 0,
  bool adaptive = false;                     // or following the noise of the gradients
  bool replacement = false;                  // items drawn with replacement
  std::int64_t warmup = 1000, draws = 1000;  // gibbs: sweeps before the draws that are kept
  std::int64_t thin = 1;                     // gibbs: sweeps for each of these
  std::int64_t threads = 0;                  // that share out the items; 0: one a processor. No number depends on it
  std::int64_t parts = 0;                    // of the items in a sweep, see Parts; 0: as many as pay
  std::int64_t elbo_every = 0;  // cavi: sweeps from one ELBO to the next, 0: one each; svi: steps between exact ELBOs,
                                // 0: noisy ones until the end
};

}  // namespace lehr
