// Fuzzing harness: the cache of compiled code with arbitrary files under the names of its entries. A look-up must
// return the bytes that were stored, or nothing. The first byte chooses if the file is the input itself, or a valid
// entry that contains the input.
#include <sys/stat.h>

#include "compiler/native/object_cache.h"
#include "tests/fuzz/input.h"

using namespace lehr;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::filesystem::path folder = fuzz::own_folder() / "cache";
  static const native::ObjectCache cache(folder.string(), std::uintmax_t{1} << 16);
  static const std::string key = cache.key({"a program"}), kept = "code of a program";
  static const std::filesystem::path entry = folder / (key + ".code");
  cache.store(key, kept);
  fuzz::require(cache.find(key) == kept, "what was kept is not there");
  fuzz::Input input(bytes, size);
  const std::uint8_t kind = input.byte();
  if (kind % 2 == 0) {
    fuzz::write(entry, input.rest());
    // A fuzzer that sees comparisons writes valid entries.
    if (const std::optional<std::string> found = cache.find(key)) {
      cache.store(key, *found);
      fuzz::require(fuzz::read(entry) == input.rest(), "a damaged entry is taken for one");
    }
  } else {
    cache.store(key, input.rest());
    const std::optional<std::string> found = cache.find(key);
    fuzz::require(found == std::string(input.rest()) || input.rest().empty() || size > (1 << 15), "another entry");
    std::filesystem::resize_file(entry, std::filesystem::file_size(entry) - 1);
    fuzz::require(!cache.find(key), "half an entry is taken for one");
  }
  return 0;
}
