#include "compiler/math/member_families.h"

namespace lehr::math {

const FamilyRow& member_family(Support support) {
  if (support == Support::switched) return switched_normal();
  const bool number = support == Support::real;
  const std::vector<Stat> needed = number                         ? std::vector{Stat::value, Stat::square}
                                   : support == Support::vector   ? std::vector{Stat::comp, Stat::comp2}
                                   : support == Support::category ? std::vector{Stat::indicator}
                                                                  : std::vector{Stat::value};
  return *factors_for(support, needed).front();
}

RoleNames role_names(const FamilyRow& row) {
  const auto name = [&](ParameterRole role) {
    const FactorParameter* p = find_role(*row.factor, role);
    return p ? p->name : std::string();
  };
  RoleNames out{name(ParameterRole::location), name(ParameterRole::precision), name(ParameterRole::probabilities), "",
                ""};
  if (out.probabilities.empty()) out.probabilities = name(ParameterRole::probability);
  const Factor* drawn = sample_factor(row);
  for (std::size_t k = 0; drawn && k < drawn->parameters.size(); ++k) {
    const FactorParameter& p = drawn->parameters[k];
    if (p.exported && p.role == ParameterRole::value) (p.of_mean ? out.number : out.value) = p.name;
  }
  return out;
}

}  // namespace lehr::math
