// Chains of Normal and MvNormal elements: the Kalman smoother, as elimination in the natural parameters (information
// form). A local level model x[t] ~ Normal(x[t-1], tau) has P_t = 2 tau and W_t,1 = tau between its ends.
//
// The terms give q(x) proportional to exp(sum_t h_t'x_t - x_t'P_t x_t / 2 + sum_t,a x_{t-a}'W_t,a x_t). This is a
// Gaussian whose precision matrix has the blocks P_t on its diagonal and -W_t,a in the bands beside it, as many as the
// chain reaches back. x_0, x_1, ... are eliminated one after another; W_t,a and P_t are what is left of them when
// x_{t-a} is eliminated:
//     G_t,a = L_{t-a}^-1 W_t,a,   W_t,a += sum_b>a G_{t-a,b-a}'W_t,b,   L_t = P_t - sum_a W_t,a'G_t,a,
//     v_t = L_t^-1 (h_t + sum_a W_t,a'v_{t-a}),   log det = sum_t log det L_t,
// Given those after it, x_t is N(v_t + sum_a G_{t+a,a} x_{t+a}, L_t^-1), so that backwards
//     m_t = v_t + sum_a G_{t+a,a} m_{t+a},   Cov(x_t, x_{t+b}) = sum_a G_{t+a,a} Cov(x_{t+a}, x_{t+b}),
//     S_t = L_t^-1 + sum_a Cov(x_t, x_{t+a}) G_{t+a,a}'.
// Rue & Held (2005), section 2.4: the block Cholesky factor of a band matrix; of one band, the smoother of Rauch, Tung
// & Striebel (1965) in information form. A scalar is a vector of one component.
//
// Arrays are reused: P_t becomes L_t^-1, h_t becomes v_t, and W_t,a what is left of it. The computation of a step's
// matrices stands apart: statements on matrices of one step, between those that load and store them. Matrices do not
// depend on h. Where P_t and W_t are the same at every step they reach a fixed point, and the pass
// `skip-at-fixed-point` can skip steps while means go on. Sequences of the same length have matrices in loops of their
// own: they are the same for all sequences unless data are missing, so a pass can hoist them.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lower/chains/chains.h"

namespace lehr::loops {

/// The arrays of one sequence. "Over the steps" means that the first axis is the step; of scalar elements it is the
/// only one.
struct Chains::Smoother {
  BlockId block;
  std::vector<ExprId> sequence;
  bool vector = false;
  std::int32_t fail_code = 0;  // status if the precision is not positive definite; 0: NaN, no failure
  SizeId extent;
  ExprId size, end;                                  // number of components of an element; of elements of the sequence
  bool homogeneous = false, separate_loops = false;  // W is the same at all steps; matrices have loops of their own
  NaturalTarget naturals;                            // `linear` and `square` as natural parameters
  BufferId linear, square;  // over the steps: h, then v; P (first as natural parameters), then L^-1
  /// The couplings of elements that are `lag` steps apart.
  struct Band {
    std::int64_t lag;
    BufferId coupling, gain;  // over the steps: W (if homogeneous, of one step alone); G
    BufferId link, product;   // of one step: W forwards, G backwards; G
    BufferId inverse;         // of one step: L_{t-lag}^-1
    BufferId mean;            // of one step: m_{t+lag}, or the draw
  };
  std::vector<Band> bands;                   // by lag, from 1
  BufferId own, pivot, logdet;               // of one step: P; L; log det L
  BufferId filtered;                         // of one step: L^-1
  std::vector<std::vector<BufferId>> later;  // of one step, [a][b - a]: Cov(x_{t+1+a}, x_{t+1+b}), a <= b
  std::vector<BufferId> cross;               // of one step, [a]: Cov(x_t, x_{t+1+a})
  BufferId information;                      // of one step: h + sum W'v forwards, m backwards

