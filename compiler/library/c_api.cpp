// Implements lehr_c.h on lehr.h: converts C structs and JSON to C++ values, and results back. No exception leaves a
// function.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/evaluate/packed.h"
#include "compiler/evaluate/simulate.h"
#include "compiler/library/c_arrays.h"
#include "compiler/library/c_options.h"

/// A program and its description as JSON.
struct lehr_program {
  lehr::Program program;
  std::string description;
};

/// A fit and its summary as JSON.
struct lehr_fit {
  lehr::Fit fit;
  std::string summary;
};

/// The results of fits of many data sets.
struct lehr_fits {
  std::vector<lehr::Result<lehr::Fit>> all;
};

namespace {

using lehr::Error;
using lehr::ExitCode;
using lehr::Result;
using nlohmann::json;
using MaybeError = std::optional<Error>;
using Views = std::vector<lehr::DataView>;

/// Stores a copy of a text in `*message`, unless it is empty.
void say(const std::string& text, char** message) {
  if (message && !text.empty()) *message = ::strdup(text.c_str());
}

/// Stores a copy of warnings and notes in `*message`, a line each, if there are any.
void say_lines(const std::vector<std::string>& lines, char** message) {
  say(fmt::format("{}", fmt::join(lines, "\n")), message);
}

/// Returns a C string, or an empty text for null.
std::string text_of(const char* s) { return s ? s : ""; }
/// Returns the name of a program's source; empty for null.
std::string name_of(const lehr_program* p) { return p ? p->program.impl().source.name : ""; }

/// Pointers that a call requires, with their names in lehr_c.h.
using Needed = std::vector<std::pair<const char*, const void*>>;

/// Runs `work` and converts its outcome to a status and a message. An error without a subject gets `where`. Exceptions
/// become statuses.
template <class Work>
int32_t guarded(char** message, const std::string& where, const Needed& needed, const Work& work) {
  if (message) *message = nullptr;
  try {
    const auto missing = std::ranges::find(needed, nullptr, &Needed::value_type::second);
    MaybeError e = missing == needed.end()
                       ? work()
                       : Error{ExitCode::usage, "", fmt::format("the pointer '{}' is null", missing->first), {}};
    if (!e) return LEHR_OK;
    if (e->where.empty()) e->where = where;
    // The error of a model that does not compile is the rendered text of its diagnostics already.
    say(e->code == ExitCode::model && e->where == where && e->text.ends_with('\n') ? e->text : render(*e), message);
    return static_cast<int32_t>(e->code);
  } catch (const std::bad_alloc&) {
    say("error: there is not enough memory", message);
    return LEHR_DATA;
  } catch (const std::exception& e) {
    say(std::string("internal error: ") + e.what(), message);
    return LEHR_INTERNAL;
  }
}

/// Returns how many values an array with strides spans; nothing if that is too large for memory. Malformed strides are
/// refused later, by dataset_of().
std::optional<std::size_t> reach(const lehr_data& d) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  std::int64_t out = 1;
  for (int32_t k = 0; k < d.rank; ++k) {
    if (d.shape[k] <= 0) return 0;
    std::int64_t further = 0;
    const bool wraps = d.strides ? __builtin_mul_overflow(d.shape[k] - 1, d.strides[k], &further) ||
                                       __builtin_add_overflow(out, further, &out)
                                 : __builtin_mul_overflow(out, d.shape[k], &out);
    if (wraps || out > kMost) return std::nullopt;
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(out, 0));
}

/// Returns why a lehr_data does not describe an array; empty if it does.
std::string fault(const lehr_data& d) {
  if (!d.name) return "it has no name";
  if (d.type < LEHR_DOUBLE || d.type > LEHR_TEXT) return fmt::format("{} is no type", d.type);
  if (d.rank < 0 || (d.rank > 0 && !d.shape)) return fmt::format("there is no shape of rank {}", d.rank);
  if (d.row_offsets) {
    if (d.rows < 0 || d.row_offsets[d.rows] < 0) return "the number of its rows, or of what is in them, is negative";
    return !d.values && d.row_offsets[d.rows] > 0 ? "its values are null" : "";
  }
  const std::optional<std::size_t> count = reach(d);
  if (!count) return "it is too large";
  return !d.values && *count > 0 ? "its values are null" : "";
}

