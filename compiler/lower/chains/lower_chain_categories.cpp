// Chains of categories: the forward-backward algorithm. Rabiner (1989), section III, and section V.A on scaling; Bishop
// (2006), section 13.2.
//
// With unary potentials U[t][k] and joint potentials W[t][j][k] (both expectations of the other factors' statistics),
// q(s) is proportional to exp(sum_t U[t][s_t] + sum_t W[t][s_t-1][s_t]). For an HMM with two states the emitted forward
// pass is
//
//     for t: for j: for k: message[k] += unscaled[j] * transition[j, k]
//            unscaled[k] = message[k] * emission[t, k] * share;  share = 1 / sum_k unscaled[k]
//
// If the chain reaches back L steps, W[t][h][s_t] has a history h, the L values before. Messages are then over
// histories: numbers whose first digit is the oldest value. Values before the first element are 0.
//
// Each message is divided by its sum to avoid underflow. The next step multiplies by `share` after it has added up, so
// it need not wait for the division. If some sum is very small, what was lost to underflow may matter later, and all
// messages of the sequence are formed again in logarithms. Most chains have the same joint potentials at every step
// ("homogeneous"): these, and their exponentials, are formed once a sequence.
//
// The entropy is log Z minus the means of the log potentials. The largest of each step is subtracted from them first.
// Otherwise the entropy would be rounding where potentials are huge, as those of predictors of rates may be.
#include <algorithm>

#include "runtime/threshold.h"

#include "compiler/lower/chains/messages.h"

