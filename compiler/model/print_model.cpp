// Text of the Model rung, in the language's own notation as far as it has one.
#include "compiler/model/print_model.h"

#include <fmt/format.h>

#include <type_traits>

namespace lehr {
namespace model {
namespace {

constexpr int kSum = 1, kProduct = 2, kUnary = 3, kPrimary = 4;  // binding strength of operators

struct Printed {
  std::string text;
  int strength;
};

Printed render(const Model& m, ExprId id);

std::string within(const Model& m, ExprId id, int needed) {
  const Printed p = render(m, id);
  return p.strength >= needed ? p.text : "(" + p.text + ")";
}

std::string names(const Model& m, const std::vector<PlateId>& plates) {
  std::string out;
  for (const PlateId p : plates)
    out += (out.empty() ? "" : ", ") + m[p].name;
  return out;
}

std::string names(const Model& m, const std::vector<BoundId>& bounds) {
  std::string out;
  for (const BoundId b : bounds)
    out += (out.empty() ? "" : ", ") + m[b].name;
  return out;
}

std::string bracketed(const std::string& list) { return list.empty() ? "" : "[" + list + "]"; }

std::string indexed(const Model& m, const std::string& name, const std::vector<Index>& indices) {
  std::string out;
  for (const Index& i : indices)
    out += (out.empty() ? "" : ", ") + lehr::print(m, i);
  return name + bracketed(out);
}

const char* name_of(Function f) {
  switch (f) {
    case Function::log:
      return "log";
    case Function::exp:
      return "exp";
    case Function::sqrt:
      return "sqrt";
    case Function::logistic:
      return "logistic";
  }
  return "?";
}

Printed render(const Model& m, const Binary& b) {
  switch (b.op) {
    case BinaryOp::add:
      return {within(m, b.left, kSum) + " + " + within(m, b.right, kProduct), kSum};
    case BinaryOp::subtract:
      return {within(m, b.left, kSum) + " - " + within(m, b.right, kProduct), kSum};
    case BinaryOp::multiply:
      return {within(m, b.left, kProduct) + " * " + within(m, b.right, kUnary), kProduct};
    case BinaryOp::divide:
      return {within(m, b.left, kProduct) + " / " + within(m, b.right, kUnary), kProduct};
  }
  return {"?", kPrimary};
}

Printed render(const Model& m, ExprId id) {
  return std::visit(
      [&](const auto& node) -> Printed {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, Number>) {
          return {fmt::format("{:.6g}", node.value), kPrimary};
        } else if constexpr (std::is_same_v<T, ConstantRef>) {
          return {m[node.constant].name, kPrimary};
        } else if constexpr (std::is_same_v<T, GivenRef>) {
          return {indexed(m, m[node.given].name, node.indices), kPrimary};
        } else if constexpr (std::is_same_v<T, VariableRef>) {
          return {indexed(m, m[node.variable].name, node.indices), kPrimary};
        } else if constexpr (std::is_same_v<T, SizeOf>) {
          return {fmt::format("size({})", m[node.plate].name), kPrimary};
        } else if constexpr (std::is_same_v<T, Negate>) {
          return {fmt::format("-{}", within(m, node.operand, kPrimary)), kUnary};
        } else if constexpr (std::is_same_v<T, Binary>) {
          return render(m, node);
        } else if constexpr (std::is_same_v<T, MatrixVector>) {
          return {within(m, node.matrix, kProduct) + " * " + within(m, node.vector, kUnary), kProduct};
        } else if constexpr (std::is_same_v<T, Dot>) {
          return {fmt::format("dot({}, {})", render(m, node.left).text, render(m, node.right).text), kPrimary};
        } else if constexpr (std::is_same_v<T, SumOver>) {
          return {fmt::format("sum({}) {}", names(m, node.bounds), within(m, node.body, kProduct)), kSum};
        } else if constexpr (std::is_same_v<T, Diag>) {
          return {fmt::format("diag({})", render(m, node.vector).text), kPrimary};
        } else if constexpr (std::is_same_v<T, Component>) {
          return {fmt::format("{}[{}]", within(m, node.vector, kPrimary), m[node.at].name), kPrimary};
        } else if constexpr (std::is_same_v<T, StickBreaking>) {
          return {fmt::format("stick_breaking({})", render(m, node.fractions).text), kPrimary};
        } else {
          static_assert(std::is_same_v<T, Apply>);
          return {fmt::format("{}({})", name_of(node.function), render(m, node.argument).text), kPrimary};
        }
      },
      m[id].node);
}

std::string print_plate(const Model& m, std::size_t i) {
  const Plate& p = m.plates[i];
  std::string out = "plate " + p.name;
  if (p.set != PlateId(i)) return fmt::format("{} = {};", out, m[p.set].name);
  if (p.parent) out += " in " + m[*p.parent].name;
  if (p.ordered) out += " ordered";
  if (p.size) out += " = " + lehr::print(m, *p.size);
  if (p.times) out += " times " + m[*p.times].name;
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
  std::string out;
  for (const Parameter& p : d.parameters) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", p.spelling->name, lehr::print(m, p.value));
  }
  return fmt::format("{}({})", d.family->name, out);
}

std::string print_statement(const Model& m, const Statement& s) {
  const Variable& v = m[s.variable];
  std::string out = v.observed ? "observe " : "";
  out += v.name + bracketed(names(m, s.bounds)) + " ~ " + print_distribution(m, s.main);
  if (s.start) out += " start " + print_distribution(m, *s.start);
  if (!v.event.empty()) out += " over " + m[v.event.front()].name;
  if (v.value_plate) out += " over " + m[*v.value_plate].name;
  return fmt::format("{};  // {}", out, math::name_of(v.support));
}

std::string print_names(const Model& m, const std::vector<VariableId>& variables) {
  std::string out;
  for (const VariableId v : variables)
    out += (out.empty() ? "" : ", ") + m[v].name;
  return out;
}

std::string print_guide(const Model& m) {
  std::string out;
  for (const auto& block : m.guide.joint)
    out += fmt::format("  guide joint({});\n", print_names(m, block));
  const auto list = [&](const char* word, const std::vector<VariableId>& variables) {
    if (!variables.empty()) out += fmt::format("  guide {}({});\n", word, print_names(m, variables));
  };
  list("point", m.guide.point);
  list("independent", m.guide.independent);
  list("order", m.guide.order);
  return out;
}

}  // namespace
}  // namespace model

