// Recurrences of state alone, such as the covariances of a Kalman filter (the Riccati recursion): once they give the
// same bits twice, they give them again.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// In a loop over steps: statements one after another that have to do with scratch of constant extents and with what
/// the loop does not change, but not with its index, are skipped in a turn that finds all they read as the turn before
/// found it. What they fill, they fill in every turn alike, and nothing else of the loop writes it. They take more
/// operations than there are numbers to compare. Functions that run once a fit stay as they are.
Program skip_settled(Program program);

}  // namespace lehr::loops
