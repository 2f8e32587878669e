#include "runtime/files/stan_csv.h"

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

std::string format_stan_csv(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint,
                            const std::vector<std::string>& comments) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  for (const std::string& comment : comments)
    fmt::format_to(to, "# {}\n", comment);
  fmt::format_to(to, "lp__");
  for (const std::string& name : column_names(draws))
    fmt::format_to(to, ",{}", name);
  for (std::size_t d = 0; d < log_joint.size(); ++d) {
    fmt::format_to(to, "\n{:.17g}", log_joint[d]);
    for (const NamedArray& a : draws) {
      const std::size_t width = a.values.size() / log_joint.size();
      for (std::size_t i = d * width; i < (d + 1) * width; ++i)
        fmt::format_to(to, ",{:.17g}", a.values[i]);
    }
  }
  fmt::format_to(to, "\n");
  return fmt::to_string(out);
}

}  // namespace lehr
