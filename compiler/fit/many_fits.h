// Fits of one model to many data sets, in parallel, and their numbers as a table with a row for each.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/fit/whole_fit.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The data sets of fit_many(), which are read one by one.
struct ManyData {
  std::size_t count = 0;  // number of data sets
  /// Returns data set k, or the error that becomes the result of its fit. It is called once for each, on any thread, in
  /// no order.
  std::function<Result<Dataset>(std::size_t k)> read = {};
};

/// The callbacks of fit_many(): they receive the fits, and can end all of them.
struct ManyResults {
  /// Receives the fit of a data set, or its error, on the thread that made it; must not be null. Several threads may
  /// call it at a time.
  std::function<void(std::size_t k, Result<WholeFit> fit)> put = {};
  /// Receives each data set after it is bound to the model and before the model is compiled, on the same thread; may be
  /// null.
  std::function<void(std::size_t k, const BoundModel& bound)> on_bound = {};
  /// Returns false to end all fits. It is called on the caller's thread, every 50 ms at most; may be null.
  std::function<bool()> goes_on = {};
};

/// Fits all data sets, several at a time on `threads` threads (0: one a processor), with one cache for all. Each fit
/// has the bits of fit_whole() for its data alone. A data set that cannot be fitted has an error and leaves the others
/// as they are. Once `goes_on` has returned false, fits that have begun end as interrupted, and the others are not
/// begun: `put` is not called for them. `task.how.threads` and `task.how.cache` are not used.
void fit_many(const FitTask& task, const ManyData& data, std::size_t threads, const ManyResults& results);

/// A number of a posterior, for tables with a row for each fit: its name, such as "a" or "w[2]", its mean and its
/// standard deviation. A category of a variational fit has a number for each of its values, with the probability as the
/// mean.
struct PosteriorNumber {
  std::string name;         // name of the variable, with indices
  double mean = 0, sd = 0;  // mean and standard deviation; NaN where there is none
};

/// Variables with more numbers than this are left out of tables with a row for each fit.
inline constexpr std::size_t kMostTabledNumbers = 32;

/// Returns the numbers of all variables of a fit for a row of a table, in the order of its posterior, without variables
/// of more than kMostTabledNumbers and joint ones, whose members are there. Indices are labels, or numbers as the model
/// counts them.
std::vector<PosteriorNumber> tabled_numbers(const SavedFit& fit);

}  // namespace lehr
