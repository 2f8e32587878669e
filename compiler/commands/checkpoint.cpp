// Format and checks of checkpoint files.
//
// A file is the magic text, then identity, command, journal and runs in the encoding of runtime/bytes.h, then a CRC-32
// of all of that. The `fields` templates name the members that are written and read, in one place for both directions.
// After reading, shapes and counts are checked, so that a damaged file that passes the CRC cannot make arrays disagree.
#include "compiler/commands/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "compiler/commands/commands.h"
#include "compiler/native/native.h"
#include "compiler/support/overloaded.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/member_file.h"
#include "runtime/files/zip.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"
#include "runtime/threshold.h"

namespace lehr {

/// Encodes or decodes an array; `Archive` is Writer or Reader.
template <class Archive>
void fields(Archive& a, NamedArray& x) {
  a(x.name, x.shape, x.values, x.integer);
}

/// Encodes or decodes what the draws predict for each observation.
template <class Archive>
void fields(Archive& a, PredictiveDraws& x) {
  a(x.draws, x.log_likelihood, x.replicated, x.problem);
}

/// Encodes or decodes a pair of coupled variables.
template <class Archive>
void fields(Archive& a, CorrelatedPair& x) {
  a(x.first, x.second, x.correlation, x.guide);
}

/// Encodes or decodes the parts of a run that replaying its journal does not compute again.
template <class Archive>
void fields(Archive& a, TracedRun& run) {
  a(run.outcome.status, run.outcome.failure, run.posterior, run.items, run.sds, run.symmetric, run.coupled, run.far,
    run.narrow, run.uncorrected, run.rounding, run.held_out);
  bool draws = std::holds_alternative<GibbsReport>(run.report);
  a(draws);
  if (!draws) return;
  if (!std::holds_alternative<GibbsReport>(run.report)) run.report = GibbsReport();
  auto& to = std::get<GibbsReport>(run.report);
  a(to.draws, to.log_joint, to.predictive);
}

namespace commands {
namespace {

/// Returns the memory of the numbers as bytes.
std::string_view bytes_of(const std::vector<double>& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double)};
}

/// Returns the length and the CRC of the bytes as text.
std::string digest(std::string_view bytes) {
  return fmt::format("{} bytes, CRC {:08x}", bytes.size(), checksum(bytes));
}

/// Returns a digest of names and values of all arrays.
std::string digest_of(const std::vector<NamedArray>& arrays) {
  std::string all;
  for (const NamedArray& a : arrays)
    all += a.name + digest(bytes_of(a.values));
  return digest(all);
}

/// Returns a digest of the temperatures that --anneal read from a file; empty for other schedules.
std::string listed(const Method& method) {
  return std::visit(
      [](const auto& m) -> std::string {
        if constexpr (requires { m.options.annealing; }) return digest(bytes_of(m.options.annealing.listed));
        else return "";
      },
      method);
}

/// Returns a digest of the start given by --init: the factors of a file, or the saved fit near which chains start.
std::string digest_of(const FitSettings& settings) {
  if (!settings.after) return digest_of(settings.init);
  std::string all = digest_of(settings.after->posterior);
  for (const auto& [name, seal] : settings.after->files)
    all += fmt::format("{}{}", name, seal.crc);
  return digest(all);
}

/// Returns a digest of constants, sizes, and row offsets of nested plates.
std::string digest_of_sizes(const BoundData& data) {
  std::string all;
  Writer{all}(data.constants, data.sizes, data.offsets);
  return digest(all);
}

/// Returns a digest of the values of all data; for out-of-core data that of their files (BoundData::external_digest).
std::string digest_of(const BoundData& data) {
  std::string all = data.external_digest;
  for (const std::vector<BoundArray>* arrays : {&data.givens, &data.observed}) {
    for (const BoundArray& a : *arrays)
      all += digest(bytes_of(a.values));
  }
  return digest(all);
}

/// Returns the path of the checkpoint file. --out and --resume name the same directory.
std::string checkpoint_of(const FitArguments& o) { return (o.out.empty() ? o.resume : o.out) + "/" + kCheckpointFile; }

/// Returns true if the array has as many numbers as its shape says, and its first axis has length `draws` if that is
/// given.
bool is_filled(const NamedArray& a, std::optional<std::size_t> draws) {
  double count = 1;
  for (const std::int64_t n : a.shape)
    count *= static_cast<double>(n);
  const bool over_draws = !draws || (!a.shape.empty() && a.shape[0] == static_cast<std::int64_t>(*draws));
  return over_draws && count == static_cast<double>(a.values.size());
}

/// Throws std::out_of_range unless the condition, which holds for every checkpoint that a fit wrote, is true.
void check(bool as_written) {
  if (!as_written) throw std::out_of_range("what no fit has written");
}

/// Checks that a run that was read could have been written: its status exists, and its arrays agree with their
/// shapes. Throws std::out_of_range if not.
void check_run(const TracedRun& run) {
  check(run.outcome.status >= Status::converged && run.outcome.status <= Status::interrupted);
  for (const std::vector<NamedArray>* arrays : {&run.posterior, &run.items})
    for (const NamedArray& a : *arrays)
      check(is_filled(a, std::nullopt));
  const auto* chain = std::get_if<GibbsReport>(&run.report);
  if (!chain) return;
  for (const NamedArray& a : chain->draws)
    check(is_filled(a, chain->log_joint.size()));
  for (const std::vector<NamedArray>* arrays : {&chain->predictive.log_likelihood, &chain->predictive.replicated})
    for (const NamedArray& a : *arrays)
      check(is_filled(a, chain->predictive.draws.size()));
}

/// Returns true if both lists have arrays of the same names and shapes, in the same order.
bool same_shapes(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
  return std::ranges::equal(
      a, b, [](const NamedArray& x, const NamedArray& y) { return x.name == y.name && x.shape == y.shape; });
}

}  // namespace

