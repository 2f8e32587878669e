// Replaces ANTLR's error handling. At a token that the grammar does not accept, it reports one error in words of the
// language. Parsing then goes on behind the current declaration, so each declaration yields at most one error.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// The error strategy of the generated parser: it decides what to report and where to continue. The overridden
/// functions are called by the generated code.
class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  /// Makes a strategy that reports to `diagnostics`. Errors at the token with index `end` or later are not reported:
  /// they follow a comment that is never closed. `text` and `diagnostics` must outlive it.
  ErrorStrategy(const Text& text, Diagnostics& diagnostics, std::size_t end)
      : text_(text), diagnostics_(diagnostics), end_(end) {}

  /// Does nothing: each parse has a strategy of its own.
  void reset(antlr4::Parser*) override {}
  /// Reports the current token, which is not the one that a rule demands. Returns it if only a `;` was forgotten, else
  /// throws InputMismatchException to leave the rule.
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  /// Skips to the next declaration if `error` left a declaration or the header; in a rule inside them, throws `error`
  /// again.
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  /// Called before each declaration: reports and skips tokens that cannot begin one.
  void sync(antlr4::Parser* parser) override;
  /// Returns false: after recover() the next error is reported again.
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  /// Does nothing: a token that matches changes no state.
  void reportMatch(antlr4::Parser*) override {}
  /// Reports the error at the parser's current token, if none has been reported in this declaration.
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { report(*parser); }

  /// Reports `text` as an error at the current token, in place of a message about the grammar. Called before an
  /// exception that leaves the declaration.
  void report_too_deep(antlr4::Parser& parser, const std::string& text);

 private:
  /// Reports a syntax error at the current token, unless one is being recovered from or the token is behind `end_`.
  void report(antlr4::Parser& parser);

  const Text& text_;            // the decoded model file
  Diagnostics& diagnostics_;    // receives the errors
  std::size_t end_;             // index of the first token whose errors are not reported
  bool reported_ = false;       // an error has been reported, and recover() has not finished yet
  bool header_failed_ = false;  // the header was wrong: errors about the braces of the file are not reported
};

}  // namespace lehr
