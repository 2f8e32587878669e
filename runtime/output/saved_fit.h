// Reads the directory that `lehr fit` writes: fit.json (the summary), posterior.npz, trace.csv and others. fit.json is
// written last and has a checksum of every file, so a mixture of two fits is detected.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/array.h"
#include "runtime/result.h"

namespace lehr {

/// Size and checksum of a file of a fit. fit.json stores one for each other file, so that a mixture of the files of two
/// fits is detected.
struct FileDigest {
  std::uint64_t size = 0;  // number of bytes
  std::uint32_t crc = 0;   // CRC-32 of the bytes
  /// Returns true if size and checksum are equal.
  bool operator==(const FileDigest&) const = default;
};

/// A variable of a saved fit, with the parameters of its variational factor.
struct SavedVariable {
  std::string name;  // name of the variable
  /// Plates of its elements, and of its event axes; a nested plate replaces its parent.
  std::vector<std::string> axes, event;
  std::string family;  // family of the factor; may be empty
  std::string joint;   // another member of its joint factor; empty if the factor is its own
  /// Of the auxiliary variable of a joint factor: the variables in it, which have their marginals as well.
  std::vector<std::string> members;
  std::vector<NamedArray> parameters;  // arrays named "mean", "precision", without the variable; empty if not written

  /// Returns the parameter of this variable's factor with that name ("mean"), or null.
  const NamedArray* find(const std::string& parameter) const;
};

/// The outcome of one restart (independent run) of a fit.
struct SavedRestart {
  std::int64_t restart = 0, iterations = 0;  // number of the restart, from 0, and its sweeps or steps
  double elbo = 0;                           // last ELBO in nats; NaN after a numerical failure
  std::string status;                        // how it ended, such as "converged" (name_of(Status))
};

/// The rows of a nested plate as stored in fit.json, one for each element of the plate that contains it. Outputs name
/// an element of the nested plate by its row and its number in the row.
struct SavedNestedRows {
  std::string in;                     // the plate that contains it
  std::vector<std::int64_t> offsets;  // beginning of each row in the packed order, and the end of the last
  std::int64_t from = 0;              // number by which the model counts the first element of each row
};

/// Everything that is read of a saved fit. Fields are named as the keys of fit.json.
struct SavedFit {
  /// The directory that was read; then texts of fit.json: name and file of the model, command line, version of lehr,
  /// inference method, and how the best restart ended.
  std::string directory, model, model_file, command, version, method, status;
  std::string model_text;  // source of the model as it was fitted; empty if unknown
  std::string prior;       // directory of the fit whose posterior is the prior; empty if the prior is the model's
  double forget = 1;       // the power to which that posterior was taken
  std::uint64_t seed = 0;  // seed of the fit's random numbers
  std::int64_t restart = 0, iterations = 0;  // number of the restart with the highest ELBO, and its sweeps or steps
  double elbo = 0;                           // ELBO of that restart in nats; NaN if not computed
  /// The log evidence in nats, which samplers with temperatures estimate, and its standard error; NaN if not estimated.
  double log_evidence = 0, log_evidence_error = 0;
  /// Log predictive density of held-out data, nats an observation (`--test` or `lehr score`); NaN if none.
  double held_out = 0;
  double seconds = 0;                         // time of the whole fit; NaN if not recorded
  std::vector<SavedRestart> restarts;         // every restart
  std::map<std::string, std::int64_t> sizes;  // number of elements, by plate
  /// Row lengths of nested plates whose elements the data refer to, by plate.
  std::map<std::string, std::vector<std::int64_t>> rows;
  std::map<std::string, SavedNestedRows> nested;  // rows of the nested plates over which written arrays lie, by plate
  /// Constants of the model, row-major; a number is an array of one.
  std::map<std::string, std::vector<double>> constants;
  std::map<std::string, std::vector<std::string>> labels;  // names of elements, for the plates that have them
  std::map<std::string, std::vector<std::string>> words;   // the two texts that mean 0 and 1, by Bernoulli variable
  std::vector<SavedVariable> variables;                    // in the order of posterior.npz, then those without arrays
  std::string summary, trace;                              // contents of fit.json and trace.csv
  /// The column `elbo` of trace.csv; empty, as `trace` is, if the file is missing or of another fit.
  std::vector<double> elbo_trace;
  bool searched = false;     // true if the fit searched over starts: the trace has many candidates, one after another
  bool other_trace = false;  // true if trace.csv is of another fit, which is running or was killed
  std::vector<NamedArray> posterior;  // arrays of posterior.npz
  /// Arrays of items.npz, what the fit found about its items; empty if there is no such file.
  std::vector<NamedArray> items;
  /// Arrays of sds.npz, `v.sd` and `v.covariance`: corrected standard deviations; empty if there is no such file.
  std::vector<NamedArray> sds;
  std::map<std::string, FileDigest> files;  // sizes and checksums that fit.json has of the other files, by name

  /// Returns the saved variable of that name, or null.
  const SavedVariable* find(const std::string& variable) const;
};

/// Groups arrays named "variable.parameter" by variable and shortens their names to "parameter", so that the factor of
/// a variable can be found in a posterior in memory. Only the names and the parameters of the variables are set. Arrays
/// without a dot in their name are ignored.
std::map<std::string, SavedVariable> by_variable(const std::vector<NamedArray>& arrays);
/// Returns the array of that name, or null.
const NamedArray* find_array(const std::vector<NamedArray>& arrays, const std::string& name);

/// Returns size and CRC-32 of these bytes.
FileDigest file_digest(std::string_view bytes);
/// Returns size and CRC-32 of a file, which is read in pieces.
Result<FileDigest> file_digest_of(const std::string& path);

/// Makes a SavedFit of a fit that is in memory and not in a directory, from what its fit.json would contain and its
/// posterior arrays. Members that are read from other files stay empty. A key of the wrong type throws
/// nlohmann::json::exception.
SavedFit saved_fit(const nlohmann::json& summary, std::vector<NamedArray> posterior);

/// Reads the fit in a directory.
///
/// An error of ExitCode::data if there is no fit, if a file is damaged, or if posterior.npz, items.npz or sds.npz is
/// another than fit.json was written with. A trace of another fit is only noted (`other_trace`).
Result<SavedFit> read_fit(const std::string& directory);

}  // namespace lehr