/// Converts a valid lehr_data.
lehr::DataView view_of(const lehr_data& d) {
  const bool ragged = d.row_offsets != nullptr;
  const std::size_t n = ragged ? static_cast<std::size_t>(d.row_offsets[d.rows]) : *reach(d);
  const auto values = [&]() -> lehr::DataView::Values {
    switch (d.type) {
      case LEHR_FLOAT:
        return std::span(static_cast<const float*>(d.values), n);
      case LEHR_INT64:
        return std::span(static_cast<const std::int64_t*>(d.values), n);
      case LEHR_INT32:
        return std::span(static_cast<const std::int32_t*>(d.values), n);
      case LEHR_TEXT:
        return std::span(static_cast<const char* const*>(d.values), n);
      default:
        return std::span(static_cast<const double*>(d.values), n);
    }
  };
  if (ragged) return lehr::ragged(d.name, values(), {d.row_offsets, d.row_offsets + d.rows + 1});
  lehr::DataView out{d.name, values(), {d.shape, d.shape + d.rank}, {}, {}};
  if (d.strides) out.strides.assign(d.strides, d.strides + d.rank);
  return out;
}

/// Checks and converts all data of a call.
Result<Views> views_of(const lehr_data* data, int64_t count) {
  Views out;
  if (count < 0 || (count > 0 && !data))
    return Error{ExitCode::usage, "data", fmt::format("there are no {} arrays", count), {}};
  for (int64_t k = 0; k < count; ++k) {
    if (const std::string why = fault(data[k]); !why.empty())
      return Error{ExitCode::data, text_of(data[k].name), "the view does not describe an array: " + why, {}};
    out.push_back(view_of(data[k]));
  }
  return out;
}

/// Calls `use` with the value of a result, or returns its error.
template <class T, class Use>
MaybeError with(Result<T> result, const Use& use) {
  if (!result) return result.error();
  return use(*result);
}

/// Hands a list of arrays to the caller.
MaybeError give(Result<lehr_arrays> made, lehr_arrays** to) {
  return with(std::move(made), [&](lehr_arrays& arrays) -> MaybeError {
    auto out = std::make_unique<lehr_arrays>(std::move(arrays));
    for (lehr_arrays::Entry& e : out->entries)
      for (const std::string& plate : e.plates)
        e.axes.push_back(plate.c_str());
    *to = out.release();
    return std::nullopt;
  });
}

/// Hands a fit to the caller.
MaybeError give(Result<lehr::Fit> made, lehr_fit** to) {
  return with(std::move(made), [&](lehr::Fit& fit) -> MaybeError {
    json summary = fit.impl().summary;
    summary["warnings"] = fit.warnings();
    summary["failure"] = fit.failure();
    *to = new lehr_fit{fit, summary.dump(-1, ' ', false, json::error_handler_t::replace)};
    return std::nullopt;
  });
}

/// Parses the options and data of a fit, and calls `use` with them.
template <class Use>
MaybeError with_fit_options(const char* options, const lehr_data* data, int64_t count, const Use& use) {
  return with(lehr::parse_object(options, "options"), [&](const json& object) {
    return with(lehr::named_options(object), [&](const lehr::NamedOptions& named) {
      return with(lehr::fit_options(named), [&](lehr::FitOptions& how) {
        return with(views_of(data, count), [&](const Views& views) { return use(how, views); });
      });
    });
  });
}

/// Adds the factors of a fit, if there is one, to the start of another.
void start_from(const lehr_fit* from, lehr::FitOptions& how) {
  if (!from) return;
  for (const lehr::NamedArray& a : from->fit.impl().global)
    how.init.push_back(lehr::view(a.name, a.values, a.shape));
}