  /// Returns the indices of the element at step t.
  std::vector<ExprId> element(ExprId t) const {
    std::vector<ExprId> out = sequence;
    out.push_back(t);
    return out;
  }
  /// Returns the components as event indices: none for scalars.
  std::vector<ExprId> event(std::vector<ExprId> components) const {
    return vector ? components : std::vector<ExprId>{};
  }
  /// Returns indices into an array over the steps: the step, then the components unless elements are scalars.
  std::vector<ExprId> at(ExprId t, std::vector<ExprId> components) const {
    if (!vector) return {t};
    components.insert(components.begin(), t);
    return components;
  }
};

namespace {

/// Returns the name with the lag behind it, unless the lag is 1.
std::string banded(const std::string& name, std::int64_t lag) {
  return lag == 1 ? name : fmt::format("{}.{}", name, lag);
}

}  // namespace

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
  s.extent = s.vector ? layout_.size[m_[var.event[0]].set.index()] : b_.constant_size("one", 1);
  s.size = b_.extent(s.extent);
  s.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  s.homogeneous = is_homogeneous(b, uses) && !clamps_.any(b);
  s.separate_loops = var.axes.size() > 1 && !m_[m_[var.axes.back()].set].parent;
  const SizeId steps = longest(var), one = b_.constant_size("one", 1), d = s.extent;
  const auto over = [&](SizeId length, std::size_t rank) {
    std::vector<SizeId> sizes{length};
    if (s.vector) sizes.resize(1 + rank, d);
    return sizes;
  };
  s.linear = work_array("linear." + var.name, over(steps, 1));
  s.square = work_array("square." + var.name, over(steps, 2));
  s.naturals.buffers[s.vector ? math::Stat::comp : math::Stat::value] = s.linear;
  s.naturals.buffers[s.vector ? math::Stat::comp2 : math::Stat::square] = s.square;
  s.naturals.free_axes = {var.axes.size() - 1};
  const auto matrix = [&](const char* name, const std::string& of) { return work_array(name + of, {d, d}); };
  const std::int64_t max_lag = s_.conditionals[b].chain->max_lag;
  for (std::int64_t lag = 1; lag <= max_lag; ++lag) {
    const std::string of = banded(var.name, lag);
    Smoother::Band band{lag, {}, {}, {}, {}, {}, {}};
    band.gain = work_array("gain." + of, over(steps, 2));
    band.coupling = work_array("coupling." + of, over(s.homogeneous ? one : steps, 2));
    band.link = matrix("link.", of);
    band.product = matrix("product.", of);
    band.inverse = matrix("inverse.", of);
    band.mean = work_array("mean." + of, {d});
    s.bands.push_back(band);
    s.cross.push_back(matrix("cross.", of));
    auto& row = s.later.emplace_back();
    for (std::int64_t k = lag; k <= max_lag; ++k)
      row.push_back(matrix("covariance.", lag == k ? of : fmt::format("{}.{}", of, k)));
  }
  s.own = matrix("own.", var.name);
  s.pivot = matrix("pivot.", var.name);
  s.filtered = matrix("filtered.", var.name);
  s.logdet = work_array("logdet." + var.name, {});
  s.information = work_array("information." + var.name, {d});
  return s;
}

