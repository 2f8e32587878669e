// fit.json by way of nlohmann's parser; whatever is missing from it keeps its default, whatever has another
// type is an error.
#include "runtime/files/saved_fit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/files/atomic_file.h"
#include "runtime/files/npy.h"
#include "runtime/files/text.h"
#include "runtime/files/zip.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using nlohmann::json;

/// JSON has no NaN: fit.json has null instead.
double number(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

template <class T>
void get(const json& j, const char* name, T& to) {
  if (const auto it = j.find(name); it != j.end()) to = it->get<T>();
}

void read_summary(const json& j, SavedFit& fit) {
  get(j, "model", fit.model);
  get(j, "model_file", fit.model_file);
  get(j, "command", fit.command);
  get(j, "version", fit.version);
  get(j, "method", fit.method);
  get(j, "status", fit.status);
  get(j, "seed", fit.seed);
  get(j, "restart", fit.restart);
  get(j, "iterations", fit.iterations);
  get(j, "sizes", fit.sizes);
  get(j, "labels", fit.labels);
  fit.elbo = number(j.value("elbo", json()));
  const json restarts = j.value("restarts", json::array()), constants = j.value("constants", json::object()),
             variables = j.value("variables", json::object());
  for (const json& r : restarts) {
    SavedRestart& restart = fit.restarts.emplace_back();
    get(r, "restart", restart.restart);
    get(r, "iterations", restart.iterations);
    get(r, "status", restart.status);
    restart.elbo = number(r.value("elbo", json()));
  }
  for (const auto& [name, value] : constants.items()) {
    std::vector<double>& to = fit.constants[name];
    if (!value.is_array()) to.push_back(number(value));
    else
      for (const json& x : value)
        to.push_back(number(x));
  }
  for (const auto& [name, value] : variables.items()) {
    SavedVariable& v = fit.variables.emplace_back();
    v.name = name;
    get(value, "axes", v.axes);
    get(value, "event", v.event);
    get(value, "family", v.family);
    get(value, "joint", v.joint);
  }
}

std::map<std::string, FileSeal> read_seals(const json& summary) {
  std::map<std::string, FileSeal> out;
  const json files = summary.value("files", json::object());
  for (const auto& [name, file] : files.items())
    out[name] = {file.at("size").get<std::uint64_t>(), file.at("crc32").get<std::uint32_t>()};
  return out;
}

/// Gives each array to its variable, and puts the variables into the order of the arrays.
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
      const auto known = std::find_if(fit.variables.begin(), fit.variables.end(), by_name(name));
      v = ordered.emplace(ordered.end());
      if (known != fit.variables.end()) {
        *v = std::move(*known);
        fit.variables.erase(known);
      }
      v->name = name;
    }
    a.name.erase(0, dot + 1);
    v->parameters.push_back(std::move(a));
  }
  ordered.insert(ordered.end(), fit.variables.begin(), fit.variables.end());
  fit.variables = std::move(ordered);
}

/// The third column of trace.csv.
std::vector<double> read_elbos(const std::string& text) {
  std::vector<double> out;
  std::size_t begin = text.find('\n');
  while (begin != std::string::npos && ++begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::size_t seconds = text.find(',', begin), elbo = text.find(',', seconds + 1);
    if (end == std::string::npos || seconds == std::string::npos || elbo >= end) break;
    const std::string_view rest = std::string_view(text).substr(elbo + 1, end - elbo - 1);
    out.push_back(parse_number(rest.substr(0, rest.find(','))).value_or(std::numeric_limits<double>::quiet_NaN()));
    begin = end;
  }
  return out;
}

}  // namespace

const NamedArray* SavedVariable::find(const std::string& parameter) const {
  for (const NamedArray& a : parameters) {
    if (a.name == parameter) return &a;
  }
  return nullptr;
}

const SavedVariable* SavedFit::find(const std::string& variable) const {
  for (const SavedVariable& v : variables) {
    if (v.name == variable) return &v;
  }
  return nullptr;
}

FileSeal seal_of(std::string_view bytes) { return {bytes.size(), checksum(bytes)}; }

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

Result<SavedFit> read_fit(const std::string& directory) {
  const std::filesystem::path base(directory);
  std::error_code ignored;
  if (!std::filesystem::exists(base / "fit.json", ignored)) {
    const bool exists = std::filesystem::exists(base, ignored);
    return Error{ExitCode::data,
                 directory,
                 exists ? "not the directory of a fit: it has no fit.json" : "no such directory",
                 {"`lehr fit MODEL " + option("data") + " ... " + option("out") + " DIR` writes one when it ends"}};
  }
  const std::string path = (base / "fit.json").string();
  const Result<std::string> text = read_file(path);
  if (!text) return Error{ExitCode::data, text.error().where, text.error().text, {}};
  SavedFit fit;
  fit.directory = directory;
  std::map<std::string, FileSeal> seals;
  try {
    const json summary = json::parse(*text);
    read_summary(summary, fit);
    seals = read_seals(summary);
  } catch (const json::exception& e) {
    return Error{ExitCode::data, path, fmt::format("not what `lehr fit` writes: {}", printable(e.what(), 200)), {}};
  }
  const auto is_another = [&](const char* name, std::string_view bytes) {
    const auto seal = seals.find(name);
    return seal != seals.end() && seal->second != seal_of(bytes);
  };
  const std::string posterior = (base / "posterior.npz").string();
  const Result<std::string> bytes = read_file(posterior);
  if (!bytes) return bytes.error();
  if (is_another("posterior.npz", *bytes))
    return Error{ExitCode::data,
                 directory,
                 "the files are not of one fit: posterior.npz is not the one that fit.json belongs to",
                 {"a fit was killed while it wrote its results, or one of the files was replaced: fit again"}};
  Result<std::vector<NamedArray>> arrays = parse_npz(*bytes, posterior);
  if (!arrays) return arrays.error();
  fit.posterior = *arrays;
  distribute(std::move(*arrays), fit);
  if (const Result<std::string> trace = read_file((base / "trace.csv").string())) {
    fit.other_trace = is_another("trace.csv", *trace);
    if (!fit.other_trace) fit.elbo_trace = read_elbos(*trace);
  }
  return fit;
}

}  // namespace lehr
