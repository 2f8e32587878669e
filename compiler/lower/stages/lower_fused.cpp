// Fused categories (fused_categories.h): the plan of one, and the visit of one element. The probabilities of an element
// are formed in a work array, added to whatever needs them, and overwritten by the next element's.
//
// If all log odds are table rows or vectors of the item (LDA), probabilities are products of exponentials that were
// taken before. No exponential is then taken per element. If the sum of the products underflows, they are computed
// again from log odds.
#include "compiler/lower/stages/fused_element.h"

#include <algorithm>

namespace lehr::loops {

using schedule::ItemStage;

bool FusedCategories::is_vector(const Atom& own, const Atom& partner, IndexVarId value) const {
  std::vector<IndexId> indices = partner.axes;
  indices.insert(indices.end(), partner.event.begin(), partner.event.end());
  std::size_t values = 0;
  for (const IndexId i : indices) {
    const auto* b = std::get_if<density::IndexVarRef>(&a_[i]);
    if (b && b->bound == value) ++values;
    else if (i != own.axes[0]) return false;
  }
  return values == 1;
}

FusedCategory FusedCategories::plan_fused(const ItemStage& stage, BlockId z) const {
  FusedCategory s;
  s.block = z;
  s.stage = &stage;
  const model::Variable& var = m_[s_.conditionals[z].variable];
  s.values = layout_.size[m_[*var.value_plate].set.index()];
  // With one element an item, an exponential for each vector saves nothing.
  bool all_factor = var.axes.size() > 1;
  for (const ItemStage::LocalTerm& t : stage.terms) {
    for (std::size_t k = 0; k < t.term.atoms.size(); ++k) {
      if (t.term.atoms[k].variable != s_.conditionals[z].variable) continue;
      FusedUse u;
      u.term = &t;
      u.atom = k;
      u.value = std::get<density::IndexVarRef>(a_[t.term.atoms[k].event[0]]).bound;
      for (std::size_t j = 0; j < t.term.atoms.size(); ++j) {
        // The schedule fuses a category only if its terms have one other local atom at most (can_fuse).
        if (j != k) u.partner = j;
      }
      if (t.statistic) {
        const schedule::Statistic& st = s_.statistics[*t.statistic];
        if (terms_.is_row(t.term, k, st, st.at)) u.kind = FusedUse::Kind::table;
      } else if (u.partner && terms_.is_plain(t.term, k) &&
                 is_vector(t.term.atoms[k], t.term.atoms[*u.partner], u.value)) {
        u.kind = FusedUse::Kind::vector;
      }
      all_factor = all_factor && u.kind != FusedUse::Kind::general;
      s.uses.push_back(u);
    }
  }
  s.factored = all_factor;
  s.entropy_from_sums = is_summed(s);
  return s;
}

void FusedCategories::stream_arrays(FusedCategory& s) {
  const std::string& name = m_[s_.conditionals[s.block].variable].name;
  s.probs = work_array("probs." + name, {s.values});
  s.odds = work_array("odds." + name, {s.values});
  s.item_odds = work_array("item_odds." + name, {s.values});
  s.item_exp = work_array("item_exp." + name, {s.values});
  if (has_empty_elements(s))
    s.counted = b_.buffer(b_.fresh("counted." + name + "."), Role::scratch,
                          {longest(m_[s_.conditionals[s.block].variable])}, Type::i64);
}

Env FusedCategories::stream_env(const FusedCategory& s, std::size_t use, const std::vector<ExprId>& element) const {
  const FusedUse& u = s.uses[use];
  const Atom& own = u.term->term.atoms[u.atom];
  Env env;
  for (std::size_t x = 0; x < own.axes.size() && x < element.size(); ++x) {
    env[std::get<density::IndexVarRef>(a_[own.axes[x]]).bound] = element[x];
  }
  return env;
}

void FusedCategories::each_row(const schedule::Statistic& s,
                               const std::function<void(const std::vector<ExprId>&)>& body) {
  std::vector<model::PlateId> rows;
  for (std::size_t k = 0; k < s.axes.size(); ++k) {
    if (k != s.contiguous) rows.push_back(s.axes[k]);
  }
  terms_.for_elements(rows, body);
}

void FusedCategories::exp_table(ArrayId table) {
  const schedule::Statistic& s = *layout_.statistic.at(table);
  const BufferId from = layout_.array.at(table), to = layout_.exp_table.at(table), shift = layout_.exp_shift.at(table);
  const ExprId values = b_.extent(layout_.size[s.axes[s.contiguous].index()]);
  each_row(s, [&](std::vector<ExprId> row) {
    const auto at = [&](ExprId k) {
      std::vector<ExprId> all = row;
      all.push_back(k);
      return all;
    };
    const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
    b_.for_range("k", b_.i(0), values, [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(from, at(k)))); });
    const ExprId local = weight(Weight::local);
    b_.store(shift, row, b_.mul(local, b_.get(top)));
    b_.for_range("k", b_.i(0), values, [&](ExprId k) {
      b_.store(to, at(k), b_.exp(b_.mul(local, b_.sub(b_.load(from, at(k)), b_.get(top)))));
    });
    if (const auto columns = layout_.exp_columns.find(table); columns != layout_.exp_columns.end())
      b_.for_range("k", b_.i(0), values, [&](ExprId k) { b_.store(columns->second, {k, row[0]}, b_.load(to, at(k))); });
  });
}

