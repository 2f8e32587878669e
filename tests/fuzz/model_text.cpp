// Fuzzing harness: model texts through every stage up to the loops, and through the formatter. Each text must give a
// result or an error of the model. Loops must be well-formed, and formatting a formatted text must not change it.
#include "compiler/advice.h"
#include "compiler/ast/format.h"
#include "compiler/conditionals/derivation.h"
#include "compiler/conditionals/print_derivation.h"
#include "compiler/loops/print_loops.h"
#include "compiler/pipeline.h"
#include "tests/fuzz/input.h"

using namespace lehr;

namespace {

void check_format(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<std::string> once = format(source, diagnostics);
  fuzz::require(once || diagnostics.has_errors(), "not formatted, without an error");
  if (!once) return;
  const std::optional<std::string> twice = format({source.name, *once}, diagnostics);
  fuzz::require(twice && *twice == *once, "formatted text is formatted in another way");
}

/// Returns a value for each constant that the text leaves open.
Settings settings_for(const model::Model& m) {
  Settings out;
  for (const model::Constant& c : m.constants)
    if (!c.value) out.constants[c.name] = 3;
  return out;
}

void print_derivation(const Analysed& a, const Source& source) {
  const conditionals::Derivation d = conditionals::derivation_of(a.model, a.schedule.conditionals, source);
  conditionals::print_text(d);
  conditionals::print_latex(d);
  conditionals::print_json(d);
}

void print_rungs(const Source& source, const Settings& settings) {
  for (const char* const ir_name : {"ast", "model", "density", "conditionals", "schedule"}) {
    Diagnostics diagnostics;
    const Result<std::optional<std::string>> text = emit(source, ir_name, settings, diagnostics);
    fuzz::require(text && *text, "a rung of a model that is well has no text");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const Source source{"model.lehr", std::string(reinterpret_cast<const char*>(bytes), size)};
  check_format(source);
  Diagnostics diagnostics;
  const std::optional<Analysed> analysed = analyse(source, {}, diagnostics);
  render_tested(diagnostics, source);
  fuzz::require(analysed.has_value() != diagnostics.has_errors(), "neither a model nor an error, or both");
  if (!analysed) return 0;
  const Settings settings = settings_for(analysed->model);
  print_rungs(source, settings);
  print_derivation(*analysed, source);
  const Result<BoundData> sizes = bind_sizes(analysed->model, settings);
  if (sizes) loops::print(generate(*analysed, *sizes, {}).program);  // debug builds verify the loops
  return 0;
}
