// Bayesian updating, the model: the posterior of a fit becomes the prior of the next. The statement of each global
// variable is changed to draw from the family of its factor, with the parameters as givens. Members of a joint variable
// keep their statements, and the joint prior replaces what these contribute.
//
//   mu ~ Normal(mean = 0, precision = 1);   ->   mu ~ Normal(mean = "posterior mu.mean", precision = "posterior
//   mu.precision");
#pragma once
#include <string>
#include <vector>

#include "compiler/embedding/embedding.h"
#include "compiler/pipeline.h"

namespace lehr {

/// A parameter of a factor that has become a given of the model: "mu.mean" of the fit, read from data by the new prior
/// of `mu`.
struct PosteriorPriorParameter {
  conditionals::BlockId block;             // the block whose factor has the parameter
  const math::FactorParameter* parameter;  // the row of the parameter in the factor's family
  std::string name;                        // name of the parameter in a posterior: "mu.mean"
  model::GivenId given;                    // the given that holds its values
};

/// A joint factor whose natural parameters and negative log normaliser have become givens (model::JointPrior).
struct PosteriorPriorJoint {
  conditionals::BlockId block;  // the block whose factor has become a prior
  std::string name;             // name of the joint variable, as in a posterior
  std::size_t prior;            // position of its prior in Model::joint_priors
};

/// A model whose priors are the families of a fit's factors, for updates of the fit with new data; the parameters are
/// givens, without values yet.
struct PosteriorPriorModel {
  model::Model model;                               // the changed model, whose priors are the factors
  std::vector<PosteriorPriorParameter> parameters;  // the new givens, grouped by block
  std::vector<PosteriorPriorJoint> joint;           // the joint factors that have become joint priors of the model
};

/// Returns the error that the factor of a variable cannot be a prior because of `why`. ExitCode::model.
Error not_a_prior(const std::string& variable, const std::string& why);

/// What happens to the model's own prior statements. `replaced`: the factors take their place. `retained`: the model
/// has both priors, as with_updates() needs them.
enum class OriginalPriors { replaced, retained };

/// Changes a model so that the factors of global variables are its priors. Their parameters become givens, whose values
/// another step supplies. `complete` is the analysis of `resolved`.
///
/// Fails, without a location in the error, if the model has potentials or no global variable, or if a factor cannot be
/// a prior. That is a point, a chain, a sparse factor, one of a category with a number, one of a variable with observed
/// values, or one whose family cannot be written with its parameters. With OriginalPriors::retained no joint factor
/// (`guide joint`) can.
Result<PosteriorPriorModel> make_posterior_prior(const model::Model& resolved, const Analysed& complete,
                                                 OriginalPriors own);
/// Returns true if the given was added by make_posterior_prior() or with_updates(): a parameter of a factor that has
/// become a prior, or a weight of the two priors. Such givens are not read from the user's data.
bool is_posterior_prior(const model::Given& given);

/// A model that has both its own prior and the posterior of another fit as priors, for objects of `lehr build
/// --updates`. Weights of 0 and 1 choose one of them at run time.
struct Updatable {
  Analysed analysed;  // the model with both priors
  Priors priors;      // the givens with the two weights and the parameters of the other prior
};

/// Makes a model with both priors of each global variable, for `lehr build --updates`: its own, and the posterior of an
/// earlier batch. The log density of each prior is multiplied by a weight that is a given. `options` are those that
/// `complete` was analysed with. Fails if the model has potentials or no global variable, or if a factor cannot be a
/// prior, a joint factor (`guide joint`) included: make_posterior_prior() with OriginalPriors::retained.
Result<Updatable> with_updates(const model::Model& resolved, const Analysed& complete,
                               const density::ExpandOptions& options);

}  // namespace lehr