namespace lehr::loops {

namespace {
/// The least sum of a message: below it, what is lost to underflow in this step or the next may matter.
constexpr Threshold<double> kLeastSum("lower_chain_categories.least_sum", 1e-125);
/// The number of sums that registers hold, one vector each (sum_pairs).
constexpr Threshold<std::int64_t> kSumsAtOnce("lower_chain_categories.sums_at_once", 25);
/// The number of steps in a tile: their messages stay in the cache while all rows of sums pass over them.
constexpr Threshold<std::int64_t> kStepsAtOnce("lower_chain_categories.steps_at_once", 24);

/// Returns the number of rows of a square matrix of sums that are added up together (at most `sums` of them), a divisor
/// of `values`. It is 1 if `values` is not a constant of the code (not positive).
std::int64_t rows_at_once(std::int64_t values, std::int64_t sums) {
  if (values < 1) return 1;
  std::int64_t rows = std::clamp<std::int64_t>(sums / values, 1, values);
  while (values % rows != 0)
    --rows;
  return rows;
}
}  // namespace

void Chains::each_value(const Messages& m, const char* name, const std::function<void(ExprId)>& body) {
  b_.for_range(name, b_.i(0), m.values, body);
}

void Chains::each_history(const Messages& m, const char* name, const std::function<void(const History&)>& body,
                          History fixed) {
  fixed.resize(static_cast<std::size_t>(m.max_lag));
  const std::function<void(std::size_t)> from = [&](std::size_t k) {
    if (k == fixed.size()) return body(fixed);
    if (fixed[k].valid()) return from(k + 1);
    each_value(m, name, [&](ExprId value) {
      fixed[k] = value;
      from(k + 1);
    });
    fixed[k] = {};
  };
  from(0);
}

Chains::History Chains::joined(History first, const History& history, const History& last) {
  first.insert(first.end(), history.begin(), history.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

Chains::History Chains::ending_with(const Messages& m, ExprId value) {
  History out(static_cast<std::size_t>(m.max_lag));
  out.back() = value;
  return out;
}

Chains::History Chains::first_history(const Messages& m, ExprId value) {
  History out(static_cast<std::size_t>(m.max_lag), b_.i(0));
  out.back() = value;
  return out;
}

Chains::History Chains::next_history(History history, ExprId value) {
  history.erase(history.begin());
  history.push_back(value);
  return history;
}

ExprId Chains::log_sum(const Over& over, const std::function<ExprId(const History&)>& term) {
  const std::string tag = b_.fresh("");
  const ScalarId top = b_.local("top" + tag, b_.f(-1.7e308)), sum = b_.local("sum" + tag, b_.f(0));
  over([&](const History& i) { b_.assign(top, b_.max(b_.get(top), term(i))); });
  over([&](const History& i) { b_.accumulate(sum, b_.exp(b_.sub(term(i), b_.get(top)))); });
  return b_.let("log_sum" + tag, b_.add(b_.get(top), b_.log(b_.get(sum))));
}

Chains::Over Chains::values(const Messages& m) {
  return [this, &m](const auto& body) { each_value(m, "i", [&](ExprId i) { body({i}); }); };
}

Chains::Over Chains::histories(const Messages& m) {
  return [this, &m](const auto& body) { each_history(m, "i", body); };
}

ExprId Chains::probability(const Messages& m, ExprId t, ExprId k) {
  return b_.load(m.probs, updates_.parameter_address(m.block, m.element(t), {k}));
}

Chains::Messages Chains::open_messages(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                                       const UpdateHooks& hooks) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Messages m;
  m.block = b;
  m.sequence = sequence;
  m.max_lag = s_.conditionals[b].chain->max_lag;
  m.size = layout_.size[m_[*var.value_plate].set.index()];
  const SizeId steps = longest(var);
  const auto over_histories = [&](std::vector<SizeId> first, std::vector<SizeId> last) {
    first.insert(first.end(), static_cast<std::size_t>(m.max_lag), m.size);
    first.insert(first.end(), last.begin(), last.end());
    return first;
  };
  m.values = b_.extent(m.size);
  m.end = b_.let(b_.fresh("steps"), terms_.axis_length(var.axes, sequence));
  m.unary = work_array("unary." + var.name, {steps, m.size});
  m.all = uses;
  m.hooks = &hooks;
  const auto found = hooks.gathered ? std::nullopt : singles(b, uses);
  m.by_rows = found && std::ranges::all_of(
                           found->rows, [&](const auto& row) { return layout_.exp_table.contains(*row.first.array); });
  if (m.by_rows) m.singles = *found;
  m.homogeneous = is_homogeneous(b, uses);
  const SizeId pair_steps = m.homogeneous ? b_.constant_size("one", 1) : steps;
  m.pair = work_array("potential." + var.name, over_histories({pair_steps}, {m.size}));
  m.transition = work_array("transition." + var.name, over_histories({pair_steps}, {m.size}));
  m.filtered = work_array("filtered." + var.name, over_histories({steps}, {}));
  m.emission = work_array("emission." + var.name, {steps, m.size});
  if (!s_.conditionals[b].drawn) {
    m.onward = work_array("onward." + var.name, over_histories({steps}, {}));
    // `emission` at t is not read any more once the probabilities at t are stored, so they can share an array. With
    // histories they cannot: several histories add to one probability.
    m.marginal = m.max_lag == 1 ? m.emission : work_array("marginal." + var.name, {steps, m.size});
  }
  m.forward = work_array("forward." + var.name, over_histories({steps}, {}));
  m.scale = work_array("scale." + var.name, {steps});
  m.backward = work_array("backward." + var.name, over_histories({}, {}));
  m.message = work_array("message." + var.name, over_histories({}, {}));
  m.unscaled = work_array("unscaled." + var.name, over_histories({}, {}));
  m.probs = parameter_of(b, math::ParameterRole::probabilities);
  m.summed = layout_.chains.at(b).summed;
  return m;
}

void Chains::gather_pairs(const Messages& m) {
  const ExprId zero = b_.i(0);
  b_.for_range("t", zero, m.homogeneous ? b_.i(1) : m.end, [&](ExprId t) {
    each_history(m, "j", [&](const History& j) {
      each_value(m, "k", [&](ExprId k) { b_.store(m.pair, joined({t}, j, {k}), b_.f(0)); });
    });
  });
  Uses together;
  std::ranges::copy_if(m.all, std::back_inserter(together),
                       [&](const auto& use) { return !is_unary(use.first, use.second); });
  gather_potentials(
      m.block, together, m.sequence, {}, m.homogeneous,
      [&](const conditionals::Lags& lags, ExprId t, const std::vector<ExprId>& events, ExprId value) {
        History fixed(static_cast<std::size_t>(m.max_lag));
        for (std::size_t k = 0; k < lags.size(); ++k)
          fixed[fixed.size() - std::size_t(lags[k])] = events[events.size() - 2 - k];
        // A term with fewer lags than the history has digits adds to many histories.
        const ExprId added = fixed.size() == lags.size() ? value : b_.let(b_.fresh("w"), value);
        each_history(
            m, "h", [&](const History& j) { b_.add_to(m.pair, joined({m.row(t, zero)}, j, {events.back()}), added); },
            fixed);
      });
}

void Chains::forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                              const UpdateHooks& hooks) {
  Messages m = open_messages(b, uses, sequence, hooks);
  const ExprId zero = b_.i(0);
  gather_pairs(m);
  if (m.by_rows) gather_start(m);
  else gather_unary(m);
  mask_other_values(m);
  m.entropy = b_.local(b_.fresh("entropy"), b_.f(0));
  filter(m);
  if (s_.conditionals[b].drawn) return draw_sequence(m, hooks);
  smooth_products(m);
  b_.if_rarely(b_.equal(b_.get(m.products), b_.f(0)), [&] { smooth_logarithms(m); });
  b_.for_range("t", zero, m.end, [&](ExprId t) { store_marginals(m, t); });
  // The sums of the item may read the probabilities from this work array (take_marginals).
  if (s_.local[b.index()] && sequence.size() == 1 && !clamps_.any(b)) marginals_[b] = m.marginal;
  if (m.start.valid()) {
    b_.if_then(b_.less(zero, m.end), [&] {
      each_value(m, "k", [&](ExprId k) { subtract_mean(m, zero, k, b_.load(m.start, {k})); });
      if (m.hooks->add_rows && adds_first(m.singles))
        each_value(m, "k", [&](ExprId k) { add_to_sums(m, m.singles.first, zero, k); });
    });
  }
  store_entropy(b, sequence, b_.get(m.entropy));
}

void Chains::subtract_mean(const Messages& m, ExprId t, ExprId k, ExprId potential) {
  b_.accumulate(m.entropy, b_.neg(b_.mul(b_.load(m.marginal, {t, k}), potential)));
}

void Chains::store_marginals(const Messages& m, ExprId t) {
  if (m.hooks->before) m.hooks->before(m.element(t));
  if (m.hooks->add_rows && m.by_rows) each_value(m, "k", [&](ExprId k) { add_to_sums(m, m.singles.rows, t, k); });
  each_value(m, "k", [&](ExprId k) {
    b_.store(m.probs, updates_.parameter_address(m.block, m.element(t), {k}), b_.load(m.marginal, {t, k}));
  });
  each_value(m, "k", [&](ExprId k) {
    if (const auto potential = log_potential(m, t, k)) subtract_mean(m, t, k, *potential);
  });
  updates_.clamp(m.block, m.element(t));
  if (m.hooks->after) m.hooks->after(m.element(t));
}

void Chains::mask_other_values(const Messages& m) {
  if (!clamps_.any(m.block)) return;
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) {
    b_.if_then(clamps_.is_observed(m.block, m.element(t)), [&] {
      const ExprId observed = clamps_.value(m.block, m.element(t));
      each_value(m, "k", [&](ExprId k) {
        b_.store(m.unary, {t, k}, b_.select(b_.equal(k, observed), b_.load(m.unary, {t, k}), b_.f(kLogZero)));
      });
    });
  });
}

