// Chains of categories: forward-backward. Rabiner (1989), section III and section V.A.
//
// With unary potentials U[t][k] and pair potentials W[t][j][k] (both expectations of the other factors'
// statistics), q(s) is proportional to exp(sum_t U[t][s_t] + sum_t W[t][s_t-1][s_t]). Messages are products of
// exponentials, each step divided by its sum; where a sum underflows in a sequence, what is lost may matter later, and
// all of its messages are formed in logarithms. Most chains have the same pair potentials at every step: they are kept,
// and their exponentials formed, once a sequence.
#include <algorithm>

#include "compiler/loops/chains.h"

namespace lehr::loops {

namespace {
constexpr double kLeastSum = 1e-250;      // below it, what is lost to underflow may matter
constexpr std::int64_t kSumsAtOnce = 25;  // that registers hold, one vector each

/// Rows of a square matrix of sums that are added up together; `values`: not positive if it is not known.
std::int64_t rows_at_once(std::int64_t values) {
  if (values < 1) return 1;
  std::int64_t rows = std::clamp<std::int64_t>(kSumsAtOnce / values, 1, values);
  while (values % rows != 0)
    --rows;
  return rows;
}
}  // namespace

/// The arrays of one sequence.
struct Chains::Messages {
  BlockId block;
  std::vector<ExprId> sequence;
  SizeId size;
  ExprId values, end;             // of the category; elements of the sequence
  BufferId unary, pair, forward;  // over the steps
  BufferId scale;                 // over the steps: 1 over the sum of the products; in logarithms, log of the sum
  BufferId backward, message;     // of one element
  BufferId marginal;              // over the steps: the probabilities
  BufferId probs, pairs;          // the factor
  bool summed;                    // pairs are kept as sums over the steps
  BufferId row_sums;              // of pairs, some rows of them
  ExprId rows, row_groups;
  ScalarId entropy;               // log Z - <U> - <W>
  bool steady;                    // one row of pair potentials stands for all steps
  BufferId transition, filtered;  // over the steps: exp(pair), and the normalised products
  BufferId emission, onward;      // over the steps: exp(unary); times what follows, over the sum of the step
  ScalarId products;              // 1 where no sum underflowed
  ScalarId top;                   // of the pair potentials that were exponentiated last

  ExprId row(ExprId t, ExprId zero) const { return steady ? zero : t; }

  std::vector<ExprId> element(ExprId t) const {
    std::vector<ExprId> at = sequence;
    at.push_back(t);
    return at;
  }
};

void Chains::each_value(const Messages& m, const char* name, const std::function<void(ExprId)>& body) {
  b_.for_range(name, b_.i(0), m.values, body);
}

ExprId Chains::log_sum(const Messages& m, const std::function<ExprId(ExprId)>& term) {
  const std::string tag = b_.fresh("");
  const ScalarId top = b_.local("top" + tag, b_.f(-1.7e308)), sum = b_.local("sum" + tag, b_.f(0));
  each_value(m, "i", [&](ExprId i) { b_.assign(top, b_.max(b_.get(top), term(i))); });
  each_value(m, "i", [&](ExprId i) { b_.accumulate(sum, b_.exp(b_.sub(term(i), b_.get(top)))); });
  return b_.let("log_sum" + tag, b_.add(b_.get(top), b_.log(b_.get(sum))));
}

ExprId Chains::probability(const Messages& m, ExprId t, ExprId k) {
  return b_.load(m.probs, updates_.parameter_address(m.block, m.element(t), {k}));
}

Chains::Messages Chains::open_messages(BlockId b, const std::vector<ExprId>& sequence, bool steady) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Messages m;
  m.block = b;
  m.sequence = sequence;
  m.size = at_.size[m_[*var.value_plate].set.index()];
  const SizeId steps = longest(var);
  m.values = b_.extent(m.size);
  m.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  m.unary = work_array("unary." + var.name, {steps, m.size});
  m.steady = steady;
  const SizeId rows = steady ? b_.constant_size("one", 1) : steps;
  m.pair = work_array("potential." + var.name, {rows, m.size, m.size});
  m.transition = work_array("transition." + var.name, {rows, m.size, m.size});
  m.filtered = work_array("filtered." + var.name, {steps, m.size});
  m.emission = work_array("emission." + var.name, {steps, m.size});
  if (!s_.conditionals[b].drawn) {
    const std::int64_t values = b_.program()[m.size].constant, together = rows_at_once(values);
    m.rows = b_.i(together);
    m.row_groups = values > 0 ? b_.i(values / together) : m.values;
    m.row_sums = work_array("rows." + var.name, {b_.constant_size("rows", together), m.size});
    m.onward = work_array("onward." + var.name, {steps, m.size});
    m.marginal = work_array("marginal." + var.name, {steps, m.size});
  }
  m.forward = work_array("forward." + var.name, {steps, m.size});
  m.scale = work_array("scale." + var.name, {steps});
  m.backward = work_array("backward." + var.name, {m.size});
  m.message = work_array("message." + var.name, {m.size});
  m.probs = parameter_of(b, math::ParameterRole::probabilities);
  m.pairs = at_.chains.at(b).pairs;
  m.summed = at_.chains.at(b).summed;
  return m;
}

