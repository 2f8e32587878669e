// Index notation for terms; bounds get the names of their plates, primed where two range over one plate.
#include "compiler/density/print_density.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "compiler/support/overloaded.h"

namespace lehr::density {
namespace {

std::string brackets(const std::vector<std::string>& parts) {
  return parts.empty() ? "" : fmt::format("[{}]", fmt::join(parts, ", "));
}

std::vector<std::string> list(const model::Model& m, const Algebra& a, Names& names, const std::vector<IndexId>& v) {
  std::vector<std::string> out;
  for (IndexId i : v)
    out.push_back(print(m, a, names, i));
  return out;
}

std::string source_name(const model::Model& m, const DataSource& s) {
  return std::visit([&](auto id) { return m[id].name; }, s);
}

std::string_view name_of(CoefFunction f) {
  switch (f) {
    case CoefFunction::log:
      return "log";
    case CoefFunction::log1m:
      return "log1m";
    case CoefFunction::exp:
      return "exp";
    case CoefFunction::sqrt:
      return "sqrt";
    case CoefFunction::reciprocal:
      return "1/";
    case CoefFunction::lgamma:
      return "lgamma";
    case CoefFunction::digamma:
      return "digamma";
  }
  return "";
}

bool is_sum(const Algebra& a, CoefId c) { return std::holds_alternative<CoefAdd>(a[c]); }

}  // namespace

std::string Names::operator()(BoundId b) {
  auto [it, inserted] = given_.try_emplace(b);
  if (inserted) {
    const std::string& base = a_[b].name;
    it->second = base + std::string(static_cast<std::size_t>(used_[base]++), '\'');
  }
  (void)m_;
  return it->second;
}

std::string print(const model::Model& m, const Algebra& a, Names& names, IndexId i) {
  return std::visit(Overloaded{[&](const IndexBound& b) {
                                 const std::string name = names(b.bound);
                                 return b.offset == 0 ? name : fmt::format("{}{:+}", name, b.offset);
                               },
                               [&](const IndexConstant& c) { return std::to_string(c.value); },
                               [&](const IndexLookup& l) {
                                 return source_name(m, l.source) + brackets(list(m, a, names, l.indices));
                               }},
                    a[i]);
}

std::string print(const model::Model& m, const Algebra& a, Names& names, CoefId c) {
  const auto factor = [&](CoefId x) {
    const std::string s = print(m, a, names, x);
    return is_sum(a, x) ? "(" + s + ")" : s;
  };
  return std::visit(
      Overloaded{
          [&](const CoefNumber& n) { return fmt::format("{:.6g}", n.value); },
          [&](const CoefConstant& k) { return m[k.constant].name; },
          [&](const CoefData& d) { return source_name(m, d.source) + brackets(list(m, a, names, d.indices)); },
          [&](const CoefArray& d) {
            return fmt::format("@{}", d.array.value) + brackets(list(m, a, names, d.indices));
          },
          [&](const CoefExtent& e) {
            return e.row ? fmt::format("size({}[{}])", m[e.plate].name, print(m, a, names, *e.row))
                         : fmt::format("size({})", m[e.plate].name);
          },
          [&](const CoefIndexValue& v) { return print(m, a, names, v.index); },
          [&](const CoefAdd& s) {
            // Literal numbers last, `eta - 1`, but not behind a minus: `1 - x`.
            std::vector<std::string> parts;
            for (bool literal : {false, true}) {
              for (CoefId p : s.parts) {
                if (a.literal(p).has_value() == literal) parts.push_back(print(m, a, names, p));
              }
            }
            if (parts.front().starts_with("-")) std::rotate(parts.begin(), parts.end() - 1, parts.end());
            std::string out;
            for (const std::string& t : parts) {
              if (out.empty()) out = t;
              else if (t.starts_with("-")) out += " - " + t.substr(1);
              else out += " + " + t;
            }
            return out;
          },
          [&](const CoefMultiply& p) {
            std::string numerator, denominator;
            for (std::size_t k = 0; k < p.parts.size(); ++k) {
              const CoefId x = p.parts[k];
              const auto* f = std::get_if<CoefApply>(&a[x]);
              if (f && f->function == CoefFunction::reciprocal) {
                denominator += " / " + factor(f->argument);
              } else if (a.literal(x) == -1.0 && p.parts.size() > 1) {
                numerator += "-";
              } else {
                const bool twice = k + 1 < p.parts.size() && p.parts[k + 1] == x;
                numerator += (numerator.empty() || numerator == "-" ? "" : " * ") + factor(x) + (twice ? "^2" : "");
                if (twice) ++k;
              }
            }
            if (numerator.empty() || numerator == "-") numerator += "1";
            return numerator + denominator;
          },
          [&](const CoefApply& f) {
            if (f.function == CoefFunction::reciprocal) return "1 / " + factor(f.argument);
            return fmt::format("{}({})", name_of(f.function), print(m, a, names, f.argument));
          },
          [&](const CoefSum& s) {
            const std::string b = names(s.bound);
            return fmt::format("sum({}) {}", b, factor(s.body));
          },
          [&](const CoefInverse& x) {
            return fmt::format("inverse({}{})[{}, {}]", source_name(m, x.matrix), brackets(list(m, a, names, x.lead)),
                               print(m, a, names, x.row), print(m, a, names, x.column));
          },
          [&](const CoefLogDet& x) {
            return fmt::format("logdet({}{})", source_name(m, x.matrix), brackets(list(m, a, names, x.lead)));
          }},
      a[c]);
}

std::string print(const model::Model& m, const Algebra& a, Names& names, const Atom& atom) {
  const std::string v = m[atom.variable].name + brackets(list(m, a, names, atom.axes));
  const std::vector<std::string> event = list(m, a, names, atom.event);
  if (!atom.opaque.empty()) return atom.opaque;
  switch (atom.stat) {
    case math::Stat::value:
      return v;
    case math::Stat::square:
      return v + "^2";
    case math::Stat::log:
      return "log " + v;
    case math::Stat::inverse:
      return "1/" + v;
    case math::Stat::log1m:
      return "log(1 - " + v + ")";
    case math::Stat::indicator:
      return fmt::format("[{} = {}]", v, event[0]);
    case math::Stat::log_comp:
      return "log " + v + brackets(event);
    case math::Stat::comp:
      return v + brackets(event);
    case math::Stat::comp2:
      return fmt::format("{}[{}] * {}[{}]", v, event[0], v, event[1]);
    case math::Stat::entry:
      return v + brackets(event);
    case math::Stat::logdet:
      return "logdet " + v;
    case math::Stat::weighted:
      return fmt::format("({} * mean){}", v, brackets(event));
    case math::Stat::weighted_square:
      return fmt::format("(mean' * {} * mean)", v);
    case math::Stat::curvature:
      return fmt::format("lambda({})", v);
    case math::Stat::offset:
      return fmt::format("offset({})", v);
  }
  return v;
}

std::string print_statistic(const model::Model& m, const Atom& atom) {
  if (!atom.opaque.empty()) return atom.opaque;
  // Rows speak of x and X; people speak of the variable.
  const std::string_view row = math::name_of(atom.stat);
  const auto letter = [&](std::size_t k) { return k < row.size() && std::isalpha(static_cast<unsigned char>(row[k])); };
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool alone = (row[i] == 'x' || row[i] == 'X') && !letter(i + 1) && (i == 0 || !letter(i - 1));
    out += alone ? m[atom.variable].name : std::string(1, row[i]);
  }
  return out;
}

