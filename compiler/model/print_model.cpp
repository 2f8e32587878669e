// Prints a Model in the notation of the language, as far as it has one. Brackets are printed only where the binding
// strength demands them (support/printing.h).
#include "compiler/model/print_model.h"

#include <fmt/format.h>

#include <type_traits>

#include "compiler/math/sparse_pattern.h"
#include "compiler/model/statement_text.h"
#include "compiler/support/printing.h"

namespace lehr {
namespace model {
namespace {

// Returns the text of an expression with its binding strength.
Infix render(const Model& m, ExprId id);

// Returns the text, in brackets if it binds less tightly than `needed`.
std::string within(const Model& m, ExprId id, int needed) { return render(m, id).at(needed); }

// Returns the names of entities, separated by commas.
template <class Ids>
std::string names(const Model& m, const Ids& ids) {
  return listed(ids, [&](auto id) { return m[id].name; });
}

// Returns a name with its indices.
std::string indexed(const Model& m, const std::string& name, const std::vector<Index>& indices) {
  return name + bracketed(listed(indices, [&](const Index& i) { return lehr::print(m, i); }));
}

Infix render(const Model& m, const Binary& b) {
  const bool sum = b.op == BinaryOp::add || b.op == BinaryOp::subtract;
  const int own = sum ? kSum : kProduct, right = sum ? kProduct : kFactor;
  return {fmt::format("{} {} {}", within(m, b.left, own), symbol_of(b.op), within(m, b.right, right)), own};
}

Infix render(const Model& m, ExprId id) {
  return std::visit(
      [&](const auto& node) -> Infix {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, Number>) {
          return {fmt::format("{}", node.value), kAtom};
        } else if constexpr (std::is_same_v<T, ConstantRef>) {
          return {m[node.constant].name, kAtom};
        } else if constexpr (std::is_same_v<T, GivenRef>) {
          return {indexed(m, m[node.given].name, node.indices), kAtom};
        } else if constexpr (std::is_same_v<T, VariableRef>) {
          return {indexed(m, m[node.variable].name, node.indices), kAtom};
        } else if constexpr (std::is_same_v<T, SizeOf>) {
          return {fmt::format("size({})", m[node.plate].name), kAtom};
        } else if constexpr (std::is_same_v<T, Negate>) {
          return {fmt::format("-{}", within(m, node.operand, kAtom)), kFactor};
        } else if constexpr (std::is_same_v<T, Binary>) {
          return render(m, node);
        } else if constexpr (std::is_same_v<T, MatrixVector>) {
          return {within(m, node.matrix, kProduct) + " * " + within(m, node.vector, kFactor), kProduct};
        } else if constexpr (std::is_same_v<T, Dot>) {
          return {fmt::format("dot({}, {})", render(m, node.left).text, render(m, node.right).text), kAtom};
        } else if constexpr (std::is_same_v<T, SumOver>) {
          return {fmt::format("sum({}) {}", names(m, node.index_vars), within(m, node.body, kProduct)), kSum};
        } else if constexpr (std::is_same_v<T, Diag>) {
          return {fmt::format("diag({})", render(m, node.vector).text), kAtom};
        } else if constexpr (std::is_same_v<T, Component>) {
          return {fmt::format("{}[{}]", within(m, node.vector, kAtom), m[node.at].name), kAtom};
        } else if constexpr (std::is_same_v<T, StickBreaking>) {
          return {fmt::format("stick_breaking({})", render(m, node.fractions).text), kAtom};
        } else if constexpr (std::is_same_v<T, Softmax>) {
          return {fmt::format("softmax({})", render(m, node.scores).text), kAtom};
        } else if constexpr (std::is_same_v<T, OrderedLogistic>) {
          return {fmt::format("ordered_logistic({}, {})", render(m, node.location).text, render(m, node.cuts).text),
                  kAtom};
        } else if constexpr (std::is_same_v<T, Cumulative>) {
          return {fmt::format("cumulative({})", render(m, node.steps).text), kAtom};
        } else {
          static_assert(std::is_same_v<T, Apply>);
          return {fmt::format("{}({})", row_of(node.function).name, render(m, node.argument).text), kAtom};
        }
      },
      m[id].node);
}

// These print one declaration each.
std::string print_plate(const Model& m, std::size_t i) {
  const Plate& p = m.plates[i];
  if (p.set != PlateId(i)) return fmt::format("plate {} = {};", p.name, m[p.set].name);
  std::string out = plate_text(m, p);
  out.pop_back();
  if (p.stick) out += fmt::format("  // size({}) + 1", m[*p.stick].name);
  return out + ";";
}

std::string print_type(const Model& m, const Given& g) {
  switch (g.type) {
    case GivenType::real:
      return "real";
    case GivenType::count:
      return "count";
    case GivenType::category:
      return m[*g.value_plate].name;
    case GivenType::vector:
      return "vector over " + names(m, g.event);
    case GivenType::matrix:
      return "matrix over " + names(m, g.event);
    case GivenType::simplex:
      return "simplex over " + names(m, g.event);
  }
  return "?";
}

std::string print_distribution(const Model& m, const Distribution& d) {
  const auto parameter = [&](const Parameter& p) { return p.spelling->name + " = " + lehr::print(m, p.value); };
  return fmt::format("{}({})", d.family->name, listed(d.parameters, parameter));
}

std::string print_statement(const Model& m, const Statement& s) {
  const Variable& v = m[s.variable];
  std::string out = v.observed ? "observe " : "";
  out += v.name + bracketed(names(m, s.index_vars)) + " ~ ";
  if (s.part) out += lehr::print(m, *s.part) + ": ";
  out += print_distribution(m, s.main);
  for (const Distribution& other : s.others)
    out += " or " + print_distribution(m, other);
  if (s.start) out += " start " + print_distribution(m, *s.start);
  if (s.limits.any() && v.observed) out += " censored";
  if (s.limits.above) out += " above " + lehr::print(m, *s.limits.above);
  if (s.limits.below) out += " below " + lehr::print(m, *s.limits.below);
  if (!v.event.empty()) out += " over " + m[v.event.front()].name;
  if (v.value_plate) out += " over " + m[*v.value_plate].name;
  return fmt::format("{};  // {}", out, math::name_of(v.support));
}

std::string print_guide(const Model& m) {
  std::string out;
  for (const JointGuide& joint : m.guide.joint)
    out += fmt::format(
        "  guide joint({});{}\n", names(m, joint.members),
        joint.pattern ? fmt::format("  // sparse, {} entries, {:016x}", joint.pattern->count(), joint.pattern->digest())
                      : "");
  const auto list = [&](const char* word, const std::vector<VariableId>& variables) {
    if (!variables.empty()) out += fmt::format("  guide {}({});\n", word, names(m, variables));
  };
  list("point", m.guide.point);
  list("independent", m.guide.independent);
  list("order", m.guide.order);
  if (m.guide.factorised) out += "  guide factorised;\n";
  return out;
}

}  // namespace
}  // namespace model

