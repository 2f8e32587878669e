// The state that the parts of the resolve pass share, and their functions. The files resolve*.cpp, infer_types.cpp,
// check_model.cpp and expand_*.cpp include this header. The bind pass uses its suggestions for names.
//
// A function that fails adds a diagnostic and returns nothing. Its caller then returns nothing without another
// diagnostic, so that each mistake is reported once.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// What kinds of things a name can denote.
enum class SymbolKind { plate, constant, given, variable, let };

/// What a declared name denotes.
struct Symbol {
  SymbolKind kind;    // the kind
  std::size_t index;  // in the Model's vector of that kind; of a `let`, in Resolver::lets
  Span span;          // of the name in its declaration
  bool used = false;  // the name has been used; unused ones get a warning
};

/// A `let` declaration.
struct Let {
  const ast::LetDecl* decl;   // as typed
  std::vector<PlateId> axes;  // its parameter plates
  bool ok = false;            // its axes are valid, and its body has no known error
  bool open = false;          // it is being expanded: meeting it again is a cycle
};

/// An index that a plate's name denotes in the current scope. It is an index variable of a statement or a sum, or an
/// argument of a `let`.
struct ScopeEntry {
  std::string name;  // the plate as written
  Index index;       // what the name denotes
};

/// Where an expression stands, as far as it matters for a shifted index `t-1`. A shift is legal in the main
/// distribution of a statement with `start` (main_with_start). In the body of a `let` (let_body) it is checked at each
/// use. The other places, which messages distinguish, allow none.
enum class LagRule { none, main_with_start, main_without_start, start, let_body, mixture };

/// A note for messages: what to write instead of a chain of mixtures.
constexpr const char* kSwitched =
    "draw the part as a category, `z[t] ~ Categorical(w)`, and index by it what differs: `x[t] ~ Normal(mean = "
    "a[z[t]] * x[t-1], ...)`";

/// The context in which an expression is resolved. Inner expressions get a copy with a larger scope.
struct Context {
  std::vector<ScopeEntry> scope;          // names of indices; inner ones last
  LagRule lag = LagRule::none;            // where the expression stands
  std::vector<BoundId> statement_bounds;  // index variables of the statement
  std::set<BoundId>* lagged = nullptr;    // collects the index variables that were shifted; may be null
  int depth = 0;                          // how many expressions contain this one
  bool constants_only = false;            // only constants and sizes are allowed: values of constants, sizes of plates
};

/// How far the header of a variable (support, event axes, plate of its values) has been inferred. `open` marks one that
/// is being inferred: meeting it again is a cycle.
enum class HeaderState { untouched, open, done, broken };

/// The state of one run of the resolve pass.
struct Resolver {
  const ast::Ast& ast;                                // what is resolved
  Diagnostics& diagnostics;                           // receives errors and warnings
  Model model;                                        // the result so far
  std::map<std::string, Symbol> names;                // all declared names
  std::vector<Let> lets;                              // all `let` declarations
  std::vector<const ast::PlateDecl*> plate_decls;     // by PlateId; plates that the compiler adds have none
  std::vector<const ast::ConstDecl*> constant_decls;  // by ConstantId
  std::vector<const ast::Tilde*> tildes;              // statements, by VariableId
  /// `given_ok`: axes and type of the given are valid. `variable_ok`: the axes of the variable are valid.
  std::vector<bool> given_ok, variable_ok;
  std::vector<HeaderState> headers;  // by VariableId
  /// The plate of each call whose value has one element more than its argument (stick_breaking, cumulative, ...).
  std::map<ast::ExprId, PlateId> longer;
  std::map<StatementId, ExprId> mixtures;  // weights of each mixture statement
  std::size_t expansion = 0;               // nodes that were made; limited, because `let` can multiply them
  bool too_complex = false;                // the limit was exceeded: nothing further is resolved
};

/// Returns the candidate with the smallest edit distance to a misspelt name, if one is near enough. (resolve_names.cpp)
std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& candidates);
/// Adds a note for a name that is not known. It is "did you mean ...?" if a candidate is near, or the name here of what
/// other languages call so. (resolve_names.cpp)
void suggest(Diagnostic& diagnostic, const std::string& name, const std::vector<std::string>& candidates);
/// Adds such a note with the declared names as candidates, of one kind if `kind` is given. Only the first errors get
/// one, because no others are shown. (resolve_names.cpp)
void suggest(const Resolver& r, Diagnostic& diagnostic, const std::string& name, std::optional<SymbolKind> kind = {});
/// Returns all declared names, or those of one kind. (resolve_names.cpp)
std::vector<std::string> names_of(const Resolver& r, std::optional<SymbolKind> kind = std::nullopt);
/// Returns the symbol with this name and marks it as used; null if there is none. (resolve_names.cpp)
Symbol* find(Resolver& r, const std::string& name);
/// Declares a name and returns true. If it is declared already, reports that and returns false. (resolve_names.cpp)
bool declare(Resolver& r, const ast::Name& name, SymbolKind kind, std::size_t index);
/// Returns the plate with this name, marked as used. Reports an error if there is none. (resolve_names.cpp)
std::optional<PlateId> plate_named(Resolver& r, const ast::Name& name);
/// Returns the plates of an index list with aliases resolved. Reports unknown plates, repeated ones, and nested plates
/// that do not follow their parent. `owner` is the declared name, for messages. (resolve_names.cpp)
std::optional<std::vector<PlateId>> resolve_axes(Resolver& r, const std::vector<ast::Name>& axes,
                                                 const std::string& owner);

