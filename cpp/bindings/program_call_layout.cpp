// Prints the layout of a program's call and of its list, as a TypeScript module: run by the build, so that the two
// sides cannot drift apart.
#include "bindings/print_layout.hpp"
#include "bindings/program_call.hpp"

using heed::bindings::CallList;
using heed::bindings::Field;
using heed::bindings::Named;
using heed::bindings::Operation;
using heed::bindings::ProgramCall;

namespace {

constexpr Field kProgramFields[] = {
    {"operation", offsetof(ProgramCall, header.operation)},
    {"list", offsetof(ProgramCall, list)},
};

constexpr Field kListFields[] = {
    {"appended", offsetof(CallList, appended)},
    {"calls", offsetof(CallList, calls)},
};

constexpr Named kOperations[] = {{"program", Operation::program}};

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/bindings/program_call.hpp: word offsets of a packed call and of a list.");
  heed::bindings::print_layout("PROGRAM_CALL", sizeof(ProgramCall), kProgramFields);
  heed::bindings::print_layout("CALL_LIST", sizeof(CallList), kListFields);
  heed::bindings::print_numbers("OPERATION", kOperations);
  return 0;
}
