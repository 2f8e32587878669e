// Serialisation of programs. The nodes are aggregates, and a Writer visits their members by number (structured
// bindings). So a member that is added to a node is part of the bytes without any change here.
#include "compiler/loops/bytes.h"

#include <type_traits>

namespace lehr::loops {
namespace {

/// A placeholder that converts to any type, to test whether an aggregate has one more member.
struct Anything {
  template <class T>
  operator T() const;
};

/// Returns the number of members of an aggregate: it is the largest n for which n initialisers compile.
template <class T, class... Members>
constexpr std::size_t count_members() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) return count_members<T, Members..., Anything>();
  else return sizeof...(Members);
}

/// Appends values to a string of bytes. Sizes precede the elements of strings and vectors, so that the bytes are
/// unambiguous.
class Writer {
 public:
  std::string text;

  template <class T>
  void put(const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      text.append(reinterpret_cast<const char*>(&x), sizeof(T));
    } else {
      static_assert(std::is_aggregate_v<T>);
      put_members(x);
    }
  }
  template <class Tag>
  void put(const Id<Tag>& id) {
    put(id.value);
  }
  void put(const std::string& s) {
    put(s.size());
    text += s;
  }
  template <class T>
  void put(const std::vector<T>& all) {
    put(all.size());
    for (const T& x : all)
      put(x);
  }
  template <class... Ts>
  void put(const std::variant<Ts...>& node) {
    put(node.index());
    std::visit([this](const auto& x) { put(x); }, node);
  }
  void put(const Thresholds& moved) { put(moved.text()); }
  /// Texts of comments do not affect what a program computes.
  void put(const Comment&) {}

 private:
  template <class... Ts>
  void put_all(const Ts&... members) {
    (put(members), ...);
  }
  /// Writes the members of an aggregate in order. Structured bindings need one case for each number of members.
  template <class T>
  void put_members(const T& x) {
    constexpr std::size_t n = count_members<T>();
    if constexpr (n == 1) {
      const auto& [a] = x;
      put_all(a);
    } else if constexpr (n == 2) {
      const auto& [a, b] = x;
      put_all(a, b);
    } else if constexpr (n == 3) {
      const auto& [a, b, c] = x;
      put_all(a, b, c);
    } else if constexpr (n == 4) {
      const auto& [a, b, c, d] = x;
      put_all(a, b, c, d);
    } else if constexpr (n == 5) {
      const auto& [a, b, c, d, e] = x;
      put_all(a, b, c, d, e);
    } else if constexpr (n == 6) {
      const auto& [a, b, c, d, e, f] = x;
      put_all(a, b, c, d, e, f);
    } else if constexpr (n == 7) {
      const auto& [a, b, c, d, e, f, g] = x;
      put_all(a, b, c, d, e, f, g);
    } else if constexpr (n == 8) {
      const auto& [a, b, c, d, e, f, g, h] = x;
      put_all(a, b, c, d, e, f, g, h);
    } else {
      const auto& [a, b, c, d, e, f, g, h, i] = x;
      put_all(a, b, c, d, e, f, g, h, i);
    }
  }
};

}  // namespace

std::string serialise(const Program& program) {
  Writer out;
  out.put(program);
  return std::move(out.text);
}

}  // namespace lehr::loops
