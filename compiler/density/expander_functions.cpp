// Functions of polynomials: exact for data and for single products of statistics, an opaque atom or an error otherwise.
//
// A sum has no logarithm in closed form, except 1 - x. An opaque atom is not an error yet: it may cancel, or the
// variable may be a point whose family has the function as a statistic.
#include <fmt/format.h>

#include "compiler/density/expander.h"
#include "compiler/density/print_density.h"

namespace lehr::density {
namespace {

using math::Stat;

/// Returns true if the term sums over nothing and has no conditions.
bool is_plain(const Term& t) { return t.index_vars.empty() && t.guards.empty(); }

/// Returns the statistic that is the logarithm of another one: log x of x, log x_k of x_k. Nothing if there is none.
std::optional<Stat> log_of(Stat s, const model::Variable& v) {
  if (s == Stat::value && (v.support == math::Support::positive || v.support == math::Support::unit)) return Stat::log;
  if (s == Stat::comp && v.support == math::Support::simplex) return Stat::log_comp;
  return std::nullopt;
}

/// Applies the function `f` to an atom that has no statistic for it. `text` describes the result.
void make_opaque(Atom& x, Function f, std::string text) {
  x.opaque.text = std::move(text);
  x.opaque.functions.insert(x.opaque.functions.begin(), f);
}

}  // namespace

std::string Expander::text(const Poly& p) const { return print_poly(m_, out_, p); }

Poly Expander::fail(std::string why, std::vector<std::string> notes) {
  if (too_large_) return {};  // the statement is cut short, so further errors would mislead
  Diagnostic& d = diagnostics_.add(DiagnosticKind::no_closed_form, span_, why);
  for (std::string& n : notes)
    d.note(std::move(n));
  return {};
}

Poly Expander::log(const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p)) return log_of_data(*c);
  // log(1 - x) of a random x is log1m(x).
  if (p.size() == 2) {
    for (int k = 0; k < 2; ++k) {
      const Term &one = p[static_cast<std::size_t>(k)], &x = p[static_cast<std::size_t>(1 - k)];
      if (is_plain(one) && one.atoms.empty() && a_.literal(one.coef) == 1.0 && is_plain(x) && x.atoms.size() == 1 &&
          a_.literal(x.coef) == -1.0) {
        Term t = x;
        t.coef = a_.number(1);
        return log1m({t});
      }
    }
  }
  if (p.size() != 1 || !p[0].index_vars.empty()) {
    return fail("no closed form: log of the sum " + text(p),
                {"the logarithm of a sum that contains random variables does not expand",
                 "a probability p * a + (1 - p) * b is that of `mixture(p, D(a), D(b))`, D the distribution; otherwise "
                 "give each summand its own variable"});
  }
  const Term& t = p[0];
  Poly out = log_of_data(t.coef);
  for (const Atom& atom : t.atoms) {
    if (const std::optional<Poly> exponent = exponent_of(atom)) {
      out = add(std::move(out), *exponent);
      continue;
    }
    Term s{a_.number(1), {}, {atom}, {}, {}, 0};
    Atom& x = s.atoms[0];
    if (!x.opaque.empty()) {
      make_opaque(x, Function::log, "log(" + x.opaque.text + ")");
    } else if (x.stat == Stat::inverse || x.stat == Stat::inverse_square) {
      s.coef = a_.number(x.stat == Stat::inverse ? -1 : -2);
      x.stat = Stat::log;
    } else if (x.stat == Stat::square && m_[x.variable].support == math::Support::positive) {
      s.coef = a_.number(2);
      x.stat = Stat::log;
    } else if (auto l = log_of(x.stat, m_[x.variable])) {
      x.stat = *l;
    } else {
      make_opaque(x, Function::log, "log " + print_statistic(m_, x));
    }
    out.push_back(std::move(s));
  }
  // The factor [j = l] of a diagonal entry stays outside the logarithm, as the condition of every summand.
  for (Term& s : out)
    s.guards.insert(s.guards.end(), t.guards.begin(), t.guards.end());
  std::erase_if(out, [&](const Term& s) { return a_.literal(s.coef) == 0.0; });
  return out;
}

bool Expander::is_improper_zero(const Poly& p) {
  const auto c = as_coefficient(a_, m_, p);
  if (m_[m_[*statement_].variable].observed || !c || a_.literal(*c) != 0.0) return false;
  // A probability of 0 is proper: the bit is 0.
  if (is_prior_of_bit() && !m_[*statement_].part) return false;
  improper_ = true;
  return true;
}

