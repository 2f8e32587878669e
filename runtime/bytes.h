// Binary serialisation of C++ values, for files that the same program reads back on the same machine. The format has no
// header and no portable byte order.
//
// Trivially copyable types are copied as they lie in memory. Strings, vectors and maps are a count and their elements;
// an optional is a flag and its value. A struct with other members is serialised by a free function `fields(archive,
// x)` beside it, which passes all members to the archive. One such function serves both Writer and Reader, so the two
// orders cannot differ.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lehr {

/// True for types that may be copied as raw bytes: trivially copyable, and neither a pointer nor a view of other
/// memory.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T>;

/// Serialises values by appending their bytes to a string, which a Reader of the same program reads back: results of
/// child processes, scanned data. `writer(a, b)` appends a, then b.
class Writer {
 public:
  /// Makes a writer that appends to `bytes`, which must outlive it.
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  /// Serialises the values one after another by appending their bytes.
  template <class... T>
  void operator()(const T&... x) {
    (put(x), ...);
  }
  /// Appends the bytes of the numbers without a count. Reader::raw() must be given as many.
  void raw(std::span<const double> x) { append(x.data(), x.size_bytes()); }

 private:
  /// Appends n bytes of memory to the output.
  void append(const void* from, std::size_t n) { bytes_.append(static_cast<const char*>(from), n); }

  /// Serialises a plain value as its bytes, or a struct by its function `fields`.
  template <class T>
  void put(const T& x) {
    if constexpr (Plain<T>) append(&x, sizeof x);
    // `fields` takes a mutable reference for the sake of Reader; a writer only reads.
    else fields(*this, const_cast<T&>(x));
  }
  /// Serialises a string: its length, then its characters.
  void put(const std::string& x) {
    put(x.size());
    append(x.data(), x.size());
  }
  /// Serialises a vector: the number of elements, then the elements.
  template <class T>
  void put(const std::vector<T>& x) {
    put(x.size());
    if constexpr (Plain<T>) {
      append(x.data(), x.size() * sizeof(T));
    } else {
      for (const T& v : x)
        put(v);
    }
  }
  /// Serialises an optional: a flag, then the value if there is one.
  template <class T>
  void put(const std::optional<T>& x) {
    put(x.has_value());
    if (x) put(*x);
  }
  /// Serialises a map: the number of entries, then each key and its value, in key order.
  template <class K, class V>
  void put(const std::map<K, V>& x) {
    put(x.size());
    for (const auto& [key, value] : x)
      (*this)(key, value);
  }

  std::string& bytes_;  // the string to which bytes are appended; owned by the caller
};

/// Deserialises what Writer wrote, in the same order. Every function throws std::out_of_range if the remaining bytes
/// are too few, if a count exceeds them, or if a bool is neither 0 nor 1. So damaged input cannot make it allocate
/// much. Bytes that are left over are no error; see left().
class Reader {
 public:
  /// Makes a reader that consumes `bytes` from the front; the characters must outlive it.
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  /// Deserialises and returns the next value, of type T.
  template <class T>
  T take() {
    if constexpr (Plain<T>) {
      std::array<std::byte, sizeof(T)> raw;
      copy(raw.data(), sizeof(T));
      if constexpr (std::is_same_v<T, bool>) check_truth(raw[0]);
      return std::bit_cast<T>(raw);
    } else {
      T out;
      get(out);
      return out;
    }
  }
  /// Deserialises the next values into the arguments, one after another.
  template <class... T>
  void operator()(T&... x) {
    (get(x), ...);
  }
  /// Reads as many numbers as `x` has elements from the bytes; no count precedes them.
  void raw(std::span<double> x) { copy(x.data(), x.size_bytes()); }
  /// Returns the number of bytes that are not read yet.
  std::size_t left() const { return bytes_.size(); }

 private:
  /// Copies the next n bytes of the input to memory and advances past them.
  void copy(void* to, std::size_t n) {
    if (n > bytes_.size()) throw std::out_of_range("fewer bytes than were written");
    if (n > 0) std::memcpy(to, bytes_.data(), n);
    bytes_.remove_prefix(n);
  }
  /// Deserialises a number of elements. Each needs at least one byte, so more elements than remaining bytes are an
  /// error.
  std::size_t count() {
    const auto n = take<std::size_t>();
    if (n > bytes_.size()) throw std::out_of_range("fewer elements than were written");
    return n;
  }

  /// Deserialises a plain value from its bytes, or a struct by its function `fields`.
  template <class T>
  void get(T& x) {
    if constexpr (std::is_same_v<T, bool>) x = take<bool>();
    else if constexpr (Plain<T>) copy(&x, sizeof x);
    else fields(*this, x);
  }
  /// Throws unless the byte is 0 or 1: any other value in a bool is undefined behaviour.
  static void check_truth(std::byte b) {
    if (b > std::byte{1}) throw std::out_of_range("neither true nor false");
  }
  /// Deserialises a string: its length, then its characters.
  void get(std::string& x) {
    x.resize(count());
    copy(x.data(), x.size());
  }
  /// Deserialises a vector: the number of elements, then the elements.
  template <class T>
  void get(std::vector<T>& x) {
    const std::size_t n = count();
    x.clear();
    if constexpr (Plain<T>) {
      if (n > bytes_.size() / sizeof(T)) throw std::out_of_range("fewer elements than were written");
      x.resize(n);
      copy(x.data(), n * sizeof(T));
    } else {
      for (std::size_t k = 0; k < n; ++k)
        x.push_back(take<T>());
    }
  }
  /// Deserialises an optional: a flag, then a value if the flag is true.
  template <class T>
  void get(std::optional<T>& x) {
    x.reset();
    if (take<bool>()) x = take<T>();
  }
  /// Deserialises a map: the number of entries, then each key and its value.
  template <class K, class V>
  void get(std::map<K, V>& x) {
    x.clear();
    for (std::size_t n = count(); n > 0; --n) {
      K key = take<K>();
      x.emplace(std::move(key), take<V>());
    }
  }

  std::string_view bytes_;  // the input that is not read yet
};

}  // namespace lehr
