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

/// The largest depth to which expressions may be nested. A limit is needed because the stack could overflow.
inline constexpr int kMaxDepth = 400;

/// Returns a number with its noun for messages, such as "1 index" or "2 indices". (resolve_distributions.cpp)
std::string counted(std::size_t n, const char* one, const char* many);

/// What a declared name of the model file can be: a plate (index set), a constant, data, a random variable, or a `let`.
enum class SymbolKind { plate, constant, given, variable, let };

/// What a declared name of the model file stands for: the kind of the declaration, where its entry in the model is, and
/// whether the name has been used, for warnings.
struct Symbol {
  SymbolKind kind;    // what is declared by this name
  std::size_t index;  // in the Model's vector of that kind; of a `let`, in Resolver::lets
  Span span;          // of the name in its declaration
  bool used = false;  // the name has been used; unused ones get a warning
};

/// A `let` declaration, a named expression that is substituted where it is used.
struct Let {
  const ast::LetDecl* decl;   // the declaration in the syntax tree
  std::vector<PlateId> axes;  // plates of its parameters, such as n in `let f[n] = ...`
  bool ok = false;            // its axes are valid, and no error was found in its body
  bool open = false;          // it is being expanded: meeting it again is a cycle
};

/// An index that a plate's name denotes in the current scope. It is an index variable of a statement or a sum, or an
/// argument of a `let`.
struct ScopeEntry {
  std::string name;  // the plate as written, such as `n` in `x[n]`
  Index index;       // the index that the name denotes here
};

/// Where an expression stands, which decides whether an index may be shifted (`t-1`). `main_with_start`: the main
/// distribution of a statement with `start`, where it may. `let_body`: the body of a `let`, where each use is checked.
/// It may not in `main_without_start`, in `start` itself, in a `mixture` (`observed_mixture` if its values are data),
/// or elsewhere (`none`); messages distinguish these.
enum class LagRule { none, main_with_start, main_without_start, start, let_body, mixture, observed_mixture };

/// The text of a note for messages: what to write in place of a chain whose distribution is a mixture.
constexpr const char* kSwitched =
    "draw the part as a category, `z[t] ~ Categorical(w)`, and index by it what differs: `x[t] ~ Normal(mean = "
    "a[z[t]] * x[t-1], ...)`";
/// The same for observed values, whose previous ones are data.
constexpr const char* kGivenBefore =
    "observed values before are data: declare `data before[t] : real`, write `before[t]` in the place of the previous "
    "element, without `start`, and give each value and the one before it, from the second on";

/// Where an expression of the model file stands while its names are resolved: which indices its names can denote, and
/// whether an index may be shifted (`t-1`). Inner expressions get a copy with a larger scope.
struct Context {
  std::vector<ScopeEntry> scope;                 // what the names of plates denote as indices here; inner ones last
  LagRule lag = LagRule::none;                   // whether an index may be shifted here
  std::vector<IndexVarId> statement_index_vars;  // those of the statement; only they may be shifted
  std::set<IndexVarId>* lagged = nullptr;        // collects the index variables that were shifted; may be null
  int depth = 0;                                 // how many expressions contain this one
  bool constants_only = false;  // only constants and sizes are allowed: values of constants, sizes of plates
};

/// The progress of inferring a variable's header, its type: support, event axes, and the plate of its values. `open`
/// marks a header that is being inferred; meeting it again is a cycle. `broken` marks one that cannot be inferred.
enum class HeaderState { untouched, open, done, broken };

/// The working state of lehr::resolve, which makes a Model of an Ast.
struct Resolver {
  const ast::Ast& ast;                                // what is resolved
  Diagnostics& diagnostics;                           // receives errors and warnings
  Model model;                                        // the result so far
  std::map<std::string, Symbol> names;                // declarations, by name
  std::vector<Let> lets;                              // all `let` declarations
  std::vector<const ast::PlateDecl*> plate_decls;     // declarations, by PlateId; added plates have none
  std::vector<const ast::ConstDecl*> constant_decls;  // declarations, by ConstantId
  std::vector<const ast::Tilde*> tildes;              // declarations `x ~ D(...)`, by VariableId
  /// `given_ok`, by GivenId: true if axes and type of the given are valid. `variable_ok`, by VariableId: true if the
  /// axes of the variable are valid. What refers to an invalid one is not resolved, so that no further error follows.
  std::vector<bool> given_ok, variable_ok;
  std::vector<HeaderState> headers;  // how far each variable's type is inferred, by VariableId
  /// For each call whose value has one element more than its argument (stick_breaking, cumulative, ...), the plate that
  /// was added for its value, so that a call that is resolved again gets the same one.
  std::map<ast::ExprId, PlateId> longer;
  std::map<StatementId, ExprId> mixtures;  // the weights or selector of each mixture statement
  std::size_t expansion = 0;               // nodes that were made; limited, because `let` can multiply them
  bool too_complex = false;                // the limit was exceeded: nothing further is resolved
};

