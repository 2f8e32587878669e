// The private state of the classes in lehr.h. Only compiler/library/*.cpp include this.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/fit/fitting.h"
#include "compiler/library/lehr.h"
#include "runtime/files/labelled.h"

namespace lehr {

/// The private state of a Program: the compiled model and its settings.
struct Program::Impl {
  Source source;          // name and text of the model, for messages and fit.json
  model::Model resolved;  // the model of the text, without auxiliary variables
  Analysed complete;      // its analysis for data without missing values
  Settings settings;      // constants, sizes and labels with which data are bound
  /// Makes the engine of predictions and scores: compiled code, or that of a built object.
  MakeInstance instance = compiled_instance;
  /// A cache of program_of(*this, fit): this program with the joint factors and the links that a fit has. The keys are
  /// the names of those arrays of the fit that belong to no variable of this program, and a mark for expectations of
  /// links.
  struct OfFits {
    std::mutex mutex;                                                            // guards `programs`
    std::map<std::set<std::string>, std::shared_ptr<const Impl>> programs = {};  // the programs, by key
  };
  std::shared_ptr<OfFits> of_fits = std::make_shared<OfFits>();  // shared by copies of this state
};

/// The private state of a Fit: the best run and what is reported of it.
struct Fit::Impl {
  FitRun run;                                     // the best run, with its posterior
  std::vector<std::string> elbo_notes, warnings;  // how the ELBO differs from the exact one; warnings, one line each
  std::vector<Sweep> trace;                       // the sweeps of the best run
  std::vector<double> seconds;                    // seconds from the start of the fit to each row of the trace
  Settings settings;                              // constants, sizes and labels of the fit, for new data
  std::vector<NamedArray> global;                 // parameters of the factors of global variables
  /// Log evidence and its standard error, in nats; of parallel tempering only.
  std::optional<std::pair<double, double>> log_evidence = {};
  nlohmann::json summary = {};  // contents of fit.json, without checksums; null for the state of a built object
  LabelledArrays draws = {};    // draws of a sampler; no groups for other methods
};

/// Returns an error if the fit is not one of this program's model, before it is used for predictions, scores or
/// updates: their variables or plates differ. The state of a built object, which has no summary, is not examined.
std::optional<Error> model_mismatch(const Program::Impl& program, const Fit::Impl& fit);

/// Returns the program with the guide of the fit, so that it reads the fit's factors: its joint factors, and
/// expectations of links if it took them (with_guide_of). Fits with the same factors share it, unless a factor has a
/// sparse precision. Several threads may call this.
std::shared_ptr<const Program::Impl> program_of(const Program::Impl& program, const Fit::Impl& fit);

/// Converts a fit in memory to a SavedFit, the form in which predictions and scores read fits.
SavedFit as_saved_fit(const Fit::Impl& fit);

/// Formats a warning with its notes as one line, as users of the library get it: "text (note; note)".
std::string line_of(const Diagnostic& warning);
/// Returns the error with options spelled as in this library, without dashes.
inline Error without_option_prefix(Error e) { return with_option_prefix(std::move(e), ""); }

/// Converts the caller's views of data to data arrays, for a fit. A view whose shape, strides or offsets do not fit its
/// values is an error of ExitCode::data.
Result<Dataset> dataset_of(std::span<const DataView> views);
/// Converts the caller's views of data to data arrays, and adds the arrays of constants that they lack, with the values
/// of the fit, so that predictions and scores need only the new data. A view that does not fit its values is an error
/// of ExitCode::data.
Result<Dataset> dataset_with_constants(std::span<const DataView> views, const Program::Impl& program,
                                       const Fit::Impl& fit);
/// Converts views to named arrays of numbers, for the factors that a fit starts from (FitOptions::init). Ragged arrays
/// and text are errors.
Result<std::vector<NamedArray>> arrays_of(std::span<const DataView> views);

}  // namespace lehr
