// The example models of models/ and tests/posterior/models, each with the data that the comment at its head names.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr::test {

/// An analysed model and its data.
struct Prepared {
  Analysed front;  // the model and its schedule, analysed for the values that are missing
  BoundData data;  // the data in the order of the model
};

/// Reads a model and its data. The test fails if either is missing or has errors. `thresholds` are those of the
/// schedule.
std::unique_ptr<Prepared> prepare(const std::filesystem::path& path, const Thresholds& thresholds = {});

/// Returns options of the passes without these passes; "all" stands for every one.
inline loops::PassOptions without(const std::vector<std::string>& passes) {
  return {.passes = loops::passes_without(passes)};
}

/// Returns the paths of all example models.
std::vector<std::filesystem::path> models();

/// Returns the largest difference between two lists of arrays, relative to the largest number of each array of `b`.
double difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b);

}  // namespace lehr::test
