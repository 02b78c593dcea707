// Long vectors, shared among workers by parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/rounding.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/rows.hpp"

namespace heed {

struct Vectors {
  Index length;
  const char* operation;  // for messages
  const StopFlag* stop = nullptr;
};

/// Where a part of a row begins; null where it is absent.
template <typename T>
T* part_of(const Rows<T>& row, Index first) {
  return row.is_present() ? row.data + first : nullptr;
}

/// A place in the whole call, of which a call has 32 bits.
inline Index place_of(Index first) { return static_cast<std::uint32_t>(first); }

/// Calls body(first, length) for the parts of vectors.
template <typename Body>
Status for_each_part(Executor& executor, const Vectors& vectors, Body body) {
  constexpr double cost = 8.0;  // of a number, which waits for memory, in multiplications
  constexpr Index part = Index{1} << 14;
  const int workers = choose_workers(executor, cost * static_cast<double>(vectors.length));
  parallel_for(executor, {divide_up(vectors.length, part), workers, vectors.stop}, [&](Index task, int /*worker*/) {
    const Index first = task * part;
    body(first, static_cast<int>(std::min(part, vectors.length - first)));
  });
  if (is_set(vectors.stop)) return broken(vectors.operation, StatusCode::aborted, {"stopped by its caller"});
  return {};
}

}  // namespace heed
