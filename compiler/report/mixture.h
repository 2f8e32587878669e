// Mixtures, read from the model: an observed variable whose distribution is selected by one category and by nothing
// else of its item.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/files/saved_fit.h"

namespace lehr::report {

struct Component {
  std::size_t index = 0;
  double weight = 1;               // at the same; NaN: not the same for all items
  std::vector<double> mean;        // at the posterior means of all parameters
  std::vector<double> covariance;  // row-major; the same
};

struct Mixture {
  std::string observed, category, plate;  // names; the plate is that of the components
  std::string dimensions;                 // plate of the coordinates; empty of numbers
  std::size_t extent = 1;                 // of it
  std::vector<double> points;             // row-major, NaN where missing
  std::vector<Component> components;
};

/// Every such variable whose components have means and covariances.
std::vector<Mixture> mixtures(const model::Model& m, const BoundData& data, const SavedFit& fit);

}  // namespace lehr::report
