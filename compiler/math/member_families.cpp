// Chooses the families by the support and by the statistics that a member's marginal must have. The names of parameters
// follow from their roles in the row.
#include "compiler/math/member_families.h"

namespace lehr::math {

const FamilyRow& joint_family(Support joint) {
  if (joint == Support::switched) return switched_normal();
  if (joint == Support::scaled) return scaled_normal();
  if (joint == Support::sparse) return sparse_normal();
  return *factors_for(joint, std::vector{Stat::comp, Stat::comp2}).front();
}

const FamilyRow& marginal_family(Support member, Support joint) {
  if (joint == Support::scaled && member == Support::real) return student_marginal();
  if (joint == Support::scaled && member == Support::vector) return mv_student_marginal();
  const bool number = member == Support::real;
  const std::vector<Stat> needed = number                        ? std::vector{Stat::value, Stat::square}
                                   : member == Support::vector   ? std::vector{Stat::comp, Stat::comp2}
                                   : member == Support::positive ? std::vector{Stat::value, Stat::log}
                                   : member == Support::category ? std::vector{Stat::indicator}
                                                                 : std::vector{Stat::value};
  return *factors_for(member, needed).front();
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
