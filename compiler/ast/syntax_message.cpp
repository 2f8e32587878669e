// Tries messages from the most specific to the most general. First comes a character that no rule of the lexer has,
// then usual slips of people who know other languages. What the enclosing rule demands follows. Last is "expected X,
// found Y".
#include "compiler/ast/syntax_message.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lehr {
namespace {

using grammar::LehrParser;

/// The tokens that begin a declaration.
constexpr std::array kBeginners = {LehrParser::Const,   LehrParser::Plate,     LehrParser::Data, LehrParser::Let,
                                   LehrParser::Observe, LehrParser::Potential, LehrParser::Guide};
/// The words of those tokens, in the same order.
constexpr std::array<std::string_view, 7> kBeginnerWords = {"const",   "plate",     "data", "let",
                                                            "observe", "potential", "guide"};

/// Characters that no rule has, each with the note that helps.
constexpr std::pair<std::string_view, std::string_view> kCures[] = {
    {"^", "there is no power operator: write x * x"},
    {"#", "a comment begins with '//'"},
    {"%", "a comment begins with '//'"},
    {"\"", "a model has no strings"},
    {"'", "a model has no strings"},
    {"\u2212", "write '-'"},
    {"\u2013", "write '-'"},
    {"\u00B7", "write '*'"},
    {"\u00D7", "write '*'"},
    {"\u223C", "write '~'"},
};

/// Returns the first 40 bytes of a text at most, cut between characters.
std::string shortened(const std::string& text) {
  if (text.size() <= 40) return text;
  std::size_t end = 37;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

/// Returns a token in quotes, or words for the end of the file.
std::string quoted(const antlr4::Token* token) {
  return token->getType() == antlr4::Token::EOF ? "the end of the file"
                                                : fmt::format("'{}'", shortened(token->getText()));
}

/// Returns the Levenshtein distance of two words: the fewest letters to change, insert or leave out to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  // `row[j]` is the distance of the first i letters of `a` to the first j of `b`.
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

/// Returns the word that begins a declaration and is similar to `word` (an abbreviation, an extension, or within two
/// letters), or nothing. Words longer than 20 letters have none.
std::string_view similar_beginner(const std::string& word) {
  if (word.size() > 20) return {};
  for (std::string_view beginner : kBeginnerWords) {
    const bool abbreviated = word.size() >= 3 && beginner.starts_with(word);
    const bool extended = beginner.size() >= 4 && std::string_view(word).starts_with(beginner);
    const std::size_t allowed = beginner.size() <= 4 ? 1 : 2;
    if (abbreviated || extended || edit_distance(word, beginner) <= allowed) return beginner;
  }
  return {};
}

/// Words one error. The state of the parser is read once, in the constructor.
class Writer {
 public:
  Writer(antlr4::Parser& parser, const Text& text)
      : parser_(parser),
        text_(text),
        found_(parser.getCurrentToken()),
        previous_(parser.getTokenStream()->LT(-1)),
        type_(found_->getType()),
        context_(parser.getContext()),
        expected_(parser.getExpectedTokens()) {}

  /// Returns the message of the first case that applies.
  Diagnostic write() {
    if (type_ == LehrParser::Other) return foreign_character();
    switch (context_->getRuleIndex()) {
      case LehrParser::RuleFile:
        return in_file();
      case LehrParser::RuleHeader:
        return in_header();
      default:
        break;
    }
    if (const std::size_t rule = enclosing(); rule == LehrParser::RuleHeader) return in_header();
    if (const std::string slip = common_mistake(); !slip.empty()) return here(slip);
    if (expects(LehrParser::LeftParen) && enclosing() == LehrParser::RuleDistribution) return no_distribution();
    if (context_->getRuleIndex() == LehrParser::RuleStatement && expects(LehrParser::Tilde)) return no_tilde();
    if (expects(LehrParser::Semicolon)) return no_semicolon();
    if (expects(LehrParser::RightParen) || expects(LehrParser::RightBracket)) return no_closer();
    if (reserved_word()) return here(quoted(found_) + " is a reserved word and cannot be a name");
    return here(fmt::format("expected {}, found {}", wanted(), quoted(found_)));
  }

 private:
  /// Returns the bytes of a token; the end of the file is an empty span.
  Span span(const antlr4::Token* token) const {
    const std::size_t end = text_.byte_offset.size() - 1;
    if (token->getType() == antlr4::Token::EOF) return text_.span(end, end);
    return text_.span(token->getStartIndex(), token->getStopIndex() + 1);
  }

  /// Makes an error at these bytes.
  static Diagnostic syntax_error(Span at, std::string text) {
    return {Severity::error, std::move(text), {}, DiagnosticKind::syntax, at};
  }
  /// Makes an error at the offending token, or behind the last token if the file ends there.
  Diagnostic here(std::string text) const {
    return syntax_error(type_ == antlr4::Token::EOF ? behind_previous() : span(found_), std::move(text));
  }
  Span behind_previous() const {
    if (!previous_) return span(found_);
    const std::uint32_t end = span(previous_).end;
    return {end, end};
  }

  /// Returns true if this is the only token that the grammar allows here.
  bool expects(std::size_t token_type) const { return expected_.size() == 1 && expected_.contains(token_type); }
  bool new_line() const { return previous_ && previous_->getLine() != found_->getLine(); }
  /// Returns the index of the rule that contains the current one.
  std::size_t enclosing() const {
    auto* parent = dynamic_cast<antlr4::ParserRuleContext*>(context_->parent);
    return parent ? parent->getRuleIndex() : INVALID_INDEX;
  }
  /// Returns true if the token is a reserved word that was meant as a name: it stands on the line of the token before.
  bool reserved_word() const {
    return (begins_declaration(type_) || type_ == LehrParser::Model || type_ == LehrParser::Sum) && !new_line();
  }
  std::size_t previous_type() const { return previous_ ? previous_->getType() : INVALID_INDEX; }
  /// Returns true if no blank separates the offending token from the one before.
  bool adjacent() const { return previous_ && previous_->getStopIndex() + 1 == found_->getStartIndex(); }

  /// Words an error about a character that no rule of the lexer has.
  Diagnostic foreign_character() {
    const std::string character = found_->getText();
    Diagnostic message = here(fmt::format("'{}' has no meaning here", character));
    for (const auto& [foreign, cure] : kCures) {
      if (character == foreign) message.note(std::string(cure));
    }
    const bool arrow = character == "<" && parser_.getTokenStream()->LA(2) == LehrParser::Minus;
    if (arrow) {
      message.note("a random variable is written `x ~ ...`, a deterministic one `let x = ...`");
    } else if (character == "<" || character == ">") {
      message.note(
          "there are no comparisons: which side of a place an item is on is data, `plate half = 2` and `data "
          "side[item, place] : half`, and a choice by it an index, `rate[side[item, c]]` with `c ~ Uniform() over "
          "place`");
    }
    return message;
  }

  /// Returns true if the token is `*` or `+`: the user multiplies or adds distributions, and needs `mixture`.
  bool arithmetic() const { return type_ == LehrParser::Star || type_ == LehrParser::Plus; }
  void add_mixture(Diagnostic& message) const { message.note("p*A + (1-p)*B is written `mixture(p, A, B)`"); }

  /// Words an error in `model NAME {`.
  Diagnostic in_header() {
    if (parser_.getTokenStream()->index() == 0 && type_ == antlr4::Token::EOF) {
      return syntax_error({0, 0}, "the file is empty: a model file is `model NAME { ... }`");
    }
    if (expects(LehrParser::Model)) {
      return here(fmt::format("a model file begins with `model NAME {{`, not with {}", quoted(found_)));
    }
    if (expects(LehrParser::LeftBrace)) {
      return here(fmt::format("expected '{{' after the model's name, found {}", quoted(found_)));
    }
    if (reserved_word()) return here(quoted(found_) + " is a reserved word and cannot be a name");
    return here(fmt::format("expected the model's name after 'model', found {}", quoted(found_)));
  }

  /// Words an error between declarations, or behind the model.
  Diagnostic in_file() {
    if (expects(antlr4::Token::EOF)) {
      const bool model = type_ == LehrParser::Model;
      return here(model ? "a file holds one model" : "nothing may follow the '}' that closes the model");
    }
    if (type_ == antlr4::Token::EOF) {
      Diagnostic message = here("expected '}' to close the model, found the end of the file");
      if (const antlr4::Token* open = opening(LehrParser::LeftBrace)) {
        message.note("it was opened here", span(open));
      }
      return message;
    }
    if (type_ == LehrParser::Semicolon) return here("this ';' ends no declaration");
    if (type_ == LehrParser::Model) return here("a file holds one model");
    Diagnostic message = here(fmt::format("expected a declaration, found {}", quoted(found_)));
    message.note(kDeclarations);
    return message;
  }

  /// Returns the message for a slip that is usual in other languages (`**`, `==`, `x[]`), or an empty string if it is
  /// none.
  std::string common_mistake() const {
    if (type_ == LehrParser::Star && previous_type() == LehrParser::Star && adjacent()) {
      return "there is no power operator: write x * x";
    }
    const bool doubled =
        parser_.getTokenStream()->LA(2) == LehrParser::Equals || (previous_type() == LehrParser::Equals && adjacent());
    if (type_ == LehrParser::Equals && doubled) return "there is no comparison: write one '='";
    if (expects(LehrParser::LeftParen) && previous_type() == LehrParser::Sum) {
      return fmt::format("expected '(' after 'sum', as in `sum(f) a[f] * b[f]`, found {}", quoted(found_));
    }
    if (type_ == LehrParser::RightBracket && previous_type() == LehrParser::LeftBracket) {
      return "expected an index between '[' and ']'; without indices the brackets are left out";
    }
    if (context_->getRuleIndex() == LehrParser::RuleName && enclosing() == LehrParser::RuleDistribution) {
      const bool factor = type_ == LehrParser::Number || type_ == LehrParser::LeftParen;
      return fmt::format("expected a distribution after {}, found {}{}", quoted(previous_), quoted(found_),
                         factor ? "; p*A + (1-p)*B is written `mixture(p, A, B)`" : "");
    }
    const bool in_axes = context_->getRuleIndex() == LehrParser::RuleAxes || inside_rule(LehrParser::RuleAxes);
    if (in_axes && type_ != antlr4::Token::EOF && !is_name(type_) && !begins_declaration(type_) &&
        type_ != LehrParser::Semicolon) {
      return fmt::format("only names of plates stand in the brackets of a declared name, found {}", quoted(found_));
    }
    return "";
  }

  /// Returns true if the current rule, or one around it up to the nearest expression, is `rule`.
  bool inside_rule(std::size_t rule) const {
    for (auto* c = context_; c; c = dynamic_cast<antlr4::ParserRuleContext*>(c->parent)) {
      if (c->getRuleIndex() == rule) return true;
      if (c->getRuleIndex() == LehrParser::RuleExpression) return false;
    }
    return false;
  }

  /// Words an error about a name without arguments where a distribution is expected.
  Diagnostic no_distribution() {
    Diagnostic message =
        syntax_error(span(previous_),
                     fmt::format("expected a distribution such as Normal(mean = 0, sd = 1), but {} has no arguments",
                                 quoted(previous_)));
    if (arithmetic()) add_mixture(message);
    return message;
  }

  /// Words an error about a declaration that begins like a statement and has no `~`: `plat doc;`, `x = 1;`, `x[n] :
  /// real;`.
  Diagnostic no_tilde() {
    const antlr4::Token* first = context_->start;
    const std::string word = first->getText();
    if (first->getType() != LehrParser::Observe) {
      const bool assigned = type_ == LehrParser::Colon && parser_.getTokenStream()->LA(2) == LehrParser::Equals;
      if (type_ == LehrParser::Equals || assigned) {
        Diagnostic message = here("a declaration with '=' begins with 'let' or 'const'");
        message.note(
            fmt::format("`let {0} = ...` is a deterministic name, `const {0} = ...` a constant, "
                        "`{0} ~ ...` a random variable",
                        shortened(word)));
        return message;
      }
      if (type_ == LehrParser::Colon) {
        return here(fmt::format("data are declared with 'data': write `data {} : ...`", shortened(word)));
      }
      const std::string_view similar = similar_beginner(word);
      if (!similar.empty() || (previous_ == first && is_name(type_) && !new_line())) {
        Diagnostic message =
            syntax_error(span(first), fmt::format("'{}' does not begin a declaration", shortened(word)));
        if (similar.empty()) {
          message.note(kDeclarations);
        } else {
          message.text += fmt::format("; did you mean '{}'?", similar);
        }
        return message;
      }
    }
    return here(fmt::format("expected '~' and a distribution, found {}", quoted(found_)));
  }

  /// Words an error about a declaration that does not end where it should. What begins a new line points to a missing
  /// `;`.
  Diagnostic no_semicolon() {
    const bool ended =
        new_line() || begins_declaration(type_) || type_ == LehrParser::RightBrace || type_ == antlr4::Token::EOF;
    if (ended) return syntax_error(behind_previous(), fmt::format("expected ';' after {}", quoted(previous_)));
    Diagnostic message = here(fmt::format("expected {}, found {}", alternatives_to_semicolon(), quoted(found_)));
    if (arithmetic() && context_->getRuleIndex() == LehrParser::RuleStatement) add_mixture(message);
    return message;
  }

  /// Returns the clauses that the current rule allows in place of the `;`, in words.
  std::string alternatives_to_semicolon() const {
    switch (context_->getRuleIndex()) {
      case LehrParser::RuleStatement:
        return "'over', 'start', 'censored', 'above', 'below' or ';'";
      case LehrParser::RulePlate:
        return "'in', 'ordered', 'times', 'from', '=' or ';'";
      case LehrParser::RuleConstant:
        return context_->getRuleContext<LehrParser::ExpressionContext>(0) ? "an operator or ';'" : "'=' or ';'";
      case LehrParser::RuleDefinition:
      case LehrParser::RulePotential:
        return "an operator or ';'";
      default:
        return "';'";
    }
  }

  /// Words an error about a missing `)` or `]`, with a note where the bracket was opened if that is on another line.
  Diagnostic no_closer() {
    const bool paren = expects(LehrParser::RightParen);
    const std::string closer = paren ? "')'" : "']'";
    const bool list = context_->getRuleIndex() != LehrParser::RulePrimary || !paren;
    Diagnostic message = here(fmt::format("expected {}{}, found {}", list ? "',' or " : "", closer, quoted(found_)));
    if (new_line()) message.span = behind_previous();
    const antlr4::Token* open = opening(paren ? LehrParser::LeftParen : LehrParser::LeftBracket);
    if (open && open->getLine() != previous_->getLine()) {
      message.note("to close what was opened here", span(open));
    }
    return message;
  }

  /// Returns the last token of this type directly below the current rule, or below the header for the brace of the
  /// model. Returns null if there is none.
  const antlr4::Token* opening(std::size_t token_type) const {
    antlr4::ParserRuleContext* from = context_;
    if (from->getRuleIndex() == LehrParser::RuleFile) {
      from = from->getRuleContext<LehrParser::HeaderContext>(0);
    }
    const antlr4::Token* open = nullptr;
    for (antlr4::tree::ParseTree* child : from->children) {
      auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(child);
      if (leaf && leaf->getSymbol()->getType() == token_type) open = leaf->getSymbol();
    }
    return open;
  }

  /// Returns the expected tokens in words. All tokens that can begin an expression become "an expression".
  std::string wanted() const {
    const auto has = [&](std::size_t t) { return expected_.contains(t); };
    if (has(LehrParser::Number) && has(LehrParser::Identifier)) {
      return previous_ ? "an expression after " + quoted(previous_) : "an expression";
    }
    if (has(LehrParser::Identifier)) {
      const bool axis = inside_rule(LehrParser::RuleAxes);
      return (axis ? "the name of a plate after " : "a name after ") + quoted(previous_);
    }
    std::vector<std::string> words;
    for (const antlr4::misc::Interval& interval : expected_.getIntervals()) {
      for (ssize_t t = interval.a; t <= interval.b; ++t) {
        words.push_back(parser_.getVocabulary().getDisplayName(static_cast<std::size_t>(t)));
      }
    }
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return out;
  }

  static constexpr const char* kDeclarations =
      "a declaration begins with const, plate, data, let, observe, potential or guide, or is `name ~ "
      "distribution`";

  antlr4::Parser& parser_;              // at the offending token
  const Text& text_;                    // the model file
  antlr4::Token* found_;                // the offending token
  antlr4::Token* previous_;             // the token before it; null at the start of the file
  std::size_t type_;                    // type of the offending token
  antlr4::ParserRuleContext* context_;  // the rule that the parser is in
  antlr4::misc::IntervalSet expected_;  // types of the tokens that the grammar allows here
};

}  // namespace

bool begins_declaration(std::size_t token_type) {
  return std::any_of(kBeginners.begin(), kBeginners.end(), [&](std::size_t t) { return t == token_type; });
}

bool is_name(std::size_t token_type) {
  const bool keyword = token_type >= LehrParser::In && token_type <= LehrParser::Simplex;
  return token_type == LehrParser::Identifier || (keyword && token_type != LehrParser::Factorised);
}

Diagnostic syntax_message(antlr4::Parser& parser, const Text& text) { return Writer(parser, text).write(); }

}  // namespace lehr