/// Checks and converts the arrays of many data sets: the next `counts[k]` are those of data set k.
Result<std::vector<Views>> many_views_of(const lehr_data* data, const int64_t* counts, int64_t datasets) {
  std::vector<Views> out;
  for (int64_t k = 0; k < datasets; ++k) {
    Result<Views> views = views_of(data, counts[k]);
    if (!views) {
      Error e = views.error();
      e.text = fmt::format("data set {}: {}", k, e.text);
      return e;
    }
    out.push_back(std::move(*views));
    if (data) data += counts[k];
  }
  return out;
}

/// Wraps a C callback.
lehr::Callback callback_of(lehr_on_sweep on_sweep, void* user) {
  if (!on_sweep) return {};
  return [on_sweep, user](const lehr::Sweep& s) {
    return on_sweep(user, s.restart, s.iteration, s.elbo, s.temperature) != 0;
  };
}

/// Simulates from the model, and adds warnings.
Result<lehr_arrays> simulated(const lehr::Program::Impl& program, const lehr::Dataset& dataset,
                              const lehr::DrawOptions& how, std::vector<lehr::Diagnostic>& warnings) {
  lehr::Settings settings = program.settings;
  for (const auto& [plate, size] : how.sizes)
    settings.sizes[plate] = size;
  Result<std::vector<lehr::NamedArray>> made = lehr::simulate(program.resolved, dataset, settings, how.seed, &warnings);
  if (!made) return lehr::without_option_prefix(made.error());
  lehr_arrays out;
  for (lehr::NamedArray& a : *made)
    out.add(std::move(a));
  return out;
}

/// Describes a model as JSON.
json describe(const lehr::model::Model& m) {
  const auto names = [&](const std::vector<lehr::model::PlateId>& plates) {
    json out = json::array();
    for (const lehr::model::PlateId p : plates)
      out.push_back(m[m[p].set].name);
    return out;
  };
  json data = json::array(), variables = json::array(), plates = json::array();
  for (const lehr::model::Given& g : m.givens)
    data.push_back({{"name", g.name},
                    {"axes", names(stored_axes(m, g.axes, {}))},
                    {"event", names(g.event)},
                    {"observed", false}});
  for (const lehr::model::Variable& v : m.variables) {
    json entry = {{"name", v.name}, {"axes", names(stored_axes(m, v.axes, {}))}, {"event", names(v.event)}};
    if (v.value_plate) entry["values"] = m[m[*v.value_plate].set].name;
    if (v.observed) entry["observed"] = true;
    (v.observed ? data : variables).push_back(entry);
  }
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const lehr::model::Plate& p = m.plates[k];
    if (p.set != lehr::model::PlateId(k)) continue;
    json entry = {{"name", p.name}, {"ordered", p.ordered}};
    if (p.parent) entry["parent"] = m[*p.parent].name;
    if (p.times) entry["times"] = m[*p.times].name;
    plates.push_back(entry);
  }
  return {{"model", m.name}, {"data", data}, {"variables", variables}, {"plates", plates}};
}

}  // namespace

const char* lehr_version(void) { return LEHR_VERSION; }

int32_t lehr_compile(const char* text, const char* settings, lehr_program** program, char** message) {
  return guarded(message, "model", {{"text", text}, {"program", program}}, [&] {
    return with(lehr::parse_object(settings, "settings"), [&](const json& object) {
      return with(lehr::compile_options(object), [&](const lehr::CompileOptions& options) -> MaybeError {
        lehr::Compilation made = lehr::compile(text, options);
        if (!made) return Error{ExitCode::model, "model", made.text, {}};
        say(made.text, message);
        json description = describe(made.program->impl().resolved);
        *program = new lehr_program{*made.program, description.dump()};
        return std::nullopt;
      });
    });
  });
}

const char* lehr_program_describe(const lehr_program* program) { return program ? program->description.c_str() : ""; }

