// Columns of data far from zero in units of their spread. Inference adds up squares of the data: where a column lies at
// r of its standard deviations, sums about zero lose twice the decimal digits of r.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"

namespace lehr {

/// A column is far where its mean is more than so many standard deviations from zero.
inline constexpr double kFar = 1000;

struct FarColumn {
  std::string name;  // "x", "x[2]" of several columns
  double mean = 0, sd = 0;
};

/// Mean and standard deviation of each column of an array, values i with i % columns equal; NaN is passed over.
struct ColumnMoments {
  std::vector<double> mean, sd;
};
ColumnMoments column_moments(const std::vector<double>& values, std::size_t columns);

/// The same of values that come in parts of whole rows.
class RunningMoments {
 public:
  explicit RunningMoments(std::size_t columns = 1) : columns_(columns) {}
  void add(std::span<const double> values);
  /// Those of other rows.
  void add(const RunningMoments& more);
  ColumnMoments moments() const;
  std::size_t columns() const { return columns_.size(); }

  template <class Archive>
  friend void fields(Archive& a, RunningMoments& x) {
    a(x.columns_);
  }

 private:
  struct Column {
    double count = 0, mean = 0, squares = 0;
  };
  std::vector<Column> columns_;
};

/// Observed variables and covariates that are real numbers or vectors. Columns are the elements of a vector, and of
/// numbers over several plates the last one. Constant columns are not far.
std::vector<FarColumn> far_columns(const model::Model& model, const BoundData& data);

/// Elements of the last plate or event axis of real numbers that may be columns; 1: there are none.
std::size_t columns_of(const model::Model& model, const BoundData& data, const std::vector<model::PlateId>& axes,
                       const std::vector<model::PlateId>& event);

/// "'x' lies at 1.2e+08 with a standard deviation of 1: subtract 120000000 from it"
std::string describe(const FarColumn& column);

}  // namespace lehr
