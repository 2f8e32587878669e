// Chains of categories: forward-backward in logarithms.
//
// With unary potentials U[t][k] and pair potentials W[t][j][k] (both expectations of the other factors'
// statistics), q(s) is proportional to exp(sum_t U[t][s_t] + sum_t W[t][s_t-1][s_t]). Messages are normalised
// at every step, so that sequences of any length and potentials near log 0 stay finite. Rabiner (1989),
// section III, in logarithms.
#include "compiler/loops/chains.h"

namespace lehr::loops {

void Chains::forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                              const UpdateHooks& hooks) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const SizeId size = at_.size[m_[*var.value_plate].set.index()], steps = longest(var);
  const ExprId values = b_.extent(size), zero = b_.i(0), one = b_.i(1);
  const ExprId end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  const BufferId unary = work_array("unary." + var.name, {steps, size});
  const BufferId pair = work_array("potential." + var.name, {steps, size, size});
  const BufferId forward = work_array("forward." + var.name, {steps, size});
  const BufferId scale = work_array("scale." + var.name, {steps});
  const BufferId backward = work_array("backward." + var.name, {size});
  const BufferId message = work_array("message." + var.name, {size});
  const BufferId probs = parameter_of(b, math::ParameterRole::probabilities), pairs = at_.chains.at(b).pairs;
  const auto each = [&](const char* name, const std::function<void(ExprId)>& body) {
    b_.for_range(name, zero, values, body);
  };
  const auto element = [&](ExprId t) {
    std::vector<ExprId> at = sequence;
    at.push_back(t);
    return at;
  };

  b_.for_range("t", zero, end, [&](ExprId t) {
    each("j", [&](ExprId j) {
      b_.store(unary, {t, j}, b_.f(0));
      each("k", [&](ExprId k) { b_.store(pair, {t, j, k}, b_.f(0)); });
    });
  });
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = unary;
  target.free_axes = {var.axes.size() - 1};
  gather_potentials(b, uses, sequence, target,
                    [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value) {
                      b_.add_to(pair, {t, before[0], now[0]}, value);
                    });
  if (hooks.gathered) b_.for_range("t", zero, end, [&](ExprId t) { hooks.gathered(element(t), target); });

  // log sum exp of `term(k)` over the values of the category
  const auto log_sum = [&](const std::function<ExprId(ExprId)>& term) {
    const std::string tag = b_.fresh("");
    const ScalarId top = b_.local("top" + tag, b_.f(-1.7e308)), sum = b_.local("sum" + tag, b_.f(0));
    each("i", [&](ExprId i) { b_.assign(top, b_.max(b_.get(top), term(i))); });
    each("i", [&](ExprId i) { b_.accumulate(sum, b_.exp(b_.sub(term(i), b_.get(top)))); });
    return b_.let("log_sum" + tag, b_.add(b_.get(top), b_.log(b_.get(sum))));
  };
  const ScalarId entropy = b_.local(b_.fresh("entropy"), b_.f(0));  // log Z - <U> - <W>
  b_.for_range("t", zero, end, [&](ExprId t) {
    b_.if_else(
        b_.equal(t, zero), [&] { each("k", [&](ExprId k) {
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
  if (s_.conditionals[b].drawn) {
    // The last value by its message, then each by its message and the one that follows it.
    b_.for_range("back", zero, end, [&](ExprId back) {
      const ExprId t = b_.let(b_.fresh("t"), b_.sub(b_.sub(end, one), back)), next = b_.add(t, one);
      if (hooks.before) hooks.before(element(t));
      const auto odds = [&](ExprId k) { return b_.add(b_.load(forward, {t, k}), b_.load(backward, {k})); };
      const ExprId z = log_sum(odds);
      each("k", [&](ExprId k) {
        b_.store(probs, updates_.parameter_address(b, element(t), {k}), b_.exp(b_.sub(odds(k), z)));
      });
      updates_.draw_category(b, element(t));
      if (hooks.after) hooks.after(element(t));
      const auto picked = [&](ExprId at, ExprId k) {
        return b_.load(probs, updates_.parameter_address(b, element(at), {k}));
      };
      b_.if_then(b_.less(next, end), [&] {
        each("j", [&](ExprId j) {
          each("k", [&](ExprId k) {
            b_.store(pairs, pair_address(b, element(next), {j}, {k}), b_.mul(picked(t, j), picked(next, k)));
          });
        });
      });
      each("j", [&](ExprId j) {
        const ScalarId column = b_.local(b_.fresh("column"), b_.f(0));
        each("k", [&](ExprId k) { b_.accumulate(column, b_.mul(picked(t, k), b_.load(pair, {t, j, k}))); });
        b_.store(backward, {j}, b_.get(column));
      });
    });
    store_entropy(b, sequence, b_.f(0));
    return;
  }
  b_.for_range("back", zero, end, [&](ExprId back) {
    const ExprId t = b_.let(b_.fresh("t"), b_.sub(b_.sub(end, one), back));
    if (hooks.before) hooks.before(element(t));
    each("k", [&](ExprId k) {
      const ExprId p = b_.let(b_.fresh("p"), b_.exp(b_.add(b_.load(forward, {t, k}), b_.load(backward, {k}))));
      b_.store(probs, updates_.parameter_address(b, element(t), {k}), p);
      b_.accumulate(entropy, b_.neg(b_.mul(p, b_.load(unary, {t, k}))));
    });
    if (hooks.after) hooks.after(element(t));
    b_.if_then(b_.less(zero, t), [&] {
      const ExprId before = b_.sub(t, one), z = b_.load(scale, {t});
      each("j", [&](ExprId j) {
        const auto onward = [&](ExprId k) {
          return b_.sub(b_.add(b_.add(b_.load(pair, {t, j, k}), b_.load(unary, {t, k})), b_.load(backward, {k})), z);
        };
        b_.store(message, {j}, log_sum(onward));
        each("k", [&](ExprId k) {
          const ExprId p = b_.let(b_.fresh("p"), b_.exp(b_.add(b_.load(forward, {before, j}), onward(k))));
          b_.store(pairs, pair_address(b, element(t), {j}, {k}), p);
          b_.accumulate(entropy, b_.neg(b_.mul(p, b_.load(pair, {t, j, k}))));
        });
      });
      each("j", [&](ExprId j) { b_.store(backward, {j}, b_.load(message, {j})); });
    });
  });
  store_entropy(b, sequence, b_.get(entropy));
}

}  // namespace lehr::loops
