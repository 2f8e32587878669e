// Diagnostics are values: errors and warnings about a model file, and warnings and notes about data, fits and
// predictions. A stage of the compiler adds them and goes on; the pipeline stops behind a stage that added an error.
//
// The kinds of those about a model file and their texts are listed in diagnostics.def, one line each. A test checks
// with that list that every kind has an expected output in tests/golden.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/span.h"

namespace lehr {

/// How grave a diagnostic is. After an error the compiler stops at the end of the stage (such as parsing) that reported
/// it; a warning does not stop it. A note only explains a result.
enum class Severity { error, warning, note };

/// The kinds of diagnostics: one enumerator for each line of diagnostics.def, in the order of that file.
enum class DiagnosticKind {
#define LEHR_DIAGNOSTIC(name, severity, text) name,
#include "compiler/support/diagnostics.def"
#undef LEHR_DIAGNOSTIC
};

/// A sentence printed below a diagnostic: a second location in the model file, or a cure ("use variance = ...
/// instead").
struct Note {
  std::string text;               // the sentence to print
  std::optional<Span> span = {};  // the location it is about; without one, the text is printed without an excerpt
};

/// One error, warning or note to the user, with its notes. It is about a place in a model file, which has a kind and a
/// span, or about data, a fit or a prediction, which have neither: whoever prints it then says what it is about.
struct Diagnostic {
  Severity severity = Severity::warning;  // an error only if it is about a model file
  std::string text;                       // the message in one sentence
  std::vector<Note> notes = {};           // cures and further locations, printed below it in this order
  /// Which line of diagnostics.def it comes from; nullopt if not about a model file.
  std::optional<DiagnosticKind> kind = {};
  std::optional<Span> span = {};  // the bytes of the model file that it is about; nullopt if not about a model file

  /// Appends a note, with or without a location, and returns this diagnostic, so that calls can be chained.
  Diagnostic& note(std::string note_text, std::optional<Span> note_span = std::nullopt) {
    notes.push_back({std::move(note_text), note_span});
    return *this;
  }
};

/// Makes a warning that is not about a place in a model file, with cures as its notes.
Diagnostic make_warning(std::string text, std::vector<std::string> cures = {});
/// Makes a note that is not about a place in a model file.
Diagnostic make_note(std::string text);
/// Returns the messages of the diagnostics without their notes and locations, in order, for results that hold plain
/// text, such as fit.json.
std::vector<std::string> texts_of(const std::vector<Diagnostic>& diagnostics);
/// Returns the name of a severity as it is printed: "error", "warning" or "note".
std::string_view name_of(Severity severity);

/// Returns whether diagnostics of a kind are errors or warnings, as diagnostics.def says.
Severity severity_of(DiagnosticKind kind);
/// Returns the name of a kind as written in diagnostics.def, such as "unknown_name", by which programs that use the
/// library identify it.
std::string_view name_of(DiagnosticKind kind);
/// Returns the message of a kind as a format string of fmt, with `{}` for each slot.
std::string_view template_of(DiagnosticKind kind);

/// Collects the diagnostics of one compilation of one model file, in the order in which they are reported. All of them
/// have a kind and a span.
class Diagnostics {
 public:
  /// Adds a diagnostic whose text is the kind's template with `slots` filled in, in order.
  /// The reference that it returns is valid until the next call.
  template <class... Slots>
  Diagnostic& add(DiagnosticKind kind, Span span, const Slots&... slots) {
    all_.push_back(
        {severity_of(kind), fmt::vformat(template_of(kind), fmt::make_format_args(slots...)), {}, kind, span});
    return all_.back();
  }
  /// Adds a finished diagnostic, which must have a kind and a span.
  void add(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }
  /// Returns true if at least one of the diagnostics is an error.
  bool has_errors() const;
  /// Appends a note with this text to every error that was added so far, such as that missing data made a variable
  /// latent, which explains the errors. Warnings get none.
  void note_errors(const std::string& text);
  /// Returns all diagnostics in the order in which they were added.
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;  // the diagnostics, in the order of calls of add()
};

/// Formats all diagnostics for the terminal: `file:line:col: error: text`, the source line with the span underlined,
/// then the notes.
///
/// They are sorted by span, and exact duplicates are shown once. At most `most` errors and `most` warnings are shown; a
/// line at the end counts the other warnings, and one the other errors. Control characters in text from the model are
/// escaped.
std::string render(const Diagnostics& diagnostics, const Source& source, std::size_t most = 20);

}  // namespace lehr
