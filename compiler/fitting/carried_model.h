// The posterior of a fit as the prior of the next, in the model: a statement of each variable outside the items says
// that it comes from the family of its factor, with the factor's parameters as givens. Members of a joint variable keep
// their statements; its prior stands in the place of what these say.
#pragma once
#include <string>
#include <vector>

#include "compiler/embedding/embedding.h"
#include "compiler/pipeline.h"

namespace lehr {

/// A parameter of the factor of a block, and the given that has its numbers.
struct CarriedParameter {
  conditionals::BlockId block;
  const math::FactorParameter* parameter;
  std::string name;  // in a posterior: "mu.mean"
  model::GivenId given;
};

/// The factor of a joint variable, whose natural parameters and normaliser are givens (model::JointPrior).
struct CarriedJoint {
  conditionals::BlockId block;
  std::string name;   // of the joint variable
  std::size_t prior;  // of Model::joint_priors
};

struct CarriedModel {
  model::Model model;
  std::vector<CarriedParameter> parameters;  // one block after another
  std::vector<CarriedJoint> joint;
};

/// Whether the model's own statements make room for those of the factors, or stay beside them.
enum class OwnPriors { replaced, kept };

/// `complete` is what was analysed of `resolved`. An Error, without a place, says which factor is no prior.
Result<CarriedModel> carry(const model::Model& resolved, const Analysed& complete, OwnPriors own);
/// One of the parameters.
bool is_carried(const model::Given& given);

/// A model whose prior is its own or another posterior.
struct Updatable {
  Analysed analysed;
  Priors priors;
};

/// Both statements of each variable outside the items, times a weight each, which are givens. `options`: of `complete`.
/// An Error as of `carry`.
Result<Updatable> with_updates(const model::Model& resolved, const Analysed& complete,
                               const density::ExpandOptions& options);

}  // namespace lehr
