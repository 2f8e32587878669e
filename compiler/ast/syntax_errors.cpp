// Implements panic-mode recovery by declarations. Generated code throws at an error, and every rule catches and calls
// recover(). That throws again until the rule is a declaration, the header or the file. There it skips to the next
// declaration.
//
// A forgotten `;` is common, and is repaired without skipping: the message is reported and the parser goes on as if it
// were there.
#include "compiler/ast/syntax_errors.h"

#include "compiler/ast/syntax_message.h"

namespace lehr {
namespace {

using antlr4::Parser;
using grammar::LehrParser;

bool at_end(Parser& parser) { return parser.getCurrentToken()->getType() == antlr4::Token::EOF; }

/// Returns the index of the rule that the parser is in.
std::size_t rule(Parser& parser) { return parser.getContext()->getRuleIndex(); }

/// Returns true if the current token is a word like `data` that stands behind another token on its line. It is then a
/// misused name and does not begin a declaration.
bool follows_on_line(Parser& parser) {
  const antlr4::Token* previous = parser.getTokenStream()->LT(-1);
  const antlr4::Token* current = parser.getCurrentToken();
  return begins_declaration(current->getType()) && previous && previous->getLine() == current->getLine();
}

/// Skips to behind the next `;`, or to a token that begins a declaration or closes the model.
void skip_declaration(Parser& parser) {
  while (!at_end(parser)) {
    const std::size_t type = parser.getCurrentToken()->getType();
    if (begins_declaration(type) || type == LehrParser::RightBrace) return;
    parser.consume();
    if (type == LehrParser::Semicolon) return;
  }
}

/// Skips behind the next `{`. Stops before a token that begins a declaration, a `;` or a `}`.
void skip_header(Parser& parser) {
  while (!at_end(parser)) {
    const std::size_t type = parser.getCurrentToken()->getType();
    if (begins_declaration(type) || type == LehrParser::Semicolon || type == LehrParser::RightBrace) return;
    parser.consume();
    if (type == LehrParser::LeftBrace) return;
  }
}

/// Returns true if only a `;` is missing before the current token. The token then begins a declaration: by its word; or
/// as the first on its line, indented no further than the declaration before; or by a `~` or `[` behind it.
bool semicolon_was_forgotten(Parser& parser) {
  if (!parser.getExpectedTokens().contains(static_cast<std::size_t>(LehrParser::Semicolon))) return false;
  antlr4::Token* next = parser.getCurrentToken();
  const std::size_t type = next->getType();
  if (begins_declaration(type) || type == LehrParser::RightBrace || type == antlr4::Token::EOF) return true;
  const antlr4::Token* previous = parser.getTokenStream()->LT(-1);
  if (!is_name(type) || !previous || previous->getLine() == next->getLine()) return false;
  if (next->getCharPositionInLine() <= parser.getContext()->start->getCharPositionInLine()) return true;
  const std::size_t after = parser.getTokenStream()->LA(2);
  return after == LehrParser::Tilde || after == LehrParser::LeftBracket;
}

}  // namespace

antlr4::Token* ErrorStrategy::recoverInline(Parser* parser) {
  report(*parser);
  if (semicolon_was_forgotten(*parser)) {
    reported_ = false;
    return parser->getCurrentToken();
  }
  throw antlr4::InputMismatchException(parser);
}

void ErrorStrategy::recover(Parser* parser, std::exception_ptr error) {
  switch (rule(*parser)) {
    case LehrParser::RuleDeclaration:
      if (follows_on_line(*parser)) parser->consume();
      skip_declaration(*parser);
      break;
    case LehrParser::RuleHeader:
      header_failed_ = true;
      skip_header(*parser);
      break;
    case LehrParser::RuleFile:
      break;
    default:
      std::rethrow_exception(error);
  }
  reported_ = false;
}

void ErrorStrategy::sync(Parser* parser) {
  if (rule(*parser) != LehrParser::RuleFile) return;
  while (true) {
    const std::size_t type = parser->getCurrentToken()->getType();
    if (begins_declaration(type) || is_name(type) || type == LehrParser::RightBrace || type == antlr4::Token::EOF)
      return;
    report(*parser);
    reported_ = false;
    parser->consume();
    if (type != LehrParser::Semicolon) skip_declaration(*parser);
  }
}

void ErrorStrategy::report(Parser& parser) {
  if (reported_) return;
  reported_ = true;
  if (parser.getCurrentToken()->getTokenIndex() >= end_) return;
  if (header_failed_ && rule(parser) == LehrParser::RuleFile) return;
  diagnostics_.add(syntax_message(parser, text_));
}

void ErrorStrategy::report_too_deep(Parser& parser, const std::string& text) {
  if (reported_) return;
  reported_ = true;
  const antlr4::Token* token = parser.getCurrentToken();
  diagnostics_.add(DiagnosticKind::too_deep, text_.span(token->getStartIndex(), token->getStopIndex() + 1), text);
}

}  // namespace lehr
