// Prints the layouts and numbers of the operations beside attention.
#include "bindings/narrow_operations.hpp"
#include "bindings/print_layout.hpp"
#include "bindings/program_call.hpp"
#include "bindings/run_one_of.hpp"
#include "bindings/training_operations.hpp"
#include "kernels/narrow/narrow_tasks.hpp"

namespace {

using namespace heed::bindings;  // NOLINT(google-build-using-namespace): a program of one table

template <class Attention, class... Others, class... Later>
void print_operations(const std::tuple<Attention, Others...>* /*operations*/, const std::tuple<Later...>* /*later*/) {
  std::set<std::string_view> printed;
  (print_call<Others>(printed), ...);
  (print_call<Later>(printed), ...);
  std::puts("export const OPERATION = {");
  int number = 0;
  const auto print = [&](std::string_view call) {
    call.remove_suffix(std::string_view("Call").size());
    std::printf("  %s: %d,\n", camel_case(call).c_str(), ++number);
  };
  (print(name_of<Others>()), ...);
  number = heed::ProgramCall::kNumber;
  (print(name_of<Later>()), ...);
  std::puts("} as const;");
}

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/operations: word offsets and numbers of packed calls.");
  print_operations(static_cast<const heed::Operations*>(nullptr),
                   static_cast<const Joined<heed::TrainingOperations, heed::NarrowOperations>*>(nullptr));
  print_constant("PANEL", heed::kernels::kPanel);
  print_constant("NARROW_PANEL", heed::kernels::kNarrowPanel);
  return 0;
}
