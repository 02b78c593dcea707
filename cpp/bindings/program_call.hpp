// A program: calls that one worker runs in order, while the calling thread appends more of them.
#pragma once

#include <atomic>
#include <cstdint>

#include "bindings/operations.hpp"

namespace heed {

/// The calling thread writes the address of a call and then raises `appended` by compare-and-swap. That fails once the
/// worker has closed the list, because it found nothing more to run or a call failed.
struct CallList {
  static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31U;
  static constexpr std::uint32_t kRoom = 1023;

  std::atomic<std::uint32_t> appended;  // how many calls, and kClosed
  std::uint32_t calls[kRoom];           // addresses
};

struct ProgramCall {
  /// It comes after the operations.
  static constexpr int kNumber = std::tuple_size_v<Operations>;

  CallHeader header;
  std::uint32_t list;  // address

  HEED_FIELDS(header, list)
};

Status run(const ProgramCall& call, Executor& executor);

}  // namespace heed
