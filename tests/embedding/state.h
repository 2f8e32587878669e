// A state of a built object in memory of the test, with a method for each function of its header. Functions return 0 or
// a status code of the header.
#pragma once
#include <span>
#include <vector>

#include "tests/embedding/library.h"

namespace lehr::test {

/// One state of one built model. The library must outlive it.
class State {
 private:
  static const void* pointer(const Fields* f) { return f ? f->data() : nullptr; }
  template <class F, class... A>
  auto call(const std::string& name, A... arguments) const {
    return library_.function<F>(name)(arguments...);
  }

 public:
  /// Allocates the memory for a state of these sizes, without initialising it.
  State(const Library& library, Fields sizes)
      : library_(library),
        sizes_(std::move(sizes)),
        memory_(call<std::size_t(const void*)>("state_bytes", sizes_.data())) {}

  /// Initialises the state with data and a random start.
  std::int32_t init(const Fields* data, std::uint64_t seed) {
    return call<std::int32_t(void*, std::size_t, const void*, const void*, std::uint64_t)>(
        "init", memory_.data(), memory_.size(), sizes_.data(), pointer(data), seed);
  }
  /// Performs one sweep. Without `data` it uses those of before.
  std::int32_t step(const Fields* data = nullptr, double inverse_temperature = 1) {
    return call<std::int32_t(void*, const void*, double)>("step", memory_.data(), pointer(data), inverse_temperature);
  }
  /// Begins a sweep whose items the caller distributes over ranges.
  std::int32_t begin(const Fields* data = nullptr, double inverse_temperature = 1) {
    return call<std::int32_t(void*, const void*, double)>("step_begin", memory_.data(), pointer(data),
                                                          inverse_temperature);
  }
  /// Moves on to the next item stage of that sweep and sets `items` to its number of items; 0 ends the sweep.
  std::int32_t next(std::int64_t& items) {
    return call<std::int32_t(void*, std::int64_t*)>("step_next", memory_.data(), &items);
  }
  /// Returns memory for the sums of one range of items, filled with arbitrary bytes.
  std::vector<std::byte> range() {
    return std::vector<std::byte>(call<std::size_t(void*)>("range_bytes", memory_.data()), std::byte{0x5a});
  }
  /// Works on items from, ..., to - 1 of the stage, with sums in `range`.
  std::int32_t items(std::vector<std::byte>& range, std::int64_t from, std::int64_t to) {
    return call<std::int32_t(void*, void*, std::size_t, std::int64_t, std::int64_t)>(
        "step_items", memory_.data(), range.data(), range.size(), from, to);
  }
  /// Adds the sums of a range to those of the stage.
  std::int32_t add(std::vector<std::byte>& range) {
    return call<std::int32_t(void*, void*)>("step_add", memory_.data(), range.data());
  }
  /// Performs a sweep with the items in `count` ranges, in reverse order if `backwards`.
  std::int32_t step_in_ranges(std::int64_t count, bool backwards, double inverse_temperature = 1) {
    if (const std::int32_t status = begin(nullptr, inverse_temperature)) return status;
    for (std::int64_t n = 0;;) {
      if (const std::int32_t status = next(n)) return status;
      if (n == 0) return 0;
      std::vector<std::vector<std::byte>> ranges(static_cast<std::size_t>(count), range());
      for (std::int64_t turn = 0; turn < count; ++turn) {
        const std::int64_t k = backwards ? count - 1 - turn : turn;
        if (const std::int32_t status = items(ranges[static_cast<std::size_t>(k)], n * k / count, n * (k + 1) / count))
          return status;
      }
      for (std::vector<std::byte>& r : ranges) {
        if (const std::int32_t status = add(r)) return status;
      }
    }
  }
  /// Performs sweep number `sweep` of a Gibbs sampler; seed, chain and sweep determine its random numbers.
  std::int32_t gibbs_step(const Fields* data, std::uint64_t seed, std::uint64_t chain, std::int64_t sweep) {
    return call<std::int32_t(void*, const void*, std::uint64_t, std::uint64_t, std::int64_t, double)>(
        "gibbs_step", memory_.data(), pointer(data), seed, chain, sweep, 1.0);
  }
  /// Returns the present values of all variables of a sampler; empty if that fails.
  std::vector<double> draw() {
    std::vector<double> out(call<std::size_t(void*)>("draw_count", memory_.data()));
    const auto status = call<std::int32_t(void*, double*, std::size_t)>("draw", memory_.data(), out.data(), out.size());
    return status == 0 ? out : std::vector<double>();
  }
  /// Computes the log joint density of the present values.
  std::int32_t log_joint(double& nats) {
    return call<std::int32_t(void*, double*)>("log_joint", memory_.data(), &nats);
  }
  /// Performs a stochastic step of size `rho` with a minibatch out of `total` items.
  std::int32_t svi_step(const Fields* batch, std::int64_t total, double rho, double inverse_temperature = 1) {
    return call<std::int32_t(void*, const void*, std::int64_t, double, double)>(
        "svi_step", memory_.data(), pointer(batch), total, rho, inverse_temperature);
  }
  /// Infers the local variables of new items, with the global factors unchanged.
  std::int32_t infer(const Fields* data) {
    return call<std::int32_t(void*, const void*)>("infer", memory_.data(), pointer(data));
  }
  /// Computes the log predictive density of new items.
  std::int32_t score(const Fields* data, double& nats) {
    return call<std::int32_t(void*, const void*, double*)>("score", memory_.data(), pointer(data), &nats);
  }
  /// Computes the ELBO.
  std::int32_t elbo(double& nats) { return call<std::int32_t(void*, double*)>("elbo", memory_.data(), &nats); }
  /// Sets the limits on the local iterations of an item.
  std::int32_t accuracy(std::int64_t iterations, double tolerance) {
    return call<std::int32_t(void*, std::int64_t, double)>("set_accuracy", memory_.data(), iterations, tolerance);
  }
  /// Returns the values of a parameter of the posterior, which stay in the state's memory.
  std::span<const double> get(const std::string& parameter) {
    std::size_t count = 0;
    const double* const values = call<const double*(void*, std::size_t*)>("get_" + parameter, memory_.data(), &count);
    return {values, count};
  }
  /// Replaces the values of a parameter of the posterior.
  std::int32_t set(const std::string& parameter, std::span<const double> values) {
    return call<std::int32_t(void*, const double*, std::size_t)>("set_" + parameter, memory_.data(), values.data(),
                                                                 values.size());
  }
  /// Returns the saved state; empty if saving fails.
  std::vector<std::byte> save() {
    std::vector<std::byte> out(call<std::size_t(void*)>("saved_bytes", memory_.data()));
    const auto status = call<std::int32_t(void*, void*, std::size_t)>("save", memory_.data(), out.data(), out.size());
    return status == 0 ? out : std::vector<std::byte>();
  }
  /// Restores a saved state.
  std::int32_t load(std::span<const std::byte> saved) {
    return call<std::int32_t(void*, const void*, std::size_t)>("load", memory_.data(), saved.data(), saved.size());
  }

  /// The memory of the state.
  std::vector<std::byte>& memory() { return memory_; }

 private:
  const Library& library_;
  Fields sizes_;
  std::vector<std::byte> memory_;
};

}  // namespace lehr::test
