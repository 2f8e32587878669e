// Chains of Normal and MvNormal elements: the Kalman smoother, as elimination in the natural parameters.
//
// The terms give q(x) proportional to exp(sum_t h_t'x_t - x_t'P_t x_t / 2 + sum_t x_{t-1}'W_t x_t): a
// Gaussian whose precision matrix has the blocks P_t on its diagonal and -W_t beside it. Eliminating x_0,
// x_1, ... in turn,
//     G_t = L_{t-1}^-1 W_t,   L_t = P_t - W_t'G_t,   v_t = L_t^-1 (h_t + W_t'v_{t-1}),   log det = sum_t log
//     det L_t,
// and x_{t-1} given x_t is N(v_{t-1} + G_t x_t, L_{t-1}^-1), so that backwards
//     m_{t-1} = v_{t-1} + G_t m_t,   Cov(x_{t-1}, x_t) = G_t S_t,   S_{t-1} = L_{t-1}^-1 + G_t S_t G_t'.
// Rue & Held (2005), section 2.4: the block Cholesky factor of a band matrix; the smoother of Rauch, Tung &
// Striebel (1965) in information form. A scalar is a vector of one component.
//
// The arrays are reused: P_t becomes L_t^-1, h_t becomes v_t, and W_t, formed where the expectations of the
// pairs will stand, becomes G_t and then those.
#include "compiler/loops/chains.h"

namespace lehr::loops {

struct Chains::Smoother {
  BlockId block;
  std::vector<ExprId> sequence;
  bool vector = false;
  std::int32_t fail_code = 0;  // where the precision is not positive definite; 0: NaN
  SizeId extent;
  ExprId size, end;                      // components of an element, elements of the sequence
  NaturalTarget naturals;                // h and the natural parameters of the squares
  BufferId linear, square;               // h, v; P, L^-1
  BufferId pivot, product, information;  // of one element
  BufferId covariance, mean;             // S, m of the element last visited backwards

  std::vector<ExprId> element(ExprId t) const {
    std::vector<ExprId> out = sequence;
    out.push_back(t);
    return out;
  }
  std::vector<ExprId> event(std::vector<ExprId> components) const {
    return vector ? components : std::vector<ExprId>{};
  }
  std::vector<ExprId> at(ExprId t, std::vector<ExprId> components) const {
    if (!vector) return {t};
    components.insert(components.begin(), t);
    return components;
  }
};

ExprId Chains::component_sum(const Smoother& s, const std::function<ExprId(ExprId)>& term) {
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  b_.for_range("k", b_.i(0), s.size, [&](ExprId k) { b_.accumulate(sum, term(k)); });
  return b_.get(sum);
}

void Chains::each_component(const Smoother& s, const std::function<void(ExprId)>& body) {
  b_.for_range("j", b_.i(0), s.size, body);
}

void Chains::each_component_pair(const Smoother& s, const std::function<void(ExprId, ExprId)>& body) {
  each_component(s, [&](ExprId j) { each_component(s, [&](ExprId l) { body(j, l); }); });
}

Chains::Smoother Chains::open_smoother(BlockId b, const std::vector<ExprId>& sequence, bool tolerant) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Smoother s;
  s.block = b;
  s.sequence = sequence;
  if (!tolerant) s.fail_code = kFailBlock + static_cast<std::int32_t>(b.index());
  s.vector = !var.event.empty();
  s.extent = s.vector ? at_.size[m_[var.event[0]].set.index()] : b_.constant_size("one", 1);
  s.size = b_.extent(s.extent);
  s.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  const SizeId steps = longest(var), d = s.extent;
  const auto over_steps = [&](std::size_t rank) {
    std::vector<SizeId> sizes{steps};
    if (s.vector) sizes.resize(1 + rank, d);
    return sizes;
  };
  s.linear = work_array("linear." + var.name, over_steps(1));
  s.square = work_array("square." + var.name, over_steps(2));
  s.naturals.buffers[s.vector ? math::Stat::comp : math::Stat::value] = s.linear;
  s.naturals.buffers[s.vector ? math::Stat::comp2 : math::Stat::square] = s.square;
  s.naturals.free_axes = {var.axes.size() - 1};
  s.pivot = work_array("pivot." + var.name, {d, d});
  s.product = work_array("product." + var.name, {d, d});
  s.information = work_array("information." + var.name, {d});
  s.covariance = work_array("covariance." + var.name, {d, d});
  s.mean = work_array("mean." + var.name, {d});
  return s;
}

