// What the files of the resolve pass share: the model under construction, its names, and where an expression
// stands. Only resolve*.cpp, infer_types.cpp, check_model.cpp and expand_*.cpp include this.
//
// A part that fails yields nothing after its diagnostic was added; whoever needed it stays silent, so that
// one mistake is reported once.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

enum class SymbolKind { plate, constant, given, variable, let };

struct Symbol {
  SymbolKind kind;
  std::size_t index;  // into the Model's vector of the kind; lets: into Resolver::lets
  Span span;
  bool used = false;
};

struct Let {
  const ast::LetDecl* decl;
  std::vector<PlateId> axes;
  bool ok = false;
  bool open = false;  // being expanded: meeting it again is a cycle
};

/// A plate's name in scope stands for an index: the bound of a statement or sum, or what a `let` was applied
/// to.
struct ScopeEntry {
  std::string name;
  Index index;
};

/// Which indices `t-1` are legal where the expression stands.
enum class LagRule { none, main_with_start, main_without_start, start, let_body, mixture };

/// What to write in the place of a chain of mixtures.
constexpr const char* kSwitched =
    "draw the part as a category, `z[t] ~ Categorical(w)`, and index by it what differs: `x[t] ~ Normal(mean = "
    "a[z[t]] * x[t-1], ...)`";

struct Context {
  std::vector<ScopeEntry> scope;
  LagRule lag = LagRule::none;
  std::vector<BoundId> statement_bounds;
  std::set<BoundId>* lagged = nullptr;  // collects the bounds that were shifted
  int depth = 0;
  bool constants_only = false;  // values of constants, sizes of plates
};

/// Event axes and values of a variable, found before its statement is resolved.
enum class HeaderState { untouched, open, done, broken };

struct Resolver {
  const ast::Ast& ast;
  Diagnostics& diagnostics;
  Model model;
  std::map<std::string, Symbol> names;
  std::vector<Let> lets;
  std::vector<const ast::PlateDecl*> plate_decls;     // by PlateId; anonymous plates have none
  std::vector<const ast::ConstDecl*> constant_decls;  // by ConstantId
  std::vector<const ast::Tilde*> tildes;              // by VariableId
  std::vector<bool> given_ok, variable_ok;            // axes and type known; variable_ok: axes known
  std::vector<HeaderState> headers;                   // by VariableId
  std::map<ast::ExprId, PlateId> longer;              // calls whose values have an element more than an argument
  std::map<StatementId, ExprId> mixtures;             // weights
  std::size_t expansion = 0;                          // nodes made, against runaway `let`s
  bool too_complex = false;
};

// resolve_names.cpp
/// The nearest of `candidates` to a misspelt name, if any is near.
std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& candidates);
/// Adds "did you mean ...?" when a candidate is near.
void suggest(Diagnostic& diagnostic, const std::string& name, const std::vector<std::string>& candidates);
/// The same among the declared names (of one kind); for the first errors only, which are the ones that are shown.
void suggest(const Resolver& r, Diagnostic& diagnostic, const std::string& name, std::optional<SymbolKind> kind = {});
std::vector<std::string> names_of(const Resolver& r, std::optional<SymbolKind> kind = std::nullopt);
Symbol* find(Resolver& r, const std::string& name);
/// Registers a name; a second declaration is reported and refused.
bool declare(Resolver& r, const ast::Name& name, SymbolKind kind, std::size_t index);
/// The plate of that name; reports when there is none.
std::optional<PlateId> plate_named(Resolver& r, const ast::Name& name);
/// Declared axes -> sets; reports unknown plates, repeated axes and nested plates without their parent before
/// them.
std::optional<std::vector<PlateId>> resolve_axes(Resolver& r, const std::vector<ast::Name>& axes,
                                                 const std::string& owner);

// resolve_plates.cpp
/// Fills Model::plates but for sizes and multiplicities.
void declare_plates(Resolver& r);
void resolve_sizes(Resolver& r);
void resolve_times(Resolver& r);
/// The set a plate ranges over: itself, the end of its chain of aliases, or what an anonymous plate was
/// unified with.
PlateId set_of(const Model& model, PlateId plate);
/// Whether two plates are one set; an anonymous plate becomes the other.
bool unify(Resolver& r, PlateId a, PlateId b);
/// The anonymous plate of a call whose value has an element more than `plate`.
PlateId longer_plate(Resolver& r, ast::ExprId call, PlateId plate);

// infer_types.cpp
/// Event axes, support and value plates of all variables.
void infer_headers(Resolver& r);
/// Makes sure the header of one variable is known; false when it cannot be.
bool infer_header(Resolver& r, VariableId variable);

// resolve_indices.cpp
std::optional<ExprId> resolve_reference(Resolver& r, Context& c, const ast::Expr& expr,
                                        const ast::Reference& reference);
std::optional<Index> resolve_index(Resolver& r, Context& c, ast::ExprId expr, PlateId axis);

// resolve_expressions.cpp
ExprId make(Resolver& r, Expr expr);
std::optional<ExprId> resolve_expr(Resolver& r, Context& c, ast::ExprId id);
/// As resolve_expr, and a scalar number; `what` names it in messages ("the size of plate 'topic'").
std::optional<ExprId> resolve_scalar(Resolver& r, Context& c, ast::ExprId id, const std::string& what);
/// Reports a category where a number is needed.
bool check_number(Resolver& r, ExprId id);
/// "a number", "a vector over 'dim'", ...
std::string describe(const Model& model, const Expr& expr);
/// Parentheses removed.
const ast::Expr& bare(const ast::Ast& ast, ast::ExprId id);

// resolve_distributions.cpp
struct MatchedArgument {
  const math::Spelling* spelling;
  ast::ExprId value;
};
/// Arguments of a distribution call in the row's order of canonical parameters; reports unless `diagnostics`
/// is null.
std::optional<std::vector<MatchedArgument>> match_arguments(const ast::Call& call, const math::FamilyRow& row,
                                                            Span span, Diagnostics* diagnostics);
/// The distribution's call and row; reports what is no distribution unless `diagnostics` is null.
std::pair<const ast::Call*, const math::FamilyRow*> family_of(const ast::Ast& ast, ast::ExprId id,
                                                              Diagnostics* diagnostics);
/// Fresh bounds for the axes of a statement, a potential or a `let`, entered into the scope under their
/// names.
std::vector<BoundId> open_bounds(Resolver& r, Context& c, const std::vector<ast::Name>& names,
                                 const std::vector<PlateId>& axes);
void resolve_statements(Resolver& r);

// resolve_guide.cpp
void resolve_guide(Resolver& r);

// check_model.cpp
/// Cycles, latents that no data reaches, names that are not used, models without data.
void check_model(Resolver& r);

// expand_mixtures.cpp
/// For each mixture the variable that tells its parts; reports weights of another number than its parts.
void expand_mixtures(Resolver& r);

// expand_compounds.cpp
/// Statements of compound distributions as those of their parts; reports those that cannot be.
void expand_compounds(Resolver& r);

}  // namespace lehr::model
