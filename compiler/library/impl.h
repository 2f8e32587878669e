// What the values of lehr.h hold. Only compiler/library/*.cpp include this.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/fitting/fitting.h"
#include "compiler/library/lehr.h"
#include "runtime/files/labelled.h"

namespace lehr {

struct Program::Impl {
  Source source;
  model::Model resolved;
  Analysed complete;  // as if nothing were missing
  Settings settings;
  MakeInstance instance = compiled_instance;  // of predictions and scores
};

struct Fit::Impl {
  FitRun run;
  std::vector<std::string> caveats, warnings;
  std::vector<Sweep> trace;
  std::vector<double> seconds;     // since the fit began, of each row of the trace
  Settings settings;               // of data that the fit has not seen
  std::vector<NamedArray> global;  // names and values, as `run.posterior` has them
  std::optional<std::pair<double, double>> log_evidence = {};
  std::string summary = {};   // what fit.json says, without seals
  LabelledArrays draws = {};  // of a sampler
};

/// Why a fit is none of this program's model.
std::optional<Error> other_model(const Program::Impl& program, const Fit::Impl& fit);

/// What predictions and scores ask of a fit that was saved.
SavedFit saved(const Fit::Impl& fit);

/// Options have the names that they have here.
inline Error plain(Error e) { return spelled(std::move(e), ""); }

/// An Error of ExitCode::data says which view does not hold together.
Result<Dataset> dataset_of(std::span<const DataView> views);
Result<std::vector<NamedArray>> arrays_of(std::span<const DataView> views);

}  // namespace lehr
