// What elements of plates are called, and what share of everything components have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/saved_fit.h"

namespace lehr {

/// The label of an element of a plate, or null.
const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index);

/// Where an element lies: the elements of the plates that its own is nested in, outermost first, as far as the fit
/// knows its rows, and last itself, by its number within its row.
struct PlaceInPlate {
  std::string plate;
  std::size_t number = 0;
};
std::vector<PlaceInPlate> path_of(const SavedFit& fit, const std::string& plate, std::size_t index);

/// What elements without labels are numbered from, within the rows of a nested plate.
std::size_t first_number(const SavedFit& fit, const std::string& plate);

/// What an element is called: its label, else its plate and number; of a nested plate after that of its row.
std::string element(const SavedFit& fit, const std::string& plate, std::size_t index);
/// The element at a row-major position, one name an axis.
std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position);

/// Weights of the elements of a plate: the mean of the only Dirichlet over it, averaged over that one's own
/// elements. Empty where there is none, or more than one.
std::vector<double> weights_of(const SavedFit& fit, const std::string& plate);

}  // namespace lehr