void Chains::forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                              const UpdateHooks& hooks) {
  Messages m = open_messages(b, sequence, is_steady(b, uses));
  const ExprId zero = b_.i(0);
  b_.for_range("t", zero, m.end, [&](ExprId t) {
    each_value(m, "k", [&](ExprId k) { b_.store(m.unary, {t, k}, b_.f(0)); });
  });
  b_.for_range("t", zero, m.steady ? b_.i(1) : m.end, [&](ExprId t) {
    each_value(m, "j", [&](ExprId j) { each_value(m, "k", [&](ExprId k) { b_.store(m.pair, {t, j, k}, b_.f(0)); }); });
  });
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = m.unary;
  target.free_axes = {m_[s_.conditionals[b].variable].axes.size() - 1};
  gather_potentials(b, uses, sequence, target, m.steady,
                    [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value) {
                      b_.add_to(m.pair, {m.row(t, zero), before[0], now[0]}, value);
                    });
  if (hooks.gathered) b_.for_range("t", zero, m.end, [&](ExprId t) { hooks.gathered(m.element(t), target); });

  forbid_others(m);
  m.entropy = b_.local(b_.fresh("entropy"), b_.f(0));
  filter(m);
  if (s_.conditionals[b].drawn) return draw_sequence(m, hooks);
  smooth_products(m);
  b_.if_rarely(b_.equal(b_.get(m.products), b_.f(0)), [&] { smooth_logarithms(m); });
  b_.for_range("t", zero, m.end, [&](ExprId t) {
    if (hooks.before) hooks.before(m.element(t));
    each_value(m, "k", [&](ExprId k) {
      b_.store(m.probs, updates_.parameter_address(b, m.element(t), {k}), b_.load(m.marginal, {t, k}));
    });
    each_value(m, "k", [&](ExprId k) {
      b_.accumulate(m.entropy, b_.neg(b_.mul(b_.load(m.marginal, {t, k}), b_.load(m.unary, {t, k}))));
    });
    updates_.clamp(b, m.element(t));
    if (hooks.after) hooks.after(m.element(t));
  });
  store_entropy(b, sequence, b_.get(m.entropy));
}

void Chains::forbid_others(const Messages& m) {
  if (!clamps_.any(m.block)) return;
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) {
    b_.if_then(clamps_.is_known(m.block, m.element(t)), [&] {
      const ExprId known = clamps_.value(m.block, m.element(t));
      each_value(m, "k", [&](ExprId k) {
        b_.store(m.unary, {t, k}, b_.select(b_.equal(k, known), b_.load(m.unary, {t, k}), b_.f(kLogZero)));
      });
    });
  });
}

