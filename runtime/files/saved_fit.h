// A directory written by `lehr fit`, read back: fit.json, posterior.npz, trace.csv.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/array.h"
#include "runtime/result.h"

namespace lehr {

/// What fit.json says of a file beside it, so that files of different fits are not taken for one.
struct FileSeal {
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  bool operator==(const FileSeal&) const = default;
};

struct SavedVariable {
  std::string name;
  std::vector<std::string> axes, event;  // plates; of a nested plate's parent no array has an axis of its own
  std::string family;                    // of the factor; may be empty
  std::string joint;                     // the other member of a joint factor, or empty
  std::vector<std::string> members;      // of a joint variable, whose numbers it has; each has its marginal, too
  std::vector<NamedArray> parameters;    // named without the variable: "mean", "precision"; empty: not written

  /// The parameter of that name, or null.
  const NamedArray* find(const std::string& parameter) const;
};

struct SavedRestart {
  std::int64_t restart = 0, iterations = 0;
  double elbo = 0;  // NaN after a numerical failure
  std::string status;
};

/// Where the rows of a nested plate begin, and the last one ends; a row for each element of the plate that it is in.
struct SavedRows {
  std::string in;
  std::vector<std::int64_t> offsets;
  std::int64_t from = 0;  // the number of the first element of each row
};

struct SavedFit {
  std::string directory, model, model_file, command, version, method, status;
  std::string model_text;  // as it was fitted; empty: not known
  std::string prior;       // directory of the fit whose posterior is the prior,
  double forget = 1;       // to this power; empty: the prior is that of the model
  std::uint64_t seed = 0;
  std::int64_t restart = 0, iterations = 0;
  double elbo = 0;
  double log_evidence = 0, log_evidence_error = 0;  // NaN: not found
  double held_out = 0;                              // nats an observation of --test, or else of `lehr score`; NaN: none
  double seconds = 0;                               // of the fit as a whole; NaN: not told
  std::vector<SavedRestart> restarts;
  std::map<std::string, std::int64_t> sizes;               // by plate
  std::map<std::string, std::vector<std::int64_t>> rows;   // their lengths, by nested plates whose elements data name
  std::map<std::string, SavedRows> nested;                 // of nested plates that what is written lies on
  std::map<std::string, std::vector<double>> constants;    // a number is an array of one, arrays are row-major
  std::map<std::string, std::vector<std::string>> labels;  // by plate; only plates that have them
  std::map<std::string, std::vector<std::string>> words;   // that are 0 and 1, by Bernoulli variable
  std::vector<SavedVariable> variables;                    // as in posterior.npz, then those without arrays
  std::string summary, trace;                              // fit.json and trace.csv as they were when they were read
  std::vector<double> elbo_trace;         // empty, as `trace` is, when there is no trace.csv, or one of another fit
  bool searched = false;                  // the trace has many arms, one after another
  bool other_trace = false;               // there is one of another fit, which is running or was killed
  std::vector<NamedArray> posterior;      // posterior.npz as it is
  std::vector<NamedArray> items;          // items.npz: what the fit found of its items; empty: it says nothing of them
  std::map<std::string, FileSeal> files;  // by name, of the files beside fit.json

  const SavedVariable* find(const std::string& variable) const;
};

/// Arrays named "variable.parameter", by variable.
std::map<std::string, SavedVariable> by_variable(const std::vector<NamedArray>& arrays);

FileSeal seal_of(std::string_view bytes);
/// Read piece by piece.
Result<FileSeal> seal_of_file(const std::string& path);

/// A fit that is in memory: the text of its fit.json and its posterior. The text is well-formed.
SavedFit saved_fit(std::string_view summary, std::vector<NamedArray> posterior);

/// ExitCode::data when the directory is not that of a fit, a file of it is damaged, or posterior.npz is not
/// the one that fit.json belongs to: fit.json is written last, after posterior.npz and trace.csv, and has
/// their seals under "files".
Result<SavedFit> read_fit(const std::string& directory);

}  // namespace lehr
