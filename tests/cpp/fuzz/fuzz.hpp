// What a fuzzer's input is tried on.
#pragma once

#include "support.hpp"

namespace heed::testing {

/// An operation by its packed call.
void try_packed_call(Random& random);
/// Attention of any options against the reference, and its gradients.
void try_attention(Random& random);
/// Words that are nearly programs, evaluated if they are taken for some.
void try_expressions(Random& random);

/// While it lives, one of the next allocations of scratch memory fails, or none.
class FailingAllocation {
 public:
  explicit FailingAllocation(Random& random);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
};

}  // namespace heed::testing

/// libFuzzer's entry point. The first two bytes choose.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
