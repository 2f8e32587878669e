// Fuzzing harness: checkpoints with a correct checksum and any content must be read or refused, and what was read is
// replayed as by a run. The first byte chooses if the input is the whole file, or only the part between its magic text
// and its checksum.
#include "compiler/commands/checkpoint.h"
#include "runtime/files/zip.h"
#include "tests/fuzz/input.h"

using namespace lehr;

namespace {

std::string formatted(const commands::CheckpointContent& saved) {
  std::vector<const TracedRun*> runs;
  for (const TracedRun& run : saved.runs)
    runs.push_back(&run);
  return commands::format_checkpoint(saved.identity, saved.command, saved.past, runs);
}

commands::CheckpointContent an_example() {
  Journal journal;
  journal.recorded([] { return 1.5; });
  const auto kept = journal.snapshot([] { return Arrays{{1, 2}, {3}}; });
  journal.recorded([] { return std::vector<double>{1, 2, 3}; });
  TracedRun run;
  run.posterior = {{"mu.mean", {2}, {0, 1}, false}};
  TracedRun sampled;
  GibbsReport report;
  report.draws = {{"mu", {2, 1}, {0, 1}, false}};
  report.log_joint = {-1, -2};
  sampled.report = report;
  return {{{"model", "1 bytes"}}, "lehr fit", journal.past("memory"), {run, sampled}};
}

std::string with_checksum(std::string body) {
  const std::uint32_t crc = checksum(body);
  body.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return body;
}

/// Replays the journal as a method does, until its end or until it proves to be of another run.
void replay(Journal journal, fuzz::Input choices) {
  try {
    std::vector<std::shared_ptr<Arrays>> kept;
    while (journal.replays()) {
      switch (choices.below(5)) {
        case 0:
          journal.recorded([] { return 0.0; });
          break;
        case 1:
          journal.recorded([] { return std::vector<double>(); });
          break;
        case 2:
          journal.recorded([] { return std::int32_t{0}; });
          break;
        case 3:
          kept.push_back(journal.snapshot([] { return Arrays(); }));
          break;
        default:
          journal.recorded([] { return std::string(); });
      }
    }
  } catch (const ReplayMismatch&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* const seeds = std::getenv("LEHR_FUZZ_SEEDS")) {
    const std::string bytes = formatted(an_example());
    fuzz::write(std::filesystem::path(seeds) / "whole", std::string(1, 0) + bytes);
    const std::size_t begin = commands::kCheckpointMagic.size();
    fuzz::write(std::filesystem::path(seeds) / "body",
                std::string(1, 1) + bytes.substr(begin, bytes.size() - begin - 4));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const bool is_body = input.below(2) == 1;
  const std::string file =
      is_body ? with_checksum(std::string(commands::kCheckpointMagic).append(input.rest())) : std::string(input.rest());
  Result<commands::CheckpointContent> saved = commands::parse_checkpoint(file, "checkpoint.bin");
  if (!saved) {
    fuzz::require(saved.error().code == ExitCode::data, "an error of another kind");
    return 0;
  }
  const std::string next_recorded = formatted(*saved);
  fuzz::require(static_cast<bool>(commands::parse_checkpoint(next_recorded, "checkpoint.bin")),
                "not read as it is written");
  replay(Journal(std::move(saved->past)), fuzz::Input(bytes, size));
  return 0;
}