void FusedCategories::stream_elements(const FusedCategory& s, ExprId item, FusedVisit visit) {
  visit.item_shift = s.shift.valid() ? s.shift : stream_item_setup(s, item);
  each_element(s, item, [&](const std::vector<ExprId>& element) { visit_element(s, element, visit); });
  if (s.entropy_from_sums && visit.final && visit.mode != StageMode::seed) subtract_vector_means(s, item, visit);
}

bool FusedCategories::has_empty_elements(const FusedCategory& s) const {
  const conditionals::Block& block = s_.conditionals[s.block];
  const model::Variable& var = m_[block.variable];
  return model::is_source(var) && m_[var.auxiliary->host].support != math::Support::category && !block.drawn;
}

ScalarId FusedCategories::find_counted(const FusedCategory& s, const std::vector<ExprId>& row) {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  const ScalarId length = b_.local(b_.fresh("found"), b_.i(0));
  terms_.for_elements(
      var.axes,
      [&](const std::vector<ExprId>& element) {
        const ExprId counts = b_.less(b_.f(0), updates_.owned_multiplicity(var, element));
        // The position is stored in any case, and the next one overwrites it if the count is 0: that needs no branch.
        b_.store(s.counted, {b_.get(length)}, element.back());
        b_.assign(length, b_.add(b_.get(length), b_.select(counts, b_.i(1), b_.i(0))));
      },
      row);
  return length;
}

void FusedCategories::open_item(FusedCategory& s, ExprId item) {
  if (has_empty_elements(s) && m_[s_.conditionals[s.block].variable].axes.size() == 2)
    s.counted_length = find_counted(s, {item});
}

void FusedCategories::each_element(const FusedCategory& s, ExprId item, const ElementBody& body) {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  if (!has_empty_elements(s)) return terms_.for_elements(var.axes, body, {item});
  if (var.axes.size() == 1)
    return b_.if_then(b_.less(b_.f(0), updates_.owned_multiplicity(var, {item})), [&] { body({item}); });
  const auto each_row = [&](const std::vector<ExprId>& row) {
    const ScalarId length = s.counted_length.valid() ? s.counted_length : find_counted(s, row);
    b_.for_range("counted", b_.i(0), b_.get(length), [&](ExprId k) {
      std::vector<ExprId> element = row;
      element.push_back(b_.let(b_.fresh(m_[var.axes.back()].name), b_.load(s.counted, {k})));
      body(element);
    });
  };
  terms_.for_elements({var.axes.begin(), var.axes.end() - 1}, each_row, {item});
}

ArrayId FusedCategories::table_of(const FusedUse& u) const { return s_.statistics[*u.term->statistic].table; }

void FusedCategories::each_value(const FusedCategory& s, const std::function<void(ExprId)>& body) {
  b_.for_range("k", b_.i(0), b_.extent(s.values), body);
}

ExprId FusedCategories::table_entry(const Element& e, std::size_t use, BufferId table, ExprId k) {
  std::vector<ExprId> at = e.rows[use];
  at.push_back(k);
  return b_.load(table, at);
}

FusedCategories::Element FusedCategories::open_element(const FusedCategory& s, const std::vector<ExprId>& element,
                                                       const FusedVisit& visit) {
  Element e{s, element, visit, {}, {}, {}, {}};
  for (std::size_t k = 0; k < s.uses.size(); ++k)
    e.envs.push_back(stream_env(s, k, element));
  e.rows.resize(s.uses.size());
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    if (s.uses[k].kind != FusedUse::Kind::table) continue;
    const schedule::Statistic& st = s_.statistics[*s.uses[k].term->statistic];
    for (std::size_t x = 0; x < st.at.size(); ++x) {
      if (x != st.contiguous) e.rows[k].push_back(b_.let(b_.fresh("row"), terms_.index(st.at[x], e.envs[k])));
    }
  }
  e.total = b_.local(b_.fresh("total"), b_.f(0));
  e.shift = b_.local(b_.fresh("shift"), b_.f(0));
  return e;
}

