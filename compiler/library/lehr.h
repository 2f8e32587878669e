// Lehr as a library: models are compiled in this process and fitted to data in memory.
//
//   lehr::Compilation c = lehr::compile(text, {.constants = {{"K", 3}}});
//   if (!c) return complain(c.messages);
//   lehr::Result<lehr::Fit> fit = c.program->fit({{lehr::matrix("x", points)}});
//   if (!fit) return complain(fit.error());
//   for (double m : fit->find("mu.mean")->values) ...
//
// A user's mistake is a value: of the model, a Message; of data and options, an Error. Exceptions are left for memory
// that has run out and faults of Lehr itself. There is no global state: programs and fits belong to whoever holds them,
// and different threads may compile, and fit one and the same Program, at the same time.
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

/// What the compiler says of a model.
struct Message {
  enum class Severity { error, warning };
  struct Note {
    std::string text;
    int line = 0, column = 0;  // 0: nowhere in particular
  };
  Severity severity = Severity::error;
  std::string kind;  // stable name: "unknown_name"
  std::string text;
  int line = 0, column = 0;          // of its first character, from 1; columns count code points
  int end_line = 0, end_column = 0;  // just behind its last one
  std::vector<Note> notes;
};

/// An array of one axis, or of the given ones.
inline DataView view(std::string name, DataView::Values values, std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) std::visit([&](auto s) { shape = {static_cast<std::int64_t>(s.size())}; }, values);
  return {std::move(name), values, std::move(shape), {}, {}};
}

/// Rows end to end: row_offsets has one entry more than there are rows.
inline DataView ragged(std::string name, DataView::Values values, std::vector<std::int64_t> row_offsets) {
  return {std::move(name), values, {}, {}, std::move(row_offsets)};
}

/// A matrix or vector of Eigen (Map and Block as well), rows first whatever its storage order is.
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

struct CompileOptions {
  std::string name = "model";                                   // of the source, for messages
  std::map<std::string, double> constants = {};                 // K = 50
  std::map<std::string, std::int64_t> sizes = {};               // of plates that the data do not size
  std::map<std::string, std::vector<std::string>> labels = {};  // names of a plate's elements
};

/// What is known after a sweep, or a step of svi.
struct Sweep {
  std::int64_t restart = 0, iteration = 0;
  double elbo = 0;  // nats, at temperature 1; not a number after sweeps without (FitOptions::elbo_every)
  double temperature = 1;
  double objective = 0;  // of that temperature
};

/// Called after every sweep, by the thread that fits; false cancels the fit, which then returns what it has.
using Callback = std::function<bool(const Sweep&)>;

enum class FitStatus { converged, max_iter, numerical_failure, interrupted };

/// A posterior parameter: "mu.mean", row-major, plates first. As long as its Fit lives.
struct PosteriorArray {
  std::string_view name;
  std::span<const std::int64_t> shape;
  std::span<const double> values;
};

struct PredictOptions {
  std::int64_t draws = 1000;  // for what has no closed form
  std::uint64_t seed = 1;     // of the draws
  std::int64_t local_iterations = 1000;
  double local_tolerance = 1e-6;
  /// Sizes of plates that the data do not show, and elements beyond those of the fit (or of the data).
  std::map<std::string, std::int64_t> sizes = {}, more = {};
};

/// "x.mean", row-major over the axes of x, as in the NPZ of `lehr predict`; NaN where nothing is predicted.
struct PredictedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool integer = false;  // of every value: those of a category
};

struct Predictions {
  std::vector<PredictedArray> arrays;
  std::int64_t draws = 0;          // that were made; 0: all of it is exact
  std::vector<std::string> notes;  // of elements that the fit has not seen

  /// The array of that name, or null.
  const PredictedArray* find(std::string_view name) const {
    for (const PredictedArray& a : arrays)
      if (a.name == name) return &a;
    return nullptr;
  }
};

struct HeldOutScore {
  double total = 0;  // nats
  double observations = 0;
  std::vector<double> sequences = {};  // of a model with a chain: the part of each sequence
  double standard_error = 0;           // of a total that is estimated by draws; 0: it is not
};

