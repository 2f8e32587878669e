// Mixtures with Gaussian components that are found in a model. A mixture is an observed variable whose mean and
// covariance are selected by one latent category of its item, and by nothing else of the item. Mixtures are plotted as
// ellipses over the data.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/output/saved_fit.h"

namespace lehr::report {

/// One component of a Gaussian mixture, with all parameters at their posterior means, to be drawn as an ellipse.
struct Component {
  std::size_t index = 0;           // number of the component: its element in the plate of components
  double weight = 1;               // mixing proportion; NaN if it is not the same for all items
  std::vector<double> mean;        // mean of the observed variable, one number for each coordinate
  std::vector<double> covariance;  // covariance matrix of the observed variable, row-major
};

/// A Gaussian mixture that was found in a model, with the data that its components explain, for a scatter plot.
struct Mixture {
  std::string observed, category, plate;  // names of the observed variable, the category, and the plate of components
  std::string dimensions;                 // plate of the coordinates; empty if the observations are scalars
  std::size_t extent = 1;                 // number of coordinates
  std::vector<double> points;             // observations, row-major, items x coordinates; NaN if missing
  std::vector<Component> components;      // components, one for each value of the category
};

/// Finds the Gaussian mixtures in a model, for the scatter plots of a report: observed variables with a Normal or
/// MvNormal distribution whose parameters a single latent category of the item chooses. Other families are not
/// searched. A mixture is left out as a whole if one component has no finite covariance, as where a parameter has no
/// posterior mean. `data` gives the observations, `fit` the posterior means of the parameters.
std::vector<Mixture> mixtures(const model::Model& m, const BoundData& data, const SavedFit& fit);

}  // namespace lehr::report
