// Detection of ill-scaled data: columns whose mean is far from zero in units of their standard deviation. Inference
// adds up squares of the data. If the mean is r standard deviations from zero, sums of squares about zero lose twice
// the decimal digits of r to cancellation.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"

namespace lehr {

/// A column of data is ill-scaled if its mean is more than this many standard deviations from zero.
inline constexpr double kIllScaledRatio = 1000;

/// An ill-scaled column of data: its name, mean and standard deviation. Its mean is more than kIllScaledRatio standard
/// deviations from zero; how large or small its numbers are does not matter.
struct IllScaledColumn {
  std::string name;         // of the variable or input: "x", or "x[2]" if it has several columns
  double mean = 0, sd = 0;  // mean and standard deviation of its values
};

/// Mean and standard deviation of the values in each column of an array.
struct ColumnMoments {
  std::vector<double> mean, sd;  // mean and standard deviation, by column
};
/// Returns mean and standard deviation of each column of a row-major array; element i belongs to column i % columns.
/// NaN is skipped. The standard deviation has divisor n - 1; it is 0 for fewer than two values, and the mean 0 for
/// none.
ColumnMoments column_moments(const std::vector<double>& values, std::size_t columns);

/// Accumulates means and variances of columns from data in pieces, without cancellation (Welford 1962; Chan, Golub &
/// LeVeque 1983).
class RunningMoments {
 public:
  /// Makes an accumulator without data for this number of columns.
  explicit RunningMoments(std::size_t columns = 1) : columns_(columns) {}
  /// Adds whole rows of data, row-major, to the moments; NaN is skipped.
  void add(std::span<const double> values);
  /// Adds all rows of another accumulator to the moments. Both have the same columns, unless one has no data.
  void add(const RunningMoments& more);
  /// Returns the moments of all rows so far. The standard deviation has divisor n - 1; it is 0 for fewer than two
  /// values. The mean of a column without values is 0.
  ColumnMoments moments() const;
  /// Returns the number of columns.
  std::size_t columns() const { return columns_.size(); }

  /// Serialises the accumulator (bytes.h), for messages between processes that survey the same data.
  template <class Archive>
  friend void fields(Archive& a, RunningMoments& x) {
    a(x.columns_);
  }

 private:
  /// The moments of one column so far: number of values, mean, and sum of squared deviations from the mean.
  struct Column {
    double count = 0, mean = 0, squares = 0;
  };
  std::vector<Column> columns_;  // the moments of each column so far
};

/// Returns the ill-scaled columns of all observed variables and covariates that are real numbers or vectors. Constant
/// columns are left out.
std::vector<IllScaledColumn> ill_scaled_columns(const model::Model& model, const BoundData& data);

/// Returns how many columns a real variable with these axes and event axes has, where each column is centred or checked
/// separately: the number of entries of a vector, or of elements of the last plate if there are several plates and it
/// is neither nested nor ordered. It is 1 otherwise.
std::size_t data_columns(const model::Model& model, const BoundData& data, const std::vector<model::PlateId>& axes,
                         const std::vector<model::PlateId>& event);

/// Formats a note to the user about an ill-scaled column, such as "'x' lies at 1.2e+08 with a standard deviation of 1:
/// subtract 120000000 from it".
std::string describe(const IllScaledColumn& column);

}  // namespace lehr
