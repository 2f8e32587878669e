// Formulas of the families as loops (formulas.h): hoisting of subformulas, and the kernel that factors and inverts
// symmetric positive definite matrices.
#include "compiler/lower/formulas.h"

#include <algorithm>

#include "compiler/lower/functions.h"
#include "compiler/math/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {
namespace {

/// Returns true if the formula has a function call or a sum, so that hoisting it pays.
bool costly(const math::Expr& e) {
  const bool itself = std::holds_alternative<math::Apply>(e->form) || std::holds_alternative<math::Sum>(e->form);
  return itself || std::ranges::any_of(math::children_of(e), costly);
}

/// Collects the largest subformulas that do not depend on event indices of rank above `rank` and are costly.
void invariant(const math::Expr& e, int rank, std::vector<math::Expr>& out) {
  if (math::free_event_rank(e) <= rank) {
    if (costly(e)) out.push_back(e);
  } else if (!std::holds_alternative<math::Sum>(e->form)) {
    for (const math::Expr& part : math::children_of(e))
      invariant(part, rank, out);
  }
}

/// Collects the sums that are in no other sum.
void outermost_sums(const math::Expr& e, std::vector<math::Expr>& out) {
  if (std::holds_alternative<math::Sum>(e->form)) return out.push_back(e);
  for (const math::Expr& part : math::children_of(e))
    outermost_sums(part, out);
}

/// Collects the matrices that the formula needs: false if only their log determinant, true if also entries of their
/// inverse or of its root.
void matrices(const math::Expr& e, std::map<std::string, bool>& out) {
  if (const auto* inverse = std::get_if<math::InverseEntry>(&e->form)) out[inverse->matrix] = true;
  if (const auto* logdet = std::get_if<math::LogDet>(&e->form)) out.try_emplace(logdet->matrix, false);
  for (const math::Expr& part : math::children_of(e))
    matrices(part, out);
}

}  // namespace

std::vector<std::string> log_determinants(const math::Expr& e) {
  std::map<std::string, bool> names;
  matrices(e, names);
  std::vector<std::string> out;
  for (const auto& [name, with_entries] : names)
    if (!with_entries) out.push_back(name);
  return out;
}

ExprId FormulaLoops::formula(const math::Expr& e, FormulaContext& f, std::map<int, ExprId> event) {
  if (auto it = f.hoisted.find(&*e); it != f.hoisted.end()) return it->second;
  const auto rec = [&](const math::Expr& x) { return formula(x, f, event); };
  const auto list = [&](const std::vector<math::Index>& indices) {
    std::vector<ExprId> out;
    for (math::Index i : indices)
      out.push_back(event.at(i.id));
    return out;
  };
  return std::visit(
      Overloaded{[&](const math::Number& n) { return b_.f(n.value); },
                 [&](const math::Symbol& s) { return f.quantities.at(s.name)(list(s.indices)); },
                 [&](const math::AtValue&) -> ExprId { return b_.f(0); },
                 [&](const math::Add& n) { return b_.add(rec(n.left), rec(n.right)); },
                 [&](const math::Multiply& n) { return b_.mul(rec(n.left), rec(n.right)); },
                 [&](const math::Apply& n) { return apply(b_, n.function, rec(n.argument)); },
                 [&](const math::Sum& s) {
                   const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(s.largest ? -1.7e308 : 0));
                   b_.for_range("e", b_.i(0), b_.extent(f.extent), [&](ExprId i) {
                     std::map<int, ExprId> inner = event;
                     inner[s.index.id] = i;
                     const ExprId x = formula(s.body, f, inner);
                     if (s.largest) b_.assign(sum, b_.max(b_.get(sum), x));
                     else b_.accumulate(sum, x);
                   });
                   return b_.get(sum);
                 },
                 [&](const math::Delta& d) {
                   return b_.select(b_.equal(event.at(d.left.id), event.at(d.right.id)), b_.f(1), b_.f(0));
                 },
                 [&](const math::ExtentValue&) { return b_.to_f64(b_.extent(f.extent)); },
                 [&](const math::IndexValue& v) { return b_.to_f64(event.at(v.index.id)); },
                 [&](const math::InverseEntry& x) {
                   const SpdInverse& spd = f.inverses.at(x.matrix);
                   const ExprId row = event.at(x.row.id), column = event.at(x.column.id);
                   if (!x.root) return b_.load(spd.inverse, {row, column});
                   // The root is lower triangular: entries above the diagonal are 0 and not stored.
                   return b_.select(b_.less_equal(column, row), b_.load(spd.root, {row, column}), b_.f(0));
                 },
                 [&](const math::LogDet& x) { return f.inverses.at(x.matrix).logdet; }},
      e->form);
}

