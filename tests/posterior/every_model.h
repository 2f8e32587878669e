// The models of models/, each with the data that its own head comment names.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr::test {

struct Prepared {
  Analysed front;
  BoundData data;
};

/// Fails the test when there is no such model or data.
std::unique_ptr<Prepared> prepare(const std::filesystem::path& path);

std::vector<std::filesystem::path> models();

/// The largest difference of two sets of arrays, relative to the largest number of each array of the second.
double difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b);

}  // namespace lehr::test
