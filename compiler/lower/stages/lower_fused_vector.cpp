// Exponentials of the vectors of an item, which all its elements share: of expected statistics, after the largest is
// subtracted.
//
// The expected statistics of a Dirichlet vector are digamma(x_k) - digamma(sum_j x_j). The second part is the same for
// all k and cancels in the probabilities, so exp(digamma(x_k)) serves as well ("direct"). That saves the largest entry
// and, in all but the last pass, the expected statistics themselves. It is done while the parameters are large enough
// that no exponential underflows.
#include <algorithm>

#include "runtime/threshold.h"

#include "compiler/lower/stages/fused_element.h"

namespace lehr::loops {
namespace {

/// The least mean of the parameters x_k for direct exponentials. exp(digamma(x)) of the largest is then at least 1e-22,
/// far from the limits of 32 bits.
constexpr Threshold<double> kLeastMean("lower_fused_vector.least_mean", 0.02);

/// Returns the name of x if the formula of an expected statistic is digamma(x_k) + c, c without k.
std::optional<std::string> under_digamma(const math::Expr& e) {
  const auto* sum = std::get_if<math::Add>(&e->form);
  const auto* call = sum ? std::get_if<math::Apply>(&sum->left->form) : nullptr;
  if (!call || call->function != math::Function::digamma || math::free_event_rank(sum->right) > 0) return std::nullopt;
  const auto* x = std::get_if<math::Symbol>(&call->argument->form);
  return x && x->indices == std::vector{math::kFirst} ? std::optional(x->name) : std::nullopt;
}

}  // namespace

const FusedUse* FusedCategories::vector_use(const FusedCategory& s) const {
  const auto is_vector = [](const FusedUse& u) { return u.kind == FusedUse::Kind::vector; };
  return std::ranges::count_if(s.uses, is_vector) == 1 ? &*std::ranges::find_if(s.uses, is_vector) : nullptr;
}

BlockId FusedCategories::vector_block(const FusedCategory& s) const {
  const FusedUse& u = *vector_use(s);
  return s_.conditionals.block_of[u.term->term.atoms[*u.partner].variable.index()];
}

bool FusedCategories::can_be_direct(const FusedCategory& s) const {
  const FusedUse* const u = s.entropy_from_sums ? vector_use(s) : nullptr;
  if (!u) return false;
  const Atom& p = u->term->term.atoms[*u->partner];
  const BlockId b = vector_block(s);
  const conditionals::Block& block = s_.conditionals[b];
  return p.axes.size() == 1 && p.event.size() == 1 && stored(b) && block.has_entropy() && !clamps_.any(b) &&
         !layout_.chains.contains(b) && x_of_vector(s);
}

std::optional<std::string> FusedCategories::x_of_vector(const FusedCategory& s) const {
  const FusedUse& u = *vector_use(s);
  const auto& statistics = s_.conditionals[vector_block(s)].factor->statistics;
  const math::Stat stat = u.term->term.atoms[*u.partner].stat;
  return under_digamma(std::ranges::find(statistics, stat, &math::StatisticRow::stat)->expectation);
}

bool FusedCategories::is_sole_reader(const FusedCategory& s) const {
  const FusedUse& own = *vector_use(s);
  const Atom& p = own.term->term.atoms[*own.partner];
  return std::ranges::all_of(s.stage->terms, [&](const schedule::ItemStage::LocalTerm& t) {
    const auto is_vector = [&](const Atom& x) { return x.variable == p.variable && x.stat == p.stat; };
    return &t == own.term || std::ranges::none_of(t.term.atoms, is_vector) ||
           std::ranges::all_of(t.term.atoms, [&](const Atom& x) {
             const BlockId b = s_.conditionals.block_of[x.variable.index()];
             return is_vector(x) || std::ranges::find(s.stage->blocks, b) == s.stage->blocks.end();
           });
  });
}

void FusedCategories::find_direct(std::vector<FusedCategory>& streams, ExprId item) {
  for (FusedCategory& s : streams) {
    if (!can_be_direct(s) || !is_sole_reader(s)) continue;
    s.direct = b_.local(b_.fresh("direct"), b_.i(0));
    decide(s, item);
  }
}

void FusedCategories::decide(const FusedCategory& s, ExprId item) {
  FormulaContext f = updates_.parameter_formulas(vector_block(s), {item});
  const Quantity x = f.quantities.at(*x_of_vector(s));
  const ScalarId total = b_.local(b_.fresh("sum"), b_.f(0));
  each_value(s, [&](ExprId v) { b_.accumulate(total, x({v})); });
  const ExprId one = b_.f(1),
               plain = b_.logical_and(b_.equal(weight(Weight::local), one), b_.equal(weight(Weight::local_data), one));
  // The sum of the parameters is compared with the least mean times their number.
  const ExprId least = b_.mul(b_.f(options_.thresholds[kLeastMean]), b_.to_f64(b_.extent(s.values)));
  b_.assign(s.direct, b_.select(b_.logical_and(plain, b_.less_equal(least, b_.get(total))), b_.i(1), b_.i(0)));
}

void FusedCategories::if_direct(const FusedCategory& s, ExprId item,
                                const std::function<void(ExprId value, ExprId logarithm)>& body,
                                const std::function<void()>& otherwise) {
  FormulaContext f = updates_.parameter_formulas(vector_block(s), {item});
  const Quantity x = f.quantities.at(*x_of_vector(s));
  const auto of_parameters = [&] { each_value(s, [&](ExprId v) { body(v, b_.digamma(x({v}))); }); };
  b_.if_else(b_.equal(b_.get(s.direct), b_.i(1)), of_parameters, otherwise);
}

ExprId FusedCategories::vector_scale(const FusedUse& u) {
  const ExprId local = weight(Weight::local);
  return s_.tempered[u.term->term.origin] ? b_.mul(local, weight(Weight::local_data)) : local;
}

void FusedCategories::exponentials_of_expectations(const FusedCategory& s, ExprId item, ScalarId shift) {
  b_.fill(s.item_odds, b_.f(0));
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    const FusedUse& u = s.uses[k];
    if (u.kind != FusedUse::Kind::vector) continue;
    Env env = stream_env(s, k, {item});
    const ExprId scale = vector_scale(u);
    each_value(s, [&](ExprId v) {
      env[u.value] = v;
      b_.add_to(s.item_odds, {v}, b_.mul(scale, updates_.expectation(u.term->term.atoms[*u.partner], env)));
    });
  }
  b_.assign(shift, b_.f(-1.7e308));
  each_value(s, [&](ExprId v) { b_.assign(shift, b_.max(b_.get(shift), b_.load(s.item_odds, {v}))); });
  each_value(s, [&](ExprId v) { b_.store(s.item_exp, {v}, b_.exp(b_.sub(b_.load(s.item_odds, {v}), b_.get(shift)))); });
}

ExprId FusedCategories::stream_item_setup(const FusedCategory& s, ExprId item) {
  if (!s.factored) return {};
  const ScalarId shift = b_.local(b_.fresh("top"), b_.f(0));
  const auto of_expectations = [&] { exponentials_of_expectations(s, item, shift); };
  const auto store = [&](ExprId v, ExprId logarithm) { b_.store(s.item_exp, {v}, b_.exp(logarithm)); };
  if (s.direct.valid()) if_direct(s, item, store, of_expectations);
  else of_expectations();
  return b_.get(shift);
}

}  // namespace lehr::loops
