// Wrong calls of a built object: each must return its status code and must never crash. Covered are sizes and versions,
// refused data, the order of calls, values outside of their domains, and damaged saved states.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/embedding/state.h"
#include "tests/files.h"

namespace {

using namespace lehr;
using test::Fields;

enum {
  kNull = 1,
  kAbi,
  kSize,
  kShort,
  kState,
  kData,
  kOffsets,
  kArgument,
  kNoData,
  kNotStarted,
  kNotSwept,
  kNoBatches,
  kTruncated,
  kAltered,
  kOtherModel,
  kNotFinite,
  kNoSweep
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Built {
  explicit Built(const std::string& model) : p(test::prepare(test::model_file(model))), library(*p, true) {}
  std::unique_ptr<test::Prepared> p;
  test::Library library;
};

double& real_at(const Fields& data, std::size_t field, std::size_t at) {
  return reinterpret_cast<double*>(data[field])[at];
}
std::int64_t& integer_at(const Fields& data, std::size_t field, std::size_t at) {
  return reinterpret_cast<std::int64_t*>(data[field])[at];
}

/// Returns the checksum of a saved state, so that a test can alter a state and keep it valid.
std::uint64_t checksum(const std::vector<std::byte>& saved) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + 8 <= saved.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, saved.data() + at, 8);
    if (at == 40) word = 0;
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 29;
  }
  return sum;
}

}  // namespace

TEST_CASE("sizes, memory and versions") {
  Built b("gmm");
  const Fields data = b.library.data(), sizes = b.library.sizes();
  const auto bytes = [&](Fields s) { return b.library.function<std::size_t(const void*)>("state_bytes")(s.data()); };
  REQUIRE(bytes(sizes) > 0);
  CHECK(b.library.function<std::size_t(const void*)>("state_bytes")(nullptr) == 0);
  for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 43}) {
    Fields s = sizes;
    s[1] = wrong;
    CHECK(bytes(s) == 0);
    std::vector<std::byte> memory(1000);
    CHECK(b.library.function<std::int32_t(void*, std::size_t, const void*, const void*, std::uint64_t)>("init")(
              memory.data(), memory.size(), s.data(), data.data(), 1) == kSize);
  }
  Fields other = sizes;
  other[0] ^= 1;
  CHECK(bytes(other) == 0);

  test::State state(b.library, sizes);
  const auto init = [&](const Fields& s, std::size_t length) {
    return b.library.function<std::int32_t(void*, std::size_t, const void*, const void*, std::uint64_t)>("init")(
        state.memory().data(), length, s.data(), data.data(), 1);
  };
  CHECK(init(other, state.memory().size()) == kAbi);
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, state.memory().size() / 2, state.memory().size() - 64})
    CHECK(init(sizes, length) == kShort);
  CHECK(state.step() == kState);
  REQUIRE(init(sizes, state.memory().size()) == 0);
  CHECK(state.step() == 0);

  test::State moved(b.library, sizes);
  moved.memory() = state.memory();
  CHECK(moved.step() == kState);
  CHECK(moved.get("mu_mean").data() == nullptr);
  Built coin("coin");
  const auto foreign = coin.library.function<std::int32_t(void*, const void*, double)>("step");
  CHECK(foreign(state.memory().data(), nullptr, 1) == kState);
  CHECK(foreign(nullptr, nullptr, 1) == kNull);
  CHECK(b.library.function<std::uint64_t()>("abi")() == b.library.embedding().abi);
  CHECK(coin.library.embedding().abi != b.library.embedding().abi);
}

TEST_CASE("a data set that is refused leaves nothing to be read") {
  for (const char* model : {"matrix_factorisation", "gmm", "lda"}) {
    DYNAMIC_SECTION(model) {
      Built b(model);
      const Fields data = b.library.data();
      test::State state(b.library, b.library.sizes());
      double nats = 0;
      REQUIRE(state.init(&data, 1) == 0);
      REQUIRE(state.step() == 0);
      REQUIRE(state.elbo(nats) == 0);
      Fields wrong = data;
      wrong.back() = 0;  // a null array
      CHECK(state.step(&wrong) == kNull);
      CHECK(state.elbo(nats) == kNotSwept);
      CHECK(state.step() == kNoData);
      CHECK(state.step(&data) == 0);
      CHECK(state.elbo(nats) == 0);
    }
  }
}

TEST_CASE("a batch with too small a total leaves no sums of other data in place") {
  Built b("coin");
  test::State state(b.library, b.library.sizes()), other(b.library, b.library.sizes());
  const Fields data = b.library.data();
  const std::vector<double> throws(static_cast<std::size_t>(data[0]), 1.0);
  const Fields ones{data[0], reinterpret_cast<std::int64_t>(throws.data())};
  REQUIRE(state.init(&data, 1) == 0);
  REQUIRE(state.step() == 0);
  CHECK(state.svi_step(&ones, ones[0] - 1, 1) == kArgument);
  REQUIRE(state.step() == 0);
  REQUIRE(other.init(&ones, 1) == 0);
  REQUIRE(other.step() == 0);
  CHECK(state.get("p_a")[0] == other.get("p_a")[0]);
}

