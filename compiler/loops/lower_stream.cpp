// Streamed categories: the probabilities of one element are formed in a work array, added to whatever needs
// them, and forgotten. Where all log odds are table rows or vectors of the item (LDA), no exponential is
// taken per element.
#include "compiler/loops/streams.h"

#include <algorithm>

namespace lehr::loops {

using schedule::ItemStage;

namespace {

/// Products of exponentials below this are computed again from log odds.
constexpr double kUnderflow = 1e-200;

}  // namespace

Stream Streams::plan_stream(const ItemStage& stage, BlockId z) const {
  Stream s;
  s.block = z;
  s.stage = &stage;
  const model::Variable& var = m_[s_.conditionals[z].variable];
  s.values = at_.size[m_[*var.value_plate].set.index()];
  bool all_factor = var.axes.size() > 1;
  for (const ItemStage::LocalTerm& t : stage.terms) {
    for (std::size_t k = 0; k < t.term.atoms.size(); ++k) {
      if (t.term.atoms[k].variable != s_.conditionals[z].variable) continue;
      StreamUse u;
      u.term = &t;
      u.atom = k;
      u.value = std::get<density::IndexBound>(a_[t.term.atoms[k].event[0]]).bound;
      for (std::size_t j = 0; j < t.term.atoms.size(); ++j) {
        if (j != k) u.partner = j;
      }
      // All bounds are the element's own or the value; no data among the factors.
      std::set<BoundId> known{u.value};
      for (IndexId i : t.term.atoms[k].axes)
        a_.collect(i, known);
      const bool plain =
          a_.literal(t.term.coef) == 1.0 && t.term.guards.empty() &&
          std::all_of(
              t.term.multiplicities.begin(), t.term.multiplicities.end(),
              [&](const density::Multiplicity& x) { return density::owns(m_, s_.conditionals[z].variable, x); }) &&
          std::all_of(t.term.bounds.begin(), t.term.bounds.end(), [&](BoundId b) { return known.contains(b); });
      const bool indexed_by_value = [&] {
        if (t.statistic) {
          const schedule::Statistic& st = s_.statistics[*t.statistic];
          if (st.at.empty()) return false;
          const auto* b = std::get_if<density::IndexBound>(&a_[st.at[st.contiguous]]);
          return b && b->bound == u.value;
        }
        if (!u.partner) return false;
        const Atom& p = t.term.atoms[*u.partner];
        if (p.event.size() != 1) return false;
        const auto* b = std::get_if<density::IndexBound>(&a_[p.event[0]]);
        return b && b->bound == u.value;
      }();
      if (plain && indexed_by_value) u.kind = t.statistic ? StreamUse::Kind::table : StreamUse::Kind::vector;
      all_factor = all_factor && u.kind != StreamUse::Kind::general;
      s.uses.push_back(u);
    }
  }
  s.factored = all_factor;
  return s;
}

void Streams::stream_arrays(Stream& s) {
  const std::string& name = m_[s_.conditionals[s.block].variable].name;
  s.probs = work_array("probs." + name, {s.values});
  s.odds = work_array("odds." + name, {s.values});
  s.item_odds = work_array("item_odds." + name, {s.values});
  s.item_exp = work_array("item_exp." + name, {s.values});
}

Env Streams::stream_env(const Stream& s, std::size_t use, const std::vector<ExprId>& element) const {
  const StreamUse& u = s.uses[use];
  const Atom& own = u.term->term.atoms[u.atom];
  Env env;
  for (std::size_t x = 0; x < own.axes.size() && x < element.size(); ++x) {
    env[std::get<density::IndexBound>(a_[own.axes[x]]).bound] = element[x];
  }
  return env;
}

void Streams::exp_table(ArrayId table) {
  const schedule::Statistic& s = *at_.statistic.at(table);
  const BufferId from = at_.array.at(table), to = at_.exp_table.at(table), shift = at_.exp_shift.at(table);
  std::vector<model::PlateId> rows;
  for (std::size_t k = 0; k < s.axes.size(); ++k) {
    if (k != s.contiguous) rows.push_back(s.axes[k]);
  }
  const ExprId values = b_.extent(at_.size[s.axes[s.contiguous].index()]);
  terms_.for_elements(rows, [&](std::vector<ExprId> row) {
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
  });
}

ExprId Streams::stream_item_setup(const Stream& s, ExprId item) {
  if (!s.factored) return {};
  // Vectors of the item: their sum, and its exponential shifted by the largest entry.
  const ExprId values = b_.extent(s.values);
  b_.fill(s.item_odds, b_.f(0));
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    const StreamUse& u = s.uses[k];
    if (u.kind != StreamUse::Kind::vector) continue;
    const Atom& p = u.term->term.atoms[*u.partner];
    Env env = stream_env(s, k, {item});
    ExprId scale = weight(Weight::local);
    if (s_.tempered[u.term->term.origin]) scale = b_.mul(scale, weight(Weight::local_data));
    b_.for_range("k", b_.i(0), values, [&](ExprId v) {
      env[u.value] = v;
      b_.add_to(s.item_odds, {v}, b_.mul(scale, updates_.expectation(p, env)));
    });
  }
  const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
  b_.for_range("k", b_.i(0), values, [&](ExprId v) { b_.assign(top, b_.max(b_.get(top), b_.load(s.item_odds, {v}))); });
  b_.for_range("k", b_.i(0), values,
               [&](ExprId v) { b_.store(s.item_exp, {v}, b_.exp(b_.sub(b_.load(s.item_odds, {v}), b_.get(top)))); });
  return b_.get(top);
}

