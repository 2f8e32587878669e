// Terms in index notation. Index variables get the names of their plates, with a prime for each earlier one of the same
// name. The output is the user's, so it follows the notation of the model language.
#include "compiler/density/print_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compiler/support/overloaded.h"
#include "compiler/support/printing.h"

namespace lehr::density {
namespace {

/// Returns the indices in brackets, `[a, b]`; nothing for none.
std::string brackets(Names& names, const std::vector<IndexId>& indices) {
  return bracketed(listed(indices, [&](IndexId i) { return print(names, i); }));
}

/// Returns an index over the plate. A constant element has the number that the model gives it, counted from
/// Plate::from.
std::string element_of(Names& names, model::PlateId plate, IndexId i) {
  const auto* constant = std::get_if<IndexConstant>(&names.algebra[i]);
  return constant ? std::to_string(constant->value + names.model[names.model[plate].set].from) : print(names, i);
}

/// Returns an element of a variable or data array: its name with its indices.
template <class Of>
std::string element_of(Names& names, const Of& of, const std::vector<IndexId>& indices) {
  auto axis = of.axes.begin();
  const auto print_next = [&](IndexId i) {
    return axis == of.axes.end() ? print(names, i) : element_of(names, *axis++, i);
  };
  return of.name + bracketed(listed(indices, print_next));
}

/// Returns an element of a data array.
std::string element(Names& names, const DataSource& s, const std::vector<IndexId>& indices) {
  return std::visit([&](auto id) { return element_of(names, names.model[id], indices); }, s);
}

/// A text, and whether a minus sign stands before it.
struct Signed {
  bool minus;
  std::string text;

  /// Returns the text with its sign.
  std::string whole() const { return (minus ? "-" : "") + text; }
};

/// Returns the parts as a sum, `a - b + c`.
std::string sum_of(const std::vector<Signed>& parts) {
  std::string out;
  for (const Signed& p : parts)
    out += out.empty() ? p.whole() : (p.minus ? " - " : " + ") + p.text;
  return out;
}

/// Returns a coefficient as a factor of a product: a sum gets parentheses.
std::string factor(Names& names, CoefId c) {
  const std::string s = print(names, c);
  return std::holds_alternative<CoefAdd>(names.algebra[c]) ? "(" + s + ")" : s;
}

/// Returns a product: the sign in front, adjacent equal factors as squares, reciprocals behind division signs.
Signed signed_product(Names& names, const std::vector<CoefId>& parts) {
  const Algebra& a = names.algebra;
  Signed out{false, ""};
  std::string denominator;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto* f = std::get_if<CoefApply>(&a[parts[k]]);
    const auto literal = a.literal(parts[k]);
    if (f && f->function == Function::reciprocal) {
      denominator += " / " + factor(names, f->argument);
      continue;
    }
    if (literal && *literal < 0) out.minus = !out.minus;
    if (literal == -1.0) continue;
    const bool twice = k + 1 < parts.size() && parts[k + 1] == parts[k];
    if (!out.text.empty()) out.text += " * ";
    out.text += (literal ? fmt::format("{:.6g}", std::abs(*literal)) : factor(names, parts[k])) + (twice ? "^2" : "");
    if (twice) ++k;
  }
  if (out.text.empty()) out.text = "1";
  out.text += denominator;
  return out;
}

/// Returns a coefficient with its sign separated.
Signed signed_text(Names& names, CoefId c) {
  const CoefNode& node = names.algebra[c];
  if (const auto* product = std::get_if<CoefMultiply>(&node)) return signed_product(names, product->parts);
  if (const auto* n = std::get_if<CoefNumber>(&node)) return {n->value < 0, fmt::format("{:.6g}", std::abs(n->value))};
  return {false, print(names, c)};
}

/// Returns a term with its sign separated. A sum keeps the sign inside.
Signed signed_text(const model::Model& m, const Algebra& a, const Term& t) {
  Names names(m, a);
  std::string sum;
  if (!t.index_vars.empty()) {
    sum = listed(t.index_vars, [&](IndexVarId b) { return names(b); });
    if (!t.guards.empty()) sum += " | " + listed(t.guards, [&](const Guard& g) { return print(names, g); });
    sum = "sum(" + sum + ") ";
  }
  std::vector<std::string> factors;
  for (const Multiplicity& x : t.multiplicities)
    factors.push_back(print(names, x.count));
  bool minus = false;
  const auto literal = a.literal(t.coef);
  const bool leading = factors.empty();
  if (leading && !t.atoms.empty() && literal == -1.0) {
    minus = true;
  } else if (literal != 1.0 || (leading && t.atoms.empty())) {
    const Signed c =
        std::holds_alternative<CoefAdd>(a[t.coef]) ? Signed{false, factor(names, t.coef)} : signed_text(names, t.coef);
    minus = leading && c.minus;
    factors.push_back(leading ? c.text : c.whole());
  }
  for (const Atom& x : t.atoms)
    factors.push_back(print(names, x));
  const Signed product{minus, listed(factors, {}, " * ")};
  return sum.empty() ? product : Signed{false, sum + product.whole()};
}

}  // namespace