/// The result of a fit. Copies share the arrays, which never change.
class Fit {
 public:
  FitStatus status() const;
  const std::string& failure() const;  // numerical_failure: what happened
  double elbo() const;                 // nats, every constant in it but those of elbo_caveats
  const std::vector<std::string>& elbo_caveats() const;
  std::int64_t iterations() const;
  std::int64_t restart() const;  // the one that was kept, from 0
  double temperature() const;    // 1; tempered: at the end of the tempering phase
  /// Method gibbs with `temper`: the log evidence and its standard error.
  std::optional<std::pair<double, double>> log_evidence() const;
  const std::vector<Sweep>& trace() const;
  /// What deserves a look: an ELBO that fell, equal components, a temperature that stays high, restarts that failed.
  const std::vector<std::string>& warnings() const;

  std::vector<PosteriorArray> posterior() const;
  std::optional<PosteriorArray> find(std::string_view name) const;
  /// An .npz that NumPy reads, and `--init` of `lehr fit`.
  Result<bool> save(const std::string& path) const;
  /// The directory that `lehr fit` would have written, for every command that takes one. ExitCode::usage for a fit by
  /// sampling, whose draws it would not have.
  Result<bool> write(const std::string& directory) const;

  struct Impl;
  explicit Fit(std::shared_ptr<const Impl> impl);
  const Impl& impl() const { return *impl_; }
  const std::shared_ptr<const Impl>& shared() const { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A model that is well. Copies share what was compiled.
class Program {
 public:
  const std::string& name() const;  // of the model
  /// The data that it needs, and its posterior parameters' variables.
  std::vector<std::string> data_names() const;
  std::vector<std::string> latent_names() const;

  /// Generates code for the sizes of the data, and runs it.
  Result<Fit> fit(std::span<const DataView> data, const FitOptions& options = {}, const Callback& callback = {}) const;

  /// `lehr update`: a fit of new data with the posterior of an earlier fit as the prior, to the power `forget`, in
  /// (0, 1]. ExitCode::data or model where a factor is no prior.
  Result<Fit> update(const Fit& prior, std::span<const DataView> data, double forget = 1,
                     const FitOptions& options = {}, const Callback& callback = {}) const;

  /// What `lehr fit` or Fit::write() have written of a fit of this model. ExitCode::data where that is not there,
  /// damaged, of another model, or by sampling.
  Result<Fit> load(const std::string& directory) const;

  /// The factors of new items with the global ones as they were fitted: what `data` are about is not learnt from them.
  /// All factors are in the result.
  Result<Fit> infer(const Fit& fit, std::span<const DataView> data) const;

  /// Log predictive density of data that the fit has not seen, as `lehr score` has it. `holdout`: the part of each
  /// item's observations that is scored where items have continuous variables of their own (0.5 if not given), such as
  /// the topics of a document, which are inferred from the rest.
  Result<HeldOutScore> score(const Fit& fit, std::span<const DataView> data,
                             std::optional<double> holdout = std::nullopt, std::uint64_t seed = 1) const;

  /// What is missing in the data (NaN, or observed variables that are not there), local variables and what the fit has
  /// not seen, as `lehr predict` has them, number for number. Not from fits by sampling.
  Result<Predictions> predict(const Fit& fit, std::span<const DataView> data, const PredictOptions& options = {}) const;

  // The same with data in braces: fit({{view("x", numbers)}}).
  using Views = std::initializer_list<DataView>;
  Result<Fit> fit(Views data, const FitOptions& options = {}, const Callback& callback = {}) const {
    return fit(std::span(data.begin(), data.size()), options, callback);
  }
  Result<Fit> infer(const Fit& f, Views data) const { return infer(f, std::span(data.begin(), data.size())); }
  Result<HeldOutScore> score(const Fit& f, Views data) const { return score(f, std::span(data.begin(), data.size())); }
  Result<Predictions> predict(const Fit& f, Views data, const PredictOptions& options = {}) const {
    return predict(f, std::span(data.begin(), data.size()), options);
  }

  struct Impl;
  explicit Program(std::shared_ptr<const Impl> impl);
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

struct Compilation {
  std::optional<Program> program;  // nothing when a message is an error
  std::vector<Message> messages;   // by place
  std::string text;                // the messages as the command line shows them, with the lines of the source

  explicit operator bool() const { return program.has_value(); }
};

/// Parses, checks and derives. `source` is the text of a model, UTF-8.
Compilation compile(std::string_view source, CompileOptions options = {});

/// Of the library that is linked: "0.1.0".
std::string_view version();

}  // namespace lehr
