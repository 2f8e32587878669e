// Reads a fit's directory. Keys that fit.json lacks keep their defaults; keys of another type are errors.
#include "runtime/output/saved_fit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/files/atomic_file.h"
#include "runtime/files/npy.h"
#include "runtime/files/random_access_file.h"
#include "runtime/files/readers.h"
#include "runtime/files/zip.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SavedVariable, axes, event, family, joint, members)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SavedRestart, restart, iterations, status)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SavedNestedRows, in, offsets, from)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SavedFit, model, model_file, model_text, command, version, method,
                                                status, seed, restart, iterations, sizes, rows, nested, labels, words)

namespace {

using nlohmann::json;

/// Returns a number, or NaN for null, since JSON has no NaN.
double number(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

/// Converts the contents of fit.json.
SavedFit read_summary(const json& j) {
  SavedFit fit = j.get<SavedFit>();
  fit.elbo = number(j.value("elbo", json()));
  fit.searched = j.contains("search");
  const json sampling = j.value("sampling", json::object());
  fit.log_evidence = number(sampling.value("log_evidence", json()));
  fit.log_evidence_error = number(sampling.value("log_evidence_error", json()));
  fit.held_out = number(j.value("held_out", json::object()).value("per_observation", json()));
  fit.seconds = number(j.value("seconds", json::object()).value("total", json()));
  const json prior = j.value("prior", json::object());
  fit.prior = prior.value("directory", "");
  fit.forget = prior.value("forget", 1.0);
  const json restarts = j.value("restarts", json::array()), constants = j.value("constants", json::object()),
             variables = j.value("variables", json::object());
  for (const json& r : restarts) {
    fit.restarts.push_back(r.get<SavedRestart>());
    fit.restarts.back().elbo = number(r.value("elbo", json()));
  }
  for (const auto& [name, value] : constants.items())
    for (const json& x : value.is_array() ? value : json::array({value}))
      fit.constants[name].push_back(number(x));
  for (const auto& [name, value] : variables.items()) {
    fit.variables.push_back(value.get<SavedVariable>());
    fit.variables.back().name = name;
  }
  return fit;
}

/// Returns the held-out score, nats an observation, that `lehr score` stored after this fit. NaN if there is none, or
/// if the data were those of the fit, so that nothing was held out.
double read_score(const std::filesystem::path& base, const json& of_fit) {
  std::error_code missing;
  const auto scored = std::filesystem::last_write_time(base / kScoreFile, missing);
  if (missing || scored < std::filesystem::last_write_time(base / kFitFile, missing)) return number(json());
  const Result<std::string> text = read_file((base / kScoreFile).string());
  const json score = text ? json::parse(*text, nullptr, false) : json();
  if (score.is_object() && score.value("data", json()) == of_fit) return number(json());
  const json value = score.is_object() ? score.value("per_observation", json()) : json();
  return number(value.is_number() ? value : json());
}

/// Reads the seals of the other files.
std::map<std::string, FileDigest> read_seals(const json& summary) {
  std::map<std::string, FileDigest> out;
  const json files = summary.value("files", json::object());
  for (const auto& [name, file] : files.items())
    out[name] = {file.at("size").get<std::uint64_t>(), file.at("crc32").get<std::uint32_t>()};
  return out;
}

/// Assigns arrays named "variable.parameter" to their variables, and puts these into the order of the arrays.
void distribute(std::vector<NamedArray> arrays, SavedFit& fit) {
  std::vector<SavedVariable> ordered;
  const auto by_name = [](const std::string& name) {
    return [&name](const SavedVariable& v) { return v.name == name; };
  };
  for (NamedArray& a : arrays) {
    const std::size_t dot = a.name.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string name = a.name.substr(0, dot);
    auto v = std::find_if(ordered.begin(), ordered.end(), by_name(name));
    if (v == ordered.end()) {
      const auto described = std::find_if(fit.variables.begin(), fit.variables.end(), by_name(name));
      v = ordered.emplace(ordered.end());
      if (described != fit.variables.end()) {
        *v = std::move(*described);
        fit.variables.erase(described);
      }
      v->name = name;
    }
    a.name.erase(0, dot + 1);
    v->parameters.push_back(std::move(a));
  }
  ordered.insert(ordered.end(), fit.variables.begin(), fit.variables.end());
  fit.variables = std::move(ordered);
}

/// Reads trace.csv if it exists and belongs to this fit.
std::optional<Error> read_trace(const std::string& path, SavedFit& fit) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  const auto seal = fit.files.find(kTraceFile);
  fit.other_trace = seal != fit.files.end() && seal->second != file_digest(*text);
  if (fit.other_trace) return std::nullopt;
  fit.trace = std::move(*text);
  if (const Result<Dataset> rows = parse_csv(fit.trace, kTraceFile, "elbo", {"elbo"}))
    fit.elbo_trace = rows->at("elbo").values;
  return std::nullopt;
}

/// Returns the element of that name, or null.
template <class Named>
const Named* named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const NamedArray* SavedVariable::find(const std::string& parameter) const { return named(parameters, parameter); }

const SavedVariable* SavedFit::find(const std::string& variable) const { return named(variables, variable); }

FileDigest file_digest(std::string_view bytes) { return {bytes.size(), checksum(bytes)}; }

Result<FileDigest> file_digest_of(const std::string& path) {
  constexpr std::uint64_t kTogether = 1 << 16;  // bytes that are read at a time
  const Result<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file) return file.error();
  FileDigest out{file->size(), 0};
  std::string bytes;
  for (std::uint64_t at = 0; at < out.size; at += bytes.size()) {
    if (std::optional<Error> failed = file->read(at, std::min(kTogether, out.size - at), bytes)) return *failed;
    out.crc = checksum(bytes, out.crc);
  }
  return out;
}

