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
// The arrays are reused: P_t becomes L_t^-1 and h_t becomes v_t. What is computed of a step's matrices stands apart, as
// statements on matrices of one step between those that bring and store them: matrices do not depend on h, and where
// P_t and W_t are the same at every step they settle, while means go on. Sequences of the same length have their own
// loops for matrices, which are the same for all of them unless data are missing.
#include "compiler/loops/chains.h"

namespace lehr::loops {

struct Chains::Smoother {
  BlockId block;
  std::vector<ExprId> sequence;
  bool vector = false;
  std::int32_t fail_code = 0;  // where the precision is not positive definite; 0: NaN
  SizeId extent;
  ExprId size, end;                    // components of an element, elements of the sequence
  bool steady = false, apart = false;  // one W for all steps; matrices in loops of their own
  NaturalTarget naturals;              // h and the natural parameters of the squares
  BufferId linear, square, gain;       // over the steps: h, v; P, L^-1; G
  BufferId coupling;                   // W over the steps, or the one of them all
  // of one element
  BufferId own, link, product, pivot, inverse, logdet;  // P; W, G; L_{t-1}^-1 W; L, L^-1, log det L
  BufferId filtered, covariance, cross;                 // L^-1, S, Cov(x_t, x_{t+1})
  BufferId information, mean;                           // h + W'v, m

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

Chains::Smoother Chains::open_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                                       bool tolerant) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Smoother s;
  s.block = b;
  s.sequence = sequence;
  if (!tolerant) s.fail_code = kFailBlock + static_cast<std::int32_t>(b.index());
  s.vector = !var.event.empty();
  s.extent = s.vector ? at_.size[m_[var.event[0]].set.index()] : b_.constant_size("one", 1);
  s.size = b_.extent(s.extent);
  s.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  s.steady = is_steady(b, uses) && !clamps_.any(b);
  s.apart = var.axes.size() > 1 && !m_[m_[var.axes.back()].set].parent;
  const SizeId steps = longest(var), one = b_.constant_size("one", 1), d = s.extent;
  const auto over = [&](SizeId rows, std::size_t rank) {
    std::vector<SizeId> sizes{rows};
    if (s.vector) sizes.resize(1 + rank, d);
    return sizes;
  };
  s.linear = work_array("linear." + var.name, over(steps, 1));
  s.square = work_array("square." + var.name, over(steps, 2));
  s.gain = work_array("gain." + var.name, over(steps, 2));
  s.coupling = work_array("coupling." + var.name, over(s.steady ? one : steps, 2));
  s.naturals.buffers[s.vector ? math::Stat::comp : math::Stat::value] = s.linear;
  s.naturals.buffers[s.vector ? math::Stat::comp2 : math::Stat::square] = s.square;
  s.naturals.free_axes = {var.axes.size() - 1};
  const auto matrix = [&](const char* name) { return work_array(name + var.name, {d, d}); };
  s.own = matrix("own.");
  s.link = matrix("link.");
  s.product = matrix("product.");
  s.pivot = matrix("pivot.");
  s.inverse = matrix("inverse.");
  s.filtered = matrix("filtered.");
  s.covariance = matrix("covariance.");
  s.cross = matrix("cross.");
  s.logdet = work_array("logdet." + var.name, {});
  s.information = work_array("information." + var.name, {d});
  s.mean = work_array("mean." + var.name, {d});
  return s;
}

