// The files of `models/starters/`, which are kept in the program: models to begin with, and toy data.
#pragma once
#include <span>
#include <string_view>

namespace lehr::commands {

struct StarterFile {
  std::string_view name, text;  // "gmm.lehr"
};

/// In order of their names. Those of a kind have its name before the first point.
std::span<const StarterFile> starter_files();

}  // namespace lehr::commands
