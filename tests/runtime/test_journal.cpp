// Record and replay: a run is recorded in a journal, and a second run that replays it must give the same results
// without repeating the work. Journals of other runs and damaged bytes must be noticed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "runtime/parallel/journal.h"

using namespace lehr;

namespace {

/// A walk that stands for an expensive run. `made` counts the steps that were computed and not replayed; the highest
/// position is an array that the journal must keep. At step `stop` the journal is saved to `past`.
std::vector<double> walk(Journal& journal, int steps, int& computed_steps, std::string* memory, Journal::Past* past,
                         int stop) {
  double at = 0;
  std::shared_ptr<Arrays> best;
  double highest = -std::numeric_limits<double>::infinity();
  journal.arrived = [&](const std::string& m) { at = std::stod(m); };
  for (int k = 0; k < steps; ++k) {
    const double height = journal.recorded([&] {
      ++computed_steps;
      at += k % 3 == 0 ? 1.5 : -0.5;
      return at;
    });
    if (height > highest) {
      highest = height;
      best = journal.snapshot([&] { return Arrays{{at, static_cast<double>(k)}}; });
    }
    if (k == stop) *past = journal.past(*memory = std::to_string(at));
  }
  return {at, highest, best->at(0).at(0), best->at(0).at(1)};
}

}  // namespace

TEST_CASE("a run goes on from its journal without the work") {
  for (const int stop : {0, 1, 5, 8}) {
    INFO("after " << stop);
    Journal whole;
    Journal::Past past;
    std::string memory, bytes;
    int computed_steps = 0;
    // The last two steps are no new maximum, so after the last stop the array comes from the journal.
    const std::vector<double> want = walk(whole, 9, computed_steps, &memory, &past, stop);
    CHECK(computed_steps == 9);
    CHECK(past.snapshots.size() == 1);
    Writer{bytes}(past);
    Journal next_recorded(Reader(bytes).take<Journal::Past>());
    computed_steps = 0;
    CHECK(walk(next_recorded, 9, computed_steps, &memory, &past, -1) == want);
    CHECK(computed_steps == 8 - stop);
    CHECK_FALSE(next_recorded.replays());
  }
}

TEST_CASE("a journal of many parts is one when it is told") {
  const auto learn = [](Journal& j, int steps, int& computed_steps) {
    std::vector<double> all;
    for (int k = 0; k < steps; ++k) {
      const std::vector<double> x = j.recorded([&] { return std::vector<double>(3000, ++computed_steps); });
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  };
  Journal first;
  int computed_steps = 0;
  const std::vector<double> want = learn(first, 10, computed_steps);
  Journal second(first.past(""));
  CHECK(learn(second, 10, computed_steps) == want);
  CHECK(computed_steps == 10);
  learn(second, 5, computed_steps);
  Journal third(second.past(""));
  const std::vector<double> more = learn(third, 15, computed_steps);
  CHECK(computed_steps == 15);
  CHECK(more.back() == 15);
  CHECK(std::equal(want.begin(), want.end(), more.begin()));
}

TEST_CASE("what is asked for within what is seen is part of it") {
  Journal first;
  const auto ask = [](Journal& j) { return j.recorded([&] { return 1 + j.recorded([] { return 2; }); }); };
  CHECK(ask(first) == 3);
  Journal next_recorded(first.past(""));
  CHECK(ask(next_recorded) == 3);
  CHECK_FALSE(next_recorded.replays());
}

TEST_CASE("another run than the journal's is noticed") {
  Journal first;
  first.recorded([] { return 1; });
  Journal next_recorded(first.past(""));
  CHECK_THROWS_AS(next_recorded.recorded([] { return std::vector<double>{1, 2}; }), ReplayMismatch);
}

TEST_CASE("values are bytes and back, and bytes that are missing are noticed") {
  const std::vector<std::string> words{"", "one", std::string("a\0b", 3)};
  const std::map<std::string, Arrays> arrays{{"x", {{1, 2}, {}}}, {"y", {}}};
  std::string bytes;
  Writer{bytes}(words, arrays, 7, true);
  Reader from(bytes);
  CHECK(from.take<std::vector<std::string>>() == words);
  CHECK(from.take<std::map<std::string, Arrays>>() == arrays);
  CHECK(from.take<int>() == 7);
  CHECK(from.take<bool>());
  CHECK(from.left() == 0);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Reader cut(std::string_view(bytes).substr(0, length));
    const auto read = [&] {
      cut.take<std::vector<std::string>>();
      cut.take<std::map<std::string, Arrays>>();
      cut.take<int>();
      cut.take<bool>();
    };
    REQUIRE_THROWS_AS(read(), std::out_of_range);
  }
}

TEST_CASE("a truth that is neither true nor false is not read") {
  bool truth = false;
  CHECK(Reader(std::string_view("\1", 1)).take<bool>());
  CHECK_THROWS_AS(Reader(std::string_view("\xf0", 1)).take<bool>(), std::out_of_range);
  CHECK_THROWS_AS(Reader(std::string_view("\2", 1))(truth), std::out_of_range);
}
