// Sparse Cholesky factorisation in generated code (sparse_factors.h). It is left-looking: column j of L is column j of
// the precision minus multiples of the columns that have a nonzero in row j. A dense array has the column meanwhile.
//
// Entries of the inverse Z = (L L')^-1 follow column by column from the last one (Takahashi, Fagan & Chen 1973). With l
// the part of column j of L below the diagonal, divided by L_jj, and S its rows:
//     Z_Sj = -Z_SS l,   Z_jj = 1 / L_jj^2 + l' Z_SS l
// S are rows of one another's columns, so all of Z_SS are nonzeros of L.
//
// The last columns are often full. Their rows follow one another, so that loops over them need no list of rows, and
// vectorise.
#include <limits>

#include "compiler/lower/sparse_factors.h"
#include "compiler/math/sparse_pattern.h"

namespace lehr::loops {

namespace {

/// At the start, a pivot below this part of its diagonal entry counts as 0: its coordinate is not determined.
constexpr double kNotDetermined = 1e-10;
/// Later, a pivot below this part of its diagonal entry has lost nearly all digits: the precision is singular.
constexpr double kSingular = 1e-13;

/// Returns the position from which on all columns of the factor are full.
std::int64_t first_full(const math::SparsePattern& p) {
  std::int64_t out = p.size;
  const auto length = [&](std::int64_t j) {
    return p.filled_first[static_cast<std::size_t>(j + 1)] - p.filled_first[static_cast<std::size_t>(j)];
  };
  while (out > 0 && length(out - 1) == p.size - (out - 1))
    --out;
  return out;
}

}  // namespace

void SparseFactors::each_row(const Work& w, ExprId column, ExprId from, ExprId past, ExprId first,
                             const std::function<void(ExprId k, ExprId row)>& body) {
  const ExprId full = b_.i(first_full(*m_[w.pattern.joint].auxiliary->pattern));
  b_.if_else(
      b_.less_equal(full, column),
      [&] {
        b_.for_loop(
            b_.fresh("q"), b_.i(0), b_.sub(past, from), [&](ExprId q) { body(b_.add(from, q), b_.add(first, q)); },
            true);
      },
      [&] {
        b_.for_range("k", from, past,
                     [&](ExprId k) { body(k, b_.let(b_.fresh("row"), b_.load(w.pattern.filled_row, {k}))); });
      });
}

ExprId SparseFactors::entry(BlockId b, ExprId j, ExprId l) {
  const model::VariableId v = s_.conditionals[b].variable;
  const PatternBuffers& p = *std::ranges::find(layout_.data.patterns, v, &PatternBuffers::joint);
  const math::SparsePattern& pattern = *m_[v].auxiliary->pattern;
  const ExprId first = b_.load(p.order, {j}), second = b_.load(p.order, {l});
  const ExprId column = b_.let(b_.fresh("column"), b_.min(first, second)),
               wanted = b_.let(b_.fresh("row"), b_.max(first, second));
  const ExprId last = b_.let(b_.fresh("last"), b_.sub(b_.load(p.first, {b_.add(column, b_.i(1))}), b_.i(1)));
  ExprId at = b_.let(b_.fresh("at"), b_.min(b_.load(p.first, {column}), b_.i(pattern.count() - 1)));
  std::int64_t longest = 1;
  while (2 * longest < pattern.size)
    longest *= 2;
  for (std::int64_t step = longest; step > 0; step /= 2) {
    const ExprId next = b_.let(b_.fresh("next"), b_.min(b_.add(at, b_.i(step)), last));
    at = b_.let(b_.fresh("at"), b_.select(b_.less_equal(b_.load(p.row, {next}), wanted), next, at));
  }
  return b_.let(b_.fresh("entry"), b_.select(b_.equal(column, wanted), j, at));
}

SparseFactors::Work SparseFactors::open(BlockId b, bool factorises) {
  const conditionals::Block& block = s_.conditionals[b];
  const model::Variable& var = m_[block.variable];
  const math::SparsePattern& pattern = *var.auxiliary->pattern;
  const SizeId size = layout_.size[m_[event_axes(var, 1)[0]].set.index()],
               entries = layout_.size[m_[event_axes(var, 2)[0]].set.index()],
               filled = b_.constant_size("filled", pattern.filled());
  // A draw has no parameters.
  const math::FactorParameter* precision = math::find_role(*block.factor, math::ParameterRole::precision);
  const auto stored = precision ? layout_.parameter.find({b, precision->name}) : layout_.parameter.end();
  const auto vector = [&](const char* name) { return work_array(name + var.name, {size}); };
  return {*std::ranges::find(layout_.data.patterns, block.variable, &PatternBuffers::joint),
          size,
          entries,
          filled,
          stored != layout_.parameter.end() ? stored->second
          : factorises                      ? work_array("precision." + var.name, {entries})
                                            : BufferId(),
          factorises ? work_array("factor." + var.name, {filled}) : BufferId(),
          factorises && block.has_entropy() ? work_array("inverse." + var.name, {filled}) : BufferId(),
          vector("column."),
          vector("result."),
          vector("solution.")};
}

void SparseFactors::each_entry(const Work& w, const std::function<void(ExprId, ExprId, ExprId)>& body) {
  b_.for_range("j", b_.i(0), b_.extent(w.size), [&](ExprId j) {
    b_.for_range("e", b_.load(w.pattern.first, {j}), b_.load(w.pattern.first, {b_.add(j, b_.i(1))}),
                 [&](ExprId e) { body(e, b_.let(b_.fresh("row"), b_.load(w.pattern.row, {e})), j); });
  });
}

void SparseFactors::each_coordinate(const Work& w, const std::function<void(ExprId, ExprId)>& body) {
  b_.for_range("c", b_.i(0), b_.extent(w.size),
               [&](ExprId c) { body(c, b_.let(b_.fresh("position"), b_.load(w.pattern.order, {c}))); });
}

std::pair<ExprId, ExprId> SparseFactors::below(const Work& w, ExprId j) {
  return {b_.add(b_.load(w.pattern.filled_first, {j}), b_.i(1)), b_.load(w.pattern.filled_first, {b_.add(j, b_.i(1))})};
}

ExprId SparseFactors::factorise(const Work& w, std::int32_t code, bool tolerant) {
  const PatternBuffers& p = w.pattern;
  b_.fill(w.factor, b_.f(0));
  b_.for_range("e", b_.i(0), b_.extent(w.entries),
               [&](ExprId e) { b_.store(w.factor, {b_.load(p.place, {e})}, b_.load(w.precision, {e})); });
  const ScalarId logdet = b_.local(b_.fresh("logdet"), b_.f(0));
  b_.for_range("j", b_.i(0), b_.extent(w.size), [&](ExprId j) {
    const ExprId begin = b_.let(b_.fresh("begin"), b_.load(p.filled_first, {j})),
                 end = b_.let(b_.fresh("end"), b_.load(p.filled_first, {b_.add(j, b_.i(1))}));
    const ExprId own = b_.let(b_.fresh("own"), b_.load(w.factor, {begin}));
    b_.for_range("k", begin, end,
                 [&](ExprId k) { b_.store(w.column, {b_.load(p.filled_row, {k})}, b_.load(w.factor, {k})); });
    b_.for_range("l", b_.load(p.left_first, {j}), b_.load(p.left_first, {b_.add(j, b_.i(1))}), [&](ExprId l) {
      const ExprId from = b_.let(b_.fresh("from"), b_.load(p.left, {l}));
      const ExprId times = b_.let(b_.fresh("times"), b_.neg(b_.load(w.factor, {from})));
      const ExprId column = b_.let(b_.fresh("column"), b_.load(p.left_column, {l}));
      const ExprId past = b_.let(b_.fresh("past"), b_.load(p.filled_first, {b_.add(column, b_.i(1))}));
      each_row(w, column, from, past, j,
               [&](ExprId k, ExprId row) { b_.add_to(w.column, {row}, b_.mul(times, b_.load(w.factor, {k}))); });
    });
    ExprId pivot = b_.let(b_.fresh("pivot"), b_.load(w.column, {j}));
    if (tolerant) {
      const ExprId standard = b_.select(b_.greater(own, b_.f(0)), own, b_.f(1));
      const ExprId proper =
          b_.let(b_.fresh("pivot"), b_.select(b_.greater(pivot, b_.mul(b_.f(kNotDetermined), own)), pivot, standard));
      b_.store(w.result, {j}, b_.sub(proper, pivot));
      pivot = proper;
    } else {
      // Written so that a pivot that is NaN fails, too.
      const ExprId most = b_.f(std::numeric_limits<double>::max());
      const ExprId least = b_.mul(b_.f(kSingular), own);
      b_.fail_if(b_.logical_not(b_.logical_and(b_.greater(pivot, least), b_.less_equal(pivot, most))), code);
    }
    b_.accumulate(logdet, b_.log(pivot));
    const ExprId diagonal = b_.let(b_.fresh("diagonal"), b_.sqrt(pivot));
    b_.store(w.factor, {begin}, diagonal);
    b_.for_range("k", b_.add(begin, b_.i(1)), end, [&](ExprId k) {
      b_.store(w.factor, {k}, b_.div(b_.load(w.column, {b_.load(p.filled_row, {k})}), diagonal));
    });
  });
  if (tolerant)
    each_coordinate(w, [&](ExprId c, ExprId position) { b_.add_to(w.precision, {c}, b_.load(w.result, {position})); });
  return b_.let(b_.fresh("logdet"), b_.get(logdet));
}

void SparseFactors::solve(const Work& w, bool both) {
  const ExprId size = b_.extent(w.size);
  const auto diagonal = [&](ExprId j) { return b_.load(w.factor, {b_.load(w.pattern.filled_first, {j})}); };
  const auto row = [&](ExprId k) { return b_.load(w.pattern.filled_row, {k}); };
  if (both) {
    b_.for_range("j", b_.i(0), size, [&](ExprId j) {
      const ExprId x = b_.let(b_.fresh("x"), b_.div(b_.load(w.x, {j}), diagonal(j)));
      b_.store(w.x, {j}, x);
      const auto [begin, end] = below(w, j);
      b_.for_range("k", begin, end,
                   [&](ExprId k) { b_.add_to(w.x, {row(k)}, b_.neg(b_.mul(b_.load(w.factor, {k}), x))); });
    });
  }
  b_.for_range("back", b_.i(0), size, [&](ExprId back) {
    const ExprId j = b_.let(b_.fresh("j"), b_.sub(b_.sub(size, b_.i(1)), back));
    const ScalarId sum = b_.local(b_.fresh("sum"), b_.load(w.x, {j}));
    const auto [begin, end] = below(w, j);
    b_.for_range("k", begin, end,
                 [&](ExprId k) { b_.accumulate(sum, b_.neg(b_.mul(b_.load(w.factor, {k}), b_.load(w.x, {row(k)})))); });
    b_.store(w.x, {j}, b_.div(b_.get(sum), diagonal(j)));
  });
}

void SparseFactors::invert(const Work& w) {
  const ExprId size = b_.extent(w.size);
  const auto row = [&](ExprId k) { return b_.let(b_.fresh("row"), b_.load(w.pattern.filled_row, {k})); };
  b_.fill(w.column, b_.f(0));
  b_.for_range("back", b_.i(0), size, [&](ExprId back) {
    const ExprId j = b_.let(b_.fresh("j"), b_.sub(b_.sub(size, b_.i(1)), back));
    const ExprId first = b_.let(b_.fresh("first"), b_.load(w.pattern.filled_first, {j}));
    const ExprId pivot = b_.let(b_.fresh("pivot"), b_.load(w.factor, {first}));
    const auto [begin, end] = below(w, j);
    b_.for_range("k", begin, end, [&](ExprId k) {
      const ExprId i = row(k);
      b_.store(w.column, {i}, b_.div(b_.load(w.factor, {k}), pivot));
      b_.store(w.result, {i}, b_.f(0));
    });
    b_.for_range("k", begin, end, [&](ExprId k) {
      const ExprId i = row(k);
      const ExprId own = b_.let(b_.fresh("own"), b_.load(w.column, {i}));
      const ScalarId sum =
          b_.local(b_.fresh("sum"), b_.mul(b_.load(w.inverse, {b_.load(w.pattern.filled_first, {i})}), own));
      const auto bounds = below(w, i);
      const ExprId from = b_.let(b_.fresh("from"), bounds.first), past = b_.let(b_.fresh("past"), bounds.second);
      // Rows that column j does not have get numbers too, which nothing reads.
      each_row(w, i, from, past, b_.add(i, b_.i(1)), [&](ExprId l, ExprId r) {
        const ExprId z = b_.let(b_.fresh("z"), b_.load(w.inverse, {l}));
        b_.accumulate(sum, b_.mul(z, b_.load(w.column, {r})));
        b_.add_to(w.result, {r}, b_.mul(z, own));
      });
      b_.add_to(w.result, {i}, b_.get(sum));
    });
    const ScalarId variance = b_.local(b_.fresh("variance"), b_.div(b_.f(1), b_.mul(pivot, pivot)));
    b_.for_range("k", begin, end, [&](ExprId k) {
      const ExprId i = row(k);
      const ExprId z = b_.let(b_.fresh("z"), b_.load(w.result, {i}));
      b_.store(w.inverse, {k}, b_.neg(z));
      b_.accumulate(variance, b_.mul(z, b_.load(w.column, {i})));
      b_.store(w.column, {i}, b_.f(0));
    });
    b_.store(w.inverse, {first}, b_.get(variance));
  });
}

void SparseFactors::store_expectations(BlockId b, const Work& w, ExprId logdet) {
  const auto first = layout_.expectation.find({b, math::Stat::comp}),
             second = layout_.expectation.find({b, math::Stat::comp2});
  const auto covariance = [&](ExprId e) {
    return w.inverse.valid() ? b_.load(w.inverse, {b_.load(w.pattern.place, {e})}) : b_.f(0);
  };
  each_coordinate(w, [&](ExprId c, ExprId position) {
    const ExprId x = b_.let(b_.fresh("x"), b_.load(w.x, {position}));
    if (first != layout_.expectation.end()) b_.store(first->second, {c}, x);
    if (second != layout_.expectation.end()) b_.store(second->second, {c}, b_.add(b_.mul(x, x), covariance(c)));
  });
  if (second != layout_.expectation.end())
    each_entry(w, [&](ExprId e, ExprId row, ExprId column) {
      const ExprId product = b_.mul(b_.load(w.x, {row}), b_.load(w.x, {column}));
      b_.store(second->second, {e}, b_.add(product, covariance(e)));
    });
  for (const auto& [matrix, buffer] : layout_.logdet[b])
    b_.store(buffer, {}, logdet);
}

void SparseFactors::blend(BlockId b, BufferId linear, BufferId quadratic,
                          const std::function<ExprId(math::Stat stat, ExprId at, ExprId now, ExprId old)>& blended) {
  const Work w = open(b, false);
  const BufferId mean = parameter_of(b, math::ParameterRole::location);
  const auto precision = [&](ExprId e) { return b_.load(w.precision, {e}); };
  const auto put = [&](math::Stat stat, BufferId buffer, ExprId at, ExprId old) {
    b_.store(buffer, {at}, blended(stat, at, b_.load(buffer, {at}), old));
  };
  each_coordinate(w, [&](ExprId c, ExprId position) {
    const ExprId x = b_.let(b_.fresh("x"), b_.load(mean, {c}));
    b_.store(w.x, {position}, x);
    b_.store(w.result, {position}, b_.mul(precision(c), x));
  });
  each_entry(w, [&](ExprId e, ExprId row, ExprId column) {
    b_.add_to(w.result, {row}, b_.mul(precision(e), b_.load(w.x, {column})));
    b_.add_to(w.result, {column}, b_.mul(precision(e), b_.load(w.x, {row})));
    put(math::Stat::comp2, quadratic, e, b_.neg(precision(e)));
  });
  each_coordinate(w, [&](ExprId c, ExprId position) {
    put(math::Stat::comp, linear, c, b_.load(w.result, {position}));
    put(math::Stat::comp2, quadratic, c, b_.mul(b_.f(-0.5), precision(c)));
  });
}

void SparseFactors::from_naturals(BlockId b, BufferId linear, BufferId quadratic, std::int32_t code, bool tolerant) {
  const conditionals::Block& block = s_.conditionals[b];
  const Work w = open(b);
  b_.comment("precision, its sparse Cholesky factor, and the mean");
  each_coordinate(w, [&](ExprId c, ExprId position) {
    b_.store(w.precision, {c}, b_.mul(b_.f(-2), b_.load(quadratic, {c})));
    b_.store(w.x, {position}, b_.load(linear, {c}));
  });
  b_.for_range("e", b_.extent(w.size), b_.extent(w.entries),
               [&](ExprId e) { b_.store(w.precision, {e}, b_.neg(b_.load(quadratic, {e}))); });
  const ExprId logdet = factorise(w, code, tolerant);
  solve(w, true);
  if (!block.drawn) {
    const BufferId mean = parameter_of(b, math::ParameterRole::location);
    each_coordinate(w, [&](ExprId c, ExprId position) { b_.store(mean, {c}, b_.load(w.x, {position})); });
    b_.comment("entries of the covariance");
    invert(w);
    return store_expectations(b, w, logdet);
  }
  // The draw is the mean plus L^-T z; `column` keeps the mean meanwhile.
  const std::vector<math::FactorParameter>& steps = block.factor->parameters;
  const auto noise = std::ranges::find_if(steps, [](const math::FactorParameter& p) { return p.noise.has_value(); });
  const auto site = static_cast<std::size_t>(noise - steps.begin());
  each_coordinate(w, [&](ExprId c, ExprId position) {
    b_.store(w.column, {position}, b_.load(w.x, {position}));
    b_.store(w.x, {position},
             tolerant ? b_.f(0) : draws_.random(math::Noise::normal, b, 2 + site, {}, c, b_.f(0), ExprId()));
  });
  solve(w, false);
  const BufferId value = parameter_of(b, math::ParameterRole::value);
  each_coordinate(w, [&](ExprId c, ExprId position) {
    const ExprId x = b_.let(b_.fresh("x"), b_.add(b_.load(w.x, {position}), b_.load(w.column, {position})));
    b_.store(w.x, {position}, x);
    b_.store(value, {c}, x);
  });
  store_expectations(b, w, logdet);
}

void SparseFactors::expectations(BlockId b, std::int32_t code) {
  const bool drawn = s_.conditionals[b].drawn;
  const Work w = open(b, !drawn);
  const BufferId location = parameter_of(b, drawn ? math::ParameterRole::value : math::ParameterRole::location);
  ExprId logdet = b_.f(0);
  if (!drawn) {
    logdet = factorise(w, code, false);
    invert(w);
  }
  each_coordinate(w, [&](ExprId c, ExprId position) { b_.store(w.x, {position}, b_.load(location, {c})); });
  store_expectations(b, w, logdet);
}

}  // namespace lehr::loops