void Chains::pass_forward(const Messages& m, ExprId t) {
  b_.if_else(
      b_.equal(t, b_.i(0)),
      [&] {
        if (m.max_lag > 1) b_.fill(m.message, b_.f(kLogZero));
        each_value(m, "k", [&](ExprId k) { b_.store(m.message, first_history(m, k), b_.load(m.unary, {t, k})); });
      },
      [&] {
        each_history(m, "k", [&](const History& now) {
          const ExprId k = now.back();
          History before = now;
          before.pop_back();
          before.insert(before.begin(), ExprId{});
          const ExprId in = log_sum(values(m), [&](const History& oldest) {
            before[0] = oldest[0];
            return b_.add(b_.load(m.forward, joined({b_.sub(t, b_.i(1))}, before)),
                          b_.load(m.pair, joined({m.row(t, b_.i(0))}, before, {k})));
          });
          b_.store(m.message, now, b_.add(in, b_.load(m.unary, {t, k})));
        });
      });
  const ExprId z = log_sum(histories(m), [&](const History& h) { return b_.load(m.message, h); });
  b_.store(m.scale, {t}, z);
  b_.accumulate(m.entropy, z);
  each_history(m, "k",
               [&](const History& h) { b_.store(m.forward, joined({t}, h), b_.sub(b_.load(m.message, h), z)); });
}

