// Coordinates of the numbers that a sweep begins with, in which steps of all of them are alike. Positive parameters
// have their logarithms, all others their values. Extrapolation and the test of fixed points move a fit in them.
#pragma once
#include <Eigen/Core>
#include <span>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// An array of numbers that a sweep begins with.
struct CoordinateArray {
  std::int64_t buffer = 0;                     // the numbers
  const machine::ParameterRow* row = nullptr;  // the parameters that they are; null: statistics
};

/// Returns what the next sweep depends on: the global parameters, and statistics that it reads before it computes them.
std::vector<CoordinateArray> arrays_before_sweep(const Engine& e);

/// Returns true if the coordinates of the array are logarithms.
bool is_logarithmic(const CoordinateArray& a);

/// Returns the coordinates of the numbers in place.
std::vector<double> coordinates(const Engine& e, std::span<const CoordinateArray> arrays);

/// Writes the weights of squared steps that are in units of standard deviations: of logarithms, and of means that have
/// precisions. Returns false for other arrays.
bool weigh_by_spread(const Engine& e, const CoordinateArray& a, std::span<double> weights);

/// Returns the numbers in place.
Arrays numbers(const Engine& e, std::span<const CoordinateArray> arrays);

/// Adds the step, times `factor`, to the coordinates of the numbers `now`. Returns false if one is not finite, or if a
/// positive one is no longer positive.
bool shift(const Engine& e, std::span<const CoordinateArray> arrays, const Arrays& now, const Eigen::ArrayXd& step,
           double factor);

}  // namespace lehr
