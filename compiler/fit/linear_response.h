// Linear response: standard deviations of a mean-field fit with what its independent factors leave out. The factors are
// too narrow where variables depend on each other; the reaction of the whole fit to a small change of one factor shows
// the true variance (Giordano, Broderick & Jordan 2018, Covariances, robustness, and variational Bayes).
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/instance/instance.h"

namespace lehr {

/// The result of linear response for one variable: standard deviations that also count what its independent factors
/// leave out. Numbers are row-major.
struct Response {
  std::string name;                 // name of the variable
  std::vector<std::int64_t> shape;  // extents of the axes, then of the event axes
  /// Means and standard deviations by the factors, for comparison. Means of global variables are those of the centred
  /// model, in distances from references; those of chains have the references added.
  std::vector<double> mean, sd;
  /// Standard deviations by linear response, which account for what the independent factors leave out; NaN where there
  /// is none.
  std::vector<double> response;
  /// Of vectors: the covariance matrix of each element by linear response, over the axes, then twice over the event
  /// axis. Empty for other variables.
  std::vector<double> covariance = {};
};

/// The standard deviations by linear response of all variables of a fit, or why there are none.
struct LinearResponse {
  /// The variables that have a result: global ones, then chains of numbers or vectors.
  std::vector<Response> variables;
  std::vector<std::string> left_out;  // sentences for the user: which variables have no result, and why
  /// The variables that move along directions in which the ELBO is next to flat and curved, as rotations of W and z
  /// in W z are: the results leave these directions out. Empty: there are none.
  std::vector<std::string> curved = {};
  std::string failure;  // why there is no result at all, as a clause for a message; empty: there is one
  bool costly = false;  // true: there is none because it would visit the items too often
};

/// If the global variables have more numbers than this in all, there is no linear response, which takes several sweeps
/// over the items for each.
inline constexpr std::int64_t kMostNumbers = 2000;

/// Computes standard deviations and covariances by linear response at a converged fit, whose factors are in the
/// instance; they are the same afterwards. With t T(x) added to the log joint density, for the statistics T of all
/// global factors, the derivative of E[T] in t at 0 is Sigma = (I - V H)^-1 V. V is the covariance of the factors, H
/// has the mixed derivatives of the expected log joint, with the local factors at their optimum. Both are found by
/// differences: two visits of the items for each number of a global variable, and for each direction in which other
/// factors react to it.
///
/// The result is exact for a Normal posterior with Normal factors. A number that is no statistic of its factor is
/// regressed on them; the variance that they do not explain is the factor's. Points, discrete variables and chains take
/// part with their optimum; of these, only chains of numbers and vectors have a result. With more than `most` numbers
/// there is a failure.
///
/// A direction in which the ELBO falls by much more than a quadratic form does, one standard deviation away, has no
/// standard deviation of its own: an orbit of rotations is curved. Along it the factors are left as they are.
/// It fails with `costly` if it would visit the items more than `visits` times.
LinearResponse linear_response(Instance& instance, const Analysed& analysed, std::int64_t most = kMostNumbers,
                               std::int64_t visits = std::numeric_limits<std::int64_t>::max());

/// Returns how many numbers of global variables linear response is found for, which bounds its cost. Chains of numbers,
/// which have it too, are not counted.
std::int64_t response_numbers(Instance& instance, const Analysed& analysed);
/// Returns how many visits of the items linear_response() may make to take little work: half of the sweeps that the fit
/// has made (`sweeps`), or few operations in all. 0 if the least that it needs is more, or if there is nothing to
/// correct: no numbers, or one block only. It does not depend on the speed of the machine.
std::int64_t cheap_visits(Instance& instance, const Analysed& analysed, std::int64_t sweeps);
/// Estimates standard deviations by linear response of up to three numbers of each global variable without copies, in
/// little work, where those of all would take too much; others are NaN. They are a little too small at most. No
/// variables are in the result if there is nothing that can be estimated so.
LinearResponse sampled_response(Instance& instance, const Analysed& analysed);

/// Returns the text of a warning if the standard deviation of some factor is less than four fifths of that by linear
/// response: which is narrowest, and which others are too narrow. Returns an empty text otherwise.
std::string narrowed(const LinearResponse& response);
/// Returns the text of a warning if results leave directions out (LinearResponse::curved); empty otherwise.
std::string left_as_they_are(const LinearResponse& response);
/// Returns the results as the arrays of the file sds.npz: for each variable v the standard deviations `v.sd`, and the
/// covariances `v.covariance` of vectors.
std::vector<NamedArray> arrays_of(const LinearResponse& response);

}  // namespace lehr
