#include "fuzz/low_memory.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstdlib>

namespace heed::testing {

LowMemory::LowMemory()
    : data_(static_cast<std::uint8_t*>(
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0))) {
  if (data_ == MAP_FAILED) std::abort();
  clear();
}

LowMemory::~LowMemory() {
  ASAN_UNPOISON_MEMORY_REGION(data_, kBytes);
  munmap(data_, kBytes);
}

std::uint32_t LowMemory::allocate(std::uint32_t bytes) {
  constexpr std::uint32_t alignment = 64;
  const std::uint32_t start = used_ + alignment;
  if (start + bytes + alignment > kBytes || block_count_ == 256) std::abort();
  used_ = (start + bytes + alignment - 1) / alignment * alignment;
  ASAN_UNPOISON_MEMORY_REGION(data_ + start, bytes);
  const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(data_)) + start;
  blocks_[block_count_++] = {address, bytes};
  return address;
}

std::span<std::uint8_t> LowMemory::bytes_at(std::uint32_t address, std::uint32_t count) const {
  return {data_ + (address - static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(data_))), count};
}

std::vector<std::uint8_t> LowMemory::copy() const {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < block_count_; ++i) {
    const std::span<std::uint8_t> bytes = bytes_at(blocks_[i].address, blocks_[i].bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

void LowMemory::clear() {
  used_ = 0;
  block_count_ = 0;
  ASAN_POISON_MEMORY_REGION(data_, kBytes);
}

}  // namespace heed::testing
