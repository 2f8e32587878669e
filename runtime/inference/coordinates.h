// Coordinates of the numbers that a sweep begins with: logarithms of positive parameters (is_logarithmic()), the values
// themselves of all others. Extrapolation and the test of fixed points move a fit in these coordinates.
#pragma once
#include <Eigen/Core>
#include <span>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// Returns the number of elements in the signed type in which Eigen counts.
inline Eigen::Index count_of(std::span<const double> x) { return static_cast<Eigen::Index>(x.size()); }

/// An array of numbers that the next sweep depends on, and that extrapolation or the test of fixed points may move: a
/// parameter of factors, or a statistic.
struct CoordinateArray {
  std::int64_t buffer = 0;                     // buffer of the numbers
  const machine::ParameterRow* row = nullptr;  // the parameter whose numbers they are; null: they are a statistic
};

/// Returns what the next sweep depends on: the global parameters, and statistics that it reads before it computes them.
/// The states of a single chain are left out if the sweep begins with them. So are buffers that are not in memory as a
/// whole (Engine::is_partial).
std::vector<CoordinateArray> arrays_before_sweep(const Engine& e);

/// Returns true if the coordinates of the array are logarithms: of precisions and rates that are no matrices, of
/// degrees of freedom, shapes and concentrations, and of positive points.
bool is_logarithmic(const CoordinateArray& a);

/// Returns the coordinates of the numbers that these arrays have in the engine now, one array after another: their
/// logarithms where is_logarithmic() is true, the numbers themselves elsewhere.
std::vector<double> coordinates(const Engine& e, std::span<const CoordinateArray> arrays);

/// Writes a weight for each coordinate of an array, by which extrapolation and the test of fixed points compare steps
/// of different parameters: about 1 over its variance under the factor, so that weight * step^2 is the square of the
/// step in standard deviations. Returns false for arrays other than logarithms and means that have precisions;
/// `weights` then has no meaning.
bool weigh_by_spread(const Engine& e, const CoordinateArray& a, std::span<double> weights);

/// Returns a copy of the numbers that these arrays have in the engine now, by array, so that shift() can start there.
Arrays numbers(const Engine& e, std::span<const CoordinateArray> arrays);

/// Adds the step, times `factor`, to the coordinates of the numbers `now` (see numbers()), and writes the resulting
/// numbers to the engine. Returns false if one of them is not finite, or if a positive one is no longer positive; they
/// are written all the same. The caller recomputes expectations.
bool shift(const Engine& e, std::span<const CoordinateArray> arrays, const Arrays& now, const Eigen::ArrayXd& step,
           double factor);

}  // namespace lehr
