// Lehr as a library: models are compiled in this process and fitted to data in memory.
//
//   lehr::Compilation c = lehr::compile(text, {.constants = {{"K", 3}}});
//   if (!c) return complain(c.messages);
//   lehr::Result<lehr::Fit> fit = c.program->fit({{lehr::matrix("x", points)}});
//   if (!fit) return complain(fit.error());
//   for (double m : fit->find("mu.mean")->values) ...
//
// Mistakes of the user are values: a Message about the model, an Error about data and options. Exceptions are left for
// exhausted memory and bugs of Lehr. There is no global state. Different threads may compile, and fit the same Program,
// at the same time.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/options/fit_options.h"
#include "runtime/result.h"

namespace lehr {

/// An error or warning of the compiler about a model.
struct Message {
  /// How serious a message is: an error prevents compilation, a warning does not.
  enum class Severity { error, warning };
  /// A note that belongs to the message, possibly with its own location.
  struct Note {
    std::string text;          // the note, one sentence
    int line = 0, column = 0;  // its place in the source, from 1; 0 if it has no location
  };
  Severity severity = Severity::error;  // whether it is an error or a warning
  std::string kind;                     // stable identifier of the kind of message: "unknown_name"
  std::string text;                     // what is wrong, one sentence
  int line = 0, column = 0;             // place of the first character in the source, from 1; columns count code points
  int end_line = 0, end_column = 0;     // place one past the last character
  std::vector<Note> notes;              // notes on the message: remedies and related locations
};

/// Returns a view of the caller's array as data of that name, with one axis, or with the given shape, row-major.
inline DataView view(std::string name, DataView::Values values, std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) std::visit([&](auto s) { shape = {static_cast<std::int64_t>(s.size())}; }, values);
  return {std::move(name), values, std::move(shape), {}, {}};
}

/// Returns a view of a ragged array as data of that name, rows end to end: values of a nested plate. `row_offsets` has
/// one entry more than there are rows, from 0.
inline DataView ragged(std::string name, DataView::Values values, std::vector<std::int64_t> row_offsets) {
  return {std::move(name), values, {}, {}, std::move(row_offsets)};
}

/// Returns a view of an Eigen matrix or vector (Map and Block as well), in place. Axes are rows, then columns, whatever
/// the storage order.
template <class M>
requires requires(const M& m) { m.data(), m.rows(), m.cols(), m.rowStride(), m.colStride(); }
DataView matrix(std::string name, const M& m) {
  const std::int64_t rows = m.rows(), columns = m.cols(), down = m.rowStride(), across = m.colStride();
  const std::size_t reach =
      rows * columns == 0 ? 0 : static_cast<std::size_t>((rows - 1) * down + (columns - 1) * across + 1);
  DataView out{std::move(name), std::span(m.data(), reach), {rows, columns}, {down, across}, {}};
  if constexpr (M::IsVectorAtCompileTime) {
    out.shape = {rows * columns};
    out.strides = {M::RowsAtCompileTime == 1 ? across : down};
  }
  return out;
}

/// Settings with which a model is compiled.
struct CompileOptions {
  std::string name = "model";                      // name of the source in messages and fits
  std::map<std::string, double> constants = {};    // values of the model's constants: {"K", 50}
  std::map<std::string, std::int64_t> sizes = {};  // numbers of elements of plates that the data do not size
  /// Names of the elements, by plate, for data that name them by text.
  std::map<std::string, std::vector<std::string>> labels = {};
};

/// The state of a fit after a sweep, a step of svi, or a draw of exact sampling, as callbacks and the trace have it.
struct Sweep {
  /// The restart, from 0, and the sweep, step or draw in it, from 1. Iteration 0 is the start; it is reported if the
  /// limit of iterations is 0.
  std::int64_t restart = 0, iteration = 0;
  /// The ELBO at temperature 1, in nats; of samplers the log joint density of the state. Steps of svi mostly have an
  /// estimate. NaN if this sweep did not compute it (FitOptions::elbo_every).
  double elbo = 0;
  double temperature = 1;  // temperature of annealing or tempering; 1 without
  double objective = 0;    // nats; what a sweep at this temperature maximises: the ELBO at temperature 1
};

