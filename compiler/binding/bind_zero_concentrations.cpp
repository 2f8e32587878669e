// Finds observed values whose probability is 0 because its concentration is. Data may have concentrations of 0 in a
// Dirichlet prior, which are bound as kZeroConcentration: the element never occurs. An observed one would only show as
// an ELBO that is thousands of nats too low.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/binding/binder.h"

namespace lehr::model {
namespace {

/// Returns the data that are the concentrations of a random simplex, or null.
const GivenRef* concentration_of(const Model& m, const Distribution& d) {
  for (const Parameter& p : d.parameters) {
    const auto* given = std::get_if<GivenRef>(&m[p.value].node);
    if (given && m[p.value].shape.size() == 1 && p.spelling->domain == math::Support::positive) return given;
  }
  return nullptr;
}

/// Returns the concentration of entry k of the simplex that a reference names, at one element of the statement that
/// contains the reference.
std::optional<double> concentration_at(Binder& b, const VariableRef& simplex, const GivenRef& given, std::int64_t k,
                                       const IndexValues& at) {
  const Statement& s = b.model[b.model[simplex.variable].statement];
  IndexValues own;
  for (std::size_t i = 0; i < s.index_vars.size() && i < simplex.indices.size(); ++i) {
    const auto index = position(b, simplex.indices[i], at);
    if (!index) return std::nullopt;
    own.emplace_back(s.index_vars[i], *index);
  }
  std::vector<Index> indices = given.indices;
  indices.push_back({Index::Constant{k}, b.model[simplex.variable].event[0], {}});
  return element(b, b.out.givens[given.given.index()].values, indices, own);
}

/// Checks the observed categories or counts of one slot against the simplex that generates them.
void check(Binder& b, const Slot& slot, const Statement& s, const VariableRef& simplex) {
  const Variable& v = b.model[simplex.variable];
  if (v.support != math::Support::simplex || !v.statement.valid()) return;
  const GivenRef* given = concentration_of(b.model, b.model[v.statement].main);
  if (!given || std::ranges::find(b.out.givens[given->given.index()].values, 0.0) ==
                    b.out.givens[given->given.index()].values.end())
    return;
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  const std::size_t width = slot.event_rank == 0 ? 1 : static_cast<std::size_t>(b.out.sizes[slot.axes.back().index()]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(slot.event_rank == 0 ? x[i] >= 0 : x[i] > 0)) continue;
    const auto k = static_cast<std::int64_t>(slot.event_rank == 0 ? x[i] : static_cast<double>(i % width));
    if (concentration_at(b, simplex, *given, k, index_values_at(b, slot, s, i)) != 0.0) continue;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} is {:.10g}, but the concentration of {} is 0 at element {} of '{}' there",
                        element_name(b, slot, i),
                        x[i] + static_cast<double>(slot.value_plate ? first_number_of(b, *slot.value_plate) : 0),
                        v.name, k + first_number_of(b, v.event[0]), b.model[v.event[0]].name))
        .notes = {
        fmt::format("an entry whose concentration is 0 in {} never has mass: rows that are shorter than "
                    "others end with zeros",
                    b.model[given->given].name)};
    return;
  }
}

}  // namespace

bool is_concentration(const Binder& b, const Slot& slot) {
  return slot.given && std::ranges::any_of(b.model.statements, [&](const Statement& s) {
           const GivenRef* given =
               b.model[s.variable].support == math::Support::simplex ? concentration_of(b.model, s.main) : nullptr;
           return given && given->given == *slot.given;
         });
}

void check_zero_concentrations(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || !b.arrays.contains(slot.name)) continue;
    const Statement& s = b.model[b.model[*slot.variable].statement];
    if (!s.others.empty()) continue;
    for (const Parameter& p : s.main.parameters) {
      if (const auto* simplex = std::get_if<VariableRef>(&b.model[p.value].node)) check(b, slot, s, *simplex);
    }
  }
}

}  // namespace lehr::model