std::map<std::string, SavedVariable> by_variable(const std::vector<NamedArray>& arrays) {
  std::map<std::string, SavedVariable> out;
  for (const NamedArray& a : arrays) {
    const std::size_t dot = a.name.rfind('.');
    if (dot == std::string::npos) continue;
    SavedVariable& v = out[a.name.substr(0, dot)];
    v.name = a.name.substr(0, dot);
    v.parameters.push_back(a);
    v.parameters.back().name.erase(0, dot + 1);
  }
  return out;
}

const NamedArray* find_array(const std::vector<NamedArray>& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

SavedFit saved_fit(const json& summary, std::vector<NamedArray> posterior) {
  SavedFit out = read_summary(summary);
  out.posterior = posterior;
  distribute(std::move(posterior), out);
  return out;
}

Result<SavedFit> read_fit(const std::string& directory) {
  const std::filesystem::path base(directory);
  std::error_code ignored;
  if (!std::filesystem::exists(base / kFitFile, ignored)) {
    const bool exists = std::filesystem::exists(base, ignored);
    return Error{ExitCode::data,
                 directory,
                 exists ? fmt::format("not the directory of a fit: it has no {}", kFitFile) : "no such directory",
                 {"`lehr fit MODEL " + option("data") + " ... " + option("out") + " DIR` writes one when it ends"}};
  }
  const std::string path = (base / kFitFile).string();
  const Result<std::string> text = read_file(path);
  if (!text) return Error{ExitCode::data, text.error().where, text.error().text, {}};
  SavedFit fit;
  json data;
  try {
    const json summary = json::parse(*text);
    data = summary.value("data", json());
    fit = read_summary(summary);
    fit.files = read_seals(summary);
  } catch (const json::exception& e) {
    return Error{ExitCode::data, path, fmt::format("not what `lehr fit` writes: {}", printable(e.what(), 200)), {}};
  }
  fit.directory = directory;
  fit.summary = *text;
  if (std::isnan(fit.held_out)) fit.held_out = read_score(base, data);
  const auto is_another = [&](const char* name, std::string_view bytes) {
    const auto seal = fit.files.find(name);
    return seal != fit.files.end() && seal->second != file_digest(bytes);
  };
  const std::string posterior = (base / kPosteriorFile).string();
  const Result<std::string> bytes = read_file(posterior);
  if (!bytes) return bytes.error();
  if (is_another(kPosteriorFile, *bytes))
    return Error{
        ExitCode::data,
        directory,
        fmt::format("the files are not of one fit: {} is not the one that {} belongs to", kPosteriorFile, kFitFile),
        {"a fit was killed while it wrote its results, or one of the files was replaced: fit again"}};
  Result<std::vector<NamedArray>> arrays = parse_npz(*bytes, posterior);
  if (!arrays) return arrays.error();
  fit.posterior = *arrays;
  distribute(std::move(*arrays), fit);
  for (const auto& [name, to] : {std::pair(kItemsFile, &fit.items), std::pair(kSdsFile, &fit.sds)}) {
    if (!fit.files.contains(name)) continue;
    const std::string path_of_file = (base / name).string();
    const Result<std::string> file = read_file(path_of_file);
    if (!file || is_another(name, *file))
      return Error{ExitCode::data,
                   directory,
                   fmt::format("the files are not of one fit: {} is not the one that {} belongs to", name, kFitFile),
                   {"a fit was killed while it wrote its results, or one of the files was replaced: fit again"}};
    Result<std::vector<NamedArray>> of_file = parse_npz(*file, path_of_file);
    if (!of_file) return of_file.error();
    *to = std::move(*of_file);
  }
  if (std::optional<Error> failed = read_trace((base / kTraceFile).string(), fit)) return *failed;
  return fit;
}

}  // namespace lehr
