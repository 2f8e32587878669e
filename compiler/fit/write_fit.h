// Writes the files of a fit as a unit. Each file is written beside its destination; all are renamed at the end. If the
// disk is full, or the process ends, the files of an earlier fit stay. fit.json records size and CRC-32 of the others,
// so that a reader notices a mixture of two fits.
//
// The files are the rows of runtime/output/fit_files.def, each with a function that writes it. docs/extending.md says
// how to add one.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "compiler/fit/chains.h"
#include "compiler/fit/fitting.h"
#include "runtime/result.h"

namespace lehr {

/// Formats the contents of fit.json as indented text. Bytes in paths and names that are not UTF-8 are replaced.
std::string text_of(const nlohmann::json& summary);

/// What the files of a fit are made from: write_fit() and the writer of each file read it.
struct FitOutput {
  nlohmann::json summary;              // the contents of fit.json, without checksums of the other files
  const FitRun& run;                   // the best run
  const Fitting* fitting = nullptr;    // the model with its data; null for a fit of the library, which has dropped them
  const DrawnChains* drawn = nullptr;  // the draws of a sampler, then `fitting` is not null; null: there are none

  /// Returns true if the fit ended in a numerical failure. Its arrays may have numbers that are not finite.
  bool failed() const;
  /// Returns true if the method draws samples, so that the posterior has moments and no factors. If no draw was made,
  /// `drawn` is null nevertheless.
  bool sampled() const;
};

/// Adds a file with these bytes to those that are written as a unit. Its name is that of the table's row; if the name
/// has a number, each further call adds one more file (numbered_name). The value is always true.
using AddFile = std::function<Result<bool>(std::string_view bytes)>;

// The writers of the table, a function each. It calls `add` with the bytes of its file; where a fit does not have this
// file, it does nothing. The value is always true. Its source file is in this folder.
#define FIT_FILE(constant, name, presence, writer, description) \
  Result<bool> writer(const FitOutput& fit, const AddFile& add);
#include "runtime/output/fit_files.def"

/// Writes all files of a fit into a directory, which must exist and have the trace.csv of the fit, and then renames
/// them to their destinations. The value is always true.
Result<bool> write_fit(const std::string& directory, FitOutput fit);

}  // namespace lehr
