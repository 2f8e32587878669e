// Lists of named arrays that the C interface returns. Private: only compiler/library/*.cpp include this.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compiler/library/impl.h"
#include "compiler/library/lehr_c.h"

/// A list of named arrays, behind an opaque pointer in C: the predictions, scores, draws or arrays of a fit that a call
/// returns. It owns its numbers, or shares those of a fit.
struct lehr_arrays {
  /// One named array of the list.
  struct Entry {
    std::string name;                    // name of the array, such as "mu.mean"
    std::vector<std::int64_t> shape;     // extents of its axes, outermost first
    const double* values;                // its numbers, row-major: in `owned`, or in the arrays of `fit`
    bool integer;                        // true if every value is whole, as for categories
    std::vector<std::string> plates;     // the plate of each axis, or "chain" and "draw"; empty if unknown
    std::vector<const char*> axes = {};  // `plates` as C strings, set when the list is handed out
  };
  std::vector<Entry> entries = {};  // the arrays, in order
  /// Numbers that belong to the list; a deque, so that they stay where they are.
  std::deque<std::vector<double>> owned = {};
  /// The fit whose numbers the entries point to; null: they point to `owned`.
  std::shared_ptr<const lehr::Fit::Impl> fit = {};

  /// Appends an array to the list, which takes ownership of its numbers.
  void add(std::string name, std::vector<std::int64_t> shape, std::vector<double> values, bool integer = false,
           std::vector<std::string> plates = {});
  /// Appends a named array to the list, which takes ownership of its numbers.
  void add(lehr::NamedArray a) { add(std::move(a.name), std::move(a.shape), std::move(a.values), a.integer); }
};

namespace lehr {

/// Converts predictions to the list of arrays that lehr_program_predict() returns: one for each variable and statistic,
/// such as "x.mean".
lehr_arrays to_arrays(Predictions made);
/// Converts a score to the list of arrays that lehr_program_score() returns: "total", "observations", for a chain
/// "sequences", and with densities of items "items" and "item_observations".
lehr_arrays to_arrays(HeldOutScore made);

/// Returns the parameters of a fit's factors as a list of arrays named as in posterior.npz, without copying numbers
/// (lehr_fit_arrays).
Result<lehr_arrays> posterior_arrays(const Fit& fit);
/// Returns what `lehr show` prints of a fit as arrays: "VARIABLE.mean", ".sd", ".q5", ".q50" and ".q95" of every
/// variable that its posterior has, and for vectors with linear response ".covariance" (lehr_fit_arrays). Members of a
/// joint factor have theirs; the joint variable has none.
Result<lehr_arrays> number_arrays(const Fit& fit);
/// Returns a table of many fits, a column an array over the data sets: status, ELBO, sweeps, number of warnings, then
/// mean and standard deviation of each number of the posterior (lehr_fits_table).
Result<lehr_arrays> table_of(const std::vector<Result<Fit>>& fits);
/// Returns the columns of a fit's trace, with a row for each sweep: iteration, seconds, elbo, temperature, objective
/// (lehr_fit_arrays).
Result<lehr_arrays> trace_arrays(const Fit& fit);
/// Returns draws of every variable of a fit as arrays over chain, draw and its axes: those of a sampler, otherwise
/// `draws` new ones from the factors, as one chain (lehr_fit_arrays).
Result<lehr_arrays> drawn_arrays(const Fit& fit, std::int64_t draws, std::uint64_t seed);

}  // namespace lehr
