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

/// What an element is called: its label, else its plate and number.
std::string element(const SavedFit& fit, const std::string& plate, std::size_t index);
/// The element at a row-major position, one name an axis.
std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position);

/// Weights of the elements of a plate: the mean of the only Dirichlet over it, averaged over that one's own
/// elements. Empty where there is none, or more than one.
std::vector<double> weights_of(const SavedFit& fit, const std::string& plate);

}  // namespace lehr
