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

/// Divides the axes of each member of a `guide joint` in two, and returns the members with them. Shared axes, over
/// plates that every member has, number the elements of the joint variable, in the order of the first member. The
/// others, and those over `JointGuide::coordinates`, number coordinates of the member.
std::vector<model::Member> member_layouts(const model::Model& m, const model::JointGuide& guide);

/// Adds one variable that stands for all members, with one factor, to the model and returns it. It lies on their shared
/// axes, its statement is that of the first member, and Variable::joint of each member names it. The caller sets its
/// event axis or its values.
model::VariableId add_joint(model::Model& m, math::Support support, std::vector<model::Member> members);

/// Adds a plate to the model and returns it; `size` is the expression of the number of its elements. Joint variables
/// number their coordinates or values by such plates, which have names that no user can write.
model::PlateId add_plate(model::Model& m, const std::string& name, Span span, model::ExprId size);

/// Adds a scalar expression, given by its root node, to the model and returns its id.
template <class Node>
model::ExprId add_expr(model::Model& m, Node node, Span span) {
  m.exprs.push_back({std::move(node), {}, std::nullopt, span});
  return model::ExprId(m.exprs.size() - 1);
}

/// Returns the names of the variables as a list, "a, b", for messages and for the names of joint variables; `quote`
/// stands before and behind each name.
std::string list_of_names(const model::Model& m, const std::vector<model::VariableId>& members,
                          std::string_view quote = "");

/// A function that translates an atom of a member, such as x[k], to one of the joint variable, such as comp(x) of
/// element k. join() applies it to every term of the density. It may add index variables to the sum of the term `t`. It
/// returns nothing if the joint variable has no such statistic.
using AtomTranslation = std::function<std::optional<density::Atom>(density::Term& t, const density::Atom& x)>;

/// Returns true if the variable is a real number or a vector, so that its factor can be Normal. The family of its prior
/// does not matter.
bool is_normal(const model::Model& m, model::VariableId v);
/// Returns true if all the variables are real numbers or vectors, so that they can share one MvNormal factor.
bool are_normal(const model::Model& m, const std::vector<model::VariableId>& members);
/// Adds the joint variable of Normal members to the model and returns it: a vector of all their numbers. If the guide
/// has a pattern, the precision of the vector is sparse, and a plate for its entries is added too.
model::VariableId add_one_normal(model::Model& m, model::JointGuide guide);
/// Returns the function that translates statistics of Normal members to those of their joint vector. A member's value
/// or component becomes one component (Stat::comp); its square, or a product of two of its components, becomes a
/// product of two components (Stat::comp2). Other statistics have no translation. `a` and `m` must outlive the
/// function.
AtomTranslation vector_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Adds the plate that numbers the coordinates of the joint vector `joint`, the numbers of its Normal members one
/// member after another, to the model and returns it. Its size is the sum over the members of the product of their own
/// extents.
model::PlateId add_coordinates(model::Model& m, model::VariableId joint);
/// Returns why the axes that the members do not share cannot number the coordinates of one vector, in words for an
/// error message, or nothing if they can. Their sizes must not differ between elements of the joint variable, and their
/// elements must not have copies (`times`).
std::optional<std::string> why_not_coordinates(const model::Model& m, const model::JointGuide& guide);

/// Returns true if the variables are Normal ones and exactly one positive one, in any order, so that they may be a
/// vector with the precision that scales it. One number and its precision on the same plates do not count: they are a
/// NormalGamma without a joint variable.
bool are_scaled(const model::Model& m, const std::vector<model::VariableId>& members);
/// Returns why Normal variables and a precision cannot share one factor, in words for an error message, or nothing if
/// they can. The precision must have one value in each element of the factor, and the vector must satisfy
/// why_not_coordinates().
std::optional<std::string> why_not_scaled(const model::Model& m, const model::JointGuide& guide);
/// Adds the joint variable of a vector and its precision to the model and returns it; the precision is its last member.
model::VariableId add_scaled(model::Model& m, model::JointGuide guide);
/// Returns the function that translates statistics of Normal members and their precision tau to those of their joint
/// variable. Those of Normal members become components or products of two (Stat::comp, Stat::comp2); tau and log tau
/// stay Stat::value and Stat::log. Products become one statistic later, in the normal form of the term: tau * x becomes
/// Stat::weighted. `a` and `m` must outlive the function.
AtomTranslation scaled_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Returns true if the variables are two, a category or bit and a real number in either order, so that they can share a
/// factor with a Normal of the number for each value of the category.
bool are_switched(const model::Model& m, const std::vector<model::VariableId>& members);
/// Returns why a category and a number cannot share one factor, in words for an error message: one lies on a plate that
/// the other does not have. Returns nothing if they can.
std::optional<std::string> why_not_switched(const model::Model& m, const model::JointGuide& guide);
/// Adds the joint variable of a category and a number to the model and returns it; the category is its first member. A
/// bit becomes a category with two values.
model::VariableId add_switched(model::Model& m, model::JointGuide guide);
/// Returns the function that translates statistics of a category z and a number x to those of their joint variable: x
/// becomes the sum over k of [z = k] x, x^2 that of [z = k] x^2. The value of a bit becomes the indicator of 1. `a` and
/// `m` must outlive the function.
AtomTranslation switched_translation(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Makes the posterior of an earlier fit the prior of a joint variable, for `lehr update`: removes all terms of its
/// members' statements, and adds one term for each natural parameter, which data arrays give, and one for the constant
/// that normalises. It sets the axes of these arrays to those of the joint variable. It is called after the joint
/// variable is added and before its members' terms are translated.
void replace_prior(model::Model& m, density::Density& d, model::VariableId joint, const model::JointPrior& prior);

}  // namespace lehr::conditionals
