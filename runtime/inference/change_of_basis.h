// The best change of basis of an invariance: R in W -> W R, z -> R^-1 z, where the likelihood depends on W z alone.
// Only priors and entropies change, and these depend on R through sums over the elements of each variable:
//
//     J(R) = sum over variables of  N log|M| + tr(P M C M') + h' M c        M = R, or its transposed inverse
//            - sum over scales of  a log(b + their part of the same)
//            + sum over forms of  tr(Q' M S M')
//            + sum over rows of followers of  h' L^-1 h / 2 - (log|L_A| + log|L_B|) / 2
//
// with N elements, C and c the sums of their second and first moments, and P and h the coefficients of the prior. The
// second line is for scales that are chosen anew for every R: Gamma variables in the priors, such as the precisions of
// automatic relevance determination. The last two lines are for dynamics, x[t] ~ Normal(A x[t-1] + B u[t], 1): S are
// sums of products of neighbours, or of states and inputs, and Q their coefficients. The rows of A and B are chosen
// anew, too; h and L, the natural parameters of both together, are linear in M S M'.
#pragma once
#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace lehr {

/// What the ELBO after a change of basis depends on, for one variable that the change transforms: moments of its
/// elements, and coefficients of its prior. Vectors and matrices are empty where they are 0.
struct TransformedSums {
  bool inverse = false;       // true: the transposed inverse of the change transforms it; false: the change itself
  double count = 0;           // number of elements of the variable
  Eigen::VectorXd first;      // sum of first moments of the elements
  Eigen::MatrixXd second;     // sum of second moments of the elements
  Eigen::VectorXd linear;     // coefficients of components in the prior
  Eigen::MatrixXd quadratic;  // coefficients of products of components in the prior
};

/// What the ELBO after a change of basis depends on, for one scale of the priors of transformed variables, such as the
/// precisions of automatic relevance determination. A scale is Gamma variables t, one for each component or one for
/// all, whose best factor is computed anew for every change.
struct RescaledSums {
  Eigen::VectorXd shape, rest;          // of the best factor: its shape, and its rate without the transformed variables
  Eigen::VectorXd now_shape, now_rate;  // shape and rate of the present factor
  std::vector<Eigen::VectorXd> linear, quadratic;  // by variable: coefficients of t x_k and of t x_k^2, negated
};

/// What the ELBO after a change of basis depends on, for one quadratic form in the elements of transformed variables: a
/// sum of coefficients times products of two factors, as in the dynamics x[t] ~ Normal(A x[t-1] + B u[t], 1). A factor
/// is a component of a variable, or data.
struct FormSums {
  std::int64_t first = -1, second = -1;  // indices in BasisProblem::variables of the two factors' variables; -1: data
  Eigen::MatrixXd moments;               // sums over the elements of products of the two factors
  Eigen::MatrixXd coefficients;  // coefficients of the products; with followers, one column: an entry for each row
  std::int64_t follower = -1,    // index in BasisProblem::followers of the matrix that multiplies the products: entry
                                 // `second` of row `first`; -1: none
      other = -1;                // if not -1: another such index; products of entry `first` of a row of the one and
                                 // entry `second` of this row of the other multiply the products
};

/// The factors of a random matrix whose rows are Normal vectors, one factor a row (A in x[t] ~ Normal(A x[t-1], 1)).
struct Rows {
  Eigen::MatrixXd mean;                    // row i: the mean of row i
  std::vector<Eigen::MatrixXd> precision;  // by row: its precision matrix
};

/// What the ELBO after a change of basis depends on, for one matrix in quadratic forms (A in x[t] ~ Normal(A x[t-1],
/// 1)), whose best factors are computed anew for every change, together with those of other such matrices. The
/// coefficients are those of its log density without the forms.
struct FollowerSums {
  Eigen::MatrixXd linear;                  // row i: coefficients of the entries of row i
  std::vector<Eigen::MatrixXd> quadratic;  // by row: coefficients of products of two of its entries
  Rows now;                                // the present factors of its rows
};

/// The input of best_change(): all that the ELBO depends on when the basis of latent variables changes by a matrix R. W
/// becomes W R and z becomes R^-1 z, where the likelihood depends on W z alone.
struct BasisProblem {
  Eigen::Index components = 0;               // the size of the basis: R has as many rows and columns
  bool diagonal = false;                     // true: R must be a diagonal matrix
  std::vector<TransformedSums> variables;    // all variables that the change transforms
  std::vector<RescaledSums> scales;          // Gamma variables in their priors, whose factors are computed anew
  std::vector<FormSums> forms = {};          // quadratic forms in their elements
  std::vector<FollowerSums> followers = {};  // matrices in the forms, whose factors are computed anew
};

/// A change of basis that raises the ELBO and leaves the likelihood alone, W -> W R and z -> R^-1 z, with the factors
/// that follow from it.
struct BasisChange {
  Eigen::MatrixXd matrix;              // R; empty: no change was found
  std::vector<Eigen::VectorXd> rates;  // by BasisProblem::scales: the rates of the best factor of the scale
  std::vector<Rows> followers;         // by BasisProblem::followers: the best factors of the matrix
  double gain = 0;                     // how much the change raises the ELBO, in nats
};

/// Returns a change of basis that raises the ELBO, found from the identity by Newton steps (with forms, by quasi-Newton
/// steps). It stops where a step would gain less than `least` nats to first order. So the gain may be smaller than
/// that. If no step raises the ELBO, the matrix is empty and the gain is 0.
BasisChange best_change(const BasisProblem& problem, double least);

/// Returns the matrix by which a change of basis transforms a variable: `change` itself, or with `inverse` its
/// transposed inverse.
Eigen::MatrixXd transform_of(const Eigen::MatrixXd& change, bool inverse);

}  // namespace lehr
