// Formats a model file from its tokens, comments included, so that nothing typed can get lost. The tokens are cut into
// units (a comment, the header, a declaration, the closing brace). Each unit is laid out on its own (layout.h). Then
// separators (`=`, `~`) and trailing comments of neighbouring units are aligned.
//
//   const K=20;const alpha =1/K; // prior          const K     = 20;
//                                                  const alpha = 1 / K;   // prior
#include "compiler/ast/format.h"

#include <algorithm>

#include "compiler/ast/layout.h"
#include "compiler/ast/parse.h"

namespace lehr {
namespace {

/// The blanks between a declaration and a comment behind it.
constexpr int kCommentGap = 3;

/// A part of the file that begins on a line of its own.
struct Unit {
  std::vector<Piece> pieces;    // its tokens, comments inside it included
  std::vector<Piece> trailing;  // comments behind it on its last line
  bool blank_before = false;    // an empty line precedes it in the source, and is written
  int indent = 0;               // columns before its first token
};

/// Returns true if the unit is one or more comments outside all declarations.
bool only_comments(const Unit& unit) {
  return std::all_of(unit.pieces.begin(), unit.pieces.end(), [](const Piece& p) { return is_comment(p.kind); });
}

/// Returns the number of line ends in [begin, end) of the text. "\r\n" and a lone "\r" count as one.
int line_ends(std::string_view text, std::size_t begin, std::size_t end) {
  int n = 0;
  for (std::size_t i = begin; i < end; ++i) {
    n += text[i] == '\n' || (text[i] == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n'));
  }
  return n;
}

/// Splits a text at its line ends, whichever they are, and removes blanks at the ends of lines.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') {
      lines.emplace_back();
    } else {
      lines.back() += text[i];
    }
  }
  for (std::string& line : lines)
    line.erase(line.find_last_not_of(" \t") + 1);
  return lines;
}

/// Returns a comment whose first line moves by `shift` columns. Its further lines move along, to the left as far as
/// their leading blanks allow.
std::string moved(std::string_view comment, int shift) {
  std::string out;
  for (std::string& line : lines_of(comment)) {
    if (out.empty()) {
      out = line;
      continue;
    }
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    if (shift < 0) line.erase(0, std::min<std::size_t>(blanks, static_cast<std::size_t>(-shift)));
    if (shift > 0 && !line.empty()) line.insert(0, static_cast<std::size_t>(shift), ' ');
    out += '\n';
    out += line;
  }
  return out;
}

/// Splits the tokens of a file into units. A unit ends at `;`, `{` or `}`; a comment between units is one itself, or
/// trails the unit before on the same line.
class UnitSplitter {
 public:
  UnitSplitter(const Source& source, const std::vector<Token>& tokens) : text_(source.text), tokens_(tokens) {}

  std::vector<Unit> split() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      take(i);
    return std::move(units_);
  }

 private:
  std::string_view text_of(const Token& t) const { return text_.substr(t.span.begin, t.span.end - t.span.begin); }

  /// Returns the number of line ends between token i and the one before. The beginning and the end of the file count as
  /// one line end.
  int lines_before(std::size_t i) const {
    if (i == 0 || i >= tokens_.size()) return 1;
    return line_ends(text_, tokens_[i - 1].span.end, tokens_[i].span.begin);
  }

  /// Adds token i to the last unit, or begins a new one with it.
  void take(std::size_t i) {
    const Token& token = tokens_[i];
    const bool comment = is_comment(token.kind);
    if (!inside_) {
      // A comment behind a unit on its last line trails the unit.
      if (comment && lines_before(i) == 0 && !units_.empty()) {
        units_.back().trailing.push_back(piece(i, 0));
        return;
      }
      const bool closing = text_of(token) == "}";
      if (closing) depth_ = 0;
      // The first unit of the file, or behind a brace, has no empty line before it.
      const bool first_of_block = units_.empty() || (depth_ == 1 && units_.back().indent == 0);
      units_.push_back({{}, {}, lines_before(i) > 1 && !first_of_block && !closing, 2 * depth_});
    }
    Unit& unit = units_.back();
    unit.pieces.push_back(piece(i, unit.indent + (unit.pieces.empty() ? 0 : 4)));
    const std::string_view text = text_of(token);
    if (text == "{") depth_ = 1;
    inside_ = text != ";" && text != "{" && text != "}";
    if (only_comments(unit)) {
      // A block comment directly before a declaration, on the same line, begins the unit of that declaration.
      const bool leads = token.kind == TokenKind::block_comment && i + 1 < tokens_.size() && lines_before(i + 1) == 0 &&
                         text_of(tokens_[i + 1]) != "}";
      inside_ = leads;
    }
  }

  /// Returns token i as it will be written. Lines of a comment move with it to the column `indent`, where it begins a
  /// line.
  Piece piece(std::size_t i, int indent) const {
    const Token& token = tokens_[i];
    Piece out{token.kind, std::string(text_of(token))};
    if (!is_comment(token.kind)) return out;
    const bool begins_line = lines_before(i) > 0;
    out.own_line = begins_line && inside_;
    out.ends_line = token.kind == TokenKind::line_comment || (begins_line && lines_before(i + 1) > 0);
    out.text = moved(out.text, begins_line ? indent - column_of(token) : 0);
    return out;
  }

  /// Returns the column of a token in the source, counted from 0 in code points.
  int column_of(const Token& token) const {
    std::size_t start = token.span.begin;
    while (start > 0 && text_[start - 1] != '\n' && text_[start - 1] != '\r')
      --start;
    return columns(text_.substr(start, token.span.begin - start));
  }

  std::string_view text_;             // the model file
  const std::vector<Token>& tokens_;  // all tokens, comments included
  std::vector<Unit> units_;           // the units so far
  bool inside_ = false;               // the last unit is not complete
  int depth_ = 0;                     // open braces: 0 or 1
};

