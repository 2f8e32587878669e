// Diagnostics are values. A pass adds them and goes on; the pipeline stops between rungs when one is an
// error. Kinds and texts stand in diagnostics.def, so that a test can check that each has a golden.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/span.h"

namespace lehr {

enum class Severity { error, warning };

enum class DiagnosticKind {
#define LEHR_DIAGNOSTIC(name, severity, text) name,
#include "compiler/support/diagnostics.def"
#undef LEHR_DIAGNOSTIC
};

/// A further remark under a diagnostic: another place, or the cure ("use variance = ... instead").
struct Note {
  std::string text;
  std::optional<Span> span;
};

struct Diagnostic {
  DiagnosticKind kind;
  Span span;
  std::string text;
  std::vector<Note> notes;

  Diagnostic& note(std::string note_text, std::optional<Span> note_span = std::nullopt) {
    notes.push_back({std::move(note_text), note_span});
    return *this;
  }
};

Severity severity_of(DiagnosticKind kind);
std::string_view name_of(DiagnosticKind kind);
std::string_view template_of(DiagnosticKind kind);

/// The diagnostics of one run over one source.
class Diagnostics {
 public:
  /// Adds a diagnostic whose text is the kind's template with `slots` filled in, in order.
  template <class... Slots>
  Diagnostic& add(DiagnosticKind kind, Span span, const Slots&... slots) {
    all_.push_back({kind, span, fmt::vformat(template_of(kind), fmt::make_format_args(slots...)), {}});
    return all_.back();
  }
  bool has_errors() const;
  /// Adds a note to every error.
  void note_errors(const std::string& text);
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
};

/// `file:line:col: error: text`, the source line underlined, notes below; sorted by span, exact duplicates once.
/// Of errors and of warnings `most` are shown, and the number of the others. What is taken from the model is printable.
std::string render(const Diagnostics& diagnostics, const Source& source, std::size_t most = 20);

}  // namespace lehr
