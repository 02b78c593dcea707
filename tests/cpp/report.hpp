// Collects how near results came to their bounds; printed when the run ends.
#pragma once

#include <string>

namespace heed::testing {

/// An error as a multiple of its bound; infinite where a number should be exact and is not, or is NaN.
double ratio_of(double got, double expected, double bound);

void report_ratio(const std::string& quantity, double ratio);

}  // namespace heed::testing
