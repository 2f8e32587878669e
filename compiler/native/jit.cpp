// Programs in this process: linked code, from the cache or new, in executable memory of its own.
// The code is copied to fresh pages, its table of imports is filled in, and the pages are made executable and
// read-only.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <system_error>

#include "compiler/loops/bytes.h"
#include "compiler/native/code.h"
#include "compiler/native/native.h"
#include "compiler/native/object_cache.h"
#include "runtime/machine/random.h"

namespace lehr::native {
namespace {

/// Returns the linked code of a program, from the cache if it is there; new code is stored in the cache.
std::string code_of(const loops::Program& program, const Options& options) {
  const ObjectCache cache = ObjectCache::of_user();
  const std::string key = cache.is_enabled() ? cache.key({loops::serialise(program), program.thresholds.text(),
                                                          options.cpu, std::to_string(options.level)})
                                             : "";
  if (std::optional<std::string> cached = cache.find(key)) return *std::move(cached);
  std::string made = linked_code(program, options);
  cache.store(key, made);
  return made;
}

/// Pages of memory with linked code.
class Pages {
 public:
  /// Copies the code and makes it executable. Throws std::bad_alloc or std::system_error if the system refuses.
  explicit Pages(const std::string& code) : size_(code.size()) {
    void* const pages = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(pages);
    std::memcpy(begin_, code.data(), size_);
    void* const imports[] = {reinterpret_cast<void*>(&std::memset), reinterpret_cast<void*>(&machine::lehr_random)};
    static_assert(std::size(imports) == kImports.size());
    std::memcpy(at(0), imports, sizeof(imports));
    if (::mprotect(begin_, size_, PROT_READ | PROT_EXEC) != 0) {
      const int error = errno;
      ::munmap(begin_, size_);
      throw std::system_error(error, std::generic_category(), "native: code cannot be made to run");
    }
    __builtin___clear_cache(begin_, begin_ + size_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(begin_, size_); }

  /// Returns the address that a word of the header refers to (code.h).
  char* at(std::size_t word) const {
    std::uint64_t offset;
    std::memcpy(&offset, begin_ + word * sizeof(offset), sizeof(offset));
    return begin_ + offset;
  }

 private:
  char* begin_;       // address of the first page
  std::size_t size_;  // bytes of the code
};

}  // namespace

struct Jit::Impl {
  explicit Impl(const std::string& code) : pages(code) {}

  Pages pages;                                     // the code
  std::map<std::string, lehr_function> functions;  // addresses of its functions by name
};

Jit::Jit(const loops::Program& program, const Options& options)
    : impl_(std::make_unique<Impl>(code_of(program, options))) {
  std::size_t word = 1;
  for (const loops::Function& function : program.functions)
    impl_->functions[function.name] = reinterpret_cast<lehr_function>(impl_->pages.at(word++));
}

Jit::~Jit() = default;
Jit::Jit(Jit&&) noexcept = default;
Jit& Jit::operator=(Jit&&) noexcept = default;

lehr_function Jit::function(const std::string& name) const {
  const auto found = impl_->functions.find(name);
  return found == impl_->functions.end() ? nullptr : found->second;
}

}  // namespace lehr::native
