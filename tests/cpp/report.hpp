// Collects how near results came to their bounds; printed when the run ends.
#pragma once

#include <string>

namespace heed::testing {

void report_ratio(const std::string& quantity, double ratio);

}  // namespace heed::testing
