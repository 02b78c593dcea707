// Aligned memory for the length of one operation, without exceptions.
#pragma once

#include <initializer_list>
#include <limits>
#include <new>

#include "heed/tensor_view.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed {

class Scratch {
 public:
  /// is_available() tells whether the memory was to be had.
  explicit Scratch(Index floats) : floats_(floats) {
    if (floats == 0 || floats > kMaxFloats) return;
    data_ =
        static_cast<float*>(::operator new(static_cast<std::size_t>(floats) * sizeof(float), kAlignment, std::nothrow));
  }
  ~Scratch() { ::operator delete(data_, kAlignment); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] bool is_available() const { return data_ != nullptr || floats_ == 0; }
  [[nodiscard]] float* data() const { return data_; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  [[nodiscard]] Index floats() const { return floats_; }

 private:
  static constexpr std::align_val_t kAlignment{kernels::kScratchAlignment};
  static constexpr Index kMaxFloats = std::numeric_limits<std::int32_t>::max() / Index{sizeof(float)};
  Index floats_;
  float* data_ = nullptr;
};

/// The floats that `count` things take, for Scratch::as().
template <typename T>
constexpr Index floats_for(Index count) {
  return (count * Index{sizeof(T)} + Index{sizeof(float)} - 1) / Index{sizeof(float)};
}

/// The floats of all together if some could not be allocated, else 0.
inline Index missing_floats(std::initializer_list<const Scratch*> all) {
  Index floats = 0;
  bool are_available = true;
  for (const Scratch* memory : all) {
    floats += memory->floats();
    are_available = are_available && memory->is_available();
  }
  return are_available ? 0 : floats;
}

}  // namespace heed
