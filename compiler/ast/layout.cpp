// Decides about blanks and line breaks. Whether a blank precedes a token depends on the token before it and on the
// innermost bracket. Operators in indices have no blanks (`s[t-1]`), others do. Lines are filled greedily. A line
// breaks preferably before `start`, `over` and `censored`, then behind a comma, and last before a `+` or `-`.
#include "compiler/ast/layout.h"

#include <algorithm>
#include <array>

namespace lehr {
namespace {

/// The words that begin a declaration or the file: no operand, so a sign behind them is a prefix.
constexpr std::array<std::string_view, 8> kReserved = {"model", "const",   "plate",     "data",
                                                       "let",   "observe", "potential", "guide"};

bool is_reserved(const Piece& p) { return std::find(kReserved.begin(), kReserved.end(), p.text) != kReserved.end(); }

bool is_operator(std::string_view text) { return text == "+" || text == "-" || text == "*" || text == "/"; }

/// How a piece joins the one before.
struct Spacing {
  bool space = false;   // a blank stands between them
  int level = 0;        // 0: no break here; 1 to 3: the line may break here, 1 is the best place
  bool forced = false;  // the line must break here
};

/// Goes through the pieces of a unit once and decides how each joins the one before.
class SpacingRules {
 public:
  explicit SpacingRules(const std::vector<Piece>& pieces) : pieces_(pieces) {}

  /// Returns one joint for each piece, in order.
  std::vector<Spacing> join() {
    std::vector<Spacing> joints;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      Spacing joint;
      if (!is_comment(pieces_[i].kind)) joint = code(pieces_[i]);
      if (i > 0) {
        const Piece& before = pieces_[i - 1];
        if (is_comment(pieces_[i].kind)) joint = {true, before_.empty() ? 0 : 2, false};
        if (is_comment(before.kind)) joint.space = pieces_[i].text != ";" && pieces_[i].text != ",";
        joint.forced = before.ends_line || pieces_[i].own_line;
      }
      joints.push_back(joint);
    }
    return joints;
  }

 private:
  /// Returns the joint of a piece that is not a comment, and updates the state to stand behind it.
  Spacing code(const Piece& piece) {
    const std::string& text = piece.text;
    const bool operand_before = ends_operand_;
    const bool sign = is_operator(text);
    const bool prefix = sign && !operand_before;
    const bool in_index = !open_.empty() && open_.back() == '[';
    const bool tight = in_index && sign && !prefix;

    Spacing joint{space_before(piece), 0, false};
    // In an index no blank surrounds an operator. Everywhere, none follows a prefix.
    if (tight || tight_) joint.space = false;
    if (before_ == ",") joint.level = 2;
    if (open_.empty() && tilde_ && (text == "start" || text == "over" || text == "censored")) joint.level = 1;
    if (sign && !prefix && !in_index && (text == "+" || text == "-")) joint.level = 3;

    tight_ = tight || prefix;
    ends_operand_ = piece.kind == TokenKind::number || (piece.kind == TokenKind::word && !is_reserved(piece));
    if (text == "(" || text == "[") {
      const bool head = before_ == (text == "(" ? "sum" : "potential");
      open_.push_back(text[0]);
      opens_head_.push_back(head);
    } else if ((text == ")" || text == "]") && !open_.empty()) {
      ends_operand_ = !opens_head_.back();
      open_.pop_back();
      opens_head_.pop_back();
    }
    tilde_ = tilde_ || text == "~";
    after_word_ = piece.kind == TokenKind::word && (!is_reserved(piece) || text == "potential");
    before_ = text;
    return joint;
  }

  /// Returns true if a blank precedes the piece by the rules for brackets and punctuation.
  bool space_before(const Piece& piece) const {
    const std::string& text = piece.text;
    if (before_.empty() || before_ == "(" || before_ == "[") return false;
    if (text == ")" || text == "]" || text == "," || text == ";") return false;
    if (text == "(") return !after_word_ || before_ == "potential";
    if (text == "[") return !after_word_;
    return true;
  }

  const std::vector<Piece>& pieces_;  // the unit
  std::string before_;                // text of the last piece that is not a comment
  bool after_word_ = false;           // that piece is a word that takes brackets without a blank: a name, `potential`
  bool ends_operand_ = false;         // that piece ends an operand, so a sign behind it is binary
  bool tight_ = false;                // that piece is a sign that what follows joins without a blank
  bool tilde_ = false;                // a `~` came before: clauses may follow
  std::string open_;                  // brackets that are open
  /// For each open bracket: true for those of `sum(f)` and `potential[e]`, behind which a sign is a prefix.
  std::vector<bool> opens_head_;
};

/// Returns the columns from piece `i` up to the next break that is at least as good as `level`, blanks included.
int width_to_break(const std::vector<Piece>& pieces, const std::vector<Spacing>& joints, std::size_t i, int level) {
  int width = columns(pieces[i].text);
  for (std::size_t j = i + 1; j < pieces.size(); ++j) {
    if (joints[j].forced || (joints[j].level > 0 && joints[j].level <= level)) break;
    width += joints[j].space + columns(pieces[j].text);
  }
  return width;
}

}  // namespace

int columns(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

int separator(const std::vector<Piece>& pieces) {
  if (pieces.empty() || std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return is_comment(p.kind); }))
    return -1;
  const std::string& first = pieces[0].text;
  std::string_view wanted = "~";
  if (first == "const" || first == "let") wanted = "=";
  if (first != "observe" && wanted == "~" && is_reserved(pieces[0])) return -1;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].text == wanted) return static_cast<int>(i);
  }
  return -1;
}

std::string lay_out(const std::vector<Piece>& pieces, int indent, int pad) {
  const std::vector<Spacing> joints = SpacingRules(pieces).join();
  const int aligned = pad > 0 ? separator(pieces) : -1;
  const std::string blanks(static_cast<std::size_t>(indent) + 4, ' ');
  std::string out;
  int column = indent;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Spacing& joint = joints[i];
    if (static_cast<int>(i) == aligned) {
      const int fill = std::max(0, pad - (column - indent));
      out.append(static_cast<std::size_t>(fill), ' ');
      column += fill;
    }
    // Break if what follows, up to the next break of the same or a better level, does not fit on the line.
    const int needed = joint.space + width_to_break(pieces, joints, i, joint.level);
    if (joint.forced || (joint.level > 0 && column + needed > kLineWidth)) {
      out += '\n';
      out += blanks;
      column = indent + 4;
    } else if (joint.space) {
      out += ' ';
      ++column;
    }
    out += pieces[i].text;
    const std::size_t last_line = pieces[i].text.rfind('\n');
    column = last_line == std::string::npos ? column + columns(pieces[i].text)
                                            : columns(std::string_view(pieces[i].text).substr(last_line + 1));
  }
  return out;
}

}  // namespace lehr