TEST_CASE("the order of calls and the ranges of arguments") {
  Built b("gmm");
  const Fields data = b.library.data();
  test::State state(b.library, b.library.sizes());
  double nats = 0;
  REQUIRE(state.init(nullptr, 1) == 0);
  CHECK(state.step() == kNoData);
  CHECK(state.step(&data) == kNotStarted);
  CHECK(state.save().empty());
  REQUIRE(state.init(&data, 1) == 0);
  CHECK(state.elbo(nats) == kNotSwept);
  REQUIRE(state.step() == 0);
  CHECK(state.elbo(nats) == 0);
  for (const double b_wrong : {0.0, -1.0, std::nan(""), kInfinity})
    CHECK(state.step(nullptr, b_wrong) == kArgument);
  CHECK(state.svi_step(&data, data[0], 0) == kArgument);
  CHECK(state.svi_step(&data, data[0], 1.5) == kArgument);
  CHECK(state.svi_step(&data, data[0], std::nan("")) == kArgument);
  CHECK(state.svi_step(&data, data[0] - 1, 1) == kArgument);
  CHECK(state.svi_step(&data, -1, 1) == kArgument);
  CHECK(state.accuracy(0, 1) == kArgument);
  CHECK(state.accuracy(1, std::nan("")) == kArgument);
  const std::vector<double> few(3), wrong(state.get("mu_mean").size(), std::nan(""));
  CHECK(state.set("mu_mean", few) == kSize);
  CHECK(state.set("mu_mean", wrong) == kData);
  CHECK(state.step() == 0);
  Fields less = data;
  less[0] = 0;
  CHECK(state.step(&less) == kSize);
  less[0] = data[0] + 1;
  CHECK(state.step(&less) == kSize);
  less[0] = data[0] - 1;
  CHECK(state.step(&less) == 0);
  less[1] = 0;
  CHECK(state.step(&less) == kNull);
  CHECK(state.step() == kNoData);
  CHECK(state.step(&data) == 0);
  Built chain("hmm_discrete");
  CHECK_FALSE(chain.library.has("svi_step"));
  const auto error = b.library.function<const char*(std::int32_t)>("error");
  for (std::int32_t status : {0, 1, 16, 17, 18, 100, 103, 104, 10000, -1, 1 << 30})
    CHECK(std::strlen(error(status)) > 3);
}

TEST_CASE("the order of calls of a sweep in ranges") {
  Built b("gmm");
  const Fields data = b.library.data();
  test::State state(b.library, b.library.sizes()), other(b.library, b.library.sizes());
  REQUIRE(state.init(&data, 1) == 0);
  REQUIRE(other.init(&data, 1) == 0);
  std::vector<std::byte> first = state.range(), second = state.range(), few(first.size() - 1);
  std::int64_t n = 0;
  double nats = 0;
  CHECK(state.next(n) == kNoSweep);
  CHECK(state.begin(&data, 0) == kArgument);
  REQUIRE(state.begin(&data) == 0);
  CHECK(state.items(first, 0, 1) == kNoSweep);
  CHECK(state.add(first) == kNoSweep);
  REQUIRE(state.next(n) == 0);
  REQUIRE(n == data[0]);
  CHECK(state.items(few, 0, n) == kShort);
  CHECK(state.items(first, -1, n) == kArgument);
  CHECK(state.items(first, 0, n + 1) == kArgument);
  CHECK(state.items(first, 2, 1) == kArgument);
  CHECK(state.add(first) == kArgument);
  REQUIRE(state.items(first, 0, n - 1) == 0);
  REQUIRE(state.add(first) == 0);
  CHECK(state.add(first) == kArgument);
  CHECK(state.next(n) == kArgument);
  REQUIRE(state.items(first, 0, n) == 0);
  CHECK(state.add(first) == kArgument);
  REQUIRE(state.items(second, n - 1, n) == 0);
  CHECK(other.add(second) == kNoSweep);
  CHECK(state.elbo(nats) == kNotSwept);
  REQUIRE(state.add(second) == 0);
  REQUIRE(state.next(n) == 0);
  CHECK(n == 0);
  CHECK(state.elbo(nats) == 0);
  CHECK(state.next(n) == kNoSweep);

  // A sweep in ranges ends when the state is initialised again or gets other data.
  REQUIRE(state.begin() == 0);
  REQUIRE(state.next(n) == 0);
  REQUIRE(state.items(first, 0, n) == 0);
  REQUIRE(state.step() == 0);
  CHECK(state.add(first) == kNoSweep);
  REQUIRE(state.begin() == 0);
  REQUIRE(state.next(n) == 0);
  CHECK(state.add(first) == kArgument);
  Fields none = data;
  none[1] = 0;
  CHECK(state.step(&none) == kNull);
  CHECK(state.items(first, 0, 1) == kNoSweep);
  REQUIRE(state.begin(&data) == 0);
  REQUIRE(state.load(other.save()) == 0);
  CHECK(state.next(n) == kNoSweep);
}