void Chains::kalman_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                             const UpdateHooks& hooks) {
  const Smoother s = open_smoother(b, uses, sequence, hooks.tolerant);
  gather_gaussian(s, uses);
  if (hooks.gathered) b_.for_range("t", b_.i(0), s.end, [&](ExprId t) { hooks.gathered(s.element(t), s.naturals); });
  const ScalarId observed_count = condition_chain(s);

  const ScalarId logdet = b_.local(b_.fresh("logdet"), b_.f(0));
  for (const Smoother::Band& band : s.bands)
    // Before the sequence L^-1 is 0, so that nothing is eliminated there.
    b_.fill(band.inverse, b_.f(0));
  const auto forwards = [&](const EachStep& body) { b_.for_range("t", b_.i(0), s.end, body); };
  for_steps(
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
  clear_sums(b);
  if (s_.conditionals[b].drawn) {
    backwards([&](ExprId t) { update(t, [&] { draw_backwards(s, t); }); });
    return store_entropy(b, sequence, b_.f(0));
  }
  for (const std::vector<BufferId>& row : s.later) {
    for (const BufferId covariance : row)
      b_.fill(covariance, b_.f(0));
  }
  Matrices now;
  const Matrices saved = s.separate_loops ? matrices(s, longest(m_[s_.conditionals[b].variable])) : Matrices{};
  for_steps(
      s, backwards,
      [&](ExprId t) {
        now = smooth(s, t);
        // Means are in another loop, which reads the matrices of all steps.
        if (s.separate_loops) copy(s, now, std::nullopt, saved, t);
      },
      [&](ExprId t) {
        if (s.separate_loops) copy(s, saved, t, now = matrices(s, std::nullopt), std::nullopt);
        smooth_mean(s, t, now);
        update(t, [&] { store_marginal(s, t, now); });
      });
  constexpr double kLog2Pi = 1.8378770664093454836;
  const ExprId components = b_.to_f64(s.size), steps = b_.to_f64(s.end);
  ExprId unknown = b_.mul(components, steps);
  if (observed_count.valid()) unknown = b_.sub(unknown, b_.get(observed_count));
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
  b_.for_range("t", zero, s.homogeneous ? b_.i(1) : s.end, [&](ExprId t) {
    for (const Smoother::Band& band : s.bands)
      each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(band.coupling, s.at(t, {j, l}), b_.f(0)); });
  });
  gather_potentials(s.block, uses, s.sequence, s.naturals, s.homogeneous,
                    [&](const conditionals::Lags& lags, ExprId t, const std::vector<ExprId>& events, ExprId value) {
                      b_.add_to(s.bands[std::size_t(lags[0] - 1)].coupling, s.at(s.homogeneous ? zero : t, events),
                                value);
                    });
}

void Chains::for_steps(const Smoother& s, const std::function<void(const EachStep&)>& each, const EachStep& matrices,
                       const EachStep& means) {
  if (s.separate_loops) {
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
  Matrices out{work_array("smoothed." + name, sizes), work_array("precision." + name, sizes), {}};
  for (const Smoother::Band& band : s.bands)
    out.cross.push_back(work_array("crossed." + banded(name, band.lag), sizes));
  return out;
}

void Chains::copy(const Smoother& s, const Matrices& from, std::optional<ExprId> t, const Matrices& to,
                  std::optional<ExprId> to_t) {
  const auto at = [](std::optional<ExprId> step, ExprId j, ExprId l) {
    return step ? std::vector<ExprId>{*step, j, l} : std::vector<ExprId>{j, l};
  };
  const auto copy_one = [&](BufferId source, BufferId target) {
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(target, at(to_t, j, l), b_.load(source, at(t, j, l))); });
  };
  copy_one(from.covariance, to.covariance);
  copy_one(from.precision, to.precision);
  for (std::size_t a = 0; a < from.cross.size(); ++a)
    copy_one(from.cross[a], to.cross[a]);
}

ScalarId Chains::condition_chain(const Smoother& s) {
  if (!clamps_.any(s.block)) return {};
  const ScalarId observed_count = b_.local(b_.fresh("known"), b_.f(0));
  const auto is_observed = [&](ExprId t, ExprId j) { return clamps_.is_observed(s.block, s.element(t), s.event({j})); };
  const auto value = [&](ExprId t, ExprId j) { return clamps_.value(s.block, s.element(t), s.event({j})); };
  for (const Smoother::Band& band : s.bands) {
    b_.for_range("t", b_.i(band.lag), s.end, [&](ExprId t) {
      const ExprId before = b_.sub(t, b_.i(band.lag));
      each_component_pair(s, [&](ExprId j, ExprId l) {
        const auto at = s.at(t, {j, l});
        const ExprId first = is_observed(before, j), second = is_observed(t, l),
                     w = b_.let(b_.fresh("w"), b_.load(band.coupling, at));
        b_.if_then(first, [&] { b_.add_to(s.linear, s.at(t, {l}), b_.mul(w, value(before, j))); });
        b_.if_then(second, [&] { b_.add_to(s.linear, s.at(before, {j}), b_.mul(w, value(t, l))); });
        b_.store(band.coupling, at, b_.select(b_.logical_or(first, second), b_.f(0), w));
      });
    });
  }
  b_.for_range("t", b_.i(0), s.end, [&](ExprId t) {
    if (s.vector)
      clamps_.condition(s.block, s.element(t), s.linear, s.square,
                        [&](const std::vector<ExprId>& event) { return s.at(t, event); });
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId natural = b_.load(s.square, s.at(t, {j, l}));
      const ExprId unit = b_.select(b_.equal(j, l), b_.f(-0.5), b_.f(0));
      b_.store(s.square, s.at(t, {j, l}),
               b_.select(b_.logical_or(is_observed(t, j), is_observed(t, l)), unit, natural));
    });
    each_component(s, [&](ExprId j) {
      b_.if_then(is_observed(t, j), [&] {
        b_.store(s.linear, s.at(t, {j}), value(t, j));
        b_.accumulate(observed_count, b_.f(1));
      });
    });
  });
  return observed_count;
}

