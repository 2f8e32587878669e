// Model: the file with every name resolved and every expression typed by plates.
//
// Invariants of a Model that was returned without errors:
// * every index is typed: in `mu[z[n]]` the first axis of mu ranges over the same set as the values of z;
// * every parameter of a distribution has the shape its family row asks for (a scalar stands for a vector or,
//   times the identity, for a matrix where one is needed: the shapes here are those written);
// * `let` names are substituted; wherever a PlateId stands it is a set, never an alias (a Bound keeps the name that was
//   written); aliases and unified stick-breaking plates only remain in Model::plates, with Plate::set != themselves;
// * constants stay symbolic (their values may be replaced by --set, and may use sizes).
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/math/family.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/ids.h"

namespace lehr::model {

using PlateId = Id<struct PlateTag>;
using ConstantId = Id<struct ConstantTag>;
using GivenId = Id<struct GivenTag>;
using VariableId = Id<struct VariableTag>;
using StatementId = Id<struct StatementTag>;
using BoundId = Id<struct BoundTag>;
using ExprId = Id<struct ModelExprTag>;

struct Plate {
  std::string name;  // anonymous plates: "stick_breaking(s)", after the function that has a value over them
  Span span;
  PlateId set;                    // itself, or what it is an alias of
  std::optional<PlateId> parent;  // `in`: its size depends on the element of the parent
  bool ordered = false;
  std::optional<ExprId> size;    // `= K` (constants and sizes only)
  std::optional<GivenId> times;  // multiplicity of an element
  std::int64_t from = 0;         // the number that data and the text of the model have for the first element
  std::optional<PlateId>
      stick;  // anonymous: one element more than this plate (sticks, ordered categories by their cuts)
};

/// A scalar constant. `value` is absent for `const K;`, which --set must give.
struct Constant {
  std::string name;
  Span span;
  std::optional<ExprId> value;
};

/// What says of which row the elements of a nested plate are that data name, one for each of theirs.
struct NamedRow {
  std::optional<GivenId> by = {};  // none: the first axis of the data
};

enum class GivenType { real, count, category, vector, matrix, simplex };

/// Data that no statement generates: covariates, hyperparameter arrays, lookups, multiplicities.
struct Given {
  std::string name;
  Span span;
  std::vector<PlateId> axes;   // declared indices
  std::vector<PlateId> event;  // vector, simplex: 1; matrix: 2
  GivenType type = GivenType::real;
  std::optional<PlateId>
      value_plate;                   // category: whose elements the values are; numbers within the row of a nested one
  bool constant = false;             // declared by `const a0[topic];`
  std::optional<NamedRow> row = {};  // category of a nested plate, where an index names it
};

/// One of the variables that a joint variable is made of.
struct Member {
  VariableId variable;
  std::vector<std::size_t> shared;  // by axis of the joint variable: the member's axis over the same plate
  std::vector<std::size_t> own;     // its other axes: with its event axes they number its coordinates, row-major
};

/// A latent variable that the compiler adds: so that a statement has conjugate terms (density/augment.cpp), or in the
/// place of several that share a factor (conditionals/join.cpp).
struct Auxiliary {
  enum class Kind {
    source,  // which summand of a rate or probability each of the host's counts came from
    bound,   // where a bound touches what it is below or above
    value,   // the number that an observation tells a side or an interval of
    joint    // the numbers of its members, one member after another, as one vector over a plate of coordinates
  } kind = Kind::source;
  VariableId host;                   // the variable of the statement; joint: the first member
  std::vector<Member> members = {};  // joint
  const math::FamilyRow* bound = nullptr;
};

/// A random variable, latent or observed.
struct Variable {
  std::string name;
  Span span;
  std::vector<PlateId> axes;   // last the plate of `over` where each element is a number
  std::vector<PlateId> event;  // `over` of vectors; (d, d) for a matrix
  math::Support support = math::Support::real;
  std::optional<PlateId> value_plate;  // category
  bool observed = false;
  bool clamped = false;   // latent, with values from the data for some elements, or some entries of vectors
  StatementId statement;  // an auxiliary: its host's
  std::optional<Auxiliary> auxiliary;
  std::optional<VariableId> joint;  // the variable that has its numbers in the log joint and in the guide
};

/// A bound index: an axis of a statement or of a sum, written with the plate's name.
struct Bound {
  std::string name;
  PlateId plate;
  std::optional<BoundId> parent;  // the bound that selects the row of a nested plate
};

/// Whether the data size the plates of the variable that the model leaves open.
inline bool has_data(const Variable& v) { return v.observed || v.clamped; }

/// Whether it is one of the source's own variables that a posterior is of, be it for some elements alone.
inline bool is_latent(const Variable& v) { return !v.observed && !v.auxiliary; }

/// One index: a bound, possibly shifted (`t-1`), a constant, or the value of a category (`z[n]`, `user[e]`).
struct Index {
  struct Constant {
    std::int64_t value;
  };
  struct Shifted {
    BoundId bound;
    std::int64_t offset = 0;
  };  // offset 0: the bound itself
  struct Lookup {
    ExprId category;
  };  // a Reference to a category-valued name
  std::variant<Constant, Shifted, Lookup> form;
  PlateId set;  // what it ranges over, aliases resolved
  Span span;
};

struct Number {
  double value;
};
struct ConstantRef {
  ConstantId constant;
};
/// A given or a variable with its leading axes (plates first, then event axes) indexed; what is left of them is the
/// shape.
struct GivenRef {
  GivenId given;
  std::vector<Index> indices;
};
struct VariableRef {
  VariableId variable;
  std::vector<Index> indices;
};
struct SizeOf {
  PlateId plate;
  std::vector<BoundId> row;
};  // row: the parents' bounds of a nested plate
struct Negate {
  ExprId operand;
};
/// add, subtract: equal shapes; multiply: one side scalar (matrix with vector is MatrixVector); divide: by a scalar.
using math::BinaryOp;
struct Binary {
  BinaryOp op = BinaryOp::add;
  ExprId left, right;
};
struct MatrixVector {
  ExprId matrix, vector;
};  // `A * h`
struct Dot {
  ExprId left, right;
};
struct SumOver {
  std::vector<BoundId> bounds;
  ExprId body;
};
struct Diag {
  ExprId vector;
};
/// The component of a vector at a bound: a parameter of a number drawn element by element (`over`).
struct Component {
  ExprId vector;
  BoundId at;
};
struct StickBreaking {
  ExprId fractions;
};
struct Softmax {
  ExprId scores;
};
/// The probabilities of the categories into which cuts divide the line, of a number with a logistic distribution about
/// `location`.
struct OrderedLogistic {
  ExprId location, cuts;
};
/// 0, then the sums of the first one, two, ... steps.
struct Cumulative {
  ExprId steps;
};
using math::Function;
struct Apply {
  Function function;
  ExprId argument;
};  // of a vector: element by element

struct Expr {
  std::variant<Number, ConstantRef, GivenRef, VariableRef, SizeOf, Negate, Binary, MatrixVector, Dot, SumOver, Diag,
               Component, StickBreaking, Softmax, OrderedLogistic, Cumulative, Apply>
      node;
  std::vector<PlateId> shape;          // sets of the missing trailing axes: (), (P), (P, Q)
  std::optional<PlateId> value_plate;  // category-valued
  Span span;
};

struct Parameter {
  const math::Spelling* spelling = nullptr;
  ExprId value;
};

struct Distribution {
  const math::FamilyRow* family = nullptr;
  std::vector<Parameter> parameters;  // in the row's order of canonical parameters; optional ones may be absent
  Span span;
  std::vector<Distribution> written = {};  // what was typed, where it is a part of a compound: one, else none
};

inline const Distribution& as_written(const Distribution& d) { return d.written.empty() ? d : d.written.front(); }

/// Numbers that the value of a latent variable is known to be above and below, or beyond which an observed one is
/// censored.
struct Limits {
  std::optional<ExprId> above, below;
  bool any() const { return above || below; }
};

struct Statement {
  VariableId variable;
  std::vector<BoundId> bounds;  // one an axis of the variable
  Distribution main;
  std::optional<Distribution> start;  // chains: for the first element of the ordered axis
  std::optional<BoundId> lagged;      // chains: the bound of that axis
  Span span;
  Limits limits = {};
  std::vector<Distribution> others = {};      // of a mixture: its parts after `main`
  std::optional<ExprId> part = std::nullopt;  // which one: a bit that is 1 for `main`, or a category
};

struct Potential {
  std::vector<BoundId> bounds;
  ExprId value;
  Span span;
};

/// A distribution of all members of a joint variable together, in the place of those of their statements: natural
/// parameters of its factor's family, and the constant that makes the density one. Givens on the axes of the joint
/// variable; their event axes are its coordinates.
struct JointPrior {
  std::size_t guide = 0;  // of Guide::joint
  std::vector<std::pair<math::Stat, GivenId>> naturals;
  GivenId constant;
};

struct Guide {
  std::vector<std::vector<VariableId>> joint;
  std::vector<VariableId> point, independent, order;
};

struct Model {
  std::string name;
  std::vector<Plate> plates;
  std::vector<Constant> constants;
  std::vector<Given> givens;
  std::vector<Variable> variables;    // in order of declaration
  std::vector<Statement> statements;  // in order of declaration
  std::vector<Potential> potentials;
  std::vector<JointPrior> joint_priors;
  std::vector<Bound> bounds;
  std::vector<Expr> exprs;
  Guide guide;

  const Plate& operator[](PlateId id) const { return plates[id.index()]; }
  const Constant& operator[](ConstantId id) const { return constants[id.index()]; }
  const Given& operator[](GivenId id) const { return givens[id.index()]; }
  const Variable& operator[](VariableId id) const { return variables[id.index()]; }
  const Statement& operator[](StatementId id) const { return statements[id.index()]; }
  const Bound& operator[](BoundId id) const { return bounds[id.index()]; }
  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
};

}  // namespace lehr::model

namespace lehr {

/// Ast -> Model: names, plates, shapes, supports; compound distributions in parts. Errors go to `diagnostics`; the
/// Model is returned when there are none.
std::optional<model::Model> resolve(const ast::Ast& ast, Diagnostics& diagnostics);

}  // namespace lehr
