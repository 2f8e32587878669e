// Prints one paragraph for each block: its axes and family, sequential axes, and each use as `statistic <- line: term`.
#include "compiler/conditionals/print_conditionals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/density/print_density.h"
#include "compiler/support/printing.h"

namespace lehr {

std::string print(const model::Model& m, const conditionals::Conditionals& c, const Source& source) {
  std::string out;
  for (const conditionals::Block& b : c.blocks) {
    const model::Variable& v = m[b.variable];
    std::vector<std::string> axes, sequential;
    for (std::size_t x = 0; x < v.axes.size(); ++x) {
      axes.push_back(m[v.axes[x]].name);
      if (b.sequential[x]) sequential.push_back(m[v.axes[x]].name);
    }
    const std::string brackets = bracketed(listed(axes));
    out += fmt::format("{}block {}{}{}: {}", out.empty() ? "" : "\n", b.mean ? m[*b.mean].name + brackets + ", " : "",
                       v.name, brackets, b.family->name);
    if (b.point) out += ", point";
    if (b.chain) out += fmt::format(", chain over {}", axes.back());
    else if (!sequential.empty()) out += fmt::format(", sequential over {}", fmt::join(sequential, ", "));
    out += "\n";
    for (const conditionals::Use& u : b.uses) {
      const density::Term& t = c.density.terms[u.term];
      const density::Atom& atom = t.atoms[u.atom];
      // The index variables are named in the order of the term's own text, so that both texts have the same names.
      density::Names names(m, c.density.algebra);
      for (density::IndexVarId bound : t.index_vars)
        names(bound);
      out += fmt::format("  {} <- line {}: {}\n", density::print(names, atom),
                         position_of(source, c.density.origins[t.origin].span.begin).line,
                         density::print(m, c.density.algebra, t));
    }
  }
  return out;
}

}  // namespace lehr