void Chains::kalman_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                             const UpdateHooks& hooks) {
  const Smoother s = open_smoother(b, uses, sequence, hooks.tolerant);
  gather_gaussian(s, uses);
  if (hooks.gathered) b_.for_range("t", b_.i(0), s.end, [&](ExprId t) { hooks.gathered(s.element(t), s.naturals); });
  const ScalarId known = condition_chain(s);

  const ScalarId logdet = b_.local(b_.fresh("logdet"), b_.f(0));
  b_.fill(s.inverse, b_.f(0));
  const auto forwards = [&](const EachStep& body) { b_.for_range("t", b_.i(0), s.end, body); };
  in_turn(
      s, forwards, [&](ExprId t) { b_.accumulate(logdet, eliminate(s, t)); }, [&](ExprId t) { filter_mean(s, t); });

  const auto backwards = [&](const EachStep& body) {
    b_.for_range("back", b_.i(0), s.end,
                 [&](ExprId back) { body(b_.let(b_.fresh("t"), b_.sub(b_.sub(s.end, b_.i(1)), back))); });
  };
  const auto update = [&](ExprId t, const std::function<void()>& element) {
    if (hooks.before) hooks.before(s.element(t));
    element();
    if (hooks.after) hooks.after(s.element(t));
  };
  if (at_.chains.at(b).summed) b_.fill(at_.chains.at(b).pairs, b_.f(0));
  if (s_.conditionals[b].drawn) {
    backwards([&](ExprId t) { update(t, [&] { draw_backwards(s, t); }); });
    return store_entropy(b, sequence, b_.f(0));
  }
  b_.fill(s.covariance, b_.f(0));
  Matrices now;
  const Matrices kept = s.apart ? matrices(s, longest(m_[s_.conditionals[b].variable])) : Matrices{};
  in_turn(
      s, backwards,
      [&](ExprId t) {
        now = smooth(s, t);
        if (s.apart) copy(s, now, std::nullopt, kept, t);
      },
      [&](ExprId t) {
        if (s.apart) copy(s, kept, t, now = matrices(s, std::nullopt), std::nullopt);
        smooth_mean(s, t, now);
        update(t, [&] { store_marginal(s, t, now); });
      });
  constexpr double kLog2Pi = 1.8378770664093454836;
  const ExprId components = b_.to_f64(s.size), steps = b_.to_f64(s.end);
  ExprId unknown = b_.mul(components, steps);
  if (known.valid()) unknown = b_.sub(unknown, b_.get(known));
  const ExprId constant = b_.mul(b_.f(1 + kLog2Pi), unknown);
  store_entropy(b, sequence, b_.mul(b_.f(0.5), b_.sub(constant, b_.get(logdet))));
}

void Chains::gather_gaussian(const Smoother& s, const Uses& uses) {
  const ExprId zero = b_.i(0);
  b_.for_range("t", zero, s.end,
               [&](ExprId t) { each_component(s, [&](ExprId j) { b_.store(s.linear, s.at(t, {j}), b_.f(0)); }); });
  b_.for_range("t", zero, s.end, [&](ExprId t) {
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.square, s.at(t, {j, l}), b_.f(0)); });
  });
  b_.for_range("t", zero, s.steady ? b_.i(1) : s.end, [&](ExprId t) {
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.coupling, s.at(t, {j, l}), b_.f(0)); });
  });
  gather_potentials(s.block, uses, s.sequence, s.naturals, s.steady,
                    [&](ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value) {
                      std::vector<ExprId> at{s.steady ? zero : t};
                      at.insert(at.end(), before.begin(), before.end());
                      at.insert(at.end(), now.begin(), now.end());
                      b_.add_to(s.coupling, at, value);
                    });
}

void Chains::in_turn(const Smoother& s, const std::function<void(const EachStep&)>& each, const EachStep& matrices,
                     const EachStep& means) {
  if (s.apart) {
    each(matrices);
    return each(means);
  }
  each([&](ExprId t) {
    matrices(t);
    means(t);
  });
}

Chains::Matrices Chains::matrices(const Smoother& s, std::optional<SizeId> steps) {
  const std::string& name = m_[s_.conditionals[s.block].variable].name;
  std::vector<SizeId> sizes{s.extent, s.extent};
  if (steps) sizes.insert(sizes.begin(), *steps);
  return {work_array("smoothed." + name, sizes), work_array("precision." + name, sizes),
          work_array("crossed." + name, sizes)};
}

void Chains::copy(const Smoother& s, const Matrices& from, std::optional<ExprId> t, const Matrices& to,
                  std::optional<ExprId> to_t) {
  const auto at = [](std::optional<ExprId> step, ExprId j, ExprId l) {
    return step ? std::vector<ExprId>{*step, j, l} : std::vector<ExprId>{j, l};
  };
  for (const auto part : {&Matrices::covariance, &Matrices::precision, &Matrices::cross})
    each_component_pair(
        s, [&](ExprId j, ExprId l) { b_.store(to.*part, at(to_t, j, l), b_.load(from.*part, at(t, j, l))); });
}

