// Vectors of 64 bytes, and exp, log and exp(digamma) of all lanes at once, to a few units in the last place.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

template <class T>
struct Lanes {
  static constexpr int count = 64 / sizeof(T);
  using Integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef T V __attribute__((vector_size(64)));
  typedef Integer I __attribute__((vector_size(64)));
  static constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
  static constexpr T round = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);  // adding it leaves an integer in the low bits
  static constexpr T smallest = sizeof(T) == 8 ? T(-708) : T(-87), largest = sizeof(T) == 8 ? T(709) : T(88);
};

template <class T>
using Vector = typename Lanes<T>::V;

// Zeroed and aligned memory for `size` vectors.
template <class T>
struct Vectors {
  std::unique_ptr<Vector<T>[], decltype(&std::free)> memory { nullptr, &std::free };
  explicit Vectors(std::size_t size) : memory(static_cast<Vector<T>*>(std::aligned_alloc(64, size * 64)), &std::free) {
    std::memset(static_cast<void*>(memory.get()), 0, size * 64);
  }
  Vector<T>* data() { return memory.get(); }
  Vector<T>& operator[](std::size_t i) { return memory[i]; }
  T* elements() { return reinterpret_cast<T*>(memory.get()); }
};

template <class T>
inline Vector<T> all(T value) {
  return Vector<T>{} + value;
}

// exp(x) = 2^n exp(r), |r| <= log(2) / 2, by its Taylor series.
template <class T>
inline Vector<T> exp(Vector<T> x) {
  using L = Lanes<T>;
  x = x < all(L::smallest) ? all(L::smallest) : x;
  x = x > all(L::largest) ? all(L::largest) : x;
  const Vector<T> shifted = x * T(1.4426950408889634) + L::round, n = shifted - L::round;
  const T high = sizeof(T) == 8 ? T(6.93147180369123816490e-01) : T(6.93359375e-01);
  const T low = sizeof(T) == 8 ? T(1.90821492927058770002e-10) : T(-2.12194440e-4);
  const Vector<T> r = (x - n * high) - n * low;
  constexpr double inverse_factorial[] = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  constexpr int degree = sizeof(T) == 8 ? 12 : 7;
  Vector<T> p = all(T(inverse_factorial[degree]));
#pragma GCC unroll 16
  for (int i = degree - 1; i >= 0; i--)
    p = p * r + T(inverse_factorial[i]);
  const auto power = reinterpret_cast<typename L::I>(shifted) << L::mantissa;
  return reinterpret_cast<Vector<T>>(reinterpret_cast<typename L::I>(p) + power);
}

// log(x) = e log(2) + 2 artanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)); x positive and normal.
template <class T>
inline Vector<T> log(Vector<T> x) {
  using L = Lanes<T>;
  using I = typename L::I;
  const T half_root = T(0.70710678118654752);
  typename L::Integer offset;
  std::memcpy(&offset, &half_root, sizeof(T));
  const I bits = reinterpret_cast<I>(x), e = (bits - offset) >> L::mantissa;
  const Vector<T> m = reinterpret_cast<Vector<T>>(bits - (e << L::mantissa)), s = (m - T(1)) / (m + T(1)), z = s * s;
  constexpr int terms = sizeof(T) == 8 ? 10 : 5;
  Vector<T> series = all(T(2.0 / (2 * terms + 1)));
#pragma GCC unroll 16
  for (int i = terms - 1; i >= 0; i--)
    series = series * z + T(2.0 / (2 * i + 1));
  return __builtin_convertvector(e, Vector<T>) * T(0.69314718055994531) + s * series;
}

// exp(digamma(x)) for x > 0: recurrence to y = x + 8 as one fraction, then y exp(-(1 / 2y + series)); the logarithm
// cancels.
template <class T>
inline Vector<T> exp_digamma(Vector<T> x) {
  const Vector<T> y = x + T(8), u = x * (x + T(7)), a = u + T(6), b = u + T(10), c = u + T(12);
  const Vector<T> ua = u * a, bc = b * c, product = ua * bc, both = T(1) / (product * y);
  const Vector<T> below = (T(2) * x + T(7)) * ((u + a) * bc + (b + c) * ua) * (y * both), i = product * both, z = i * i;
  Vector<T> series = z * T(-1.0 / 12) + T(691.0 / 32760);
  for (T term : {T(1.0 / 132), T(1.0 / 240), T(1.0 / 252), T(1.0 / 120), T(1.0 / 12)})
    series = term - z * series;
  return y * exp<T>(-(T(0.5) * i + z * series + below));
}

// The sums of eight vectors of eight, by pairs.
template <class V>
inline V sums_of_eight(const V* p) {
  auto add_pairs = [](V a, V b) {
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  };
  auto add_fours = [](V a, V b) {
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  };
  const V a = add_fours(add_pairs(p[0], p[1]), add_pairs(p[2], p[3])),
          b = add_fours(add_pairs(p[4], p[5]), add_pairs(p[6], p[7]));
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

template <class T>
struct EightOf;
template <>
struct EightOf<double> {
  typedef double V __attribute__((vector_size(64)));
  static V fold(V v) { return v; }
};
template <>
struct EightOf<float> {
  typedef float V __attribute__((vector_size(32)));
  static V fold(Vector<float> v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  }
};

// The sums of eight vectors, side by side.
template <class T>
inline typename EightOf<T>::V sums(const Vector<T>* p) {
  typename EightOf<T>::V folded[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++)
    folded[r] = EightOf<T>::fold(p[r]);
  return sums_of_eight(folded);
}

// Rows of eight become columns.
inline void transpose(Vector<double>* p) {
  using V = Vector<double>;
  using I = Lanes<double>::I;
  const I even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
  const I even2 = {0, 1, 8, 9, 4, 5, 12, 13}, odd2 = {2, 3, 10, 11, 6, 7, 14, 15};
  const I low = {0, 1, 2, 3, 8, 9, 10, 11}, high = {4, 5, 6, 7, 12, 13, 14, 15};
  auto swap = [p](int a, int b, I left, I right) {
    const V x = __builtin_shuffle(p[a], p[b], left), y = __builtin_shuffle(p[a], p[b], right);
    p[a] = x;
    p[b] = y;
  };
  for (int i : {0, 2, 4, 6})
    swap(i, i + 1, even, odd);
  for (int i : {0, 1, 4, 5})
    swap(i, i + 2, even2, odd2);
  for (int i : {0, 1, 2, 3})
    swap(i, i + 4, low, high);
}
