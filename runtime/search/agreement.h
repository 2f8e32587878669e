// Agreement of starts: whether a run is on its way to the solution that another run has reached, long before it
// converges. So other starts confirm a solution in a few sweeps each.
//
// Coordinate ascent is a map of the parameters. A run that comes onto the path of another one and stays on it ends
// where that ended. Runs from different starts mostly meet on the path of slowest convergence. The path may also lead
// past a saddle point, where runs separate, so a run must cover a part of the way on it before it counts.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// The path of a run: the ELBO and the global parameters after its sweeps. Of a long run it stores every 2nd, 4th, 8th,
/// ... sweep, so that its memory is limited, and always the last one.
class RunPath {
 public:
  /// A point of the path: what the run had reached after one of its sweeps.
  struct Point {
    double elbo;          // ELBO after the sweep, in nats
    Snapshot parameters;  // global parameters after the sweep
  };

  /// Begins an empty path.
  explicit RunPath(const Engine& e);
  /// Adds the state in place, which has this ELBO, as the newest point. Call it after every sweep of the run.
  void add(double elbo);
  /// Returns the stored points, oldest first; the last one is that of the last sweep. Call it after add().
  std::vector<Point> points() const;

 private:
  const Engine& e_;            // the engine of the run
  std::size_t most_;           // number of points that memory allows
  std::int64_t sweeps_ = 0,    // sweeps so far
      stride_ = 1;             // sweeps from one stored point to the next
  std::vector<Point> stored_;  // points at multiples of the stride
  Point last_{};               // the newest point
};

/// Watches a run and decides when it has joined the path of another run, so that it will end at the same solution and
/// need not go on. A search uses it to confirm a solution from other starts in a few sweeps.
class PathFollower {
 public:
  /// Watches a run of this engine. `path` is that of another run; it has at least one point, and its last one is a
  /// converged solution.
  PathFollower(const Engine& e, const RunPath& path) : e_(e), path_(path.points()) {}

  /// Returns true if the run is expected to end where the path ends. Either it is close to the end and each of the last
  /// three sweeps has brought it closer. Or it has covered a tenth of its way to the end on the path, in every array of
  /// parameters, and its distance from the path is small relative to the way that it has covered and to the rest. It is
  /// false if the run is higher than the path. Call it after every sweep, with the ELBO of the state in place.
  bool joins(double elbo);

 private:
  /// Where the run is, relative to the path. Distances of an array are those of the entry that differs most, relative
  /// to its size.
  struct Position {
    double aside,  // distance from the point of the path with the same ELBO, over `far` of each array; infinite: there
                   // is none
        strayed,   // distance from the same point, over the way from where the run came onto the path
        left,      // distance from the end of the path, over that distance where the run came onto the path
        far;       // distance from the end of the path
  };
  /// Returns the position relative to the path of the state in place, with this ELBO and these global parameters.
  Position position(double elbo, const Arrays& now) const;

  const Engine& e_;                   // the engine of both runs
  std::vector<RunPath::Point> path_;  // the path
  Snapshot joined_at_;                // parameters where the run came onto the path; null: it is not on it
  double far_before_ = INFINITY;      // distance from the end after the sweep before
  int closer_ = 0;                    // successive sweeps that have brought it closer to the end
};

}  // namespace lehr
