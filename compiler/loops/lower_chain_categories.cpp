// Chains of categories: forward-backward in logarithms.
//
// With unary potentials U[t][k] and pair potentials W[t][j][k] (both expectations of the other factors'
// statistics), q(s) is proportional to exp(sum_t U[t][s_t] + sum_t W[t][s_t-1][s_t]). Messages are normalised
// at every step, so that sequences of any length and potentials near log 0 stay finite. Rabiner (1989),
// section III, in logarithms.
//
// A draw needs the messages forwards alone, and their exponentials: they are formed as products, each step divided by
// its sum, and in logarithms only where a sum underflows.
#include "compiler/loops/chains.h"

namespace lehr::loops {

namespace {
constexpr double kLeastSum = 1e-250;  // below it, what is lost to underflow may matter
}

/// The arrays of one sequence.
struct Chains::Messages {
  BlockId block;
  std::vector<ExprId> sequence;
  SizeId size;
  ExprId values, end;                    // of the category; elements of the sequence
  BufferId unary, pair, forward, scale;  // over the steps
  BufferId backward, message;            // of one element
  BufferId probs, pairs;                 // the factor
  ScalarId entropy;                      // log Z - <U> - <W>
  BufferId transition, filtered;         // of draws, over the steps: exp(pair), and the normalised products
  ScalarId products;                     // of draws: 1 where no sum underflowed

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

Chains::Messages Chains::open_messages(BlockId b, const std::vector<ExprId>& sequence) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Messages m;
  m.block = b;
  m.sequence = sequence;
  m.size = at_.size[m_[*var.value_plate].set.index()];
  const SizeId steps = longest(var);
  m.values = b_.extent(m.size);
  m.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  m.unary = work_array("unary." + var.name, {steps, m.size});
  m.pair = work_array("potential." + var.name, {steps, m.size, m.size});
  m.forward = work_array("forward." + var.name, {steps, m.size});
  m.scale = work_array("scale." + var.name, {steps});
  m.backward = work_array("backward." + var.name, {m.size});
  m.message = work_array("message." + var.name, {m.size});
  m.probs = parameter_of(b, math::ParameterRole::probabilities);
  m.pairs = at_.chains.at(b).pairs;
  return m;
}

void Chains::forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                              const UpdateHooks& hooks) {
  Messages m = open_messages(b, sequence);
  const ExprId zero = b_.i(0);
  b_.for_range("t", zero, m.end, [&](ExprId t) {
    each_value(m, "j", [&](ExprId j) {
      b_.store(m.unary, {t, j}, b_.f(0));
      each_value(m, "k", [&](ExprId k) { b_.store(m.pair, {t, j, k}, b_.f(0)); });
    });
  });
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = m.unary;
  target.free_axes = {m_[s_.conditionals[b].variable].axes.size() - 1};
  gather_potentials(b, uses, sequence, target,
                    [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value) {
                      b_.add_to(m.pair, {t, before[0], now[0]}, value);
                    });
  if (hooks.gathered) b_.for_range("t", zero, m.end, [&](ExprId t) { hooks.gathered(m.element(t), target); });

  forbid_others(m);
  m.entropy = b_.local(b_.fresh("entropy"), b_.f(0));
  const bool drawn = s_.conditionals[b].drawn;
  const auto in_logarithms = [&] { b_.for_range("t", zero, m.end, [&](ExprId t) { pass_forward(m, t); }); };
  if (drawn) {
    filter(m);
    b_.if_then(b_.equal(b_.get(m.products), b_.f(0)), in_logarithms);
  } else {
    in_logarithms();
  }
  each_value(m, "k", [&](ExprId k) { b_.store(m.backward, {k}, drawn ? b_.get(m.products) : b_.f(0)); });
  b_.for_range("back", zero, m.end, [&](ExprId back) {
    const ExprId t = b_.let(b_.fresh("t"), b_.sub(b_.sub(m.end, b_.i(1)), back));
    if (hooks.before) hooks.before(m.element(t));
    if (drawn) draw_value(m, t);
    else store_probabilities(m, t);
    updates_.clamp(b, m.element(t));
    if (hooks.after) hooks.after(m.element(t));
    if (drawn) condition_on_draw(m, t);
    else pass_backward(m, t);
  });
  store_entropy(b, sequence, drawn ? b_.f(0) : b_.get(m.entropy));
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
            return b_.add(b_.load(m.forward, {b_.sub(t, b_.i(1)), j}), b_.load(m.pair, {t, j, k}));
          });
          b_.store(m.message, {k}, b_.add(in, b_.load(m.unary, {t, k})));
        });
      });
  const ExprId z = log_sum(m, [&](ExprId k) { return b_.load(m.message, {k}); });
  b_.store(m.scale, {t}, z);
  b_.accumulate(m.entropy, z);
  each_value(m, "k", [&](ExprId k) { b_.store(m.forward, {t, k}, b_.sub(b_.load(m.message, {k}), z)); });
}

void Chains::store_probabilities(const Messages& m, ExprId t) {
  each_value(m, "k", [&](ExprId k) {
    const ExprId p = b_.let(b_.fresh("p"), b_.exp(b_.add(b_.load(m.forward, {t, k}), b_.load(m.backward, {k}))));
    b_.store(m.probs, updates_.parameter_address(m.block, m.element(t), {k}), p);
    b_.accumulate(m.entropy, b_.neg(b_.mul(p, b_.load(m.unary, {t, k}))));
  });
}

