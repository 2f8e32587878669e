// Solving for the index variables of a term when one of its atoms is a given element, and inverse lookups.
//
// If an element is named through data (`s[a[e]]`) and is updated on its own, the e with a[e] = i are walked, not all e:
//
//     for e in 0 .. E: if a[e] == i ...     becomes     for p in first[i] .. past[i]: e = order[p] ...
//
// A pass over all elements i then visits every e once for each of its ends, so its work is linear in the edges.
#include "compiler/lower/lookups.h"

#include <algorithm>

namespace lehr::loops {

std::optional<Lookups::PlainLookup> Lookups::plain_lookup(IndexId i) const {
  const auto* lookup = std::get_if<density::IndexLookup>(&a_[i]);
  if (!lookup || lookup->indices.size() != 1) return std::nullopt;
  const auto* bound = std::get_if<density::IndexVarRef>(&a_[lookup->indices[0]]);
  if (!bound || bound->offset != 0 || a_[bound->bound].parent) return std::nullopt;
  return PlainLookup{lookup->source, bound->bound};
}

void Lookups::declare_inverse_lookups() {
  for (const conditionals::Block& block : s_.conditionals.blocks) {
    for (const conditionals::Use& u : block.uses) {
      const Atom& atom = s_.conditionals.density.terms[u.term].atoms[u.atom];
      for (std::size_t x = 0; x < atom.axes.size(); ++x) {
        const auto lookup = plain_lookup(atom.axes[x]);
        // Other axes are scattered: one pass over all e adds to all elements.
        if (!lookup || !(block.sequential[x] || block.chain) || layout_.inverse.contains(lookup->source)) continue;
        std::visit(
            [&](auto id) {
              const auto array = [&](const char* prefix, model::PlateId plate) {
                return b_.buffer(prefix + m_[id].name, Role::table, {layout_.size[plate.index()]}, Type::i64);
              };
              layout_.inverse[lookup->source] = {array("first.", *m_[id].value_plate),
                                                 array("past.", *m_[id].value_plate), array("order.", m_[id].axes[0])};
            },
            lookup->source);
      }
    }
  }
}

void Lookups::prepare_inverse_lookups() {
  const auto one_more = [&](BufferId buffer, ExprId at) {
    b_.store(buffer, {at}, b_.add(b_.load(buffer, {at}), b_.i(1)));
  };
  for (const auto& [source, inverse] : layout_.inverse) {
    const auto& program = b_.program();
    const ExprId values = b_.extent(program[inverse.first].axes[0]);
    const ExprId entries = b_.extent(program[inverse.order].axes[0]);
    const BufferId data = std::holds_alternative<model::GivenId>(source)
                              ? layout_.data.givens[std::get<model::GivenId>(source).index()]
                              : layout_.data.observed[std::get<model::VariableId>(source).index()];
    const auto each_present = [&, past = inverse.past](const std::function<void(ExprId e, ExprId value)>& body) {
      b_.for_range("e", b_.i(0), entries, [&](ExprId e) {
        const ExprId value = b_.let(b_.fresh("value"), b_.load(data, {e}));
        // A negative category is a missing value.
        b_.if_then(b_.greater_equal(value, b_.i(0)), [&] { body(e, value); });
      });
    };
    // A counting sort. `past` has the counts first, then the next free position of each value, and ends as the end of
    // its range.
    b_.fill(inverse.past, b_.i(0));
    each_present([&, past = inverse.past](ExprId, ExprId value) { one_more(past, value); });
    const ScalarId total = b_.local(b_.fresh("total"), b_.i(0));
    b_.for_range("i", b_.i(0), values, [&, &inverse = inverse](ExprId i) {
      b_.store(inverse.first, {i}, b_.get(total));
      b_.assign(total, b_.add(b_.get(total), b_.load(inverse.past, {i})));
      b_.store(inverse.past, {i}, b_.load(inverse.first, {i}));
    });
    each_present([&, &inverse = inverse](ExprId e, ExprId value) {
      b_.store(inverse.order, {b_.load(inverse.past, {value})}, e);
      one_more(inverse.past, value);
    });
  }
}

Solved Lookups::solve_axes(const Atom& atom, const std::vector<bool>& fixed, const std::vector<ExprId>& element) {
  Solved out;
  std::vector<std::size_t> left;
  for (std::size_t x = 0; x < fixed.size(); ++x) {
    if (!fixed[x]) continue;
    const auto* bound = std::get_if<density::IndexVarRef>(&a_[atom.axes[x]]);
    // An index variable that occurs twice is solved at its first occurrence and tested at the second.
    if (!bound || out.env.contains(bound->bound)) {
      left.push_back(x);
      continue;
    }
    const ExprId value = bound->offset == 0 ? element[x] : b_.sub(element[x], b_.i(bound->offset));
    out.env[bound->bound] = value;
    if (bound->offset == 0) continue;
    // The index t - 1 is i, so t is i + 1, which the plate may not have.
    out.conditions.push_back({{}, [this, value, id = bound->bound](const Env& e) {
                                const auto [begin, end] = terms_.range(id, e);
                                return b_.logical_and(b_.less_equal(begin, value), b_.less(value, end));
                              }});
    std::set<IndexVarId>& needs = out.conditions.back().index_vars;
    if (a_[bound->bound].parent) a_.collect(*a_[bound->bound].parent, needs);
  }
  for (std::size_t x : left) {
    const auto lookup = plain_lookup(atom.axes[x]);
    if (lookup && !out.walk && !out.env.contains(lookup->bound) && layout_.inverse.contains(lookup->source)) {
      const InverseLookup& inverse = layout_.inverse.at(lookup->source);
      out.walk = {lookup->bound, inverse.order, b_.load(inverse.first, {element[x]}),
                  b_.load(inverse.past, {element[x]})};
      continue;
    }
    std::set<IndexVarId> bounds;
    a_.collect(atom.axes[x], bounds);
    out.conditions.push_back({bounds, [this, i = atom.axes[x], want = element[x]](const Env& e) {
                                return b_.equal(terms_.index(i, e), want);
                              }});
  }
  return out;
}

void Lookups::for_solutions(const Solved& s, const std::function<void(const Env&)>& body) {
  if (!s.walk) {
    body(s.env);
    return;
  }
  b_.for_range(a_[s.walk->bound].name + "_at", s.walk->begin, s.walk->end, [&](ExprId position) {
    Env env = s.env;
    env[s.walk->bound] = b_.let(b_.fresh(a_[s.walk->bound].name), b_.load(s.walk->order, {position}));
    body(env);
  });
}

}  // namespace lehr::loops
