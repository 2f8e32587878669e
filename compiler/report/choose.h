// Which picture a variable gets: read from its family, its plates and its sizes, never from a model's name.
#pragma once
#include <map>
#include <string>

#include "compiler/model/bind.h"
#include "compiler/report/pictures.h"

namespace lehr::report {

struct PictureOptions {
  std::map<std::string, ImageShape> images;  // by plate
  std::size_t top = 12;                      // elements of a ranked simplex
};

/// What is known of the model and its data; null where they are not there.
struct Surroundings {
  const model::Model* model = nullptr;
  const BoundData* data = nullptr;
};

Markup picture(const SavedFit& fit, const Numbers& n, const Surroundings& around, const PictureOptions& options);

/// Whether it is one number, which stands in one table with the others of its kind.
bool is_single(const Numbers& n);

}  // namespace lehr::report
