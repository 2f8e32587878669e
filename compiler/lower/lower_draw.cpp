// Draws in place of expectations. A drawn factor is a point mass at the draw, so its expected statistics are those of
// the drawn value. The rest of an update is that of variational inference.
#include "compiler/lower/draws.h"
#include "runtime/machine/random.h"

namespace lehr::loops {

// Generated code passes a math::Noise where the machine takes its own enumeration.
static_assert(
    static_cast<std::int64_t>(math::Noise::binomial) == static_cast<std::int64_t>(machine::Noise::binomial) &&
    static_cast<std::int64_t>(math::Noise::normal) == static_cast<std::int64_t>(machine::Noise::normal) &&
    static_cast<std::int64_t>(math::Noise::log_gamma) == static_cast<std::int64_t>(machine::Noise::log_gamma) &&
    static_cast<std::int64_t>(math::Noise::polya_gamma) == static_cast<std::int64_t>(machine::Noise::polya_gamma) &&
    static_cast<std::int64_t>(math::Noise::truncated) == static_cast<std::int64_t>(machine::Noise::truncated));

ExprId Draws::position(const model::Variable& v, const std::vector<ExprId>& element) {
  const std::vector<ExprId> at = terms_.address(v.axes, element);
  const std::vector<SizeId> sizes = packed(v.axes);
  ExprId out = b_.i(0);
  for (std::size_t k = 0; k < at.size(); ++k)
    out = k == 0 ? at[0] : b_.add(b_.mul(out, b_.extent(sizes[k])), at[k]);
  return out;
}

ExprId Draws::random(math::Noise noise, BlockId b, std::size_t kind, const std::vector<ExprId>& element,
                     ExprId component, ExprId argument, ExprId second) {
  const auto site = static_cast<std::int64_t>(b.index() * kKinds + kind);
  return b_.random({noise, interface_.random_key, site, position(m_[s_.conditionals[b].variable], element), component,
                    argument, second.valid() ? second : b_.f(0)});
}

void Draws::category(BlockId b, const std::vector<ExprId>& element, ExprId size, ExprId copies,
                     const std::function<ExprId(ExprId)>& probability,
                     const std::function<void(ExprId, ExprId)>& store) {
  double one = 0;
  if (b_.constant(copies, one) && one == 1) {
    // Inversion: the last value k of positive probability whose cumulative probability before it is below u.
    const ExprId u = b_.let(b_.fresh("u"), random(math::Noise::uniform, b, 0, element, b_.i(0), b_.f(0)));
    const ScalarId below = b_.local(b_.fresh("below"), b_.f(0)), picked = b_.local(b_.fresh("picked"), b_.i(0));
    b_.for_range("k", b_.i(0), size, [&](ExprId k) {
      const ExprId p = b_.let(b_.fresh("p"), probability(k));
      b_.if_then(b_.logical_and(b_.less(b_.f(0), p), b_.less(b_.get(below), u)), [&] { b_.assign(picked, k); });
      b_.assign(below, b_.add(b_.get(below), p));
    });
    b_.for_range("k", b_.i(0), size,
                 [&](ExprId k) { store(k, b_.select(b_.equal(k, b_.get(picked)), b_.f(1), b_.f(0))); });
    return;
  }
  // A multinomial as a sequence of binomials: each value gets some of the copies that are left. An element that stands
  // for no copy is drawn as one.
  const ExprId n = b_.let(b_.fresh("copies"), b_.max(copies, b_.f(1)));
  const ScalarId left = b_.local(b_.fresh("left"), n), mass = b_.local(b_.fresh("mass"), b_.f(1));
  b_.for_range("k", b_.i(0), size, [&](ExprId k) {
    const ExprId p = b_.let(b_.fresh("p"), probability(k));
    // The last value takes all that is left, also if rounding made the remaining mass too small.
    const ExprId last = b_.logical_or(b_.equal(k, b_.sub(size, b_.i(1))), b_.less_equal(b_.get(mass), p));
    const ExprId share = b_.let(b_.fresh("share"), b_.select(last, b_.f(1), b_.div(p, b_.get(mass))));
    const ExprId x = b_.let(b_.fresh("x"), random(math::Noise::binomial, b, 1, element, k, b_.get(left), share));
    store(k, b_.div(x, n));
    b_.assign(left, b_.sub(b_.get(left), x));
    b_.assign(mass, b_.sub(b_.get(mass), p));
  });
}

}  // namespace lehr::loops