void Chains::pass_forward(const Messages& m, ExprId t) {
  b_.if_else(
      b_.equal(t, b_.i(0)),
      [&] { each_value(m, "k", [&](ExprId k) {
              b_.store(m.message, {k}, b_.load(m.unary, {t, k}));
            }); },
      [&] {
        each_value(m, "k", [&](ExprId k) {
          const ExprId in = log_sum(m, [&](ExprId j) {
            return b_.add(b_.load(m.forward, {b_.sub(t, b_.i(1)), j}), b_.load(m.pair, {m.row(t, b_.i(0)), j, k}));
          });
          b_.store(m.message, {k}, b_.add(in, b_.load(m.unary, {t, k})));
        });
      });
  const ExprId z = log_sum(m, [&](ExprId k) { return b_.load(m.message, {k}); });
  b_.store(m.scale, {t}, z);
  b_.accumulate(m.entropy, z);
  each_value(m, "k", [&](ExprId k) { b_.store(m.forward, {t, k}, b_.sub(b_.load(m.message, {k}), z)); });
}

void Chains::filter_logarithms(const Messages& m) {
  b_.assign(m.entropy, b_.f(0));
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) { pass_forward(m, t); });
}

void Chains::either(const Messages& m, const std::function<void()>& products,
                    const std::function<void()>& in_logarithms) {
  b_.if_else(b_.equal(b_.get(m.products), b_.f(1)), products, in_logarithms);
}

void Chains::each_step_back(const Messages& m, const std::function<void(ExprId)>& body) {
  b_.for_range("back", b_.i(0), m.end,
               [&](ExprId back) { body(b_.let(b_.fresh("t"), b_.sub(b_.sub(m.end, b_.i(1)), back))); });
}

void Chains::put_pair(const Messages& m, ExprId t, ExprId j, ExprId k, ExprId value) {
  const ExprId p = b_.let(b_.fresh("p"), value);
  put_pair(m.block, pair_address(m.block, m.element(t), {j}, {k}), p);
  b_.accumulate(m.entropy, b_.neg(b_.mul(p, b_.load(m.pair, {m.row(t, b_.i(0)), j, k}))));
}

void Chains::smooth_products(const Messages& m) {
  const bool at_once = m.steady && m.summed;
  if (m.summed) b_.fill(m.pairs, b_.f(0));
  each_value(m, "k", [&](ExprId k) { b_.store(m.backward, {k}, b_.f(1)); });
  each_step_back(m, [&](ExprId t) {
    const ExprId row = m.row(t, b_.i(0)), share = b_.let(b_.fresh("share"), b_.load(m.scale, {t}));
    each_value(m, "k", [&](ExprId k) {
      const ExprId after = b_.let(b_.fresh("after"), b_.load(m.backward, {k}));
      b_.store(m.onward, {t, k}, b_.mul(b_.mul(b_.load(m.emission, {t, k}), after), share));
      b_.store(m.marginal, {t, k}, b_.mul(b_.load(m.filtered, {t, k}), after));
    });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      const ExprId before = b_.sub(t, b_.i(1));
      each_value(m, "j", [&](ExprId j) {
        const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
        each_value(m, "k", [&](ExprId k) {
          const ExprId w = b_.mul(b_.load(m.transition, {row, j, k}), b_.load(m.onward, {t, k}));
          b_.accumulate(sum, w);
          if (!at_once) put_pair(m, t, j, k, b_.mul(b_.load(m.filtered, {before, j}), w));
        });
        b_.store(m.backward, {j}, b_.get(sum));
      });
    });
  });
  if (at_once) sum_pairs(m);
}