void Streams::stream_elements(const Stream& s, ExprId item, StreamVisit visit) {
  visit.item_shift = stream_item_setup(s, item);
  terms_.for_elements(m_[s_.conditionals[s.block].variable].axes,
                      [&](const std::vector<ExprId>& element) { stream_element(s, element, visit); }, {item});
}

void Streams::stream_element(const Stream& s, const std::vector<ExprId>& element, const StreamVisit& visit) {
  const auto& [arrays, final, mode, item_shift] = visit;
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  const ExprId values = b_.extent(s.values);
  const auto each = [&](const std::function<void(ExprId)>& body) { b_.for_range("k", b_.i(0), values, body); };
  std::vector<Env> envs;
  for (std::size_t k = 0; k < s.uses.size(); ++k)
    envs.push_back(stream_env(s, k, element));
  const auto table_of = [&](const StreamUse& u) { return s_.statistics[*u.term->statistic].table; };
  const auto row_of = [&](std::size_t k) {
    const schedule::Statistic& st = s_.statistics[*s.uses[k].term->statistic];
    std::vector<ExprId> row;
    for (std::size_t x = 0; x < st.at.size(); ++x) {
      if (x != st.contiguous) row.push_back(b_.let(b_.fresh("row"), terms_.index(st.at[x], envs[k])));
    }
    return row;
  };
  std::vector<std::vector<ExprId>> rows(s.uses.size());
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    if (s.uses[k].kind == StreamUse::Kind::table) rows[k] = row_of(k);
  }
  const auto at = [](std::vector<ExprId> row, ExprId k) {
    row.push_back(k);
    return row;
  };

  const ScalarId total = b_.local(b_.fresh("total"), b_.f(0));
  const ScalarId shift = b_.local(b_.fresh("shift"), b_.f(0));
  // Log odds into `odds`, exponentials of them into `probs`, their sum into `total`.
  const auto from_odds = [&] {
    b_.fill(s.odds, b_.f(0));
    for (std::size_t k = 0; k < s.uses.size(); ++k) {
      const StreamUse& u = s.uses[k];
      ArrayTerm t{&u.term->term, std::nullopt, &u.term->at,
                  updates_.natural_weights(s.block, u.term->statistic.has_value())};
      if (u.term->statistic) t.array = table_of(u);
      terms_.emit(u.term->term, terms_.factors(t, {u.atom}, s_.conditionals[s.block].variable), {}, envs[k], u.value,
                  [&](ExprId value, const Env& e) { b_.add_to(s.odds, {e.at(u.value)}, value); });
    }
    const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
    each([&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(s.odds, {k}))); });
    b_.assign(shift, b_.get(top));
    const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
    each([&](ExprId k) {
      const ExprId e = b_.let(b_.fresh("e"), b_.exp(b_.sub(b_.load(s.odds, {k}), b_.get(top))));
      b_.store(s.probs, {k}, e);
      b_.accumulate(sum, e);
    });
    b_.assign(total, b_.get(sum));
  };
  const bool picked = mode == StageMode::seed && at_.picks.contains(s.block);
  if (picked) {
    each([&](ExprId k) {
      b_.store(s.probs, {k}, b_.select(b_.equal(k, b_.load(at_.picks.at(s.block), {element[0]})), b_.f(1), b_.f(0)));
    });
    b_.assign(total, b_.f(1));
  } else if (s.factored) {
    b_.assign(shift, item_shift);
    for (std::size_t k = 0; k < s.uses.size(); ++k) {
      if (s.uses[k].kind == StreamUse::Kind::table && final) {
        b_.assign(shift, b_.add(b_.get(shift), b_.load(at_.exp_shift.at(table_of(s.uses[k])), rows[k])));
      }
    }
    const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
    each([&](ExprId k) {
      ExprId p = b_.load(s.item_exp, {k});
      for (std::size_t j = 0; j < s.uses.size(); ++j) {
        if (s.uses[j].kind == StreamUse::Kind::table)
          p = b_.mul(p, b_.load(at_.exp_table.at(table_of(s.uses[j])), at(rows[j], k)));
      }
      const ExprId e = b_.let(b_.fresh("p"), p);
      b_.store(s.probs, {k}, e);
      b_.accumulate(sum, e);
    });
    b_.assign(total, b_.get(sum));
    b_.if_then(b_.less(b_.get(sum), b_.f(kUnderflow)), from_odds);
  } else {
    from_odds();
  }
  const bool drawn = s_.conditionals[s.block].drawn;
  if (drawn && !picked) {
    const ExprId norm = b_.let(b_.fresh("norm"), b_.div(b_.f(1), b_.get(total)));
    draws_.category(
        s.block, element, values, updates_.owned_multiplicity(var, element),
        [&](ExprId k) { return b_.mul(norm, b_.load(s.probs, {k})); },
        [&](ExprId k, ExprId share) { b_.store(s.probs, {k}, share); });
    b_.assign(total, b_.f(1));
  }
  const ExprId scale = b_.let(b_.fresh("scale"), b_.div(b_.f(1), b_.get(total)));
  const auto prob = [&](ExprId k) { return b_.load(s.probs, {k}); };

  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    const StreamUse& u = s.uses[k];
    const Term& t = u.term->term;
    if (u.partner) {
      // To the naturals of the one other local block; its own element comes later.
      const Atom& p = t.atoms[*u.partner];
      const BlockId b = s_.conditionals.block_of[p.variable.index()];
      const model::Variable& other = m_[p.variable];
      const BufferId into = arrays.streamed_into.at({b, p.stat});
      std::vector<Factor> fs = terms_.factors({&t, std::nullopt, nullptr, updates_.natural_weights(b, false)},
                                              {u.atom, *u.partner}, p.variable);
      fs.push_back({{}, [scale](const Env&) { return scale; }});
      fs.push_back({{u.value}, [&](const Env& e) { return prob(e.at(u.value)); }});
      terms_.emit(t, std::move(fs), {}, envs[k], u.value, [&](ExprId value, const Env& e) {
        std::vector<IndexId> inner(p.axes.begin() + 1, p.axes.end());
        std::vector<ExprId> to = terms_.address({other.axes.begin() + 1, other.axes.end()}, inner, e);
        for (IndexId i : p.event)
          to.push_back(terms_.index(i, e));
        b_.add_to(into, to, value);
      });
      continue;
    }
    if (!final) continue;
    // Statistics, or the energy of a term with the category alone.
    std::vector<Factor> fs = terms_.factors({&t}, {u.atom});
    fs.push_back({{}, [scale](const Env&) { return scale; }});
    fs.push_back({{u.value}, [&](const Env& e) { return prob(e.at(u.value)); }});
    terms_.emit(t, std::move(fs), {}, envs[k], u.value, [&](ExprId value, const Env& e) {
      if (u.term->statistic) {
        const schedule::Statistic& st = s_.statistics[*u.term->statistic];
        b_.add_to(at_.array.at(st.sums), terms_.array_indices(st.sums, st.at, e), value);
      } else {
        b_.add_to(s_.tempered[t.origin] ? arrays.sums.energy : arrays.sums.prior, {b_.i(0)}, value);
      }
    });
  }
  if (!final || mode == StageMode::seed) return;
  // H = log Z - sum_k p_k * log odds_k, times the copies of the element
  const ScalarId mean = b_.local(b_.fresh("mean"), b_.f(0));
  each([&](ExprId k) {
    ExprId odds = b_.load(s.odds, {k});
    if (s.factored) {
      odds = b_.load(s.item_odds, {k});
      for (std::size_t j = 0; j < s.uses.size(); ++j) {
        if (s.uses[j].kind == StreamUse::Kind::table)
          odds =
              b_.add(odds, b_.mul(weight(Weight::local), b_.load(at_.array.at(table_of(s.uses[j])), at(rows[j], k))));
      }
    }
    b_.accumulate(mean, b_.mul(prob(k), odds));
  });
  const ExprId h = b_.sub(b_.add(b_.log(b_.get(total)), b_.get(shift)), b_.mul(scale, b_.get(mean)));
  if (!drawn) b_.add_to(arrays.sums.discrete, {b_.i(0)}, b_.mul(updates_.owned_multiplicity(var, element), h));
  if (mode == StageMode::update)
    energies_.add_item_energy(element[0],
                              b_.mul(updates_.owned_multiplicity(var, element), b_.mul(scale, b_.get(mean))));
  if (options_.save_locals) {
    const BufferId out = parameter_of(s.block, math::ParameterRole::probabilities);
    each([&](ExprId k) { b_.store(out, updates_.parameter_address(s.block, element, {k}), b_.mul(scale, prob(k))); });
  }
}

std::vector<ExprId> Streams::streamed_address(const model::Variable& var, const std::vector<ExprId>& element,
                                              const std::vector<ExprId>& event) {
  std::vector<ExprId> at = terms_.address({var.axes.begin() + 1, var.axes.end()}, {element.begin() + 1, element.end()});
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

}  // namespace lehr::loops
