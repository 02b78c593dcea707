// Where the lists that tests read lie. The only source that knows paths of the checkout: the others compile the same in
// every one.
#pragma once

#include <string>

namespace heed::testing {

/// A list of tests/cases.
std::string case_file(const std::string& name);

/// What the open cases ask for that is not there yet.
std::string not_covered_file();

/// Where the open cases lie unless HEED_CONFORMANCE says so.
std::string conformance_folder();

}  // namespace heed::testing
