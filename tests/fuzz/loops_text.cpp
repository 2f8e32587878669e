// Fuzzing harness: texts of Loops. Each must parse or be refused with a reason. The text of what was parsed must parse
// to the same, and the verifiers must end.
#include "compiler/analysis/verify.h"
#include "compiler/loops/parse_loops.h"
#include "compiler/loops/print_loops.h"
#include "tests/fuzz/input.h"

using namespace lehr;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const Result<loops::Program> program =
      loops::parse({"program.loops", std::string(reinterpret_cast<const char*>(bytes), size)});
  if (!program) return fuzz::require(!program.error().text.empty(), "an error without a reason"), 0;
  const std::string text = loops::print(*program);
  const Result<loops::Program> again = loops::parse({"printed.loops", text});
  fuzz::require(again && loops::print(*again) == text, "the text of a program is not that program");
  loops::verify(*program);
  return 0;
}