/// Returns the kind of declaration of a unit: "const", "let" or "~". Only neighbours of one kind are aligned.
std::string_view kind_of(const Unit& unit) {
  const std::string_view first = unit.pieces[0].text;
  return first == "const" || first == "let" ? first : "~";
}

/// Returns the columns that a unit takes before its separator.
int head_width(const Unit& unit) {
  const auto end = unit.pieces.begin() + separator(unit.pieces);
  return columns(lay_out({unit.pieces.begin(), end}, unit.indent, 0));
}

/// Returns for each unit the column to which the text before its separator is padded: the widest of its run. A run has
/// no blank line inside and one kind of declaration. A unit without a separator has 0.
std::vector<int> paddings(const std::vector<Unit>& units) {
  std::vector<int> pads(units.size(), 0);
  std::vector<std::size_t> run;
  const auto close = [&] {
    int widest = 0;
    for (std::size_t i : run)
      widest = std::max(widest, head_width(units[i]));
    for (std::size_t i : run)
      pads[i] = widest;
    run.clear();
  };
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].blank_before) close();
    if (only_comments(units[i])) continue;
    if (!run.empty() && kind_of(units[i]) != kind_of(units[run.back()])) close();
    if (separator(units[i].pieces) >= 0) run.push_back(i);
  }
  close();
  return pads;
}

/// Returns for each unit the column at which its trailing comments begin: kCommentGap behind the longest line of its
/// run. Units of several lines have 0, which stands for directly behind them.
std::vector<int> comment_columns(const std::vector<Unit>& units, const std::vector<std::string>& laid_out) {
  std::vector<int> out(units.size(), 0);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= units.size(); ++i) {
    if (i < units.size() && !units[i].blank_before && (i == 0 || units[i].indent == units[i - 1].indent)) continue;
    const auto aligned = [&](std::size_t j) {
      return !units[j].trailing.empty() && laid_out[j].find('\n') == std::string::npos;
    };
    int widest = 0;
    for (std::size_t j = begin; j < i; ++j) {
      if (aligned(j)) widest = std::max(widest, columns(laid_out[j]) + kCommentGap);
    }
    for (std::size_t j = begin; j < i; ++j)
      out[j] = aligned(j) ? widest : 0;
    begin = i;
  }
  return out;
}

/// Writes the units, one below the other, as the text of the formatted file.
std::string write(const std::vector<Unit>& units) {
  const std::vector<int> pads = paddings(units);
  std::vector<std::string> laid_out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    laid_out.push_back(lay_out(units[i].pieces, units[i].indent, pads[i]));
  }
  const std::vector<int> comments = comment_columns(units, laid_out);
  std::string out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].blank_before) out += "\n";
    out += std::string(static_cast<std::size_t>(units[i].indent), ' ') + laid_out[i];
    int gap = std::max(kCommentGap, comments[i] - columns(laid_out[i]));
    for (const Piece& comment : units[i].trailing) {
      out += std::string(static_cast<std::size_t>(gap), ' ') + comment.text;
      gap = 1;
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::optional<std::string> format(const Source& source, Diagnostics& diagnostics) {
  if (!parse(source, diagnostics)) return std::nullopt;
  const std::optional<Text> text = decode(source, diagnostics);
  return write(UnitSplitter(source, tokenise(*text)).split());
}

}  // namespace lehr