/// Fills Model::plates from the declarations, except for sizes and multiplicities. (resolve_plates.cpp)
void declare_plates(Resolver& r);
/// Resolves the values of constants and the sizes of plates, and reports cycles among them. (resolve_plates.cpp)
void resolve_sizes(Resolver& r);
/// Resolves the multiplicities of plates (`times`). Declares the given if the model file does not. (resolve_plates.cpp)
void resolve_times(Resolver& r);
/// Returns the plate that a plate stands for. That is itself, the end of its chain of aliases, or the one that an added
/// plate was unified with. (resolve_plates.cpp)
PlateId set_of(const Model& model, PlateId plate);
/// Returns true if two plates are the same. An added plate, which only has to have one element more than another,
/// becomes the other plate. (resolve_plates.cpp)
bool unify(Resolver& r, PlateId a, PlateId b);
/// Returns the plate of a call whose value has one element more than `plate`. It is added at the first use.
/// (resolve_plates.cpp)
PlateId longer_plate(Resolver& r, ast::ExprId call, PlateId plate);

/// Infers support, event axes and the plate of the values for all variables. (infer_types.cpp)
void infer_headers(Resolver& r);
/// Infers these for one variable, if that has not been done. Returns false if it is impossible, or being done further
/// up the call stack. (infer_types.cpp)
bool infer_header(Resolver& r, VariableId variable);

/// Resolves a name with its indices to an expression. (resolve_indices.cpp)
std::optional<ExprId> resolve_reference(Resolver& r, Context& c, const ast::Expr& expr,
                                        const ast::Reference& reference);
/// Resolves one index of a name whose axis is the plate `axis`. (resolve_indices.cpp)
std::optional<Index> resolve_index(Resolver& r, Context& c, ast::ExprId expr, PlateId axis);

/// Adds an expression to the model and returns its id. (resolve_expressions.cpp)
ExprId make(Resolver& r, Expr expr);
/// Resolves an expression of the Ast, with its shape. Reports errors in it. (resolve_expressions.cpp)
std::optional<ExprId> resolve_expr(Resolver& r, Context& c, ast::ExprId id);
/// Resolves an expression that must be a single number, and reports it if it is not. `what` names it in messages: "the
/// size of plate 'topic'". (resolve_expressions.cpp)
std::optional<ExprId> resolve_scalar(Resolver& r, Context& c, ast::ExprId id, const std::string& what);
/// Returns true if the expression is numeric. Reports a category where a number is needed. (resolve_expressions.cpp)
bool check_number(Resolver& r, ExprId id);
/// Describes the type of an expression for messages: "a number", "a vector over 'dim'", ... (resolve_expressions.cpp)
std::string describe(const Model& model, const Expr& expr);
/// Returns the expression without the parentheses around it. (resolve_expressions.cpp)
const ast::Expr& bare(const ast::Ast& ast, ast::ExprId id);

/// An argument of a distribution with the parameter that it gives.
struct MatchedArgument {
  const math::Spelling* spelling;  // the parameter, by the name that was typed
  ast::ExprId value;               // the argument
};
/// Returns the arguments of a distribution in the row's order of canonical parameters. Reports wrong ones unless
/// `diagnostics` is null. (resolve_distributions.cpp)
std::optional<std::vector<MatchedArgument>> match_arguments(const ast::Call& call, const math::FamilyRow& row,
                                                            Span span, Diagnostics* diagnostics);
/// Returns the call of a distribution and its row in the family table. The row is null if the expression is no
/// distribution of a model, which is reported unless `diagnostics` is null. (resolve_distributions.cpp)
std::pair<const ast::Call*, const math::FamilyRow*> family_of(const ast::Ast& ast, ast::ExprId id,
                                                              Diagnostics* diagnostics);
/// Makes index variables for the axes of a statement, a potential or a `let`, and enters them into the scope under
/// their names. (resolve_distributions.cpp)
std::vector<BoundId> open_bounds(Resolver& r, Context& c, const std::vector<ast::Name>& names,
                                 const std::vector<PlateId>& axes);
/// Resolves all `let` bodies, statements and potentials. (resolve_distributions.cpp)
void resolve_statements(Resolver& r);

/// Resolves the `guide` declarations. (resolve_guide.cpp)
void resolve_guide(Resolver& r);

/// Checks the model as a whole. Reports cycles, latent variables that no data reach, unused names, and a model without
/// data. (check_model.cpp)
void check_model(Resolver& r);

/// Adds for each mixture the variable that selects its part. Reports weights whose number differs from that of the
/// parts. (expand_mixtures.cpp)
void expand_mixtures(Resolver& r);

/// Replaces each statement of a compound distribution by one for each of its two parts. Reports those that cannot be
/// expanded. (expand_compounds.cpp)
void expand_compounds(Resolver& r);

}  // namespace lehr::model