ScalarId Chains::condition_chain(const Smoother& s) {
  if (!clamps_.any(s.block)) return {};
  const ScalarId known = b_.local(b_.fresh("known"), b_.f(0));
  const auto is_known = [&](ExprId t, ExprId j) { return clamps_.is_known(s.block, s.element(t), s.event({j})); };
  const auto value = [&](ExprId t, ExprId j) { return clamps_.value(s.block, s.element(t), s.event({j})); };
  b_.for_range("t", b_.i(1), s.end, [&](ExprId t) {
    const ExprId before = b_.sub(t, b_.i(1));
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const auto at = s.at(t, {j, l});
      const ExprId first = is_known(before, j), second = is_known(t, l),
                   w = b_.let(b_.fresh("w"), b_.load(s.coupling, at));
      b_.if_then(first, [&] { b_.add_to(s.linear, s.at(t, {l}), b_.mul(w, value(before, j))); });
      b_.if_then(second, [&] { b_.add_to(s.linear, s.at(before, {j}), b_.mul(w, value(t, l))); });
      b_.store(s.coupling, at, b_.select(b_.logical_or(first, second), b_.f(0), w));
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
  // the coefficients of x_j x_l and x_l x_j together, times -2 / 2
  each_component_pair(s, [&](ExprId j, ExprId l) {
    const ExprId sum = b_.add(b_.load(s.square, s.at(t, {j, l})), b_.load(s.square, s.at(t, {l, j})));
    b_.store(s.own, {j, l}, b_.neg(sum));
  });
  if (!s.steady)
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.link, {j, l}, b_.load(s.coupling, s.at(t, {j, l}))); });

  const auto w = [&](ExprId j, ExprId l) {
    return s.steady ? b_.load(s.coupling, s.at(b_.i(0), {j, l})) : b_.load(s.link, {j, l});
  };
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(s.product, {j, l}, component_sum(s, [&](ExprId k) {
               return b_.mul(b_.load(s.inverse, {j, k}), w(k, l));
             }));
  });
  each_component_pair(s, [&](ExprId j, ExprId l) {
    const ExprId sum = component_sum(s, [&](ExprId k) { return b_.mul(w(k, j), b_.load(s.product, {k, l})); });
    b_.store(s.pivot, {j, l}, b_.sub(b_.load(s.own, {j, l}), sum));
  });
  const SpdInverse pivot = formulas_.spd_inverse(
      "pivot", [&](const std::vector<ExprId>& jl) { return b_.load(s.pivot, jl); }, s.extent, s.fail_code);
  b_.store(s.logdet, {}, pivot.logdet);
  each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.inverse, {j, l}, b_.load(pivot.inverse, {j, l})); });

  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(s.gain, s.at(t, {j, l}), b_.load(s.product, {j, l}));
    b_.store(s.square, s.at(t, {j, l}), b_.load(s.inverse, {j, l}));
  });
  return b_.load(s.logdet, {});
}

void Chains::filter_mean(const Smoother& s, ExprId t) {
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  b_.if_then(b_.less(b_.i(0), t), [&] {
    const ExprId row = s.steady ? b_.i(0) : t, before = b_.sub(t, b_.i(1));
    each_component(s, [&](ExprId j) {
      b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                  return b_.mul(b_.load(s.coupling, s.at(row, {k, j})), b_.load(s.linear, s.at(before, {k})));
                }));
    });
  });
  each_component(s, [&](ExprId j) {
    b_.store(s.linear, s.at(t, {j}), component_sum(s, [&](ExprId k) {
               return b_.mul(b_.load(s.square, s.at(t, {j, k})), b_.load(s.information, {k}));
             }));
  });
}

Chains::Matrices Chains::smooth(const Smoother& s, ExprId t) {
  const ExprId next = b_.add(t, b_.i(1));
  each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(s.filtered, {j, l}, b_.load(s.square, s.at(t, {j, l}))); });
  b_.if_else(
      b_.less(next, s.end),
      [&] {
        each_component_pair(s, [&](ExprId j, ExprId l) {
          b_.store(s.link, {j, l}, b_.load(s.gain, s.at(next, {j, l})));
        });
      },
      [&] { b_.fill(s.link, b_.f(0)); });

  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(s.cross, {j, l}, component_sum(s, [&](ExprId k) {
               return b_.mul(b_.load(s.link, {j, k}), b_.load(s.covariance, {k, l}));
             }));
  });
  each_component_pair(s, [&](ExprId j, ExprId l) {
    const ExprId sum = component_sum(s, [&](ExprId k) {
      return b_.mul(b_.load(s.cross, {j, k}), b_.load(s.link, {l, k}));
    });
    b_.store(s.covariance, {j, l}, b_.add(b_.load(s.filtered, {j, l}), sum));
  });
  const SpdInverse precision = formulas_.spd_inverse(
      "covariance", [&](const std::vector<ExprId>& jl) { return b_.load(s.covariance, jl); }, s.extent, s.fail_code);
  return {s.covariance, precision.inverse, s.cross};
}