std::string print(const model::Model& m, const Algebra& a, Names& names, const Guard& g) {
  if (g.present) return fmt::format("present({}{})", m[*g.present].name, brackets(list(m, a, names, g.element)));
  const char* sign[] = {"=", "!=", "<", ">="};
  return fmt::format("{} {} {}", print(m, a, names, g.left), sign[static_cast<int>(g.relation)],
                     print(m, a, names, g.right));
}

std::string print(const model::Model& m, const Algebra& a, const Term& t) {
  Names names(m, a);
  std::string out;
  if (!t.bounds.empty()) {
    std::vector<std::string> bounds;
    for (BoundId b : t.bounds)
      bounds.push_back(names(b));
    std::vector<std::string> guards;
    for (const Guard& g : t.guards)
      guards.push_back(print(m, a, names, g));
    out += fmt::format("sum({}{}{}) ", fmt::join(bounds, ", "), guards.empty() ? "" : " | ", fmt::join(guards, ", "));
  }
  std::vector<std::string> factors;
  for (const Multiplicity& x : t.multiplicities)
    factors.push_back(print(m, a, names, x.count));
  const bool unit = a.literal(t.coef) == 1.0 && (!factors.empty() || !t.atoms.empty());
  if (!unit) factors.push_back(is_sum(a, t.coef) ? "(" + print(m, a, names, t.coef) + ")" : print(m, a, names, t.coef));
  for (const Atom& x : t.atoms)
    factors.push_back(print(m, a, names, x));
  if (factors.size() > 1 && factors[0] == "-1") {
    factors.erase(factors.begin());
    factors[0].insert(0, "-");
  }
  return out + fmt::format("{}", fmt::join(factors, " * "));
}

std::string print_poly(const model::Model& m, const Density& d, const Poly& p) {
  std::string out;
  for (const Term& t : p) {
    const std::string s = print(m, d.algebra, t);
    if (out.empty()) out = s;
    else if (s.starts_with("-")) out += " - " + s.substr(s.starts_with("-1 * ") ? 5 : 1);
    else out += " + " + s;
  }
  return out.empty() ? "0" : out;
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