TEST_CASE("values outside their domains") {
  SECTION("a number that is none") {
    Built b("gmm");
    const Fields data = b.library.data();
    test::State state(b.library, b.library.sizes());
    REQUIRE(state.init(&data, 1) == 0);
    for (const double wrong : {std::nan(""), kInfinity, -kInfinity}) {
      real_at(data, 1, 7) = wrong;
      CHECK(state.step(&data) == kData);
      CHECK(state.svi_step(&data, 1000, 0.5) == kData);
      CHECK(state.infer(&data) == kData);
      CHECK(state.init(&data, 1) == kData);
      real_at(data, 1, 7) = 1;
      REQUIRE(state.init(&data, 1) == 0);
    }
  }
  SECTION("categories, counts and rows") {
    Built b("lda");
    const Fields data = b.library.data();  // doc, token_offsets, count, w
    test::State state(b.library, b.library.sizes());
    REQUIRE(state.init(&data, 1) == 0);
    const auto with = [&](auto& value, auto wrong) {
      const auto before = value;
      value = wrong;
      const std::int32_t status = state.step(&data);
      value = before;
      return status;
    };
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{6906}, std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()})
      CHECK(with(integer_at(data, 3, 11), wrong) == kData);
    for (const double wrong : {-1.0, 0.5, std::nan(""), kInfinity})
      CHECK(with(real_at(data, 2, 11), wrong) == kData);
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{1} << 50, std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()}) {
      CHECK(with(integer_at(data, 1, 0), wrong) == kOffsets);
      CHECK(with(integer_at(data, 1, 3), wrong) == kOffsets);
      CHECK(with(integer_at(data, 1, static_cast<std::size_t>(data[0])), wrong) == kOffsets);
    }
    CHECK(state.step(&data) == 0);
  }
  SECTION("a row longer than there is room for") {
    Built b("hmm_gaussian");
    const Fields data = b.library.data();
    test::State state(b.library, b.library.sizes());
    REQUIRE(state.init(&data, 1) == 0);
    integer_at(data, 1, 1) = integer_at(data, 1, 2);
    integer_at(data, 1, 2) = integer_at(data, 1, 3);
    integer_at(data, 1, 3) = integer_at(data, 1, 9);
    for (std::size_t k = 4; k < 9; ++k)
      integer_at(data, 1, k) = integer_at(data, 1, 9);
    CHECK(state.step(&data) == kOffsets);
  }
  SECTION("a matrix that is symmetric but for rounding, and one that is not") {
    Built b("gmm_known_covariance");
    const Fields data = b.library.data();  // n, mu0, Sigma0, Sigma, x
    test::State state(b.library, b.library.sizes());
    double& entry = real_at(data, 3, 1);
    const double exact = entry;
    for (const double rounded : {exact * (1 + 2e-9), exact * (1 - 5e-7)}) {
      entry = rounded;
      CHECK(state.init(&data, 1) == 0);
    }
    entry = exact * (1 + 1e-4);
    CHECK(state.init(&data, 1) == kData);
    entry = exact;
  }
  SECTION("elements of a nested plate outside their row") {
    Built b("casks_of_a_table");
    const Fields data = b.library.data();  // assay, cask_offsets, batch_of, cask_of, strength
    test::State state(b.library, b.library.sizes());
    REQUIRE(state.init(&data, 1) == 0);
    std::int64_t& cask = integer_at(data, 3, 11);
    const std::int64_t right = cask;
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{29}, std::int64_t{1} << 60}) {
      cask = wrong;
      CHECK(state.step(&data) == kData);
    }
    cask = right;
    CHECK(state.step(&data) == 0);
  }
  SECTION("bits") {
    Built b("coin");
    const Fields data = b.library.data();
    test::State state(b.library, b.library.sizes());
    real_at(data, 1, 2) = 0.5;
    CHECK(state.init(&data, 1) == kData);
  }
}

TEST_CASE("a data set that no value of the variables could have given") {
  Built b("gmm");
  const Fields data = b.library.data();
  test::State state(b.library, b.library.sizes());
  for (std::size_t k = 0; k < 20; ++k)
    real_at(data, 1, k) = 1e200 * static_cast<double>(k);
  std::int32_t status = state.init(&data, 1);
  double nats = 0;
  for (int k = 0; k < 3 && status == 0; ++k)
    status = state.step();
  if (status == 0) status = state.elbo(nats);
  CHECK((status == kNotFinite || status >= 100));
}