void Chains::put_observed(const Smoother& s, ExprId t, BufferId value, const std::vector<ExprId>& lead) {
  if (!clamps_.any(s.block)) return;
  each_component(s, [&](ExprId j) {
    std::vector<ExprId> at = lead;
    at.push_back(j);
    const std::vector<ExprId> event = s.event({j});
    b_.store(value, at,
             b_.select(clamps_.is_observed(s.block, s.element(t), event), clamps_.value(s.block, s.element(t), event),
                       b_.load(value, at)));
  });
}

ExprId Chains::eliminate(const Smoother& s, ExprId t) {
  // P is minus twice the symmetric natural parameter of the squares, which is (n_jl + n_lj) / 2.
  each_component_pair(s, [&](ExprId j, ExprId l) {
    const ExprId sum = b_.add(b_.load(s.square, s.at(t, {j, l})), b_.load(s.square, s.at(t, {l, j})));
    b_.store(s.own, {j, l}, b_.neg(sum));
  });
  const auto w = [&](const Smoother::Band& band, ExprId j, ExprId l) {
    return s.homogeneous ? b_.load(band.coupling, s.at(b_.i(0), {j, l})) : b_.load(band.link, {j, l});
  };
  for (std::size_t a = s.bands.size(); a-- > 0;) {
    const Smoother::Band& band = s.bands[a];
    if (!s.homogeneous) fill_in(s, a, t);
    each_component_pair(s, [&](ExprId j, ExprId l) {
      b_.store(band.product, {j, l}, component_sum(s, [&](ExprId k) {
                 return b_.mul(b_.load(band.inverse, {j, k}), w(band, k, l));
               }));
    });
  }
  each_component_pair(s, [&](ExprId j, ExprId l) {
    ExprId left = b_.load(s.own, {j, l});
    for (const Smoother::Band& band : s.bands)
      left = b_.sub(left, component_sum(s, [&](ExprId k) {
                      return b_.mul(w(band, k, j), b_.load(band.product, {k, l}));
                    }));
    b_.store(s.pivot, {j, l}, left);
  });
  const SpdInverse pivot = formulas_.spd_inverse(
      "pivot", [&](const std::vector<ExprId>& jl) { return b_.load(s.pivot, jl); }, s.extent, s.fail_code);
  b_.store(s.logdet, {}, pivot.logdet);
  for (std::size_t a = s.bands.size(); a-- > 0;)
    move(s, a > 0 ? s.bands[a - 1].inverse : pivot.inverse, s.bands[a].inverse);

  each_component_pair(s, [&](ExprId j, ExprId l) {
    for (const Smoother::Band& band : s.bands)
      b_.store(band.gain, s.at(t, {j, l}), b_.load(band.product, {j, l}));
    b_.store(s.square, s.at(t, {j, l}), b_.load(s.bands[0].inverse, {j, l}));
  });
  return b_.load(s.logdet, {});
}

void Chains::fill_in(const Smoother& s, std::size_t a, ExprId t) {
  const Smoother::Band& band = s.bands[a];
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(band.link, {j, l}, b_.load(band.coupling, s.at(t, {j, l})));
  });
  for (std::size_t further = a + 1; further < s.bands.size(); ++further) {
    const BufferId gain = s.bands[further - a - 1].gain, link = s.bands[further].link;
    b_.if_then(b_.less(b_.i(s.bands[further].lag - 1), t), [&] {
      each_component_pair(s, [&](ExprId j, ExprId l) {
        b_.add_to(band.link, {j, l}, component_sum(s, [&](ExprId k) {
                    return b_.mul(b_.load(gain, s.at(b_.sub(t, b_.i(band.lag)), {k, j})), b_.load(link, {k, l}));
                  }));
      });
    });
  }
  if (a + 1 == s.bands.size()) return;
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(band.coupling, s.at(t, {j, l}), b_.load(band.link, {j, l}));
  });
}