/// A function that is called after every sweep, step or draw, on the thread that fits. It returns false to cancel the
/// fit, which then returns what it has.
using Callback = std::function<bool(const Sweep&)>;

/// How a fit ended: `converged`; `max_iter`, it reached its limit of iterations; `numerical_failure`, see
/// Fit::failure(); `interrupted`, the callback cancelled it.
enum class FitStatus { converged, max_iter, numerical_failure, interrupted };

/// A view of a parameter of the posterior, such as "mu.mean": row-major, plates first. It is valid as long as its Fit
/// lives.
struct PosteriorArray {
  std::string_view name;                // name of the variable and the parameter: "mu.mean"
  std::span<const std::int64_t> shape;  // extents, outermost first
  std::span<const double> values;       // all numbers, row-major
};

/// Options of a prediction.
struct PredictOptions {
  std::int64_t draws = 1000;             // Monte Carlo draws, where a prediction has no closed form
  std::uint64_t seed = 1;                // seed of these draws, and of the starts of new items
  std::int64_t local_iterations = 1000;  // most passes over the local variables of a new item
  double local_tolerance = 1e-6;         // relative change below which they have converged
  /// Numbers of elements, by plate. `sizes` are those of plates that the data do not size. `more` counts elements
  /// beyond those of the fit or of the data, such as years to forecast.
  std::map<std::string, std::int64_t> sizes = {}, more = {};
};

/// An array of a prediction, such as "x.mean": row-major over the axes of x, as in the file of `lehr predict`. Entries
/// are NaN where nothing is predicted, or -1 in "z.most_probable" and "z.path" of a category.
struct PredictedArray {
  std::string name;                 // name of the variable and the statistic: "x.mean"
  std::vector<std::int64_t> shape;  // extents, outermost first
  std::vector<double> values;       // all numbers, row-major
  bool integer = false;             // true if every value is whole, as in "z.most_probable"
};

/// The result of Program::predict(): arrays, and notes on them.
struct Predictions {
  std::vector<PredictedArray> arrays;  // one for each predicted variable and statistic
  std::int64_t draws = 0;              // draws that were made; 0 if everything is exact
  std::vector<std::string> notes;      // about elements that the fit does not have, and about what is not predicted
  std::vector<std::string> warnings;   // about numbers that leave their range, one line each

  /// Returns the predicted array of that name ("x.mean"), or null.
  const PredictedArray* find(std::string_view name) const {
    for (const PredictedArray& a : arrays)
      if (a.name == name) return &a;
    return nullptr;
  }
};

/// The result of Program::score(): the log predictive density of held-out data, in nats, summed over all scored
/// observations. Divide `total` by `observations` for the score of one observation.
struct HeldOutScore {
  double total = 0;         // log density of all scored observations, in nats
  double observations = 0;  // number of observations scored, multiplicities counted
  /// With `per_item`: the log density of each item in nats, and how many observations of it were scored. Else empty.
  std::vector<double> items = {}, item_observations = {};
  std::vector<double> sequences = {};  // for a model with a chain: the contribution of each sequence, in nats
  double standard_error = 0;           // standard error of `total`, in nats, if draws estimate it; otherwise 0
};

