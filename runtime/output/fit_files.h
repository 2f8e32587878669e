// The names of the files in the directory of a fit, from the table fit_files.def. docs/extending.md says how to add
// one.
#pragma once
#include <string>

#include <fmt/format.h>

namespace lehr {

/// The folder, inside the output directory of `lehr fit --each --save-each`, that has the directory of a fit for each
/// group.
inline constexpr const char* kGroupsFolder = "groups";

/// When the directory of a fit has a file of the table fit_files.def.
enum class FitFilePresence {
  always,      // after every fit
  sampled,     // after a fit by sampling (gibbs, exact) with complete chains
  solutions,   // after a fit whose items may have several solutions, given the global factors (items_to_save)
  responses,   // after a fit with standard deviations by linear response
  unfinished,  // after a fit that was interrupted, until it has ended by itself
  commands,    // after another command than `lehr fit`
};

/// A row of the table fit_files.def: a file in the directory of a fit.
struct FitFile {
  const char* name;          // name of the file inside the directory; a `{}` in it stands for a number from 1
  FitFilePresence presence;  // when the file is there
};

// The names, a constant each.
#define FIT_FILE(constant, name, presence, writer, description) inline constexpr const char* constant = name;
#define FIT_FILE_ALONE(constant, name, presence, description) inline constexpr const char* constant = name;
#include "runtime/output/fit_files.def"

/// All files that the directory of a fit can have, in the order of the table fit_files.def.
inline constexpr FitFile kFitFiles[] = {
#define FIT_FILE(constant, name, presence, writer, description) {constant, FitFilePresence::presence},
#define FIT_FILE_ALONE(constant, name, presence, description) {constant, FitFilePresence::presence},
#include "runtime/output/fit_files.def"
};

/// Returns the name of a file with `number` in place of a `{}`, such as draws_1.csv for `draws_{}.csv`. Names without
/// one are returned as they are.
inline std::string numbered_name(const char* name, std::size_t number) {
  return fmt::format(fmt::runtime(name), number);
}

}  // namespace lehr
