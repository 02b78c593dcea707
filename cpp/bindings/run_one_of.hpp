// Runs a call by its number, its place among the calls that a module knows.
#pragma once

#include <iterator>
#include <tuple>
#include <utility>

#include "bindings/program_call.hpp"
#include "bindings/run_call.hpp"
#include "operations/common/call_reader.hpp"

namespace heed::bindings {

template <class Call>
Status run_at(std::uint32_t address, Executor& executor) {
  if constexpr (UnpackedCall<Call>) {
    const CallHeader& header = *pointer<const CallHeader>(address);
    return run(unpacked<Call>(header), executor, stop_of(header));
  } else {
    return run(*pointer<const Call>(address), executor);
  }
}

template <class... Calls>
Status run_one_of(const std::tuple<Calls...>* /*calls*/, std::uint32_t address, Executor& executor) {
  constexpr Status (*kRun[])(std::uint32_t, Executor&) = {run_at<Calls>...};
  const auto operation = static_cast<std::uint32_t>(pointer<const CallHeader>(address)->operation);
  if (operation < std::size(kRun)) return kRun[operation](address, executor);
  return {StatusCode::unsupported, "heed: this module does not know the operation"};
}

/// The calls of several tuples, in their order.
template <class... Tuples>
using Joined = decltype(std::tuple_cat(std::declval<Tuples>()...));

}  // namespace heed::bindings
