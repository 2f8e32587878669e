// The verifier of parallel regions: what functions of a range of items or iterations may access, as several of them run
// at the same time. Every worker has a copy of its own of scratch and of sums; everything else is common to all
// (runtime/parallel/workers.h).
//
// An access belongs to the range if one of its indices depends on the range (accesses.h, formed_from). For items n in
// begin .. end,
//
//     E[n, k] = ...             allowed: n is of the range
//     S[w] += ...               a reduction, if nothing reads S
//     E[w, k] = ...             a race: w is not of the range
#include "compiler/analysis/verify_regions.h"

#include <fmt/format.h>

#include <set>

#include "compiler/analysis/accesses.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// The arrays that the statements of a function load, and those that they store to.
struct Touched {
  std::set<BufferId> loads, stores;

  bool contains(BufferId b) const { return loads.contains(b) || stores.contains(b); }
};

/// Adds the arrays of a function to `out`.
void touch(const Program& p, const Function& f, Touched& out) {
  Walk{p, [](ExprId) {}, [&](BufferId b, bool stored) { (stored ? out.stores : out.loads).insert(b); }}.block(f.body);
}

/// Returns what a race is, for a message.
std::string_view text_of(Race race) {
  switch (race) {
    case Race::filled:
      return "is filled as a whole in a parallel region";
    case Race::stored_elsewhere:
      return "is stored in a parallel region at a place that is not its own";
    case Race::sum_loaded:
      return "is a sum of a parallel region that it reads";
    case Race::loaded_elsewhere:
      return "is stored in a parallel region that reads places of others";
  }
  return "";
}

/// Checks all parallel regions of a program.
class Regions {
 public:
  explicit Regions(const Program& p) : p_(p) {}

  std::vector<std::string> run() {
    std::set<std::size_t> phases;
    for (const Function& f : p_.functions) {
      for (const ParallelRegion& phase : f.regions) {
        phases.insert(phase.function);
        where_ = p_.functions[phase.function].name;
        check_private(f, phase);
        check_shared(p_.functions[phase.function], [&](BufferId b) { return b == phase.sums; });
      }
    }
    for (std::size_t k = 0; k < p_.functions.size(); ++k) {
      if (phases.contains(k)) continue;  // checked with the function to which it belongs
      where_ = p_.functions[k].name;
      check_scratch(p_.functions[k]);
      if (p_.functions[k].parameters.size() > 1)
        check_shared(p_.functions[k], [&](BufferId x) { return !is_scratch(p_[x]); });
    }
    return std::move(problems_);
  }

 private:
  void problem(BufferId b, std::string_view text) {
    problems_.push_back(fmt::format("{}: `{}` {}", where_, p_[b].name, text));
  }

  /// Checks that no private array of a region is accessed outside of it: the copies of the workers are lost when the
  /// region ends.
  void check_private(const Function& owner, const ParallelRegion& phase) {
    Touched here, outside;
    touch(p_, p_.functions[phase.function], here);
    touch(p_, owner, outside);
    for (const ParallelRegion& sibling : owner.regions)
      if (sibling.function != phase.function) touch(p_, p_.functions[sibling.function], outside);
    for (const BufferId b : here.stores)
      if (is_scratch(p_[b]) && b != phase.sums && outside.contains(b))
        problem(b, "is private to a parallel region, and touched outside of it");
  }

  /// Checks that a call stores the scratch that it reads: scratch has no meaning between calls.
  void check_scratch(const Function& f) {
    Touched all;
    touch(p_, f, all);
    for (const ParallelRegion& phase : f.regions) {
      touch(p_, p_.functions[phase.function], all);
      if (phase.sums.valid()) all.stores.insert(phase.sums);
    }
    for (const BufferId b : all.loads)
      if (is_scratch(p_[b]) && !all.stores.contains(b))
        problem(b, "is scratch that is read and never stored in the same call");
  }

  /// Checks the arrays that other workers access at the same time. Each access must belong to the range, unless the
  /// array is a sum that is added to and not read. `may_be_sum` returns true for arrays that may be sums, of which
  /// every worker has a copy.
  template <class MayBeSum>
  void check_shared(const Function& f, const MayBeSum& may_be_sum) {
    const Varying from_range = formed_from(p_, f.body, {f.parameters[0], f.parameters[1]});
    for (const auto& [array, race] : races_of(p_, Accesses(p_, f.body, from_range, {}), may_be_sum))
      problem(array, text_of(race));
  }

  const Program& p_;
  std::vector<std::string> problems_;
  std::string where_;
};

}  // namespace

std::vector<std::string> verify_regions(const Program& program) { return Regions(program).run(); }

}  // namespace lehr::loops
