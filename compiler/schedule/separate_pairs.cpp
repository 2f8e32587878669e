// Splits sums over all pairs (separate_pairs.h). A term is  sum(cells) c * f(data at the cell) * A(left) * B(right),
// where the pair at a cell has the elements `left` and `right`. Let f0 be f at the value that nearly all data have:
//
//     sum(cells with other data) c * (f - f0) * A * B  +  sum(all pairs) c * f0 * A * B  -  sum(uncovered pairs) ...
//
// The first and the last sum go over lists, plates that are added to the model. Their data name the elements, so
// updates read them through inverse lookups.
#include "compiler/schedule/separate_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/density/poly.h"
#include "compiler/schedule/pair_data.h"

namespace lehr::schedule {
namespace {

using density::Algebra;
using density::Atom;
using density::CoefData;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::IndexLookup;
using density::IndexVarId;
using density::Relation;
using density::Term;

/// The fewest cells of which it pays to visit some only.
constexpr Threshold<std::int64_t> kFewestCells("separate_pairs.fewest_cells", 10'000);
/// The largest share of the cells that is visited one by one.
constexpr Threshold<double> kMostListed("separate_pairs.most_listed", 0.1);

/// What the names of lists end and begin with. Names with a dot cannot occur in a model.
constexpr std::string_view kListed = ".listed", kUncovered = "uncovered.";

/// How a term goes over pairs.
struct PairedTerm {
  Pairs pairs;                       // which pairs
  std::vector<IndexVarId> cell;      // the index variables that number the cells: two, or one of a list
  IndexId left, right;               // the first and the second element of the pair at the cell
  std::vector<CoefId> common, own;   // factors of the coefficient: those that are the same at all cells, and the others
  std::vector<Guard> guards;         // those of the term but for `present` and a relation of `left` and `right`
  std::optional<Relation> relation;  // the guard on `left` and `right`
};

/// A plate that is added to the model: some of the pairs.
struct PairList {
  model::PlateId plate;                       // its elements number the pairs
  model::GivenId first, second;               // the elements of each pair
  std::vector<std::int64_t> cells;            // the positions in the data; empty for uncovered pairs
  std::map<DataSource, model::GivenId> at;    // data at the pairs
  std::optional<model::GivenId> excess = {};  // of uncovered pairs: UncoveredPair::excess
};

/// Rewrites the terms of one density.
class Separator {
 public:
  /// Changes all of `m`, `c` and `data`.
  Separator(model::Model& m, conditionals::Conditionals& c, BoundData& data, const std::vector<bool>& of_items,
            const Thresholds& thresholds)
      : m_(m),
        c_(c),
        a_(c.density.algebra),
        data_(data),
        facts_(m, data),
        of_items_(of_items),
        thresholds_(thresholds) {}

  /// Rewrites all terms that have the form. Returns false if none has.
  bool run() {
    std::vector<Term> out;
    bool changed = false;
    for (const Term& t : c_.density.terms) {
      std::optional<std::vector<Term>> parts = separated(t);
      changed = changed || parts;
      if (parts) std::ranges::move(*parts, std::back_inserter(out));
      else out.push_back(t);
    }
    c_.density.terms = std::move(out);
    return changed;
  }

 private:
  /// Returns the terms whose sum is `t`, or nothing if it has another form or nothing is saved.
  std::optional<std::vector<Term>> separated(const Term& t) {
    const std::optional<PairedTerm> p = paired(t);
    if (!p || facts_.cells(p->pairs) < thresholds_[kFewestCells] || !can_move(t, *p)) return std::nullopt;
    // What the data give: the factor f0 at nearly all cells, and the cells that differ.
    CoefId at_most_cells = a_.number(1);
    const std::optional<DataSource> source = p->own.empty() ? std::nullopt : source_of(*p);
    std::optional<double> common;
    if (!p->own.empty()) {
      if (!source) return std::nullopt;
      common = facts_.common_value(p->pairs, *source);
      const std::optional<CoefId> f0 = common ? common_factor(*p, *source, *common) : std::nullopt;
      if (!f0) return std::nullopt;
      at_most_cells = *f0;
    }
    const bool vanishes = a_.literal(at_most_cells) == 0.0;
    // A sum over all pairs of an array has its residual form as it is.
    if (!source && !p->pairs.named_by && !p->pairs.present) return std::nullopt;
    const Coverage* const coverage = vanishes ? nullptr : coverage_of(p->pairs);
    if (!vanishes && !coverage) return std::nullopt;
    PairList* const list = source ? others(p->pairs, *source, *common) : nullptr;
    if (source && !list) return std::nullopt;
    std::vector<Term> out;
    if (list) add_others(t, *p, at_most_cells, *list, out);
    if (!vanishes) add_all_pairs(t, *p, at_most_cells, *coverage, out);
    return out;
  }

  /// Returns how the term goes over pairs; nothing if it has another form.
  std::optional<PairedTerm> paired(const Term& t) {
    for (const Atom& x : t.atoms) {
      const conditionals::BlockId b = c_.block_of[x.variable.index()];
      if (c_[b].chain || of_items_[b.index()]) return std::nullopt;
    }
    for (const IndexVarId first : t.index_vars) {
      if (auto p = paired(t, {first})) return p;
      for (const IndexVarId second : t.index_vars) {
        if (auto p = second == first ? std::nullopt : paired(t, {first, second})) return p;
      }
    }
    return std::nullopt;
  }

  /// Returns how the term goes over pairs whose cells have the given index variables, or nothing.
  std::optional<PairedTerm> paired(const Term& t, std::vector<IndexVarId> cell) {
    for (const IndexVarId b : cell)
      if (a_[b].parent || a_[b].selector) return std::nullopt;
    PairedTerm out{{}, std::move(cell), {}, {}, {}, {}, {}, {}};
    if (!find_sides(t, out)) return std::nullopt;
    const auto in_cell = [&](const auto& part) { return mentions(part, out.cell); };
    if (std::ranges::any_of(t.multiplicities, [&](const auto& x) { return in_cell(x.count); })) return std::nullopt;
    if (std::ranges::any_of(t.index_vars, [&](IndexVarId b) { return a_[b].parent && in_cell(*a_[b].parent); }))
      return std::nullopt;
    for (const CoefId f : a_.factors(t.coef))
      (in_cell(f) ? out.own : out.common).push_back(f);
    for (const Guard& g : t.guards) {
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      const bool own = std::ranges::any_of(out.cell, [&](IndexVarId b) { return mentioned.contains(b); });
      if (!own) {
        out.guards.push_back(g);
      } else if (g.present) {
        if (out.pairs.present || !is_cell(g.element, out.cell)) return std::nullopt;
        out.pairs.present = g.present;
      } else if (!out.relation && (g.relation == Relation::not_equal || g.relation == Relation::equal) &&
                 ((g.left == out.left && g.right == out.right) || (g.left == out.right && g.right == out.left))) {
        out.relation = g.relation;
      } else {
        return std::nullopt;
      }
    }
    // Without data or missing values, two index variables are no array of pairs.
    if (out.cell.size() == 2 && !out.pairs.present && !source_of(out)) return std::nullopt;
    return out;
  }

  /// Finds the two elements of the pair. For an array they are its index variables, for a list lookups in data. Atoms
  /// mention the cell by one of them, as an axis, and both occur in atoms, unless a guard says that they are equal.
  bool find_sides(const Term& t, PairedTerm& out) {
    std::vector<IndexId> sides;
    bool equal = false;
    for (const IndexVarId b : out.cell)
      if (out.cell.size() == 2) sides.push_back(a_.index(b));
    for (const Guard& g : t.guards) {
      if (out.cell.size() == 2 || g.present || !names_element(g.left, out.cell[0])) continue;
      if (!sides.empty() || g.left == g.right || !names_element(g.right, out.cell[0])) return false;
      sides = {g.left, g.right};
      equal = g.relation == Relation::equal;
    }
    const auto side_of = [&](IndexId i) { return std::ranges::find(sides, i) - sides.begin(); };
    std::set<std::ptrdiff_t> used;
    for (const Atom& x : t.atoms) {
      std::set<std::ptrdiff_t> here;
      if (std::ranges::any_of(x.event, [&](IndexId i) { return mentions(i, out.cell); })) return false;
      for (const IndexId i : x.axes) {
        if (!mentions(i, out.cell)) continue;
        const bool fresh = out.cell.size() == 1 && sides.size() < 2 && side_of(i) == std::ssize(sides);
        if (fresh && names_element(i, out.cell[0])) sides.push_back(i);
        if (side_of(i) == std::ssize(sides)) return false;
        here.insert(side_of(i));
      }
      if (here.size() > 1) return false;
      used.merge(here);
    }
    if (used.empty() || sides.size() != 2 || (used.size() != 2 && !equal)) return false;
    // Lists are the same whichever element comes first.
    if (out.cell.size() == 1 && source_named(sides[1]) < source_named(sides[0])) std::swap(sides[0], sides[1]);
    out.left = sides[0];
    out.right = sides[1];
    out.pairs.elements = plate_of(out.left);
    if (out.cell.size() == 1) out.pairs.named_by = {source_named(out.left), source_named(out.right)};
    return plate_of(out.right) == out.pairs.elements && !m_[out.pairs.elements].parent;
  }

  /// Returns the data that a lookup reads.
  const DataSource& source_named(IndexId i) const { return std::get<IndexLookup>(a_[i]).source; }

  /// Returns the plate that the index, an index variable or a lookup, is an element of.
  model::PlateId plate_of(IndexId i) const {
    if (const auto* x = std::get_if<density::IndexVarRef>(&a_[i])) return m_[a_[x->bound].plate].set;
    return std::visit([&](auto id) { return m_[*m_[id].value_plate].set; }, source_named(i));
  }

  /// Returns true if the index is an element of a plate that a declared array gives for each element of a list.
  bool names_element(IndexId i, IndexVarId cell) const {
    const auto* x = std::get_if<IndexLookup>(&a_[i]);
    const auto* given = x ? std::get_if<model::GivenId>(&x->source) : nullptr;
    return given && is_cell(x->indices, {cell}) && !m_[*given].row && m_[*given].value_plate;
  }

  /// Returns true if the indices are those of a cell.
  bool is_cell(const std::vector<IndexId>& indices, const std::vector<IndexVarId>& cell) const {
    return std::ranges::equal(indices, cell, [&](IndexId i, IndexVarId b) {
      const auto* x = std::get_if<density::IndexVarRef>(&a_[i]);
      return x && x->offset == 0 && x->bound == b;
    });
  }

  /// Returns true if an index expression or coefficient mentions an index variable of the cell.
  template <class Part>
  bool mentions(Part part, const std::vector<IndexVarId>& cell) const {
    return std::ranges::any_of(cell, [&](IndexVarId b) { return a_.mentions(part, b); });
  }

  /// Returns an array that has a number for each cell, of those that the own factors read; nothing if there is none.
  std::optional<DataSource> source_of(const PairedTerm& p) const {
    for (const CoefId f : p.own)
      if (const auto found = source_in(f, p.cell)) return found;
    return std::nullopt;
  }

  /// Returns an array of numbers that the coefficient reads at the cell, or nothing.
  std::optional<DataSource> source_in(CoefId c, const std::vector<IndexVarId>& cell) const {
    if (const auto* x = std::get_if<CoefData>(&a_[c]))
      return is_cell(x->indices, cell) ? std::optional(x->source) : std::nullopt;
    for (const CoefId part : density::parts_of(a_[c]))
      if (const auto found = source_in(part, cell)) return found;
    return std::nullopt;
  }

  /// Returns the coefficient with `by` in place of the number of `source` at the cell; nothing if it has a part that
  /// cannot be replaced.
  std::optional<CoefId> with_data(CoefId c, const PairedTerm& p,
                                  const std::function<std::optional<CoefId>(const CoefData&)>& by) {
    if (!mentions(c, p.cell)) return c;
    const density::CoefNode node = a_[c];
    if (const auto* x = std::get_if<CoefData>(&node)) {
      const std::optional<CoefId> replaced = is_cell(x->indices, p.cell) ? by(*x) : std::nullopt;
      return replaced ? *replaced : c;
    }
    const auto* sum = std::get_if<density::CoefAdd>(&node);
    const auto* product = std::get_if<density::CoefMultiply>(&node);
    const auto* function = std::get_if<density::CoefApply>(&node);
    if (!sum && !product && !function) return std::nullopt;
    std::vector<CoefId> parts;
    for (const CoefId part : density::parts_of(node)) {
      const std::optional<CoefId> replaced = with_data(part, p, by);
      if (!replaced) return std::nullopt;
      parts.push_back(*replaced);
    }
    return sum ? a_.add(parts) : product ? a_.multiply(parts) : a_.apply(function->function, parts[0]);
  }

  /// Returns the product of the own factors at the common value of the data, which nearly all cells have. Returns
  /// nothing if it depends on other data at the cell, or is not finite.
  std::optional<CoefId> common_factor(const PairedTerm& p, const DataSource& source, double common) {
    std::vector<CoefId> at_common;
    for (const CoefId f : p.own) {
      const auto value = with_data(f, p, [&](const CoefData& x) {
        return x.source == source ? std::optional(a_.number(common)) : std::nullopt;
      });
      if (!value || is_infinite(*value)) return std::nullopt;
      if (a_.literal(*value) == 0.0) return value;
      at_common.push_back(*value);
    }
    const CoefId out = a_.multiply(at_common);
    const IndexId none = a_.index(density::IndexConstant{0});
    return mentions(a_.substitute(out, elements(p, none, none)), p.cell) ? std::nullopt : std::optional(out);
  }

  /// Returns true if a function of a literal number is left in the coefficient, which means that it is not finite.
  bool is_infinite(CoefId c) const {
    const auto* function = std::get_if<density::CoefApply>(&a_[c]);
    if (function && a_.literal(function->argument)) return true;
    return std::ranges::any_of(density::parts_of(a_[c]), [&](CoefId part) { return is_infinite(part); });
  }

  /// Returns the most cells of which it pays to visit each.
  std::int64_t most_listed(const Pairs& pairs) const {
    return static_cast<std::int64_t>(thresholds_[kMostListed] * static_cast<double>(facts_.cells(pairs)));
  }

  /// Returns which pairs there are, or null if there are too many exceptions.
  const Coverage* coverage_of(const Pairs& pairs) {
    auto found = coverages_.find(pairs);
    if (found == coverages_.end()) found = coverages_.emplace(pairs, facts_.coverage(pairs, most_listed(pairs))).first;
    return found->second ? &*found->second : nullptr;
  }

  /// Returns the list of the cells whose data differ from the common value, or null if they are too many.
  PairList* others(const Pairs& pairs, const DataSource& source, double common) {
    const auto key = std::pair(pairs, source);
    auto found = others_.find(key);
    if (found == others_.end()) {
      found = others_.emplace(key, std::nullopt).first;
      if (auto cells = facts_.others(pairs, source, common, most_listed(pairs))) {
        std::vector<double> first, second;
        for (const std::int64_t cell : *cells) {
          const auto [left, right] = facts_.elements(pairs, cell);
          first.push_back(static_cast<double>(left));
          second.push_back(static_cast<double>(right));
        }
        found->second =
            add_list(name_of(source) + std::string(kListed), pairs.elements, std::move(first), std::move(second));
        found->second->cells = std::move(*cells);
      }
    }
    return found->second ? &*found->second : nullptr;
  }

  /// Returns the list of the exceptions of a coverage.
  const PairList& uncovered(const Pairs& pairs, const Coverage& coverage) {
    auto found = uncovered_.find(pairs);
    if (found != uncovered_.end()) return found->second;
    std::vector<double> first, second, excess;
    for (const UncoveredPair& x : coverage.exceptions) {
      first.push_back(static_cast<double>(x.first));
      second.push_back(static_cast<double>(x.second));
      excess.push_back(x.excess);
    }
    const std::string name = std::string(kUncovered) + std::to_string(uncovered_.size());
    PairList list = add_list(name, pairs.elements, std::move(first), std::move(second));
    list.excess =
        add_given({name + ".excess", {}, {list.plate}, {}, model::GivenType::real, {}, false}, std::move(excess));
    return uncovered_.emplace(pairs, std::move(list)).first->second;
  }

  /// Adds a list of pairs to the model and the data.
  PairList add_list(const std::string& name, model::PlateId elements, std::vector<double> first,
                    std::vector<double> second) {
    const model::PlateId plate(m_.plates.size());
    // The size of an ordered plate is read at run time.
    m_.plates.push_back({name, {}, plate, {}, true, {}, {}, 0, {}});
    data_.sizes.resize(m_.plates.size(), -1);
    data_.sizes.back() = std::ssize(first);
    data_.sized_by_data.resize(m_.plates.size(), true);
    data_.offsets.resize(m_.plates.size());
    data_.labels.resize(m_.plates.size());
    PairList out{plate, {}, {}, {}, {}};
    out.first =
        add_given({name + ".first", {}, {plate}, {}, model::GivenType::category, elements, false}, std::move(first));
    out.second =
        add_given({name + ".second", {}, {plate}, {}, model::GivenType::category, elements, false}, std::move(second));
    return out;
  }

  /// Adds a data array to the model, with its values.
  model::GivenId add_given(model::Given given, std::vector<double> values) {
    m_.givens.push_back(std::move(given));
    data_.givens.resize(m_.givens.size());
    data_.givens.back().values = std::move(values);
    return model::GivenId(m_.givens.size() - 1);
  }

  /// Returns the name of a data array.
  std::string name_of(const DataSource& source) const {
    return std::visit([&](auto id) { return m_[id].name; }, source);
  }

  /// Returns the array of the data of `source` at the listed pairs.
  model::GivenId at_list(const DataSource& source, PairList& list) {
    const auto found = list.at.find(source);
    if (found != list.at.end()) return found->second;
    const std::vector<double>& from = facts_.values(source);
    std::vector<double> values;
    for (const std::int64_t cell : list.cells)
      values.push_back(from[static_cast<std::size_t>(cell)]);
    const auto type = [&]() -> model::GivenType {
      if (const auto* given = std::get_if<model::GivenId>(&source)) return m_[*given].type;
      const math::Support support = m_[std::get<model::VariableId>(source)].support;
      return support == math::Support::count || support == math::Support::bit ? model::GivenType::count
                                                                              : model::GivenType::real;
    };
    const std::string name = m_[list.plate].name + "." + name_of(source);
    const model::GivenId added = add_given({name, {}, {list.plate}, {}, type(), {}, false}, std::move(values));
    list.at.emplace(source, added);
    return added;
  }

  /// Adds the term that goes over the listed cells, with the factor minus that at most cells.
  void add_others(const Term& t, const PairedTerm& p, CoefId at_most_cells, PairList& list, std::vector<Term>& out) {
    if (list.cells.empty()) return;
    const IndexVarId e = a_.bound({m_[list.plate].name, list.plate, std::nullopt, false});
    std::vector<CoefId> factors;
    for (const CoefId f : p.own) {
      factors.push_back(*with_data(f, p, [&](const CoefData& x) {
        return std::optional(a_.coef(CoefData{at_list(x.source, list), {a_.index(e)}}));
      }));
    }
    CoefId factor = a_.multiply(factors);
    if (a_.literal(at_most_cells) != 0.0) factor = a_.add(factor, a_.multiply(a_.number(-1), at_most_cells));
    add_listed(t, p, factor, list, e, out);
  }

  /// Adds the term over all pairs that there are, with the given factor.
  void add_all_pairs(const Term& t, const PairedTerm& p, CoefId factor, const Coverage& coverage,
                     std::vector<Term>& out) {
    const std::string name = m_[p.pairs.elements].name;
    const IndexVarId i = a_.bound({name, p.pairs.elements, std::nullopt, false});
    const IndexVarId j = a_.bound({name, p.pairs.elements, std::nullopt, false});
    const IndexId first = a_.index(i), second = a_.index(j);
    if ((coverage.above || coverage.below) && p.relation != Relation::equal) {
      out.push_back(moved(t, p, factor, {i, j}, first, second));
      const bool both = coverage.above && coverage.below;
      Guard pairs{both ? Relation::not_equal : Relation::less, first, second, {}, {}};
      if (!both && coverage.below) std::swap(pairs.left, pairs.right);
      out.back().guards.push_back(std::move(pairs));
    }
    if (coverage.diagonal && p.relation != Relation::not_equal)
      std::ranges::move(density::normalise(a_, m_, moved(t, p, factor, {i}, first, first)), std::back_inserter(out));
    if (coverage.exceptions.empty()) return;
    const PairList& list = uncovered(p.pairs, coverage);
    const IndexVarId e = a_.bound({m_[list.plate].name, list.plate, std::nullopt, false});
    add_listed(t, p, a_.multiply(factor, a_.coef(CoefData{*list.excess, {a_.index(e)}})), list, e, out);
  }

  /// Adds the term over a list, with the given factor in place of the own ones.
  void add_listed(const Term& t, const PairedTerm& p, CoefId factor, const PairList& list, IndexVarId e,
                  std::vector<Term>& out) {
    const IndexId first = a_.index(IndexLookup{list.first, {a_.index(e)}});
    const IndexId second = a_.index(IndexLookup{list.second, {a_.index(e)}});
    out.push_back(moved(t, p, factor, {e}, first, second));
    if (p.relation) out.back().guards.push_back({*p.relation, first, second, {}, {}});
  }

  /// Returns a substitution of the elements of the pair.
  static Algebra::Substitution elements(const PairedTerm& p, IndexId first, IndexId second) {
    return [&p, first, second](IndexId i) -> std::optional<IndexId> {
      return i == p.left ? std::optional(first) : i == p.right ? std::optional(second) : std::nullopt;
    };
  }

  /// Returns the term over other index variables in place of the cell's, with other elements and another factor in
  /// place of the own ones, without guards on them.
  Term moved(const Term& t, const PairedTerm& p, CoefId factor, const std::vector<IndexVarId>& over, IndexId first,
             IndexId second) {
    const Algebra::Substitution s = elements(p, first, second);
    Term out = t;
    out.coef = a_.multiply(a_.multiply(p.common), a_.substitute(factor, s));
    out.guards = p.guards;
    for (Atom& x : out.atoms)
      for (IndexId& i : x.axes)
        i = a_.substitute(i, s);
    std::erase_if(out.index_vars, [&](IndexVarId b) { return std::ranges::find(p.cell, b) != p.cell.end(); });
    out.index_vars.insert(out.index_vars.begin(), over.begin(), over.end());
    return out;
  }

  /// Returns true if nothing of the term depends on the cell but by its elements and by data at the cell.
  bool can_move(const Term& t, const PairedTerm& p) {
    const IndexId none = a_.index(density::IndexConstant{0});
    const Algebra::Substitution s = elements(p, none, none);
    for (const CoefId f : p.own) {
      const auto probe = with_data(f, p, [&](const CoefData&) { return std::optional(a_.number(0.5)); });
      if (!probe || mentions(a_.substitute(*probe, s), p.cell)) return false;
    }
    return std::ranges::all_of(t.atoms, [&](const Atom& x) {
      return std::ranges::none_of(x.axes, [&](IndexId i) { return mentions(a_.substitute(i, s), p.cell); });
    });
  }

  model::Model& m_;                    // the model
  conditionals::Conditionals& c_;      // its blocks and terms
  Algebra& a_;                         // of the terms
  BoundData& data_;                    // its data
  PairData facts_;                     // what they say about pairs
  const std::vector<bool>& of_items_;  // by block: an item stage updates it
  const Thresholds& thresholds_;       // the thresholds
  std::map<Pairs, std::optional<Coverage>> coverages_;
  std::map<std::pair<Pairs, DataSource>, std::optional<PairList>> others_;
  std::map<Pairs, PairList> uncovered_;
};

}  // namespace

bool is_pair_list(const model::Plate& plate) {
  return plate.name.ends_with(kListed) || plate.name.starts_with(kUncovered);
}

bool separate_pairs(model::Model& model, conditionals::Conditionals& conditionals, BoundData& data,
                    const std::vector<bool>& of_items, const Thresholds& thresholds) {
  if (!Separator(model, conditionals, data, of_items, thresholds).run()) return false;
  for (conditionals::Block& b : conditionals.blocks) {
    b.uses = conditionals::uses_of(conditionals.density, b.variable);
    b.sequential = conditionals::sequential_axes(conditionals.density, model[b.variable], b.variable);
  }
  return true;
}

}  // namespace lehr::schedule
