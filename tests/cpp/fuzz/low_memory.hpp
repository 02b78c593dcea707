// Memory below 4 GiB, where addresses have 32 bits as they do in WebAssembly, for the numbers of packed calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::testing {

/// The address of a copy of numbers, which nothing may write to, nor read what follows.
std::uint32_t constant_in_low_memory(std::span<const float> numbers);

/// Blocks of exactly the size that was asked for: AddressSanitizer reports whatever is read or written beside them.
class LowMemory {
 public:
  LowMemory();
  ~LowMemory();
  LowMemory(const LowMemory&) = delete;
  LowMemory& operator=(const LowMemory&) = delete;

  /// The address of so many bytes, aligned to 64.
  std::uint32_t allocate(std::uint32_t bytes);
  [[nodiscard]] std::span<std::uint8_t> bytes_at(std::uint32_t address, std::uint32_t count) const;
  /// What all blocks hold, to see whether a call wrote any.
  void remember();
  [[nodiscard]] bool is_as_remembered() const;
  void clear();

 private:
  static constexpr std::uint32_t kBytes = 1U << 24U;
  struct Block {
    std::uint32_t address, bytes;
  };

  [[nodiscard]] std::span<const Block> blocks() const { return {blocks_, static_cast<std::size_t>(block_count_)}; }

  std::uint8_t* data_;
  std::uint32_t used_ = 0;
  Block blocks_[256];
  int block_count_ = 0;
  std::vector<std::uint8_t> remembered_;
};

}  // namespace heed::testing