void Chains::kalman_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                             const UpdateHooks& hooks) {
  const Smoother s = open_smoother(b, sequence, hooks.tolerant);
  const BufferId pairs = at_.chains.at(b).pairs;
  const auto pair_at = [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now) {
    return pair_address(b, s.element(t), before, now);
  };
  b_.for_range("t", b_.i(0), s.end, [&](ExprId t) {
    each_component(s, [&](ExprId j) { b_.store(s.linear, s.at(t, {j}), b_.f(0)); });
    each_component_pair(s, [&](ExprId j, ExprId l) {
      b_.store(s.square, s.at(t, {j, l}), b_.f(0));
      b_.store(pairs, pair_at(t, s.event({j}), s.event({l})), b_.f(0));
    });
  });
  gather_potentials(b, uses, sequence, s.naturals, false,
                    [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value) {
                      b_.add_to(pairs, pair_at(t, before, now), value);
                    });
  if (hooks.gathered) b_.for_range("t", b_.i(0), s.end, [&](ExprId t) { hooks.gathered(s.element(t), s.naturals); });

  const ScalarId known = condition_chain(s);
  const ScalarId logdet = b_.local(b_.fresh("logdet"), b_.f(0));
  b_.for_range("t", b_.i(0), s.end, [&](ExprId t) { b_.accumulate(logdet, eliminate(s, t)); });
  b_.for_range("back", b_.i(0), s.end, [&](ExprId back) {
    const ExprId t = b_.let(b_.fresh("t"), b_.sub(b_.sub(s.end, b_.i(1)), back));
    const bool drawn = s_.conditionals[b].drawn;
    if (!drawn) smooth(s, t);
    if (hooks.before) hooks.before(s.element(t));
    if (drawn) draw_backwards(s, t);
    else store_marginal(s, t);
    if (hooks.after) hooks.after(s.element(t));
  });
  constexpr double kLog2Pi = 1.8378770664093454836;
  const ExprId components = b_.to_f64(s.size), steps = b_.to_f64(s.end);
  ExprId unknown = b_.mul(components, steps);
  if (known.valid()) unknown = b_.sub(unknown, b_.get(known));
  const ExprId constant = b_.mul(b_.f(1 + kLog2Pi), unknown);
  const ExprId entropy = b_.mul(b_.f(0.5), b_.sub(constant, b_.get(logdet)));
  store_entropy(b, sequence, s_.conditionals[b].drawn ? b_.f(0) : entropy);
}

ScalarId Chains::condition_chain(const Smoother& s) {
  if (!clamps_.any(s.block)) return {};
  const ScalarId known = b_.local(b_.fresh("known"), b_.f(0));
  const BufferId pairs = at_.chains.at(s.block).pairs;
  const auto is_known = [&](ExprId t, ExprId j) { return clamps_.is_known(s.block, s.element(t), s.event({j})); };
  const auto value = [&](ExprId t, ExprId j) { return clamps_.value(s.block, s.element(t), s.event({j})); };
  b_.for_range("t", b_.i(1), s.end, [&](ExprId t) {
    const ExprId before = b_.sub(t, b_.i(1));
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const auto at = pair_address(s.block, s.element(t), s.event({j}), s.event({l}));
      const ExprId first = is_known(before, j), second = is_known(t, l), w = b_.let(b_.fresh("w"), b_.load(pairs, at));
      b_.if_then(first, [&] { b_.add_to(s.linear, s.at(t, {l}), b_.mul(w, value(before, j))); });
      b_.if_then(second, [&] { b_.add_to(s.linear, s.at(before, {j}), b_.mul(w, value(t, l))); });
      b_.store(pairs, at, b_.select(b_.logical_or(first, second), b_.f(0), w));
    });
  });
  b_.for_range("t", b_.i(0), s.end, [&](ExprId t) {
    if (s.vector)
      clamps_.condition(s.block, s.element(t), s.linear, s.square,
                        [&](const std::vector<ExprId>& event) { return s.at(t, event); });
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId natural = b_.load(s.square, s.at(t, {j, l}));
      const ExprId unit = b_.select(b_.equal(j, l), b_.f(-0.5), b_.f(0));
      b_.store(s.square, s.at(t, {j, l}), b_.select(b_.logical_or(is_known(t, j), is_known(t, l)), unit, natural));
    });
    each_component(s, [&](ExprId j) {
      b_.if_then(is_known(t, j), [&] {
        b_.store(s.linear, s.at(t, {j}), value(t, j));
        b_.accumulate(known, b_.f(1));
      });
    });
  });
  return known;
}