void FormulaLoops::components(const math::Expr& e, int rank, FormulaContext& f,
                              const std::function<void(std::vector<ExprId>, ExprId)>& leaf) {
  prepare_matrices(e, f);
  const auto hoist = [&](int level, const std::map<int, ExprId>& event) {
    std::vector<math::Expr> invariants;
    invariant(e, level, invariants);
    for (const math::Expr& x : invariants) {
      if (!f.hoisted.contains(&*x)) f.hoisted[&*x] = b_.let(b_.fresh("h"), formula(x, f, event));
    }
  };
  // What is hoisted here is in scope in these loops only.
  const auto outside = f.hoisted;
  if (rank == 0) {
    form_repeated_sums(e, f);
    leaf({}, formula(e, f, {}));
  } else {
    hoist(0, {});
    b_.for_range("j", b_.i(0), b_.extent(f.extent), [&](ExprId j) {
      const auto before = f.hoisted;
      if (rank == 1) {
        leaf({j}, formula(e, f, {{math::kFirst.id, j}}));
      } else {
        hoist(1, {{math::kFirst.id, j}});
        b_.for_range("l", b_.i(0), b_.extent(f.extent), [&](ExprId l) {
          leaf({j, l}, formula(e, f, {{math::kFirst.id, j}, {math::kSecond.id, l}}));
        });
      }
      f.hoisted = before;
    });
  }
  f.hoisted = outside;
}

void FormulaLoops::form_repeated_sums(const math::Expr& e, FormulaContext& f) {
  std::vector<math::Expr> sums;
  outermost_sums(e, sums);
  for (const math::Expr& x : sums) {
    if (f.hoisted.contains(&*x) || std::ranges::count(sums, x) < 2) continue;
    const ExprId value = b_.let(b_.fresh("h"), formula(x, f, {}));
    for (const math::Expr& same : sums)
      if (same == x) f.hoisted[&*same] = value;
  }
}

void FormulaLoops::prepare_matrices(const math::Expr& e, FormulaContext& f) {
  std::map<std::string, bool> names;
  matrices(e, names);
  for (const auto& [name, with_entries] : names) {
    const auto it = f.inverses.find(name);
    if (it == f.inverses.end() || (with_entries && !it->second.inverse.valid()))
      f.inverses[name] = spd_inverse(name, f.quantities.at(name), f.extent, f.fail_code);
  }
}

SpdInverse FormulaLoops::spd_inverse(const std::string& name, const Quantity& entry, SizeId extent, std::int32_t code) {
  const std::string tag = b_.fresh(name);
  const BufferId chol = work_array("chol." + tag, {extent, extent});
  const BufferId root = work_array("root." + tag, {extent, extent});
  const BufferId inv = work_array("inverse." + tag, {extent, extent});
  // The squares of L's diagonal: the logarithms are taken of these in a loop of their own, which vectorises.
  const BufferId pivots = work_array("pivots." + tag, {extent});
  const ScalarId logdet = b_.local("logdet." + tag, b_.f(0));
  const ExprId n = b_.extent(extent), one = b_.i(1);
  b_.comment("Cholesky factor, inverse and log determinant of " + name);
  b_.for_range("j", b_.i(0), n, [&](ExprId j) {
    const ScalarId d = b_.local(b_.fresh("d"), entry({j, j}));
    b_.for_range("k", b_.i(0), j, [&](ExprId k) {
      const ExprId x = b_.load(chol, {j, k});
      b_.accumulate(d, b_.neg(b_.mul(x, x)));
    });
    // Written so that a pivot that is NaN fails, too.
    if (code != 0) b_.fail_if(b_.logical_not(b_.greater(b_.get(d), b_.f(0))), code);
    const ExprId diag = b_.let(b_.fresh("diag"), b_.sqrt(b_.get(d)));
    b_.store(pivots, {j}, b_.get(d));
    b_.store(chol, {j, j}, diag);
    b_.for_range("i", b_.add(j, one), n, [&](ExprId i) {
      const ScalarId s = b_.local(b_.fresh("s"), entry({i, j}));
      b_.for_range("k", b_.i(0), j, [&](ExprId k) {
        b_.accumulate(s, b_.neg(b_.mul(b_.load(chol, {i, k}), b_.load(chol, {j, k}))));
      });
      b_.store(chol, {i, j}, b_.div(b_.get(s), diag));
    });
  });
  b_.for_range("j", b_.i(0), n, [&](ExprId j) { b_.accumulate(logdet, b_.log(b_.load(pivots, {j}))); });
  // The root L^-1 by forward substitution, column by column; it is lower triangular.
  b_.for_range("j", b_.i(0), n, [&](ExprId j) {
    b_.store(root, {j, j}, b_.div(b_.f(1), b_.load(chol, {j, j})));
    b_.for_range("i", b_.add(j, one), n, [&](ExprId i) {
      const ScalarId s = b_.local(b_.fresh("s"), b_.f(0));
      b_.for_range("k", j, i, [&](ExprId k) {
        b_.accumulate(s, b_.mul(b_.load(chol, {i, k}), b_.load(root, {k, j})));
      });
      b_.store(root, {i, j}, b_.neg(b_.div(b_.get(s), b_.load(chol, {i, i}))));
    });
  });
  // A^-1 = L'^-1 L^-1, of which one triangle is computed and both are stored.
  b_.for_range("i", b_.i(0), n, [&](ExprId i) {
    b_.for_range("j", b_.i(0), b_.add(i, one), [&](ExprId j) {
      const ScalarId s = b_.local(b_.fresh("s"), b_.f(0));
      b_.for_range("k", i, n, [&](ExprId k) {
        b_.accumulate(s, b_.mul(b_.load(root, {k, i}), b_.load(root, {k, j})));
      });
      b_.store(inv, {i, j}, b_.get(s));
      b_.store(inv, {j, i}, b_.get(s));
    });
  });
  return {chol, root, inv, b_.get(logdet)};
}

}  // namespace lehr::loops
