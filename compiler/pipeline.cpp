// The table of contents of the compiler: every stage, in order.
#include "compiler/pipeline.h"

#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"
#include "compiler/conditionals/print_conditionals.h"
#include "compiler/density/print_density.h"
#include "compiler/model/print_model.h"

namespace lehr {

std::optional<FrontEnd> analyse(const Source& source, const density::ExpandOptions& options,
                                Diagnostics& diagnostics) {
  std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast) return std::nullopt;
  // Beyond this point the text is one model of the grammar.

  std::optional<model::Model> model = resolve(*ast, diagnostics);
  if (!model) return std::nullopt;
  // Beyond this point every name is resolved and every index has a plate.

  std::optional<density::Density> density = expand(*model, options, diagnostics);
  if (!density) return std::nullopt;
  // Beyond this point the log joint is a sum of terms, affine in the statistics of every element.

  std::optional<conditionals::Conditionals> conditionals = derive(*model, std::move(*density), diagnostics);
  if (!conditionals) return std::nullopt;
  // Beyond this point every block has a family and natural parameters.

  return FrontEnd{std::move(*ast), std::move(*model), std::move(*conditionals)};
}

std::vector<std::string_view> rungs() { return {"ast", "model", "density", "conditionals"}; }

std::optional<std::string> emit(const Source& source, std::string_view rung, Diagnostics& diagnostics) {
  const std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast) return std::nullopt;
  if (rung == "ast") return print(*ast, source);

  const std::optional<model::Model> model = resolve(*ast, diagnostics);
  if (!model) return std::nullopt;
  if (rung == "model") return print(*model);

  std::optional<density::Density> density = expand(*model, {}, diagnostics);
  if (!density) return std::nullopt;
  if (rung == "density") return print(*model, *density, source);

  const std::optional<conditionals::Conditionals> conditionals = derive(*model, std::move(*density), diagnostics);
  if (!conditionals) return std::nullopt;
  return print(*model, *conditionals, source);
}

}  // namespace lehr
