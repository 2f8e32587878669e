// A pool of threads that wait for work. They start once and serve many parallel loops, since starting a thread takes
// longer than many of the loops.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lehr {

/// Threads that wait for parallel loops. One caller at a time may use them.
class Pool {
 public:
  /// Starts `threads` - 1 threads; the thread that calls run() is the first of the pool. There are fewer if the system
  /// allows no more. The started threads block all signals, so that an interrupt reaches another thread.
  explicit Pool(std::size_t threads);
  /// Ends the threads.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns the number of threads, the caller included.
  std::size_t size() const { return threads_.size() + 1; }
  /// Runs body(0) on the calling thread and body(1), body(2), ... at the same time on the others, and returns when all
  /// of them have returned. A thread that wakes up after body(0) is done does not take part. So `body` must distribute
  /// its work itself, for instance by a shared counter. If it throws, the first exception is thrown here once all have
  /// returned.
  void run(const std::function<void(std::size_t thread)>& body);

 private:
  /// The loop of a started thread, which has this number: waits for a round and runs its body, until the pool ends.
  void wait_for_work(std::size_t thread);
  /// Runs the body for a thread, and keeps its exception if it is the first.
  void run_body(const std::function<void(std::size_t)>& body, std::size_t thread);

  std::mutex mutex_;                                        // guards the members below
  std::condition_variable begun_,                           // signals a new round, or the end
      done_;                                                // signals that the threads have returned from the body
  const std::function<void(std::size_t)>* body_ = nullptr;  // body of the present call of run(); null: there is none
  std::uint64_t round_ = 0;                                 // number of calls of run() so far
  std::size_t running_ = 0;                                 // threads that run a body, without the caller
  std::exception_ptr thrown_;                               // the first exception of the present round
  bool over_ = false;                                       // true: the threads must end
  std::vector<std::thread> threads_;                        // all but the caller
};

/// Returns the number of processors that the C++ library reports for this process, at least 1.
std::size_t processors();

}  // namespace lehr
