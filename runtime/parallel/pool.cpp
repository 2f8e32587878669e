// The thread pool. A round is a body and a number; a thread that wakes up runs the body if the round is still open. The
// caller closes the round after its own part and waits for the threads that took part.
#include "runtime/parallel/pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace lehr {

std::size_t processors() { return std::max(1u, std::thread::hardware_concurrency()); }

Pool::Pool(std::size_t threads) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (std::size_t k = 1; k < threads; ++k)
      threads_.emplace_back([this, k] { wait_for_work(k); });
  } catch (const std::system_error&) {
    // The pool has the threads that the system allowed.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Pool::~Pool() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
  for (std::thread& t : threads_)
    t.join();
}

void Pool::run(const std::function<void(std::size_t)>& body) {
  {
    const std::scoped_lock lock(mutex_);
    body_ = &body;
    ++round_;
  }
  begun_.notify_all();
  run_body(body, 0);
  std::unique_lock lock(mutex_);
  body_ = nullptr;  // closes the round for threads that have not woken up
  done_.wait(lock, [&] { return running_ == 0; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Pool::run_body(const std::function<void(std::size_t)>& body, std::size_t thread) {
  try {
    body(thread);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

void Pool::wait_for_work(std::size_t thread) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    begun_.wait(lock, [&] { return over_ || round_ != seen; });
    if (over_) return;
    seen = round_;
    if (!body_) continue;
    ++running_;
    const auto& body = *body_;
    lock.unlock();
    run_body(body, thread);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace lehr
