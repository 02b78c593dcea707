// Prints the layouts of a program's call and of its list.
#include <cstddef>

#include "bindings/print_layout.hpp"
#include "bindings/program_call.hpp"

namespace {

using heed::CallList;
using heed::bindings::Named;

constexpr Named kList[] = {
    {"words", sizeof(CallList) / heed::bindings::kWord},
    {"appended", offsetof(CallList, appended) / heed::bindings::kWord},
    {"calls", offsetof(CallList, calls) / heed::bindings::kWord},
};
constexpr Named kOperations[] = {{"program", heed::ProgramCall::kNumber}};

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/bindings/program_call.hpp: word offsets of a packed call and of a list.");
  std::set<std::string_view> printed;
  heed::bindings::print_call<heed::ProgramCall>(printed);
  heed::bindings::print_numbers("CALL_LIST", kList);
  heed::bindings::print_numbers("OPERATION", kOperations);
  return 0;
}
