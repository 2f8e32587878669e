// Programs in this process: linked code, from the cache or new, in executable memory of its own.
// The code is copied to fresh pages, its table of imports is filled in, and the pages are made executable and
// read-only.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>

#include "compiler/loops/bytes.h"
#include "compiler/native/code.h"
#include "compiler/native/native.h"
#include "compiler/native/object_cache.h"
#include "runtime/machine/random.h"

namespace lehr::native {
namespace {

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
  Impl(const loops::Program& of, Options of_code)
      : program(of), options(std::move(of_code)), addresses(of.functions.size()) {
    if (cache.is_enabled()) text = loops::serialise(program);
  }

  /// Compiles functions, given by position, or loads their code from the cache, and sets their addresses.
  void load(std::span<const std::size_t> functions) {
    std::string positions;
    for (const std::size_t k : functions)
      positions += std::to_string(k) + ' ';
    const std::string key =
        cache.key({text, program.thresholds.text(), options.cpu, std::to_string(options.level), positions});
    std::optional<std::string> code = cache.find(key);
    if (!code) {
      code = linked_code(program, functions, options);
      cache.store(key, *code);
    }
    const Pages& of_these = pages.emplace_back(*code);
    for (std::size_t k = 0; k < functions.size(); ++k)
      addresses[functions[k]] = reinterpret_cast<lehr_function>(of_these.at(k + 1));
  }

  const loops::Program& program;
  Options options;
  ObjectCache cache = ObjectCache::of_user();
  std::string text;                                   // the serialised program, for keys of the cache
  std::mutex mutex;                                   // guards `pages`
  std::deque<Pages> pages;                            // the code so far
  std::vector<std::atomic<lehr_function>> addresses;  // of the functions, by position; null: not compiled yet
};

Jit::Jit(const loops::Program& program, const Options& options) : impl_(std::make_unique<Impl>(program, options)) {
  std::vector<std::size_t> functions;
  for (std::size_t k = 0; k < program.functions.size(); ++k)
    if (!program.functions[k].seldom) functions.push_back(k);
  if (!functions.empty()) impl_->load(functions);
}

Jit::~Jit() = default;
Jit::Jit(Jit&&) noexcept = default;
Jit& Jit::operator=(Jit&&) noexcept = default;

lehr_function Jit::function(std::size_t position) const {
  std::atomic<lehr_function>& address = impl_->addresses.at(position);
  if (const lehr_function here = address) return here;
  const std::scoped_lock lock(impl_->mutex);
  if (!address) impl_->load({&position, 1});
  return address;
}

lehr_function Jit::function(const std::string& name) const {
  const auto& functions = impl_->program.functions;
  const auto found = std::ranges::find(functions, name, &loops::Function::name);
  return found == functions.end() ? nullptr : function(static_cast<std::size_t>(found - functions.begin()));
}

}  // namespace lehr::native
