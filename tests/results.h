// Results of functions that can fail.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "runtime/result.h"

namespace lehr::test {

/// Returns the value of a result. The test fails with the error's text if there is none.
template <class T>
T require_ok(Result<T> result) {
  INFO((result ? "" : render(result.error())));
  REQUIRE(result);
  return std::move(*result);
}

/// Returns the error of a result as text. The test fails if there is none, or one of another kind.
template <class T>
std::string complaint(const Result<T>& result, ExitCode code = ExitCode::data, std::string_view prefix = "") {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == code);
  return render(result.error(), prefix);
}

}  // namespace lehr::test