/// The result of a fit. Copies share the arrays, which never change.
class Fit {
 public:
  /// Returns how the fit ended.
  FitStatus status() const;
  /// Returns what went wrong if the status is numerical_failure; otherwise empty.
  const std::string& failure() const;
  /// Returns the ELBO of the best run in nats. All constants are included except those that elbo_notes() mentions.
  double elbo() const;
  /// Returns notes on how the ELBO differs from the exact one: local bounds (logistic links, softmax, absolute values),
  /// and the constant that improper priors lack. Mostly empty.
  const std::vector<std::string>& elbo_notes() const;
  /// Returns the number of sweeps or steps of the best run.
  std::int64_t iterations() const;
  /// Returns which restart was the best, from 0.
  std::int64_t restart() const;
  /// Returns the temperature at the end of the tempering phase of a tempered fit; 1 for other fits.
  double temperature() const;
  /// Returns the estimated log evidence and its standard error, in nats. Nothing except for method gibbs with `temper`,
  /// and nothing if some values of latent variables are observed.
  std::optional<std::pair<double, double>> log_evidence() const;
  /// Returns the sweeps of the best run, in order. Empty for a fit from Program::infer(), and for a loaded one without
  /// its trace.
  const std::vector<Sweep>& trace() const;
  /// Returns warnings about the data, the best run (such as an ELBO that fell, equal components, a temperature that
  /// stays high) and restarts that failed. Empty for fits from Program::infer().
  const std::vector<std::string>& warnings() const;

  /// Returns views of all parameters of the posterior, such as "mu.mean". Parameters of local variables are among them
  /// only with FitOptions::save_locals, for a fit from Program::infer(), or if all variables are local.
  std::vector<PosteriorArray> posterior() const;
  /// Returns a view of the posterior parameter of that name ("mu.mean"), or nothing.
  std::optional<PosteriorArray> find(std::string_view name) const;
  /// Writes the posterior as an .npz file that NumPy and `--init` of `lehr fit` read. The value is always true.
  Result<bool> save(const std::string& path) const;
  /// Writes the directory that `lehr fit` would have written, for every command that reads one, such as `lehr predict`.
  /// An error of ExitCode::usage for a fit by sampling, whose draws are not stored. The value is always true.
  Result<bool> write(const std::string& directory) const;

