// The full module: attention and every other operation, on one memory.
#include <iterator>

#include "bindings/operations.hpp"
#include "bindings/program_call.hpp"
#include "bindings/run_call.hpp"

namespace heed {
namespace {

template <class Call>
Status run_at(std::uint32_t address, Executor& executor) {
  return run(*pointer<const Call>(address), executor);
}

template <class... Calls>
Status run_one_of(const std::tuple<Calls...>* /*operations*/, std::uint32_t address, Executor& executor) {
  constexpr Status (*kRun[])(std::uint32_t, Executor&) = {run_at<Calls>..., run_at<ProgramCall>};
  const auto operation = static_cast<std::uint32_t>(pointer<const CallHeader>(address)->operation);
  if (operation < std::size(kRun)) return kRun[operation](address, executor);
  return {StatusCode::unsupported, "heed: this module does not know the operation"};
}

}  // namespace

Status bindings::run_call(std::uint32_t address, Executor& executor) {
  constexpr const Operations* kOperations = nullptr;
  return run_one_of(kOperations, address, executor);
}

}  // namespace heed