void Chains::filter_logarithms(const Messages& m) {
  if (m.by_rows) gather_unary(m);
  b_.assign(m.entropy, b_.f(0));
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) { pass_forward(m, t); });
}

void Chains::products_or_logarithms(const Messages& m, const std::function<void()>& products,
                                    const std::function<void()>& in_logarithms) {
  b_.if_else(b_.equal(b_.get(m.products), b_.f(1)), products, in_logarithms);
}

void Chains::each_step_back(const Messages& m, const std::function<void(ExprId)>& body) {
  b_.for_range("back", b_.i(0), m.end,
               [&](ExprId back) { body(b_.let(b_.fresh("t"), b_.sub(b_.sub(m.end, b_.i(1)), back))); });
}

void Chains::put_pair(const Messages& m, ExprId t, const History& history, ExprId k, ExprId value) {
  const ExprId p = b_.let(b_.fresh("p"), value);
  for (const conditionals::Lags& lags : s_.conditionals[m.block].chain->joint) {
    std::vector<ExprId> events{k};
    for (const std::int64_t lag : lags)
      events.insert(events.begin(), history[history.size() - std::size_t(lag)]);
    const std::vector<ExprId> at = address(m.block, m.element(t), events);
    if (m.max_lag > 1) b_.add_to(layout_.chains.at(m.block).products.at(lags), at, p);
    else put(m.block, lags, at, p);
  }
  b_.accumulate(m.entropy, b_.neg(b_.mul(p, b_.load(m.pair, joined({m.row(t, b_.i(0))}, history, {k})))));
}

void Chains::clear_together(const Messages& m) {
  if (m.max_lag == 1) return clear_sums(m.block);
  const model::Variable& var = m_[s_.conditionals[m.block].variable];
  for (const auto& [lags, buffer] : layout_.chains.at(m.block).products) {
    b_.for_range("t", b_.i(0), m.end, [&, &lags = lags, &buffer = buffer](ExprId t) {
      std::vector<ExprId> events;
      const std::function<void()> each = [&] {
        if (events.size() > lags.size()) return b_.store(buffer, address(m.block, m.element(t), events), b_.f(0));
        terms_.each_event(var, 1, [&](const std::vector<ExprId>& event) {
          events.push_back(event[0]);
          each();
          events.pop_back();
        });
      };
      each();
    });
  }
}

void Chains::smooth_products(const Messages& m) {
  clear_together(m);
  each_history(m, "k", [&](const History& h) { b_.store(m.backward, h, b_.f(1)); });
  if (m.homogeneous && m.summed) return smooth_columns(m);
  each_step_back(m, [&](ExprId t) {
    const ExprId row = m.row(t, b_.i(0)), share = b_.let(b_.fresh("share"), b_.load(m.scale, {t}));
    clear_marginal(m, t);
    each_history(m, "k", [&](const History& now) { put_smoothed(m, t, now, share); });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      const ExprId before = b_.sub(t, b_.i(1));
      each_history(m, "j", [&](const History& history) {
        const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
        each_value(m, "k", [&](ExprId k) {
          const ExprId w = b_.mul(b_.load(m.transition, joined({row}, history, {k})),
                                  b_.load(m.onward, joined({t}, next_history(history, k))));
          b_.accumulate(sum, w);
          put_pair(m, t, history, k, b_.mul(b_.load(m.filtered, joined({before}, history)), w));
        });
        b_.store(m.backward, history, b_.get(sum));
      });
    });
  });
}

