// Formats draws in CmdStan's CSV, with 17 digits so that numbers are exact.
#include "runtime/output/stan_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace lehr {

std::vector<std::string> column_names(const std::vector<NamedArray>& draws) {
  std::vector<std::string> out;
  for (const NamedArray& a : draws) {
    std::vector<std::string> names{a.name};
    for (std::size_t axis = 1; axis < a.shape.size(); ++axis) {
      std::vector<std::string> longer;
      for (const std::string& name : names) {
        for (std::int64_t k = 1; k <= a.shape[axis]; ++k)
          longer.push_back(fmt::format("{}.{}", name, k));
      }
      names = std::move(longer);
    }
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

namespace {

/// Formats `rows` draws as a table. Without `log_joint` there is no column `lp__`.
std::string table(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint, std::size_t rows,
                  const std::vector<std::string>& comments) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  for (const std::string& comment : comments)
    fmt::format_to(to, "# {}\n", comment);
  std::vector<std::string> names = column_names(draws);
  if (!log_joint.empty()) names.insert(names.begin(), "lp__");
  fmt::format_to(to, "{}", fmt::join(names, ","));
  for (std::size_t d = 0; d < rows; ++d) {
    const char* before = "\n";
    const auto put = [&](double x) {
      fmt::format_to(to, "{}{:.17g}", before, x);
      before = ",";
    };
    if (!log_joint.empty()) put(log_joint[d]);
    for (const NamedArray& a : draws) {
      const std::size_t width = a.values.size() / rows;
      for (std::size_t i = d * width; i < (d + 1) * width; ++i)
        put(a.values[i]);
    }
  }
  fmt::format_to(to, "\n");
  return fmt::to_string(out);
}

/// Returns an array over [chain, draw, ...] with chain and draw merged into one axis.
NamedArray joined(const LabelledArray& a) {
  NamedArray out{a.name, a.shape, a.values, a.integer};
  out.shape[1] *= out.shape[0];
  out.shape.erase(out.shape.begin());
  return out;
}

}  // namespace

std::string format_stan_csv(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint,
                            const std::vector<std::string>& comments) {
  return table(draws, log_joint, log_joint.size(), comments);
}

Result<std::string> format_stan_csv(const LabelledArrays& arrays) {
  const ArrayGroup *posterior = find_group(arrays, "posterior"), *stats = find_group(arrays, "sample_stats");
  std::vector<NamedArray> draws;
  for (const LabelledArray& a : posterior->arrays)
    draws.push_back(joined(a));
  std::vector<std::string> comments;
  for (const auto& [name, text] : arrays.attributes)
    comments.push_back(fmt::format("{} = {}", name, text));
  const std::size_t rows = draws.empty() ? 0 : static_cast<std::size_t>(draws[0].shape[0]);
  return table(draws, stats ? stats->arrays[0].values : std::vector<double>(), rows, comments);
}

}  // namespace lehr
