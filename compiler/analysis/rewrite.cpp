// Copies of statements and expressions with substitutions.
// One visitor does both kinds of copy: with slices replaced (with_slices) and with new names (substituted). Copies of
// expressions are cached, so that a shared expression is copied once and stays shared.
#include "compiler/analysis/rewrite.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "compiler/loops/walk.h"

namespace lehr::loops {

ExprId make(Program& p, Type type, decltype(Expr::node) node) {
  p.exprs.push_back({type, std::move(node)});
  return ExprId(p.exprs.size() - 1);
}

ScalarId make_scalar(Program& p, const std::string& stem, Type type) {
  p.scalars.push_back({fmt::format("{}.{}", stem, p.scalars.size()), type});
  return ScalarId(p.scalars.size() - 1);
}

ExprMaker::Nest ExprMaker::over(const std::vector<SizeId>& axes) {
  Nest out;
  for (const SizeId s : axes) {
    out.indices.push_back(scalar("e"));
    out.at.push_back(get(out.indices.back()));
    out.ends.push_back(p_[s].constant >= 0 ? i(p_[s].constant) : make(Type::i64, Extent{s}));
  }
  return out;
}

Block ExprMaker::nested(const Nest& nest, Block inner) {
  for (std::size_t k = nest.indices.size(); k-- > 0;) {
    Stmt loop{For{nest.indices[k], i(0), nest.ends[k], std::move(inner), false, 1}};
    inner = Block{};
    inner.push_back(std::move(loop));
  }
  return inner;
}

namespace {

/// Copies code with the substitutions of `slices` and `names`. One object serves one copy.
class Rewrite {
 public:
  Rewrite(Program& p, const Slices& slices, const Substitutions& names) : p_(p), slices_(slices), names_(names) {}

  /// Returns the copy of a statement.
  Stmt statement(const Stmt& s) {
    return std::visit([&](const auto& x) { return Stmt{of(x)}; }, s.node);
  }
  /// Returns the copy of an expression; the same id if nothing in it is substituted.
  ExprId expr(ExprId e) {
    const auto replacement = names_.expressions.find(e);
    if (replacement != names_.expressions.end()) return replacement->second;
    const auto copied = copies_.find(e);
    return copied != copies_.end() ? copied->second : copies_[e] = copy(e);
  }

 private:
  /// Returns the slice of an array if an array of its own replaces it; null otherwise.
  const Slice* slice(BufferId b) const {
    const auto it = slices_.find(b);
    return it != slices_.end() && it->second.replacement.valid() ? &it->second : nullptr;
  }

  /// Returns the copies of several expressions, leaving out the one at position `without`.
  std::vector<ExprId> all(const std::vector<ExprId>& exprs, std::optional<std::size_t> without = std::nullopt) {
    std::vector<ExprId> out;
    for (std::size_t k = 0; k < exprs.size(); ++k) {
      if (k != without) out.push_back(expr(exprs[k]));
    }
    return out;
  }

  /// Returns the new name of `x`, or `x` itself if it keeps its name.
  template <class T>
  static T named(const std::map<T, T>& names, T x) {
    const auto it = names.find(x);
    return it == names.end() ? x : it->second;
  }
  ScalarId scalar(ScalarId s) const { return named(names_.scalars, s); }
  BufferId array(BufferId b) const { return named(names_.arrays, b); }