std::string Names::operator()(IndexVarId b) {
  auto [it, inserted] = given_.try_emplace(b);
  if (inserted) {
    const std::string& base = algebra[b].name;
    it->second = base + std::string(static_cast<std::size_t>(used_[base]++), '\'');
  }
  return it->second;
}

std::string print(Names& names, IndexId i) {
  return std::visit(Overloaded{[&](const IndexVarRef& b) {
                                 const std::string name = names(b.bound);
                                 return b.offset == 0 ? name : fmt::format("{}{:+}", name, b.offset);
                               },
                               [&](const IndexConstant& c) { return std::to_string(c.value); },
                               [&](const IndexLookup& l) { return element(names, l.source, l.indices); },
                               [&](const IndexCoordinate& c) {
                                 const auto& members = names.model[c.joint].auxiliary->members;
                                 return element(names, members[c.member].variable, c.indices);
                               }},
                    names.algebra[i]);
}

std::string print(Names& names, CoefId c) {
  const model::Model& m = names.model;
  const Algebra& a = names.algebra;
  return std::visit(
      Overloaded{[&](const CoefNumber& n) { return fmt::format("{:.6g}", n.value); },
                 [&](const CoefConstant& k) { return m[k.constant].name; },
                 [&](const CoefData& d) { return element(names, d.source, d.indices); },
                 [&](const CoefArray& d) { return fmt::format("@{}", d.array.value) + brackets(names, d.indices); },
                 [&](const CoefExtent& e) {
                   const std::string row = e.row ? "[" + print(names, *e.row) + "]" : "";
                   return fmt::format("size({}{})", m[e.plate].name, row);
                 },
                 [&](const CoefIndexValue& v) { return print(names, v.index); },
                 [&](const CoefAdd& s) {
                   // Literal numbers stand last, as in `eta - 1`. If the first part would have a minus, the last part
                   // moves to the front, as in `1 - x`.
                   std::vector<Signed> parts;
                   for (bool literal : {false, true}) {
                     for (CoefId p : s.parts) {
                       if (a.literal(p).has_value() == literal) parts.push_back(signed_text(names, p));
                     }
                   }
                   if (parts.front().minus) std::rotate(parts.begin(), parts.end() - 1, parts.end());
                   return sum_of(parts);
                 },
                 [&](const CoefMultiply& p) { return signed_product(names, p.parts).whole(); },
                 [&](const CoefApply& f) {
                   if (f.function == Function::reciprocal) return "1 / " + factor(names, f.argument);
                   return fmt::format("{}({})", row_of(f.function).name, print(names, f.argument));
                 },
                 [&](const CoefSum& s) {
                   const std::string b = names(s.bound);
                   return fmt::format("sum({}) {}", b, factor(names, s.body));
                 },
                 [&](const CoefInverse& x) {
                   const std::string row = print(names, x.row);
                   return fmt::format("inverse({})[{}, {}]", element(names, x.matrix, x.lead), row,
                                      print(names, x.column));
                 },
                 [&](const CoefLogDet& x) { return fmt::format("logdet({})", element(names, x.matrix, x.lead)); }},
      a[c]);
}