ExprId Chains::put_smoothed(const Messages& m, ExprId t, const History& now, ExprId share) {
  const ExprId k = now.back(), after = b_.let(b_.fresh("after"), b_.load(m.backward, now));
  const ExprId onward = b_.let(b_.fresh("onward"), b_.mul(b_.mul(b_.load(m.emission, {t, k}), share), after));
  b_.store(m.onward, joined({t}, now), onward);
  put_marginal(m, t, k, b_.mul(b_.load(m.filtered, joined({t}, now)), after));
  return onward;
}

void Chains::smooth_columns(const Messages& m) {
  each_step_back(m, [&](ExprId t) {
    const ExprId share = b_.let(b_.fresh("share"), b_.load(m.scale, {t}));
    each_value(m, "j", [&](ExprId j) { b_.store(m.message, {j}, b_.f(0)); });
    each_value(m, "k", [&](ExprId k) {
      const ExprId onward = put_smoothed(m, t, {k}, share);
      each_value(m, "j", [&](ExprId j) {
        b_.add_to(m.message, {j}, b_.mul(b_.load(m.transition, {b_.i(0), j, k}), onward));
      });
    });
    each_value(m, "j", [&](ExprId j) { b_.store(m.backward, {j}, b_.load(m.message, {j})); });
  });
  sum_pairs(m);
}

void Chains::clear_marginal(const Messages& m, ExprId t) {
  if (m.max_lag > 1) each_value(m, "k", [&](ExprId k) { b_.store(m.marginal, {t, k}, b_.f(0)); });
}

void Chains::put_marginal(const Messages& m, ExprId t, ExprId k, ExprId p) {
  if (m.max_lag > 1) b_.add_to(m.marginal, {t, k}, p);
  else b_.store(m.marginal, {t, k}, p);
}

void Chains::sum_pairs(const Messages& m) {
  const std::int64_t values = b_.program()[m.size].constant,
                     together = rows_at_once(values, options_.thresholds[kSumsAtOnce]);
  const ExprId groups = values > 0 ? b_.i(values / together) : m.values;
  const BufferId sums = layout_.chains.at(m.block).products.at({1});
  const auto first = [&](ExprId begin) {
    const ExprId end = b_.let(b_.fresh("end"), b_.min(b_.add(begin, b_.i(options_.thresholds[kStepsAtOnce])), m.end));
    b_.for_range("rows", b_.i(0), groups, [&](ExprId group) {
      b_.for_range("t", begin, end, [&](ExprId t) {
        b_.for_range("row", b_.i(0), b_.i(together), [&](ExprId row) {
          const ExprId j = b_.add(b_.mul(group, b_.i(together)), row);
          const ExprId from = b_.let(b_.fresh("from"), b_.load(m.filtered, {b_.sub(t, b_.i(1)), j}));
          each_value(m, "k", [&](ExprId k) { b_.add_to(sums, {j, k}, b_.mul(from, b_.load(m.onward, {t, k}))); });
        });
      });
    });
  };
  b_.for_loop(b_.fresh("steps"), b_.i(1), m.end, first, false, options_.thresholds[kStepsAtOnce]);
  each_value(m, "j", [&](ExprId j) {
    each_value(m, "k", [&](ExprId k) {
      const std::vector<ExprId> at{b_.i(0), j, k};
      const ExprId p = b_.let(b_.fresh("p"), b_.mul(b_.load(m.transition, at), b_.load(sums, {j, k})));
      b_.store(sums, {j, k}, p);
      b_.accumulate(m.entropy, b_.neg(b_.mul(p, b_.load(m.pair, at))));
    });
  });
}