Poly Expander::prior_log(const Poly& p) { return is_improper_zero(p) ? Poly{} : family_log(p); }

Poly Expander::log1m(const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p)) return log1m_of_data(*c);
  if (p.size() == 1 && p[0].index_vars.empty() && p[0].atoms.size() == 1 && a_.literal(p[0].coef) == 1.0) {
    Poly out = p;
    Atom& x = out[0].atoms[0];
    if (x.opaque.empty() && x.stat == Stat::value && m_[x.variable].support == math::Support::unit) {
      x.stat = Stat::log1m;
    } else {
      make_opaque(x, Function::log1m, "log(1 - " + print_statistic(m_, x) + ")");
    }
    return out;
  }
  // 1 - (1 - x) = x
  if (p.size() == 2) {
    for (int k = 0; k < 2; ++k) {
      const Term &one = p[static_cast<std::size_t>(k)], &x = p[static_cast<std::size_t>(1 - k)];
      if (is_plain(one) && one.atoms.empty() && a_.literal(one.coef) == 1.0 && is_plain(x) &&
          a_.literal(x.coef) == -1.0) {
        return log(scale(a_, a_.number(-1), {x}));
      }
    }
  }
  return fail(
      "no closed form: log of 1 - (" + text(p) + ")",
      {"the probability of an observed Bernoulli may be a product of two, `Bernoulli(a * b)`, with a latent bit or a "
       "random probability a, that of a Binomial a latent bit times another one; trials that are alike are counted by "
       "`plate trial times count`"});
}

Poly Expander::reciprocal(const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p)) return constant(a_.apply(Function::reciprocal, *c));
  if (p.size() != 1 || !p[0].index_vars.empty()) return fail("no closed form: division by the sum " + text(p));
  Poly out = p;
  out[0].coef = a_.apply(Function::reciprocal, p[0].coef);
  for (Atom& x : out[0].atoms) {
    if (x.opaque.empty() && x.stat == Stat::value) x.stat = Stat::inverse;
    else if (x.opaque.empty() && x.stat == Stat::inverse) x.stat = Stat::value;
    else if (x.opaque.empty() && x.stat == Stat::inverse_square) x.stat = Stat::square;
    else if (x.opaque.empty() && x.stat == Stat::square && m_[x.variable].support == math::Support::positive)
      x.stat = Stat::inverse_square;
    else make_opaque(x, Function::reciprocal, "1/(" + print_statistic(m_, x) + ")");
  }
  return out;
}

Poly Expander::apply(Function f, const Poly& p) {
  return f == Function::log          ? log(p)
         : f == Function::log1m      ? log1m(p)
         : f == Function::reciprocal ? reciprocal(p)
         : f == Function::abs        ? absolute(p)
                                     : opaque(f, p);
}

Poly Expander::opaque(Function f, const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p)) return constant(a_.apply(f, *c));
  // lgamma(1 + x) = log x + lgamma x, whose last part often cancels: the density of Beta(1, x) also has -lgamma(x).
  for (std::size_t k = 0; f == Function::lgamma && p.size() == 2 && k < 2; ++k) {
    const Term &one = p[k], &x = p[1 - k];
    if (is_plain(one) && one.atoms.empty() && a_.literal(one.coef) == 1.0 && is_plain(x) && !x.atoms.empty())
      return add(log({x}), opaque(f, {x}));
  }
  if (f == Function::lgamma && is_sum_of_points(p)) return log_gamma_of_points(p);
  // The atom of the first variable stands for the whole function; the derivation of that variable reports it.
  for (const Term& t : p) {
    if (t.atoms.empty()) continue;
    Atom x = t.atoms[0];
    std::vector<Function> functions{f};
    if (exponent_of(x)) functions.push_back(Function::exp);
    x.opaque = {fmt::format("{}({})", row_of(f).name, text(p)), 0, p.size() == 1 && x.opaque.product,
                std::move(functions)};
    Poly out = constant(a_, 1);
    out[0].atoms.push_back(std::move(x));
    return out;
  }
  // Data that are summed where a condition is true: a coefficient has no conditions.
  return fail(fmt::format("no closed form: {}({}) of data", row_of(f).name, text(p)),
              {"give these sums as data of their own, a vector or an array in the place of the expression"});
}

}  // namespace lehr::density
