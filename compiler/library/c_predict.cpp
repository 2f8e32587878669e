// Implements predict.h: a built object becomes a Program, its state a Fit, and errors become statuses of the object.
#include "compiler/library/predict.h"

#include <cstring>
#include <new>
#include <stdexcept>

#include "compiler/library/c_arrays.h"
#include "compiler/library/c_options.h"
#include "compiler/library/object.h"

namespace {

using lehr::Error;
using lehr::ExitCode;
using lehr::Result;
using nlohmann::json;
namespace embedded = lehr::embedded;
namespace machine = lehr::machine;

/// Stores a copy of a text in `*message`.
void set_message(const std::string& text, char** message) {
  if (message) *message = ::strdup(text.c_str());
}

/// Converts the kind of an error to a status.
std::int32_t status_of(ExitCode code) {
  switch (code) {
    case ExitCode::done:
      return embedded::kOk;
    case ExitCode::usage:
      return embedded::kArgument;
    case ExitCode::data:
      return embedded::kData;
    case ExitCode::numerical:
      return embedded::kNotFinite;
    case ExitCode::model:
    case ExitCode::internal:
      break;
  }
  return embedded::kLibrary;
}

/// Stores the message of an error and returns its status.
std::int32_t refuse(const Error& e, char** message) {
  set_message(e.code == ExitCode::model && e.text.ends_with('\n') ? e.text : render(e), message);
  return status_of(e.code);
}

/// The object, state, data and options of a call, converted.
struct Call {
  lehr::Program program;
  lehr::Fit fit;
  lehr::ObjectData data;
  json options;
};

/// Checks and converts the arguments of a call into `out`; returns a status.
std::int32_t open(const void* model, void* memory, const void* data, const char* options, std::optional<Call>& out,
                  char** message) {
  if (!model || !data) return embedded::kNull;
  const auto& object = *static_cast<const machine::Model*>(model);
  if (object.layout != machine::kLayout) return embedded::kAbi;
  embedded::State* state = nullptr;
  if (const std::int32_t status = embedded::open(object, memory, state)) return status;
  if (!state->started) return embedded::kNotStarted;
  lehr::ObjectData views;
  if (const std::int32_t status = views.read(object, *state, static_cast<const embedded::DataSet*>(data)))
    return status;
  const Result<json> given = lehr::parse_object(options, "options");
  if (!given) return refuse(given.error(), message);
  const Result<lehr::Program> program = lehr::program_of(object);
  if (!program) return refuse(program.error(), message);
  out.emplace(Call{*program, fit_of(*program, object, *state), std::move(views), *given});
  return embedded::kOk;
}

/// Predicts for a call.
Result<lehr_arrays> predict(const Call& c) {
  Result<lehr::PredictOptions> how = lehr::predict_options(c.options);
  if (!how) return how.error();
  how->sizes.insert(c.data.sizes().begin(), c.data.sizes().end());
  Result<lehr::Predictions> made = c.program.predict(c.fit, c.data.views(), *how);
  if (!made) return made.error();
  return lehr::to_arrays(std::move(*made));
}

/// Scores for a call.
Result<lehr_arrays> score(const Call& c) {
  const Result<lehr::ScoreOptions> how = lehr::score_options(c.options);
  if (!how) return how.error();
  Result<lehr::HeldOutScore> made = c.program.score(c.fit, c.data.views(), how->holdout, how->seed, how->per_item);
  if (!made) return made.error();
  return lehr::to_arrays(std::move(*made));
}

/// Runs `work` on the converted arguments; exceptions become statuses.
template <class Work>
std::int32_t call(const void* model, void* state, const void* data, const char* options, const Work& work,
                  lehr_arrays** out, char** message) {
  if (message) *message = nullptr;
  if (!out) return embedded::kNull;
  *out = nullptr;
  try {
    std::optional<Call> c;
    if (const std::int32_t status = open(model, state, data, options, c, message)) return status;
    Result<lehr_arrays> made = work(*c);
    if (!made) return refuse(made.error(), message);
    *out = new lehr_arrays(std::move(*made));
    return embedded::kOk;
  } catch (const std::bad_alloc&) {
    return embedded::kShort;
  } catch (const std::length_error&) {
    return embedded::kShort;
  } catch (const std::exception& e) {
    set_message(std::string("internal error: ") + e.what(), message);
    return embedded::kLibrary;
  }
}

}  // namespace

std::int32_t lehr_predict(const void* model, void* state, const void* data, const char* options,
                          lehr_arrays** predictions, char** message) {
  return call(model, state, data, options, predict, predictions, message);
}

std::int32_t lehr_score(const void* model, void* state, const void* data, const char* options, lehr_arrays** score_of,
                        char** message) {
  return call(model, state, data, options, score, score_of, message);
}