void Chains::smooth_logarithms(const Messages& m) {
  filter_logarithms(m);
  clear_together(m);
  each_history(m, "k", [&](const History& h) { b_.store(m.backward, h, b_.f(0)); });
  each_step_back(m, [&](ExprId t) {
    clear_marginal(m, t);
    each_history(m, "k", [&](const History& now) {
      put_marginal(m, t, now.back(), b_.exp(b_.add(b_.load(m.forward, joined({t}, now)), b_.load(m.backward, now))));
    });
    b_.if_then(b_.less(b_.i(0), t), [&] {
      const ExprId row = m.row(t, b_.i(0)), before = b_.sub(t, b_.i(1)), z = b_.load(m.scale, {t});
      each_history(m, "j", [&](const History& history) {
        const auto onward = [&](const History& k) {
          return b_.sub(b_.add(b_.add(b_.load(m.pair, joined({row}, history, k)), b_.load(m.unary, {t, k[0]})),
                               b_.load(m.backward, next_history(history, k[0]))),
                        z);
        };
        b_.store(m.message, history, log_sum(values(m), onward));
        each_value(m, "k", [&](ExprId k) {
          put_pair(m, t, history, k, b_.exp(b_.add(b_.load(m.forward, joined({before}, history)), onward({k}))));
        });
      });
      each_history(m, "j", [&](const History& h) { b_.store(m.backward, h, b_.load(m.message, h)); });
    });
  });
}

void Chains::exponentiate_pairs(const Messages& m, ExprId t) {
  const auto each_pair = [&](const std::function<void(const std::vector<ExprId>& at)>& f) {
    each_history(m, "j", [&](const History& j) { each_value(m, "k", [&](ExprId k) { f(joined({t}, j, {k})); }); });
  };
  const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
  each_pair([&](const auto& at) { b_.assign(top, b_.max(b_.get(top), b_.load(m.pair, at))); });
  each_pair([&](const auto& at) {
    const ExprId shifted = b_.let(b_.fresh("shifted"), b_.sub(b_.load(m.pair, at), b_.get(top)));
    b_.store(m.pair, at, shifted);
    b_.store(m.transition, at, b_.exp(shifted));
  });
}

void Chains::open_products(const Messages& m) {
  if (m.max_lag > 1) b_.fill(m.message, b_.f(0));
  if (m.by_rows) b_.accumulate(m.entropy, b_.get(m.start_top));
  each_value(m, "k", [&](ExprId k) {
    const ExprId first = m.start.valid() ? b_.exp(b_.sub(b_.load(m.start, {k}), b_.get(m.start_top))) : b_.f(1);
    b_.store(m.message, first_history(m, k), first);
  });
}

void Chains::pass_products(const Messages& m, ExprId t) {
  if (!m.homogeneous) exponentiate_pairs(m, t);
  each_history(m, "k", [&](const History& h) { b_.store(m.message, h, b_.f(0)); });
  each_history(m, "j", [&](const History& history) {
    const ExprId from = b_.let(b_.fresh("from"), b_.load(m.unscaled, history));
    each_value(m, "k", [&](ExprId k) {
      b_.add_to(m.message, next_history(history, k),
                b_.mul(from, b_.load(m.transition, joined({m.row(t, b_.i(0))}, history, {k}))));
    });
  });
}

ScalarId Chains::emit(const Messages& m, ExprId t, ScalarId share) {
  if (m.by_rows) {
    b_.accumulate(m.entropy, row_shift(m, t));
  } else {
    const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
    each_value(m, "k", [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), b_.load(m.unary, {t, k}))); });
    each_value(m, "k", [&](ExprId k) { b_.store(m.unary, {t, k}, b_.sub(b_.load(m.unary, {t, k}), b_.get(top))); });
  }
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  each_value(m, "k", [&](ExprId k) {
    const ExprId e = b_.let(b_.fresh("e"), m.by_rows ? row_product(m, t, k) : b_.exp(b_.load(m.unary, {t, k})));
    b_.store(m.emission, {t, k}, e);
    const ExprId scaled = b_.let(b_.fresh("scaled"), b_.mul(e, b_.get(share)));
    each_history(
        m, "h",
        [&](const History& now) {
          b_.store(m.unscaled, now, b_.mul(b_.load(m.message, now), scaled));
          b_.accumulate(sum, b_.load(m.unscaled, now));
        },
        ending_with(m, k));
  });
  return sum;
}

