// Runs a built object's code as an instance. The model is lowered again with the settings of the object. If the program
// has the identity that the object carries, its functions are those of the program.
#include "compiler/instance/built.h"

#include <algorithm>

#include "compiler/machine/identity.h"

namespace lehr {
namespace {

/// Returns the program of the object with the sizes of the data, or nothing if the object has another program.
std::optional<loops::Lowered> lowered_like_object(const machine::Model& object, const Settings& settings,
                                                  const Analysed& analysed, const BoundData& data,
                                                  const loops::LowerOptions& options) {
  const Result<BoundData> sizes = bind_sizes(analysed.model, settings);
  if (!sizes) return std::nullopt;
  for (std::size_t k = 0; k < sizes->sizes.size(); ++k)
    if (sizes->sizes[k] >= 0 && sizes->sizes[k] != data.sizes[k]) return std::nullopt;
  loops::Lowered out = generate(analysed, *sizes, options);
  const Tables tables = tables_of(analysed.model, analysed.schedule, out, out.size_values);
  if (identity(tables, sizes->constants, out.program, analysed.model) != object.hash) return std::nullopt;
  out.size_values = sizes_for(analysed.model, data, out);
  return out;
}

}  // namespace

Result<std::unique_ptr<Instance>> instance_of_built(const machine::Model& object, const Settings& settings,
                                                    const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options) {
  std::optional<loops::Lowered> lowered;
  // The options of the build are unknown, so all are tried. A program that stores more than is needed is right too.
  for (const bool save_locals : {true, false}) {
    for (const bool single : {false, true}) {
      if (lowered || (options.save_locals && !save_locals)) continue;
      lowered = lowered_like_object(object, settings, analysed, data,
                                    {.save_locals = save_locals, .new_items = true, .single = single});
    }
  }
  // Built objects have one start for each item, and so has the interpreted program, for equal results.
  loops::LowerOptions interpreted = options;
  interpreted.item_starts = false;
  Result<std::unique_ptr<Instance>> out =
      lowered ? Instance::make(analysed, data, std::move(*lowered),
                               std::span(object.functions, static_cast<std::size_t>(object.function_count)), 0)
              : Instance::make(analysed, data, interpreted, Backend::interpreter, 0);
  if (out) (*out)->engine().work_with(1);
  return out;
}

}  // namespace lehr
