// What tests are made of: seeded random numbers, tensors in memory of every layout, an executor that surprises.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "heed/executor.hpp"
#include "heed/tensor_view.hpp"

namespace heed::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What a result no kernel wrote still holds.
inline constexpr float kUntouched = 12345.0F;

/// HEED_SEED, or a constant. Printed with every run: see report.cpp.
std::uint32_t seed();

/// The same numbers on every machine and with every standard library.
class Random {
 public:
  /// `stream` keeps one test's numbers apart from another's.
  explicit Random(std::uint32_t stream) : engine_(seed() * 2654435761U + stream) {}
  /// The numbers of a fuzzer's input, two bytes each, and what follows from their count after the last.
  explicit Random(std::span<const std::uint8_t> input)
      : engine_(static_cast<std::uint32_t>(input.size())), input_(input) {}

  double uniform() {
    if (input_.size() < 2) return (static_cast<double>(engine_()) + 0.5) / 4294967296.0;
    const int number = input_[0] * 256 + input_[1];
    input_ = input_.subspan(2);
    return (number + 0.5) / 65536.0;
  }
  Index below(Index count) { return static_cast<Index>(uniform() * static_cast<double>(count)); }
  bool chance(double probability) { return uniform() < probability; }
  /// Nearly normal: a sum of four uniform numbers, of variance 1. A logarithm would take longer than the kernels.
  float normal() {
    const double sum = uniform() + uniform() + uniform() + uniform();
    return static_cast<float>((sum - 2.0) * std::numbers::sqrt3);
  }
  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<Index>(choices.size())))];
  }

 private:
  std::mt19937 engine_;
  std::span<const std::uint8_t> input_;
};

inline Index element_count(const Shape& shape) { return shape[0] * shape[1] * shape[2] * shape[3]; }

/// How the numbers of a [batch, heads, length, dim] tensor lie in memory.
enum class Layout : std::uint8_t {
  bhnd,
  bnhd,
  padded,        // every row in a wider one, as queries, keys and values packed side by side
  shared_heads,  // one head for all: stride 0
};

inline constexpr Index kPadding = 5;

/// Numbers and the view that reads them. Moves; a copy's view would read the original.
template <typename T>
struct Owned {
  std::vector<T> numbers;
  TensorView<T> view;

  Owned() = default;
  Owned(Owned&&) noexcept = default;
  Owned& operator=(Owned&&) noexcept = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() = default;

  T& operator()(Index b, Index h, Index i, Index d) { return view.at(b, h, i)[d * view.strides[3]]; }
  const T& operator()(Index b, Index h, Index i, Index d) const { return view.at(b, h, i)[d * view.strides[3]]; }
  [[nodiscard]] TensorView<const T> reading() const { return {view.data, view.shape, view.strides}; }
};

template <typename T>
Owned<T> allocate(const Shape& shape, Layout layout, T filler) {
  const auto [batch, heads, length, dim] = shape;
  Owned<T> made;
  const bool is_padded = layout == Layout::padded;
  const Index count = is_padded ? batch * length * (heads * dim + kPadding) : element_count(shape);
  // Never without an address: in views, null means absent.
  made.numbers.assign(static_cast<std::size_t>(count + 1), filler);
  T* const data = made.numbers.data();
  switch (layout) {
    case Layout::bhnd:
      made.view = bhnd_view(data, shape);
      break;
    case Layout::bnhd:
      made.view = bnhd_view(data, shape);
      break;
    case Layout::padded:
      made.view = {data, shape, {length * (heads * dim + kPadding), dim, heads * dim + kPadding, 1}};
      break;
    case Layout::shared_heads:
      made.view = {data, shape, {length * dim, 0, dim, 1}};
      break;
  }
  return made;
}

/// Calls `visit(b, h, i, d)` for every element.
template <typename Visit>
void for_each_element(const Shape& shape, Visit visit) {
  for (Index b = 0; b < shape[0]; ++b) {
    for (Index h = 0; h < shape[1]; ++h) {
      for (Index i = 0; i < shape[2]; ++i) {
        for (Index d = 0; d < shape[3]; ++d) visit(b, h, i, d);
      }
    }
  }
}

/// Padding holds NaN, which no result may show.
inline Owned<float> random_tensor(Random& random, const Shape& shape, Layout layout = Layout::bhnd,
                                  float deviation = 1.0F) {
  Owned<float> made = allocate<float>(shape, layout, kNan);
  for_each_element(shape, [&](Index b, Index h, Index i, Index d) { made(b, h, i, d) = deviation * random.normal(); });
  return made;
}

/// Claims `workers` and runs the tasks last first, as workers that are late would.
class ReverseExecutor final : public Executor {
 public:
  explicit ReverseExecutor(int workers) : workers_(workers) {}
  [[nodiscard]] int worker_count() const override { return workers_; }
  void run(const TaskSet& tasks) override {
    for (Index task = tasks.count - 1; task >= 0; --task) {
      tasks.run(tasks.context, task, static_cast<int>(task % workers_));
    }
  }

 private:
  int workers_;
};

}  // namespace heed::testing
