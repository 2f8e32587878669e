// Reproducibility: chunks of items must give the same bits with any number of threads and processes, and the results of
// a single chunk up to the order of sums. Processes are simulated by threads that exchange messages in memory.
#include <catch2/catch.hpp>

#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "compiler/instance/instance.h"
#include "runtime/inference/samplers/gibbs.h"
#include "runtime/inference/svi.h"
#include "tests/files.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

/// Chunk sizes: as many chunks as there are items or iterations, or a single one.
constexpr ChunkSize kSmall{1, 0, 1}, kOne{1e300, 0, 1e300};

using Values = std::vector<std::vector<double>>;

/// Throws if the condition is false. Unlike Catch's macros it can be used in any thread.
void require(bool well) {
  if (!well) throw std::runtime_error("a step has failed");
}

/// Returns the state after a method has run from the same start: factors, statistics, and the ELBO.
Values after(Instance& instance, const std::function<double(const Engine&)>& method) {
  // Starts of samplers are random draws, so their key is set, too.
  if (instance.engine().model().random_key >= 0) machine::set_key(instance.engine().machine(), 5, 0);
  require(static_cast<bool>(instance.start(5, 0)));
  const double elbo = method(instance.engine());
  Values out = instance.engine().save();
  out.push_back({elbo});
  return out;
}

bool same_bits(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), 8 * x.size()) == 0;
  });
}

double few_sweeps(const Engine& e) {
  CaviOptions o;
  o.max_iterations = 2;
  o.annealing.from = 3;
  o.annealing.over = 2;
  return run_cavi(e, o, [](const SweepReport&) { return true; }).elbo;
}

double few_parts(const Engine& e) {
  Elbo out;
  for (int k = 0; k < 3; ++k)
    require(sweep(e, {}, {.parts = true}) == 0);
  require(e.elbo(out) == 0);
  return out.value;
}

double few_steps(const Engine& e) {
  SviOptions o;
  o.batch = 9;
  o.epochs = 1;
  o.fresh = true;
  return run_svi(e, o, [](const SweepReport&) { return true; }).elbo;
}

double few_draws(const Engine& e) {
  GibbsOptions o;
  o.warmup = 1;
  o.draws = 2;
  double log_joint = 0;
  run_gibbs(
      e, o, [](const SweepReport&) { return true; }, [&](double x) { log_joint = x; });
  return log_joint;
}

/// Adds the ELBO to the entropies of categories. These are differences of sums as large as the ELBO, so their rounding
/// errors must be judged relative to that.
Values in_scale(const Instance& instance, Values x) {
  std::size_t k = 0;
  for (const std::int64_t b : instance.engine().state_buffers()) {
    if (instance.name_of(b).starts_with("discrete")) x[k][0] += x.back()[0];
    ++k;
  }
  return x;
}

/// Checks that any number of threads gives the same bits, and that a single chunk gives the same up to `rounding`.
void check(Instance& instance, const std::function<double(const Engine&)>& method, double rounding = 1e-9) {
  Engine& e = instance.engine();
  e.work_with(1, kSmall);
  const Values alone = after(instance, method);
  for (const std::size_t threads : {2u, 3u, 7u}) {
    INFO(threads << " threads");
    e.work_with(threads, kSmall);
    CHECK(same_bits(after(instance, method), alone));
  }
  e.work_with(1, kOne);
  CHECK(test::difference(in_scale(instance, alone), in_scale(instance, after(instance, method))) < rounding);
}

/// The messages between threads that simulate processes, by sender and receiver.
struct Mailboxes {
  std::mutex mutex;
  std::condition_variable more;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::vector<double>>> messages;
};

class SimulatedProcess : public Group {
 public:
  SimulatedProcess(Mailboxes& mailboxes, std::size_t rank, std::size_t size)
      : mailboxes_(mailboxes), rank_(rank), size_(size) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  std::size_t neighbours() const override { return size_; }
  bool any(bool here) override { return here; }
  void abandon(int) override { std::abort(); }

 private:
  void do_send(std::span<const double> values, std::size_t to) override {
    const std::scoped_lock lock(mailboxes_.mutex);
    mailboxes_.messages[{rank_, to}].emplace_back(values.begin(), values.end());
    mailboxes_.more.notify_all();
  }
  void do_receive(std::span<double> values, std::size_t from) override {
    std::unique_lock lock(mailboxes_.mutex);
    std::deque<std::vector<double>>& messages = mailboxes_.messages[{from, rank_}];
    mailboxes_.more.wait(lock, [&] { return !messages.empty(); });
    std::ranges::copy(messages.front(), values.begin());
    messages.pop_front();
  }
  void do_broadcast(std::span<double> values, std::size_t from) override {
    for (std::size_t to = 0; rank_ == from && to < size_; ++to)
      if (to != from) do_send(values, to);
    if (rank_ != from) do_receive(values, from);
  }