void Chains::filter(Messages& m) {
  m.products = b_.local(b_.fresh("products"), b_.f(1));
  if (m.homogeneous) exponentiate_pairs(m, b_.i(0));
  const ScalarId share = b_.local(b_.fresh("share"), b_.f(1));
  b_.for_range("t", b_.i(0), m.end, [&](ExprId t) {
    b_.if_else(
        b_.less(b_.i(0), t), [&] { pass_products(m, t); }, [&] { open_products(m); });
    const ScalarId sum = emit(m, t, share);
    // Written so that a sum that is NaN counts as too small.
    b_.if_then(b_.logical_not(b_.less(b_.f(options_.thresholds[kLeastSum]), b_.get(sum))),
               [&] { b_.assign(m.products, b_.f(0)); });
    b_.accumulate(m.entropy, b_.log(b_.get(sum)));
    b_.assign(share, b_.div(b_.f(1), b_.get(sum)));
    b_.store(m.scale, {t}, b_.get(share));
    each_history(m, "k", [&](const History& now) {
      b_.store(m.filtered, joined({t}, now), b_.mul(b_.load(m.unscaled, now), b_.get(share)));
    });
  });
}

void Chains::draw_sequence(const Messages& m, const UpdateHooks& hooks) {
  b_.if_rarely(b_.equal(b_.get(m.products), b_.f(0)), [&] { filter_logarithms(m); });
  clear_sums(m.block);
  // The message behind the last element is 1 as a product and 0 as a logarithm: just the flag.
  each_history(m, "k", [&](const History& h) { b_.store(m.backward, h, b_.get(m.products)); });
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
  const auto address = [&](ExprId k) { return updates_.parameter_address(m.block, m.element(t), {k}); };
  each_value(m, "k", [&](ExprId k) { b_.store(m.probs, address(k), b_.f(0)); });
  products_or_logarithms(
      m,
      [&] {
        const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
        each_history(m, "k", [&](const History& now) {
          b_.store(m.message, now, b_.mul(b_.load(m.filtered, joined({t}, now)), b_.load(m.backward, now)));
          b_.accumulate(sum, b_.load(m.message, now));
        });
        each_history(m, "k", [&](const History& now) {
          b_.add_to(m.probs, address(now.back()), b_.div(b_.load(m.message, now), b_.get(sum)));
        });
      },
      [&] {
        const auto odds = [&](const History& h) {
          return b_.add(b_.load(m.forward, joined({t}, h)), b_.load(m.backward, h));
        };
        const ExprId z = log_sum(histories(m), odds);
        each_history(
            m, "k", [&](const History& now) { b_.add_to(m.probs, address(now.back()), b_.exp(b_.sub(odds(now), z))); });
      });
  updates_.draw_category(m.block, m.element(t));
}

void Chains::condition_on_draw(const Messages& m, ExprId t) {
  for (const conditionals::Lags& lags : s_.conditionals[m.block].chain->joint) {
    const ExprId last = b_.add(t, b_.i(lags.back()));
    b_.if_then(b_.less(last, m.end), [&] { put_product(m.block, lags, m.element(last), m.probs); });
  }
  const auto replace = [&](const std::function<ExprId(const History& before, ExprId k)>& term) {
    each_history(m, "j", [&](const History& before) {
      const ScalarId sum = b_.local(b_.fresh("column"), b_.f(0));
      each_value(m, "k", [&](ExprId k) { b_.accumulate(sum, b_.mul(probability(m, t, k), term(before, k))); });
      b_.store(m.message, before, b_.get(sum));
    });
    each_history(m, "j", [&](const History& h) { b_.store(m.backward, h, b_.load(m.message, h)); });
  };
  const ExprId row = m.row(t, b_.i(0));
  b_.if_then(b_.less(b_.i(0), t), [&] {
    products_or_logarithms(
        m,
        [&] {
          const ScalarId top = b_.local(b_.fresh("top"), b_.f(0));
          each_history(m, "j", [&](const History& h) { b_.assign(top, b_.max(b_.get(top), b_.load(m.backward, h))); });
          replace([&](const History& before, ExprId k) {
            return b_.mul(b_.load(m.transition, joined({row}, before, {k})),
                          b_.div(b_.load(m.backward, next_history(before, k)), b_.get(top)));
          });
        },
        [&] {
          replace([&](const History& before, ExprId k) {
            return b_.add(b_.load(m.pair, joined({row}, before, {k})), b_.load(m.backward, next_history(before, k)));
          });
        });
  });
}

}  // namespace lehr::loops
