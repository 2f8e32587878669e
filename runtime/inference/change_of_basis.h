// The best change of basis of an invariance: R in W -> W R, z -> R^-1 z, where the likelihood depends on W z alone.
// Only priors and entropies change, and these depend on R through sums over the elements of each variable:
//
//     J(R) = sum over variables of  N log|M| + tr(P M C M') + h' M c        M = R, or its transposed inverse
//            - sum over scales of  a log(b + their part of the same)
//            + sum over forms of  tr(Q' M S M')
//            + sum over rows of followers of  h' L^-1 h / 2 - log|L| / 2
//
// with N elements, C and c the sums of their second and first moments, and P and h the coefficients of the prior. The
// second line is for scales that are chosen anew for every R: Gamma variables in the priors, such as the precisions of
// automatic relevance determination. The last two lines are for dynamics, x[t] ~ Normal(A x[t-1], 1): S are sums of
// products of neighbours and Q their coefficients. The rows of A are chosen anew, too; h and L, their natural
// parameters, are linear in M S M'.
#pragma once
#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace lehr {

/// The numbers of one variable on which J depends. Vectors and matrices are empty where they are 0.
struct TransformedSums {
  bool inverse = false;       // true: the transposed inverse of the change transforms it
  double count = 0;           // number of elements
  Eigen::VectorXd first;      // sum of first moments of the elements
  Eigen::MatrixXd second;     // sum of second moments of the elements
  Eigen::VectorXd linear;     // coefficients of components in the prior
  Eigen::MatrixXd quadratic;  // coefficients of products of components in the prior
};

/// The numbers of one scale on which J depends. A scale is Gamma variables t, one for each component or one for all.
struct RescaledSums {
  Eigen::VectorXd shape, rest;          // of the best factor: its shape, and its rate without the transformed variables
  Eigen::VectorXd now_shape, now_rate;  // of the present factor
  std::vector<Eigen::VectorXd> linear, quadratic;  // by variable: coefficients of t x_k and of t x_k^2, negated
};

/// The numbers of a quadratic form in the elements of a variable, on which J depends.
struct FormSums {
  std::size_t variable = 0;      // the variable, by BasisProblem::variables
  Eigen::MatrixXd moments;       // sums of products of two components
  Eigen::MatrixXd coefficients;  // of the products; with a follower, a column by its rows
  std::int64_t follower = -1;    // the matrix that multiplies the products, by BasisProblem::followers; -1: none
  std::int64_t order = 0;        // of a follower: 1: entries of it, 2: products of two entries of a row
};

/// The Normal factors of the rows of a matrix.
struct Rows {
  Eigen::MatrixXd mean;                    // by row
  std::vector<Eigen::MatrixXd> precision;  // by row
};

/// The numbers of a matrix that is chosen anew, on which J depends: coefficients of the entries of its rows and of
/// products of two of them, without those of forms; and its present factors.
struct FollowerSums {
  Eigen::MatrixXd linear;                  // by row
  std::vector<Eigen::MatrixXd> quadratic;  // by row
  Rows now;
};

/// A change of basis to be chosen.
struct BasisProblem {
  Eigen::Index components = 0;               // the size of the basis
  bool diagonal = false;                     // true: the change is a diagonal matrix
  std::vector<TransformedSums> variables;    // all that the change transforms
  std::vector<RescaledSums> scales;          // Gamma variables that are chosen anew
  std::vector<FormSums> forms = {};          // quadratic forms
  std::vector<FollowerSums> followers = {};  // matrices that are chosen anew
};

/// A change of basis.
struct BasisChange {
  Eigen::MatrixXd matrix;              // R; empty: no change
  std::vector<Eigen::VectorXd> rates;  // by scale: the rates of its best factor
  std::vector<Rows> followers;         // by follower: its best factors
  double gain = 0;                     // how much it raises the ELBO, in nats
};

/// Returns a change of basis that raises the ELBO, found from the identity by Newton steps (with forms, by quasi-Newton
/// steps). It stops where a step would gain less than `least` nats to first order. So the gain may be smaller than
/// that. If no step raises J, the matrix is empty and the gain is 0.
BasisChange best_change(const BasisProblem& problem, double least);

/// Returns the matrix by which the change transforms a variable: the change, or with `inverse` its transposed inverse.
Eigen::MatrixXd transform_of(const Eigen::MatrixXd& change, bool inverse);

}  // namespace lehr