std::string print(Names& names, const Atom& atom) {
  const std::string v = element_of(names, names.model[atom.variable], atom.axes);
  std::vector<std::string> event;
  for (IndexId i : atom.event)
    event.push_back(print(names, i));
  if (!atom.opaque.empty()) return atom.opaque.text;
  switch (atom.stat) {
    case math::Stat::value:
      return v;
    case math::Stat::square:
      return v + "^2";
    case math::Stat::log:
      return "log " + v;
    case math::Stat::inverse:
      return "1/" + v;
    case math::Stat::complement:
      return "(1 - " + v + ")";
    case math::Stat::log1m:
      return "log(1 - " + v + ")";
    case math::Stat::inverse_square:
      return "1/" + v + "^2";
    case math::Stat::log_gamma:
      return "lgamma(" + v + ")";
    case math::Stat::value_log:
      return v + " log " + v;
    case math::Stat::log_gap:
      return "log(1 - exp(-" + v + "))";
    case math::Stat::tangent:
      return fmt::format(
          "{}({})", names.model[atom.variable].auxiliary->bound == &math::log_gamma_bound() ? "digamma" : "slope", v);
    case math::Stat::indicator:
      return fmt::format("[{} = {}]", v, event[0]);
    case math::Stat::log_comp:
      return "log " + v + bracketed(listed(event));
    case math::Stat::comp:
      return v + bracketed(listed(event));
    case math::Stat::comp2:
      return fmt::format("{}[{}] * {}[{}]", v, event[0], v, event[1]);
    case math::Stat::entry:
      return v + bracketed(listed(event));
    case math::Stat::inverse_entry:
      return fmt::format("inverse({}){}", v, bracketed(listed(event)));
    case math::Stat::logdet:
      return "logdet " + v;
    case math::Stat::weighted:
      return fmt::format("({} * mean){}", v, bracketed(listed(event)));
    case math::Stat::weighted_square:
      return fmt::format("(mean' * {} * mean)", v);
    case math::Stat::weighted2:
      return fmt::format("({} * mean)[{}] * mean[{}]", v, event[0], event[1]);
    case math::Stat::curvature:
      return fmt::format("lambda({})", v);
    case math::Stat::offset:
      return fmt::format("offset({})", v);
    case math::Stat::above:
      return fmt::format("above({})", v);
    case math::Stat::below:
      return fmt::format("below({})", v);
    case math::Stat::lower:
      return fmt::format("lower({})", v);
    case math::Stat::upper:
      return fmt::format("upper({})", v);
    case math::Stat::slope:
      return fmt::format("slope({}{})", v, bracketed(listed(event)));
    case math::Stat::switched:
      return fmt::format("switched {}[{}]", v, event[0]);
    case math::Stat::switched_square:
      return fmt::format("switched {}[{}]^2", v, event[0]);
  }
  return v;
}

std::string print_statistic(const model::Model& m, const Atom& atom) {
  if (!atom.opaque.empty()) return atom.opaque.text;
  // The table of families names statistics of x and X; the message names the variable instead.
  const std::string_view row = math::name_of(atom.stat);
  const auto letter = [&](std::size_t k) { return k < row.size() && std::isalpha(static_cast<unsigned char>(row[k])); };
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool alone = (row[i] == 'x' || row[i] == 'X') && !letter(i + 1) && (i == 0 || !letter(i - 1));
    out += alone ? m[atom.variable].name : std::string(1, row[i]);
  }
  return out;
}

std::string print(Names& names, const Guard& g) {
  if (g.present) return fmt::format("present({})", element(names, *g.present, g.element));
  const char* sign[] = {"=", "!=", "<", ">="};
  const auto* bound = std::get_if<IndexVarRef>(&names.algebra[g.left]);
  const std::string left = print(names, g.left);
  return fmt::format("{} {} {}", left, sign[static_cast<int>(g.relation)],
                     bound ? element_of(names, names.algebra[bound->bound].plate, g.right) : print(names, g.right));
}

std::string print(const model::Model& m, const Algebra& a, const Term& t) { return signed_text(m, a, t).whole(); }

std::string print_poly(const model::Model& m, const Density& d, const Poly& p) {
  std::vector<Signed> parts;
  for (const Term& t : p)
    parts.push_back(signed_text(m, d.algebra, t));
  return parts.empty() ? "0" : sum_of(parts);
}

}  // namespace lehr::density

namespace lehr {

std::string print(const model::Model& model, const density::Density& d, const Source& source) {
  std::string out;
  for (std::size_t o = 0; o < d.origins.size(); ++o) {
    const density::Origin& origin = d.origins[o];
    out += fmt::format("line {}: {}\n", position_of(source, origin.span.begin).line, source.slice(origin.span));
    for (const density::Term& t : d.terms) {
      if (t.origin == o) out += "  + " + density::print(model, d.algebra, t) + "\n";
    }
  }
  return out;
}

}  // namespace lehr
