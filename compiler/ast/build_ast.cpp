// Makes the Ast by one function for each rule of the grammar (grammar/Lehr.g4). Children are added before their
// parents. Chains of operators are folded in loops, so `a + b + ...` of any length does not recurse here. The height of
// every expression is bounded by kMaxHeight, so that later stages may recurse over it.
#include "compiler/ast/build_ast.h"

#include <algorithm>
#include <charconv>

namespace lehr {
namespace {

using grammar::LehrParser;
using namespace ast;

/// The most nodes on a path from an expression to a leaf below it.
constexpr int kMaxHeight = 1000;

/// Walks the parse tree and collects nodes in `ast_`.
class Builder {
 public:
  Builder(const Text& text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  /// Makes the Ast of the whole file; called once.
  Ast build(LehrParser::FileContext& file) {
    ast_.model = name(file.header()->name());
    for (LehrParser::DeclarationContext* d : file.declaration()) {
      ast_.decls.push_back({span(d), declaration(*d)});
    }
    return std::move(ast_);
  }

 private:
  /// These return the bytes of the model file that a range of tokens, a rule, a leaf or an expression covers.
  Span span(const antlr4::Token* first, const antlr4::Token* last) const {
    return text_.span(first->getStartIndex(), last->getStopIndex() + 1);
  }
  Span span(const antlr4::ParserRuleContext* rule) const { return span(rule->start, rule->stop); }
  Span span(antlr4::tree::TerminalNode* leaf) const { return span(leaf->getSymbol(), leaf->getSymbol()); }
  Span span(ExprId id) const { return ast_[id].span; }

  void syntax_error(Span where, const std::string& message) {
    diagnostics_.add(DiagnosticKind::syntax, where, message);
  }

  decltype(Decl::node) declaration(LehrParser::DeclarationContext& d) {
    if (auto* r = d.constant()) {
      std::optional<ExprId> value;
      if (r->expression()) value = expression(r->expression());
      return ConstDecl{name(r->name()), axes(r->axes()), value};
    }
    if (auto* r = d.plate()) return plate(*r);
    if (auto* r = d.dataset()) return DataDecl{name(r->name()), axes(r->axes()), type(*r->type())};
    if (auto* r = d.definition()) return LetDecl{name(r->name()), axes(r->axes()), expression(r->expression())};
    if (auto* r = d.statement()) return statement(*r);
    if (auto* r = d.potential()) return Potential{axes(r->axes()), expression(r->expression())};
    return guide(*d.guide());
  }

  PlateDecl plate(LehrParser::PlateContext& rule) {
    PlateDecl plate;
    plate.name = name(rule.name());
    for (LehrParser::PlateClauseContext* clause : rule.plateClause()) {
      const auto once = [&](bool given) {
        if (given) syntax_error(span(clause), fmt::format("'{}' is given twice", clause->start->getText()));
      };
      if (clause->In()) {
        once(plate.parent.has_value());
        plate.parent = name(clause->name());
      } else if (clause->Ordered()) {
        once(plate.ordered);
        plate.ordered = true;
      } else if (clause->Times()) {
        once(plate.times.has_value());
        plate.times = name(clause->name());
      } else if (clause->From()) {
        once(plate.from.has_value());
        plate.from = number(clause->Number());
      } else {
        once(plate.size.has_value());
        plate.size = expression(clause->expression());
      }
    }
    return plate;
  }

  TypeSpec type(LehrParser::TypeContext& rule) {
    return {name(rule.name()), rule.names() ? names(*rule.names()) : std::vector<Name>{}, span(&rule)};
  }

  Tilde statement(LehrParser::StatementContext& rule) {
    Tilde tilde;
    tilde.observed = rule.Observe() != nullptr;
    tilde.name = name(rule.name());
    tilde.axes = axes(rule.axes());
    tilde.distribution = distribution(*rule.distribution());
    split_mixture(tilde);
    for (LehrParser::StatementClauseContext* clause : rule.statementClause()) {
      LehrParser::LimitContext* limit = clause->limit();
      // The clauses are `above` and `below` (limits), `start`, and `over`: `end` is the limit that this one sets.
      std::optional<ExprId>* end = !limit ? nullptr : limit->Above() ? &tilde.above : &tilde.below;
      const bool given = limit ? end->has_value() : clause->Start() ? tilde.start.has_value() : !tilde.over.empty();
      const std::string word = limit ? limit->start->getText() : clause->start->getText();
      if (given) syntax_error(span(clause), fmt::format("'{}' is given twice", word));
      if (limit) {
        *end = expression(limit->expression());
        tilde.censored = tilde.censored || clause->Censored();
      } else if (clause->Start()) {
        tilde.start = distribution(*clause->distribution());
      } else {
        tilde.over = names(*clause->names());
      }
    }
    return tilde;
  }

  /// Replaces a call of `mixture` or `zero_inflated` in tilde.distribution by the parts of the mixture. A call
  /// mixture(p, D, E, F) becomes the weights p and the distributions D, E, F. A call zero_inflated(p, D) becomes
  /// mixture(p, Zero(), D). Any other call is left as it is. Reports a wrong number of arguments, or named ones.
  void split_mixture(Tilde& tilde) {
    const Span where = span(tilde.distribution);
    const auto* typed = std::get_if<Call>(&ast_[tilde.distribution].node);
    if (!typed) return;
    // A copy: `add` below may move the nodes.
    const Call call = *typed;
    const bool zero = call.function.text == "zero_inflated";
    if (!zero && call.function.text != "mixture") return;
    const std::size_t parts = call.arguments.size();
    const bool named = std::ranges::any_of(call.arguments, [](const Argument& a) { return a.name.has_value(); });
    if (named || parts < 2 || (zero ? parts > 2 : parts < 3)) {
      return syntax_error(
          where, zero ? "zero_inflated takes a probability and a distribution: zero_inflated(p, Poisson(r))"
                      : "mixture takes weights and two distributions or more: mixture(p, Poisson(a), Poisson(b))");
    }
    tilde.weights = call.arguments[0].value;
    for (std::size_t k = 1; k < parts; ++k)
      tilde.others.push_back(call.arguments[k].value);
    if (zero) {
      tilde.distribution = add(call.function.span, Call{{"Zero", call.function.span}, {}});
    } else {
      tilde.distribution = tilde.others.front();
      tilde.others.erase(tilde.others.begin());
    }
  }

  ExprId distribution(LehrParser::DistributionContext& rule) {
    return call(*rule.name(), *rule.arguments(), span(&rule));
  }

  Guide guide(LehrParser::GuideContext& rule) {
    if (rule.Factorised()) return {GuideKind::factorised, {}};
    GuideKind kind = GuideKind::order;
    if (rule.guideKind()->Joint()) kind = GuideKind::joint;
    if (rule.guideKind()->Point()) kind = GuideKind::point;
    if (rule.guideKind()->Independent()) kind = GuideKind::independent;
    return {kind, names(*rule.names())};
  }

  Name name(LehrParser::NameContext* rule) { return {rule->getText(), span(rule)}; }

  std::vector<Name> names(LehrParser::NamesContext& rule) {
    std::vector<Name> out;
    for (LehrParser::NameContext* n : rule.name())
      out.push_back(name(n));
    return out;
  }

  std::vector<Name> axes(LehrParser::AxesContext* rule) { return rule ? names(*rule->names()) : std::vector<Name>{}; }

  /// Adds a node whose height follows from that of its children, and returns its id.
  ExprId add(Span where, decltype(Expr::node) node, std::initializer_list<ExprId> children = {}) {
    int height = 1;
    for (ExprId child : children)
      height = std::max(height, heights_[child.index()] + 1);
    return add(where, std::move(node), height);
  }

  /// Adds a node of this height. The first node that is too high in a declaration is reported; later ones of the same
  /// declaration are not.
  ExprId add(Span where, decltype(Expr::node) node, int height) {
    if (height == kMaxHeight + 1 && ast_.decls.size() >= too_high_) {
      too_high_ = ast_.decls.size() + 1;
      diagnostics_.add(DiagnosticKind::too_deep, where,
                       fmt::format("this expression has more than {} operations in a row", kMaxHeight));
    }
    ast_.exprs.push_back({where, std::move(node)});
    heights_.push_back(height);
    return ExprId(ast_.exprs.size() - 1);
  }

  ExprId binary(BinaryOp op, ExprId left, ExprId right) {
    return add(cover(span(left), span(right)), Binary{op, left, right}, {left, right});
  }

  ExprId expression(LehrParser::ExpressionContext* rule) {
    const std::vector<LehrParser::ProductContext*> products = rule->product();
    ExprId result = product(*products[0]);
    for (std::size_t i = 1; i < products.size(); ++i) {
      auto* sign = dynamic_cast<antlr4::tree::TerminalNode*>(rule->children[2 * i - 1]);
      const bool plus = sign->getSymbol()->getType() == LehrParser::Plus;
      result = binary(plus ? BinaryOp::add : BinaryOp::subtract, result, product(*products[i]));
    }
    return result;
  }

  /// Folds `f0 op f1 op ...` from the left. A factor with a `sum` among its prefixes begins a body that reaches to the
  /// end of the product. So the factors between sums are folded from the last sum to the first, and each result is the
  /// last operand of the one before:
  ///
  ///   a * sum(f) b * c / d     is     a * (sum(f) ((b * c) / d))
  ExprId product(LehrParser::ProductContext& rule) {
    const std::vector<LehrParser::FactorContext*> factors = rule.factor();
    const auto op_before = [&](std::size_t i) {
      auto* sign = dynamic_cast<antlr4::tree::TerminalNode*>(rule.children[2 * i - 1]);
      return sign->getSymbol()->getType() == LehrParser::Star ? BinaryOp::multiply : BinaryOp::divide;
    };
    const auto is_sum = [](LehrParser::PrefixContext* p) { return p->Sum() != nullptr; };

    std::size_t end = factors.size();
    std::optional<ExprId> tail;
    // Folds the factors from `begin` to `end` and then the body of the next sum, `tail`. `first` is the factor `begin`.
    const auto chain = [&](ExprId first, std::size_t begin) {
      for (std::size_t i = begin + 1; i < end; ++i)
        first = binary(op_before(i), first, negated(*factors[i], 0));
      return tail ? binary(op_before(end), first, *tail) : first;
    };
    for (std::size_t i = factors.size(); i-- > 0;) {
      const std::vector<LehrParser::PrefixContext*> prefixes = factors[i]->prefix();
      const auto last_sum = std::find_if(prefixes.rbegin(), prefixes.rend(), is_sum);
      if (last_sum == prefixes.rend()) continue;
      // Minus signs behind the last `sum` of this factor belong to its primary: `sum(f) -a * b` negates a alone.
      const auto bound = static_cast<std::size_t>(prefixes.rend() - last_sum);
      ExprId body = chain(negated(*factors[i], bound), i);
      for (std::size_t j = bound; j-- > 0;)
        body = prefixed(*prefixes[j], body);
      tail = body;
      end = i;
    }
    return end == 0 ? *tail : chain(negated(*factors[0], 0), 0);
  }

  ExprId prefixed(LehrParser::PrefixContext& prefix, ExprId operand) {
    const Span where = cover(span(&prefix), span(operand));
    if (prefix.Sum()) return add(where, Sum{names(*prefix.names()), operand}, {operand});
    return add(where, Negate{operand}, {operand});
  }

  /// Returns the primary of a factor under its prefixes from number `first` on, all of which are minus signs.
  ExprId negated(LehrParser::FactorContext& factor, std::size_t first) {
    ExprId result = primary(*factor.primary());
    const std::vector<LehrParser::PrefixContext*> prefixes = factor.prefix();
    for (std::size_t i = prefixes.size(); i-- > first;)
      result = prefixed(*prefixes[i], result);
    return result;
  }

  ExprId primary(LehrParser::PrimaryContext& rule) {
    if (rule.Number()) return number(rule.Number());
    if (rule.expression()) {
      const ExprId inner = expression(rule.expression());
      return add(span(&rule), Parenthesised{inner}, {inner});
    }
    if (rule.arguments()) return call(*rule.name(), *rule.arguments(), span(&rule));
    Reference reference{name(rule.name()), {}};
    int height = 1;
    if (rule.indices()) {
      for (LehrParser::ExpressionContext* index : rule.indices()->expression()) {
        reference.indices.push_back(expression(index));
        height = std::max(height, heights_[reference.indices.back().index()] + 1);
      }
    }
    return add(span(&rule), std::move(reference), height);
  }

  ExprId call(LehrParser::NameContext& function, LehrParser::ArgumentsContext& arguments, Span where) {
    Call call{name(&function), {}};
    int height = 1;
    for (LehrParser::ArgumentContext* a : arguments.argument()) {
      const std::vector<LehrParser::ExpressionContext*> sides = a->expression();
      Argument argument;
      if (sides.size() == 2) argument.name = argument_name(*sides[0]);
      argument.value = expression(sides.back());
      height = std::max(height, heights_[argument.value.index()] + 1);
      call.arguments.push_back(std::move(argument));
    }
    return add(where, std::move(call), height);
  }

  /// Returns the plain name that `rule` consists of. Anything else before '=' is reported, and the name is empty.
  Name argument_name(LehrParser::ExpressionContext& rule) {
    const Span where = span(&rule);
    if (rule.product().size() == 1 && rule.product(0)->factor().size() == 1) {
      LehrParser::FactorContext& factor = *rule.product(0)->factor(0);
      LehrParser::PrimaryContext& primary = *factor.primary();
      if (factor.prefix().empty() && primary.name() && !primary.arguments() && !primary.indices()) {
        return name(primary.name());
      }
    }
    syntax_error(where, "only the name of a parameter can stand before '='");
    return {"", where};
  }

  ExprId number(antlr4::tree::TerminalNode* leaf) {
    Number number{0, leaf->getText()};
    const char* end = number.spelling.data() + number.spelling.size();
    const auto [rest, status] = std::from_chars(number.spelling.data(), end, number.value);
    if (status != std::errc{} || rest != end) {
      syntax_error(span(leaf), fmt::format("the number {} is out of range", shortened(number.spelling)));
    }
    return add(span(leaf), std::move(number));
  }

  static std::string shortened(const std::string& digits) {
    return digits.size() <= 30 ? digits : digits.substr(0, 27) + "...";
  }

  const Text& text_;          // the decoded model file
  Diagnostics& diagnostics_;  // receives the errors
  Ast ast_;                   // the result so far
  std::vector<int> heights_;  // by index in ast_.exprs: nodes on the longest path to a leaf
  /// Declarations with an index below this one have had their error about height.
  std::size_t too_high_ = 0;
};

}  // namespace

Ast build_ast(LehrParser::FileContext& file, const Text& text, Diagnostics& diagnostics) {
  return Builder(text, diagnostics).build(file);
}

}  // namespace lehr