void Chains::sum_pairs(const Messages& m) {
  b_.for_range("rows", b_.i(0), m.row_groups, [&](ExprId group) {
    const auto each_row = [&](const std::function<void(ExprId row, ExprId j)>& body) {
      b_.for_range("row", b_.i(0), m.rows, [&](ExprId row) { body(row, b_.add(b_.mul(group, m.rows), row)); });
    };
    b_.fill(m.row_sums, b_.f(0));
    b_.for_range("t", b_.i(1), m.end, [&](ExprId t) {
      each_row([&](ExprId row, ExprId j) {
        const ExprId from = b_.let(b_.fresh("from"), b_.load(m.filtered, {b_.sub(t, b_.i(1)), j}));
        each_value(m, "k", [&](ExprId k) { b_.add_to(m.row_sums, {row, k}, b_.mul(from, b_.load(m.onward, {t, k}))); });
      });
    });
    each_row([&](ExprId row, ExprId j) {
      each_value(m, "k", [&](ExprId k) {
        put_pair(m, b_.i(0), j, k, b_.mul(b_.load(m.transition, {b_.i(0), j, k}), b_.load(m.row_sums, {row, k})));
      });
    });
  });
}

void Chains::smooth_logarithms(const Messages& m) {
  filter_logarithms(m);
  if (m.summed) b_.fill(m.pairs, b_.f(0));
  each_value(m, "k", [&](ExprId k) { b_.store(m.backward, {k}, b_.f(0)); });
  each_step_back(m, [&](ExprId t) {
    each_value(m, "k", [&](ExprId k) {
      b_.store(m.marginal, {t, k}, b_.exp(b_.add(b_.load(m.forward, {t, k}), b_.load(m.backward, {k}))));
    });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      const ExprId row = m.row(t, b_.i(0)), before = b_.sub(t, b_.i(1)), z = b_.load(m.scale, {t});
      each_value(m, "j", [&](ExprId j) {
        const auto onward = [&](ExprId k) {
          return b_.sub(
              b_.add(b_.add(b_.load(m.pair, {row, j, k}), b_.load(m.unary, {t, k})), b_.load(m.backward, {k})), z);
        };
        b_.store(m.message, {j}, log_sum(m, onward));
        each_value(m, "k", [&](ExprId k) {
          put_pair(m, t, j, k, b_.exp(b_.add(b_.load(m.forward, {before, j}), onward(k))));
        });
      });
      each_value(m, "j", [&](ExprId j) { b_.store(m.backward, {j}, b_.load(m.message, {j})); });
    });
  });
}

void Chains::exponentiate_pairs(const Messages& m, ExprId t) {
  const auto each_pair = [&](const std::function<void(const std::vector<ExprId>& at)>& f) {
    each_value(m, "j", [&](ExprId j) { each_value(m, "k", [&](ExprId k) { f({t, j, k}); }); });
  };
  const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
  each_pair([&](const auto& at) { b_.assign(top, b_.max(b_.get(top), b_.load(m.pair, at))); });
  each_pair([&](const auto& at) { b_.store(m.transition, at, b_.exp(b_.sub(b_.load(m.pair, at), b_.get(top)))); });
  b_.assign(m.top, b_.get(top));
}

void Chains::filter(Messages& m) {
  m.products = b_.local(b_.fresh("products"), b_.f(1));
  m.top = b_.local(b_.fresh("top"), b_.f(0));
  if (m.steady) exponentiate_pairs(m, b_.i(0));
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) {
    const ScalarId log_sum = b_.local(b_.fresh("log_sum"), b_.f(0));
    each_value(m, "k", [&](ExprId k) { b_.store(m.message, {k}, b_.f(1)); });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      if (!m.steady) exponentiate_pairs(m, t);
      b_.assign(log_sum, b_.get(m.top));
      each_value(m, "k", [&](ExprId k) { b_.store(m.message, {k}, b_.f(0)); });
      each_value(m, "j", [&](ExprId j) {
        const ExprId from = b_.let(b_.fresh("from"), b_.load(m.filtered, {b_.sub(t, b_.i(1)), j}));
        each_value(m, "k", [&](ExprId k) {
          b_.add_to(m.message, {k}, b_.mul(from, b_.load(m.transition, {m.row(t, b_.i(0)), j, k})));
        });
      });
    });
    const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308)), sum = b_.local(b_.fresh("sum"), b_.f(0));
    each_value(m, "k", [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(m.unary, {t, k}))); });
    each_value(m, "k", [&](ExprId k) {
      const ExprId e = b_.let(b_.fresh("e"), b_.exp(b_.sub(b_.load(m.unary, {t, k}), b_.get(top))));
      b_.store(m.emission, {t, k}, e);
      b_.store(m.message, {k}, b_.mul(b_.load(m.message, {k}), e));
      b_.accumulate(sum, b_.load(m.message, {k}));
    });
    b_.if_then(b_.logical_not(b_.less(b_.f(kLeastSum), b_.get(sum))), [&] { b_.assign(m.products, b_.f(0)); });
    b_.accumulate(m.entropy, b_.add(b_.add(b_.log(b_.get(sum)), b_.get(top)), b_.get(log_sum)));
    const ExprId share = b_.let(b_.fresh("share"), b_.div(b_.f(1), b_.get(sum)));
    b_.store(m.scale, {t}, share);
    each_value(m, "k", [&](ExprId k) { b_.store(m.filtered, {t, k}, b_.mul(b_.load(m.message, {k}), share)); });
  });
}

