// Parses in the steps bytes, code points, tokens, parse tree, Ast. Both recursion of the generated parser and the
// number of errors are bounded, so that hostile input ends in a message.
#include "compiler/ast/parse.h"

#include "compiler/ast/build_ast.h"
#include "compiler/ast/syntax_errors.h"
#include "grammar/LehrLexer.h"

namespace lehr {
namespace {

using grammar::LehrLexer;
using grammar::LehrParser;

/// The most expressions that may contain each other. The generated parser recurses for each, so the limit protects the
/// stack.
constexpr int kMaxNesting = 200;

/// The generated parser with a limit on its recursion. Errors go to the ErrorStrategy only, not to stderr.
class BoundedParser final : public LehrParser {
 public:
  BoundedParser(antlr4::TokenStream* tokens, std::shared_ptr<ErrorStrategy> errors)
      : LehrParser(tokens), errors_(std::move(errors)) {
    removeErrorListeners();
    setErrorHandler(errors_);
  }

  /// Called by the generated code at the start of each rule. Reports and leaves an expression that is nested too
  /// deeply.
  void enterRule(antlr4::ParserRuleContext* context, size_t state, size_t rule) override {
    if (rule == RuleExpression && nesting() >= kMaxNesting) {
      errors_->report_too_deep(*this, fmt::format("expressions are nested more than {} deep", kMaxNesting));
      throw antlr4::InputMismatchException(this);
    }
    LehrParser::enterRule(context, state, rule);
  }

 private:
  /// Returns the number of expressions around the current token.
  int nesting() {
    int depth = 0;
    for (antlr4::tree::ParseTree* c = getContext(); c; c = c->parent) {
      depth += static_cast<antlr4::RuleContext*>(c)->getRuleIndex() == RuleExpression;
    }
    return depth;
  }

  std::shared_ptr<ErrorStrategy> errors_;
};

/// Returns the index of the first `/*` that is never closed, or the number of tokens if there is none.
std::size_t first_open_comment(const std::vector<antlr4::Token*>& tokens) {
  for (const antlr4::Token* token : tokens) {
    if (token->getType() == LehrLexer::OpenComment) return token->getTokenIndex();
  }
  return tokens.size();
}

}  // namespace

std::optional<ast::Ast> parse(const Source& source, Diagnostics& diagnostics) {
  const std::optional<Text> text = decode(source, diagnostics);
  if (!text) return std::nullopt;

  antlr4::ANTLRInputStream input(text->utf8);
  LehrLexer lexer(&input);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream stream(&lexer);
  stream.fill();
  const std::vector<antlr4::Token*> tokens = stream.getTokens();

  const std::size_t before = diagnostics.all().size();
  const std::size_t end = first_open_comment(tokens);
  if (end < tokens.size()) {
    const std::size_t at = tokens[end]->getStartIndex();
    diagnostics.add(DiagnosticKind::syntax, text->span(at, at + 2), "this comment is not closed: '*/' is missing");
  }
  BoundedParser parser(&stream, std::make_shared<ErrorStrategy>(*text, diagnostics, end));
  // Without errors, no diagnostic has been added since `before`.
  LehrParser::FileContext* file = parser.file();
  if (diagnostics.all().size() > before) return std::nullopt;

  ast::Ast ast = build_ast(*file, *text, diagnostics);
  if (diagnostics.all().size() > before) return std::nullopt;
  return ast;
}

}  // namespace lehr
