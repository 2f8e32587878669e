// The best change of basis of an invariance: R in W -> W R, z -> R^-1 z, where the likelihood depends on W z alone.
// Only priors and entropies change, and these depend on R through sums over the elements of each variable:
//
//     J(R) = sum over variables of  N log|M| + tr(P M C M') + h' M c        M = R, or its transposed inverse
//            - sum over scales of  a log(b + their part of the same)
//
// with N elements, C and c the sums of their second and first moments, and P and h the coefficients of the prior. The
// second line is for scales that are chosen anew for every R: Gamma variables in the priors, such as the precisions of
// automatic relevance determination.
#pragma once
#include <Eigen/Core>

#include <vector>

namespace lehr {

/// What J knows of one variable. Vectors and matrices are empty where they are 0.
struct TransformedSums {
  bool inverse = false;         // true: the transposed inverse of the change transforms it
  double count = 0;             // number of elements
  Eigen::VectorXd first;        // sum of first moments of the elements
  Eigen::MatrixXd second;       // sum of second moments of the elements
  Eigen::VectorXd linear, log;  // coefficients of components and of their logarithms in the prior
  Eigen::MatrixXd quadratic;    // coefficients of products of components in the prior
};

/// What J knows of one scale: Gamma variables t, one for each component or one for all.
struct RescaledSums {
  Eigen::VectorXd shape, rest;          // of the best factor: its shape, and its rate without the transformed variables
  Eigen::VectorXd now_shape, now_rate;  // of the present factor
  std::vector<Eigen::VectorXd> linear, quadratic;  // by variable: coefficients of t x_k and of t x_k^2, negated
};

/// A change of basis to be chosen.
struct BasisProblem {
  Eigen::Index components = 0;             // the size of the basis
  bool diagonal = false;                   // true: the change is a diagonal matrix
  std::vector<TransformedSums> variables;  // all that the change transforms
  std::vector<RescaledSums> scales;        // all that is chosen anew
};

/// A change of basis.
struct BasisChange {
  Eigen::MatrixXd matrix;              // R; empty: no change
  std::vector<Eigen::VectorXd> rates;  // by scale: the rates of its best factor
  double gain = 0;                     // how much it raises the ELBO, in nats
};

/// Returns a change of basis that raises the ELBO, found by Newton steps from the identity. It stops where a step would
/// gain less than `least`, so the gain may be smaller than that, or 0 without a change.
BasisChange best_change(const BasisProblem& problem, double least);

/// Returns the matrix by which the change transforms a variable.
Eigen::MatrixXd transform_of(const Eigen::MatrixXd& change, bool inverse);

}  // namespace lehr