void Chains::pass_backward(const Messages& m, ExprId t) {
  b_.if_then(b_.less(b_.i(0), t), [&] {
    const ExprId before = b_.sub(t, b_.i(1)), z = b_.load(m.scale, {t});
    each_value(m, "j", [&](ExprId j) {
      const auto onward = [&](ExprId k) {
        return b_.sub(b_.add(b_.add(b_.load(m.pair, {t, j, k}), b_.load(m.unary, {t, k})), b_.load(m.backward, {k})),
                      z);
      };
      b_.store(m.message, {j}, log_sum(m, onward));
      each_value(m, "k", [&](ExprId k) {
        const ExprId p = b_.let(b_.fresh("p"), b_.exp(b_.add(b_.load(m.forward, {before, j}), onward(k))));
        b_.store(m.pairs, pair_address(m.block, m.element(t), {j}, {k}), p);
        b_.accumulate(m.entropy, b_.neg(b_.mul(p, b_.load(m.pair, {t, j, k}))));
      });
    });
    each_value(m, "j", [&](ExprId j) { b_.store(m.backward, {j}, b_.load(m.message, {j})); });
  });
}

void Chains::exponentiate_pairs(const Messages& m, ExprId t) {
  const auto each_pair =
      [&](const std::function<void(const std::vector<ExprId>& at, const std::vector<ExprId>& before)>& f) {
        each_value(m, "j", [&](ExprId j) {
          each_value(m, "k", [&](ExprId k) { f({t, j, k}, {b_.sub(t, b_.i(1)), j, k}); });
        });
      };
  // Most chains have the same potentials at all steps.
  const ScalarId news = b_.local(b_.fresh("news"), b_.select(b_.less(b_.i(1), t), b_.i(0), b_.i(1)));
  b_.if_then(b_.less(b_.i(1), t), [&] {
    each_pair([&](const auto& at, const auto& before) {
      b_.accumulate(news, b_.select(b_.equal(b_.load(m.pair, at), b_.load(m.pair, before)), b_.i(0), b_.i(1)));
    });
  });
  b_.if_else(
      b_.equal(b_.get(news), b_.i(0)),
      [&] {
        each_pair(
            [&](const auto& at, const auto& before) { b_.store(m.transition, at, b_.load(m.transition, before)); });
      },
      [&] {
        const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
        each_pair([&](const auto& at, const auto&) { b_.assign(top, b_.max(b_.get(top), b_.load(m.pair, at))); });
        each_pair([&](const auto& at, const auto&) {
          b_.store(m.transition, at, b_.exp(b_.sub(b_.load(m.pair, at), b_.get(top))));
        });
      });
}

void Chains::filter(Messages& m) {
  const std::string name = "." + m_[s_.conditionals[m.block].variable].name;
  const SizeId steps = longest(m_[s_.conditionals[m.block].variable]);
  m.transition = work_array("transition" + name, {steps, m.size, m.size});
  m.filtered = work_array("filtered" + name, {steps, m.size});
  m.products = b_.local(b_.fresh("products"), b_.f(1));
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) {
    each_value(m, "k", [&](ExprId k) { b_.store(m.message, {k}, b_.f(1)); });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      exponentiate_pairs(m, t);
      each_value(m, "k", [&](ExprId k) { b_.store(m.message, {k}, b_.f(0)); });
      each_value(m, "j", [&](ExprId j) {
        const ExprId from = b_.let(b_.fresh("from"), b_.load(m.filtered, {b_.sub(t, b_.i(1)), j}));
        each_value(m, "k", [&](ExprId k) {
          b_.add_to(m.message, {k}, b_.mul(from, b_.load(m.transition, {t, j, k})));
        });
      });
    });
    const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308)), sum = b_.local(b_.fresh("sum"), b_.f(0));
    each_value(m, "k", [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(m.unary, {t, k}))); });
    each_value(m, "k", [&](ExprId k) {
      b_.store(m.message, {k}, b_.mul(b_.load(m.message, {k}), b_.exp(b_.sub(b_.load(m.unary, {t, k}), b_.get(top)))));
      b_.accumulate(sum, b_.load(m.message, {k}));
    });
    b_.if_then(b_.logical_not(b_.less(b_.f(kLeastSum), b_.get(sum))), [&] { b_.assign(m.products, b_.f(0)); });
    each_value(m, "k", [&](ExprId k) { b_.store(m.filtered, {t, k}, b_.div(b_.load(m.message, {k}), b_.get(sum))); });
  });
}

void Chains::draw_value(const Messages& m, ExprId t) {
  const auto store = [&](ExprId k, ExprId p) {
    b_.store(m.probs, updates_.parameter_address(m.block, m.element(t), {k}), p);
  };
  b_.if_else(
      b_.equal(b_.get(m.products), b_.f(1)),
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
      each_value(m, "k", [&](ExprId k) {
        b_.store(m.pairs, pair_address(m.block, m.element(next), {j}, {k}),
                 b_.mul(probability(m, t, j), probability(m, next, k)));
      });
    });
  });
  const auto column = [&](BufferId potential) {
    each_value(m, "j", [&](ExprId j) {
      const ScalarId sum = b_.local(b_.fresh("column"), b_.f(0));
      each_value(m, "k", [&](ExprId k) {
        b_.accumulate(sum, b_.mul(probability(m, t, k), b_.load(potential, {t, j, k})));
      });
      b_.store(m.backward, {j}, b_.get(sum));
    });
  };
  b_.if_then(b_.less(b_.i(0), t), [&] {
    b_.if_else(
        b_.equal(b_.get(m.products), b_.f(1)), [&] { column(m.transition); }, [&] { column(m.pair); });
  });
}

}  // namespace lehr::loops
