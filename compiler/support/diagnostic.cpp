// Rendering of diagnostics: position, message, underlined source line, notes.
#include "compiler/support/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace lehr {
namespace {

struct KindRow {
  std::string_view name;
  Severity severity;
  std::string_view text;
};

constexpr Severity error = Severity::error;
constexpr Severity warning = Severity::warning;

constexpr KindRow kKinds[] = {
#define LEHR_DIAGNOSTIC(name, severity, text) {#name, severity, text},
#include "compiler/support/diagnostics.def"
#undef LEHR_DIAGNOSTIC
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The line around `span` and carets under the part of the span on that line; tabs keep their width.
std::string excerpt(const Source& source, Span span) {
  const std::string& text = source.text;
  const std::size_t begin = std::min<std::size_t>(span.begin, text.size());
  const std::size_t line_start = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  std::size_t line_end = text.find('\n', begin);
  if (line_end == std::string::npos) line_end = text.size();
  const std::string line = text.substr(line_start, line_end - line_start);
  std::string carets;
  for (std::size_t i = line_start; i < std::max(line_end, begin + 1); ++i) {
    const bool inside = i >= begin && i < std::max<std::size_t>(span.end, begin + 1);
    if (i < text.size() && is_continuation(text[i])) continue;
    if (i >= span.end && i > begin) break;
    carets += inside ? (i == begin ? '^' : '~') : (i < text.size() && text[i] == '\t' ? '\t' : ' ');
  }
  return fmt::format("    {}\n    {}\n", line, carets);
}

std::string place(const Source& source, Span span) {
  const Position p = position_of(source, span.begin);
  return fmt::format("{}:{}:{}", source.name, p.line, p.column);
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

Severity severity_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].severity; }
std::string_view name_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }
std::string_view template_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].text; }

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Diagnostic& d) { return severity_of(d.kind) == Severity::error; });
}

std::string render(const Diagnostics& diagnostics, const Source& source) {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : diagnostics.all())
    sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return std::tie(a->span.begin, a->span.end) < std::tie(b->span.begin, b->span.end);
  });
  std::string out;
  const Diagnostic* previous = nullptr;
  for (const Diagnostic* d : sorted) {
    if (previous && previous->span == d->span && previous->text == d->text) continue;
    previous = d;
    const char* label = severity_of(d->kind) == Severity::error ? "error" : "warning";
    out += fmt::format("{}: {}: {}\n{}", place(source, d->span), label, d->text, excerpt(source, d->span));
    for (const Note& n : d->notes) {
      if (n.span) {
        out += fmt::format("{}: note: {}\n{}", place(source, *n.span), n.text, excerpt(source, *n.span));
      } else {
        out += fmt::format("    note: {}\n", n.text);
      }
    }
  }
  return out;
}

}  // namespace lehr
