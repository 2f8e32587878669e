// The global factors of a converged fit as a point that can be moved, and how all factors react: what linear response
// (linear_response.h) solves equations in.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/fit/factor_coordinates.h"
#include "compiler/instance/instance.h"

namespace lehr {

/// One parameter of the factors of a block, and where its numbers are in the memory of the engine.
struct StoredParameter {
  const math::FactorParameter* row;  // its row in the table of the family
  std::int64_t buffer;               // its numbers
  std::size_t width;                 // numbers of one element
};

/// Where the factors of a global block are in the memory of the engine, and which step updates them.
struct FactorPlace {
  std::size_t block;                        // index of the block in the conditionals
  std::size_t step;                         // index of the step that updates it
  std::vector<StoredParameter> parameters;  // exported parameters
  std::size_t extent = 1;                   // of the event axis
  std::size_t count = 0;                    // number of elements
};

/// A global block whose factors have coordinates.
struct MovablePart : FactorPlace {
  std::vector<FactorCoordinates> elements;  // the coordinates of the factor of each element
  std::vector<Eigen::Index> first;          // the first coordinate of each element among all, and the end of the last
  std::vector<double> copies;               // how many factors each element stands for (`times`); empty: one each
};

/// Where the means and standard deviations of one variable are: for each number of its value, an element of a
/// MovablePart and the position in the moments of that element's factor.
struct FactorNumbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t part, vector_width;  // index in MovableFit::parts(); numbers of a vector, 0 if the variable is none
  /// By number, row-major: the element of the part, and the index in FactorCoordinates::moments().
  std::vector<std::pair<std::size_t, Eigen::Index>> where;
};

/// A variable whose factors have no coordinates and whose means follow from the factors that have some: a chain of
/// Normal numbers or vectors.
struct Follower {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> mean, sd;  // of each number, by its factor
};

/// Returns why the factors of a block have no coordinates (FactorCoordinates), as a clause for a message. Empty if the
/// block's form allows them; FactorCoordinates::make() may still find none.
std::string why_no_coordinates(const conditionals::Block& b);
/// Returns where the factors of a global block are; nullopt if they are not in memory as a whole, or if no step outside
/// the item stages updates the block.
std::optional<FactorPlace> place_of(const Instance& instance, const Analysed& analysed, std::size_t block);

/// The global factors of a converged fit as a point that can be moved, to see how all factors respond. Call converge(),
/// then find_orders(), before respond(). The destructor restores the factors in the instance.
class MovableFit {
 public:
  MovableFit(Instance& instance, const Analysed& analysed)
      : instance_(instance), analysed_(analysed), saved_(engine().save()) {
    find_parts();
  }
  ~MovableFit() { engine().load(saved_); }
  MovableFit(const MovableFit&) = delete;
  MovableFit& operator=(const MovableFit&) = delete;

  /// Returns the blocks that have coordinates.
  const std::vector<MovablePart>& parts() const { return parts_; }
  /// Returns the number of all coordinates.
  Eigen::Index size() const { return size_; }
  /// Returns the root of the number of copies that each coordinate stands for: the copies move together, and J is
  /// symmetric in coordinates that are scaled by it.
  Eigen::VectorXd roots_of_copies() const;
  /// Returns, for messages, which variables have no coordinates, and why. After converge(), followers are not among
  /// them.
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// Returns where the numbers of each variable of the model's text that has coordinates are in parts().
  std::vector<FactorNumbers> numbers() const;

  /// Infers all factors without coordinates, with those of parts() fixed. The state is then the one that respond()
  /// moves. Returns why that fails; empty: it does not.
  std::string converge();
  /// Returns the variables without coordinates whose means follow those of parts(). Empty before converge().
  const std::vector<Follower>& followers() const { return followers_; }
  /// Computes how the blocks of parts() respond if all factors are moved along `direction` and each block is then
  /// updated once. Writes the derivatives of their coordinates, J times the direction, to `out`, and those of the means
  /// of all followers to `followed`. Returns why that fails; empty: it does not.
  std::string respond(const Eigen::VectorXd& direction, Eigen::VectorXd& out, Eigen::VectorXd& followed);
  /// Prepares respond() for blocks whose elements are updated one after another: finds how later elements react to
  /// earlier ones. Returns why that fails; empty: it does not.
  std::string find_orders();

 private:
  using Values = std::vector<std::vector<double>>;  // of the parameters of one part

  Engine& engine() const { return instance_.engine(); }
  void find_parts();
  void find_followers();
  Eigen::VectorXd means_of_followers() const;
  std::optional<MovablePart> part_of(std::size_t block) const;
  std::optional<std::vector<double>> copies_of(const MovablePart& part) const;
  std::string infer_rest();
  bool is_ordered(const MovablePart& part) const;
  std::string displace(const Eigen::VectorXd& by);
  std::string update(const MovablePart& part) const;
  Values values_of(const MovablePart& part) const;
  math::Environment element_of(const MovablePart& part, const Values& values, std::size_t element) const;
  Eigen::VectorXd difference(const MovablePart& part, const Values& up, const Values& down) const;
  std::string respond_alone(const MovablePart& part, const Eigen::VectorXd& direction, Eigen::VectorXd& out);

  Instance& instance_;
  const Analysed& analysed_;
  Arrays saved_, converged_;
  std::vector<MovablePart> parts_;
  std::vector<Eigen::MatrixXd> below_;  // by part: of ordered ones, how later elements react to earlier ones alone
  std::vector<bool> has_coordinates_;   // by block
  std::vector<std::string> left_out_;
  std::vector<Follower> followers_;
  Eigen::Index size_ = 0;
};

}  // namespace lehr
