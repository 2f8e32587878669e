// Option definitions and the small parsers of NAME=VALUE.
#include "compiler/commands/fit_options.h"

#include <fmt/format.h>

#include <charconv>

namespace lehr::commands {
namespace {

std::optional<std::pair<std::string, std::string>> name_and_value(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

Error malformed(const char* option, const std::string& text, const char* example) {
  return {lehr::ExitCode::usage, option, fmt::format("'{}' is not NAME=VALUE", text), {fmt::format("for example {} {}", option, example)}};
}

}  // namespace

void add_fit_options(CLI::App& c, FitOptions& o) {
  c.add_option("MODEL", o.model, "model file (*.lehr)")->required();
  c.add_option("--data", o.data, "x=points.npy, file.npz, file.json, file.csv, x=file.csv:a,b, w=corpus.ldac[.gz]")->take_all();
  c.add_option("--out", o.out, "directory for fit.json, posterior.npz, trace.csv")->required();
  c.add_option("--set", o.set, "value of a constant: K=50")->take_all()->delimiter(',');
  c.add_option("--sizes", o.sizes, "size of a plate: topic=100")->take_all()->delimiter(',');
  c.add_option("--labels", o.labels, "names of a plate's elements, one a line: term=vocab.txt")->take_all();
  c.add_option("--method", o.method, "inference method")->check(CLI::IsMember({"cavi"}))->capture_default_str();
  c.add_option("--max-iter", o.cavi.max_iterations, "largest number of sweeps")->check(CLI::PositiveNumber)->capture_default_str();
  c.add_option("--tol", o.cavi.tolerance, "converged when the ELBO moves by less than this, relatively, and the parameters by its root")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  c.add_option("--local-iters", o.cavi.local_iterations, "largest number of passes over the local variables of an item")
      ->check(CLI::PositiveNumber)->capture_default_str();
  c.add_option("--local-tol", o.cavi.local_tolerance, "an item is done when its parameters move by less than this, relatively")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  c.add_option("--restarts", o.restarts, "runs from different starts; the best ELBO is kept")->check(CLI::PositiveNumber)->capture_default_str();
  c.add_option("--seed", o.seed, "seed of the start values")->capture_default_str();
  c.add_option("--init", o.init, "start values: an .npz with names as in posterior.npz");
  c.add_flag("--save-locals", o.save_locals, "write the factors of local variables too");
  c.add_flag("--quiet", o.quiet, "no progress, no summary");
  c.add_flag("--interpret", o.interpret, "run the loops in the interpreter instead of native code (slow; for checking)");
}

Result<Settings> read_settings(const FitOptions& o) {
  Settings out;
  for (const std::string& text : o.set) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed("--set", text, "K=50");
    double v = 0;
    const auto [end, ec] = std::from_chars(nv->second.data(), nv->second.data() + nv->second.size(), v);
    if (ec != std::errc() || end != nv->second.data() + nv->second.size()) {
      return Error{lehr::ExitCode::usage, "--set", fmt::format("'{}' is not a number", nv->second), {}};
    }
    out.constants[nv->first] = v;
  }
  for (const std::string& text : o.sizes) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed("--sizes", text, "topic=100");
    std::int64_t v = 0;
    const auto [end, ec] = std::from_chars(nv->second.data(), nv->second.data() + nv->second.size(), v);
    if (ec != std::errc() || end != nv->second.data() + nv->second.size() || v < 0) {
      return Error{lehr::ExitCode::usage, "--sizes", fmt::format("'{}' is not a size", nv->second), {}};
    }
    out.sizes[nv->first] = v;
  }
  for (const std::string& text : o.labels) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed("--labels", text, "term=vocab.txt");
    Result<std::vector<std::string>> labels = read_labels(nv->second);
    if (!labels) return labels.error();
    out.labels[nv->first] = std::move(*labels);
  }
  return out;
}

}  // namespace lehr::commands
