// The search that shifts and changes of scale share: each begins at two atoms of one term, of which one makes up for a
// change of the other.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Searches a model for shifts or changes of scale that leave the likelihood alone: tries all pairs of atoms of each
/// term, and returns the changes that the finder verifies, in the order of the terms. A finder has a type Pair and
///
/// * candidates(term, k, l): the changes of atom k of the term that atom l might make up for;
/// * variables(candidate): pairs of what changes and what makes up for it. The first is the candidate's own. All are
/// done once the candidate is verified;
/// * describe(candidate): the change in words; no change is tried twice;
/// * check(candidate, term): the change, if the model is invariant.
template <class Finder>
std::vector<Shift> try_pairs(const Finder& finder, const std::vector<density::Term>& terms) {
  std::vector<Shift> out;
  std::set<typename Finder::Pair> done;
  std::set<std::string> tried;
  for (const density::Term& t : terms) {
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      for (std::size_t l = 0; l < t.atoms.size(); ++l) {
        for (const auto& candidate : finder.candidates(t, k, l)) {
          const auto pairs = finder.variables(candidate);
          if (done.contains(pairs.front()) || !tried.insert(finder.describe(candidate)).second) continue;
          std::optional<Shift> shift = finder.check(candidate, t);
          if (!shift) continue;
          done.insert(pairs.begin(), pairs.end());
          out.push_back(std::move(*shift));
        }
      }
    }
  }
  return out;
}

}  // namespace lehr::schedule