void Chains::smooth_mean(const Smoother& s, ExprId t, const Matrices& now) {
  const ExprId next = b_.add(t, b_.i(1));
  const auto filtered = [&](ExprId j) { return b_.load(s.linear, s.at(t, {j})); };
  b_.if_else(
      b_.equal(next, s.end), [&] { each_component(s, [&](ExprId j) { b_.store(s.mean, {j}, filtered(j)); }); },
      [&] {
        each_component(s, [&](ExprId j) {
          b_.store(s.information, {j},
                   b_.add(filtered(j), component_sum(s, [&](ExprId k) {
                            return b_.mul(b_.load(s.gain, s.at(next, {j, k})), b_.load(s.mean, {k}));
                          })));
        });
        each_component_pair(s, [&](ExprId j, ExprId l) {
          put_pair(s.block, pair_address(s.block, s.element(next), s.event({j}), s.event({l})),
                   b_.add(b_.load(now.cross, {j, l}), b_.mul(b_.load(s.information, {j}), b_.load(s.mean, {l}))));
        });
        each_component(s, [&](ExprId j) { b_.store(s.mean, {j}, b_.load(s.information, {j})); });
      });
}

void Chains::store_marginal(const Smoother& s, ExprId t, const Matrices& now) {
  const std::vector<ExprId> element = s.element(t);
  Formulas f = updates_.parameter_formulas(s.block, element);
  f.fail_code = s.fail_code;
  each_component(s, [&](ExprId j) {
    b_.store(parameter_of(s.block, math::ParameterRole::location),
             updates_.parameter_address(s.block, element, s.event({j})), b_.load(s.mean, {j}));
  });
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(parameter_of(s.block, math::ParameterRole::precision),
             updates_.parameter_address(s.block, element, s.event({j, l})), b_.load(now.precision, {j, l}));
  });
  if (clamps_.any(s.block)) {
    updates_.clamp(s.block, element);
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId known = b_.logical_or(clamps_.is_known(s.block, element, s.event({j})),
                                         clamps_.is_known(s.block, element, s.event({l})));
      b_.store(now.covariance, {j, l}, b_.select(known, b_.f(0), b_.load(now.covariance, {j, l})));
    });
  }
  f.inverses[find_role(*s_.conditionals[s.block].factor, math::ParameterRole::precision)->name] = {
      {}, {}, now.covariance, {}};  // known, not to be inverted again
  updates_.expectations_from_parameters(s.block, element, f);
}

void Chains::draw_backwards(const Smoother& s, ExprId t) {
  const ExprId next = b_.add(t, b_.i(1)), first = b_.i(0);
  const std::vector<ExprId> element = s.element(t);
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  b_.if_then(b_.less(next, s.end), [&] {
    each_component(s, [&](ExprId j) {
      b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                  return b_.mul(b_.load(s.gain, s.at(next, {j, k})), b_.load(s.mean, {k}));
                }));
    });
  });
  const SpdInverse covariance = formulas_.spd_inverse(
      "covariance", [&](const std::vector<ExprId>& jl) { return b_.load(s.square, s.at(t, jl)); }, s.extent,
      s.fail_code);
  each_component(s, [&](ExprId j) {
    b_.store(s.filtered, {first, j}, draws_.random(math::Noise::normal, s.block, 0, element, j, b_.f(0)));
  });
  each_component(s, [&](ExprId j) {
    const ScalarId x = b_.local(b_.fresh("x"), b_.load(s.information, {j}));
    b_.for_range("k", first, b_.add(j, b_.i(1)), [&](ExprId k) {
      b_.accumulate(x, b_.mul(b_.load(covariance.factor, {j, k}), b_.load(s.filtered, {first, k})));
    });
    b_.store(s.cross, {first, j}, b_.get(x));
  });
  put_known(s, t, s.cross, {first});
  b_.if_then(b_.less(next, s.end), [&] {
    each_component_pair(s, [&](ExprId j, ExprId l) {
      put_pair(s.block, pair_address(s.block, s.element(next), s.event({j}), s.event({l})),
               b_.mul(b_.load(s.cross, {first, j}), b_.load(s.mean, {l})));
    });
  });
  each_component(s, [&](ExprId j) {
    b_.store(s.mean, {j}, b_.load(s.cross, {first, j}));
    b_.store(parameter_of(s.block, math::ParameterRole::value),
             updates_.parameter_address(s.block, element, s.event({j})), b_.load(s.mean, {j}));
  });
  Formulas f = updates_.parameter_formulas(s.block, element);
  updates_.expectations_from_parameters(s.block, element, f);
}

}  // namespace lehr::loops