  Mailboxes& mailboxes_;
  std::size_t rank_, size_;
};

/// Runs the method in one simulated process for each instance. Returns the final state of each, with all factors
/// gathered.
std::vector<Values> in_processes(const std::vector<std::unique_ptr<Instance>>& instances, const ChunkSize& least,
                                 const std::function<double(const Engine&)>& method) {
  Mailboxes mailboxes;
  std::vector<Values> out(instances.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < instances.size(); ++k) {
    threads.emplace_back([&, k] {
      SimulatedProcess group(mailboxes, k, instances.size());
      Engine& e = instances[k]->engine();
      e.work_with(1, least, &group);
      out[k] = after(*instances[k], [&](const Engine& engine) {
        const double elbo = method(engine);
        engine.gather();
        return elbo;
      });
      e.work_with(1);
    });
  }
  for (std::thread& t : threads)
    t.join();
  return out;
}

}  // namespace

TEST_CASE("every model that can be shared out: any number of processes gives the same bits") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      std::vector<std::unique_ptr<Instance>> all;
      for (int k = 0; k < 4; ++k) {
        all.push_back(std::make_unique<Instance>(p->front, p->data, loops::LowerOptions{}, Backend::native));
        if (!all[0]->engine().can_distribute()) break;
      }
      if (all.size() == 1) continue;
      const Engine& e = all[0]->engine();
      const StepRow& stage = *machine::batch_stage(e.model());
      const ChunkSize half{static_cast<double>(e.items() * stage.operations) / 2, 0};
      const auto check_all = [&](const ChunkSize& least, double (*method)(const Engine&)) {
        all[0]->engine().work_with(1, least);
        const Values alone = after(*all[0], method);
        for (const Values& one : in_processes(all, least, method))
          CHECK(same_bits(one, alone));
      };
      check_all(kSmall, few_sweeps);
      check_all(half, few_sweeps);  // fewer chunks than processes
      for (const auto& instance : all)
        instance->engine().divide(2);
      for (; all.size() > 1; all.pop_back())
        check_all(kSmall, few_parts);
    }
  }
}

TEST_CASE("every model: any number of threads gives the same bits") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      Instance instance(p->front, p->data, {.save_locals = true, .batches = true}, Backend::native);
      CHECK(std::ranges::none_of(instance.engine().steps(),
                                 [](const StepRow& s) { return s.stage && s.operations <= 0; }));
      check(instance, few_sweeps);
      instance.engine().divide(2);
      check(instance, few_parts, 1e-8);
      instance.engine().divide(1);
      if (!instance.engine().minibatches()) continue;
      check(instance, few_steps);
      Instance window(p->front, p->data, {.batches = true}, Backend::native, 9);
      check(window, few_steps);
    }
  }
}

TEST_CASE("draws do not depend on the number of threads") {
  const std::string name =
      GENERATE("lda", "gmm_normal_wishart", "hmm_gaussian", "logistic_regression", "crossed_random_effects");
  INFO(name);
  auto p = test::prepare(test::model_file(name));
  Result<Analysed> drawn = with_sample_factors(p->front);
  REQUIRE(drawn);
  Instance instance(*drawn, p->data, {.save_locals = true}, Backend::native);
  check(instance, few_draws);
}

TEST_CASE("a sweep ends with the status of the chunk that fails, wherever that is") {
  const auto p = test::prepare(test::model_file("lda"));
  Instance instance(p->front, p->data, {}, Backend::native);
  Engine& e = instance.engine();
  std::int64_t count = 0;
  while (instance.name_of(count) != "count")
    ++count;
  const std::span<double> counts = e.reals(count);
  for (const std::size_t token : {std::size_t{0}, counts.size() / 2, counts.size() - 1}) {
    const double before = std::exchange(counts[token], std::nan(""));
    for (const std::size_t threads : {1U, 3U}) {
      INFO("token " << token << ", " << threads << " threads");
      e.work_with(threads, kSmall);
      REQUIRE(instance.start(5, 0));
      CHECK(sweep(e, {}) == 101);  // concentrations that are not positive
    }
    counts[token] = before;
    REQUIRE(instance.start(5, 0));
    CHECK(sweep(e, {}) == 0);
  }
}
