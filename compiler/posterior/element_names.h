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

/// Returns the label of element `index` of a plate: its name in the data files, such as a word of a vocabulary. Reports
/// and tables print it. Null if the element has none. `index` counts all elements of the plate from 0.
const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index);

/// One step of the path to an element of a nested plate, for printing "series 3, time 12": a plate, and the element's
/// number among the children of one parent.
struct PlatePosition {
  std::string plate;  // name of the plate that the element belongs to
  /// Position from 0 among the elements with the same parent; of a plate that is not nested, among all.
  std::size_t number = 0;
};
/// Returns the path to element `index` of a plate, counted among all its elements, so that tables can print a column
/// for each enclosing plate. It has one entry for each of these, outermost first, then the element itself. If the plate
/// is not nested, the fit does not store which parent its elements have, or the element has a label, the path has a
/// single entry: the plate and `index`.
std::vector<PlatePosition> path_of(const SavedFit& fit, const std::string& plate, std::size_t index);

/// Returns the number by which the first element below each parent of a nested plate is printed (Plate::from, such as
/// 1 in a model that counts from 1). 0 for other plates, and if the fit does not store the parents of the elements.
std::size_t first_number(const SavedFit& fit, const std::string& plate);

/// Returns the printed name of element `index` of a plate: its label, or its plate and number, or the number alone if
/// the name of the plate is empty. Without a label, the name of an element of a nested plate begins with that of its
/// parent, as in "series 3, time 12".
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

/// Returns the weights by which reports and summaries order the elements of a plate, such as the components of a
/// mixture. They are the means of the Dirichlet factor over the plate, averaged over the elements of that variable, and
/// sum to 1. Returns an empty list if there is no such factor, or more than one.
std::vector<double> weights_of(const SavedFit& fit, const std::string& plate);

}  // namespace lehr
