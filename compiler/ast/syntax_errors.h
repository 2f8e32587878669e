// Replaces ANTLR's error handling. At a token that the grammar does not accept, it reports one error in words of the
// language. Parsing then goes on behind the current declaration, so each declaration yields at most one error.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// The error strategy of ANTLR's generated parser for model files: it decides which syntax errors are reported and
/// where parsing continues. At most one error is reported in each declaration. The generated code calls the overridden
/// functions.
class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  /// Makes a strategy that reports to `diagnostics`. Errors at the token with index `end` or later are not reported:
  /// they follow a comment that is never closed. `text` and `diagnostics` must outlive it.
  ErrorStrategy(const Text& text, Diagnostics& diagnostics, std::size_t end)
      : text_(text), diagnostics_(diagnostics), end_(end) {}

  /// Does nothing: each parse has a new strategy, so there is no state to clear.
  void reset(antlr4::Parser*) override {}
  /// Called where the current token is not the one that a rule demands: reports a syntax error. If only a `;` was
  /// forgotten, returns the current token, and parsing goes on as if the `;` were there; else throws
  /// InputMismatchException to leave the rule.
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  /// Called by generated code when a rule of the grammar has failed with `error`. In the rule of a declaration or of
  /// the header, skips the tokens up to the next declaration, where parsing goes on. In a rule inside these two, throws
  /// `error` again, to leave it; in the rule of the whole file, does nothing.
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  /// Called by generated code before each step of a rule. Between declarations, reports and skips tokens that cannot
  /// begin one; inside other rules, does nothing.
  void sync(antlr4::Parser* parser) override;
  /// Returns false: for ANTLR the parser never recovers from an error. This class itself remembers whether the error of
  /// a declaration has been reported already.
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  /// Does nothing: a token that matches changes no state.
  void reportMatch(antlr4::Parser*) override {}
  /// Called by generated code when a rule of the grammar has failed: adds a message about the parser's current token to
  /// the diagnostics, unless an error in this declaration has been reported already.
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { report(*parser); }

  /// Reports `text`, which says that expressions are nested too deeply, as an error at the current token. The parser
  /// calls it before it throws to leave the declaration, so that no second error is reported for it.
  void report_too_deep(antlr4::Parser& parser, const std::string& text);

 private:
  /// Reports a syntax error at the current token. Does nothing if one has been reported in this declaration, if the
  /// token is number `end_` or later, or outside of declarations if the header of the file was wrong.
  void report(antlr4::Parser& parser);

  const Text& text_;            // the decoded model file
  Diagnostics& diagnostics_;    // receives the errors
  std::size_t end_;             // index of the first token whose errors are not reported
  bool reported_ = false;       // an error has been reported whose declaration has not been left yet: no more are
  bool header_failed_ = false;  // the header was wrong: errors about the braces of the file are not reported
};

}  // namespace lehr
