// The Model: a parsed file with every name resolved and every expression typed by plates. It is the second intermediate
// representation, made from the Ast by resolve().
//
// Invariants of a Model that was returned without errors:
// * Every index is typed: in `mu[z[n]]`, the first axis of mu ranges over the same set as the values of z.
// * Every parameter of a distribution has the shape that its family row demands. A scalar stands for a vector, or for a
//   multiple of the identity, where one is needed; the shapes here are those written.
// * Names declared by `let` are substituted. A PlateId is the plate itself and never an alias, except in Model::plates,
//   where aliases have Plate::set != themselves.
// * Constants are symbolic: their values may be changed by --set, and may use sizes.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/math/family.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/ids.h"

namespace lehr::math {
struct SparsePattern;  // declared in compiler/math/sparse_pattern.h
}

namespace lehr::model {

using PlateId = Id<struct PlateTag>;          // identifies a plate: index in Model::plates
using ConstantId = Id<struct ConstantTag>;    // identifies a constant: index in Model::constants
using GivenId = Id<struct GivenTag>;          // identifies a given: index in Model::givens
using VariableId = Id<struct VariableTag>;    // identifies a variable: index in Model::variables
using StatementId = Id<struct StatementTag>;  // identifies a statement: index in Model::statements
using IndexVarId = Id<struct IndexVarTag>;    // identifies an index variable: index in Model::index_vars
using ExprId = Id<struct ModelExprTag>;       // identifies an expression: index in Model::exprs

/// A plate: a set of elements 0 ... size - 1, and the type of the indices that range over it.
struct Plate {
  /// The declared name. A plate that the compiler adds is named after what needs it, as no user can write it:
  /// "stick_breaking(s)", "summand(y)".
  std::string name;
  Span span;    // of the name, in the model file
  PlateId set;  // this plate, or the one that it is an alias of
  /// The parent of a nested plate, doc in `plate token in doc;`; none for other plates. A nested plate has a row of
  /// elements for each element of its parent, and the rows differ in length.
  std::optional<PlateId> parent;
  bool ordered = false;          // its elements are a sequence: `t-1` precedes `t`
  std::optional<ExprId> size;    // the size behind `=`, an expression of constants and sizes; absent without `=`
  std::optional<GivenId> times;  // the data with the multiplicity of each element (`times`): counts, or real weights
  std::int64_t from = 0;         // the number of the first element in data and in the text of the model
  /// Set for a plate that the compiler adds for the value of stick_breaking, cumulative or ordered_logistic: the plate
  /// of the argument, which has one element fewer. The added plate is an alias (`set`) of the declared plate that it is
  /// used with, if there is one.
  std::optional<PlateId> stick;
};

/// A scalar constant, `const K = 3;`: a number that --set or the data may change.
struct Constant {
  std::string name;             // as declared
  Span span;                    // of the name, in the model file
  std::optional<ExprId> value;  // the expression behind `=`; absent for `const K;`, which --set or the data must give
};

/// For a given whose values are elements of a nested plate: says in which row of that plate each value lies. Binding
/// finds and checks row lengths by it. With `mu[row[n], c[n]]`, the value c[n] is an element of row row[n].
struct ReferencedRow {
  std::optional<GivenId> by = {};  // the given with the rows (`row`); none: the row is the first index of the values
};

/// The declared type of one element of a given (data that no statement generates): a number, a count, an element of a
/// plate, or a vector, matrix or probability vector.
enum class GivenType { real, count, category, vector, matrix, simplex };

/// A `data` declaration (or `const` with axes) of the model: values that no statement generates, such as covariates,
/// arrays of hyperparameters, look-up tables and multiplicities.
struct Given {
  std::string name;                  // as declared
  Span span;                         // of the name, in the model file
  std::vector<PlateId> axes;         // the declared index plates
  std::vector<PlateId> event;        // event axes: one for a vector or simplex, two for a matrix
  GivenType type = GivenType::real;  // type of one element
  /// For a given of type `category`: the plate whose elements the values are. If it is nested, they count within a row.
  /// None for other types.
  std::optional<PlateId> value_plate;
  bool constant = false;                  // declared by `const a0[topic];` instead of `data`
  std::optional<ReferencedRow> row = {};  // of a category over a nested plate, once an index uses it
};

/// One of the variables that form a joint variable (`guide joint`). It says which axes of the member select the element
/// of the joint variable, and which axes number coordinates of that element.
struct Member {
  VariableId variable;  // the member
  /// For each axis of the joint variable: the member's axis over the same plate.
  std::vector<std::size_t> shared;
  /// The member's axes that the joint variable does not have. They and its event axes number its coordinates in the
  /// joint vector, row-major.
  std::vector<std::size_t> own;
};

/// Why a later stage added a latent variable: to give a statement conjugate terms (density/augment.cpp), or to replace
/// several variables with a common factor (conditionals/join.cpp). Variables that resolve() adds, for compound
/// distributions and mixtures, have statements of their own and are not auxiliary.
struct Auxiliary {
  /// The reasons for which the compiler adds a latent variable: the source of each count, the point of a local bound,
  /// the number behind an observation (its sign or interval), or one joint variable for several.
  enum class Kind {
    source,                          // the summand of a rate from which each of the host's counts came
    bound,                           // the point at which a local bound touches its function
    value,                           // the number of which an observation gives the sign or an interval
    joint                            // the numbers of its members, one after another, as one vector
  } kind = Kind::source;             // which kind this one is
  VariableId host;                   // variable of the statement that needs it; joint: first member
  std::vector<Member> members = {};  // of a joint variable: its members
  /// Of a joint variable whose precision is sparse: the nonzeros of the precision. Null for others.
  std::shared_ptr<const math::SparsePattern> pattern = {};
  PlateId entries = {};                    // with `pattern`: the plate that numbers its entries; else invalid
  const math::FamilyRow* bound = nullptr;  // of a bound: the family row of the local bound
};

/// A random variable, latent or observed, with all its elements.
struct Variable {
  std::string name;  // as declared; variables that the compiler adds: x.part, x.weight, ...
  Span span;         // of the name, in the model file
  /// The index plates. A number declared with `over P` has P as its last one.
  std::vector<PlateId> axes;
  std::vector<PlateId> event;                   // event axes: (P) for a vector over P, (P, P) for a matrix
  math::Support support = math::Support::real;  // the set in which a value lies
  std::optional<PlateId> value_plate;           // of a category: the plate whose elements the values are
  bool observed = false;                        // declared by `observe`: the data give its values, some may be missing
  bool clamped = false;                         // latent, and the data give some of its elements, or entries of vectors
  StatementId statement;                        // the statement that generates it; of an auxiliary, that of its host
  std::optional<Auxiliary> auxiliary;           // set for variables that stages after resolve() add
  std::optional<VariableId> joint;              // the joint variable that replaces it in the log joint and the guide
};

/// An index variable: it ranges over the elements of a plate, for an axis of a statement (the n of `x[n] ~ ...`) or for
/// a sum.
struct IndexVar {
  std::string name;                  // the name of the plate as it is written, possibly an alias
  PlateId plate;                     // what it ranges over
  std::optional<IndexVarId> parent;  // of a nested plate: the index variable that selects the row
};

/// Returns true if the data contain values of the variable, so that they determine the sizes of its plates.
inline bool has_data(const Variable& v) { return v.observed || v.clamped; }

/// Returns true if the variable has a statement and a posterior, possibly only for some of its elements. The model file
/// declares it, or resolve() has added it for a compound distribution or a mixture.
inline bool is_latent(const Variable& v) { return !v.observed && !v.auxiliary; }

/// One index of a name: an index variable, possibly shifted (`t-1`), a constant, or the value of a category (`z[n]`,
/// `user[e]`).
struct Index {
  /// An index that is a fixed element of a plate, such as the 2 in `mu[2]`.
  struct Constant {
    std::int64_t value;  // the element, counted from 0
  };
  /// An index that is an index variable plus an offset, such as `t` or `t-1`.
  struct Shifted {
    IndexVarId bound;         // the index variable
    std::int64_t offset = 0;  // negative for an earlier element; 0 without a shift
  };
  /// An index that is the value of a category, latent or data, such as the z[n] in `mu[z[n]]`.
  struct Lookup {
    ExprId category;  // a GivenRef or VariableRef whose values are elements of a plate
  };
  std::variant<Constant, Shifted, Lookup> form;  // which of them it is
  PlateId set;                                   // the plate that it ranges over
  Span span;                                     // in the model file
};

/// A node of an expression of the model: a literal number.
struct Number {
  double value;  // the number
};
/// A node of an expression of the model: a use of a scalar constant (`const K = 3;`).
struct ConstantRef {
  ConstantId constant;  // which constant
};
/// A node of an expression of the model: a use of a given, which is an array of data. Its leading axes (plates first,
/// then event axes) are indexed; the remaining ones are the shape of the value.
struct GivenRef {
  GivenId given;               // which given
  std::vector<Index> indices;  // one for each leading axis
};
/// A node of an expression of the model: a use of a random variable. Its leading axes (plates first, then event axes)
/// are indexed; the remaining ones are the shape of the value.
struct VariableRef {
  VariableId variable;         // which variable
  std::vector<Index> indices;  // one for each leading axis
};
/// A node of an expression of the model: the number of elements of a plate, or of one row of a nested plate.
struct SizeOf {
  PlateId plate;                // which plate
  std::vector<IndexVarId> row;  // of a nested plate: the index variables that select the row
};
/// A node of an expression of the model: the negative of an expression, `-x`.
struct Negate {
  ExprId operand;  // the expression
};
/// Arithmetic operators: add, subtract, multiply, divide.
using math::BinaryOp;
/// A node of an expression of the model: a sum, difference, product or quotient. Operands of + and - have equal shapes.
/// One operand of * is a scalar; a matrix times a vector is a MatrixVector. The right operand of / is a scalar.
struct Binary {
  BinaryOp op = BinaryOp::add;  // which operation
  ExprId left, right;           // the operands
};
/// The product of a matrix and a vector: `A * h`.
struct MatrixVector {
  ExprId matrix, vector;  // the factors
};
/// The inner product of two vectors: `dot(a, b)`.
struct Dot {
  ExprId left, right;  // the vectors
};
/// The sum of an expression over all values of some index variables: `sum(f) w[f] * x[n, f]`.
struct SumOver {
  std::vector<IndexVarId> index_vars;  // index variables of the sum
  ExprId body;                         // the summand
};
/// The diagonal matrix of a vector: `diag(v)`.
struct Diag {
  ExprId vector;  // the diagonal
};
/// One component of a vector expression, as a parameter of a number that is drawn for each element of a plate:
/// component k of diag(v) * w in `x ~ Normal(diag(v) * w, 1) over k`. A plain name gets one more index instead, as mu
/// becomes `mu[k]`.
struct Component {
  ExprId vector;  // the vector
  IndexVarId at;  // the index variable
};
/// The call `stick_breaking(v)`: the probabilities v_1, v_2 (1 - v_1), ... of the fractions v, and the rest as the last
/// one. It has one element more than v.
struct StickBreaking {
  ExprId fractions;  // a vector of numbers in (0, 1)
};
/// The call `softmax(v)`: the exponentials of a vector, divided by their sum, as probabilities of categories.
struct Softmax {
  ExprId scores;  // a vector of log odds
};
/// The call `ordered_logistic(location, cuts)`: the probabilities of the categories into which the cuts divide the
/// line, for a number that has a logistic distribution about `location`. It has one element more than `cuts`.
struct OrderedLogistic {
  ExprId location, cuts;  // a number, and a vector of increasing cuts
};
/// The call `cumulative(steps)`: cumulative sums that start at 0, as in 0, s[0], s[0] + s[1], ... It has one element
/// more than `steps`; the last one is the sum of all.
struct Cumulative {  // a vector
  ExprId steps;      // a vector of increments
};
/// Functions of one number: log, exp, sqrt, ...
using math::Function;
/// A node of an expression of the model: a function such as log, applied to a number or to each entry of a vector.
struct Apply {
  Function function;  // which function
  ExprId argument;    // the number or vector
};

/// An expression of the model: a node, and the type of its value.
struct Expr {
  /// The kind of expression, with its operands.
  std::variant<Number, ConstantRef, GivenRef, VariableRef, SizeOf, Negate, Binary, MatrixVector, Dot, SumOver, Diag,
               Component, StickBreaking, Softmax, OrderedLogistic, Cumulative, Apply>
      node;
  std::vector<PlateId> shape;          // axes of its value: none for a number, one of a vector, two of a matrix
  std::optional<PlateId> value_plate;  // of a category: the plate whose elements the values are
  Span span;                           // in the model file
};

/// A parameter of a distribution, by the name and with the value that the user gave. In a part of a compound
/// distribution both are from the compiler.
struct Parameter {
  const math::Spelling* spelling = nullptr;  // the parameter, by the name that was typed; owned by the family row
  ExprId value;                              // the expression that the user gave for it
};

/// A distribution in a statement of the model: its family, and the parameters that the user gave.
struct Distribution {
  const math::FamilyRow* family = nullptr;  // its row in the family table
  /// The parameters that the user gave, in the order of the canonical parameters in the family's row. Optional ones may
  /// be absent.
  std::vector<Parameter> parameters;
  Span span;  // in the model file
  /// If this is a part of a compound distribution: the one that was typed, as the only entry. That of the hidden
  /// variable's prior has no parameters. Otherwise empty.
  std::vector<Distribution> written = {};
};

/// Returns the distribution that the user typed: the compound one if `d` is a part of it, else `d`. For the part that
/// is the prior of the hidden variable it has the family and the span alone, without parameters.
inline const Distribution& as_written(const Distribution& d) { return d.written.empty() ? d : d.written.front(); }

/// Limits of a variable. A latent value lies above `above` and below `below`. An observed value is censored from a
/// limit on: the data say only that it lies there or beyond.
struct Limits {
  std::optional<ExprId> above, below;          // numbers; absent if there is no such limit
  bool any() const { return above || below; }  // true if there is a limit
};

/// A statement `x[n] ~ D(...)`: the distribution of a variable for each of its elements.
struct Statement {
  VariableId variable;                    // the variable
  std::vector<IndexVarId> index_vars;     // index variables, one for each index plate of the variable
  Distribution main;                      // the distribution; of a mixture, that of the first part
  std::optional<Distribution> start;      // of a chain: the distribution of the first elements along the ordered axis
  std::optional<IndexVarId> lagged;       // of a chain: the index variable of the ordered axis, the t of `x[t-1]`
  Span span;                              // in the model file
  Limits limits = {};                     // limits of its values, such as `above 0`
  std::vector<Distribution> others = {};  // of a mixture: the parts after `main`
  /// Of a mixture: a use of the variable that selects the part, which the compiler has added (x.part) or which is a
  /// latent category or bit of the model. A bit is 1 for `main`; a category is 0 for `main` and k for the k-th of
  /// `others`, counted from 1.
  std::optional<ExprId> part = std::nullopt;
};

/// A term that a `potential` declaration adds to the log joint, for all values of its index variables.
struct Potential {
  std::vector<IndexVarId> index_vars;  // the index variables
  ExprId value;                        // the number that it adds to the log joint
  Span span;                           // in the model file
};

/// A common prior of all members of a joint variable, which replaces the priors in their statements. It is the
/// posterior of an earlier fit, or a power of it, in the exponential-family form of the joint variable's factor. The
/// givens get their axes in conditionals::replace_prior(): those of the joint variable; event axes run over its
/// coordinates.
struct JointPrior {
  std::size_t guide = 0;                                 // which entry of Guide::joint it belongs to
  std::vector<std::pair<math::Stat, GivenId>> naturals;  // natural parameters, by statistic
  GivenId constant;  // minus the log normaliser A(natural parameters), so that the density integrates to one
};

/// One factor of the posterior that several latent variables (or all elements of one) share: `guide joint(a, b)`.
struct JointGuide {
  std::vector<VariableId> members;  // the latent variables that share the factor
  /// Plates (sets) on which all members lie, and of which every element is a coordinate of the factor. There is a
  /// factor for each element of the other plates that all members have.
  std::vector<PlateId> coordinates = {};
  bool chosen = false;  // true: the compiler chose this factor from the terms; false: the model file has it
  /// Set if the precision of the factor is sparse: its nonzeros, which the terms and the data decide.
  std::shared_ptr<const math::SparsePattern> pattern = {};