/// Returns the candidate with the smallest edit distance to a misspelt name, for "did you mean". Returns nothing if the
/// distance is more than a third of the name's length (at least 1). (resolve_names.cpp)
std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& candidates);
/// Adds a note to an error about an unknown name, if there is something to suggest. If another language has something
/// of that name, the note gives its name or notation in Lehr; otherwise it is "did you mean ...?" with the nearest
/// candidate. (resolve_names.cpp)
void suggest(Diagnostic& diagnostic, const std::string& name, const std::vector<std::string>& candidates);
/// Adds a note to an error about an unknown name: its name or notation in Lehr if another language has it, else "did
/// you mean ...?" with the nearest declared name, of one kind if `kind` is given. Only the first 20 diagnostics get a
/// note, because later ones are not shown. (resolve_names.cpp)
void suggest(const Resolver& r, Diagnostic& diagnostic, const std::string& name, std::optional<SymbolKind> kind = {});
/// Returns all names that the model file declares, or those of one kind. (resolve_names.cpp)
std::vector<std::string> names_of(const Resolver& r, std::optional<SymbolKind> kind = std::nullopt);
/// Returns the declaration of a name and marks it as used; null if the name is not declared. (resolve_names.cpp)
Symbol* find(Resolver& r, const std::string& name);
/// Registers a declared name and returns true. If the name is declared already, reports that and returns false.
/// (resolve_names.cpp)
bool declare(Resolver& r, const ast::Name& name, SymbolKind kind, std::size_t index);
/// Returns the plate (index set) that a name denotes, and marks the name as used. It may be an alias: resolve_alias()
/// gives the plate that it stands for. Reports an error and returns nothing if there is no such plate.
/// (resolve_names.cpp)
std::optional<PlateId> plate_named(Resolver& r, const ast::Name& name);
/// Resolves the plates between the brackets of a declaration `x[doc, token]`, replacing aliases. Reports unknown
/// plates, repeated ones, and nested plates that do not follow their parent. `owner` is the declared name, for
/// messages. (resolve_names.cpp)
std::optional<std::vector<PlateId>> resolve_axes(Resolver& r, const std::vector<ast::Name>& axes,
                                                 const std::string& owner);

/// Fills the model's plates from their declarations: aliases, nesting, first numbers. Sizes and multiplicities follow
/// later. (resolve_plates.cpp)
void declare_plates(Resolver& r);
/// Resolves the expressions that define constants and plate sizes (`= 2 * K`), which may use numbers, constants and
/// sizes only. Reports cycles among them. (resolve_plates.cpp)
void resolve_sizes(Resolver& r);
/// Resolves the clauses `times count` of plates: finds the data that count the copies of each element, or declares
/// them. (resolve_plates.cpp)
void resolve_times(Resolver& r);
/// Returns the plate that a plate stands for, at the end of a chain of aliases; the plate itself if it is no alias. A
/// plate that the compiler added may be an alias of a declared one. (resolve_plates.cpp)
PlateId resolve_alias(const Model& model, PlateId plate);
/// Returns true if two plates are the same index set. A plate that the compiler added is made an alias of the other one
/// to achieve that, if possible. (resolve_plates.cpp)
bool unify(Resolver& r, PlateId a, PlateId b);
/// Returns the plate for the value of a function call that has one element more than its argument over `plate`, such as
/// stick_breaking(v). The plate is added to the model at the first use. (resolve_plates.cpp)
PlateId extended_plate(Resolver& r, ast::ExprId call, PlateId plate);

/// Infers the types of all variables before their statements are resolved: support, event axes, and the plate of
/// categories. (infer_types.cpp)
void infer_headers(Resolver& r);
/// Infers the type of one variable (support, event axes, plate of categories) and stores it in `r.model`, unless that
/// has been done. Reports an error if the variable needs an event axis, but neither `over` nor a parameter gives one.
/// Returns true if the type is in the model then; false if it cannot be inferred, or is being inferred already (a
/// cycle). (infer_types.cpp)
bool infer_header(Resolver& r, VariableId variable);

