// Chains of categories: one factor over a whole sequence, by forward-backward in logarithms.
//
// With unary potentials U[t][k] and pair potentials W[t][j][k] (both expectations of the other factors'
// statistics), q(s) is proportional to exp(sum_t U[t][s_t] + sum_t W[t][s_t-1][s_t]). Messages are normalised
// at every step, so that sequences of any length and potentials near log 0 stay finite. Rabiner (1989),
// section III, in logarithms.
#include <algorithm>

#include "compiler/loops/lowering.h"

namespace lehr::loops {

SizeId Lowering::longest(const model::Variable& var) {
  const model::PlateId set = m_[var.axes.back()].set;
  if (!m_[set].parent) return size_[set.index()];
  std::int64_t longest = -1;
  const std::vector<std::int64_t>& offsets = data_.offsets[set.index()];
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    longest = std::max(longest, offsets[r + 1] - offsets[r]);
  return runtime_size("longest." + m_[set].name, longest);
}

void Lowering::declare_chain(BlockId b) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Chain chain;
  chain.local = s_.stage_of[b.index()].has_value();
  if (!chain.local) {
    std::vector<model::PlateId> axes = var.axes;
    axes.push_back(*var.value_plate);
    axes.push_back(*var.value_plate);
    chain.pairs = b_.buffer("E." + var.name + ".pair", Role::expectation, packed(axes));
    chain.entropy =
        b_.buffer("H." + var.name, Role::expectation, packed({var.axes.begin(), var.axes.end() - 1}));
  }
  chains_[b] = chain;
}

void Lowering::local_chain(BlockId b) {
  const auto it = chains_.find(b);
  if (it == chains_.end() || !it->second.local) return;
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const SizeId values = size_[m_[*var.value_plate].set.index()];
  it->second.pairs = work_array("pair." + var.name, {longest(var), values, values});
  it->second.entropy = work_array("entropy." + var.name, {});
}

void Lowering::for_sequences(const model::Variable& var, const std::vector<ExprId>& lead,
                             const std::function<void(const std::vector<ExprId>&)>& body) {
  for_elements({var.axes.begin(), var.axes.end() - 1}, body, lead);
}

std::vector<ExprId> Lowering::pair_address(BlockId b, const std::vector<ExprId>& element, ExprId j,
                                           ExprId k) {
  if (chains_.at(b).local) return {element.back(), j, k};
  std::vector<ExprId> at = address(m_[s_.conditionals[b].variable].axes, element);
  at.push_back(j);
  at.push_back(k);
  return at;
}

ExprId Lowering::pair_expectation(const Atom& x, const Atom& y, const Env& env) {
  const BlockId b = s_.conditionals.block_of[x.variable.index()];
  const auto offset = [&](const Atom& a) { return std::get<density::IndexBound>(a_[a.axes.back()]).offset; };
  const Atom& later = offset(x) > offset(y) ? x : y;
  const Atom& earlier = offset(x) > offset(y) ? y : x;
  std::vector<ExprId> element;
  for (IndexId i : later.axes)
    element.push_back(index(i, env));
  return b_.load(chains_.at(b).pairs,
                 pair_address(b, element, index(earlier.event[0], env), index(later.event[0], env)));
}

ExprId Lowering::chain_entropy(BlockId b, const std::vector<ExprId>& sequence) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  if (chains_.at(b).local) return b_.load(chains_.at(b).entropy, {});
  return b_.load(chains_.at(b).entropy, address({var.axes.begin(), var.axes.end() - 1}, sequence));
}

