// Renders diagnostics as text: position, message, source line with carets, notes. Any model file is safe to print. Long
// lines are cut to a window around the span, and control characters are escaped.
#include "compiler/support/diagnostic.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "compiler/support/render.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// A line of diagnostics.def as data.
struct KindRow {
  std::string_view name;
  Severity severity;
  std::string_view text;
};

/// All kinds, indexed by DiagnosticKind.
constexpr KindRow kKinds[] = {
#define LEHR_DIAGNOSTIC(name, severity, text) {#name, Severity::severity, text},
#include "compiler/support/diagnostics.def"
#undef LEHR_DIAGNOSTIC
};

/// Returns true if the byte continues a UTF-8 character that began before it.
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The most terminal columns that an excerpt of a source line takes.
constexpr std::size_t kExcerptColumns = 200;
/// Marks an end of the excerpt at which the source line was cut.
constexpr std::string_view kEllipsis = "...";

/// Returns the columns that the glyphs [from, to) of a line take on a terminal.
std::size_t columns(const std::vector<PrintedCharacter>& line, std::size_t from, std::size_t to) {
  std::size_t sum = 0;
  for (std::size_t k = from; k < to; ++k)
    sum += line[k].columns;
  return sum;
}

/// Returns the range of glyphs of `line` to show, around glyph `at`. A line that fits is shown whole. Otherwise a third
/// of the capacity goes to what precedes `at`, the rest to what follows; capacity that is left at the end of a line is
/// used before it.
std::pair<std::size_t, std::size_t> window(const std::vector<PrintedCharacter>& line, std::size_t at) {
  if (columns(line, 0, line.size()) <= kExcerptColumns) return {0, line.size()};
  constexpr std::size_t capacity = kExcerptColumns - 2 * kEllipsis.size();
  std::size_t from = at, to = at, used = 0;
  while (from > 0 && used + line[from - 1].columns <= capacity / 3)
    used += line[--from].columns;
  while (to < line.size() && used + line[to].columns <= capacity)
    used += line[to++].columns;
  while (from > 0 && used + line[from - 1].columns <= capacity)
    used += line[--from].columns;
  return {from, to};
}

/// Returns two lines: the source line on which `span` begins, and carets under the part of the span that is on it. Tabs
/// are copied into the second line, so that both have the same width.
std::string excerpt(const Source& source, Span span) {
  const std::string_view text = source.text;
  const std::size_t begin = std::min<std::size_t>(span.begin, text.size());
  const std::size_t line_start = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  std::size_t line_end = std::min(text.find('\n', begin), text.size());
  if (line_end > begin && text[line_end - 1] == '\r') --line_end;
  /// Decode only bytes that can be shown, so that a file with one huge line costs no more: no character has more than
  /// four bytes.
  std::size_t first = begin - std::min(begin - line_start, 4 * kExcerptColumns + 4);
  while (first > line_start && first < begin && is_continuation(text[first]))
    ++first;
  const std::size_t last = std::min(line_end, begin + 4 * kExcerptColumns + 4);
  const std::vector<PrintedCharacter> line = printed_characters(text.substr(first, last - first));

  const auto marked =
      std::find_if(line.begin(), line.end(), [&](const PrintedCharacter& g) { return first + g.end > begin; });
  const auto at = static_cast<std::size_t>(marked - line.begin());
  const auto [from, to] = window(line, at);
  const bool clipped_before = from > 0 || first > line_start, clipped_after = to < line.size() || last < line_end;
  std::string shown(clipped_before ? kEllipsis : ""), carets(shown.size(), ' ');
  for (std::size_t k = from; k < to; ++k) {
    shown += line[k].shown;
    if (k < at) carets += line[k].shown == "\t" ? "\t" : std::string(line[k].columns, ' ');
    else if (k == at) carets += '^' + std::string(line[k].columns - 1, '~');
    else if (first + line[k].begin < span.end) carets += std::string(line[k].columns, '~');
  }
  if (at == line.size()) carets += '^';
  return fmt::format("    {}{}\n    {}\n", shown, clipped_after ? kEllipsis : "", carets);
}

/// Returns "file:line:column" of the beginning of a span.
std::string location(const Source& source, Span span) {
  const Position p = position_of(source, span.begin);
  return fmt::format("{}:{}:{}", printable_message(source.name), p.line, p.column);
}

}  // namespace

Position position_of(const Source& source, std::uint32_t offset) {
  Position p;
  for (std::size_t i = 0; i < std::min<std::size_t>(offset, source.text.size()); ++i) {
    if (source.text[i] == '\n') {
      ++p.line;
      p.column = 1;
    } else if (!is_continuation(source.text[i])) {
      ++p.column;
    }
  }
  return p;
}

Diagnostic make_warning(std::string text, std::vector<std::string> cures) {
  Diagnostic out{Severity::warning, std::move(text)};
  for (std::string& cure : cures)
    out.note(std::move(cure));
  return out;
}

Diagnostic make_note(std::string text) { return {Severity::note, std::move(text)}; }

std::vector<std::string> texts_of(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics)
    out.push_back(d.text);
  return out;
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

Severity severity_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].severity; }
std::string_view name_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }
std::string_view template_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].text; }

void Diagnostics::note_errors(const std::string& text) {
  for (Diagnostic& d : all_) {
    if (d.severity == Severity::error) d.note(text);
  }
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string render(const Diagnostics& diagnostics, const Source& source, std::size_t most) {
  return render(diagnostics.all(), source, most);
}

std::string render(const std::vector<Diagnostic>& diagnostics, const Source& source, std::size_t most) {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : diagnostics)
    sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return std::tie(a->span->begin, a->span->end) < std::tie(b->span->begin, b->span->end);
  });
  std::string out;
  std::array<std::size_t, 3> count{};  // by severity
  const Diagnostic* previous = nullptr;
  // Identical diagnostics have equal spans, so the stable sort puts them next to each other.
  for (const Diagnostic* d : sorted) {
    // The same mistake may be found twice, for example in a `let` that is used twice.
    if (previous && previous->span == d->span && previous->text == d->text) continue;
    previous = d;
    if (++count[static_cast<std::size_t>(d->severity)] > most) continue;
    out += fmt::format("{}: {}: {}\n{}", location(source, *d->span), name_of(d->severity), printable_message(d->text),
                       excerpt(source, *d->span));
    for (const Note& n : d->notes) {
      if (n.span) {
        out += fmt::format("{}: note: {}\n{}", location(source, *n.span), printable_message(n.text),
                           excerpt(source, *n.span));
      } else {
        out += fmt::format("    note: {}\n", printable_message(n.text));
      }
    }
  }
  for (const Severity s : {Severity::warning, Severity::error}) {
    const std::size_t all = count[static_cast<std::size_t>(s)];
    if (all > most) out += fmt::format("... and {} more {}{}\n", all - most, name_of(s), all - most == 1 ? "" : "s");
  }
  return out;
}

}  // namespace lehr
