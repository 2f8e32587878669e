// How the ELBO of a model differs from a true ELBO, in words for the user: a local bound makes it a bound of the ELBO,
// and an improper prior leaves its constant unknown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/density/density.h"

namespace lehr::density {

std::vector<Diagnostic> elbo_notes(const model::Model& m, const Density& d) {
  std::vector<Diagnostic> out;
  std::vector<std::string> improper;
  // Adds a phrase with the statements that have tangent points of that family row.
  const auto bounded_by = [&](const math::FamilyRow& row, std::string_view function_name, std::string_view why = "") {
    std::vector<std::string> hosts;
    for (const model::Variable& v : m.variables) {
      if (v.auxiliary && v.auxiliary->bound == &row) hosts.push_back(m[v.auxiliary->host].name);
    }
    if (!hosts.empty())
      out.push_back(make_note(fmt::format("a bound of the ELBO: the {} of {} by a quadratic bound{}", function_name,
                                          fmt::join(hosts, ", "), why)));
  };
  const char* const why = m.guide.gaussian_links ? ", since the predictor is not Normal" : "";
  bounded_by(math::logistic_bound(), "logistic link", why);
  bounded_by(math::softmax_bound(), "softmax");
  bounded_by(math::absolute_bound(), "absolute value in the density");
  for (const Origin& o : d.origins) {
    if (o.improper) improper.push_back(m[m[*o.statement].variable].name);
  }
  if (!improper.empty())
    out.push_back(make_note(fmt::format("up to a constant: the prior of {} is improper", fmt::join(improper, ", "))));
  return out;
}

}  // namespace lehr::density
