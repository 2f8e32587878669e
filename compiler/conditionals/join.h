// Joint variables: how the numbers of several variables are laid out as one variable with one factor.
//
// There are three kinds of joint variable: a vector of Normal variables, a vector with the precision that scales it,
// and a category with the number that it switches. Each kind has a predicate (are_...), a check (why_not_...), a
// function that adds the joint variable to the model, and one that makes the translation of statistics of the members
// (AtomTranslation). join() calls them in this order.
#pragma once
#include <functional>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns the members of a joint variable, each with its axes divided in two. Shared axes are over plates that every
/// member has, in the order of the first member; the others, and those over `JointGuide::coordinates`, number
/// coordinates of the member.
std::vector<model::Member> member_layouts(const model::Model& m, const model::JointGuide& guide);

/// Adds the joint variable of the members to the model, on their shared axes, and returns it. Its statement is that of
/// the first member. It sets Variable::joint of the members. The caller sets the event axis or the values of the joint
/// variable.
model::VariableId add_joint(model::Model& m, math::Support support, std::vector<model::Member> members);

/// Adds a plate of `size` elements to the model and returns it.
model::PlateId add_plate(model::Model& m, const std::string& name, Span span, model::ExprId size);

/// Adds a scalar expression, given by its root node, to the model and returns its id.
template <class Node>
model::ExprId add_expr(model::Model& m, Node node, Span span) {
  m.exprs.push_back({std::move(node), {}, std::nullopt, span});
  return model::ExprId(m.exprs.size() - 1);
}

/// Returns the names of the variables as a list, "a, b", each in the given quotes.
std::string list_of_names(const model::Model& m, const std::vector<model::VariableId>& members,
                          std::string_view quote = "");

/// Translates an atom of a member to an atom of the joint variable. It may add index variables to the sum of the term.
/// It returns nothing if the joint variable has no such statistic.
using AtomTranslation = std::function<std::optional<density::Atom>(density::Term& t, const density::Atom& x)>;

/// Returns true if the variable is a real number or a vector; its distribution does not matter.
bool is_normal(const model::Model& m, model::VariableId v);
/// Returns true if all the variables are real numbers or vectors, which can be members of one vector.
bool are_normal(const model::Model& m, const std::vector<model::VariableId>& members);
/// Adds the vector of all numbers of Normal members to the model and returns it. If the guide has a pattern, the
/// precision of the vector is sparse, and a plate for its entries is added too.
model::VariableId add_one_normal(model::Model& m, model::JointGuide guide);
/// Returns the translation of statistics of Normal members to those of their vector `joint`. A member's value or
/// component becomes one component (Stat::comp); its square, or a product of two of its components, becomes a product
/// of two components (Stat::comp2). Other statistics have no translation. `a` and `m` must outlive the result.
AtomTranslation vector_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Adds the plate that numbers the coordinates of the Normal members of `joint`, one member after another, and returns
/// it. Its size is the sum over the members of the product of their own extents.
model::PlateId add_coordinates(model::Model& m, model::VariableId joint);
/// Returns why the members' own axes cannot number the coordinates of one vector, in words, or nothing if they can.
/// Their sizes must not differ between elements, and their elements must not have copies.
std::optional<std::string> why_not_coordinates(const model::Model& m, const model::JointGuide& guide);

/// Returns true if the variables are Normal ones and exactly one positive one, in any order. One number and its
/// precision on the same plates do not count: they are a NormalGamma without a joint variable.
bool are_scaled(const model::Model& m, const std::vector<model::VariableId>& members);
/// Returns why Normal variables and a precision cannot share one factor, in words, or nothing if they can. The
/// precision must have one value in each element of the factor.
std::optional<std::string> why_not_scaled(const model::Model& m, const model::JointGuide& guide);
/// Adds the joint variable of a vector and its precision to the model and returns it; the precision is its last member.
model::VariableId add_scaled(model::Model& m, model::JointGuide guide);
/// Returns the translation of statistics of Normal members and their precision to those of the joint variable `joint`.
/// Normal members are translated as by vector_translation; tau and log tau stay Stat::value and Stat::log. Products
/// become one statistic later, in the normal form of the term: tau * x becomes Stat::weighted. `a` and `m` must outlive
/// the result.
AtomTranslation scaled_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Returns true if the two variables are a category or bit, and a real number, in either order.
bool are_switched(const model::Model& m, const std::vector<model::VariableId>& members);
/// Returns why a category and a number cannot share one factor, in words: one lies on a plate that the other does not
/// have. Returns nothing if they can.
std::optional<std::string> why_not_switched(const model::Model& m, const model::JointGuide& guide);
/// Adds the joint variable of a category and a number to the model and returns it; the category is its first member. A
/// bit becomes a category with two values.
model::VariableId add_switched(model::Model& m, model::JointGuide guide);
/// Returns the translation of statistics of a category z and a number x to those of the joint variable: x becomes the
/// sum over k of [z = k] x, x^2 that of [z = k] x^2. The value of a bit becomes the indicator of 1. `a` and `m` must
/// outlive the result.
AtomTranslation switched_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Replaces all terms of the members' statements by a joint prior that data give in natural parameters (a posterior
/// that is used as a prior). It sets the axes of these data to those of the joint variable. It is called after the
/// joint variable is added and before its members' terms are translated.
void replace_prior(model::Model& m, density::Density& d, model::VariableId joint, const model::JointPrior& prior);

}  // namespace lehr::conditionals