void Chains::move(const Smoother& s, BufferId from, BufferId to) {
  each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(to, {j, l}, b_.load(from, {j, l})); });
}

void Chains::filter_mean(const Smoother& s, ExprId t) {
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  for (const Smoother::Band& band : s.bands) {
    b_.if_then(b_.less(b_.i(band.lag - 1), t), [&] {
      const ExprId row = s.homogeneous ? b_.i(0) : t, before = b_.sub(t, b_.i(band.lag));
      each_component(s, [&](ExprId j) {
        b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                    return b_.mul(b_.load(band.coupling, s.at(row, {k, j})), b_.load(s.linear, s.at(before, {k})));
                  }));
      });
    });
  }
  each_component(s, [&](ExprId j) {
    b_.store(s.linear, s.at(t, {j}), component_sum(s, [&](ExprId k) {
               return b_.mul(b_.load(s.square, s.at(t, {j, k})), b_.load(s.information, {k}));
             }));
  });
}

Chains::Matrices Chains::smooth(const Smoother& s, ExprId t) {
  const auto move_at = [&](BufferId from, ExprId step, BufferId to) {
    each_component_pair(s, [&](ExprId j, ExprId l) { b_.store(to, {j, l}, b_.load(from, s.at(step, {j, l}))); });
  };
  move_at(s.square, t, s.filtered);
  for (const Smoother::Band& band : s.bands) {
    const ExprId later = b_.add(t, b_.i(band.lag));
    b_.if_else(
        b_.less(later, s.end), [&] { move_at(band.gain, later, band.link); }, [&] { b_.fill(band.link, b_.f(0)); });
  }
  const auto covariance = [&](std::size_t x, std::size_t y, ExprId k, ExprId l) {
    return x <= y ? b_.load(s.later[x][y - x], {k, l}) : b_.load(s.later[y][x - y], {l, k});
  };
  const std::size_t max_lag = s.bands.size();
  for (std::size_t y = 0; y < max_lag; ++y) {
    each_component_pair(s, [&](ExprId j, ExprId l) {
      std::optional<ExprId> sum;
      for (std::size_t x = 0; x < max_lag; ++x) {
        const ExprId part = component_sum(s, [&](ExprId k) {
          return b_.mul(b_.load(s.bands[x].link, {j, k}), covariance(x, y, k, l));
        });
        sum = sum ? b_.add(*sum, part) : part;
      }
      b_.store(s.cross[y], {j, l}, *sum);
    });
  }
  for (std::size_t x = max_lag; x-- > 0;) {
    for (std::size_t y = max_lag; y-- > std::max<std::size_t>(x, 1);)
      move(s, x > 0 ? s.later[x - 1][y - x] : s.cross[y - 1], s.later[x][y - x]);
  }
  const BufferId now = s.later[0][0];
  each_component_pair(s, [&](ExprId j, ExprId l) {
    ExprId sum = b_.load(s.filtered, {j, l});
    for (std::size_t x = 0; x < max_lag; ++x)
      sum = b_.add(sum, component_sum(s, [&](ExprId k) {
                     return b_.mul(b_.load(s.cross[x], {j, k}), b_.load(s.bands[x].link, {l, k}));
                   }));
    b_.store(now, {j, l}, sum);
  });
  const SpdInverse precision = formulas_.spd_inverse(
      "covariance", [&](const std::vector<ExprId>& jl) { return b_.load(now, jl); }, s.extent, s.fail_code);
  return {now, precision.inverse, s.cross};
}

void Chains::expect_later(const Smoother& s, ExprId t) {
  each_component(s, [&](ExprId j) { b_.store(s.information, {j}, b_.load(s.linear, s.at(t, {j}))); });
  for (const Smoother::Band& band : s.bands) {
    const ExprId later = b_.add(t, b_.i(band.lag));
    b_.if_then(b_.less(later, s.end), [&] {
      each_component(s, [&](ExprId j) {
        b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) {
                    return b_.mul(b_.load(band.gain, s.at(later, {j, k})), b_.load(band.mean, {k}));
                  }));
      });
    });
  }
}