std::string print(const model::Model& m, model::ExprId expr) { return model::render(m, expr).text; }

std::string print(const model::Model& m, const model::Index& index) {
  if (const auto* constant = std::get_if<model::Index::Constant>(&index.form))
    return fmt::format("{}", constant->value);
  if (const auto* lookup = std::get_if<model::Index::Lookup>(&index.form)) return print(m, lookup->category);
  const auto& shifted = std::get<model::Index::Shifted>(index.form);
  if (shifted.offset == 0) return m[shifted.bound].name;
  return fmt::format("{}{}{}", m[shifted.bound].name, shifted.offset < 0 ? "-" : "+", std::abs(shifted.offset));
}

std::string print(const model::Model& m) {
  std::string out = "model " + m.name + " {\n";
  for (const model::Constant& c : m.constants) {
    out += "  const " + c.name + (c.value ? " = " + print(m, *c.value) : "") + ";\n";
  }
  for (std::size_t i = 0; i < m.plates.size(); ++i)
    out += "  " + model::print_plate(m, i) + "\n";
  for (const model::Given& g : m.givens) {
    out += fmt::format("  {} {}{} : {};\n", g.constant ? "const" : "data", g.name,
                       model::bracketed(model::names(m, g.axes)), model::print_type(m, g));
  }
  for (const model::Statement& s : m.statements)
    out += "  " + model::print_statement(m, s) + "\n";
  for (const model::Potential& p : m.potentials) {
    out += fmt::format("  potential{} {};\n", model::bracketed(model::names(m, p.bounds)), print(m, p.value));
  }
  return out + model::print_guide(m) + "}\n";
}

}  // namespace lehr