TEST_CASE("fuzz: any number anywhere in the data") {
  std::mt19937_64 random(7);
  for (const char* model : {"lda", "hmm_gaussian", "mixture_of_hmms", "stochastic_block_model", "matrix_factorisation",
                            "crossed_random_effects", "poisson_factorisation", "logistic_regression", "ising"}) {
    DYNAMIC_SECTION(model) {
      Built b(model);
      const Fields data = b.library.data();
      test::State state(b.library, b.library.sizes());
      REQUIRE(state.init(&data, 1) == 0);
      std::size_t refused = 0;
      for (int k = 0; k < 150; ++k) {
        // Only the first entries of an array, which every array has.
        const std::size_t items = 1, field = items + random() % (data.size() - items);
        std::int64_t& entry = integer_at(data, field, random() % 2);
        const std::int64_t before = entry;
        const double reals[] = {std::nan(""), kInfinity, -1e308, 1e308, 1e-320, -0.0, 0.5, 3e9};
        double real = reals[random() % 8];
        if (random() % 2 == 0) std::memcpy(&entry, &real, 8);
        else entry = static_cast<std::int64_t>(random() >> (random() % 64)) * (random() % 2 == 0 ? 1 : -1);
        const std::int32_t status = k % 3 == 0   ? state.step(&data)
                                    : k % 3 == 1 ? state.infer(&data)
                                                 : state.init(&data, 1);
        refused += status != 0;
        double nats = 0;
        if (status == 0) state.elbo(nats);
        entry = before;
        if (k % 10 == 0) REQUIRE(state.init(&data, 1) == 0);
      }
      CHECK(refused > 20);
      REQUIRE(state.init(&data, 1) == 0);
      CHECK(state.step() == 0);
    }
  }
}

TEST_CASE("fuzz: saved states that are cut, altered or made up") {
  Built b("lda");
  const Fields data = b.library.data();
  test::State state(b.library, b.library.sizes());
  REQUIRE(state.init(&data, 5) == 0);
  REQUIRE(state.step() == 0);
  const std::vector<std::byte> saved = state.save();
  const std::vector<double> topics(state.get("beta_concentration").begin(), state.get("beta_concentration").end());
  REQUIRE(saved.size() > 1000);
  const auto unchanged = [&] {
    const auto now = state.get("beta_concentration");
    return std::memcmp(now.data(), topics.data(), now.size_bytes()) == 0;
  };

  for (std::size_t length = 0; length < 200; ++length)
    REQUIRE(state.load(std::span(saved).first(length)) == kTruncated);
  CHECK(state.load(std::span(saved).first(saved.size() - 1)) == kTruncated);
  CHECK(state.load(std::span(saved).first(saved.size() / 2)) == kTruncated);

  std::mt19937_64 random(20240901);
  for (int k = 0; k < 2000; ++k) {
    std::vector<std::byte> other = saved;
    const std::size_t at = k < 400 ? static_cast<std::size_t>(k) / 2 : random() % other.size();
    other[at] ^= static_cast<std::byte>(1 + random() % 255);
    const std::int32_t status = state.load(other);
    REQUIRE((status == kAltered || status == kOtherModel || status == kTruncated));
  }
  CHECK(unchanged());

  // Wrong headers and sizes under a correct checksum.
  for (int k = 0; k < 3000; ++k) {
    std::vector<std::byte> other = saved;
    const std::size_t word = random() % 9;  // the header, then doc, token and the rows of token
    if (word == 5) continue;
    const std::uint64_t values[] = {
        0, 1, random(), ~std::uint64_t{0}, std::uint64_t{1} << 43, saved.size(), random() % 10000};
    const std::uint64_t value = values[random() % 7];
    std::memcpy(other.data() + 8 * word, &value, 8);
    const std::uint64_t sum = checksum(other);
    std::memcpy(other.data() + 40, &sum, 8);
    const std::int32_t status = state.load(other);
    const bool same = std::memcmp(other.data(), saved.data(), saved.size()) == 0;
    // The flag that the state was started is the only word of the header that may differ.
    if (!same && word != 3)
      REQUIRE((status == kAltered || status == kOtherModel || status == kTruncated || status == kSize));
  }
  CHECK(state.load(saved) == 0);
  CHECK(unchanged());
  CHECK(state.step(&data) == 0);

  Built coin("coin");
  const Fields throws = coin.library.data();
  test::State other(coin.library, coin.library.sizes());
  REQUIRE(other.init(&throws, 1) == 0);
  CHECK(other.load(saved) == kOtherModel);
}
