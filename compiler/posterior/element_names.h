// The names of elements of plates in a fit, for printing, and the weights of components. An element is named by its
// label, or by its plate and number: "topic 3".
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/posterior/moments.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// Returns the label that the data gave to element `index` of a plate, or null if it has none.
const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index);

/// One step of the path to an element of a nested plate: a plate, and the element's number in its row.
struct PlatePosition {
  std::string plate;       // name of the plate
  std::size_t number = 0;  // position from 0 in the row; of a plate that is not nested, among all its elements
};
/// Returns the path to element `index` of a plate, counted among all its elements: one entry for each enclosing plate,
/// outermost first, then the element itself. The path has only the last entry, with the number `index`, if the fit does
/// not store the rows of the plate, or if the element has a label.
std::vector<PlatePosition> path_of(const SavedFit& fit, const std::string& plate, std::size_t index);

/// Returns the number from which unlabelled elements of a nested plate are counted in each row; 0 for other plates, and
/// if the fit does not store the rows.
std::size_t first_number(const SavedFit& fit, const std::string& plate);

/// Returns the printed name of element `index` of a plate: its label, or its plate and number, or the number alone if
/// the name of the plate is empty. The name of an element of a nested plate begins with that of its row, as in "series
/// 3, time 12".
std::string element(const SavedFit& fit, const std::string& plate, std::size_t index);
/// Returns the printed name of the element at a row-major position of an array over several plates: the names of its
/// elements along each axis, separated by commas.
std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position);

/// Returns the plates of the `count` axes of a stored array whose elements lie on `plates`: a nested plate and the
/// plate before it that contains it are one axis. An axis without a plate is named `axis_K` for position K.
std::vector<std::string> stored_axes(const SavedFit& fit, std::vector<std::string> plates, std::size_t count);
/// Returns the index of the number at a position of the variable's moments: a label for each axis, or the number of the
/// element as the model counts it. Of a nested plate there are the plates that contain it, then the element in its row.
std::vector<std::string> index_of(const SavedFit& fit, const SavedVariable& v, const Moments& m, std::size_t position);

/// Returns the weight of every element of a plate: the mean of the Dirichlet factor over it, averaged over the elements
/// of that variable. The weights sum to 1. Returns an empty list if there is no such factor, or more than one.
std::vector<double> weights_of(const SavedFit& fit, const std::string& plate);

}  // namespace lehr