void Chains::put_known(const Smoother& s, ExprId t, BufferId value, const std::vector<ExprId>& lead) {
  if (!clamps_.any(s.block)) return;
  each_component(s, [&](ExprId j) {
    std::vector<ExprId> at = lead;
    at.push_back(j);
    const std::vector<ExprId> event = s.event({j});
    b_.store(value, at,
             b_.select(clamps_.is_known(s.block, s.element(t), event), clamps_.value(s.block, s.element(t), event),
                       b_.load(value, at)));
  });
}

ExprId Chains::eliminate(const Smoother& s, ExprId t) {
  const BufferId w = at_.chains.at(s.block).pairs;
  const auto w_at = [&](ExprId j, ExprId l) { return pair_address(s.block, s.element(t), s.event({j}), s.event({l})); };
  // the coefficients of x_j x_l and x_l x_j together, times -2 / 2
  each_component_pair(s, [&](ExprId j, ExprId l) {
    const ExprId sum = b_.add(b_.load(s.square, s.at(t, {j, l})), b_.load(s.square, s.at(t, {l, j})));
    b_.store(s.pivot, {j, l}, b_.neg(sum));
  });
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  b_.if_then(b_.less(b_.i(0), t), [&] {
    const ExprId before = b_.sub(t, b_.i(1));
    each_component_pair(s, [&](ExprId j, ExprId l) {
      b_.store(s.product, {j, l}, component_sum(s, [&](ExprId k) {
                 return b_.mul(b_.load(s.square, s.at(before, {j, k})), b_.load(w, w_at(k, l)));
               }));
    });
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId sum = component_sum(s, [&](ExprId k) {
        return b_.mul(b_.load(w, w_at(k, j)), b_.load(s.product, {k, l}));
      });
      b_.add_to(s.pivot, {j, l}, b_.neg(sum));
    });
    each_component(s, [&](ExprId j) {
      b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                  return b_.mul(b_.load(w, w_at(k, j)), b_.load(s.linear, s.at(before, {k})));
                }));
    });
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(w, w_at(j, l), b_.load(s.product, {j, l})); });
  });
  const SpdInverse pivot = formulas_.spd_inverse(
      "pivot", [&](const std::vector<ExprId>& jl) { return b_.load(s.pivot, jl); }, s.extent, s.fail_code);
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(s.square, s.at(t, {j, l}), b_.load(pivot.inverse, {j, l}));
  });
  each_component(s, [&](ExprId j) {
    b_.store(s.linear, s.at(t, {j}), component_sum(s, [&](ExprId k) {
               return b_.mul(b_.load(s.square, s.at(t, {j, k})), b_.load(s.information, {k}));
             }));
  });
  return pivot.logdet;
}

void Chains::smooth(const Smoother& s, ExprId t) {
  const BufferId pairs = at_.chains.at(s.block).pairs;
  const ExprId next = b_.add(t, b_.i(1));
  const auto gain_at = [&](ExprId j, ExprId l) {
    return pair_address(s.block, s.element(next), s.event({j}), s.event({l}));
  };
  const auto filtered_mean = [&](ExprId j) { return b_.load(s.linear, s.at(t, {j})); };
  const auto filtered_covariance = [&](ExprId j, ExprId l) { return b_.load(s.square, s.at(t, {j, l})); };
  b_.if_else(
      b_.equal(next, s.end),
      [&] {
        each_component(s, [&](ExprId j) { b_.store(s.mean, {j}, filtered_mean(j)); });
        each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.covariance, {j, l}, filtered_covariance(j, l)); });
      },
      [&] {
        each_component_pair(s, [&](ExprId j, ExprId l) {
          b_.store(s.product, {j, l}, component_sum(s, [&](ExprId k) {
                     return b_.mul(b_.load(pairs, gain_at(j, k)), b_.load(s.covariance, {k, l}));
                   }));
        });
        each_component_pair(s, [&](ExprId j, ExprId l) {
          b_.store(s.covariance, {j, l},
                   b_.add(filtered_covariance(j, l), component_sum(s, [&](ExprId k) {
                            return b_.mul(b_.load(s.product, {j, k}), b_.load(pairs, gain_at(l, k)));
                          })));
        });
        each_component(s, [&](ExprId j) {
          b_.store(s.information, {j}, b_.add(filtered_mean(j), component_sum(s, [&](ExprId k) {
                                                return b_.mul(b_.load(pairs, gain_at(j, k)), b_.load(s.mean, {k}));
                                              })));
        });
        each_component_pair(s, [&](ExprId j, ExprId l) {
          b_.store(pairs, gain_at(j, l),
                   b_.add(b_.load(s.product, {j, l}), b_.mul(b_.load(s.information, {j}), b_.load(s.mean, {l}))));
        });
        each_component(s, [&](ExprId j) { b_.store(s.mean, {j}, b_.load(s.information, {j})); });
      });
}

