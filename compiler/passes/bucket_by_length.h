// The pass `bucket-by-length`: length bucketing of items before they run in lanes.
// Sequences in the lanes of a vector take as long as the longest of them. If neighbours have similar lengths, fewer
// lanes idle. Each window of 256 items is visited from the longest to the shortest.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which loops over independent items visit the items of each window of 256 by decreasing
/// length. A loop qualifies if it has a recurrence (recurrence.h) whose length follows from data of the item.
Program bucket_by_length(Program program);

}  // namespace lehr::loops