Identity identity_of(const FitArguments& o, const std::string& model_text, const FitSettings& settings) {
  Identity out;
  out["model"] = digest(model_text);
  out["--method"] = o.fit.method;
  const auto flag = [](bool given) { return std::string(given ? "given" : "not given"); };
  for (const FitOption& row : fit_option_table()) {
    // The number of threads changes no bits, so a fit may be resumed with another one.
    if (row.option == "threads") continue;
    out["--" + std::string(row.name())] = std::visit(Overloaded{[&](bool FitOptions::*to) { return flag(o.fit.*to); },
                                                                [&](auto to) { return fmt::format("{}", o.fit.*to); }},
                                                     row.to);
  }
  out["--interpret"] = flag(o.interpret);
  out["--thresholds"] = fmt::format("{}", fmt::join(o.passes.thresholds, ","));
  out["--no-opt"] = fmt::format("{}", fmt::join(o.passes.without, ","));
  out["temperatures of --anneal"] = listed(settings.method);
  out["start in --init"] = digest_of(settings);
  out["--forget"] = fmt::format("{}", o.prior_power);
  out["--predictive"] = fmt::format("{}", o.predictive);
  out["--test"] = fmt::format("{}", fmt::join(o.test, " "));
  out["--test-every"] = fmt::format("{}", o.test_every);
  return out;
}

Result<bool> look_for_checkpoint(const FitArguments& o) {
  std::error_code ignored;
  const bool checkpoint_exists = std::filesystem::exists(checkpoint_of(o), ignored);
  if (!o.resume.empty() && !checkpoint_exists) {
    return Error{ExitCode::data,
                 checkpoint_of(o),
                 "there is nothing to go on from",
                 {"a fit that has ended by itself leaves no checkpoint; without --resume it begins again"}};
  }
  if (o.resume.empty() && !o.out.empty() && checkpoint_exists) {
    print_diagnostics({make_warning("this fit takes the place of one that was interrupted",
                                    {"that one goes on with --resume " + o.out})},
                      o.out);
  }
  return true;
}

std::string format_checkpoint(const Identity& identity, const std::string& command, const Journal::Past& past,
                              const std::vector<const TracedRun*>& runs) {
  std::string bytes(kCheckpointMagic);
  Writer to(bytes);
  to(identity, command, past, runs.size());
  for (const TracedRun* const run : runs)
    to(*run);
  const std::uint32_t crc = checksum(bytes);
  bytes.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return bytes;
}

Result<CheckpointContent> parse_checkpoint(std::string_view bytes, const std::string& path) {
  const auto wrong = [&](std::string text) { return Error{ExitCode::data, path, std::move(text), {}}; };
  std::uint32_t crc = 0;
  const bool whole = bytes.starts_with(kCheckpointMagic) && bytes.size() >= kCheckpointMagic.size() + sizeof crc;
  if (whole) {
    Reader(bytes.substr(bytes.size() - sizeof crc))(crc);
    bytes.remove_suffix(sizeof crc);
  }
  if (!whole || checksum(bytes) != crc) return wrong("not a checkpoint, or a damaged one");
  CheckpointContent out;
  try {
    Reader(bytes.substr(kCheckpointMagic.size()))(out.identity, out.command, out.past, out.runs);
    std::ranges::for_each(out.runs, check_run);
  } catch (const std::out_of_range&) {
    return wrong("a checkpoint of another program, or a damaged one");
  }
  return out;
}