int32_t lehr_program_fit(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                         const lehr_fit* from, lehr_on_sweep on_sweep, void* user, lehr_fit** fit, char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"fit", fit}}, [&] {
    return with_fit_options(options, data, count, [&](lehr::FitOptions& how, const Views& views) {
      start_from(from, how);
      return give(program->program.fit(views, how, callback_of(on_sweep, user)), fit);
    });
  });
}

int32_t lehr_program_fit_many(const lehr_program* program, const lehr_data* data, const int64_t* counts,
                              int64_t datasets, const char* options, const lehr_fit* from, lehr_goes_on goes_on,
                              void* user, lehr_fits** fits, char** message) {
  const Needed needed{{"program", program}, {"counts", datasets > 0 ? counts : &datasets}, {"fits", fits}};
  return guarded(message, name_of(program), needed, [&] {
    return with_fit_options(options, nullptr, 0, [&](lehr::FitOptions& how, const Views&) {
      start_from(from, how);
      return with(many_views_of(data, counts, datasets), [&](const std::vector<Views>& views) {
        const std::function<bool()> on = [&] { return goes_on(user) != 0; };
        return with(program->program.fit_many(views, how, goes_on ? on : nullptr),
                    [&](std::vector<Result<lehr::Fit>>& made) -> MaybeError {
                      *fits = new lehr_fits{std::move(made)};
                      return std::nullopt;
                    });
      });
    });
  });
}

int32_t lehr_fits_at(const lehr_fits* fits, int64_t position, lehr_fit** fit, char** message) {
  return guarded(message, fmt::format("data set {}", position), {{"fits", fits}, {"fit", fit}}, [&]() -> MaybeError {
    if (position < 0 || position >= std::ssize(fits->all))
      return Error{ExitCode::usage, "", fmt::format("there are {} data sets", fits->all.size()), {}};
    return give(fits->all[static_cast<std::size_t>(position)], fit);
  });
}

int32_t lehr_fits_table(const lehr_fits* fits, lehr_arrays** table, char** message) {
  return guarded(message, "table", {{"fits", fits}, {"table", table}},
                 [&] { return give(lehr::table_of(fits->all), table); });
}

int32_t lehr_program_update(const lehr_program* program, const lehr_fit* prior, double forget, const lehr_data* data,
                            int64_t count, const char* options, lehr_on_sweep on_sweep, void* user, lehr_fit** fit,
                            char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"prior", prior}, {"fit", fit}}, [&] {
    return with_fit_options(options, data, count, [&](const lehr::FitOptions& how, const Views& views) {
      return give(program->program.update(prior->fit, views, forget, how, callback_of(on_sweep, user)), fit);
    });
  });
}

int32_t lehr_program_load(const lehr_program* program, const char* directory, lehr_fit** fit, char** message) {
  return guarded(message, text_of(directory), {{"program", program}, {"directory", directory}, {"fit", fit}},
                 [&] { return give(program->program.load(directory), fit); });
}

int32_t lehr_program_infer(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           lehr_fit** inferred, char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"fit", fit}, {"inferred", inferred}}, [&] {
    return with(views_of(data, count),
                [&](const Views& views) { return give(program->program.infer(fit->fit, views), inferred); });
  });
}

int32_t lehr_program_predict(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                             const char* options, lehr_arrays** predictions, char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"fit", fit}, {"predictions", predictions}}, [&] {
    return with(lehr::parse_object(options, "options"), [&](const json& object) {
      return with(lehr::predict_options(object), [&](const lehr::PredictOptions& how) {
        return with(views_of(data, count), [&](const Views& views) {
          return with(program->program.predict(fit->fit, views, how), [&](lehr::Predictions& made) {
            std::vector<std::string> lines = made.notes;
            lines.insert(lines.end(), made.warnings.begin(), made.warnings.end());
            say_lines(lines, message);
            return give(lehr::to_arrays(std::move(made)), predictions);
          });
        });
      });
    });
  });
}

