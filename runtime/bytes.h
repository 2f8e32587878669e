// Values as bytes and back, for files that the same program reads on the same machine: numbers, and structs of nothing
// else, as they are in memory; strings, vectors and maps of anything that can be written; and whatever has a function
// `fields(archive, x)` beside it that hands its members to the archive.
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

/// What points elsewhere is not.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T>;

/// Appends to these.
class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(const T&... x) {
    (put(x), ...);
  }
  void raw(std::span<const double> x) { append(x.data(), x.size_bytes()); }

 private:
  void append(const void* from, std::size_t n) { bytes_.append(static_cast<const char*>(from), n); }

  template <class T>
  void put(const T& x) {
    if constexpr (Plain<T>) append(&x, sizeof x);
    else fields(*this, const_cast<T&>(x));  // which a writer leaves as it is
  }
  void put(const std::string& x) {
    put(x.size());
    append(x.data(), x.size());
  }
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
  template <class T>
  void put(const std::optional<T>& x) {
    put(x.has_value());
    if (x) put(*x);
  }
  template <class K, class V>
  void put(const std::map<K, V>& x) {
    put(x.size());
    for (const auto& [key, value] : x)
      (*this)(key, value);
  }

  std::string& bytes_;
};

/// Throws std::out_of_range where there are fewer bytes than what is asked for takes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

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
  template <class... T>
  void operator()(T&... x) {
    (get(x), ...);
  }
  void raw(std::span<double> x) { copy(x.data(), x.size_bytes()); }
  std::size_t left() const { return bytes_.size(); }

 private:
  void copy(void* to, std::size_t n) {
    if (n > bytes_.size()) throw std::out_of_range("fewer bytes than were written");
    if (n > 0) std::memcpy(to, bytes_.data(), n);
    bytes_.remove_prefix(n);
  }
  /// Of what takes a byte or more each.
  std::size_t count() {
    const auto n = take<std::size_t>();
    if (n > bytes_.size()) throw std::out_of_range("fewer elements than were written");
    return n;
  }

  template <class T>
  void get(T& x) {
    if constexpr (std::is_same_v<T, bool>) x = take<bool>();
    else if constexpr (Plain<T>) copy(&x, sizeof x);
    else fields(*this, x);
  }
  static void check_truth(std::byte b) {
    if (b > std::byte{1}) throw std::out_of_range("neither true nor false");
  }
  void get(std::string& x) {
    x.resize(count());
    copy(x.data(), x.size());
  }
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
  template <class T>
  void get(std::optional<T>& x) {
    x.reset();
    if (take<bool>()) x = take<T>();
  }
  template <class K, class V>
  void get(std::map<K, V>& x) {
    x.clear();
    for (std::size_t n = count(); n > 0; --n) {
      K key = take<K>();
      x.emplace(std::move(key), take<V>());
    }
  }

  std::string_view bytes_;
};

}  // namespace lehr