std::string print(const model::Model& m, model::ExprId expr) { return model::render(m, expr).text; }

std::string print(const model::Model& m, const model::Index& index) {
  if (const auto* constant = std::get_if<model::Index::Constant>(&index.form))
    return fmt::format("{}", constant->value + m[index.set].from);
  if (const auto* lookup = std::get_if<model::Index::Lookup>(&index.form)) return print(m, lookup->category);
  const auto& shifted = std::get<model::Index::Shifted>(index.form);
  if (shifted.offset == 0) return m[shifted.bound].name;
  return fmt::format("{}{}{}", m[shifted.bound].name, shifted.offset < 0 ? "-" : "+", std::abs(shifted.offset));
}

std::string place_of(const model::Model& m, Span span) {
  if (!m.source) return "";
  const Position p = position_of(*m.source, span.begin);
  return fmt::format("{}:{}:{}", m.source->name, p.line, p.column);
}

std::string print(const model::Model& m) {
  std::string out = "model " + m.name + " {\n";
  for (const model::Constant& c : m.constants) {
    out += "  const " + c.name + (c.value ? " = " + print(m, *c.value) : "") + ";\n";
  }
  for (std::size_t i = 0; i < m.plates.size(); ++i)
    out += "  " + model::print_plate(m, i) + "\n";
  for (const model::Given& g : m.givens) {
    out += fmt::format("  {} {}{} : {};\n", g.constant ? "const" : "data", g.name, bracketed(model::names(m, g.axes)),
                       model::print_type(m, g));
  }
  for (const model::Statement& s : m.statements)
    out += "  " + model::print_statement(m, s) + "\n";
  for (const model::Potential& p : m.potentials) {
    out += fmt::format("  potential{} {};\n", bracketed(model::names(m, p.index_vars)), print(m, p.value));
  }
  return out + model::print_guide(m) + "}\n";
}

}  // namespace lehr