Checkpoints::Checkpoints(const FitArguments& options, Identity identity, const BoundData& data)
    : options_(options), identity_(std::move(identity)), data_(data) {}

Identity with_data(Identity identity, const BoundData& data) {
  const Result<std::string> program = read_file("/proc/self/exe");
  identity["program"] = fmt::format("{} {} {} {}", LEHR_VERSION, program ? digest(*program) : "", native::fingerprint(),
                                    thresholds_of_environment().text());
  identity["constant or size"] = digest_of_sizes(data);
  identity["data"] = digest_of(data);
  return identity;
}

std::string differences(const Identity& was, const Identity& is) {
  std::vector<std::string> out;
  for (const auto& [key, now] : is) {
    const auto before = was.find(key);
    if (before != was.end() && before->second == now) continue;
    // Digests say nothing to the user, so only values of options are quoted.
    const bool is_option = key.starts_with("--") && before != was.end();
    out.push_back(is_option ? fmt::format("{} was '{}' and is '{}'", key, before->second, now) : "another " + key);
  }
  for (const auto& [key, before] : was) {
    if (is.contains(key)) continue;
    out.push_back(key.starts_with("--") ? fmt::format("{} was '{}' and is not given", key, before) : "another " + key);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string Checkpoints::path() const { return checkpoint_of(options_); }

const Identity& Checkpoints::identity() const {
  if (!complete_) complete_ = with_data(identity_, data_);
  return *complete_;
}

Result<bool> Checkpoints::resume() {
  const Result<std::string> bytes = read_file(path());
  if (!bytes) return bytes.error();
  Result<CheckpointContent> saved = parse_checkpoint(*bytes, path());
  if (!saved) return saved.error();
  if (const std::string differing = differences(saved->identity, identity()); !differing.empty())
    return Error{ExitCode::data,
                 path(),
                 "the checkpoint is of another fit: " + differing,
                 {"what goes on from it is `" + saved->command + "`"}};
  runs_ = std::move(saved->runs);
  journal_ = Journal(std::move(saved->past));
  return true;
}

void Checkpoints::restore_draws(TracedRun& run) {
  if (run.restart >= runs_.size()) return;
  auto* had = std::get_if<GibbsReport>(&runs_[run.restart].report);
  auto* has = std::get_if<GibbsReport>(&run.report);
  if (!had || !has) return;
  has->draws = std::move(had->draws);
  has->log_joint = std::move(had->log_joint);
  has->predictive = std::move(had->predictive);
}

void Checkpoints::restore_results(TracedRun& run) {
  if (run.restart >= runs_.size()) throw ReplayMismatch();
  TracedRun& had = runs_[run.restart];
  if (!had.posterior.empty() && !run.posterior.empty() && !same_shapes(had.posterior, run.posterior))
    throw ReplayMismatch();
  run.outcome.status = had.outcome.status;
  run.outcome.failure = had.outcome.failure;
  run.posterior = std::move(had.posterior);
  run.items = std::move(had.items);
  run.sds = std::move(had.sds);
  run.narrow = std::move(had.narrow);
  run.uncorrected = had.uncorrected;
  run.symmetric = std::move(had.symmetric);
  run.far = std::move(had.far);
  run.rounding = std::move(had.rounding);
  run.coupled = std::move(had.coupled);
  run.held_out = had.held_out;
}

bool Checkpoints::is_due() {
  ++sweeps_;
  return options_.checkpoint_every > 0 && sweeps_ % options_.checkpoint_every == 0;
}

Result<bool> Checkpoints::write(const Engine& engine, const std::vector<TracedRun>& finished,
                                const TracedRun& now) const {
  // Reading the memory gathers it from all processes of a group, so processes without a file must do it too.
  std::string memory = engine.memory();
  if (options_.out.empty()) return true;
  std::vector<const TracedRun*> runs;
  for (const TracedRun& run : finished)
    runs.push_back(&run);
  runs.push_back(&now);
  return write_file_no_follow(path(), format_checkpoint(identity(), command(), journal_.past(std::move(memory)), runs));
}

void Checkpoints::remove() const {
  if (options_.out.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(path(), ignored);
}

std::string Checkpoints::command() const {
  if (!options_.resume.empty()) return options_.command;
  const char* const words[] = {"--resume", options_.out.c_str()};
  return options_.command + " " + command_line(2, words);
}

}  // namespace commands
}  // namespace lehr
