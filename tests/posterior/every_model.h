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

}  // namespace lehr::test
