// One element of a streamed category at work.
#pragma once
#include "compiler/loops/streams.h"

namespace lehr::loops {

/// Sums of products of exponentials below this are computed again from log odds.
inline constexpr double kUnderflow = 1e-200;

struct Streams::Element {
  const Stream& stream;
  const std::vector<ExprId>& element;
  const StreamVisit& visit;
  std::vector<Env> envs;                  // by use
  std::vector<std::vector<ExprId>> rows;  // of tables, by use
  ScalarId total, shift;                  // of the exponentials in `probs`: their sum, and what was taken off before
};

}  // namespace lehr::loops