  /// Returns true if the variable is one of the members that share the factor.
  bool has(VariableId v) const { return std::ranges::find(members, v) != members.end(); }
};

/// Restrictions of the variational posterior, from the `guide` of the model file or by the compiler's choice: which
/// variables share a factor, which get a point estimate, and which are updated first.
struct Guide {
  std::vector<JointGuide> joint;  // factors that several variables share
  /// `point`: variables with a point estimate. `independent`: chains whose elements get factors of their own. `order`:
  /// variables to update first, in this order.
  std::vector<VariableId> point, independent, order;
  /// True: the compiler chooses no further joint factors, because the guide says so or because it has chosen.
  bool factorised = false;
  /// True: links of Normal predictors take their expectations under the posterior, and no bound of them.
  bool gaussian_links = false;
};

/// A model file with all names resolved. Entities refer to each other by ids, which are indices in these vectors.
struct Model {
  std::string name;                      // the name of the model
  std::vector<Plate> plates;             // all plates, those that the compiler adds last
  std::vector<Constant> constants;       // scalar constants
  std::vector<Given> givens;             // data that no statement generates
  std::vector<Variable> variables;       // in order of declaration; added ones last
  std::vector<Statement> statements;     // in order of declaration; added ones last
  std::vector<Potential> potentials;     // further terms of the log joint
  std::vector<JointPrior> joint_priors;  // priors that are posteriors of earlier fits
  std::vector<IndexVar> index_vars;      // all index variables
  std::vector<Expr> exprs;               // all expressions
  Guide guide;                           // restrictions of the posterior
  /// The text that the spans are places of, for messages of later stages. Null if the model was not read from a text.
  std::shared_ptr<const Source> source = {};

  /// Returns the plate with this id.
  const Plate& operator[](PlateId id) const { return plates[id.index()]; }
  const Constant& operator[](ConstantId id) const { return constants[id.index()]; }     // the constant with this id
  const Given& operator[](GivenId id) const { return givens[id.index()]; }              // the given with this id
  const Variable& operator[](VariableId id) const { return variables[id.index()]; }     // the variable with this id
  const Statement& operator[](StatementId id) const { return statements[id.index()]; }  // the statement with this id
  const IndexVar& operator[](IndexVarId id) const { return index_vars[id.index()]; }  // the index variable with this id
  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }               // the expression with this id
};

}  // namespace lehr::model

namespace lehr {

/// Resolves an Ast to a Model: names, plates, shapes and supports. Compound distributions and mixtures are expanded
/// into statements with added variables. Errors and warnings go to `diagnostics`. Returns nothing if it adds an error;
/// errors that `diagnostics` already has do not count.
std::optional<model::Model> resolve(const ast::Ast& ast, Diagnostics& diagnostics);

}  // namespace lehr
