// Moves the global factors of a converged fit by small amounts, and finds how all factors react. Linear response
// (linear_response.h) solves its equations with it.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/fit/factor_coordinates.h"
#include "compiler/instance/instance.h"

namespace lehr {

/// One parameter of the factors of a block, such as their means, and the buffer of the engine that has its numbers for
/// all elements.
struct StoredParameter {
  const math::FactorParameter* row;  // its row in the table of the factor's family
  std::int64_t buffer;               // number of the engine's buffer with its values, element by element
  /// How many numbers one element has: 1, the length of a vector or the entries of a matrix.
  std::size_t width;
};

/// Where the factors of a global block are in the memory of the engine, and which step of a sweep updates them.
struct FactorPlace {
  std::size_t block;                        // index of the block in the conditionals
  std::size_t step;                         // index of the step that updates it
  std::vector<StoredParameter> parameters;  // the parameters that fit files have; not empty
  std::size_t extent = 1;                   // size of the event axis: the length of a vector or order of a matrix
  std::size_t count = 0;                    // number of elements, each of which has a factor
};

/// A global block whose factors have coordinates (FactorCoordinates), in which linear response moves them.
struct MovablePart : FactorPlace {
  std::vector<FactorCoordinates> elements;  // the coordinates of the factor of each element
  /// Where each element's coordinates begin in the vector of all coordinates; last, where those of the block end.
  std::vector<Eigen::Index> first;
  /// How many factors each element stands for (`times`), 0 of a barren one; empty: one each.
  std::vector<double> copies;
  /// The elements that no data reach (find_barren): they follow others, and no other follows them. Empty: there are
  /// none.
  std::vector<bool> barren;

  /// Returns true if no data reach this element.
  bool is_barren(std::size_t element) const { return !barren.empty() && barren[element]; }
  /// Returns true if some element stands for other than one factor, barren ones aside.
  bool has_copies() const;
};

/// Where the means and standard deviations of one variable are: for each number of its value, an element of a
/// MovablePart and the position in the moments of that element's factor. Linear response reads them there for its
/// results.
struct FactorNumbers {
  std::string name;                 // name of the variable
  std::vector<std::int64_t> shape;  // extents of its axes, then of its event axes
  /// The index of its block in MovableFit::parts(), and the length of its vectors (0 if its values are no vectors).
  std::size_t part, vector_width;
  /// By number, row-major: the element of the part, and the index in FactorCoordinates::moments().
  std::vector<std::pair<std::size_t, Eigen::Index>> where;
};

/// A variable whose factors have no coordinates and whose means follow from the factors that have some: a chain of
/// Normal numbers or vectors, or a number in a large joint factor. Linear response gives it standard deviations too.
struct Follower {
  std::string name;                 // name of the variable
  std::vector<std::int64_t> shape;  // extents of its axes, then of its event axis
  std::vector<double> mean, sd;     // mean and standard deviation of each number by its factor, row-major
};

/// Returns why the factors of a block have no coordinates (FactorCoordinates), as a clause for a message. Empty if the
/// block's form allows them; FactorCoordinates::make() may still find none.
std::string why_no_coordinates(const conditionals::Block& b);
/// Returns true if a block's factor could have coordinates, but has so many numbers that it is better to let it follow
/// the others (Follower): a joint factor of numbers. `block` is its index in the conditionals.
bool is_led(const Instance& instance, const Analysed& analysed, std::size_t block);
/// Returns where the factors of a global block, given by its index in the conditionals, are in memory; nullopt if they
/// are not in memory as a whole, or if no step outside the item stages updates the block.
std::optional<FactorPlace> place_of(const Instance& instance, const Analysed& analysed, std::size_t block);

/// Moves the global factors of a converged fit that have coordinates by small amounts, and computes how these factors
/// and the means of followers() respond; linear response solves its equations with it. Call converge(), then
/// find_orders(), before respond(). The destructor restores the factors in the instance.
class MovableFit {
 public:
  /// The length of a move of respond(), in standard deviations of the factors, that is small enough for a derivative.
  static constexpr double kSmallMove = 1e-4;

  /// Takes the factors in the instance as the fit, and finds the blocks that have coordinates. Both must outlive the
  /// object.
  MovableFit(Instance& instance, const Analysed& analysed)
      : instance_(instance), analysed_(analysed), saved_(engine().save()) {
    find_parts();
  }
  /// Restores the factors that the instance had at the construction.
  ~MovableFit() { engine().load(saved_); }
  MovableFit(const MovableFit&) = delete;
  MovableFit& operator=(const MovableFit&) = delete;