void FusedCategories::each_odds(const Element& e, std::size_t use,
                                const std::function<void(ExprId value, ExprId odds)>& body) {
  const FusedUse& u = e.stream.uses[use];
  ArrayTerm t{&u.term->term, std::nullopt, &u.term->at,
              updates_.natural_weights(e.stream.block, u.term->statistic.has_value())};
  if (u.term->statistic) t.array = table_of(u);
  terms_.emit(u.term->term, terms_.factors(t, {u.atom}, s_.conditionals[e.stream.block].variable), {}, e.envs[use],
              u.value, [&](ExprId odds, const Env& env) { body(env.at(u.value), odds); });
}

void FusedCategories::from_odds(const Element& e) {
  const FusedCategory& s = e.stream;
  b_.fill(s.odds, b_.f(0));
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    const FusedUse& u = s.uses[k];
    if (s.direct.valid() && u.kind == FusedUse::Kind::vector) {
      const auto add = [&](ExprId v, ExprId odds) { b_.add_to(s.odds, {v}, odds); };
      if_direct(s, e.element[0], add, [&] { each_value(s, [&](ExprId v) { add(v, b_.load(s.item_odds, {v})); }); });
      continue;
    }
    each_odds(e, k, [&](ExprId v, ExprId odds) { b_.add_to(s.odds, {v}, odds); });
  }
  const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
  each_value(s, [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(s.odds, {k}))); });
  b_.assign(e.shift, b_.get(top));
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  each_value(s, [&](ExprId k) {
    const ExprId x = b_.let(b_.fresh("e"), b_.exp(b_.sub(b_.load(s.odds, {k}), b_.get(top))));
    b_.store(s.probs, {k}, x);
    b_.accumulate(sum, x);
  });
  b_.assign(e.total, b_.get(sum));
}

void FusedCategories::from_exponentials(const Element& e) {
  const FusedCategory& s = e.stream;
  b_.assign(e.shift, e.visit.item_shift);
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    // The shift matters for log Z in the entropy alone.
    if (s.uses[k].kind == FusedUse::Kind::table && e.visit.final) {
      b_.assign(e.shift, b_.add(b_.get(e.shift), b_.load(layout_.exp_shift.at(table_of(s.uses[k])), e.rows[k])));
    }
  }
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  each_value(s, [&](ExprId k) {
    ExprId p = b_.load(s.item_exp, {k});
    for (std::size_t j = 0; j < s.uses.size(); ++j) {
      if (s.uses[j].kind == FusedUse::Kind::table)
        p = b_.mul(p, table_entry(e, j, layout_.exp_table.at(table_of(s.uses[j])), k));
    }
    const ExprId x = b_.let(b_.fresh("p"), p);
    b_.store(s.probs, {k}, x);
    b_.accumulate(sum, x);
  });
  b_.assign(e.total, b_.get(sum));
  // Products that are too small have lost digits, or are 0.
  b_.if_then(b_.less(b_.get(sum), b_.f(kUnderflow)), [&] { from_odds(e); });
}

void FusedCategories::form_probabilities(const Element& e) {
  const FusedCategory& s = e.stream;
  if (e.visit.mode == StageMode::seed && layout_.picks.contains(s.block)) {
    each_value(s, [&](ExprId k) {
      b_.store(s.probs, {k},
               b_.select(b_.equal(k, b_.load(layout_.picks.at(s.block), {e.element[0]})), b_.f(1), b_.f(0)));
    });
    b_.assign(e.total, b_.f(1));
    return;
  }
  if (s.factored) from_exponentials(e);
  else from_odds(e);
  if (!s_.conditionals[s.block].drawn) return;
  const ExprId norm = b_.let(b_.fresh("norm"), b_.div(b_.f(1), b_.get(e.total)));
  draws_.category(
      s.block, e.element, b_.extent(s.values),
      updates_.owned_multiplicity(m_[s_.conditionals[s.block].variable], e.element),
      [&](ExprId k) { return b_.mul(norm, b_.load(s.probs, {k})); },
      [&](ExprId k, ExprId share) { b_.store(s.probs, {k}, share); });
  b_.assign(e.total, b_.f(1));
}

