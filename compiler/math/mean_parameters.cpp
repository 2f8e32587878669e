// By name: few rows have such a mean. Johnson, Kotz & Balakrishnan (1994); Johnson, Kemp & Kotz (2005).
#include "compiler/math/mean_parameters.h"

#include <map>

namespace lehr::math {

std::vector<std::string> mean_parameters(const FamilyRow& row) {
  static const std::map<std::string, std::vector<std::string>> kMeans = {
      {"Normal", {"mean"}},  {"MvNormal", {"mean"}},   {"Bernoulli", {"p"}},        {"Categorical", {"p"}},
      {"Poisson", {"rate"}}, {"Binomial", {"n", "p"}}, {"Multinomial", {"n", "p"}},
  };
  const auto it = kMeans.find(row.name);
  return it == kMeans.end() ? std::vector<std::string>() : it->second;
}

}  // namespace lehr::math
