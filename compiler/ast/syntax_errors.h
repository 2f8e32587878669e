// What happens at a token that the grammar does not accept: one error in the user's words, then the parse
// goes on behind the declaration it stands in. A declaration yields at most one error.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  /// Errors at the token with index `end` or later are not reported: what follows an unclosed comment.
  ErrorStrategy(const Text& text, Diagnostics& diagnostics, std::size_t end)
      : text_(text), diagnostics_(diagnostics), end_(end) {}

  void reset(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  void sync(antlr4::Parser* parser) override;
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { report(*parser); }

  /// Reports `text` at the current token in place of what the grammar would say.
  void report_too_deep(antlr4::Parser& parser, const std::string& text);

 private:
  void report(antlr4::Parser& parser);

  const Text& text_;
  Diagnostics& diagnostics_;
  std::size_t end_;
  bool reported_ = false;  // the error being unwound
  bool headless_ = false;  // without a header nothing is said about the braces
};

}  // namespace lehr