  /// Private state (impl.h).
  struct Impl;
  /// Makes a fit from its private state; for the library itself.
  explicit Fit(std::shared_ptr<const Impl> impl);
  /// Returns the private state; for the library itself.
  const Impl& impl() const { return *impl_; }
  /// Returns the shared private state; for the library itself.
  const std::shared_ptr<const Impl>& shared() const { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A model without errors, ready to be fitted. Copies share the compiled state.
///
/// `data` of its functions are all arrays that the model reads, arrays of constants (`const w[k];`) among them. Where a
/// fit is used (predict, score, infer, update), an array of constants that is left out has the values of the fit. One
/// over a plate of the observations has to be given again, because those values belong to the old observations. Arrays
/// that the model declares by `data`, and observed variables, are never taken from the fit.
class Program {
 public:
  /// Returns the name of the model.
  const std::string& name() const;
  /// Returns the names of the data that the model needs: inputs and observed variables.
  std::vector<std::string> data_names() const;
  /// Returns the names of the latent variables of the model's text, which a fit infers.
  std::vector<std::string> latent_names() const;

  /// Fits the model to data: generates code for their sizes, and runs the method in `options` from one or several
  /// starts. The best run is the result. `callback` is called after every sweep, and may cancel the fit. A run that
  /// fails numerically is a Fit with FitStatus::numerical_failure, and an Error only if it does not even start.
  Result<Fit> fit(std::span<const DataView> data, const FitOptions& options = {}, const Callback& callback = {}) const;

  /// Fits the model to many data sets, several at a time on `options.threads` threads; what is compiled for one serves
  /// the others. Each result is that of fit() for the data set, or its error. The Error of the whole says what is wrong
  /// with the options. `goes_on` is called on this thread, at most once in 50 ms; it returns false to end all fits.
  /// Those that had not begun then have an error of ExitCode::usage.
  Result<std::vector<Result<Fit>>> fit_many(std::span<const std::vector<DataView>> datasets,
                                            const FitOptions& options = {},
                                            const std::function<bool()>& goes_on = {}) const;

  /// Fits new data with the posterior of an earlier fit as the prior, as `lehr update` does. The posterior is taken to
  /// the power `forget`, in (0, 1]. The fit starts from the factors of `prior`, which replace those of equal names in
  /// `options.init`. ExitCode::model if a factor cannot be a prior, ExitCode::data if the fit is one of
  /// another model, ExitCode::usage for other values of `forget`; otherwise errors are those of fit().
  Result<Fit> update(const Fit& prior, std::span<const DataView> data, double forget = 1,
                     const FitOptions& options = {}, const Callback& callback = {}) const;

  /// Reads a fit of this model from the directory that `lehr fit` or Fit::write() wrote. ExitCode::data if it is
  /// missing, damaged, of a model with another name, or by sampling.
  Result<Fit> load(const std::string& directory) const;

  /// Infers the factors of new items, with the global factors fixed as fitted: the topics of new documents, for
  /// example. The result has all factors; its ELBO is that of the new data with these factors. `fit` is not changed.
  Result<Fit> infer(const Fit& fit, std::span<const DataView> data) const;

  /// Computes the log predictive density of data that the fit has not seen, as `lehr score` does.
  ///
  /// Items may have continuous variables of their own, such as the topics of a document. These are inferred from a part
  /// of each item's observations, and the rest is scored. `holdout` is the proportion that is scored (default 0.5); for
  /// other models it is an error. With `per_item`, the result has the density of each item, too.
  Result<HeldOutScore> score(const Fit& fit, std::span<const DataView> data,
                             std::optional<double> holdout = std::nullopt, std::uint64_t seed = 1,
                             bool per_item = false) const;

  /// Predicts what is missing in the data (NaN, or observed variables that are absent), local variables, and elements
  /// that the fit does not have. Results equal those of `lehr predict`. Fits by sampling are refused.
  Result<Predictions> predict(const Fit& fit, std::span<const DataView> data, const PredictOptions& options = {}) const;

  /// Data in braces, as in fit({{view("x", numbers)}}). The overloads with this type accept it.
  using Views = std::initializer_list<DataView>;
  /// Fits the model to data in braces: fit({{view("x", numbers)}}).
  Result<Fit> fit(Views data, const FitOptions& options = {}, const Callback& callback = {}) const {
    return fit(std::span(data.begin(), data.size()), options, callback);
  }
  /// Infers the factors of new items from data in braces: infer(f, {{view("x", numbers)}}). Global factors stay fixed.
  Result<Fit> infer(const Fit& f, Views data) const { return infer(f, std::span(data.begin(), data.size())); }
  /// Computes the log predictive density of data in braces, with the defaults of all options.
  Result<HeldOutScore> score(const Fit& f, Views data) const { return score(f, std::span(data.begin(), data.size())); }
  /// Predicts what is missing in data in braces: predict(f, {{view("x", numbers)}}).
  Result<Predictions> predict(const Fit& f, Views data, const PredictOptions& options = {}) const {
    return predict(f, std::span(data.begin(), data.size()), options);
  }

  /// Private state (impl.h).
  struct Impl;
  /// Makes a program from its private state; for the library itself.
  explicit Program(std::shared_ptr<const Impl> impl);
  /// Returns the private state; for the library itself.
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// The result of compile(): a program, or errors of the model's text; and warnings.
struct Compilation {
  std::optional<Program> program;  // nothing if a message is an error
  std::vector<Message> messages;   // all messages, in the order of their places in the source
  std::string text;                // all messages as the command line prints them; empty if there are none

  /// Returns true if compilation succeeded, so that there is a program.
  explicit operator bool() const { return program.has_value(); }
};

/// Compiles a model: parses and checks the text `source` in UTF-8, and derives its updates. Machine code is generated
/// later, by Program::fit().
Compilation compile(std::string_view source, CompileOptions options = {});

/// Returns the version of the linked library, such as "0.1.0".
std::string_view version();

}  // namespace lehr