void Chains::store_marginal(const Smoother& s, ExprId t) {
  const std::vector<ExprId> element = s.element(t);
  Formulas f = updates_.parameter_formulas(s.block, element);
  f.fail_code = s.fail_code;
  const SpdInverse covariance = formulas_.spd_inverse(
      "covariance", [&](const std::vector<ExprId>& jl) { return b_.load(s.covariance, jl); }, s.extent, s.fail_code);
  each_component(s, [&](ExprId j) {
    b_.store(parameter_of(s.block, math::ParameterRole::location),
             updates_.parameter_address(s.block, element, s.event({j})), b_.load(s.mean, {j}));
  });
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(parameter_of(s.block, math::ParameterRole::precision),
             updates_.parameter_address(s.block, element, s.event({j, l})), b_.load(covariance.inverse, {j, l}));
  });
  if (clamps_.any(s.block)) {
    updates_.clamp(s.block, element);
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId known = b_.logical_or(clamps_.is_known(s.block, element, s.event({j})),
                                         clamps_.is_known(s.block, element, s.event({l})));
      b_.store(s.covariance, {j, l}, b_.select(known, b_.f(0), b_.load(s.covariance, {j, l})));
    });
  }
  f.inverses[find_role(*s_.conditionals[s.block].factor, math::ParameterRole::precision)->name] = {
      {}, {}, s.covariance, b_.neg(covariance.logdet)};  // known, not to be inverted again
  updates_.expectations_from_parameters(s.block, element, f);
}

void Chains::draw_backwards(const Smoother& s, ExprId t) {
  const BufferId pairs = at_.chains.at(s.block).pairs;
  const ExprId next = b_.add(t, b_.i(1)), first = b_.i(0);
  const std::vector<ExprId> element = s.element(t);
  const auto gain_at = [&](ExprId j, ExprId l) {
    return pair_address(s.block, s.element(next), s.event({j}), s.event({l}));
  };
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  b_.if_then(b_.less(next, s.end), [&] {
    each_component(s, [&](ExprId j) {
      b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                  return b_.mul(b_.load(pairs, gain_at(j, k)), b_.load(s.mean, {k}));
                }));
    });
  });
  const SpdInverse covariance = formulas_.spd_inverse(
      "covariance", [&](const std::vector<ExprId>& jl) { return b_.load(s.square, s.at(t, jl)); }, s.extent,
      s.fail_code);
  each_component(s, [&](ExprId j) {
    b_.store(s.pivot, {first, j}, draws_.random(math::Noise::normal, s.block, 0, element, j, b_.f(0)));
  });
  each_component(s, [&](ExprId j) {
    const ScalarId x = b_.local(b_.fresh("x"), b_.load(s.information, {j}));
    b_.for_range("k", first, b_.add(j, b_.i(1)), [&](ExprId k) {
      b_.accumulate(x, b_.mul(b_.load(covariance.factor, {j, k}), b_.load(s.pivot, {first, k})));
    });
    b_.store(s.product, {first, j}, b_.get(x));
  });
  put_known(s, t, s.product, {first});
  b_.if_then(b_.less(next, s.end), [&] {
    each_component_pair(s, [&](ExprId j, ExprId l) {
      b_.store(pairs, gain_at(j, l), b_.mul(b_.load(s.product, {first, j}), b_.load(s.mean, {l})));
    });
  });
  each_component(s, [&](ExprId j) {
    b_.store(s.mean, {j}, b_.load(s.product, {first, j}));
    b_.store(parameter_of(s.block, math::ParameterRole::value),
             updates_.parameter_address(s.block, element, s.event({j})), b_.load(s.mean, {j}));
  });
  Formulas f = updates_.parameter_formulas(s.block, element);
  updates_.expectations_from_parameters(s.block, element, f);
}

}  // namespace lehr::loops
