// Prints the Ast by one function for declarations and one for expressions. Each line has the position at which its node
// begins.
#include "compiler/ast/print_ast.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/support/overloaded.h"
#include "compiler/support/printing.h"

namespace lehr {
namespace {

using namespace ast;

/// Returns the word of the language for a kind of guide.
std::string_view word(GuideKind kind) {
  switch (kind) {
    case GuideKind::joint:
      return "joint";
    case GuideKind::point:
      return "point";
    case GuideKind::independent:
      return "independent";
    case GuideKind::order:
      return "order";
    case GuideKind::factorised:
      return "factorised";
  }
  return "?";
}

std::string list(const std::vector<Name>& names) { return listed(names, &Name::text); }
std::string indices(const std::vector<Name>& axes) { return bracketed(list(axes)); }

/// Collects the lines of the printed tree in `out_`.
class Printer {
 public:
  Printer(const Ast& ast, const Source& source) : ast_(ast) {
    for (std::size_t i = 0; i < source.text.size(); ++i) {
      if (source.text[i] == '\n') line_starts_.push_back(i + 1);
    }
    text_ = source.text;
  }

  std::string print() {
    line(0, "model " + ast_.model.text, ast_.model.span);
    for (const Decl& d : ast_.decls)
      declaration(d);
    return std::move(out_);
  }

 private:
  /// Returns "line:column" of the beginning of a span. The starts of all lines are stored, because position_of() walks
  /// from the start of the file for each call.
  std::string position(Span span) const {
    const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), span.begin);
    const std::size_t start = *std::prev(after);
    const Source line{"", std::string(text_.substr(start, span.begin - start))};
    return fmt::format("{}:{}", after - line_starts_.begin(),
                       position_of(line, static_cast<std::uint32_t>(line.text.size())).column);
  }

  /// Adds a line for a node at this depth of the tree.
  void line(int depth, const std::string& text, Span span) {
    out_ += fmt::format("{:{}}{} @{}\n", "", 2 * depth, text, position(span));
  }

  void declaration(const Decl& d) {
    const auto head = [&](const std::string& text) { line(1, text, d.span); };
    std::visit(Overloaded{
                   [&](const ConstDecl& n) {
                     head(fmt::format("const {}{}", n.name.text, indices(n.axes)));
                     if (n.value) expression(2, *n.value);
                   },
                   [&](const PlateDecl& n) {
                     std::string text = "plate " + n.name.text;
                     if (n.parent) text += " in " + n.parent->text;
                     if (n.ordered) text += " ordered";
                     if (n.times) text += " times " + n.times->text;
                     if (n.from) text += " from";
                     head(text);
                     if (n.size) expression(2, *n.size);
                     if (n.from) expression(2, *n.from);
                   },
                   [&](const DataDecl& n) {
                     const std::string over = n.type.over.empty() ? "" : " over " + list(n.type.over);
                     head(fmt::format("data {}{} : {}{}", n.name.text, indices(n.axes), n.type.name.text, over));
                   },
                   [&](const LetDecl& n) {
                     head(fmt::format("let {}{}", n.name.text, indices(n.axes)));
                     expression(2, n.value);
                   },
                   [&](const Tilde& n) {
                     head(fmt::format("{} {}{}{}", n.observed ? "observe" : "draw", n.name.text, indices(n.axes),
                                      n.over.empty() ? "" : " over " + list(n.over)));
                     if (n.weights) expression(2, *n.weights, "weights ");
                     expression(2, n.distribution);
                     for (const ExprId other : n.others)
                       expression(2, other, "or ");
                     if (n.start) expression(2, *n.start, "start ");
                     const std::string censored = n.censored ? "censored " : "";
                     if (n.above) expression(2, *n.above, censored + "above ");
                     if (n.below) expression(2, *n.below, censored + "below ");
                   },
                   [&](const Potential& n) {
                     head("potential " + indices(n.axes));
                     expression(2, n.value);
                   },
                   [&](const Guide& n) {
                     head(n.names.empty() ? fmt::format("guide {}", word(n.kind))
                                          : fmt::format("guide {}({})", word(n.kind), list(n.names)));
                   },
               },
               d.node);
  }

  /// Adds the lines of an expression and of all below it. `label` precedes the first, such as "index ".
  void expression(int depth, ExprId id, const std::string& label = "") {
    const Span span = ast_[id].span;
    const auto head = [&](const std::string& text) { line(depth, label + text, span); };
    std::visit(Overloaded{
                   [&](const Number& n) { head("number " + n.spelling); },
                   [&](const Reference& n) {
                     head("name " + n.name.text);
                     for (ExprId index : n.indices)
                       expression(depth + 1, index, "index ");
                   },
                   [&](const Negate& n) {
                     head("negate");
                     expression(depth + 1, n.operand);
                   },
                   [&](const Binary& n) {
                     head(fmt::format("binary {}", symbol_of(n.op)));
                     expression(depth + 1, n.left);
                     expression(depth + 1, n.right);
                   },
                   [&](const Call& n) {
                     head("call " + n.function.text);
                     for (const Argument& a : n.arguments) {
                       expression(depth + 1, a.value, a.name ? a.name->text + " = " : "");
                     }
                   },
                   [&](const Sum& n) {
                     head("sum over " + list(n.plates));
                     expression(depth + 1, n.body);
                   },
                   [&](const Parenthesised& n) {
                     head("parentheses");
                     expression(depth + 1, n.inner);
                   },
               },
               ast_[id].node);
  }

  const Ast& ast_;                           // what is printed
  std::string_view text_;                    // the model file
  std::vector<std::size_t> line_starts_{0};  // byte offset of each line
  std::string out_;                          // the lines so far
};

}  // namespace

std::string print(const Ast& ast, const Source& source) { return Printer(ast, source).print(); }

}  // namespace lehr
