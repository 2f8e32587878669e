// The files of `compiler/commands/starters/`, embedded in the program: example models and toy data that `lehr new`
// writes. CMake generates the table (starters.cmake).
#pragma once
#include <span>
#include <string_view>

namespace lehr::commands {

/// A file that is embedded in the program, an example model or its toy data, for `lehr new` to write.
struct StarterFile {
  std::string_view name, text;  // name of the file, as "gmm.lehr", and its content
};

/// Returns all files that `lehr new` can write, embedded in the program, in order of their names. The part of a name
/// before the first point is the kind of model it belongs to: "gmm" for gmm.lehr and gmm.csv.
std::span<const StarterFile> starter_files();

}  // namespace lehr::commands