int32_t lehr_program_score(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           const char* options, lehr_arrays** score, char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"fit", fit}, {"score", score}}, [&] {
    return with(lehr::parse_object(options, "options"), [&](const json& object) {
      return with(lehr::score_options(object), [&](const lehr::ScoreOptions& how) {
        return with(views_of(data, count), [&](const Views& views) {
          return with(program->program.score(fit->fit, views, how.holdout, how.seed, how.per_item),
                      [&](lehr::HeldOutScore& made) { return give(lehr::to_arrays(std::move(made)), score); });
        });
      });
    });
  });
}

int32_t lehr_program_simulate(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                              lehr_arrays** drawn, char** message) {
  return guarded(message, name_of(program), {{"program", program}, {"drawn", drawn}}, [&] {
    return with(lehr::parse_object(options, "options"), [&](const json& object) {
      return with(lehr::draw_options(object), [&](const lehr::DrawOptions& how) {
        return with(views_of(data, count), [&](const Views& views) {
          return with(lehr::dataset_of(views), [&](const lehr::Dataset& dataset) {
            std::vector<lehr::Diagnostic> warnings;
            const MaybeError e = give(simulated(program->program.impl(), dataset, how, warnings), drawn);
            std::vector<std::string> lines;
            for (const lehr::Diagnostic& w : warnings)
              lines.push_back(lehr::line_of(w));
            if (!e) say_lines(lines, message);
            return e;
          });
        });
      });
    });
  });
}

const char* lehr_fit_summary(const lehr_fit* fit) { return fit ? fit->summary.c_str() : ""; }

int32_t lehr_fit_write(const lehr_fit* fit, const char* directory, char** message) {
  return guarded(message, text_of(directory), {{"fit", fit}, {"directory", directory}}, [&]() -> MaybeError {
    const Result<bool> written = fit->fit.write(directory);
    return written ? MaybeError() : lehr::without_option_prefix(written.error());
  });
}

int32_t lehr_fit_arrays(const lehr_fit* fit, const char* what, const char* options, lehr_arrays** arrays,
                        char** message) {
  return guarded(message, text_of(what), {{"fit", fit}, {"what", what}, {"arrays", arrays}}, [&] {
    return with(lehr::parse_object(options, "options"), [&](const json& object) {
      return with(lehr::draw_options(object), [&](const lehr::DrawOptions& how) -> MaybeError {
        const std::string_view name = what;
        if (name == "posterior") return give(lehr::posterior_arrays(fit->fit), arrays);
        if (name == "numbers") return give(lehr::number_arrays(fit->fit), arrays);
        if (name == "trace") return give(lehr::trace_arrays(fit->fit), arrays);
        if (name == "draws") return give(lehr::drawn_arrays(fit->fit, how.draws, how.seed), arrays);
        return Error{ExitCode::usage, what, "none of posterior, numbers, trace, draws", {}};
      });
    });
  });
}

int64_t lehr_arrays_count(const lehr_arrays* arrays) { return arrays ? std::ssize(arrays->entries) : 0; }

lehr_array lehr_arrays_at(const lehr_arrays* arrays, int64_t position) {
  if (position < 0 || position >= lehr_arrays_count(arrays)) return {};
  const lehr_arrays::Entry& e = arrays->entries[static_cast<std::size_t>(position)];
  return {e.name.c_str(), e.values,       static_cast<int32_t>(e.shape.size()),
          e.integer,      e.shape.data(), e.axes.empty() ? nullptr : e.axes.data()};
}

lehr_array lehr_arrays_find(const lehr_arrays* arrays, const char* name) {
  if (!arrays || !name) return {};
  const auto it = std::ranges::find(arrays->entries, name, &lehr_arrays::Entry::name);
  return it == arrays->entries.end() ? lehr_array{} : lehr_arrays_at(arrays, it - arrays->entries.begin());
}

void lehr_program_free(lehr_program* program) { delete program; }
void lehr_fit_free(lehr_fit* fit) { delete fit; }
void lehr_fits_free(lehr_fits* fits) { delete fits; }
void lehr_arrays_free(lehr_arrays* arrays) { delete arrays; }
void lehr_text_free(char* text) { std::free(text); }