/// Resolves a use of a name, such as `mu[z[n]]`, to an expression of the model. Reports errors and returns nothing
/// then. (resolve_indices.cpp)
std::optional<ExprId> resolve_reference(Resolver& r, Context& c, const ast::Expr& expr,
                                        const ast::Reference& reference);
/// Resolves one expression between index brackets, such as the `z[n]` in `mu[z[n]]`. `axis` is the plate that the
/// indexed name has at this position; a constant index counts its elements. The caller compares it with the plate of
/// any other index. Returns nothing after an error. (resolve_indices.cpp)
std::optional<Index> resolve_index(Resolver& r, Context& c, ast::ExprId expr, PlateId axis);

/// Appends an expression of the model to `r.model` and returns its id. (resolve_expressions.cpp)
ExprId make(Resolver& r, Expr expr);
/// Returns the component of a vector at an index variable. A name simply gets one more index.
/// (resolve_expressions.cpp)
ExprId component(Resolver& r, ExprId id, IndexVarId at);
/// Resolves an expression of the syntax tree to a typed expression of the model. Returns nothing after an error, which
/// is reported. (resolve_expressions.cpp)
std::optional<ExprId> resolve_expr(Resolver& r, Context& c, ast::ExprId id);
/// Resolves an expression that must be a single number; reports a vector, matrix or category. `subject` names the
/// expression in messages: "the size of plate 'topic'". (resolve_expressions.cpp)
std::optional<ExprId> resolve_scalar(Resolver& r, Context& c, ast::ExprId id, const std::string& subject);
/// Returns true if an expression has numbers as values, in any shape. Reports an error and returns false if its values
/// are categories. (resolve_expressions.cpp)
bool check_number(Resolver& r, ExprId id);
/// Describes the type of an expression for messages: "a number", "a vector over 'dim'", ... (resolve_expressions.cpp)
std::string describe(const Model& model, const Expr& expr);
/// Returns an expression of the syntax tree without the parentheses around it. (resolve_expressions.cpp)
const ast::Expr& bare(const ast::Ast& ast, ast::ExprId id);

/// An argument of a distribution with the parameter that it gives.
struct MatchedArgument {
  const math::Spelling* spelling;  // the parameter, by the name that was typed
  ast::ExprId value;               // the argument
};
/// Matches the arguments of a distribution call with the parameters of its family, named or positional. Returns them in
/// the family's order; optional parameters may be absent. Returns nothing if arguments are wrong or missing, which is
/// reported unless `diagnostics` is null. (resolve_distributions.cpp)
std::optional<std::vector<MatchedArgument>> match_arguments(const ast::Call& call, const math::FamilyRow& row,
                                                            Span span, Diagnostics* diagnostics);
/// Looks up the distribution that an expression calls, such as Normal(...): returns the call and the row of the family
/// table. The call is null if the expression is no call. The row is null if the call names no distribution that a
/// statement may have. Both are reported unless `diagnostics` is null. (resolve_distributions.cpp)
std::pair<const ast::Call*, const math::FamilyRow*> family_of(const ast::Ast& ast, ast::ExprId id,
                                                              Diagnostics* diagnostics);
/// Creates an index variable for each axis of a statement, a potential or a `let`, and makes its name visible in the
/// context. Returns the index variables. (resolve_distributions.cpp)
std::vector<IndexVarId> make_index_vars(Resolver& r, Context& c, const std::vector<ast::Name>& names,
                                        const std::vector<PlateId>& axes);
/// Resolves the bodies of all `let` declarations, all statements `x ~ D(...)`, and all potentials.
/// (resolve_distributions.cpp)
void resolve_statements(Resolver& r);

/// Resolves the `guide` declarations, which restrict the variational posterior. (resolve_guide.cpp)
void resolve_guide(Resolver& r);

/// Reports flaws of the model as a whole: cyclic dependencies, latent variables that no data reach, unused names, and a
/// model that observes nothing. (check_model.cpp)
void check_model(Resolver& r);

/// Gives each mixture the variable that selects its part: a latent one that is added (x.part), or a latent category or
/// bit of the model that stands in place of the weights. Reports weights or selectors whose number of values differs
/// from that of the parts. An observed Bernoulli whose probability is a product of two latent ones becomes a mixture
/// first. (expand_mixtures.cpp)
void expand_mixtures(Resolver& r);

/// Replaces each statement of a compound distribution by two: one for its hidden variable, such as the weight of
/// Student's t, and one for the value given it. Reports those that cannot be expanded. (expand_compounds.cpp)
void expand_compounds(Resolver& r);

}  // namespace lehr::model
