// Marks d-connected elements by a search from the observations upwards to their parents: a work list of elements, each
// of which marks what its statement reads.
//
//   theta[doc] -> z[doc, token] -> observe w[doc, token]:   w marks z, z marks theta
#include "compiler/instance/d_connected.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "compiler/evaluate/limits.h"
#include "compiler/instance/members.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// By element of a member of a joint chain: the elements of all members at the same step.
using Together = std::map<Element, std::vector<Element>>;

/// Lists the elements of joint chains that share a step.
Together joint_states(const Analysed& analysed, const ModelEvaluator& forward) {
  const Model& m = analysed.model;
  const conditionals::Conditionals& c = analysed.schedule.conditionals;
  Together out;
  for (const conditionals::Block& b : c.blocks) {
    if (!is_joint(m[b.variable]) || !b.chain || m[b.variable].event.empty()) continue;
    const std::vector<std::int64_t>& sizes = forward.data().sizes;
    const std::vector<MemberLayout> layouts = members_of(m, b.variable, sizes);
    const auto width = static_cast<std::size_t>(sizes[m[m[b.variable].event[0]].set.index()]);
    std::map<std::size_t, std::vector<Element>> states;
    for (std::size_t k = 0; k < layouts.size(); ++k)
      for (std::size_t i = 0; i < layouts[k].at.size(); i += layouts[k].width)
        states[layouts[k].at[i] / width].push_back(
            {m[b.variable].auxiliary->members[k].variable, i / layouts[k].width});
    for (const auto& [state, elements] : states)
      for (const Element e : elements)
        out[e] = elements;
  }
  return out;
}

/// The search.
class Reach {
 public:
  /// `open` says by VariableId which variables may have elements that are not d-connected. The others are marked at the
  /// start.
  Reach(const ModelEvaluator& forward, std::vector<bool> open, Together together)
      : forward_(forward),
        open_(std::move(open)),
        together_(std::move(together)),
        touches_(forward.model().exprs.size(), false) {
    const Model& m = model();
    for (std::size_t k = 0; k < m.exprs.size(); ++k) {
      for (const VariableRef* ref : references_under(m, {ExprId(k)})) {
        touches_[k] = touches_[k] || is_open(ref->variable);
      }
    }
    for (std::size_t k = 0; k < m.variables.size(); ++k) {
      const Variable& v = m.variables[k];
      const std::size_t n = v.auxiliary ? 0 : forward.elements(VariableId(k));
      d_connected_.emplace_back(n, !is_open(VariableId(k)));
    }
  }

  /// Marks elements that are d-connected whatever the data are.
  void begin_with(const std::vector<std::vector<bool>>& seen) {
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (!seen[k].empty()) d_connected_[k] = seen[k];
  }

  /// Searches, and returns by VariableId and element whether it is d-connected. `by_itself`: an element with a value
  /// is.
  std::vector<std::vector<bool>> run(bool by_itself) {
    const Model& m = model();
    for (std::size_t k = 0; k < m.variables.size(); ++k) {
      const Variable& v = m.variables[k];
      if (v.auxiliary) continue;
      // Limits of a latent variable are data: for the variable itself, or for its parents alone.
      if (!has_data(v) && m[v.statement].limits.any()) {
        if (by_itself && is_own_number(VariableId(k))) add_all_of(VariableId(k));
        else mark(VariableId(k), 0, d_connected_[k].size());
      }
      if (!has_data(v) || (!v.clamped && !touches(v))) continue;
      for (std::size_t e = 0; e < d_connected_[k].size(); ++e) {
        if (by_itself && v.clamped && has_value(VariableId(k), e)) d_connected_[k][e] = true;
        if (has_value(VariableId(k), e)) todo_.push_back({VariableId(k), e});
      }
    }
    for (const Potential& p : m.potentials)
      for (const VariableRef* ref : references_under(m, {p.value}))
        mark(ref->variable, 0, size(ref->variable));
    return spread();
  }

  /// Adds all elements of a variable to the work list, as if they had data.
  void add_all_of(VariableId v) {
    for (std::size_t e = 0; touches(model()[v]) && e < size(v); ++e)
      todo_.push_back({v, e});
  }

 private:
  /// Returns true if the variable is a latent number of items or of unseen groups, each with a factor of its own. A
  /// chain and a member of a joint factor are d-connected by their limits.
  bool is_own_number(VariableId id) const {
    const Variable& v = model()[id];
    return is_open(id) && !v.joint && !model()[v.statement].lagged;
  }

  /// Processes the work list until it is empty. What is added to a number with limits is d-connected where the number
  /// is.
  std::vector<std::vector<bool>> spread() {
    const Model& m = model();
    while (!todo_.empty()) {
      const Element e = todo_.back();
      todo_.pop_back();
      const IndexValues at = forward_.at(e);
      const Statement& s = m[m[e.variable].statement];
      added_ = !m[e.variable].observed && !d_connected_[e.variable.index()][e.position] ? added_variable(m, s)
                                                                                        : std::nullopt;
      if (s.part) visit(*s.part, at);
      for (const Distribution* d : s.part ? distributions_of(s) : std::vector{&forward_.distribution(s, at)})
        for (const Parameter& p : d->parameters)
          visit(p.value, at);
    }
    return std::move(d_connected_);
  }

  /// Returns the model that is searched.
  const Model& model() const { return forward_.model(); }
  /// Returns the number of elements of a variable.
  std::size_t size(VariableId v) const { return d_connected_[v.index()].size(); }

