// Compiles the text of a model: a Program, or messages.
#include <algorithm>
#include <tuple>

#include "compiler/advice.h"
#include "compiler/library/impl.h"
#include "compiler/support/render.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Converts a diagnostic to a message with line and column.
Message message_of(const Diagnostic& d, const Source& source) {
  const Position begin = position_of(source, d.span->begin), end = position_of(source, d.span->end);
  Message out;
  out.severity = d.severity == Severity::error ? Message::Severity::error : Message::Severity::warning;
  out.kind = std::string(name_of(*d.kind));
  out.text = printable_message(d.text);
  out.line = begin.line;
  out.column = begin.column;
  out.end_line = end.line;
  out.end_column = end.column;
  for (const Note& n : d.notes) {
    const Position p = n.span ? position_of(source, n.span->begin) : Position{0, 0};
    out.notes.push_back({printable_message(n.text), p.line, p.column});
  }
  return out;
}

}  // namespace

Compilation compile(std::string_view text, CompileOptions options) {
  Source source{std::move(options.name), std::string(text)};
  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(source, diagnostics);
  std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  Compilation out;
  const std::vector<Diagnostic> all = with_tested_proposals(diagnostics, source);
  for (const Diagnostic& d : all)
    out.messages.push_back(message_of(d, source));
  std::ranges::stable_sort(out.messages, {}, [](const Message& m) { return std::tuple(m.line, m.column); });
  out.text = render(all, source);
  if (!complete) return out;
  Settings settings{.constants = std::move(options.constants),
                    .sizes = std::move(options.sizes),
                    .rows = {},
                    .labels = std::move(options.labels)};
  out.program.emplace(std::make_shared<const Program::Impl>(
      Program::Impl{std::move(source), std::move(*resolved), std::move(*complete), std::move(settings)}));
  return out;
}

std::string_view version() { return LEHR_VERSION; }

Program::Program(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const std::string& Program::name() const { return impl_->complete.model.name; }

std::vector<std::string> Program::data_names() const {
  std::vector<std::string> out;
  for (const model::Given& g : impl_->complete.model.givens)
    out.push_back(g.name);
  for (const model::Variable& v : impl_->complete.model.variables) {
    if (v.observed) out.push_back(v.name);
  }
  return out;
}

std::vector<std::string> Program::latent_names() const {
  std::vector<std::string> out;
  for (const model::Variable& v : impl_->complete.model.variables) {
    if (model::is_latent(v)) out.push_back(v.name);
  }
  return out;
}

}  // namespace lehr
