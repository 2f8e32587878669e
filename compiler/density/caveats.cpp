// What the ELBO of a model is besides the ELBO.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/density/density.h"

namespace lehr::density {

std::vector<std::string> caveats(const model::Model& m, const Density& d) {
  std::vector<std::string> out, logistic, softmax, improper;
  for (const model::Variable& v : m.variables) {
    if (v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound)
      (v.event.empty() ? logistic : softmax).push_back(m[v.auxiliary->host].name);
  }
  for (const Origin& o : d.origins) {
    if (o.improper) improper.push_back(m[m[*o.statement].variable].name);
  }
  if (!logistic.empty())
    out.push_back(
        fmt::format("a bound of the ELBO: the logistic link of {} by a quadratic bound", fmt::join(logistic, ", ")));
  if (!softmax.empty())
    out.push_back(fmt::format("a bound of the ELBO: the softmax of {} by a quadratic bound", fmt::join(softmax, ", ")));
  if (!improper.empty())
    out.push_back(fmt::format("up to a constant: the prior of {} is improper", fmt::join(improper, ", ")));
  return out;
}

}  // namespace lehr::density
