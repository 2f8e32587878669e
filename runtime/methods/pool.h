// Threads that wait for work.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lehr {

class Pool {
 public:
  /// The caller is one of them; fewer where the system has no more. They take no signals, so that an interrupt stays
  /// the caller's.
  explicit Pool(std::size_t threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::size_t size() const { return threads_.size() + 1; }
  /// body(0), and at the same time body(1), body(2) ... on those of the other threads that wake up before it is done;
  /// back when all are done.
  void run(const std::function<void(std::size_t thread)>& body);

 private:
  void wait_for_work(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable begun_, done_;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t running_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

/// Of this process.
std::size_t processors();

}  // namespace lehr