void Chains::draw_sequence(const Messages& m, const UpdateHooks& hooks) {
  b_.if_rarely(b_.equal(b_.get(m.products), b_.f(0)), [&] { filter_logarithms(m); });
  if (m.summed) b_.fill(m.pairs, b_.f(0));
  each_value(m, "k", [&](ExprId k) { b_.store(m.backward, {k}, b_.get(m.products)); });
  each_step_back(m, [&](ExprId t) {
    if (hooks.before) hooks.before(m.element(t));
    draw_value(m, t);
    updates_.clamp(m.block, m.element(t));
    if (hooks.after) hooks.after(m.element(t));
    condition_on_draw(m, t);
  });
  store_entropy(m.block, m.sequence, b_.f(0));
}

void Chains::draw_value(const Messages& m, ExprId t) {
  const auto store = [&](ExprId k, ExprId p) {
    b_.store(m.probs, updates_.parameter_address(m.block, m.element(t), {k}), p);
  };
  either(
      m,
      [&] {
        const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
        each_value(m, "k", [&](ExprId k) {
          b_.store(m.message, {k}, b_.mul(b_.load(m.filtered, {t, k}), b_.load(m.backward, {k})));
          b_.accumulate(sum, b_.load(m.message, {k}));
        });
        each_value(m, "k", [&](ExprId k) { store(k, b_.div(b_.load(m.message, {k}), b_.get(sum))); });
      },
      [&] {
        const auto odds = [&](ExprId k) { return b_.add(b_.load(m.forward, {t, k}), b_.load(m.backward, {k})); };
        const ExprId z = log_sum(m, odds);
        each_value(m, "k", [&](ExprId k) { store(k, b_.exp(b_.sub(odds(k), z))); });
      });
  updates_.draw_category(m.block, m.element(t));
}

void Chains::condition_on_draw(const Messages& m, ExprId t) {
  const ExprId next = b_.add(t, b_.i(1));
  b_.if_then(b_.less(next, m.end), [&] {
    each_value(m, "j", [&](ExprId j) {
      each_value(m, "k",
                 [&](ExprId k) { put_pair(m, next, j, k, b_.mul(probability(m, t, j), probability(m, next, k))); });
    });
  });
  const auto column = [&](BufferId potential) {
    each_value(m, "j", [&](ExprId j) {
      const ScalarId sum = b_.local(b_.fresh("column"), b_.f(0));
      each_value(m, "k", [&](ExprId k) {
        b_.accumulate(sum, b_.mul(probability(m, t, k), b_.load(potential, {m.row(t, b_.i(0)), j, k})));
      });
      b_.store(m.backward, {j}, b_.get(sum));
    });
  };
  b_.if_then(b_.less(b_.i(0), t), [&] {
    either(
        m, [&] { column(m.transition); }, [&] { column(m.pair); });
  });
}

}  // namespace lehr::loops