  /// Returns true if some elements of the variable may not be d-connected.
  bool is_open(VariableId v) const { return open_[v.index()]; }

  /// Returns true if the statement of the variable reads an open variable.
  bool touches(const Variable& v) const {
    return std::ranges::any_of(roots_of(model()[v.statement]), [&](ExprId id) { return touches_[id.index()]; });
  }

  /// Returns true if the data have the element; of a vector, any entry.
  bool has_value(VariableId v, std::size_t element) const {
    const std::vector<double>& x = forward_.data().observed[v.index()].values;
    const std::size_t width = forward_.width(v);
    return std::ranges::any_of(std::span(x).subspan(element * width, width), [](double y) { return !std::isnan(y); });
  }

  /// Marks a range of elements as d-connected, together with those that share a step of a joint chain. Newly marked
  /// ones go to the work list.
  void mark(VariableId v, std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      if (d_connected_[v.index()][e]) continue;
      d_connected_[v.index()][e] = true;
      todo_.push_back({v, e});
      const auto state = together_.find({v, e});
      for (std::size_t k = 0; state != together_.end() && k < state->second.size(); ++k) {
        const Element other = state->second[k];
        if (is_open(other.variable)) mark(other.variable, other.position, other.position + 1);
      }
    }
  }

  /// Returns true if the index reads a latent category.
  bool is_latent(const Index& index) const {
    const auto* lookup = std::get_if<Index::Lookup>(&index.form);
    return lookup && std::ranges::any_of(references_under(model(), {lookup->category}),
                                         [&](const VariableRef* ref) { return !model()[ref->variable].observed; });
  }

  /// Marks the elements that a reference with latent indices may read. A latent index may select any element along its
  /// axis; other indices fix it. With rows of different lengths all elements are marked.
  void mark_selected(const VariableRef& ref, const IndexValues& at) {
    const std::vector<PlateId>& axes = model()[ref.variable].axes;
    std::size_t all = 1;
    for (const PlateId p : axes)
      all *= static_cast<std::size_t>(forward_.data().sizes[p.index()]);
    const bool is_ragged = std::ranges::any_of(axes, [&](PlateId p) { return model()[p].parent.has_value(); });
    if (is_ragged || all != size(ref.variable)) return mark(ref.variable, 0, size(ref.variable));
    const std::size_t read = forward_.read_by(ref, at).first;
    for (std::size_t e = 0; e < all; ++e) {
      bool selected = true;
      std::size_t candidate = e, target = read;
      for (std::size_t i = axes.size(); i-- > 0;) {
        const auto n = static_cast<std::size_t>(forward_.data().sizes[axes[i].index()]);
        const bool any = i >= ref.indices.size() || is_latent(ref.indices[i]);
        selected = selected && (any || candidate % n == target % n);
        candidate /= n;
        target /= n;
      }
      if (selected) mark(ref.variable, e, e + 1);
    }
  }

  /// Marks what an expression reads at these index values.
  void visit(ExprId id, const IndexValues& at) {
    if (!touches_[id.index()]) return;
    const Expr& e = model()[id];
    if (const auto* sum = std::get_if<SumOver>(&e.node)) {
      IndexValues inner = at;
      forward_.each(sum->index_vars, inner, [&] { visit(sum->body, inner); });
      return;
    }
    const auto* ref = std::get_if<VariableRef>(&e.node);
    if (ref && is_open(ref->variable) && ref->variable != added_) {
      if (std::ranges::any_of(ref->indices, [&](const Index& index) { return is_latent(index); })) {
        mark_selected(*ref, at);
      } else {
        const auto [begin, end] = forward_.read_by(*ref, at);
        mark(ref->variable, begin, end);
      }
    }
    for (const ExprId child : children_of(e))
      visit(child, at);
  }

  const ModelEvaluator& forward_;  // data and addresses of elements
  /// By VariableId: see the constructor.
  const std::vector<bool> open_;
  /// The elements that are d-connected together.
  const Together together_;
  std::vector<bool> touches_;                   // by ExprId: an open variable stands under it
  std::vector<std::vector<bool>> d_connected_;  // by VariableId and element
  std::vector<Element> todo_;                   // the work list
  std::optional<VariableId> added_;             // the variable that is not marked now
};

}  // namespace

std::vector<std::vector<bool>> d_connected_elements(const Analysed& analysed, const ModelEvaluator& forward,
                                                    const std::vector<std::vector<bool>>& seen) {
  const conditionals::Conditionals& c = analysed.schedule.conditionals;
  std::vector<bool> open;
  for (std::size_t k = 0; k < forward.model().variables.size(); ++k) {
    const bool block = k < c.block_of.size() && c.block_of[k].valid();
    const bool local = block && analysed.schedule.stage_of[c.block_of[k].index()];
    open.push_back(!forward.model().variables[k].observed && (!seen[k].empty() || local));
  }
  Reach reach(forward, std::move(open), joint_states(analysed, forward));
  reach.begin_with(seen);
  return reach.run(true);
}

std::vector<std::vector<bool>> d_connected_to_data(const ModelEvaluator& forward, const std::vector<bool>& open) {
  const Model& m = forward.model();
  Reach reach(forward, open, {});
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (is_latent(m.variables[k]) && !open[k]) reach.add_all_of(VariableId(k));
  return reach.run(false);
}

}  // namespace lehr