void Lowering::independent_pairs(BlockId b, const std::vector<ExprId>& sequence) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const ExprId values = b_.extent(size_[m_[*var.value_plate].set.index()]);
  const BufferId probs = parameter_.at({b, "probs"});
  for_range("t", b_.i(1), axis_length(var.axes, sequence), [&](ExprId t) {
    std::vector<ExprId> now = sequence, before = sequence;
    now.push_back(t);
    before.push_back(b_.sub(t, b_.i(1)));
    for_range("j", b_.i(0), values, [&](ExprId j) {
      for_range("k", b_.i(0), values, [&](ExprId k) {
        b_.store(chains_.at(b).pairs, pair_address(b, now, j, k),
                 b_.mul(b_.load(probs, parameter_address(b, before, {j})),
                        b_.load(probs, parameter_address(b, now, {k}))));
      });
    });
  });
}

void Lowering::update_chain(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                            const std::vector<ExprId>& lead) {
  for_sequences(m_[s_.conditionals[b].variable], lead,
                [&](const std::vector<ExprId>& sequence) { update_sequence(b, uses, sequence); });
}

void Lowering::update_sequence(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                               const std::vector<ExprId>& sequence) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const SizeId size = size_[m_[*var.value_plate].set.index()], steps = longest(var);
  const ExprId values = b_.extent(size), zero = b_.i(0), one = b_.i(1);
  const ExprId end = b_.let("steps" + std::to_string(names_++), axis_length(var.axes, sequence));
  const BufferId unary = work_array("unary." + var.name, {steps, size});
  const BufferId pair = work_array("potential." + var.name, {steps, size, size});
  const BufferId forward = work_array("forward." + var.name, {steps, size});
  const BufferId scale = work_array("scale." + var.name, {steps});
  const BufferId backward = work_array("backward." + var.name, {size});
  const BufferId message = work_array("message." + var.name, {size});
  const BufferId probs = parameter_.at({b, "probs"}), pairs = chains_.at(b).pairs;
  const auto each = [&](const char* name, const std::function<void(ExprId)>& body) {
    for_range(name, zero, values, body);
  };
  const auto element = [&](ExprId t) {
    std::vector<ExprId> at = sequence;
    at.push_back(t);
    return at;
  };

  for_range("t", zero, end, [&](ExprId t) {
    each("j", [&](ExprId j) {
      b_.store(unary, {t, j}, b_.f(0));
      each("k", [&](ExprId k) { b_.store(pair, {t, j, k}, b_.f(0)); });
    });
  });
  std::vector<bool> fixed(var.axes.size(), true);
  fixed.back() = false;
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = unary;
  target.free_axes = {var.axes.size() - 1};
  std::vector<ExprId> lead = sequence;
  lead.resize(var.axes.size());
  for (const auto& [t, use] : uses) {
    const Atom& own = t.term->atoms[use];
    std::optional<std::size_t> other;
    for (std::size_t k = 0; k < t.term->atoms.size(); ++k) {
      if (k != use && t.term->atoms[k].variable == own.variable) other = k;
    }
    if (!other) {
      contribute(b, t, use, fixed, lead, target, {});
      continue;
    }
    if (*other < use) continue;  // a pair is one use
    const auto offset = [&](const Atom& a) {
      return std::get<density::IndexBound>(a_[a.axes.back()]).offset;
    };
    const bool own_later = offset(own) > offset(t.term->atoms[*other]);
    const Atom& later = own_later ? own : t.term->atoms[*other];
    const Atom& earlier = own_later ? t.term->atoms[*other] : own;
    Env env;
    std::vector<Factor> conditions;
    for (std::size_t x = 0; x + 1 < var.axes.size(); ++x) {
      const auto* bound = std::get_if<density::IndexBound>(&a_[later.axes[x]]);
      if (bound && bound->offset == 0 && !env.contains(bound->bound)) {
        env[bound->bound] = sequence[x];
        continue;
      }
      std::set<BoundId> bounds;
      a_.collect(later.axes[x], bounds);
      conditions.push_back({bounds, [this, i = later.axes[x], want = sequence[x]](const Env& e) {
                              return b_.equal(index(i, e), want);
                            }});
    }
    emit(*t.term, factors(t, {use, *other}, s_.conditionals[b].variable), std::move(conditions), env,
         std::nullopt, [&](ExprId value, const Env& e) {
           b_.add_to(pair,
                     {index(later.axes.back(), e), index(earlier.event[0], e), index(later.event[0], e)},
                     value);
         });
  }

  // log sum exp of `term(k)` over the values of the category
  const auto log_sum = [&](const std::function<ExprId(ExprId)>& term) {
    const std::string tag = std::to_string(names_++);
    const ScalarId top = b_.local("top" + tag, b_.f(-1.7e308)), sum = b_.local("sum" + tag, b_.f(0));
    each("i", [&](ExprId i) { b_.assign(top, b_.max(b_.get(top), term(i))); });
    each("i", [&](ExprId i) { b_.accumulate(sum, b_.exp(b_.sub(term(i), b_.get(top)))); });
    return b_.let("log_sum" + tag, b_.add(b_.get(top), b_.log(b_.get(sum))));
  };
  const ScalarId entropy = b_.local("entropy" + std::to_string(names_++), b_.f(0));  // log Z - <U> - <W>
  for_range("t", zero, end, [&](ExprId t) {
    b_.if_else(
        b_.equal(t, zero),
        [&] { each("k", [&](ExprId k) {
                b_.store(message, {k}, b_.load(unary, {t, k}));
              }); },
        [&] {
          each("k", [&](ExprId k) {
            const ExprId in = log_sum([&](ExprId j) {
              return b_.add(b_.load(forward, {b_.sub(t, one), j}), b_.load(pair, {t, j, k}));
            });
            b_.store(message, {k}, b_.add(in, b_.load(unary, {t, k})));
          });
        });
    const ExprId z = log_sum([&](ExprId k) { return b_.load(message, {k}); });
    b_.store(scale, {t}, z);
    b_.accumulate(entropy, z);
    each("k", [&](ExprId k) { b_.store(forward, {t, k}, b_.sub(b_.load(message, {k}), z)); });
  });
  each("k", [&](ExprId k) { b_.store(backward, {k}, b_.f(0)); });
  for_range("back", zero, end, [&](ExprId back) {
    const ExprId t = b_.let("t" + std::to_string(names_++), b_.sub(b_.sub(end, one), back));
    each("k", [&](ExprId k) {
      const ExprId p = b_.let("p" + std::to_string(names_++),
                              b_.exp(b_.add(b_.load(forward, {t, k}), b_.load(backward, {k}))));
      b_.store(probs, parameter_address(b, element(t), {k}), p);
      b_.accumulate(entropy, b_.neg(b_.mul(p, b_.load(unary, {t, k}))));
    });
    b_.if_then(b_.less(zero, t), [&] {
      const ExprId before = b_.sub(t, one), z = b_.load(scale, {t});
      each("j", [&](ExprId j) {
        const auto onward = [&](ExprId k) {
          return b_.sub(
              b_.add(b_.add(b_.load(pair, {t, j, k}), b_.load(unary, {t, k})), b_.load(backward, {k})), z);
        };
        b_.store(message, {j}, log_sum(onward));
        each("k", [&](ExprId k) {
          const ExprId p = b_.let("p" + std::to_string(names_++),
                                  b_.exp(b_.add(b_.load(forward, {before, j}), onward(k))));
          b_.store(pairs, pair_address(b, element(t), j, k), p);
          b_.accumulate(entropy, b_.neg(b_.mul(p, b_.load(pair, {t, j, k}))));
        });
      });
      each("j", [&](ExprId j) { b_.store(backward, {j}, b_.load(message, {j})); });
    });
  });
  const std::vector<ExprId> at =
      chains_.at(b).local ? std::vector<ExprId>{} : address({var.axes.begin(), var.axes.end() - 1}, sequence);
  b_.store(chains_.at(b).entropy, at, b_.get(entropy));
}

}  // namespace lehr::loops
