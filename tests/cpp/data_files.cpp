#include "data_files.hpp"

#include <cstdlib>

namespace heed::testing {

std::string case_file(const std::string& name) { return HEED_CHECKOUT "/tests/cases/" + name; }

std::string not_covered_file() { return HEED_CHECKOUT "/tests/conformance/not-covered.json"; }

std::string conformance_folder() {
  const char* const given = std::getenv("HEED_CONFORMANCE");
  return given == nullptr ? HEED_CHECKOUT "/../shared/conformance" : given;
}

}  // namespace heed::testing
