// The table of contents of the compiler: every stage, in order.
#include "compiler/pipeline.h"

#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"
#include "compiler/conditionals/print_conditionals.h"
#include "compiler/density/print_density.h"
#include "compiler/loops/lower.h"
#include "compiler/loops/print_loops.h"
#include "compiler/model/print_model.h"
#include "compiler/native/native.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

std::optional<FrontEnd> analyse(const Source& source, const density::ExpandOptions& options,
                                Diagnostics& diagnostics) {
  std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast) return std::nullopt;
  // Beyond this point the text is one model of the grammar.

  std::optional<model::Model> model = resolve(*ast, diagnostics);
  if (!model) return std::nullopt;
  // Beyond this point every name is resolved and every index has a plate.

  std::optional<Expanded> expanded = expand(*model, options, diagnostics);
  if (!expanded) return std::nullopt;
  // Beyond this point the log joint is a sum of terms, affine in the statistics of every element.

  std::optional<conditionals::Conditionals> conditionals =
      derive(expanded->model, std::move(expanded->density), diagnostics);
  if (!conditionals) return std::nullopt;
  // Beyond this point every block has a family and natural parameters.

  return FrontEnd{std::move(*ast), std::move(expanded->model), std::move(*conditionals)};
}

std::vector<std::string_view> rungs() {
  return {"ast", "model", "density", "conditionals", "schedule", "loops", "llvm", "asm"};
}

Result<std::optional<std::string>> emit(const Source& source, std::string_view rung, const Settings& settings,
                                        Diagnostics& diagnostics) {
  using Text = std::optional<std::string>;
  const std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast) return Text();
  if (rung == "ast") return Text(print(*ast, source));

  const std::optional<model::Model> resolved = resolve(*ast, diagnostics);
  if (!resolved) return Text();
  if (rung == "model") return Text(print(*resolved));

  std::optional<Expanded> expanded = expand(*resolved, {}, diagnostics);
  if (!expanded) return Text();
  const model::Model& model = expanded->model;
  if (rung == "density") return Text(print(model, expanded->density, source));

  std::optional<conditionals::Conditionals> conditionals = derive(model, std::move(expanded->density), diagnostics);
  if (!conditionals) return Text();
  if (rung == "conditionals") return Text(print(model, *conditionals, source));

  const schedule::Schedule schedule = plan(model, std::move(*conditionals));
  if (rung == "schedule") return Text(print(model, schedule));

  const Result<BoundData> sizes = bind_sizes(model, settings);
  if (!sizes) return sizes.error();
  const loops::Lowered lowered = lower(model, schedule, *sizes, {});
  if (rung == "loops") return Text(print(lowered.program));

  return Text(rung == "llvm" ? native::llvm_text(lowered.program) : native::assembly(lowered.program));
}

}  // namespace lehr
