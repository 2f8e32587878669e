// Looks for terms of the log joint that contain both an auxiliary variable of a link and a global number. The
// independent factor of the auxiliary variable is what narrows the factor of the number.
#include "compiler/fit/checks/link_narrowing.h"

#include <algorithm>

#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Returns true for the point of a local bound, and for the auxiliary variable of a probit link or a limit.
bool is_of_link(const Variable& v) {
  return v.auxiliary && (v.auxiliary->kind == Auxiliary::Kind::bound || v.auxiliary->kind == Auxiliary::Kind::value);
}

/// Returns true if the block has continuous global numbers with standard deviations.
bool is_global_number(const Analysed& a, conditionals::BlockId b) {
  const conditionals::Block& block = a.schedule.conditionals[b];
  const Variable& v = a.model[block.variable];
  const bool continuous = !math::is_discrete(v.support) && (!v.auxiliary || is_joint(v));
  return continuous && !block.point && !block.drawn && !a.schedule.stage_of[b.index()];
}

}  // namespace

std::vector<std::string> narrowed_by_links(const Analysed& a) {
  std::vector<bool> narrow(a.schedule.conditionals.blocks.size(), false);
  for (const density::Term& t : a.schedule.conditionals.density.terms) {
    if (std::ranges::none_of(t.atoms, [&](const density::Atom& x) { return is_of_link(a.model[x.variable]); }))
      continue;
    for (const density::Atom& x : t.atoms) {
      const conditionals::BlockId b = a.schedule.conditionals.block_of[x.variable.index()];
      if (b.valid() && is_global_number(a, b)) narrow[b.index()] = true;
    }
  }
  std::vector<std::string> out;
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    const Variable& v = a.model[a.schedule.conditionals.blocks[k].variable];
    if (!narrow[k]) continue;
    if (!is_joint(v)) out.push_back(v.name);
    else
      for (const Member& member : v.auxiliary->members)
        out.push_back(a.model[member.variable].name);
  }
  return out;
}

}  // namespace lehr