void Chains::put_pairs(const Smoother& s, ExprId t, const std::function<ExprId(ExprId)>& now,
                       const std::function<ExprId(std::size_t, ExprId, ExprId)>& covariance) {
  for (const Smoother::Band& band : s.bands) {
    if (!s_.conditionals[s.block].chain->joint.contains({band.lag})) continue;
    const ExprId later = b_.add(t, b_.i(band.lag));
    b_.if_then(b_.less(later, s.end), [&] {
      each_component_pair(s, [&](ExprId j, ExprId l) {
        const ExprId product = b_.mul(now(j), b_.load(band.mean, {l}));
        // E[x_t x_later] = Cov(x_t, x_later) + m_t m_later.
        const ExprId added = covariance ? b_.add(covariance(std::size_t(band.lag - 1), j, l), product) : product;
        put(s.block, {band.lag}, address(s.block, s.element(later), s.event({j, l})), added);
      });
    });
  }
}

void Chains::push_mean(const Smoother& s, const std::function<ExprId(ExprId)>& now) {
  for (std::size_t a = s.bands.size(); a-- > 0;)
    each_component(
        s, [&](ExprId j) { b_.store(s.bands[a].mean, {j}, a > 0 ? b_.load(s.bands[a - 1].mean, {j}) : now(j)); });
}

void Chains::smooth_mean(const Smoother& s, ExprId t, const Matrices& now) {
  const auto mean = [&](ExprId j) { return b_.load(s.information, {j}); };
  expect_later(s, t);
  put_pairs(s, t, mean, [&](std::size_t a, ExprId j, ExprId l) { return b_.load(now.cross[a], {j, l}); });
  push_mean(s, mean);
}

void Chains::store_marginal(const Smoother& s, ExprId t, const Matrices& now) {
  const std::vector<ExprId> element = s.element(t);
  FormulaContext f = updates_.parameter_formulas(s.block, element);
  f.fail_code = s.fail_code;
  each_component(s, [&](ExprId j) {
    b_.store(parameter_of(s.block, math::ParameterRole::location),
             updates_.parameter_address(s.block, element, s.event({j})), b_.load(s.bands[0].mean, {j}));
  });
  each_component_pair(s, [&](ExprId j, ExprId l) {
    b_.store(parameter_of(s.block, math::ParameterRole::precision),
             updates_.parameter_address(s.block, element, s.event({j, l})), b_.load(now.precision, {j, l}));
  });
  if (clamps_.any(s.block)) {
    updates_.clamp(s.block, element);
    each_component_pair(s, [&](ExprId j, ExprId l) {
      const ExprId observed = b_.logical_or(clamps_.is_observed(s.block, element, s.event({j})),
                                            clamps_.is_observed(s.block, element, s.event({l})));
      b_.store(now.covariance, {j, l}, b_.select(observed, b_.f(0), b_.load(now.covariance, {j, l})));
    });
  }
  f.inverses[find_role(*s_.conditionals[s.block].factor, math::ParameterRole::precision)->name] = {
      {}, {}, now.covariance, {}};  // S is available: expectations need not invert the precision again
  updates_.expectations_from_parameters(s.block, element, f);
}

void Chains::draw_backwards(const Smoother& s, ExprId t) {
  const ExprId first = b_.i(0);
  const std::vector<ExprId> element = s.element(t);
  expect_later(s, t);
  // The draw is the mean plus the Cholesky factor of L_t^-1 times standard Normal numbers.
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
    b_.store(s.cross[0], {first, j}, b_.get(x));
  });
  put_observed(s, t, s.cross[0], {first});
  const auto drawn = [&](ExprId j) { return b_.load(s.cross[0], {first, j}); };
  put_pairs(s, t, drawn, {});
  push_mean(s, drawn);
  each_component(s, [&](ExprId j) {
    b_.store(parameter_of(s.block, math::ParameterRole::value),
             updates_.parameter_address(s.block, element, s.event({j})), drawn(j));
  });
  FormulaContext f = updates_.parameter_formulas(s.block, element);
  updates_.expectations_from_parameters(s.block, element, f);
}

}  // namespace lehr::loops
