#include "fuzz/low_memory.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace heed::testing {

namespace {

std::uint8_t* map_low(std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (data == MAP_FAILED) std::abort();
  return static_cast<std::uint8_t*>(data);
}

std::uint32_t address_of(const std::uint8_t* data) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace

std::uint32_t constant_in_low_memory(std::span<const float> numbers) {
  constexpr std::size_t page = 1U << 16U;
  const std::size_t bytes = (numbers.size_bytes() + page - 1) / page * page;
  std::uint8_t* const data = map_low(bytes + page);
  std::uint8_t* const start = data + bytes - numbers.size_bytes();
  std::memcpy(start, numbers.data(), numbers.size_bytes());
  if (mprotect(data, bytes, PROT_READ) != 0 || mprotect(data + bytes, page, PROT_NONE) != 0) std::abort();
  return address_of(start);
}

LowMemory::LowMemory() : data_(map_low(kBytes)) { ASAN_POISON_MEMORY_REGION(data_, kBytes); }

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
  const std::uint32_t address = address_of(data_) + start;
  blocks_[block_count_++] = {address, bytes};
  return address;
}

std::span<std::uint8_t> LowMemory::bytes_at(std::uint32_t address, std::uint32_t count) const {
  return {data_ + (address - address_of(data_)), count};
}

void LowMemory::remember() {
  remembered_.clear();
  for (const Block& block : blocks()) {
    const std::span<std::uint8_t> bytes = bytes_at(block.address, block.bytes);
    remembered_.insert(remembered_.end(), bytes.begin(), bytes.end());
  }
}

bool LowMemory::is_as_remembered() const {
  std::span<const std::uint8_t> left = remembered_;
  return std::ranges::all_of(blocks(), [&](const Block& block) {
    const bool same = std::memcmp(bytes_at(block.address, block.bytes).data(), left.data(), block.bytes) == 0;
    left = left.subspan(block.bytes);
    return same;
  });
}

void LowMemory::clear() {
  ASAN_POISON_MEMORY_REGION(data_, used_);
  used_ = 0;
  block_count_ = 0;
}

}  // namespace heed::testing
