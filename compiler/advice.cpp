// Tests the proposals in notes by applying each to the model text and analysing the result.
//
// Example: for `tau ~ InverseGamma(...)` a note proposes `tau ~ Gamma(shape = 1, rate = 1);`. The text of the old
// declaration is replaced, and the changed model is analysed. The note is shown only if the error is gone and no new
// one appeared. Results are cached by the changed text, since several diagnostics may propose the same.
#include "compiler/advice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/pipeline.h"
#include "compiler/support/render.h"

namespace lehr {
namespace {

/// The most changed models that are analysed for one set of diagnostics; it bounds the time of a failing command.
constexpr std::size_t kMaxProposals = 50;

/// Returns the name that a declaration defines, or null if it defines none.
const std::string* name_of(const ast::Decl& d) {
  return std::visit(
      [](const auto& node) -> const std::string* {
        if constexpr (requires { node.name.text; }) return &node.name.text;
        else return nullptr;
      },
      d.node);
}

/// Returns the declaration of this name in the model, or null.
const ast::Decl* declaration_of(const ast::Ast& ast, const std::string& name) {
  const auto found = std::ranges::find_if(ast.decls, [&](const ast::Decl& d) {
    const std::string* own = name_of(d);
    return own && *own == name;
  });
  return found == ast.decls.end() ? nullptr : &*found;
}

/// Returns the x of "in the place of 'x'" in a note, if the note has these words.
std::optional<std::string> replaced_name(std::string_view note) {
  constexpr std::string_view kWords = "in the place of '";
  const std::size_t at = note.find(kWords);
  if (at == note.npos) return std::nullopt;
  const std::size_t begin = at + kWords.size(), end = note.find('\'', begin);
  return end == note.npos ? std::nullopt : std::optional(std::string(note.substr(begin, end - begin)));
}

/// Replaces the text of a span of the source.
struct Edit {
  Span span;
  std::string text;
};

/// Returns the source text after all edits. Where spans overlap, the part that an earlier edit has replaced is skipped.
std::string edited(const Source& source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, [](const Edit& e) { return e.span.begin; });
  std::string out;
  std::uint32_t at = 0;
  for (const Edit& e : edits) {
    out += source.slice({at, std::max(at, e.span.begin)});
    out += e.text;
    at = std::max(at, e.span.end);
  }
  return out + source.text.substr(at);
}

/// Returns all errors and warnings of a model text.
Diagnostics diagnostics_of(const Source& source) {
  Diagnostics out;
  if (const std::optional<model::Model> m = read(source, out)) derive_conditionals(*m, {}, out);
  return out;
}

/// Returns true if the diagnostics contain one of the same kind and text as `like`. Spans are not compared, since edits
/// move them.
bool has(const Diagnostics& diagnostics, const Diagnostic& like) {
  return std::ranges::any_of(diagnostics.all(),
                             [&](const Diagnostic& d) { return d.kind == like.kind && d.text == like.text; });
}

/// Returns true for diagnostics that a proposal must not introduce: errors, and warnings of names without use.
bool is_regression(const Diagnostic& d) {
  return d.severity == Severity::error || d.kind == DiagnosticKind::unused_name ||
         d.kind == DiagnosticKind::unreached_latent;
}

/// Tests proposals against one source, with a cache of the diagnostics of each changed text.
class ProposalTester {
 public:
  explicit ProposalTester(const Source& source) : source_(source) {}

  /// Returns true if applying `note` removes `d` and introduces no new harm.
  bool succeeds(const Diagnostic& d, const std::string& note) {
    if (!before_) before_ = diagnostics_of(source_);
    const std::optional<Source> changed = apply_proposals(source_, note);
    if (!changed || !has(*before_, d)) return false;
    auto it = after_.find(changed->text);
    if (it == after_.end()) {
      if (after_.size() >= kMaxProposals) return false;
      it = after_.emplace(changed->text, diagnostics_of(*changed)).first;
    }
    const std::vector<Diagnostic>& all = it->second.all();
    return !has(it->second, d) &&
           std::ranges::none_of(all, [&](const Diagnostic& x) { return is_regression(x) && !has(*before_, x); });
  }

 private:
  const Source& source_;
  std::optional<Diagnostics> before_;         // diagnostics of the unchanged source, once they are needed
  std::map<std::string, Diagnostics> after_;  // diagnostics of each changed model, by its text
};

}  // namespace

std::vector<std::string> proposed_lines(std::string_view note) {
  std::vector<std::string> out;
  for (std::size_t at = note.find('`'); at != note.npos;) {
    const std::size_t end = note.find('`', at + 1);
    if (end == note.npos) break;
    const std::string_view text = note.substr(at + 1, end - at - 1);
    if (text.ends_with(';')) out.emplace_back(text);
    at = note.find('`', end + 1);
  }
  return out;
}

std::optional<Source> apply_proposals(const Source& source, std::string_view note) {
  Diagnostics ignored;
  const std::optional<ast::Ast> ast = read_syntax(source, ignored);
  if (!ast || ast->decls.empty()) return std::nullopt;
  std::vector<Edit> edits;
  const std::uint32_t end = ast->decls.back().span.end;
  for (const std::string& line : proposed_lines(note)) {
    const std::optional<ast::Ast> own = read_syntax({"", "model m { " + line + " }"}, ignored);
    if (!own || own->decls.size() != 1) return std::nullopt;
    const std::string* name = name_of(own->decls[0]);
    const ast::Decl* old = name ? declaration_of(*ast, *name) : nullptr;
    if (old) edits.push_back({old->span, line});
    else edits.push_back({{end, end}, "\n  " + line});
  }
  if (const auto name = replaced_name(note)) {
    const ast::Decl* old = declaration_of(*ast, *name);
    // A declaration that is replaced already needs no second edit of its span.
    const bool again = std::ranges::any_of(edits, [&](const Edit& e) { return old && e.span == old->span; });
    if (old && !again) edits.push_back({old->span, ""});
  }
  return Source{source.name, edited(source, std::move(edits))};
}

std::vector<Diagnostic> with_tested_proposals(const Diagnostics& diagnostics, const Source& source) {
  std::vector<Diagnostic> out = diagnostics.all();
  ProposalTester trials(source);
  for (Diagnostic& d : out) {
    std::erase_if(d.notes,
                  [&](const Note& n) { return !proposed_lines(n.text).empty() && !trials.succeeds(d, n.text); });
  }
  return out;
}

std::string render_tested(const Diagnostics& diagnostics, const Source& source) {
  return render(with_tested_proposals(diagnostics, source), source);
}

}  // namespace lehr