void FusedCategories::clamp(const Element& e) {
  const BlockId b = e.stream.block;
  clamps_.put_category(b, e.element, b_.extent(e.stream.values),
                       [&](ExprId k, ExprId p) { b_.store(e.stream.probs, {k}, p); });
  if (clamps_.any(b)) b_.assign(e.total, b_.select(clamps_.is_observed(b, e.element), b_.f(1), b_.get(e.total)));
}

std::vector<Factor> FusedCategories::spread_factors(const FusedUse& u, ExprId scale) {
  const Term& t = u.term->term;
  std::vector<Factor> fs;
  if (u.partner) {
    const Atom& p = t.atoms[*u.partner];
    const std::vector<Weight> weights = updates_.natural_weights(s_.conditionals.block_of[p.variable.index()], false);
    fs = terms_.factors({&t, std::nullopt, nullptr, weights}, {u.atom, *u.partner}, p.variable);
  } else {
    fs = terms_.factors({&t}, {u.atom});
  }
  fs.push_back({{}, [scale](const Env&) { return scale; }});
  return fs;
}

void FusedCategories::spread(const Element& e, std::size_t use, ExprId scale) {
  const FusedUse& u = e.stream.uses[use];
  const Term& t = u.term->term;
  std::vector<Factor> fs = spread_factors(u, scale);
  fs.push_back({{u.value}, [&](const Env& env) {
                  const ExprId p = b_.load(e.stream.probs, {env.at(u.value)});
                  return u.partner ? terms_.choice_weight(t.atoms[*u.partner].variable, p) : p;
                }});
  if (u.partner) {
    // The partner's block is updated later in the item, so its natural parameters are added up in a work array.
    const Atom& p = t.atoms[*u.partner];
    const model::Variable& other = m_[p.variable];
    const BufferId into = naturals_of(u, e.visit.arrays);
    terms_.emit(t, std::move(fs), {}, e.envs[use], u.value, [&](ExprId value, const Env& env) {
      std::vector<IndexId> inner(p.axes.begin() + 1, p.axes.end());
      std::vector<ExprId> to = terms_.address({other.axes.begin() + 1, other.axes.end()}, inner, env);
      for (IndexId i : p.event)
        to.push_back(terms_.index(i, env));
      b_.add_to(into, to, value);
    });
    return;
  }
  if (!e.visit.final) return;
  // A term without a partner belongs to a statistic, or it has the category alone and is part of the energy.
  terms_.emit(t, std::move(fs), {}, e.envs[use], u.value, [&](ExprId value, const Env& env) {
    if (u.term->statistic) {
      const schedule::Statistic& st = s_.statistics[*u.term->statistic];
      b_.add_to(layout_.array.at(st.sums), terms_.array_indices(st.sums, st.at, env), value);
    } else {
      const LocalSums& sums = e.visit.arrays.sums;
      b_.add_to(s_.tempered[t.origin] ? sums.energy : sums.prior, {b_.i(0)}, value);
    }
  });
}

void FusedCategories::visit_element(const FusedCategory& s, const std::vector<ExprId>& element,
                                    const FusedVisit& visit) {
  const Element e = open_element(s, element, visit);
  form_probabilities(e);
  clamp(e);
  const ExprId scale = b_.let(b_.fresh("scale"), b_.div(b_.f(1), b_.get(e.total)));
  for (std::size_t k = 0; k < s.uses.size(); ++k)
    spread(e, k, scale);
  if (!visit.final || visit.mode == StageMode::seed) return;
  add_entropy(e, scale);
  if (!is_written(s.block)) return;
  const BufferId out = parameter_of(s.block, math::ParameterRole::probabilities);
  each_value(s, [&](ExprId k) {
    b_.store(out, updates_.parameter_address(s.block, element, {k}), b_.mul(scale, b_.load(s.probs, {k})));
  });
}

BufferId FusedCategories::naturals_of(const FusedUse& u, const ItemArrays& arrays) const {
  const Atom& p = u.term->term.atoms[*u.partner];
  return arrays.partner_naturals.at(
      {s_.conditionals.block_of[p.variable.index()], p.stat, s_.tempered[u.term->term.origin]});
}

std::vector<ExprId> FusedCategories::partner_address(const model::Variable& var, const std::vector<ExprId>& element,
                                                     const std::vector<ExprId>& event) {
  std::vector<ExprId> at = terms_.address({var.axes.begin() + 1, var.axes.end()}, {element.begin() + 1, element.end()});
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

}  // namespace lehr::loops