  /// Returns the global blocks of latent variables whose factors have coordinates, with these.
  const std::vector<MovablePart>& parts() const { return parts_; }
  /// Returns true if elements of a block are updated one after another and read each other, so that find_orders()
  /// must correct their response.
  bool is_ordered(const MovablePart& part) const;
  /// Returns the number of coordinates of all blocks together: the length of a direction for respond().
  Eigen::Index size() const { return size_; }
  /// Returns, by coordinate, the square root of the number of copies of its element (MovablePart::copies). All copies
  /// of an element move together; the Jacobian J that respond() multiplies by is symmetric once coordinates are scaled
  /// by these roots.
  Eigen::VectorXd roots_of_copies() const;
  /// Returns, for messages, which variables have no coordinates, and why. After converge(), followers are not among
  /// them.
  std::vector<std::string> left_out() const;
  /// Returns where the numbers of each variable of the model's text that has coordinates are in parts().
  std::vector<FactorNumbers> numbers() const;

  /// Infers all factors without coordinates, with those of parts() fixed. The state is then the one that respond()
  /// moves. Returns why that fails; empty: it does not.
  std::string converge();
  /// Returns the variables without coordinates whose means follow those of parts(). Empty before converge().
  const std::vector<Follower>& followers() const { return followers_; }
  /// Computes how the blocks of parts() respond if all their factors are moved along `direction`, the factors without
  /// coordinates are inferred, and each block is then updated once. Writes the derivatives of their coordinates, J
  /// times the direction, to `out`, and those of the means of all followers to `followed`. Derivatives are central
  /// differences over `step` times the direction both ways. Returns why that fails; empty: it does not.
  std::string respond(const Eigen::VectorXd& direction, Eigen::VectorXd& out, Eigen::VectorXd& followed,
                      double step = kSmallMove);
  /// Prepares respond() for blocks whose elements are updated one after another: finds how later elements react to
  /// earlier ones. Returns why that fails; empty: it does not.
  std::string find_orders();

 private:
  /// Variables without coordinates, for messages.
  struct LeftOut {
    std::vector<std::string> names;  // of the variables
    std::string why;                 // the reason
  };
  /// The numbers of each parameter of one block, in the order of FactorPlace::parameters.
  using Values = std::vector<std::vector<double>>;

  /// Returns the engine of the instance, whose memory has the factors.
  Engine& engine() const { return instance_.engine(); }
  /// Fills in `parts_` with the global blocks that have coordinates, and `left_out_` with the others and the variables
  /// of items.
  void find_parts();
  /// Fills in `followers_` after the inference in converge(), and removes them from `left_out_`.
  void find_followers();
  /// Returns the means of all followers in the present state, one variable after another.
  Eigen::VectorXd means_of_followers() const;
  /// Returns the block with the coordinates of its elements' factors; nullopt if some element has none.
  std::optional<MovablePart> part_of(std::size_t block) const;
  /// Returns how many copies each element of a part stands for; empty if one. Returns nothing if the counts do not
  /// belong to elements one by one.
  std::optional<std::vector<double>> copies_of(const MovablePart& part) const;
  /// Returns the elements that no data reach; empty if there are none.
  std::vector<bool> barren_of(const MovablePart& part) const;
  /// Returns the numbers of an input array in the memory of the engine; empty if it is not there.
  std::span<const double> given(model::GivenId id) const;
  /// Infers local variables, and all other blocks without coordinates, until they no longer change. Returns why that
  /// fails; empty: it does not.
  std::string infer_rest();
  /// Puts the converged factors in place, moved by these coordinates, one for each of size(). Returns why that fails;
  /// empty: it does not.
  std::string displace(const Eigen::VectorXd& by);
  /// Updates the factors of one block from the present state. Returns why that fails; empty: it does not.
  std::string update(const MovablePart& part) const;
  /// Returns the present values of all parameters of one block.
  Values values_of(const MovablePart& part) const;
  /// Returns the parameters of one element's factor, by name, out of those of its block.
  math::Environment element_of(const MovablePart& part, const Values& values, std::size_t element) const;
  /// Returns the derivative of a block's coordinates from its parameters after a move up and after one down: a central
  /// difference over `step` both ways.
  Eigen::VectorXd difference(const MovablePart& part, const Values& up, const Values& down, double step) const;
  /// Computes how the coordinates of one block change by its own update if the factors are moved along `direction`,
  /// while nothing else reacts. Writes the derivatives to `out`. Returns why that fails; empty: it does not.
  std::string respond_alone(const MovablePart& part, const Eigen::VectorXd& direction, Eigen::VectorXd& out);

  Instance& instance_;              // has the factors
  const Analysed& analysed_;        // the model of the instance
  Arrays saved_, converged_;        // states of the engine: at the construction, and after converge()
  std::vector<MovablePart> parts_;  // the blocks that have coordinates
  /// By part: how later elements react to earlier ones alone, as a matrix over its coordinates. It is empty for blocks
  /// whose elements are not updated one after another.
  std::vector<Eigen::MatrixXd> below_;
  std::vector<bool> has_coordinates_;  // by block: true if it is one of `parts_`
  std::vector<LeftOut> left_out_;      // the variables without coordinates that do not follow either
  std::vector<Follower> followers_;    // the chains and joint factors whose means follow those of `parts_`
  Eigen::Index size_ = 0;              // number of all coordinates
};

}  // namespace lehr