  /// Returns the formula of an array for the element at `position`.
  ExprId computed(const Formula& formula, ExprId position) {
    const Substitutions here{{}, {}, {{formula.position, position}}};
    return substituted(p_, here, formula.value);
  }
  /// Makes the copy of an expression that is not in the cache.
  ExprId copy(ExprId e) {
    Expr x = p_[e];
    bool same = true;  // an unchanged expression stays shared
    const auto put = [&](auto& id, auto to) {
      same = same && id == to;
      id = to;
    };
    auto* const get = std::get_if<Get>(&x.node);
    if (get) {
      const auto value = names_.values.find(get->scalar);
      if (value != names_.values.end()) return value->second;
      put(get->scalar, scalar(get->scalar));
    }
    auto* const load = std::get_if<Load>(&x.node);
    const Slice* s = load ? slice(load->buffer) : nullptr;
    if (s) load->indices.erase(load->indices.begin() + static_cast<std::ptrdiff_t>(s->axis));
    each_operand(x.node, [&](ExprId& operand) { put(operand, expr(operand)); });
    if (load && !s) {
      const auto formula = names_.formulas.find(load->buffer);
      if (formula != names_.formulas.end()) return computed(formula->second, load->indices[0]);
    }
    if (load) put(load->buffer, s ? s->replacement : array(load->buffer));
    return same ? e : make(p_, x.type, std::move(x.node));
  }

  /// Returns the copy of a block.
  Block block(const Block& b) {
    Block out;
    for (const Stmt& s : b)
      out.push_back(statement(s));
    return out;
  }
  /// The functions `of` return the copy of a statement of each kind.
  For of(const For& x) {
    return {scalar(x.index), expr(x.begin), expr(x.end), block(x.body), x.independent, x.step, x.vectorised};
  }
  Let of(const Let& x) { return {scalar(x.scalar), expr(x.value)}; }
  Local of(const Local& x) { return {scalar(x.scalar), expr(x.initial)}; }
  Assign of(const Assign& x) { return {scalar(x.scalar), expr(x.value)}; }
  Accumulate of(const Accumulate& x) { return {scalar(x.scalar), expr(x.value)}; }
  Store of(const Store& x) {
    const Slice* s = slice(x.buffer);
    if (!s) return {array(x.buffer), all(x.indices), expr(x.value), x.accumulate};
    return {s->replacement, all(x.indices, s->axis), expr(x.value), x.accumulate};
  }
  Fill of(const Fill& x) { return {array(x.buffer), expr(x.value)}; }
  If of(const If& x) { return {expr(x.condition), block(x.then_block), block(x.else_block), x.rare}; }
  BreakIf of(const BreakIf& x) { return {expr(x.condition)}; }
  Fail of(const Fail& x) { return x; }
  Comment of(const Comment& x) { return x; }

  Program& p_;
  const Slices& slices_;
  const Substitutions& names_;
  std::map<ExprId, ExprId> copies_;  // copies made so far, by original
};

}  // namespace

Stmt with_slices(Program& program, const Slices& slices, const Stmt& statement) {
  return Rewrite(program, slices, {}).statement(statement);
}

Stmt substituted(Program& program, const Substitutions& names, const Stmt& statement) {
  return Rewrite(program, {}, names).statement(statement);
}

ExprId substituted(Program& program, const Substitutions& names, ExprId expression) {
  return Rewrite(program, {}, names).expr(expression);
}

Stmt copy_slice(Program& p, BufferId array, const Slice& slice, ScalarId index) {
  std::vector<ScalarId> inner;
  std::vector<ExprId> to, from;
  // The sliced axis has the given index; every other axis gets a loop of its own.
  for (std::size_t k = 0; k < p[array].axes.size(); ++k) {
    if (k == slice.axis) {
      to.push_back(make(p, Type::i64, Get{index}));
      continue;
    }
    p.scalars.push_back({fmt::format("e{}", p.scalars.size()), Type::i64});
    inner.emplace_back(p.scalars.size() - 1);
    from.push_back(make(p, Type::i64, Get{inner.back()}));
    to.push_back(from.back());
  }
  Stmt out{Store{array, to, make(p, Type::f64, Load{slice.replacement, from})}};
  for (std::size_t k = inner.size(); k-- > 0;) {
    const ExprId begin = make(p, Type::i64, ConstI{0});
    const ExprId end = make(p, Type::i64, ConstI{p[p[slice.replacement].axes[k]].constant});
    Block body;
    body.push_back(std::move(out));
    out = Stmt{For{inner[k], begin, end, std::move(body), true, 1}};
  }
  return out;
}

}  // namespace lehr::loops
